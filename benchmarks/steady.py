"""How large a round's steps may be: the paper's update and steadier ones, measured.

    python benchmarks/steady.py run --data mnist -o steady.jsonl      # goes on where it stopped
    python benchmarks/steady.py table steady.jsonl

In the paper's round all parties and the server move at once against stale embeddings; with many
steps they overshoot together. Ways to take a round that are compared:

    paper        the server trains in parallel, updates are applied whole
    damped       in parallel, parties apply 1/parties of their update
    last         the server trains after the exchange, updates whole
    both         after the exchange, 1/parties
    fitted       after the exchange, the part that had the least loss at the exchange
    rate/N       as the paper, but every party's rate is divided by their number (a control)
    one by one   parties train one after another, each on fresh embeddings, then the server (ditto)

All take the same steps of parties and server on the same batches. A run has *collapsed*, defined
before the study began, if its weights are no longer finite, or its last top-3 is within 5 points
of the trivial predictor's, or more than 15 points below its own best. Serial time counts a step of
the server as long as one of a party: `last` and its kin take twice the paper's round, `one by one`
N + 1 times.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path

WAYS = {
    "paper": {"server_turn": "parallel", "damping": "none"},
    "damped": {"server_turn": "parallel", "damping": "active"},
    "last": {"server_turn": "after", "damping": "none"},
    "both": {"server_turn": "after", "damping": "active"},
    "fitted": {"server_turn": "after", "damping": "fitted"},
    "rate/N": {"server_turn": "parallel", "damping": "none"},
    "one by one": {"server_turn": "after", "damping": "none"},
}
SETTINGS = {
    "mnist": {"rate": 0.1, "batch_size": 64, "split": "random"},
    "cifar10": {
        "rate": 0.02,
        "batch_size": 128,
        "split": "strips",
        "initialisation": "kaiming",
        "precision": "bfloat16",
    },
}
ITERATIONS, HALVE = 5, 5
NEAR_TRIVIAL, FALLEN = 5.0, 15.0  # points of top-3


@dataclass(frozen=True)
class Case:
    """Some seeds of one cell of the study; they run together."""

    data: str
    way: str
    parties: int
    steps: int
    seeds: tuple[int, ...]
    rounds: int
    device: str


@cache
def prepared(data: str, device: str):
    """The data set, scaled, and its rows as tensors, once per process."""
    import torch

    from scdn.data import load
    from scdn.learning.features import Rows
    from scdn.learning.tensors import Place

    torch.set_num_threads(1)
    torch.backends.cudnn.benchmark = True
    scaled = load(data).scaled("standard")
    return scaled, Rows.of(scaled, Place(device))


def run(case: Case) -> dict:
    """The curves of a case, one per seed."""
    from scdn.data.dataset import trivial_score
    from scdn.learning.local import Order, halved
    from scdn.learning.parties import Maker
    from scdn.learning.split import split
    from scdn.learning.vertical import VerticalModel, train_together
    from scdn.scenario.model import Learning

    dataset, rows = prepared(case.data, case.device)
    settings = dict(SETTINGS[case.data.split("-")[0]])
    rate = settings.pop("rate")
    learning = Learning(
        **settings, **WAYS[case.way], steps_per_iteration=case.steps, device=case.device
    )
    maker = Maker.of(dataset, learning)
    models = []
    for seed in case.seeds:
        names = [f"party-{n + 1}" for n in range(case.parties)]
        views = dict(zip(names, split(dataset, learning.split, case.parties, seed), strict=True))
        models.append(VerticalModel.start(rows, maker, views, learning, seed, measure=False))
    curves: list[list[float]] = [[] for _ in models]
    started = time.perf_counter()
    steps = ITERATIONS * case.steps
    for round_ in range(case.rounds):
        now = halved(rate, round_, HALVE)
        own = Order(steps, now / case.parties if case.way == "rate/N" else now)
        server, rest = Order(steps, now), Order(0, 0.0)
        if case.way == "one by one":
            for turn, name in enumerate(models[0].present):
                train_together(models, round_, [{name: own}] * len(models), rest, arrival=turn)
            train_together(models, round_, [{}] * len(models), server, arrival=case.parties)
        else:
            orders = [dict.fromkeys(model.present, own) for model in models]
            train_together(models, round_, orders, server)
        for curve, model in zip(curves, models, strict=True):
            found = model.metrics()
            curve.append(found["top3"] if math.isfinite(found["test_loss"]) else math.nan)
    return {
        **asdict(case),
        "trivial": trivial_score(dataset)["top3"],
        "top3": [[None if math.isnan(x) else round(x, 2) for x in curve] for curve in curves],
        "seconds": round(time.perf_counter() - started, 1),
    }


def collapsed(curve: list[float | None], trivial: float) -> bool:
    """Whether a run came to nothing, by the rule above."""
    if curve[-1] is None:
        return True
    best = max(x for x in curve if x is not None)
    return curve[-1] < trivial + NEAR_TRIVIAL or curve[-1] < best - FALLEN


def table(path: Path) -> str:
    """Markdown: mean ± deviation of the last top-3 over seeds, and how many collapsed."""
    found = [json.loads(line) for line in path.read_text().splitlines()]
    cells: dict[tuple[int, int, str], dict] = {}
    for line in found:
        cell = cells.setdefault((line["parties"], line["steps"], line["way"]), line | {"top3": []})
        cell["top3"] = cell["top3"] + line["top3"]
    ways = [way for way in WAYS if any(f["way"] == way for f in found)]
    lines = [
        "| N | steps | " + " | ".join(ways) + " |",
        "|---|---|" + "---|" * len(ways),
    ]
    for parties, steps in sorted({key[:2] for key in cells}):
        row = [_cell(cells.get((parties, steps, way))) for way in ways]
        lines.append(f"| {parties} | {steps} | " + " | ".join(row) + " |")
    return "\n".join(lines)


def batched(count: int, size: int) -> list[tuple[int, ...]]:
    """Seeds 0 … count − 1, `size` at a time."""
    return [tuple(range(first, min(first + size, count))) for first in range(0, count, size)]


def _cell(found: dict | None) -> str:
    if found is None:
        return ""
    last = [curve[-1] or 0.0 for curve in found["top3"]]
    fallen = sum(collapsed(curve, found["trivial"]) for curve in found["top3"])
    spread = f" ± {statistics.stdev(last):.1f}" if len(last) > 1 else ""
    note = f", {fallen} of {len(last)} collapsed" if fallen else ""
    return f"{statistics.mean(last):.1f}{spread}{note}"


def _run_all(args: argparse.Namespace) -> None:
    done = set()
    if args.output.exists():
        for line in args.output.read_text().splitlines():
            found = json.loads(line)
            key = tuple(found[key] for key in ("data", "way", "parties", "steps"))
            done |= {(*key, seed) for seed in found["seeds"]}
    ways = args.ways.split(",") if args.ways else list(WAYS)
    cases = [
        Case(args.data, way, int(n), int(steps), seeds, args.rounds, args.device)
        for steps in args.steps.split(",")
        for n in args.parties.split(",")
        for way in ways
        for seeds in batched(args.seeds, args.together)
        if (args.data, way, int(n), int(steps), seeds[0]) not in done
    ]
    cases.sort(key=lambda case: -case.steps * case.parties)  # the longest first
    args.output.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(run, case) for case in cases]
        for count, future in enumerate(as_completed(waiting), 1):
            found = future.result()
            with args.output.open("a") as file:
                file.write(json.dumps(found) + "\n")
            what = " ".join(str(found[key]) for key in ("way", "parties", "steps"))
            print(f"{count}/{len(cases)}  {what}: {_cell(found)}  {found['seconds']} s", flush=True)


def main() -> None:
    """Parses, runs, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run")
    runner.add_argument("--data", default="mnist")
    runner.add_argument("--ways", help="by default all")
    runner.add_argument("--parties", default="2,4,6,20")
    runner.add_argument("--steps", default="1,20,200", help="per iteration")
    runner.add_argument("--seeds", type=int, default=5)
    runner.add_argument("--together", type=int, default=5, help="seeds in one batched call")
    runner.add_argument("--rounds", type=int, default=30)
    runner.add_argument("--jobs", type=int, default=2)
    runner.add_argument("--device", default="cpu")
    runner.add_argument("-o", "--output", type=Path, required=True)
    shower = commands.add_parser("table")
    shower.add_argument("file", type=Path)
    args = parser.parse_args()
    if args.command == "run":
        _run_all(args)
    else:
        print(table(args.file))


if __name__ == "__main__":
    main()
