"""A device answers any request, refuses what it cannot do, and numbers the states of its model."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest
import torch
from federation_helpers import export_features
from hypothesis import given
from hypothesis import strategies as st

from scdn.federation.device_client import DeviceClient
from scdn.federation.kept_states import KeptStates
from scdn.federation.messages import SCHEMAS, VERSION
from scdn.federation.row_alignment import hash_keys, read_features
from scdn.federation.table_format import unpack_table
from scdn.federation.wire_format import Frame, decode, encode
from scdn.learning.number_coding import encode_table
from scdn.learning.table_sender import BEFORE, TableSender
from scdn.npz import write_npz


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    folder = export_features(tmp_path_factory.mktemp("parties"), "fleet.0.count=2")
    return read_features(folder / "device-1.npz")


def answer(device, kind, fields, arrays):
    return decode(device.answer(encode(Frame(kind, fields, arrays))))


@given(st.data())
def test_a_device_answers_every_message(features, data):
    kind = data.draw(st.sampled_from([*SCHEMAS, "?"]))
    names = ["run", "nonce", "round", "base", "state", "step_length", "steps", "name", "salt"]
    fields = data.draw(
        st.dictionaries(
            st.sampled_from(names), st.integers(-3, 3) | st.text(max_size=4) | st.none()
        )
    )
    names = ["gradients", "gradients_codes", "gradients_ranges", "train", "test", "sample"]
    names += ["keys", "?"]
    shapes = st.lists(st.integers(0, 4), max_size=3)
    arrays = {
        name: np.ones(data.draw(shapes), data.draw(st.sampled_from(["<f8", "<i8", "|u1"])))
        for name in data.draw(st.lists(st.sampled_from(names), unique=True, max_size=3))
    }
    answered = answer(DeviceClient("device-1", features), kind, fields, arrays)
    assert answered.kind in ("refused", "hello", "goodbye")


IDS = {"run": "r", "nonce": "n"}
WIDTH, DRAWN = 3, 4  # two batches of two rows


def join(device, *, sample=range(DRAWN), run="r", **learning):
    keys = hash_keys(device.features.keys, "")
    arrays = {"train": keys[:20], "test": keys[20:23], "sample": np.array(sample)}
    party = {
        "name": "a",
        "seed": 0,
        "task": "classification",
        "width": WIDTH,
        "steps": 2,
        "label": "",
    }
    learning = {"batch_size": 2, "precision": "float64", **learning}
    return answer(device, "join", {**IDS, **party, "run": run, "learning": learning}, arrays)


def test_a_device_refuses_models_and_rows_that_it_has_no_memory_for(features):
    for learning in ({"hidden": 40_000_000}, {"hidden": 400_000_000_000}):
        reply = join(DeviceClient("a", features), **learning)
        assert reply.kind == "refused"
        assert "numbers, at most" in reply.fields["reason"]


def test_a_device_refuses_an_empty_train(features):
    device = DeviceClient("a", features)
    keys = hash_keys(features.keys, "")
    party = {"name": "a", "seed": 0, "task": "classification", "width": WIDTH, "steps": 2}
    arrays = {"train": keys[:0], "test": keys[:3], "sample": np.zeros(0, np.int64)}
    fields = {**IDS, **party, "label": "", "run": "r", "learning": {}}
    assert "train has 0 rows" in answer(device, "join", fields, arrays).fields["reason"]


def test_a_device_answers_whatever_its_own_code_raises(features, monkeypatch):
    def fail(*_):
        raise RuntimeError("out of\nmemory")

    monkeypatch.setattr(DeviceClient, "_hello", fail)
    reply = answer(
        DeviceClient("a", features), "hello", {**IDS, "version": VERSION, "salt": ""}, {}
    )
    assert (reply.kind, reply.fields["reason"]) == ("refused", "RuntimeError: out of")


def test_a_device_runs_no_model_from_the_network(features):
    refusal = join(DeviceClient("device-1", features), model="os:system")
    assert refusal.kind == "refused"
    assert "os:system" in refusal.fields["reason"]


PLAN = {"iterations": 1.0, "power_w": 0.1, "cpu_hz": 1e9}
STEPS = {"steps": 1, "rate": 0.1, "optimizer": "sgd", "optimizer_value": 0.0}
GRADIENTS = {"gradients": np.ones((DRAWN, WIDTH))}
MEASURED = {"sample", "test"}
AFTER = {"drawn", "held_out"} | MEASURED


def embed(device, base=0, *, round_=0):
    bits = device._sender.number_bits  # as it joined
    fields = {**IDS, "round": round_, "base": base, "number_bits": bits}
    return answer(device, "embed", fields, {})


def train(device, step_length=None, *, embedded=True, arrays=GRADIENTS, **fields):
    """Let a device train, by default after it has sent the embeddings of the round's rows."""
    states = {"round": 0, "base": 0, "state": 1, "step_length": step_length, "table_part": None}
    fields = {**IDS, **PLAN, **STEPS, **states, **fields}
    if embedded:
        embed(device, fields["base"], round_=fields["round"])
    return answer(device, "train", fields, arrays)


