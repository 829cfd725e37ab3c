"""`scdn run`: train with one method and record every round."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from scdn.cli.command_parser import (
    Subparsers,
    add_command,
    add_scenario_options,
    add_target_option,
    print_warnings,
    read_scenario_from,
    refuse_with_resume,
    whole_number,
)
from scdn.cli.progress_bar import ProgressBar, format_score
from scdn.errors import input_error
from scdn.file_io import to_json


def add_to(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = add_command(
        subparsers,
        "run",
        _run,
        "Train with one method in a network that changes, and record every round.",
        "scdn data fetch digits\n"
        "scdn run examples/quick.toml --estimate\n"
        "scdn run examples/quick.toml --out runs/quick\n"
        "scdn run --resume runs/quick",
    )
    add_scenario_options(parser, nargs="?")
    add_target_option(parser, "the scenario's")
    parser.add_argument("--method", metavar="M", help="replaces the scenario's method")
    parser.add_argument(
        "--seed", type=whole_number(0), metavar="S", help="replaces the scenario's seed"
    )
    parser.add_argument("--out", metavar="DIR", help="new folder for the run")
    parser.add_argument("--resume", metavar="DIR", help="continue the interrupted run in DIR")
    parser.add_argument(
        "--reference",
        metavar="DIR",
        help="SC-DN run that sets the rivals' iterations; by default one is run first",
    )
    parser.add_argument(
        "--estimate",
        action="store_true",
        help="print the expected joules, seconds and batteries; train and write nothing",
    )
    parser.add_argument("--json", action="store_true", help="print the estimate as JSON")
    parser.add_argument(
        "--log",
        choices=("tensorboard", "mlflow"),
        help="also log the rounds there; the package must be installed",
    )


def _run(options: argparse.Namespace) -> int:
    from scdn.methods import method
    from scdn.simulation.runner import resume, run

    if (options.resume is None) == (options.scenario is None):
        raise input_error("scdn", "run", "needs one of FILE and --resume", "see scdn run --help")
    if options.estimate:
        return _estimate(options)
    if options.json:
        raise input_error("scdn", "--json", "is given without --estimate", "add --estimate")
    if options.log:
        from scdn.record.experiment_log import check_log

        check_log(options.log)
    if options.resume is not None:
        refuse_with_resume(options, ("method", "seed", "out", "reference", "settings", "target"))
        folder = Path(options.resume)
        return _print_result(resume(folder, on_round=_RoundPrinter(options.log, folder)), folder)
    if options.out is None:
        raise input_error("scdn", "--out", "is missing", "must be a new folder for the run")
    folder = Path(options.out)
    scenario = read_scenario_from(options, method=options.method, seed=options.seed)
    method(scenario.method)  # refuses an unknown name before anything is written
    printer = _RoundPrinter(options.log, folder)
    return _print_result(
        run(scenario, options.out, reference=options.reference, on_round=printer), folder
    )


def _estimate(options: argparse.Namespace) -> int:
    from scdn.simulation.estimate import estimate
    from scdn.simulation.estimate_text import estimate_text

    for name in ("resume", "out", "reference", "log"):
        if getattr(options, name) is not None:
            fault = "cannot be combined with --estimate"
            raise input_error("scdn", f"--{name}", fault, "leave it out")
    scenario = read_scenario_from(options, method=options.method, seed=options.seed)
    expected = estimate(scenario, lambda text: print_warnings([text]))
    print(to_json(expected.document()) if options.json else estimate_text(expected))
    return 0


class _RoundPrinter:
    """Prints the progress of each round, and logs it where `--log` says."""

    def __init__(self, log_kind: str | None, folder: Path) -> None:
        self._bars: dict[str, ProgressBar] = {}
        self._log_kind, self._folder = log_kind, folder
        self._began = time.monotonic()
        self._log: Any = None

    def __call__(self, event: dict[str, Any], simulation: Any) -> None:
        from scdn.simulation.events import headline_score

        name = simulation.method.name
        if name not in self._bars:
            self._bars[name] = ProgressBar(lines=10, began=self._began)
        self._began = time.monotonic()  # so that the time of a reference run is not counted twice
        shown = headline_score(simulation.scenario, simulation.data.dataset)
        score = format_score(shown, event["metrics"])
        total_j = simulation.ledger.totals()["total_j"]
        self._bars[name].show(
            event["round"] + 1,
            simulation.scenario.learning.rounds,
            f"{name}: {score}, {total_j:.4g} J, {len(event['active'])} active",
        )
        if self._log_kind and name == simulation.scenario.method.rpartition(":")[2]:
            if self._log is None:
                from scdn.record.experiment_log import open_log

                self._log = open_log(self._log_kind, simulation.scenario.name, name, self._folder)
            self._log(event)


_OPTIONAL_TERMS = {
    "server_compute_j": "server computing",
    "server_transmission_j": "server transmission",
    "circuit_j": "circuits",
    "idle_j": "idling",
}


def _print_result(finished: Any, folder: Path) -> int:
    from scdn.record.mission_result import mission_sentence
    from scdn.record.run_warnings import recorded_warnings

    end = finished.end or {}
    print_warnings([f"{folder}: {text}" for text in recorded_warnings(finished)])
    if end.get("status") == "diverged":
        print(f"{folder}: training diverged: {end['reason']}")
        return 1
    energy = end["energy"]
    terms = [f"{energy[f'{t}_j']:.4g} {t}" for t in ("processing", "transmission", "movement")]
    for term, label in _OPTIONAL_TERMS.items():
        if energy.get(term):
            terms.append(f"{energy[term]:.4g} {label}")
    print(
        f"{folder}: {format_score(finished.start, end['metrics'])} after {end['rounds']} rounds, "
        f"{energy['total_j']:.4g} J ({', '.join(terms)}), {energy['latency_s']:.4g} s"
    )
    for target in end.get("targets") or ():
        print(_target_line(target))
    if sentence := mission_sentence(end):
        print(sentence)
    if outside := end.get("rounds_outside_theorem_1"):
        rounds = f"{outside} of {end['rounds']} rounds"
        print_warnings([f"{folder}: in {rounds} devices went further than Theorem 1 allows"])
    return 0


def _target_line(target: dict[str, Any]) -> str:
    name = f"target {target['metric']}={target['value']:g}"
    if not target["reached"]:
        return f"{name}: not reached"
    return (
        f"{name}: reached in round {target['round'] + 1} with {target['joules']:.4g} J, "
        f"{target['seconds']:.4g} s, {target['bits']:.4g} bits"
    )
