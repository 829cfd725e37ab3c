"""Messages between server and devices: bytes, schemas, replies that go astray; rows by key."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest
from federation_helpers import InProcessNetwork, small_scenario
from hypothesis import given
from hypothesis import strategies as st

from scdn.data.example_files import write_example_files
from scdn.errors import InputError
from scdn.federation import incoming_messages
from scdn.federation.device_client import DeviceClient
from scdn.federation.federated_rounds import (
    draw_device,
    with_arrival,
    with_departures,
    without_device,
)
from scdn.federation.flower.grid_transport import GridTransport
from scdn.federation.incoming_messages import read_reply
from scdn.federation.membership import Membership
from scdn.federation.messages import SCHEMAS, check_message
from scdn.federation.messenger import Messenger, Request
from scdn.federation.row_alignment import align, hash_keys, read_features, read_labels
from scdn.federation.wire_format import MAGIC, Frame, WireError, decode, encode
from scdn.world.churn import churn_trace

# --- bytes ----------------------------------------------------------------------------------------

DTYPES = st.sampled_from(["<f4", "<f8", "<i8", "|u1"])


@st.composite
def frames(draw):
    arrays = {}
    for number in range(draw(st.integers(0, 3))):
        shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
        dtype = np.dtype(draw(DTYPES))
        arrays[f"a{number}"] = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    fields = draw(
        st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3)
    )
    return Frame(draw(st.text(max_size=8)), fields, arrays)


@given(frames())
def test_a_decoded_message_equals_the_encoded_one(frame):
    decoded = decode(encode(frame))
    assert (decoded.kind, decoded.fields) == (frame.kind, frame.fields)
    assert decoded.arrays.keys() == frame.arrays.keys()
    for name, array in frame.arrays.items():
        assert decoded.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(decoded.arrays[name], array)


@given(frames(), st.data())
def test_changed_bytes_raise_nothing_but_wire_errors(frame, data):
    raw = bytearray(encode(frame))
    for _ in range(data.draw(st.integers(0, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(raw[: data.draw(st.integers(0, len(raw)))])
    for changed in (cut, bytes(raw), bytes(raw) + b"x", data.draw(st.binary(max_size=64))):
        with suppress(WireError):
            decode(changed)


def raw_message(header, body=b""):
    text = json.dumps(header).encode()
    return MAGIC + len(text).to_bytes(4, "big") + text + body


def train_header(*arrays):
    return {"kind": "train", "fields": {}, "arrays": list(arrays)}


def test_a_message_built_by_hand_is_read():
    raw = raw_message(train_header(["a", "<f8", [1]]), np.float64(2.5).tobytes())
    assert decode(raw).arrays["a"].tolist() == [2.5]


@pytest.mark.parametrize(
    ("header", "body"),
    [
        (train_header(["a", "<f8", [1 << 40]]), b""),
        (train_header(["a", "<f8", [1 << 27, 1 << 27]]), b""),
        (train_header(["a", "|O", [1]]), b"x" * 8),
        (train_header(["a", "<f8", [-1]]), b""),
        (train_header(["a", "<f8", [0, 1 << 28, 1 << 28, 1 << 28]]), b""),
        (train_header(["a", "<f8", [True]]), b"x" * 8),
        (train_header(["a", "<f8", [1]]), np.float64("nan").tobytes()),
        (train_header(*[["a", "<f8", [1]]] * 2), b"x" * 16),
        ({"kind": "train", "fields": [], "arrays": []}, b""),
        ([], b""),
    ],
)
def test_headers_that_do_not_match_the_bytes_are_refused(header, body):
    with pytest.raises(WireError):
        decode(raw_message(header, body))


def test_large_messages_and_json_with_nan_are_refused():
    with pytest.raises(WireError, match="at most"):
        decode(b"x" * 100, max_bytes=99)
    with pytest.raises(WireError, match="not JSON"):
        decode(MAGIC + (9).to_bytes(4, "big") + b'{"a":NaN}')


# --- the server and invalid replies ---------------------------------------------------------------


EMBEDDED = {"smoothness": None, "seconds": 0.0}
IDS = {"run": "r", "nonce": "n"}
REPLY_FIELDS = {
    "hello": {"name": "a", "party": "", "states": [], "position_m": None},
    "join": {**EMBEDDED, "connections": 1},
    "embed": {"seconds": 0.0},
    "report": EMBEDDED,
    "train": {"bound_sq": None, "variance": None, "seconds": 0.0},
    "apply": {"seconds": 0.0},
    "predict": {"seconds": 0.0},
    "goodbye": {},
}


def reply(kind, arrays):
    sizes = {size: 16 for _, shape in SCHEMAS[kind][1].arrays.values() for size in shape}
    frame = Frame(kind, {**IDS, **REPLY_FIELDS[kind]}, arrays)
    return check_message(SCHEMAS[kind][1], frame, sizes)


def arrays_of(kind):
    """Return all arrays that a reply of this kind may have; sizes that may differ are 16."""
    schema = SCHEMAS[kind][1]
    return {
        name.rstrip("?"): np.zeros(
            [size if isinstance(size, int) else 16 for size in shape],
            f"{dtype}{1 if dtype == 'u' else 8}",
        )
        for name, (dtype, shape) in schema.arrays.items()
    }


@pytest.mark.parametrize("kind", SCHEMAS)
def test_a_reply_with_the_arrays_of_its_schema_is_accepted(kind):
    assert reply(kind, arrays_of(kind)).nonce == IDS["nonce"]


@given(st.sampled_from(sorted(SCHEMAS)), st.data())
def test_a_reply_with_other_arrays_is_refused(kind, data):
    """One array more, one less, of another type, another rank, or another size."""
    arrays = arrays_of(kind)
    required = [name for name in SCHEMAS[kind][1].arrays if not name.endswith("?")]
    names_by_change = {"more": ["more"], "less": required}
    names_by_change |= dict.fromkeys(("type", "rank", "size"), tuple(arrays))
    changes = [change for change, names in names_by_change.items() if names]
    change = data.draw(st.sampled_from(changes))
    name = data.draw(st.sampled_from(names_by_change[change]))
    match change:
        case "more":
            arrays[name] = np.zeros(3)
        case "less":
            del arrays[name]
        case "type":
            arrays[name] = arrays[name].astype(np.int64)
        case "rank":
            arrays[name] = arrays[name][None]
        case "size":
            arrays[name] = arrays[name][..., :-1]
    with pytest.raises(WireError):
        reply(kind, arrays)


def test_a_hello_is_bounded_by_the_number_of_labels():
    network, log = InProcessNetwork(), []
    keys = [np.zeros((rows, 16), np.uint8) for rows in (1 << 16, (1 << 16) + 4097)]
    for node, rows in enumerate(keys):
        name = {"name": f"device-{node}", "party": "", "states": [], "position_m": None}

        def answer(raw, name=name, rows=rows):
            ids = {key: decode(raw).fields[key] for key in ("run", "nonce")}
            return encode(Frame("hello", {**ids, **name}, {"keys": rows}))

        network.plug(node, SimpleNamespace(answer=answer))
    membership = Membership(Messenger(network, "r", 1.0, log=log.append), "salt", labels=100)
    assert membership.discover(lambda _: None) == (["device-0"], [])
    assert any("node 1: invalid reply dropped (message has" in line for line in log)


ANYTHING = {
    "an array of no elements": raw_message(train_header(["a", "<f8", [0, 1 << 28, 1 << 28]])),
    "a lone surrogate": raw_message({"kind": "\ud800", "fields": {}, "arrays": []}),
    "a deep header": raw_message([])[:10] + b"[" * 100,
    "nothing": b"",
}


@pytest.mark.parametrize("how", ANYTHING)
def test_whatever_a_device_replies_is_one_line_in_the_log(how):
    network, log = InProcessNetwork(), []
    network.plug(1, SimpleNamespace(answer=lambda _: ANYTHING[how]))
    messenger = Messenger(network, "r", 1.0, log=log.append)
    assert messenger.ask_nodes({"a": (1, Request("goodbye", {"reason": ""}))}) == {}
    (line,) = log
    assert line.startswith("a: invalid reply dropped")
    assert line.isprintable()


def test_an_error_of_any_library_is_an_invalid_reply(monkeypatch):
    def fail(*_):
        raise MemoryError("cannot allocate\n4 GiB")

    monkeypatch.setattr(incoming_messages, "decode", fail)
    with pytest.raises(WireError, match=r"^MemoryError: cannot allocate$"):
        read_reply(b"", "hello", "r", "n", {})


def test_the_server_does_not_wait_for_disconnected_devices():
    network, now = InProcessNetwork(), [0.0]
    network.plug(1, SimpleNamespace(answer=lambda raw: raw))
    network.tamper[1] = lambda *_: []
    messenger = Messenger(network, "r", 1000.0, clock=lambda: now[0])

    def disconnect(seconds):
        now[0] += seconds
        network.devices.clear()

    messenger.sleep = disconnect
    assert messenger.ask_nodes({"a": (1, Request("goodbye", {"reason": ""}))}) == {}
    assert now[0] < 5


class Grid:
    """Flower's grid, as far as `GridTransport` uses it; pulling some messages raises an error."""

    def __init__(self, answers):
        self.answers = answers

    def pull_messages(self, ids):
        answers = [self.answers[id_] for id_ in ids if id_ in self.answers]
        for error in answers:
            if isinstance(error, Exception):
                raise error
        return answers