def apply(device, step_length, *, state=1, base=0):
    fields = {**IDS, "base": base, "state": state, "step_length": step_length}
    return answer(device, "apply", fields, {})


@pytest.fixture
def joined(features, tmp_path):
    device = DeviceClient("device-1", features, kept=KeptStates(tmp_path / "state"))
    assert join(device).kind == "join"
    return device


def test_a_device_runs_no_optimizer_from_the_network(joined):
    assert train(joined).kind == "train"
    assert train(joined, optimizer="os:system").kind == "refused"


# --- updates and states ---------------------------------------------------------------------------


@given(first=st.floats(0, 4), second=st.floats(0, 4))
def test_a_second_update_of_a_round_replaces_the_first(features, first, second):
    once, twice = DeviceClient("device-1", features), DeviceClient("device-1", features)
    for device in (once, twice):
        join(device)
        train(device)
    apply(twice, first)
    replies = apply(once, second), apply(twice, second, state=2)
    assert replies[0].arrays.keys() == AFTER
    for name in AFTER:
        np.testing.assert_array_equal(replies[0].arrays[name], replies[1].arrays[name])


def test_an_update_applied_at_once_is_the_one_applied_later(joined, features):
    other = DeviceClient("device-1", features)
    join(other)
    at_once = train(joined, 0.5)
    assert train(other).arrays.keys() == {"held_out"}
    later = apply(other, 0.5)
    assert at_once.arrays.keys() == later.arrays.keys() == AFTER
    for name in AFTER:
        np.testing.assert_array_equal(at_once.arrays[name], later.arrays[name])


@pytest.mark.parametrize("step_length", [-0.1, 4096.1, 1e300, "1", None, True])
def test_a_device_refuses_steps_of_other_lengths(joined, step_length):
    train(joined)
    assert apply(joined, step_length).kind == "refused"
    assert joined.states.keys() == {0}
    assert apply(joined, 4096.0).kind == "apply"


def test_a_device_refuses_rows_that_it_does_not_have(features):
    for sample in ((-1,), (20,), (0, 1 << 40)):
        refusal = join(DeviceClient("device-1", features), sample=sample)
        assert refusal.kind == "refused"
        assert "sample has row numbers outside 0..19" in refusal.fields["reason"]


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
    assert train(joined, base=7, state=8).kind == "train"


def test_a_device_trains_only_from_the_embeddings_that_it_sent(joined):
    """Gradients belong to one round's rows in one state of the model."""
    assert train(joined, embedded=False).kind == "refused"
    embed(joined)
    assert train(joined, embedded=False, round=1).kind == "refused"
    assert train(joined, embedded=False).kind == "train"
    apply(joined, 1.0)
    assert train(joined, embedded=False, base=1, state=2).kind == "refused"
    assert joined.states.keys() == {0, 1}


def test_a_new_round_ends_the_one_before(joined):
    """An update is not applied among another round's rows."""
    train(joined)
    embed(joined, round_=1)
    assert "has no update" in apply(joined, 1.0).fields["reason"]


def test_a_device_takes_no_more_steps_than_it_has_drawn_batches_for(joined):
    assert "2 batches" in train(joined, steps=3).fields["reason"]
    assert train(joined, steps=2).kind == "train"


def test_a_restarted_device_refuses_a_second_update_and_keeps_the_first(joined, features):
    """Its update is lost, but not the states that it has told the server of."""
    train(joined)
    first = apply(joined, 0.5)
    restarted = DeviceClient("device-1", features, kept=joined.kept)
    assert apply(restarted, 0.1, state=2).kind == "refused"
    assert hello(restarted)["states"] == [0, 1]
    join(restarted)
    refusal = apply(restarted, 0.1, state=2)
    assert "has no update of state 0" in refusal.fields["reason"]
    embedded = embed(restarted, 1)
    assert embedded.arrays.keys() == {"drawn", "held_out"}
    for name, table in embedded.arrays.items():
        np.testing.assert_array_equal(table, first.arrays[name])


