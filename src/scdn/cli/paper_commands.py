"""`scdn paper`: reproduce the tables and figures of the paper, and judge its claims."""

from __future__ import annotations

import argparse
from pathlib import Path

from scdn.cli.command_parser import (
    Subparsers,
    add_command,
    add_command_group,
    add_setting_option,
    whole_number,
)
from scdn.cli.progress_bar import ProgressBar

_OUT = "out/paper"
_EXAMPLE = "docs/results/paper/dynamic-mnist.json"


def add_to(subparsers: Subparsers) -> None:
    """Declare the commands."""
    group = add_command_group(
        subparsers,
        "paper",
        "Reproduce the tables and figures of the paper, with a verdict on every claim.",
        "scdn paper run exact --runs 1\nscdn paper report",
    )
    add_command(
        group,
        "list",
        _list,
        "List the artefacts: the paper's tables and figures, and studies of its claims.",
        "scdn paper list",
    )
    run = add_command(
        group,
        "run",
        _run,
        "Run artefacts; jobs that an interrupted run has finished are not repeated.",
        "scdn paper run exact --runs 1",
    )
    run.add_argument("names", nargs="+", metavar="NAME", help="an artefact, or all")
    run.add_argument(
        "--runs", type=whole_number(1), help="independent runs; default: the artefact's number"
    )
    run.add_argument(
        "--rounds", type=whole_number(1), help="rounds of training; default: the artefact's number"
    )
    run.add_argument(
        "--jobs", type=whole_number(1), default=1, help="parallel processes; default: 1"
    )
    run.add_argument(
        "--device",
        choices=("cpu", "cuda"),
        default="cpu",
        help="where models are trained; default: cpu",
    )
    run.add_argument("--ray", metavar="ADDRESS", help="run on a Ray cluster instead")
    run.add_argument(
        "--out", default=_OUT, metavar="DIR", help=f"folder for results; default: {_OUT}"
    )
    run.add_argument(
        "--so-far", action="store_true", help="run nothing; write pages from finished jobs"
    )
    run.add_argument(
        "--only", default="", metavar="A,B", help="only these parts of an artefact that has several"
    )
    add_setting_option(run)
    merge = add_command(
        group,
        "merge",
        _merge,
        "Put two results of an artefact together: of each network those with more methods or runs. "
        "What was made with other settings than today's is left out.",
        f"scdn paper merge {_EXAMPLE} {_EXAMPLE} -o merged.json",
    )
    merge.add_argument("first", type=Path, metavar="FILE", help="a result of static or dynamic")
    merge.add_argument("second", type=Path, metavar="FILE", help="another, preferred where equal")
    merge.add_argument(
        "-o", "--out", type=Path, required=True, metavar="FILE", help="file to write"
    )
    report = add_command(
        group,
        "report",
        _report,
        "Write one page, as HTML and Markdown: our results, the published ones, and verdicts.",
        "scdn paper report",
    )
    report.add_argument(
        "--from",
        dest="source",
        default=_OUT,
        metavar="DIR",
        help=f"folder of results; default: {_OUT}",
    )
    report.add_argument(
        "--out", default=_OUT, metavar="DIR", help=f"folder for the page; default: {_OUT}"
    )


def _list(_: argparse.Namespace) -> int:
    from scdn.paper.artefact import artefact_names, read_spec

    names = artefact_names()
    width = max(map(len, names))
    for spec in map(read_spec, names):
        print(f"{spec.name:<{width}}  {spec.title} ({spec.paper})")
    return 0


def _run(options: argparse.Namespace) -> int:
    from scdn.paper.artefact import artefact_names, read_spec
    from scdn.paper.run_artefact import run_artefact

    names = artefact_names() if options.names == ["all"] else options.names
    user_options = {
        "runs": options.runs,
        "rounds": options.rounds,
        "device": options.device,
        "only": tuple(options.only.split(",")) if options.only else (),
        "overrides": tuple(options.settings),
    }
    specs = [read_spec(name, **user_options) for name in names]  # refuses unknown names first
    for spec in specs:
        paths = run_artefact(
            spec,
            Path(options.out),
            workers=options.jobs,
            ray=options.ray,
            so_far=options.so_far,
            on_job_done=ProgressBar(lines=20).show,
        )
        for path in paths:
            print(f"wrote {path}")
    return 0


def _merge(options: argparse.Namespace) -> int:
    from scdn.paper.merge_results import merge_files

    merge_files(options.first, options.second, options.out, log=print)
    print(f"wrote {options.out}")
    return 0


def _report(options: argparse.Namespace) -> int:
    from scdn.paper.page import write_pages

    for path in write_pages(Path(options.source), Path(options.out)):
        print(f"wrote {path}")
    return 0
