"""`scdn flight`: write the server's flight as a `.plan` file for QGroundControl."""

from __future__ import annotations

import argparse
import math
import sys

from scdn.cli.command_parser import (
    Subparsers,
    add_command,
    number_in_range,
    print_warnings,
    write_output,
)
from scdn.file_io import to_json


def add_to(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = add_command(
        subparsers,
        "flight",
        _flight,
        "Write the server's flight, planned or recorded, as a .plan file for QGroundControl.",
        "scdn plan examples/request.json --json > plan.json\n"
        "scdn flight plan.json --request examples/request.json --origin 47.3977,8.5456 --stay 60\n"
        "scdn data fetch digits\n"
        "scdn run examples/quick.toml --out runs/one\n"
        "scdn flight runs/one --origin 47.3977,8.5456 -o one.plan",
    )
    parser.add_argument(
        "source", metavar="RUN_OR_PLAN", help="folder of a run, or a plan as JSON; - reads stdin"
    )
    parser.add_argument(
        "-o", "--out", default="flight.plan", metavar="FILE", help="default: flight.plan"
    )
    parser.add_argument(
        "--origin",
        type=_origin,
        metavar="LAT,LON",
        help="degrees of (0, 0), with an equals sign if negative (--origin=-33.9,151.2); "
        "default: the scenario's origin_deg",
    )
    parser.add_argument(
        "--request", metavar="FILE", help="a plan's request: its start, movement and boxes"
    )
    parser.add_argument(
        "--stay",
        type=number_in_range(0, math.inf, "a number of seconds ≥ 0"),
        metavar="S",
        help="seconds of every round's stay; default: as recorded, or the request's round_s",
    )
    parser.add_argument(
        "--end",
        choices=("home", "land"),
        default="home",
        help="fly back and land at home (default), or land at the last position",
    )
    parser.add_argument(
        "--firmware", choices=("px4", "ardupilot"), default="px4", help="default: px4"
    )
    parser.add_argument(
        "--inset",
        type=number_in_range(0, math.inf, "a number of metres ≥ 0"),
        default=1.0,
        metavar="M",
        help="fences are keep-out boxes less M metres at each side; default: 1",
    )


def _origin(text: str) -> tuple[float, float]:
    try:
        latitude, longitude = map(float, text.split(","))
    except ValueError:
        latitude = longitude = math.nan
    if not (math.isfinite(latitude) and math.isfinite(longitude)):
        raise argparse.ArgumentTypeError(f"got {text!r}, must be LAT,LON in degrees")
    return latitude, longitude


def _flight(options: argparse.Namespace) -> int:
    from scdn.report.flight import read_flight
    from scdn.report.flight_plan import make_flight_plan

    flight = read_flight(options.source, request=options.request, stay_s=options.stay)
    plan = make_flight_plan(
        flight,
        options.origin,
        end=options.end,
        firmware=options.firmware,
        inset_m=options.inset,
    )
    print_warnings(plan.warnings)
    write_output(options.out, to_json(plan.document) + "\n", messages=sys.stdout)
    return 0