def hello(device, run="r"):
    fields = {**IDS, "run": run, "version": VERSION, "salt": ""}
    return answer(device, "hello", fields, {}).fields


METADATA = np.array('{"run": "r", "party": "a", "state": 0}')
DAMAGED = {
    "empty": lambda _: b"",
    "cut": lambda raw: raw[:-9],
    "no metadata": lambda _: {},
    "metadata that are a list": lambda _: {"metadata": np.array("[]")},
    "metadata that are no JSON": lambda _: {"metadata": np.array("{")},
    "metadata without settings": lambda _: {"metadata": METADATA},
    "no parameters": lambda raw: without(raw, "parameters/"),
    "no scaling": lambda raw: without(raw, "scale"),
    "a model from elsewhere": lambda raw: renamed(raw, '"auto"', '"os:system"'),
    "a file with another number": lambda raw: renamed(raw, '"state": 1', '"state": 2'),
}


def renamed(raw, old, new):
    arrays = without(raw, "?")
    assert old in str(arrays["metadata"])
    return {**arrays, "metadata": np.array(str(arrays["metadata"]).replace(old, new))}


def without(raw, prefix):
    with np.load(io.BytesIO(raw)) as arrays:
        return {name: arrays[name] for name in arrays.files if not name.startswith(prefix)}


@pytest.mark.parametrize("how", DAMAGED)
def test_a_damaged_state_is_ignored_and_the_others_are_not(joined, features, how):
    train(joined, 0.5)
    assert hello(DeviceClient("device-1", features, kept=joined.kept))["states"] == [0, 1]
    path = joined.kept.folder / "r" / "state-1.npz"
    damaged = DAMAGED[how](path.read_bytes())
    path.write_bytes(damaged) if isinstance(damaged, bytes) else write_npz(path, **damaged)
    log = []
    kept = KeptStates(joined.kept.folder, log.append)
    assert hello(DeviceClient("device-1", features, kept=kept))["states"] == [0]
    assert log == [f"{path}: damaged, ignored"]


def test_a_state_of_another_run_is_ignored(joined, features):
    folder, log = joined.kept.folder, []
    (folder / "other").mkdir()
    (folder / "other" / "state-0.npz").write_bytes((folder / "r" / "state-0.npz").read_bytes())
    device = DeviceClient("device-1", features, kept=KeptStates(folder, log.append))
    assert hello(device, "other")["party"] == ""
    assert log == [f"{folder / 'other' / 'state-0.npz'}: of another run or party, ignored"]
    assert hello(device, "r")["party"] == "a"


def kept_files(device):
    return sorted(path.name for path in (device.kept.folder / "r").iterdir())


def test_the_last_states_that_the_server_went_on_from_are_kept(joined, features):
    """A state that it never heard of has the number of another one later on."""
    for base in range(6):
        train(joined, 0.5, base=base, state=base + 1, round=base)
    assert kept_files(joined) == [f"state-{number}.npz" for number in range(2, 7)]
    with np.load(joined.kept.folder / "r" / "state-6.npz") as arrays:
        assert json.loads(str(arrays["metadata"]))["round"] == 5
    (joined.kept.folder / "r" / ".state-7.npz.abc").write_text("half")  # the process was killed
    restarted = DeviceClient("device-1", features, kept=joined.kept)
    assert hello(restarted)["states"] == [2, 3, 4, 5, 6]
    join(restarted)
    train(restarted, 0.5, base=4, state=5, round=6)
    assert kept_files(joined) == [f"state-{number}.npz" for number in range(2, 6)]


def test_a_new_party_of_the_run_and_old_runs_leave_no_files(joined, features):
    train(joined, 0.5)
    other = DeviceClient("device-1", features, kept=joined.kept)
    join(other)
    assert kept_files(joined) == ["state-0.npz"]
    folder = joined.kept.folder
    (folder / "mine").mkdir()
    (folder / "mine" / "thesis.txt").write_text("not of this program")
    for number in range(25):
        join(DeviceClient("device-1", features, kept=joined.kept), run=f"r{number}")
    kept = {path.name for path in folder.iterdir()}
    assert kept == {"mine", *(f"r{number}" for number in range(5, 25))}
    assert (folder / "mine" / "thesis.txt").exists()


