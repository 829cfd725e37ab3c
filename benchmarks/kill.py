"""Kills a run at random moments, resumes it, and compares it with one that was left alone.

    python benchmarks/kill.py --times 20
    python benchmarks/kill.py --times 20 --method vafl

A child process runs a small scenario with exits and entries on the digits (no network needed). It
says in shared memory what it is doing; the parent picks a kind of moment (planning, training,
writing an event, storing a checkpoint) and a round, waits for them, waits a random part of that
moment longer, and kills with SIGKILL. With `--again` a run is killed so often before it may finish.
The run is then taken up in this process, and its events are compared with those of one that was
never killed, times aside.
"""

from __future__ import annotations

import argparse
import json
import mmap
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

PHASES = ("starting", "planning", "training", "writing", "storing", "between")
SCENARIO = {
    "name": "kill",
    "max_delay_s": 0.00143,
    "fleet": [
        {
            "kind": "d",
            "count": 8,
            "altitude_m": [0, 30],
            "flops_per_cycle": [1.9e-5, 4.4e-5],
            "optimizers": ["sgd", "proximal", "momentum"],
            "weibull_scale_rounds": 8.0,
        }
    ],
    "churn": {"entry_rate": 1.0},
    "learning": {
        "dataset": "digits",
        "model": "mlp",
        "hidden": 16,
        "sample_rows": 256,
        "batch_size": 16,
        "input": "masked",
    },
}


def child(table: str, folder: str, reference: str, memory: str) -> None:
    """Runs, or goes on, and says in `memory` which phase of which round it is in."""
    from scdn.learning.vertical import VerticalModel
    from scdn.methods import method, register
    from scdn.record import checkpoint
    from scdn.record.write import Recorder
    from scdn.scenario.read import make_scenario
    from scdn.simulation.run import resume, run

    with Path(memory).open("r+b") as file:
        shared = mmap.mmap(file.fileno(), 2)
    events = Path(folder) / "events.jsonl"
    shared[1] = checkpoint.load(Path(folder))[1]["round"] if events.exists() else 0

    def told(inner: Callable[..., Any], phase: str) -> Callable[..., Any]:
        def outer(*arguments: Any, **wishes: Any) -> Any:
            shared[0] = PHASES.index(phase)
            try:
                return inner(*arguments, **wishes)
            finally:
                if phase == "storing":
                    shared[1] += 1
                shared[0] = PHASES.index("between")

        return outer

    scenario = make_scenario(json.loads(table))
    chosen = method(scenario.method)
    register(replace(chosen, controller=told(chosen.controller, "planning")))
    VerticalModel.train = told(VerticalModel.train, "training")
    Recorder.add = told(Recorder.add, "writing")
    if events.exists():
        checkpoint.save = told(checkpoint.save, "storing")
        resume(folder)
    else:
        save = checkpoint.save

        def first(*arguments: Any) -> None:
            checkpoint.save = told(save, "storing")  # from the first round on
            save(*arguments)

        checkpoint.save = first
        run(scenario, folder, reference=reference or None)


def kill(
    command: list[str], memory: Path, phase: int, round_: int, part: float
) -> tuple[str, int] | None:
    """Starts a run and kills it in a phase; says where it was, or None if it was done before."""
    memory.write_bytes(bytes(2))
    with memory.open("r+b") as file:
        shared = mmap.mmap(file.fileno(), 2)
    process = subprocess.Popen(command)  # noqa: S603
    try:
        while process.poll() is None and (shared[0] != phase or shared[1] < round_):
            time.sleep(0.0002)
        time.sleep(part)
    finally:
        process.send_signal(signal.SIGKILL)
        code = process.wait()
    if code not in (0, -signal.SIGKILL):
        raise SystemExit(f"the run failed by itself, with exit code {code}")
    return None if code == 0 else (PHASES[shared[0]], shared[1])


def timeless(folder: Path) -> list[dict]:
    """A run's events without how long they took."""
    from scdn.record.read import read_events

    events = read_events(folder / "events.jsonl")
    for event in events:
        event.pop("seconds", None)
        event.get("plan", {}).pop("solve_seconds", None)
    return events


def main() -> int:
    """Kills, resumes, compares, prints."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--times", type=int, default=20, help="runs that are killed")
    words.add_argument("--again", type=int, default=1, help="kills before a run may finish")
    words.add_argument("--method", default="sc-dn")
    words.add_argument("--rounds", type=int, default=8)
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    asked = words.parse_args()
    if asked.child:
        child(*asked.child)
        return 0

    from scdn.data import fetch
    from scdn.record import checkpoint
    from scdn.scenario.read import make_scenario
    from scdn.simulation.run import resume, run

    fetch("digits")
    learning = {**SCENARIO["learning"], "rounds": asked.rounds}
    wishes = {"seed": asked.seed, "method": asked.method, "learning": learning}
    scenario = make_scenario({**SCENARIO, **wishes})
    draw = np.random.default_rng(asked.seed)
    good = kills = 0
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        whole = run(scenario, home / "whole")
        expected, reference = timeless(whole.folder), ""
        if (whole.folder / "reference").exists():
            reference = str(whole.folder / "reference")
        table = json.dumps(scenario.model_dump(mode="json", by_alias=True))
        gone = sum(len(event["exited"]) for event in whole.rounds)
        come = sum(len(event["entered"]) for event in whole.rounds)
        print(f"{asked.method}, {asked.rounds} rounds, {gone} leave and {come} come")
        print(f"{'':>3}  {'killed while':<24} {'lines':>5} {'stored':>6} {'litter':>6}  events")
        for number in range(asked.times):
            folder = home / str(number)
            command = [sys.executable, __file__, "--child", table, str(folder), reference]
            command.append(str(home / "memory"))
            places = []
            for turn in range(asked.again):
                phase = 1 + (number + turn) % 4
                moment = int(draw.integers(asked.rounds))
                part = float(draw.choice([0.0, draw.uniform(0, 0.004), draw.uniform(0, 0.1)]))
                found = kill(command, home / "memory", phase, moment, part)
                places.append("done" if found is None else f"{found[0]}, round {found[1]}")
                kills += found is not None
            events = folder / "events.jsonl"
            begun = events.exists()
            lines = events.read_bytes().count(b"\n") if begun else 0
            stored = checkpoint.load(folder)[1]["round"] if begun else "-"
            litter = len(list(folder.rglob(".*")))
            if begun:
                resume(folder)
            else:  # killed before its first line: the same command again
                run(scenario, folder, reference=reference or None)
            equal = timeless(folder) == expected
            good += equal
            where = "; ".join(places)
            verdict = "equal" if equal else "DIFFER"
            print(f"{number + 1:>3}  {where:<24} {lines:>5} {stored:>6} {litter:>6}  {verdict}")
    print(f"{good} of {asked.times} equal, after {kills} kills")
    return 0 if good == asked.times else 1


if __name__ == "__main__":
    sys.exit(main())
