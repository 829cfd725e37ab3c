"""`scdn plan`: solve the problem of one round and print the plan."""

from __future__ import annotations

import argparse
import math
import sys

from scdn.cli.command_parser import (
    Subparsers,
    add_command,
    add_setting_option,
    add_strict_option,
    number_in_range,
    print_warnings,
)
from scdn.file_io import to_json

_SOLVERS = ("exact", "paper", "greedy", "gsp", "greedy-matched", "gsp-matched")


def add_to(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = add_command(
        subparsers,
        "plan",
        _plan,
        "Plan one round: the server's position and each device's power, clock and iterations.",
        "scdn plan examples/request.json\n"
        "scdn plan examples/request.json --json --gap 1e-6\n"
        "scdn plan examples/request.json --solver gsp --set max_delay_s=0.1 --draw plan.png",
    )
    parser.add_argument(
        "request", metavar="REQUEST", help="plan request, JSON or TOML; - reads stdin"
    )
    parser.add_argument("--json", action="store_true", help="print the plan as JSON")
    parser.add_argument(
        "--solver", choices=_SOLVERS, default="exact", metavar="NAME", help=", ".join(_SOLVERS)
    )
    parser.add_argument(
        "--gap",
        type=number_in_range(1e-9, 1, "at least 1e-9 and below 1"),
        default=1e-4,
        metavar="G",
        help="stop at this proven relative gap; default: 1e-4",
    )
    parser.add_argument(
        "--time-limit",
        type=number_in_range(1e-9, math.inf, "a number of seconds > 0"),
        default=math.inf,
        metavar="S",
        help="stop after S seconds with the best plan so far; default: never",
    )
    parser.add_argument(
        "--draw",
        action="append",
        default=[],
        metavar="FILE",
        help="also draw a map: .png, .svg or .html",
    )
    add_setting_option(parser)
    add_strict_option(parser)


def _plan(options: argparse.Namespace) -> int:
    from scdn.control.plan_request import problem_of, read_request, request_warnings

    if options.draw:
        from scdn.report.map_scene import check_map_format, write_map
        from scdn.report.plan_map import make_plan_map

        for path in options.draw:
            check_map_format(path)
    request = read_request(options.request, options.settings, strict=options.strict)
    print_warnings(request_warnings(request))
    from scdn.control.solve import solve, warm_up

    problem = problem_of(request)
    if options.solver == "exact":
        warm_up(problem)
    plan = solve(problem, options.solver, gap=options.gap, time_limit_s=options.time_limit)
    for path in options.draw:
        write_map(make_plan_map(plan), path)
        print(f"wrote {path}", file=sys.stderr if options.json else sys.stdout)
    if options.json:
        print(to_json(plan.document()))
    else:
        from scdn.control.plan_text import plan_text

        print(plan_text(plan))
    return 0