def test_a_disk_that_is_full_ends_no_training(features, tmp_path):
    log = []
    (tmp_path / "state").write_text("no folder")
    device = DeviceClient("device-1", features, kept=KeptStates(tmp_path / "state", log.append))
    assert join(device).kind == "join"
    assert train(device, 0.5).kind == "train"
    assert len(log) == 2
    assert all("the model is not kept" in line for line in log)


# --- predictions ----------------------------------------------------------------------------------


def predict(device, keys, base=0, run="r"):
    return answer(device, "predict", {**IDS, "run": run, "base": base}, {"keys": keys})


def test_a_restarted_device_embeds_rows_as_before_and_never_sends_features(joined, features):
    tested = train(joined, 0.5).arrays["test"]
    keys = hash_keys(features.keys, "")
    restarted = DeviceClient("device-1", features, kept=joined.kept)
    assert predict(restarted, keys[20:23]).kind == "refused"  # nobody has said which run it is
    hello(restarted)
    for device in (joined, restarted):
        reply = predict(device, keys[20:23], base=1)
        assert reply.arrays.keys() == {"embeddings"}
        np.testing.assert_array_equal(reply.arrays["embeddings"], tested)
        assert predict(device, keys[[22, 20]], base=1).arrays["embeddings"].tolist() == [
            tested[2].tolist(),
            tested[0].tolist(),
        ]
    assert predict(restarted, keys[:0], base=1).arrays["embeddings"].shape == (0, WIDTH)


def test_a_device_refuses_predictions_that_it_cannot_make(joined, features):
    keys = hash_keys(features.keys, "")
    reasons = {
        "has no state 5, only [0]": predict(joined, keys, base=5),
        "has no model of this run": predict(joined, keys, run="other"),
        "asked for 1798 rows, but has 1797": predict(joined, np.concatenate([keys, keys[:1]])),
        "rows that this device does not have": predict(joined, hash_keys(["?"], "")),
        "wrong type or number of dimensions": predict(joined, keys[0]),
        "has shape": predict(joined, keys[:, 1:]),
        "is missing": answer(joined, "predict", {**IDS, "base": 0}, {}),
        "base": predict(joined, keys, base=-1),
    }
    for reason, reply in reasons.items():
        assert reply.kind == "refused"
        assert reason in reply.fields["reason"]


def test_columns_of_new_rows_are_found_by_name_and_scaled_as_the_training_rows(tmp_path):
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(draw.normal(5.0, 3.0, (23, 3)), columns=["x", "y", "z"])
    frame["id"] = [f"{n:02d}" for n in range(len(frame))]
    frame.to_csv(tmp_path / "all.csv", index=False)
    other = frame.assign(z=frame["z"], w=1.0)[["w", "z", "id", "y", "x"]].iloc[20:]
    other.to_csv(tmp_path / "new.csv", index=False)
    other.drop(columns="z").to_csv(tmp_path / "less.csv", index=False)
    kept = KeptStates(tmp_path / "state")
    device = DeviceClient("a", read_features(tmp_path / "all.csv", "id"), kept=kept)
    assert join(device, scaling="standard", precision="float32").kind == "join"
    tested = train(device, 0.5).arrays["test"]
    keys = hash_keys(["20", "21", "22"], "")
    new = DeviceClient("a", read_features(tmp_path / "new.csv", "id"), kept=kept)
    hello(new)
    np.testing.assert_array_equal(predict(new, keys, base=1).arrays["embeddings"], tested)
    less = DeviceClient("a", read_features(tmp_path / "less.csv", "id"), kept=kept)
    hello(less)
    frame.assign(x=[1.0] * 22 + [1e308]).to_csv(tmp_path / "large.csv", index=False)
    large = DeviceClient("a", read_features(tmp_path / "large.csv", "id"), kept=kept)
    hello(large)
    assert "1 of 3 rows have values that are too large" in str(predict(large, keys, base=1).fields)
    assert "lack the column 'z'" in predict(less, keys, base=1).fields["reason"]


def test_a_device_says_that_its_numbers_are_no_longer_finite(joined):
    """It stays in the state before, and the next request finds it there."""
    diverged = train(joined, rate=1e308)
    assert diverged.fields["diverged"]
    assert diverged.arrays == {}
    at_once = train(joined, 1.0, rate=1e308)
    assert at_once.fields["diverged"]
    assert joined.states.keys() == {0}
    assert train(joined, rate=0.1).arrays.keys() == {"held_out"}
    assert apply(joined, 1.0).kind == "apply"


