"""Compare rules for a round's update by how many local steps they tolerate.

    python benchmarks/update_rules.py run --data mnist -o updates.jsonl    # resumes if interrupted
    python benchmarks/update_rules.py table updates.jsonl

In the paper's round all parties and the server train in parallel against stale embeddings; with
many steps they overshoot together. The rules:

    paper        the server trains in parallel, updates are applied in full
    damped       in parallel, parties apply 1/parties of their update
    last         the server trains after the exchange, full updates
    both         after the exchange, 1/parties
    fitted       after the exchange, the fraction with the least loss at the exchange
    rate/N       as the paper, but every party's rate is divided by their number (a control)
    one by one   parties train one after another on fresh embeddings, then the server (a control)

All rules take the same steps of parties and server on the same batches. A run has *collapsed*, as
defined before the study began, if its weights are no longer finite, or its last top-3 is within 5
points of the trivial predictor's, or more than 15 points below its own best. If a step of the
server takes as long as one of a party, `last`, `both` and `fitted` take twice the time of the
paper's round, `one by one` N + 1 times.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import pandas as pd
import torch
from create_model import create_model, paper_learning

from scdn.data import Dataset, load
from scdn.data.dataset import trivial_score
from scdn.job_pool import PoolJob, run_jobs
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.local_optimizers import NO_STEPS, LocalSteps, halved_rate
from scdn.learning.tensors import TensorOptions

RULES = {
    "paper": {"server_turn": "parallel", "step": "rate"},
    "damped": {"server_turn": "parallel", "step": "rate", "damping": "active"},
    "last": {"server_turn": "after", "step": "rate"},
    "both": {"server_turn": "after", "step": "rate", "damping": "active"},
    "fitted": {"server_turn": "after", "step": "fitted"},
    "rate/N": {"server_turn": "parallel", "step": "rate"},
    "one by one": {"server_turn": "after", "step": "rate"},
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
ITERATIONS, HALVE_RATE_EVERY = 5, 5
NEAR_TRIVIAL, FALLEN = 5.0, 15.0  # points of top-3


@dataclass(frozen=True)
class Case:
    """Some seeds of one cell of the table; their models are trained together."""

    data: str
    way: str  # the rule, by the name that result files use
    parties: int
    steps: int
    seeds: tuple[int, ...]
    rounds: int
    device: str


@cache
def prepare(data: str, device: str) -> tuple[Dataset, DatasetTensors]:
    """Return the scaled data set and its tensors, made once per process."""
    torch.set_num_threads(1)
    torch.backends.cudnn.benchmark = True
    dataset = load(data).scaled("standard")
    return dataset, DatasetTensors.from_dataset(dataset, TensorOptions(device))


def run_case(case: Case) -> dict:
    """Train a case; return it with the curve of top-3 for each seed."""
    dataset, tensors = prepare(case.data, case.device)
    settings = dict(SETTINGS[case.data.split("-")[0]])
    first_rate = settings.pop("rate")
    learning = paper_learning(
        **settings, **RULES[case.way], steps_per_iteration=case.steps, device=case.device
    )
    models = [create_model(dataset, tensors, learning, case.parties, seed) for seed in case.seeds]
    curves: list[list[float]] = [[] for _ in models]
    start = time.perf_counter()
    steps = ITERATIONS * case.steps
    for round_ in range(case.rounds):
        rate = halved_rate(first_rate, round_, HALVE_RATE_EVERY)
        party = LocalSteps(steps, rate / case.parties if case.way == "rate/N" else rate)
        server = LocalSteps(steps, rate)
        if case.way == "one by one":
            for model in models:
                for turn, name in enumerate(model.present):
                    model.train(round_, {name: party}, NO_STEPS, arrival=turn)
                model.train(round_, {}, server, arrival=case.parties)
        else:
            for model in models:
                model.train(round_, dict.fromkeys(model.present, party), server)
        for curve, model in zip(curves, models, strict=True):
            metrics = model.metrics()
            curve.append(metrics["top3"] if math.isfinite(metrics["test_loss"]) else math.nan)
    return {
        **asdict(case),
        "trivial": trivial_score(dataset)["top3"],
        "top3": [[None if math.isnan(x) else round(x, 2) for x in curve] for curve in curves],
        "seconds": round(time.perf_counter() - start, 1),
    }


def has_collapsed(curve: list[float | None], trivial: float) -> bool:
    """Return whether a run has collapsed, by the definition above."""
    if curve[-1] is None:
        return True
    best = max(x for x in curve if x is not None)
    return curve[-1] < trivial + NEAR_TRIVIAL or curve[-1] < best - FALLEN


def table(path: Path) -> str:
    """Return mean ± deviation of the last top-3 over seeds, and how many runs collapsed."""
    results = pd.read_json(path, lines=True)
    rules = [rule for rule in RULES if rule in set(results.way)]
    lines = ["| N | steps | " + " | ".join(rules) + " |", "|---|---|" + "---|" * len(rules)]
    for (parties, steps), rows in results.groupby(["parties", "steps"]):
        cells = [_cell(rows[rows.way == rule]) for rule in rules]
        lines.append(f"| {parties} | {steps} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(results: pd.DataFrame) -> str:
    curves = [curve for of_case in results.top3 for curve in of_case]
    if not curves:
        return ""
    last = [curve[-1] or 0.0 for curve in curves]
    collapsed = sum(has_collapsed(curve, results.trivial.iloc[0]) for curve in curves)
    deviation = f" ± {statistics.stdev(last):.1f}" if len(last) > 1 else ""
    note = f", {collapsed} of {len(last)} collapsed" if collapsed else ""
    return f"{statistics.mean(last):.1f}{deviation}{note}"


def _seed_batches(count: int, size: int) -> list[tuple[int, ...]]:
    return [tuple(range(first, min(first + size, count))) for first in range(0, count, size)]


def _run_all(args: argparse.Namespace) -> None:
    finished = set()
    if args.output.exists():
        for line in args.output.read_text().splitlines():
            result = json.loads(line)
            key = tuple(result[key] for key in ("data", "way", "parties", "steps"))
            finished |= {(*key, seed) for seed in result["seeds"]}
    cases = [
        Case(args.data, rule, int(n), int(steps), seeds, args.rounds, args.device)
        for steps in args.steps.split(",")
        for n in args.parties.split(",")
        for rule in (args.rules.split(",") if args.rules else RULES)
        for seeds in _seed_batches(args.seeds, args.together)
        if (args.data, rule, int(n), int(steps), seeds[0]) not in finished
    ]
    cases.sort(key=lambda case: -case.steps * case.parties)  # the longest first
    args.output.parent.mkdir(parents=True, exist_ok=True)
    jobs = [PoolJob(str(case), run_case, (case,)) for case in cases]
    for count, (_, result) in enumerate(run_jobs(jobs, workers=args.jobs), 1):
        with args.output.open("a") as file:
            file.write(json.dumps(result) + "\n")
        name = " ".join(str(result[key]) for key in ("way", "parties", "steps"))
        cell = _cell(pd.DataFrame([result]))
        print(f"{count}/{len(cases)}  {name}: {cell}  {result['seconds']} s", flush=True)


def main() -> None:
    """Run the cases, or print the table of a result file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run the cases that the output file does not have yet")
    run.add_argument("--data", default="mnist")
    run.add_argument("--rules", help="by default all")
    run.add_argument("--parties", default="2,4,6,20")
    run.add_argument("--steps", default="1,20,200", help="per iteration")
    run.add_argument("--seeds", type=int, default=5)
    run.add_argument("--together", type=int, default=5, help="seeds that are trained together")
    run.add_argument("--rounds", type=int, default=30)
    run.add_argument("--jobs", type=int, default=2)
    run.add_argument("--device", default="cpu")
    run.add_argument("-o", "--output", type=Path, required=True)
    show = commands.add_parser("table", help="print the table of a result file")
    show.add_argument("file", type=Path)
    args = parser.parse_args()
    if args.command == "run":
        _run_all(args)
    else:
        print(table(args.file))


if __name__ == "__main__":
    main()
