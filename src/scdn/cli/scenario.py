"""`scdn scenario`: make, check, show and draw the description of a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from scdn.cli.common import Commands, command, count, group, scenario_options, warn, write_out
from scdn.errors import input_error
from scdn.file_io import to_json
from scdn.scenario import Scenario, read_scenario, template, to_toml, warnings_of


def add_to(commands: Commands) -> None:
    """Declares the commands."""
    ours = group(
        commands,
        "scenario",
        "Make, check, show and draw scenarios.",
        "scdn scenario show examples/wildfire.toml",
    )
    new = command(
        ours,
        "new",
        _new,
        "Write a scenario with every value and what it means.",
        "scdn scenario new -o network.toml",
    )
    new.add_argument("-o", "--out", default="-", metavar="FILE", help="where to; default: stdout")
    new.add_argument("--force", action="store_true", help="overwrite a file that is there")
    new.add_argument(
        "--profile",
        choices=("product", "paper"),
        default="product",
        help="whose defaults: true rates, or the paper's constants and approximant",
    )
    new.add_argument("--devices", type=count(1), default=6, metavar="N", help="default: 6")

    check = command(
        ours,
        "check",
        _check,
        "Read a scenario and report every fault, one line each.",
        "scdn scenario check examples/wildfire.toml --set radio.margin_db=3",
    )
    scenario_options(check)

    show = command(
        ours,
        "show",
        _show,
        "Summarise a scenario: who is there, who is in reach, who comes and goes.",
        "scdn scenario show examples/smart-grid.toml\n"
        "scdn scenario show examples/smart-grid.toml --full > complete.toml",
    )
    scenario_options(show)
    show.add_argument("--full", action="store_true", help="every value, as TOML")
    show.add_argument("--json", action="store_true", help="every value, as JSON")

    draw = command(
        ours,
        "draw",
        _draw,
        "Draw a scenario: in 3-D and from above, with what is in reach at full power.",
        "scdn scenario draw examples/wildfire.toml -o map.png\n"
        "scdn scenario draw examples/wildfire.toml -o map.html --round 20",
    )
    scenario_options(draw)
    draw.add_argument("-o", "--out", required=True, metavar="FILE", help=".png, .svg or .html")
    draw.add_argument("--round", type=count(0), default=0, metavar="R", help="default: 0")

    request = command(
        ours,
        "request",
        _request,
        "Write a round of a scenario as a plan request, the server at its start.",
        "scdn scenario request examples/wildfire.toml --round 5 -o request.json\n"
        "scdn plan request.json",
    )
    scenario_options(request)
    request.add_argument("--round", type=count(0), default=0, metavar="R", help="default: 0")
    request.add_argument("-o", "--out", default="-", metavar="FILE", help="default: stdout")

    trace = command(
        ours,
        "trace",
        _trace,
        "Draw who comes and goes, and save it; churn.trace in a scenario replays it.",
        "scdn scenario trace examples/wildfire.toml -o trace.json",
    )
    scenario_options(trace)
    trace.add_argument("-o", "--out", required=True, metavar="FILE", help="a JSON file")


def _read(options: argparse.Namespace) -> Scenario:
    scenario = read_scenario(options.scenario, options.settings, strict=options.strict)
    warn(warnings_of(scenario))
    return scenario


def _new(options: argparse.Namespace) -> int:
    if options.out != "-" and Path(options.out).exists() and not options.force:
        raise input_error(options.out, "file", "is there already", "add --force to overwrite it")
    write_out(options.out, template(options.profile, count=options.devices))
    return 0


def _check(options: argparse.Namespace) -> int:
    from scdn.methods import method
    from scdn.world.churn import churn_trace

    scenario = _read(options)
    method(scenario.method)
    trace = churn_trace(scenario)
    print(f"{options.scenario}: fine, {int(trace.present(0).sum())} devices at the start")
    return 0


def _show(options: argparse.Namespace) -> int:
    scenario = _read(options)
    if options.json:
        print(to_json(scenario.model_dump(mode="json", by_alias=True)))
    elif options.full:
        print(to_toml(scenario, comments=True), end="")
    else:
        from scdn.world.summary import summary

        print(summary(scenario))
    return 0


def _check_round(options: argparse.Namespace, scenario: Scenario) -> None:
    if options.round > scenario.learning.rounds:
        allowed = f"must be at most learning.rounds = {scenario.learning.rounds}"
        raise input_error("scdn", "--round", f"got {options.round}", allowed)


def _request(options: argparse.Namespace) -> int:
    from scdn.simulation.request import round_request

    scenario = _read(options)
    _check_round(options, scenario)
    request = round_request(scenario, options.round)
    write_out(options.out, to_json(request.model_dump(mode="json", by_alias=True)) + "\n")
    return 0


def _draw(options: argparse.Namespace) -> int:
    from scdn.pictures.map import draw_map

    scenario = _read(options)
    _check_round(options, scenario)
    draw_map(scenario, options.out, options.round)
    print(f"wrote {options.out}")
    return 0


def _trace(options: argparse.Namespace) -> int:
    from scdn.world.churn import churn_trace

    churn_trace(_read(options)).save(options.out)
    print(f"wrote {options.out}")
    return 0