# --- tables ---------------------------------------------------------------------------------------


def coded(values, seed=0):
    table = encode_table(np.asarray(values, float), 4, np.random.default_rng(seed))
    return {"gradients_codes": table.codes, "gradients_ranges": table.ranges}


@pytest.fixture
def coding(features):
    device = DeviceClient("device-1", features)
    assert join(device, number_bits=4, table_rounds=3).kind == "join"
    return device


RIGHT = coded(np.ones((DRAWN, WIDTH)))
CODES, RANGES = RIGHT["gradients_codes"], RIGHT["gradients_ranges"]
MALFORMED = {
    "none": {},
    "not coded": GRADIENTS,
    "without ranges": {"gradients_codes": CODES},
    "without codes": {"gradients_ranges": RANGES},
    "a byte less": {**RIGHT, "gradients_codes": CODES[:-1]},
    "a byte more": {**RIGHT, "gradients_codes": np.append(CODES, np.uint8(0))},
    "a column less": {**RIGHT, "gradients_ranges": RANGES[:, :-1]},
    "no columns": {**RIGHT, "gradients_ranges": RANGES[:, :0]},
    "three ranges": {**RIGHT, "gradients_ranges": np.ones((3, WIDTH), "f4")},
    "inverted": {**RIGHT, "gradients_ranges": np.stack([RANGES[1] + 1, RANGES[0]])},
    "64-bit ranges": {**RIGHT, "gradients_ranges": RANGES.astype(float)},
    "not finite": {**RIGHT, "gradients_ranges": np.full((2, WIDTH), np.inf, "f4")},
    "other rows": coded(np.ones((DRAWN + 1, WIDTH))),
    "whole numbers": {**RIGHT, "gradients_codes": CODES.astype(np.int64)},
}


@pytest.mark.parametrize("how", MALFORMED)
def test_a_device_refuses_malformed_gradients_before_it_trains(coding, how):
    assert train(coding, arrays=MALFORMED[how]).kind == "refused"
    of_sample = {f"sample_{name}": table for name, table in MALFORMED[how].items()}
    if of_sample:
        assert train(coding, arrays={**RIGHT, **of_sample}).kind == "refused"
    assert apply(coding, 1.0).kind == "refused"
    assert coding.states.keys() == {0}
    assert train(coding, arrays=RIGHT).kind == "train"


@pytest.mark.parametrize("how", ["a row less", "a column less", "three dimensions", "coded"])
def test_a_device_refuses_malformed_gradients_that_are_not_coded(joined, how):
    (table,) = GRADIENTS.values()
    wrong = {"a row less": table[:-1], "a column less": table[:, :-1]}.get(how, table[None])
    assert train(joined, arrays=RIGHT if how == "coded" else {"gradients": wrong}).kind == "refused"
    assert train(joined).kind == "train"


@given(rounds=st.integers(0, 1 << 40), part=st.integers(0, 1 << 40))
def test_any_round_and_part_of_the_table_can_be_asked_for(features, rounds, part):
    device = DeviceClient("device-1", features)
    join(device, number_bits=4, table_rounds=3)
    reply = train(device, 0.5, arrays=RIGHT, round=rounds, table_part=part)
    assert reply.arrays["table_codes"].shape == (-(-7 * WIDTH * 4 // 8),)  # of 20 rows, in 3 parts
    for wrong in ({"round": (1 << 40) + 1}, {"table_part": (1 << 40) + 1}, {"table_part": -1}):
        assert train(device, 0.5, arrays=RIGHT, **wrong).kind == "refused"


@given(st.data())
def test_what_the_server_decodes_is_what_the_device_takes_it_for(features, data):
    """The differences that follow in a round start from the same table on both sides."""
    bits = data.draw(st.sampled_from([2, 4, 8, 16]))
    device, server = DeviceClient("device-1", features), TableSender(bits, 0)
    join(device, number_bits=bits)
    round_ = data.draw(st.integers(0, 9))
    arrays = embed(device, round_=round_).arrays
    for table, rows in (("drawn", DRAWN), ("held_out", 4)):
        like = torch.zeros(rows, WIDTH, dtype=torch.float64)
        received = unpack_table(server, "a", table, arrays, like, BEFORE)
        assert torch.equal(received, device._sender._before["a", table])