def flower_message(id_, content, error=None):
    return SimpleNamespace(
        metadata=SimpleNamespace(reply_to_message_id=id_, src_node_id=7),
        has_error=lambda: error is not None,
        error=SimpleNamespace(reason=error),
        content=content,
    )


def test_a_message_that_flower_cannot_read_fails_alone():
    answers = {
        "good": flower_message("good", {"scdn": {"frame": b"frame"}}),
        "bare": flower_message("bare", {}),
        "text": flower_message("text", {"scdn": {"frame": "text"}}),
        "error": flower_message("error", None, "gone"),
        "broken": ValueError("not a message"),
    }
    transport = GridTransport(Grid(answers))
    transport._node_of_message = dict.fromkeys([*answers, "silent"], 7)
    pulled, deadline = {}, time.monotonic() + 10
    while len(pulled) < len(answers) and time.monotonic() < deadline:
        replies = transport.pull([*answers, "silent", "unknown"])
        pulled |= {reply.message_id: reply.raw for reply in replies}
    assert pulled == {"good": b"frame", "bare": b"", "text": b"", "error": None, "broken": b""}


# --- features that are labels ---------------------------------------------------------------------


def test_columns_choose_the_features(tmp_path):
    meters, *_ = write_example_files(tmp_path)
    features = read_features(meters, "home", ["day_kwh"])
    assert features.names == ("day_kwh",)
    assert features.values.shape == (len(features.keys), 1)
    with pytest.raises(InputError, match="heat_pump"):
        read_features(meters, "home")
    for columns in (["home"], ["day_kwh", "day_kwh"], ["nothing"]):
        with pytest.raises(InputError):
            read_features(meters, "home", columns)


