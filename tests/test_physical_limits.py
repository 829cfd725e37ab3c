"""What physics forbids is said: by proofs about reach, and in the words of `scenario check`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from command_line import scdn
from conftest import many
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from scdn import make_request, problem_of, solve
from scdn.control.reach_from_anywhere import reach_from_anywhere
from scdn.scenario import make_scenario, read_scenario
from scdn.simulation.physical_limits import physical_limits
from scdn.simulation.request_builder import trace_with_run_sizes
from scdn.world.churn import churn_trace
from scdn.world.link_budget import greatest_loss, in_reach

REPORT_BITS = {"wildfire": 126_816.0, "smart-grid": 126_816.0, "building": 91_744.0}  # by hand
DEVICE = {"id": "d", "position_m": [50, 50, 0], "payload_bits": 1e5}
NETWORK = {"region_m": [100, 100, 50], "devices": [DEVICE], "churn": {"entry_rate": 0}}


def limits(document):
    scenario = make_scenario(document)
    return physical_limits(scenario, churn_trace(scenario).fleet)


def trace_as_run(scenario):
    """Return the devices of a run, without need of MNIST, whose 50,890 weights are the default."""
    if scenario.name == "building":
        trace = trace_with_run_sizes(scenario, pytest.fail)
        assert set(trace.fleet.payload_bits) == {REPORT_BITS["building"]}
        return trace
    trace = churn_trace(scenario)
    bits = np.full(len(trace.fleet), REPORT_BITS[scenario.name])
    return replace(trace, fleet=replace(trace.fleet, payload_bits=bits))


# --- reach from anywhere ------------------------------------------------------------------------


@st.composite
def sites(draw):
    size = [draw(st.sampled_from([20.0, 100.0, 2000.0])) for _ in range(2)]
    size.append(draw(st.sampled_from([3.0, 120.0])))
    fraction = st.floats(0, 1)
    boxes = []
    for _ in range(draw(st.integers(0, 3))):
        pairs = [sorted((draw(fraction) * s, draw(fraction) * s)) for s in size]
        boxes.append([low for low, _ in pairs] + [high for _, high in pairs])
    model = draw(st.sampled_from(["air-to-ground", "two-ray", "log-distance"]))
    return {
        "region_m": size,
        "keep_out_m": boxes,
        "server": {"position_m": [0, 0, 0]},
        "radio": {"model": model},
        "movement": {"model": draw(st.sampled_from(["paper", "rover"]))},
        "round_s": 10,
        "weights": {"transmission": 0, "movement": 0, "processing": 0},
        "devices": [
            {"id": "d", "position_m": [draw(fraction) * s for s in size], "min_power_w": 0}
        ],
        "candidates_m": None,
    }


@given(site=sites(), share=st.floats(-3, 0.5))
@settings(max_examples=many(200))
def test_a_device_is_heard_from_somewhere_if_the_exact_plan_hears_it(site, share):
    """With nothing to pay for, the optimum hears a device wherever that is possible."""
    problem = problem_of(make_request(site))
    grid = np.stack(np.meshgrid(*[np.linspace(0, s, 9) for s in site["region_m"]]), -1)
    grid = grid.reshape(-1, 3)
    allowed = grid[problem.allowed(grid)]
    assume(len(allowed))
    # a power at which the device is about to fall silent
    needed = problem.least_power(allowed).min() * 10**share
    problem = replace(problem, max_power_w=np.array([needed]))
    per_loss = float(problem.least_power_per_loss()[0])
    answer = reach_from_anywhere(problem, problem.position_m[0], needed / per_loss)
    plan = solve(problem, time_limit_s=5)
    assume(plan.status == "optimal")
    assert answer is None or answer == bool(plan.decision.active[0])
    if share >= 0:
        assert answer


def test_single_positions_and_candidates_are_tried():
    document = {**NETWORK, "region_m": [100, 100, 120], "movement": {"model": "mast"}}
    document["server"] = {"position_m": [0, 0, 120]}
    for extra in ({}, {"candidates_m": [[0, 0, 120], [0, 0, 5]]}):
        problem = problem_of(make_request(_request(document | extra)))
        loss = float(problem.path_loss(problem.server_m)[0])
        assert reach_from_anywhere(problem, problem.position_m[0], loss * 1.001)
        lowest = float(problem.path_loss([[0, 0, 120], [0, 0, 5]]).min()) if extra else loss
        assert reach_from_anywhere(problem, problem.position_m[0], lowest * 0.999) is False


def _request(document):
    return {key: value for key, value in document.items() if key != "churn"}


def test_walls_without_a_gap_leave_only_the_servers_side():
    """A wall from floor to ceiling: the rover hears the device through it, but not from behind."""
    wall = [20, 0, 0, 21, 100, 3]
    document = {
        "region_m": [100, 100, 3],
        "keep_out_m": [wall],
        "server": {"position_m": [10, 50, 0]},
        "devices": [{"id": "d", "position_m": [60, 50, 0]}],
        "radio": {"model": "log-distance"},
        "round_s": 1,
    }
    for path, nearest in (("straight", 1.0), ("around", 40.0)):
        problem = problem_of(
            make_request({**document, "movement": {"model": "rover", "path": path}})
        )
        reach = problem.path_loss([60 - nearest, 50, 0])[0]
        assert reach_from_anywhere(problem, problem.position_m[0], float(reach) * 1.001)
        assert reach_from_anywhere(problem, problem.position_m[0], float(reach) * 0.999) is False


@pytest.mark.parametrize("name", sorted(REPORT_BITS))
def test_the_greatest_loss_is_that_of_a_device_about_to_fall_silent(examples, name):
    scenario = read_scenario(examples / f"{name}.toml")
    fleet = trace_as_run(scenario).fleet
    losses = greatest_loss(scenario, fleet, scenario.report_limit_s)
    positions = np.random.default_rng(1).uniform(0, 1, (50, 3)) * scenario.region_m
    heard = in_reach(scenario, fleet, positions)
    site = problem_of(make_request(_site(scenario)))
    own = site.link.losses(positions, fleet.position_m).mean_loss()
    assert (heard == (own <= losses * (1 + 1e-9))).all()
    assert heard.any()
    assert not heard.all()


def _site(scenario):
    radio = scenario.radio.model_dump()
    server = {"position_m": [0, 0, 0]}
    return {"region_m": scenario.region_m, "radio": radio, "server": server, "devices": [],
            "round_s": scenario.round_s}  # fmt: skip


# --- what is said -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(REPORT_BITS))
def test_in_the_networks_of_real_scale_everything_is_possible_and_half_is_out_of_reach(
    examples, name
):
    scenario = read_scenario(examples / f"{name}.toml")
    trace = trace_as_run(scenario)
    assert physical_limits(scenario, trace.fleet) == []
    present = trace.fleet.take(trace.present(0))
    reached = in_reach(scenario, present, scenario.server.position_m).mean()
    assert 1 / 3 < reached < 2 / 3


def test_a_possible_network_has_no_lines():
    assert limits(NETWORK) == []


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"max_delay_s": 1e-4}, "d: cannot report within 0.0001 s from any position"),
        ({"radio": {"margin_db": 120}}, "d: cannot report within 0.06 s from any position"),
        ({"learning": {"compute_deadline_s": 0.1}}, "d: not one iteration ends within"),
        ({"round_s": 1}, "round_s: 1 s is less than learning.compute_deadline_s plus"),
        (
            {"keep_out_m": [[20, 20, 10, 80, 80, 40]]},
            "server.start: centre is inside a keep-out box",
        ),
        (
            {"movement": {"model": "rover"}, "server": {"position_m": [1, 1, 5]}, "round_s": 9},
            "server.position_m: is 5 m above the ground",
        ),
        (
            {
                "movement": {"model": "rotary-wing", "rotary_wing": {"sink_m_per_s": 5}},
                "round_s": 9,
            },
            "movement.rotary_wing.sink_m_per_s: 5 m/s is more than half of the induced speed",
        ),
        (
            {
                "keep_out_m": [[20, 0, 0, 21, 100, 50]],
                "movement": {"model": "rover", "path": "around"},
                "server": {"position_m": [1, 1, 0]},
                "round_s": 9,
            },
            "keep_out_m: cuts off 80% of the ground",
        ),
    ],
)
def test_each_limit_has_its_line(change, line):
    (only,) = limits(NETWORK | change)
    assert only.startswith(line)


def test_a_report_that_the_duty_cycle_makes_impossible():
    change = {"radio": {"duty_cycle": 1e-5}, "round_s": 10}
    never, why = limits(NETWORK | change)
    assert never.startswith("d: cannot report within 0.0001 s")
    assert why.startswith("d: the duty cycle forbids it: with all of max_delay_s = 0.06 s")


def test_many_devices_are_named_once():
    fleet = [{"kind": "meter", "count": 30}]
    document = {**NETWORK, "devices": [], "fleet": fleet, "max_delay_s": 1e-6}
    (line,) = limits(document)
    assert line.startswith("meter-1, meter-2, meter-3, meter-4 and 26 more: cannot report")


def test_the_command_line_warns_and_still_succeeds(examples):
    path = examples / "quick.toml"
    options = ["--set", "max_delay_s=1e-6", "--set", 'learning.payload="model"']
    for command in ("check", "show"):
        done = scdn("scenario", command, path, *options)
        assert done.returncode == 0
        assert done.stderr.startswith("warning: device-1")
        assert "from any position" in done.stderr
    whole = "keep_out_m=[[0,0,0,100,100,100]]"
    refused = scdn("scenario", "check", path, "--set", whole)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "covers the whole region" in refused.stderr.splitlines()[-1]
