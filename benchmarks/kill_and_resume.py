"""Kill a run at random moments, resume it, and compare it with an uninterrupted run.

    python benchmarks/kill_and_resume.py --times 20
    python benchmarks/kill_and_resume.py --times 20 --method vafl

A child process runs a small scenario with exits and entries on the digits (no network needed). It
writes into shared memory which phase of which round it is in. The parent chooses a phase (planning,
training, writing an event, storing a checkpoint) and a round, waits for them and a random moment
more, and kills the child with SIGKILL; `--again` repeats this before the run may finish. The run is
then resumed in this process, and its events are compared with those of the uninterrupted run,
durations aside.
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


def run_child(document: str, folder: str, reference: str, memory: str) -> None:
    """Start or resume a run, and write its phase and round into the file `memory`."""
    from scdn.learning.vertical_model import VerticalModel
    from scdn.methods import method, register_method
    from scdn.record import checkpoint
    from scdn.record.run_writer import Recorder
    from scdn.scenario import make_scenario
    from scdn.simulation.runner import resume, run

    shared = _open_shared(Path(memory))
    started = (Path(folder) / "events.jsonl").exists()
    shared[1] = checkpoint.load(Path(folder))[1]["round"] if started else 0

    def in_phase(phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*arguments: Any, **keywords: Any) -> Any:
            shared[0] = PHASES.index(phase)
            try:
                return function(*arguments, **keywords)
            finally:
                if phase == "storing":
                    shared[1] += 1
                shared[0] = PHASES.index("between")

        return wrapper

    scenario = make_scenario(json.loads(document))
    chosen = method(scenario.method)
    register_method(replace(chosen, controller=in_phase("planning", chosen.controller)))
    VerticalModel.train = in_phase("training", VerticalModel.train)
    Recorder.append = in_phase("writing", Recorder.append)
    save = checkpoint.save
    if started:
        checkpoint.save = in_phase("storing", save)
        resume(folder)
    else:

        def save_before_round_0(*arguments: Any) -> None:
            checkpoint.save = in_phase("storing", save)
            save(*arguments)

        checkpoint.save = save_before_round_0
        run(scenario, folder, reference=reference or None)


def _open_shared(path: Path) -> mmap.mmap:
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), 2)


def start_and_kill(
    command: list[str], memory: Path, phase: int, round_: int, delay_s: float
) -> tuple[str, int] | None:
    """Kill a run in a phase of a round; return its phase and round, or None if it had ended."""
    memory.write_bytes(bytes(2))
    shared = _open_shared(memory)
    process = subprocess.Popen(command)  # noqa: S603
    try:
        while process.poll() is None and (shared[0] != phase or shared[1] < round_):
            time.sleep(0.0002)
        time.sleep(delay_s)
    finally:
        process.send_signal(signal.SIGKILL)
        code = process.wait()
    if code not in (0, -signal.SIGKILL):
        raise SystemExit(f"the run failed by itself, with exit code {code}")
    return None if code == 0 else (PHASES[shared[0]], shared[1])


def events_without_durations(folder: Path) -> list[dict]:
    """Return the events of a run without the time they took."""
    from scdn.record.run_reader import read_events

    events = read_events(folder / "events.jsonl")
    for event in events:
        event.pop("seconds", None)
        event.get("plan", {}).pop("solve_seconds", None)
    return events


def main() -> int:
    """Kill, resume and compare runs; return 1 if any of them differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=20, help="number of runs to kill")
    parser.add_argument("--again", type=int, default=1, help="kills before a run may finish")
    parser.add_argument("--method", default="sc-dn")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_child(*options.child)
        return 0

    from scdn.data import fetch
    from scdn.record import checkpoint
    from scdn.scenario import make_scenario
    from scdn.simulation.runner import resume, run

    fetch("digits")
    learning = {**SCENARIO["learning"], "rounds": options.rounds}
    scenario = make_scenario(
        {**SCENARIO, "seed": options.seed, "method": options.method, "learning": learning}
    )
    rng = np.random.default_rng(options.seed)
    equal_runs = kills = 0
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary)
        uninterrupted = run(scenario, out / "uninterrupted")
        expected = events_without_durations(uninterrupted.folder)
        reference = uninterrupted.folder / "reference"
        reference = str(reference) if reference.exists() else ""
        document = json.dumps(scenario.model_dump(mode="json", by_alias=True))
        exits = sum(len(event["exited"]) for event in uninterrupted.rounds)
        entries = sum(len(event["entered"]) for event in uninterrupted.rounds)
        print(f"{options.method}, {options.rounds} rounds, {exits} exits and {entries} entries")
        print(f"{'':>3}  {'killed while':<24} {'lines':>5} {'stored':>6} {'litter':>6}  events")
        for number in range(options.times):
            folder, memory = out / str(number), out / "memory"
            command = [sys.executable, __file__, "--child", document, str(folder), reference]
            moments = []
            for attempt in range(options.again):
                phase = 1 + (number + attempt) % 4
                round_ = int(rng.integers(options.rounds))
                delay_s = float(rng.choice([0.0, rng.uniform(0, 0.004), rng.uniform(0, 0.1)]))
                killed = start_and_kill([*command, str(memory)], memory, phase, round_, delay_s)
                moments.append("done" if killed is None else f"{killed[0]}, round {killed[1]}")
                kills += killed is not None
            events = folder / "events.jsonl"
            started = events.exists()
            lines = events.read_bytes().count(b"\n") if started else 0
            stored = checkpoint.load(folder)[1]["round"] if started else "-"
            litter = len(list(folder.rglob(".*")))
            if started:
                resume(folder)
            else:  # killed before its first line: run it again
                run(scenario, folder, reference=reference or None)
            equal = events_without_durations(folder) == expected
            equal_runs += equal
            verdict = "equal" if equal else "DIFFER"
            print(
                f"{number + 1:>3}  {'; '.join(moments):<24} {lines:>5} {stored:>6} {litter:>6}"
                f"  {verdict}"
            )
    print(f"{equal_runs} of {options.times} equal, after {kills} kills")
    return 0 if equal_runs == options.times else 1


if __name__ == "__main__":
    sys.exit(main())
