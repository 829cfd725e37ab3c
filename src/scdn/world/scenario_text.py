"""A scenario as text: its region, devices, reach and churn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from scdn.scenario import Radio, Scenario
from scdn.world import energy
from scdn.world.churn import NEVER, ChurnTrace, churn_trace
from scdn.world.fleet import Fleet
from scdn.world.geometry import server_start
from scdn.world.link_budget import in_reach, required_power
from scdn.world.movement_models import movement_model

_LISTED = 20  # devices that are worth a line each


@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def scenario_text(scenario: Scenario, trace: ChurnTrace | None = None) -> str:
    """Describe a scenario: region, devices, links, learning and churn, then device by device.

    `trace` are its devices, if they are not those that the scenario draws.
    """
    trace = trace or churn_trace(scenario)
    fleet = trace.fleet.take(trace.present(0))
    lines = [
        scenario.name + (f": {scenario.about}" if scenario.about else ""),
        "",
        *_overview_lines(scenario, fleet),
        *_churn_lines(scenario, trace),
        "",
        *_device_lines(scenario, fleet),
    ]
    return "\n".join(lines)


def _overview_lines(scenario: Scenario, fleet: Fleet) -> Iterator[str]:
    server = server_start(scenario)
    x, y, z = scenario.region_m
    kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(fleet.kind).items())
    reached = int(in_reach(scenario, fleet, server).sum())
    position = ", ".join(f"{coordinate:g}" for coordinate in np.round(server, 2))
    yield f"region    {x:g} × {y:g} × {z:g} m, server at ({position})"
    yield f"devices   {len(fleet)} at the start ({kinds or 'none'})"
    yield (
        f"reach     {reached} of {len(fleet)} can report within {scenario.report_limit_s:g} s"
        f" at full power ({scenario.radio.rate_model} rates)"
    )
    yield from _physics_lines(scenario)
    yield (
        f"learning  {scenario.learning.dataset}, {scenario.learning.rounds} rounds of up to"
        f" {scenario.max_iterations} iterations, method {scenario.method}"
    )


def _physics_lines(scenario: Scenario) -> Iterator[str]:
    """Describe the radio, the round and the server's movement where they are not the defaults."""
    radio, default = scenario.radio, Radio()
    parts = [] if radio.model == default.model else [f"{radio.model} links"]
    parts.append(f"{_hertz(radio.carrier_hz)} with a band of {_hertz(radio.bandwidth_hz)}")
    for label, decibels in (
        ("noise figure", radio.noise_figure_db),
        ("gap to Shannon", radio.snr_gap_db),
        ("margin", radio.margin_db),
    ):
        if decibels:
            parts.append(f"{label} {decibels:g} dB")
    given = radio.model_copy(update={"a2g": default.a2g, "a2a": default.a2a})
    if given != default:
        yield f"radio     {', '.join(parts)}"
    if scenario.round_s is not None:
        sends_s = radio.duty_cycle * scenario.round_s
        limit = f"; a device may send for {sends_s:g} s of them" if radio.duty_cycle < 1 else ""
        yield f"round     {scenario.round_s:g} s at a position{limit}"
    if scenario.movement.model != "paper":
        yield f"movement  {_movement_text(scenario)}"
    if scenario.prices is not None:
        device, server = scenario.prices.device, scenario.prices.server
        yield f"prices    {device:g} for a device's joule, {server:g} for the server's"


def _movement_text(scenario: Scenario) -> str:
    kind = scenario.movement.model
    if kind == "mast":
        return "mast, which stays" + ("" if scenario.candidates_m is None else ", or another one")
    model = movement_model(scenario.movement, 1.0)  # joules of one second are watts
    stays = model.ground_j if model.on_ground else model.hover_j
    ways = {"rotary-wing": ("hovers", "flies"), "landing": ("stands", "flies")}
    stands, goes = ways.get(kind, ("stands", "drives"))
    around = ", round keep-out boxes" if scenario.movement.path == "around" else ""
    return (
        f"{kind}: {stands} with {stays:.4g} W, {goes} {1 / model.lateral_s_per_m:.3g} m/s with"
        f" {model.lateral_j_per_m:.3g} J/m{around}"
    )


def _hertz(frequency: float) -> str:
    for factor, unit in ((1e9, "GHz"), (1e6, "MHz"), (1e3, "kHz")):
        if frequency >= factor:
            return f"{frequency / factor:.6g} {unit}"
    return f"{frequency:g} Hz"


def _churn_lines(scenario: Scenario, trace: ChurnTrace) -> Iterator[str]:
    rounds = scenario.learning.rounds
    exits, entries = int((trace.exited < rounds).sum()), int((trace.entered >= 0).sum())
    last = int(trace.present(rounds - 1).sum())
    yield (
        f"churn     seed {scenario.seed}: {exits} devices leave, {entries} enter,"
        f" {last} are present in the last round"
    )
    exit_rounds = sorted((trace.exited[trace.exited != NEVER] + 1).tolist())
    if exit_rounds:
        yield f"          exits in rounds {', '.join(map(str, exit_rounds[:24]))}"


def _device_lines(scenario: Scenario, fleet: Fleet) -> Iterator[str]:
    power = required_power(scenario, fleet, server_start(scenario))
    per_iteration = energy.cycles(
        scenario.learning.steps_per_iteration,
        scenario.learning.batch_size,
        fleet.connections,
        fleet.flops_per_cycle,
    )
    budget = fleet.cpu_max_hz * scenario.learning.compute_deadline_s
    most = np.divide(
        budget, per_iteration, out=np.full(len(fleet), np.inf), where=per_iteration > 0
    )
    yield (
        f"{'device':<16}{'x':>7}{'y':>7}{'z':>7}{'needs W':>10}{'has W':>8}  reach  clock allows"
    )
    for index in range(min(len(fleet), _LISTED)):
        x, y, z = fleet.position_m[index]
        reached = power[index] <= fleet.max_power_w[index]
        limit = min(most[index], scenario.max_iterations)
        yield (
            f"{str(fleet.id[index])[:15]:<16}{x:7.1f}{y:7.1f}{z:7.1f}{power[index]:10.3g}"
            f"{fleet.max_power_w[index]:8.3f}  {'yes' if reached else 'no':<7}"
            f"{limit:.1f} iterations"
        )
    if len(fleet) > _LISTED:
        yield f"… and {len(fleet) - _LISTED} more"