def test_a_label_is_never_a_feature(tmp_path):
    path = tmp_path / "meters.csv"
    path.write_text("home,kwh,label\n" + "".join(f"{n},{n / 7},{n % 2}\n" for n in range(30)))
    labels, log = read_labels(path, "home", "label"), []
    client = DeviceClient("a", read_features(path, "home"), log=log.append)
    rows = hash_keys(client.features.keys, "")
    party = {"name": "a", "seed": 0, "task": "classification", "width": 2, "steps": 1}
    fields = {"run": "r", "nonce": "", **party, "label": labels.label, "learning": {}}
    arrays = {"train": rows[:20], "test": rows[20:], "sample": np.arange(5)}
    assert decode(client.answer(encode(Frame("join", fields, arrays)))).kind == "join"
    assert client._model.names == ("kwh",)
    assert any("'label' is to be predicted" in line for line in log)
    only_label = DeviceClient("a", read_features(path, "home", ["label"]))
    refused = decode(only_label.answer(encode(Frame("join", fields, arrays))))
    assert "which is to be predicted" in refused.fields["reason"]


# --- rows by key ----------------------------------------------------------------------------------


def test_rows_are_matched_by_key_and_the_report_names_the_others(tmp_path):
    meters, weather, *_ = write_example_files(tmp_path)
    labels = read_labels(meters, "home", "heat_pump")
    sky = read_features(weather, "home")
    aligned = align(labels, {"sky": hash_keys(sky.keys, "salt")}, "salt")
    server, device = set(labels.keys), set(sky.keys)
    assert aligned.report["matched"] == len(server & device)
    assert aligned.report["devices"]["sky"] == {
        "rows": len(device),
        "missing": len(server - device),
        "examples": sorted(server - device, key=labels.keys.index)[:3],
        "unmatched": len(device - server),
    }
    assert len(aligned.lines()) == 2
    target_of = dict(zip(labels.keys, labels.targets, strict=True))
    common = [key for key in labels.keys if key in device]
    hashed = (row.tobytes() for row in hash_keys(common, "salt"))
    key_of = dict(zip(hashed, common, strict=True))
    dataset = aligned.dataset
    for rows, targets in ((aligned.train, dataset.train_y), (aligned.test, dataset.test_y)):
        assert [target_of[key_of[row.tobytes()]] for row in rows] == targets.tolist()


@given(st.lists(st.text(max_size=6), unique=True, max_size=9), st.text(max_size=4))
def test_hashed_keys_differ_where_keys_or_salts_do(keys, salt):
    hashed = hash_keys(keys, salt)
    assert len({row.tobytes() for row in hashed}) == len(keys)
    assert not (hashed == hash_keys(keys, salt + "x")).all(axis=1).any()


# --- the trace, as it turns out -------------------------------------------------------------------


def test_a_trace_follows_arrivals_and_departures():
    scenario = small_scenario("fleet.0.count=3")
    trace = churn_trace(scenario)
    trace = trace.take(np.arange(len(trace.fleet)) < 3)
    longer = with_arrival(trace, draw_device(scenario, "x", (1.0, 2.0, 3.0)), 1)
    assert longer.fleet.id.tolist()[-1] == "x"
    assert longer.fleet.position_m[-1].tolist() == [1.0, 2.0, 3.0]
    assert not longer.present(1)[-1]
    assert longer.present(2)[-1]
    left = with_departures(longer, {"x"}, 3)
    assert left.present(3)[-1]
    assert not left.present(4)[-1]
    assert without_device(longer, "x").fleet.id.tolist() == trace.fleet.id.tolist()
    assert draw_device(scenario, "y", (1e9, 0.0, 0.0)).position_m.max() <= 100
