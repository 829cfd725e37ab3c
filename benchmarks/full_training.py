"""Train examples/full-*.toml to the end, with several seeds, beside the centralised model.

    FILE=docs/results/full-training.jsonl
    python benchmarks/full_training.py run mnist --seeds 3 --jobs 2 -o $FILE
    python benchmarks/full_training.py table $FILE
    python benchmarks/full_training.py draw $FILE -o docs/pictures/full-training.png

Runs that the output file has already are not repeated. CIFAR-10 needs a GPU; the committed results
used the recompressed images of benchmarks/recompress.py (`--set learning.dataset=cifar10-webp82`).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import torch
from network_runs import run_once

from scdn.data.dataset import trivial_score
from scdn.job_pool import PoolJob, run_jobs
from scdn.scenario import read_scenario
from scdn.simulation.baselines import centralised
from scdn.simulation.run_data import RunData
from scdn.world.churn import churn_trace

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
METRICS = ("top1", "top3", "mse", "test_loss", "train_loss")
HEADLINES = {"mnist": "top1", "cifar10": "top3", "pawpularity": "mse"}


def train(data: str, parties: int, seed: int, settings: tuple[str, ...]) -> dict[str, Any]:
    """Run one scenario; return its curves."""
    changes = [f"fleet.0.count={parties}", f"seed={seed}", *settings]
    scenario = read_scenario(EXAMPLES / f"full-{data}.toml", changes)
    torch.backends.cudnn.benchmark = True
    began = time.perf_counter()
    recorded = run_once(scenario)
    rounds = [event["metrics"] for event in recorded.rounds]
    return {
        "data": data,
        "model": "vertical",
        "parties": parties,
        "seed": seed,
        "settings": list(settings),
        "status": (recorded.end or {})["status"],
        "active": min(len(event["active"]) for event in recorded.rounds),
        "curves": {
            name: [round(metrics[name], 5) for metrics in rounds]
            for name in METRICS
            if name in rounds[0]
        },
        "trivial": recorded.start["baselines"]["trivial"],
        "seconds": round(time.perf_counter() - began, 1),
    }


def train_centralised(data: str, seed: int, settings: tuple[str, ...]) -> dict[str, Any]:
    """Train the model that holds all features; return its scores."""
    scenario = read_scenario(EXAMPLES / f"full-{data}.toml", [f"seed={seed}", *settings])
    torch.backends.cudnn.benchmark = True
    began = time.perf_counter()
    run_data = RunData.from_scenario(scenario, churn_trace(scenario))
    return {
        "data": data,
        "model": "centralised",
        "parties": 1,
        "seed": seed,
        "settings": list(settings),
        "scores": centralised(run_data),
        "trivial": trivial_score(run_data.dataset),
        "seconds": round(time.perf_counter() - began, 1),
    }


def _run_all(args: argparse.Namespace) -> None:
    args.output.parent.mkdir(parents=True, exist_ok=True)
    settings = tuple(args.settings)
    existing = set()
    if args.output.exists():
        existing = {_key(json.loads(line)) for line in args.output.read_text().splitlines()}
    jobs = []
    for seed in range(1, args.seeds + 1):
        jobs += [
            PoolJob(
                f"{args.data} vertical {parties} {seed}",
                train,
                (args.data, parties, seed, settings),
            )
            for parties in sorted(map(int, args.parties.split(",")), reverse=True)
        ]
        if not args.vertical_only:
            key = f"{args.data} centralised 1 {seed}"
            jobs.append(PoolJob(key, train_centralised, (args.data, seed, settings)))
    jobs = [job for job in jobs if job.key not in existing]
    for count, (key, result) in enumerate(run_jobs(jobs, workers=args.jobs), 1):
        with args.output.open("a") as file:
            file.write(json.dumps(result) + "\n")
        print(f"{count}/{len(jobs)}  {key}: {_last(result):.4g}  {result['seconds']} s", flush=True)


def _key(result: dict[str, Any]) -> str:
    return " ".join(str(result[name]) for name in ("data", "model", "parties", "seed"))


def _last(result: dict[str, Any]) -> float:
    name = HEADLINES[result["data"]]
    return result["curves"][name][-1] if "curves" in result else result["scores"][name]


def _read(path: Path) -> dict[tuple[str, str, int], list[dict[str, Any]]]:
    """Return the results by data set, model and number of parties."""
    groups: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for line in path.read_text().splitlines():
        result = json.loads(line)
        groups.setdefault((result["data"], result["model"], result["parties"]), []).append(result)
    return dict(sorted(groups.items()))


def table(path: Path) -> str:
    """Return the last scores, mean ± deviation over seeds, and what the last rounds gained."""
    lines = ["| data | model | parties | seeds | trivial | score | gained in the last quarter |"]
    lines.append("|---|---|---|---|---|---|---|")
    for (data, model, parties), results in _read(path).items():
        name = HEADLINES[data]
        last = [_last(result) for result in results]
        gained = ""
        if model == "vertical":
            curves = [result["curves"][name] for result in results]
            gained = f"{statistics.mean(c[-1] - c[-1 - len(c) // 4] for c in curves):+.4g}"
        deviation = f" ± {statistics.stdev(last):.2g}" if len(last) > 1 else ""
        lines.append(
            f"| {data}, {name} | {model} | {parties if model == 'vertical' else ''} | {len(last)} "
            f"| {results[0]['trivial'][name]:.4g} | {statistics.mean(last):.4g}{deviation} "
            f"| {gained} |"
        )
    return "\n".join(lines)


def draw(path: Path, output: Path) -> None:
    """Draw the mean curves of every data set, the centralised model as a line."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    groups = _read(path)
    shown = [data for data in HEADLINES if any(key[0] == data for key in groups)]
    figure, axes = plt.subplots(1, len(shown), figsize=(4.2 * len(shown), 3.4), squeeze=False)
    for axis, data in zip(axes[0], shown, strict=True):
        name = HEADLINES[data]
        for (model, parties), results in _of_data(groups, data):
            if model == "centralised":
                level = statistics.mean(map(_last, results))
                axis.axhline(level, color="black", linestyle="--", linewidth=1, label="centralised")
                continue
            curves = [result["curves"][name] for result in results]
            by_round = list(zip(*curves, strict=False))  # rounds that all seeds have
            rounds = range(1, len(by_round) + 1)
            (line,) = axis.plot(
                rounds, [statistics.mean(values) for values in by_round], label=f"{parties} parties"
            )
            lows, highs = (list(map(pick, by_round)) for pick in (min, max))
            axis.fill_between(rounds, lows, highs, color=line.get_color(), alpha=0.2, linewidth=0)
        if name == "mse":
            level = results[0]["trivial"][name]
            axis.axhline(level, color="grey", linestyle=":", linewidth=1, label="trivial")
        axis.set(title=data, xlabel="round", ylabel=f"{name} (%)" if name != "mse" else "MSE")
        axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(output, dpi=130)


def _of_data(
    groups: dict[tuple[str, str, int], list[dict[str, Any]]], data: str
) -> list[tuple[tuple[str, int], list[dict[str, Any]]]]:
    return [(key[1:], results) for key, results in groups.items() if key[0] == data]


def main() -> None:
    """Run, print the table, or draw the curves."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    train_command = commands.add_parser("run", help="run what the output file does not have yet")
    train_command.add_argument("data", choices=tuple(HEADLINES))
    train_command.add_argument("--parties", default="6")
    train_command.add_argument("--seeds", type=int, default=3)
    train_command.add_argument("--jobs", type=int, default=1)
    train_command.add_argument("--vertical-only", action="store_true")
    train_command.add_argument("--set", dest="settings", action="append", default=[])
    train_command.add_argument("-o", "--output", type=Path, required=True)
    show = commands.add_parser("table", help="print the table of a result file")
    show.add_argument("file", type=Path)
    picture = commands.add_parser("draw", help="draw the curves of a result file")
    picture.add_argument("file", type=Path)
    picture.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    if args.command == "run":
        _run_all(args)
    elif args.command == "table":
        print(table(args.file))
    else:
        draw(args.file, args.output)


if __name__ == "__main__":
    main()
