"""`scdn compare`: run several methods over several seeds, and report on them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scdn.cli.command_parser import (
    Subparsers,
    add_command,
    add_scenario_options,
    add_target_option,
    print_warnings,
    read_scenario_from,
    whole_number,
    write_output,
)
from scdn.cli.progress_bar import ProgressBar, Work, format_score
from scdn.errors import input_error, printable

if TYPE_CHECKING:
    from scdn.record.run_reader import Run


def add_to(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = add_command(
        subparsers,
        "compare",
        _compare,
        "Run several methods on the same network over several seeds, and write a report.",
        "scdn data fetch digits\n"
        "scdn compare examples/quick.toml --methods mission,sc-dn --seeds 2 --out runs/two",
    )
    add_scenario_options(parser)
    add_target_option(parser, "the scenario's")
    parser.add_argument(
        "--methods",
        required=True,
        metavar="A,B,…",
        help="names of methods; the others are compared with the first",
    )
    parser.add_argument(
        "--seeds", type=whole_number(1), default=10, metavar="N", help="default: 10"
    )
    parser.add_argument(
        "--jobs", type=whole_number(1), default=1, metavar="N", help="parallel runs; default: 1"
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="folder for the runs, where finished ones are kept; default: runs/NAME",
    )
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")


def _compare(options: argparse.Namespace) -> int:
    from scdn.file_io import to_json
    from scdn.methods import method
    from scdn.report.comparison import comparison
    from scdn.report.mission_results import mission_results, mission_sentences
    from scdn.report.page import report_page
    from scdn.report.study import Study
    from scdn.report.text_table import text_table
    from scdn.simulation.compare import ComparisonProgress, compare
    from scdn.targets import parse_targets

    methods = [name.strip() for name in options.methods.split(",") if name.strip()]
    if not methods or len(set(methods)) < len(methods):
        raise input_error(
            "scdn", "--methods", f"got {options.methods!r}", "must be names without duplicates"
        )
    names = [method(name).name for name in methods]  # of package.module:NAME, the NAME
    scenario = read_scenario_from(options)
    method(scenario.method)  # refuses an unknown name
    out = Path(options.out or Path("runs") / scenario.name)
    seeds = range(scenario.seed, scenario.seed + options.seeds)
    bar = ProgressBar()

    def show_finished(run: Any, progress: ComparisonProgress) -> None:
        end = run.end or {}
        score = (
            "diverged" if end["status"] == "diverged" else format_score(run.start, end["metrics"])
        )
        energy_j = end["energy"]["total_j"]
        text = f"{run.method}, seed {run.seed}: {score}, {energy_j:.4g} J"
        rounds = Work(progress.rounds_before, progress.rounds, progress.total_rounds)
        bar.show(progress.runs, progress.total_runs, text, rounds)

    runs = compare(
        scenario, methods, seeds, out, jobs=options.jobs, done=show_finished, announce=_print_line
    )
    shown = [run for run in runs if run.method in names]
    if not any(run.rounds for run in shown):
        for run in shown:
            reason = (run.end or {}).get("reason")
            print(f"{run.folder}: training diverged: {reason}", file=sys.stderr)
        print(
            "scdn: there is nothing to compare: every run diverged in the first round",
            file=sys.stderr,
        )
        return 1
    study = Study.from_runs(shown, names[0], parse_targets(scenario.targets))
    if options.json:
        print(to_json(comparison(study)))
    else:
        print(text_table(study))
        for name, sentence in mission_sentences(mission_results(study.runs)).items():
            print(f"{name}: {sentence}")
    print_warnings(_first_warnings(study.runs))
    for note in study.notes:
        print(f"note: {note}", file=sys.stderr)
    messages = sys.stderr if options.json else sys.stdout
    write_output(str(out / "report.html"), report_page(study), messages=messages)
    return 0


def _print_line(text: str) -> None:
    print(printable(text), file=sys.stderr, flush=True)


def _first_warnings(runs: Sequence[Run]) -> list[str]:
    """Return the warnings of each method's first run that has some; the report has all."""
    from scdn.record.run_warnings import recorded_warnings

    lines: list[str] = []
    for name in dict.fromkeys(run.method for run in runs):
        warned = [run for run in runs if run.method == name and recorded_warnings(run)]
        for run in warned[:1]:
            lines += [f"{name}, seed {run.seed}: {text}" for text in recorded_warnings(run)]
        if warned[1:]:
            others = (
                "one other run has" if len(warned) == 2 else f"{len(warned) - 1} other runs have"
            )
            lines.append(f"{name}: {others} warnings, see the report")
    return lines
