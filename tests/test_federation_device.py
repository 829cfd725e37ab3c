"""A device answers any request, refuses what it cannot do, and numbers the states of its model."""

from __future__ import annotations

import numpy as np
import pytest
from federation_helpers import export_features
from hypothesis import given
from hypothesis import strategies as st

from scdn.federation.device_client import DeviceClient
from scdn.federation.messages import SCHEMAS, VERSION
from scdn.federation.row_alignment import hash_keys, read_features
from scdn.federation.wire_format import Frame, decode, encode


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    folder = export_features(tmp_path_factory.mktemp("parties"), "fleet.0.count=2")
    return read_features(folder / "device-1.npz")


def answer(device, kind, fields, arrays):
    return decode(device.answer(encode(Frame(kind, fields, arrays))))


@given(st.data())
def test_a_device_answers_every_message(features, data):
    kind = data.draw(st.sampled_from([*SCHEMAS, "?"]))
    names = ["run", "nonce", "base", "state", "step_length", "steps", "name", "salt"]
    fields = data.draw(
        st.dictionaries(
            st.sampled_from(names), st.integers(-3, 3) | st.text(max_size=4) | st.none()
        )
    )
    names = ["rows", "trained_rows", "batches", "gradients", "train", "test", "sample", "?"]
    shapes = st.lists(st.integers(0, 4), max_size=3)
    arrays = {
        name: np.ones(data.draw(shapes), data.draw(st.sampled_from(["<f8", "<i8", "|u1"])))
        for name in data.draw(st.lists(st.sampled_from(names), unique=True, max_size=3))
    }
    answered = answer(DeviceClient("device-1", features), kind, fields, arrays)
    assert answered.kind in ("refused", "hello", "goodbye")


IDS = {"run": "r", "nonce": "n"}


def join(device, **learning):
    keys = hash_keys(device.features.keys, "")
    arrays = {"train": keys[:9], "test": keys[9:12], "sample": np.arange(3)}
    party = {"name": "a", "seed": 0, "task": "classification", "width": 3}
    return answer(device, "join", {**IDS, **party, "learning": learning}, arrays)


def test_a_device_runs_no_model_from_the_network(features):
    refusal = join(DeviceClient("device-1", features), model="os:system")
    assert refusal.kind == "refused"
    assert "os:system" in refusal.fields["reason"]


PLAN = {"iterations": 1.0, "power_w": 0.1, "cpu_hz": 1e9}
STEPS = {"steps": 1, "rate": 0.1, "optimizer": "sgd", "optimizer_value": 0.0}


def train(device, step_length=None, *, rows=(0, 8), trained_rows=(1, 2), **fields):
    states = {"round": 0, "base": 0, "state": 1, "step_length": step_length}
    arrays = {
        "batches": np.array([[3, 4]]),
        "gradients": np.ones((1, 2, 3)),
        "trained_rows": np.array(trained_rows, np.int64),
        "rows": np.array(rows, np.int64),
    }
    return answer(device, "train", {**IDS, **PLAN, **STEPS, **states, **fields}, arrays)


def apply(device, step_length, *, state=1, base=0, rows=(0, 8)):
    fields = {**IDS, "base": base, "state": state, "step_length": step_length}
    return answer(device, "apply", fields, {"rows": np.array(rows, np.int64)})


@pytest.fixture
def joined(features, tmp_path):
    device = DeviceClient("device-1", features, state_file=tmp_path / "state.npz")
    assert join(device, precision="float64").kind == "join"
    return device


def test_a_device_runs_no_optimizer_from_the_network(joined):
    assert train(joined).kind == "train"
    assert train(joined, optimizer="os:system").kind == "refused"


@given(first=st.floats(0, 4), second=st.floats(0, 4))
def test_a_second_update_of_a_round_replaces_the_first(features, first, second):
    once, twice = DeviceClient("device-1", features), DeviceClient("device-1", features)
    for device in (once, twice):
        join(device, precision="float64")
        train(device)
    apply(twice, first)
    replies = apply(once, second), apply(twice, second, state=2)
    for name in ("train", "test"):
        np.testing.assert_array_equal(replies[0].arrays[name], replies[1].arrays[name])


