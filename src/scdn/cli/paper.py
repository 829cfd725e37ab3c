"""`scdn paper`: every table and figure of the paper, and a verdict on every claim."""

from __future__ import annotations

import argparse
from pathlib import Path

from scdn.cli.common import Commands, command, count, group
from scdn.cli.progress import Progress

_OUT = "out/paper"


def add_to(commands: Commands) -> None:
    """Declares the three."""
    inner = group(
        commands,
        "paper",
        "Every table and figure of the paper, with a verdict on every claim.",
        "scdn paper run exact --runs 1 --jobs 2\nscdn paper report",
    )
    command(inner, "list", _list, "Lists the artefacts.", "scdn paper list")
    run = command(
        inner,
        "run",
        _run,
        "Runs artefacts; what an interrupted run has finished is not run again.",
        "scdn paper run exact --runs 1 --jobs 2",
    )
    run.add_argument("names", nargs="+", metavar="NAME", help="an artefact, or all")
    run.add_argument(
        "--runs", type=count(1), help="independent runs; by default the artefact's own"
    )
    run.add_argument("--rounds", type=count(1), help="of training; by default the artefact's own")
    run.add_argument("--jobs", type=count(1), default=1, help="processes at once")
    run.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="what trains")
    run.add_argument("--ray", metavar="ADDRESS", help="a Ray cluster in place of processes here")
    run.add_argument("--out", default=_OUT, metavar="DIR", help=f"where results go ({_OUT})")
    run.add_argument("--so-far", action="store_true", help="run nothing: show what is there")
    run.add_argument(
        "--only", default="", metavar="A,B", help="some of its blocks, where it has several"
    )
    run.add_argument(
        "--set",
        dest="settings",
        metavar="KEY.PATH=VALUE",
        action="append",
        default=[],
        help="override a value of its scenario; may be repeated",
    )
    report = command(
        inner,
        "report",
        _report,
        "Writes one page, as HTML and as Markdown: ours beside the published, and verdicts.",
        "scdn paper report",
    )
    report.add_argument("--from", dest="source", default=_OUT, metavar="DIR", help="results")
    report.add_argument("--out", default=_OUT, metavar="DIR", help="where the page goes")


def _list(_: argparse.Namespace) -> int:
    from scdn.paper.artefact import names, table_of

    wide = max(map(len, names()))
    for name in names():
        table = table_of(name)
        print(f"{name:<{wide}}  {table['title']} ({table['paper']})")
    return 0


def _run(options: argparse.Namespace) -> int:
    from scdn.paper.artefact import Setting, names, table_of
    from scdn.paper.produce import produce

    chosen = names() if options.names == ["all"] else options.names
    only = tuple(options.only.split(",")) if options.only else ()
    how = (options.runs, options.rounds, options.device, only, tuple(options.settings))
    # a wrong name is found before the first run
    for setting in [Setting(table_of(name), *how) for name in chosen]:
        bar: list[Progress] = []

        def done(number: int, total: int, words: str, bar: list[Progress] = bar) -> None:
            if not bar:
                bar.append(Progress(total, lines=20))
            bar[0].show(number, words)

        where = {"workers": options.jobs, "ray": options.ray, "so_far": options.so_far}
        for path in produce(setting, Path(options.out), **where, done=done):
            print(f"wrote {path}")
    return 0


def _report(options: argparse.Namespace) -> int:
    from scdn.paper.page import write_pages

    for path in write_pages(Path(options.source), Path(options.out)):
        print(f"wrote {path}")
    return 0
