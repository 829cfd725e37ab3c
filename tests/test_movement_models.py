"""How the server moves: published figures by hand, and laws of every model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scdn.control.plan_request import make_request, problem_of
from scdn.control.solve import solve
from scdn.errors import InputError
from scdn.scenario import Movement, make_scenario
from scdn.scenario.round_settings import RotaryWing
from scdn.world import rotary_wing
from scdn.world.movement_models import movement_model

CRAFT = RotaryWing()
MODELS = ("paper", "rotary-wing", "landing", "rover", "mast")

models = st.builds(Movement, model=st.sampled_from(MODELS))
position = st.tuples(st.floats(0, 2000), st.floats(0, 2000), st.floats(0, 119))


def test_the_rotary_wing_has_its_published_powers():
    """Zeng, Xu and Zhang (2019): hover 168.49 W, endurance best at 10.2 m/s, range at 18.3 m/s."""
    assert rotary_wing.hover_w(CRAFT) == pytest.approx(168.49, abs=0.005)
    assert rotary_wing.level_w(CRAFT, 0.0) == pytest.approx(168.49, abs=0.005)
    speeds = np.arange(0.1, 40, 0.01)
    powers = np.array([rotary_wing.level_w(CRAFT, speed) for speed in speeds])
    assert speeds[powers.argmin()] == pytest.approx(10.2, abs=0.05)
    assert speeds[(powers / speeds).argmin()] == pytest.approx(18.3, abs=0.05)
    assert powers.min() == pytest.approx(126.0, abs=0.1)
    assert (powers / speeds).min() == pytest.approx(8.829, abs=0.002)


def test_climbing_and_sinking_agree_with_momentum_theory():
    """P = P_0 + (1 + k)·W·(V/2 + √(V²/4 + v_0²)), with (1 + k)·W = 22 N."""
    for speed in (-2.0, -0.5, 0.0, 1.0, 3.0):
        induced = 22.0 * (speed / 2 + np.sqrt(speed**2 / 4 + 4.03**2))
        assert rotary_wing.vertical_w(CRAFT, speed) == pytest.approx(79.86 + induced, rel=1e-3)


@given(models, position, position, st.floats(1, 600))
def test_moving_costs_energy_and_staying_is_watts_times_seconds(settings, before, after, round_s):
    model = movement_model(settings, round_s)
    flown = model.energy_j(before, after, 120)
    stayed = model.energy_j(before, before, 120)
    assert all(np.all(part >= 0) for part in flown)
    assert stayed.climb == stayed.lateral == 0
    if settings.model != "paper":
        twice = movement_model(settings, 2 * round_s).energy_j(before, before, 120)
        assert twice.total == pytest.approx(2 * stayed.total, rel=1e-12)
        at_rest = model.energy_j(after, after, 120).hover
        assert flown.total >= at_rest
    assert model.flight_s(before, before) == 0
    assert model.flight_s(before, after) >= 0


@given(position, position)
def test_a_flight_takes_power_times_time(before, after):
    model = movement_model(Movement(model="rotary-wing"), 1e-9)
    energy = model.energy_j(before, after, 120)
    horizontal = np.hypot(after[0] - before[0], after[1] - before[1])
    climb, sink = max(after[2] - before[2], 0), max(before[2] - after[2], 0)
    assert model.flight_s(before, after) == pytest.approx(horizontal / 18.3 + climb / 3 + sink / 2)
    power = rotary_wing.level_w(CRAFT, 18.3)
    assert energy.lateral == pytest.approx(power * horizontal / 18.3, abs=1e-9)
    up, down = (rotary_wing.vertical_w(CRAFT, speed) for speed in (3.0, -2.0))
    assert energy.climb == pytest.approx(up * climb / 3 + down * sink / 2, abs=1e-9)


def plan(movement: dict, **more):
    request = {
        "region_m": [1000, 1000, 120],
        "server": {"position_m": [100, 100, more.pop("z", 0)]},
        "devices": [{"id": "far", "position_m": [900, 900, 0], "payload_bits": 1.8e6}],
        "movement": movement,
        "round_s": 60,
        "max_delay_s": 0.1,
        "weights": {"movement": 1e-5},
        **more,
    }
    return solve(problem_of(make_request(request)))


def test_a_mast_stays_and_one_of_several_masts_serves():
    assert plan({"model": "mast"}, z=30).server_m.tolist() == [100, 100, 30]
    chosen = plan({"model": "mast"}, candidates_m=[[100, 100, 30], [850, 900, 30]])
    assert chosen.server_m.tolist() == [850, 900, 30]
    assert chosen.evaluation.terms["movement_j"] == 0


def test_a_landing_uav_stands_on_the_ground_and_a_rover_drives():
    for model in ("landing", "rover"):
        moved = plan({"model": model})
        assert moved.server_m[2] == 0
        assert moved.decision.active.all()
    assert plan({"model": "rotary-wing"}, z=60).decision.active.all()


def test_landing_has_a_price_that_staying_has_not():
    cheap = plan({"model": "landing", "rotary_wing": {"cruise_m": 1}})
    assert cheap.server_m[:2].tolist() != [100, 100]
    dear = plan({"model": "landing", "rotary_wing": {"cruise_m": 100}}, weights={"movement": 10})
    assert dear.server_m.tolist() == [100, 100, 0]
    assert dear.status == "optimal"
    assert dear.evaluation.terms["movement_j"] == pytest.approx(5 * 60)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"movement": {"model": "rotary-wing"}}, "round_s"),
        ({"radio": {"duty_cycle": 0.1}}, "round_s"),
        ({"movement": {"model": "swallow"}}, "movement.model"),
        ({"fleet": [{"count": 1, "min_power_dbm": 30}]}, "fleet.0.min_power_dbm"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, field):
    with pytest.raises(InputError, match=field.replace(".", r"\.")):
        make_scenario({"fleet": [{"count": 1}], **settings})


def test_prices_of_joules_are_the_weights_of_the_objective():
    scenario = make_scenario({"fleet": [{"count": 1}], "prices": {"device": 2, "server": 0.1}})
    weights = scenario.objective_weights
    assert (weights.transmission, weights.processing, weights.movement) == (2, 2, 0.1)
    assert weights.convergence == scenario.weights.convergence


@pytest.mark.parametrize("model", ["mast", "landing"])
def test_masts_and_roofs_need_no_free_ground(model):
    candidates = [[100, 100, 30], [850, 900, 30]]
    found = plan({"model": model}, keep_out_m=[[0, 0, 0, 1000, 1000, 1]], candidates_m=candidates)
    assert found.server_m.tolist() in candidates
    mast = {"model": "mast"}
    assert plan(mast, keep_out_m=[[0, 0, 0, 1000, 1000, 50]], z=30).server_m[2] == 30


def test_a_flight_between_landings_stays_below_the_ceiling():
    with pytest.raises(InputError, match=r"cruise_m: got 30, must be below the region's height"):
        plan({"model": "landing"}, region_m=[1000, 1000, 20])
