"""`scdn plan`: one round's problem in, a plan out."""

from __future__ import annotations

import argparse
import math
import sys

from scdn.cli.common import Commands, command, number, settings_options, warn
from scdn.file_io import to_json

_SOLVERS = ("exact", "paper", "greedy", "gsp", "greedy-matched", "gsp-matched")


def add_to(commands: Commands) -> None:
    """Declares the command."""
    parser = command(
        commands,
        "plan",
        _plan,
        "Plan one round: where the server goes, who takes part, and how.",
        "scdn plan examples/request.json\n"
        "scdn plan examples/request.json --json --gap 1e-6\n"
        "scdn plan examples/request.json --solver gsp --set max_delay_s=0.1 --draw plan.png",
    )
    parser.add_argument("request", metavar="REQUEST", help="JSON or TOML, - for standard input")
    parser.add_argument("--json", action="store_true", help="the answer as JSON on stdout")
    parser.add_argument(
        "--solver", choices=_SOLVERS, default="exact", metavar="NAME", help=", ".join(_SOLVERS)
    )
    parser.add_argument(
        "--gap",
        type=number(1e-9, 1, "at least 1e-9 and below 1"),
        default=1e-4,
        metavar="G",
        help="proven relative gap; default: 1e-4",
    )
    parser.add_argument(
        "--time-limit",
        type=number(1e-9, math.inf, "a number of seconds > 0"),
        default=math.inf,
        metavar="S",
        help="default: none",
    )
    parser.add_argument(
        "--draw", action="append", default=[], metavar="FILE", help="a map: .png, .svg or .html"
    )
    settings_options(parser)


def _plan(options: argparse.Namespace) -> int:
    from scdn.control.request import problem_of, read_request, warnings_of

    if options.draw:
        from scdn.pictures.plan_map import draw_plan
        from scdn.pictures.scene import check_name

        for path in options.draw:
            check_name(path)
    request = read_request(options.request, options.settings, strict=options.strict)
    warn(warnings_of(request))
    from scdn.control.solve import solve

    problem = problem_of(request)
    if options.solver == "exact":
        from scdn.control.solve import warm_up

        warm_up()
    plan = solve(problem, options.solver, gap=options.gap, time_limit_s=options.time_limit)
    for path in options.draw:
        draw_plan(plan, path)
        print(f"wrote {path}", file=sys.stderr if options.json else sys.stdout)
    if options.json:
        print(to_json(plan.document()))
    else:
        from scdn.control.report import report

        print(report(plan))
    return 0
