"""Churn: laws of survival, exits and entries against their distributions, saved traces."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scdn.errors import InputError
from scdn.scenario import make_scenario
from scdn.world.churn import (
    ALWAYS,
    NEVER,
    churn_trace,
    draw_trace,
    link_failed,
    log_survival,
    make_trace,
    read_trace,
    survival,
)

shapes, scales = st.floats(0.3, 5), st.floats(1, 500)


@given(shapes, scales, st.integers(0, 60))
def test_survival_over_morerounds_is_the_product_of_each_rounds(shape, scale, age):
    per_round = survival(np.arange(age), shape, scale)
    overall = np.exp(log_survival(age, shape, scale))
    assert np.prod(per_round) == pytest.approx(float(overall), rel=1e-9, abs=1e-300)


@given(scales, st.integers(0, 50))
def test_survival_rises_stays_or_falls_with_age_as_the_shape_says(scale, age):
    younger, older = survival([age, age + 1], 0.7, scale)
    assert older >= younger - 1e-12
    younger, older = survival([age, age + 1], 3.0, scale)
    assert older <= younger + 1e-12
    younger, older = survival([age, age + 1], 1.0, scale)
    assert older == pytest.approx(younger)


def _scenario(seed=0, count=6, **churn):
    learning = {"rounds": churn.pop("rounds", 30)}
    group = {"count": count, **churn.pop("group", {})}
    return make_scenario({"seed": seed, "fleet": [group], "churn": churn, "learning": learning})


@pytest.mark.parametrize("shape", [0.7, 1.0, 3.0])
def test_exits_have_the_weibull_frequencies(shape):
    rounds, scale = 40, 20.0
    group = {"weibull_shapes": [shape], "weibull_scale_rounds": scale}
    trace = draw_trace(_scenario(count=20_000, entry_rate=0, rounds=rounds, group=group))
    alive = np.exp(log_survival(np.arange(rounds + 1), shape, scale))
    expected = 20_000 * np.append(-np.diff(alive), alive[-1])
    observed = np.append(np.bincount(trace.exited[trace.exited != NEVER], minlength=rounds), 0)
    observed[-1] = (trace.exited == NEVER).sum()
    likely = expected > 5
    observed = [*observed[likely], observed[~likely].sum()]
    expected = [*expected[likely], expected[~likely].sum()]
    pairs = [(o, e) for o, e in zip(observed, expected, strict=True) if e > 0]
    assert stats.chisquare(*zip(*pairs, strict=True)).pvalue > 1e-3


def test_entries_have_the_poisson_mean_and_variance():
    rounds, rate = 4000, 0.5
    trace = draw_trace(_scenario(count=1, exits=False, entry_rate=rate, rounds=rounds))
    counts = np.bincount(trace.entered[trace.entered >= 0], minlength=rounds)
    assert counts.mean() == pytest.approx(rate, abs=4 * np.sqrt(rate / rounds))
    assert counts.var() == pytest.approx(rate, rel=0.1)
    expected = stats.poisson.pmf(range(4), rate) * rounds
    observed = [(counts == k).sum() for k in range(4)]
    observed, expected = [*observed, rounds - sum(observed)], [*expected, rounds - expected.sum()]
    assert stats.chisquare(observed, expected).pvalue > 1e-3


@given(st.integers(0, 10_000), st.integers(0, 12), st.booleans())
def test_devices_present_change_by_exits_and_entries_only(seed, quiet, exits):
    trace = draw_trace(
        _scenario(seed, quiet_rounds=quiet, exits=exits, group={"weibull_scale_rounds": 10})
    )
    for round_ in range(30):
        present = trace.present(round_)
        assert not (present & trace.departed(round_)).any()
        assert not (present & trace.entering(round_)).any()  # only present from the next round on
        assert (present | ~trace.leaving(round_)).all()  # only present devices leave
        after = (present & ~trace.leaving(round_)) | trace.entering(round_)
        assert np.array_equal(trace.present(round_ + 1), after)
        if round_ < quiet or not exits:
            assert not trace.leaving(round_).any()
            assert (trace.survival(round_) == 1).all()
    assert np.all((trace.survival(29) > 0) & (trace.survival(29) <= 1))


def test_shocks_remove_the_devices_of_their_disc():
    shock = {"round": 4, "centre_m": [30, 30], "radius_m": 25}
    trace = draw_trace(_scenario(count=200, exits=False, entry_rate=0, shocks=[shock]))
    near = np.hypot(*(trace.fleet.position_m[:, :2] - 30).T) <= 25
    assert near.any()
    assert np.array_equal(trace.exited == 4, near)


def test_saved_traces_are_replayed(tmp_path):
    scenario = _scenario(3, group={"optimizers": ["sgd", "proximal", "momentum"]})
    trace = draw_trace(scenario)
    trace.save(tmp_path / "trace.json")
    table = scenario.model_dump(mode="json", by_alias=True)
    table["churn"]["trace"] = "trace.json"
    table["seed"] = 99  # nothing is drawn any more
    for again in (
        read_trace(tmp_path / "trace.json"),
        churn_trace(make_scenario(table, folder=tmp_path)),
    ):
        assert np.array_equal(again.entered, trace.entered)
        assert np.array_equal(again.exited, trace.exited)
        for field in fields(trace.fleet):
            drawn, replayed = getattr(trace.fleet, field.name), getattr(again.fleet, field.name)
            assert np.array_equal(
                drawn, replayed, equal_nan=field.name in ("bandwidth_hz", "battery_j")
            )


def test_methods_see_the_same_churn():
    one = make_scenario({"method": "sc-dn", "fleet": [{"count": 5}]})
    two = make_scenario({"method": "vafl", "fleet": [{"count": 5}], "max_delay_s": 1.0})
    assert np.array_equal(draw_trace(one).exited, draw_trace(two).exited)
    assert np.array_equal(draw_trace(one).fleet.position_m, draw_trace(two).fleet.position_m)


def test_wrong_traces_are_refused(tmp_path):
    device = {"id": "a", "position_m": [1, 2, 3], "entered": 5, "exited": 5}
    with pytest.raises(InputError, match=r"exited .*: got 5, must be after the round"):
        make_trace({"rounds": 30, "devices": [device]})
    with pytest.raises(InputError, match=r"devices\.1\.id"):
        make_trace({"rounds": 30, "devices": [{**device, "exited": 7}] * 2})
    trace = {"rounds": 3, "devices": [{"id": "a", "position_m": [1, 2, 300]}]}
    (tmp_path / "t.json").write_text(json.dumps(trace))
    scenario = make_scenario({"churn": {"trace": "t.json"}}, folder=tmp_path)
    with pytest.raises(InputError) as caught:
        churn_trace(scenario)
    assert [fault.field for fault in caught.value.faults] == ["devices.0.position_m", "rounds"]


def test_links_fail_beyond_the_limit_and_not_at_it():
    assert link_failed([0.06, 0.06 * (1 + 1e-10), 0.0601, np.inf], 0.06).tolist() == [
        False,
        False,
        True,
        True,
    ]


def test_initial_devices_are_present_in_round_0():
    trace = draw_trace(_scenario())
    assert (trace.entered[:6] == ALWAYS).all()
    assert trace.present(0).sum() == 6


def test_more_devices_do_not_change_the_first_ones():
    few, more = draw_trace(_scenario(count=5)), draw_trace(_scenario(count=9))
    for field in fields(few.fleet):
        left, right = getattr(few.fleet, field.name)[:5], getattr(more.fleet, field.name)[:5]
        assert np.array_equal(left, right, equal_nan=field.name in ("bandwidth_hz", "battery_j"))
    assert np.array_equal(few.exited[:5], more.exited[:5])
    assert np.array_equal(few.fleet.position_m[5:], more.fleet.position_m[9:])  # newcomers
