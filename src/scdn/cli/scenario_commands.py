"""`scdn scenario`: make, check, show and draw scenarios."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from scdn.cli.command_parser import (
    Subparsers,
    add_command,
    add_command_group,
    add_scenario_options,
    print_warnings,
    read_scenario_from,
    whole_number,
    write_output,
)
from scdn.errors import input_error
from scdn.file_io import to_json
from scdn.scenario import Scenario, scenario_template, to_toml

if TYPE_CHECKING:
    from scdn.world.churn import ChurnTrace


def add_to(subparsers: Subparsers) -> None:
    """Declare the commands."""
    group = add_command_group(
        subparsers,
        "scenario",
        "Make, check, show and draw scenarios.",
        "scdn scenario show examples/wildfire.toml",
    )
    new = add_command(
        group,
        "new",
        _new,
        "Write a scenario that lists every value with a comment.",
        "scdn scenario new -o network.toml",
    )
    new.add_argument("-o", "--out", default="-", metavar="FILE", help="default: stdout")
    new.add_argument("--force", action="store_true", help="overwrite an existing file")
    new.add_argument(
        "--profile",
        choices=("product", "paper"),
        default="product",
        help="product: true channel rates; paper: its constants and its approximation of the rate",
    )
    new.add_argument("--devices", type=whole_number(1), default=6, metavar="N", help="default: 6")

    check = add_command(
        group,
        "check",
        _check,
        "Check a scenario: report every fault, and what physics forbids, one line each.",
        "scdn scenario check examples/wildfire.toml --set radio.margin_db=3",
    )
    add_scenario_options(check)

    show = add_command(
        group,
        "show",
        _show,
        "Summarise a scenario: its devices, which are in reach, when they join and leave.",
        "scdn scenario show examples/smart-grid.toml\n"
        "scdn scenario show examples/smart-grid.toml --full > complete.toml",
    )
    add_scenario_options(show)
    show.add_argument("--full", action="store_true", help="print every value, as TOML")
    show.add_argument("--json", action="store_true", help="print every value, as JSON")

    draw = add_command(
        group,
        "draw",
        _draw,
        "Draw a scenario in 3-D and from above, with the links in reach at full power.",
        "scdn scenario draw examples/wildfire.toml -o map.png\n"
        "scdn scenario draw examples/wildfire.toml -o map.html --round 20",
    )
    add_scenario_options(draw)
    draw.add_argument("-o", "--out", required=True, metavar="FILE", help=".png, .svg or .html")
    _add_round_option(draw)

    request = add_command(
        group,
        "request",
        _request,
        "Write one round of a scenario as a plan request, with the server at its start.",
        "scdn scenario request examples/wildfire.toml --round 5 -o request.json\n"
        "scdn plan request.json",
    )
    add_scenario_options(request)
    _add_round_option(request)
    request.add_argument("-o", "--out", default="-", metavar="FILE", help="default: stdout")

    trace = add_command(
        group,
        "trace",
        _trace,
        "Save when devices join and leave; churn.trace in a scenario replays it.",
        "scdn scenario trace examples/wildfire.toml -o trace.json",
    )
    add_scenario_options(trace)
    trace.add_argument("-o", "--out", required=True, metavar="FILE", help="a JSON file")


def _add_round_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--round",
        type=whole_number(0),
        default=0,
        metavar="R",
        help="after this many rounds; default: 0",
    )


def _new(options: argparse.Namespace) -> int:
    if options.out != "-" and Path(options.out).exists() and not options.force:
        raise input_error(options.out, "file", "already exists", "add --force to overwrite it")
    write_output(options.out, scenario_template(options.profile, options.devices))
    return 0


def _check(options: argparse.Namespace) -> int:
    scenario = read_scenario_from(options)
    trace = _checked_trace(scenario)
    print(f"{options.scenario}: valid, {int(trace.present(0).sum())} devices at the start")
    return 0


def _show(options: argparse.Namespace) -> int:
    scenario = read_scenario_from(options)
    if options.json:
        print(to_json(scenario.model_dump(mode="json", by_alias=True)))
    elif options.full:
        print(to_toml(scenario, comments=True), end="")
    else:
        from scdn.world.scenario_text import scenario_text

        print(scenario_text(scenario, _checked_trace(scenario)))
    return 0


def _read_with_round(options: argparse.Namespace) -> Scenario:
    scenario = read_scenario_from(options)
    if options.round > scenario.learning.rounds:
        allowed = f"must be at most learning.rounds = {scenario.learning.rounds}"
        raise input_error("scdn", "--round", f"got {options.round}", allowed)
    return scenario


def _checked_trace(scenario: Scenario) -> ChurnTrace:
    """Return the devices of all rounds; warn of what physics forbids."""
    from scdn.simulation.physical_limits import physical_limits
    from scdn.simulation.request_builder import trace_with_run_sizes

    trace = trace_with_run_sizes(scenario, _warn)
    print_warnings(physical_limits(scenario, trace.fleet))
    return trace


def _warn(text: str) -> None:
    print_warnings([text])


def _request(options: argparse.Namespace) -> int:
    from scdn.simulation.request_builder import round_request

    scenario = _read_with_round(options)
    request = round_request(scenario, options.round, _warn)
    write_output(options.out, to_json(request.model_dump(mode="json", by_alias=True)) + "\n")
    return 0


def _draw(options: argparse.Namespace) -> int:
    from scdn.report.map_scene import write_map
    from scdn.report.network_map import make_network_map
    from scdn.simulation.request_builder import trace_with_run_sizes

    scenario = _read_with_round(options)
    trace = trace_with_run_sizes(scenario, _warn)
    write_map(make_network_map(scenario, options.round, trace), options.out)
    print(f"wrote {options.out}")
    return 0


def _trace(options: argparse.Namespace) -> int:
    from scdn.world.churn import churn_trace

    churn_trace(read_scenario_from(options)).save(options.out)
    print(f"wrote {options.out}")
    return 0