def test_an_update_applied_at_once_is_the_one_applied_later(joined, features):
    other = DeviceClient("device-1", features)
    join(other, precision="float64")
    at_once = train(joined, 0.5)
    assert train(other).arrays.keys() == {"trained"}
    later = apply(other, 0.5)
    for name in ("train", "test"):
        np.testing.assert_array_equal(at_once.arrays[name], later.arrays[name])


@pytest.mark.parametrize("step_length", [-0.1, 4096.1, 1e300, "1", None, True])
def test_a_device_refuses_steps_of_other_lengths(joined, step_length):
    train(joined)
    assert apply(joined, step_length).kind == "refused"
    assert joined.states.keys() == {0}
    assert apply(joined, 4096.0).kind == "apply"


@pytest.mark.parametrize("numbers", [(-1,), (9,), (0, 1 << 40)])
def test_a_device_refuses_rows_that_it_does_not_have(joined, numbers):
    """It does so before it trains or applies an update."""
    for wrong in ({"trained_rows": numbers}, {"rows": numbers}):
        refusal = train(joined, 1.0, **wrong)
        assert refusal.kind == "refused"
        assert f"{next(iter(wrong))} has row numbers outside 0..8" in refusal.fields["reason"]
        assert apply(joined, 1.0).kind == "refused"  # nothing was trained
    assert train(joined).kind == "train"
    assert apply(joined, 1.0, rows=numbers).kind == "refused"
    assert joined.states.keys() == {0}


def test_a_state_has_its_number_for_good(joined):
    """Otherwise a server that lost a reply would take one state for another."""
    assert apply(joined, 1.0).kind == "refused"  # nothing was trained
    train(joined)
    assert apply(joined, 1.0, state=0).kind == "refused"
    assert [apply(joined, 1.0, state=state).kind for state in (1, 2)] == ["apply", "apply"]
    assert apply(joined, 0.5, state=1).kind == "refused"
    assert apply(joined, 0.5, state=3, base=2).kind == "refused"  # nothing was trained from there
    assert joined.states.keys() == {0, 1, 2}
    train(joined, base=1)
    assert joined.states.keys() == {1}
    assert apply(joined, 1.0, state=2).kind == "refused"  # from a state that is no longer there
    assert apply(joined, 1.0, state=2, base=1).kind == "apply"


def test_a_device_keeps_a_limited_number_of_states(joined):
    train(joined)
    kinds = [apply(joined, 1.0, state=state).kind for state in range(1, 10)]
    assert kinds == ["apply"] * 7 + ["refused"] * 2
    assert train(joined, base=7).kind == "train"


def test_a_restarted_device_refuses_a_second_update_and_keeps_the_first(joined, features):
    """Its update is lost, but not the states that it has told the server of."""
    train(joined)
    first = apply(joined, 0.5)
    restarted = DeviceClient("device-1", features, state_file=joined.state_file)
    assert apply(restarted, 0.1, state=2).kind == "refused"
    hello = answer(restarted, "hello", {**IDS, "version": VERSION, "salt": ""}, {})
    assert hello.fields["states"] == [0, 1]
    join(restarted, precision="float64")
    refusal = apply(restarted, 0.1, state=2)
    assert "has no update of state 0" in refusal.fields["reason"]
    embedded = answer(restarted, "embed", {**IDS, "base": 1}, {"rows": np.array([0, 8])})
    np.testing.assert_array_equal(embedded.arrays["train"], first.arrays["train"])


def test_a_device_says_that_its_numbers_are_no_longer_finite(joined):
    """It stays in the state before, and the next request finds it there."""
    diverged = train(joined, rate=1e308)
    assert diverged.fields["diverged"]
    assert diverged.arrays == {}
    at_once = train(joined, 1.0, rate=1e308, trained_rows=())
    assert at_once.fields["diverged"]
    assert joined.states.keys() == {0}
    assert train(joined, rate=0.1).arrays.keys() == {"trained"}
    assert apply(joined, 1.0).kind == "apply"
