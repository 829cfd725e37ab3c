"""A federation in one process: the same round, whatever goes wrong on the way."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cable import Cable
from hypothesis import given
from hypothesis import strategies as st
from test_federation_processes import differences, scenario_of

from scdn.data.sample import write_sample
from scdn.errors import InputError
from scdn.federation.device import Device
from scdn.federation.driver import arrived, departed, device_of, never_came
from scdn.federation.features import digests, read_features
from scdn.federation.flower.grid import GridLine
from scdn.federation.labels import align, read_labels
from scdn.federation.messages import ANSWERED, ASKED, read
from scdn.federation.post import STRIKES, Ask, Post, Reply
from scdn.federation.server import Wishes, go_on, serve
from scdn.federation.share import LABELS, share_out
from scdn.federation.wire import Frame, WireError, decode, encode
from scdn.simulation.run import run
from scdn.world.churn import churn_trace

QUICK = Wishes(wait_s=0.5, timeout_s=0.3)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shares")
    scenario = scenario_of("fleet.0.count=4", "learning.rounds=4")
    share_out(scenario, churn_trace(scenario), folder)
    return folder


def labels(site):
    return read_labels(site / LABELS, None, None, "classification", None, 0)


def device(site, name, **more):
    return Device(name, read_features(site / f"{name}.npz", None), **more)


def network(site, *names):
    line = Cable()
    for node, name in enumerate(names, 1):
        line.plug(node, device(site, name))
    return line


THREE = ("device-1", "device-2", "device-3")


def federate(site, out, line, watch=None, notes=None, *more):
    scenario = scenario_of("learning.rounds=4", *more)
    note = (lambda _: None) if notes is None else notes.append
    return serve(scenario, labels(site), line, out, QUICK, note, watch=watch)


def during(round_, act):
    """Acts once, when a round has been recorded."""
    return lambda event, _: act() if event["round"] == round_ else None


# --- the wire -------------------------------------------------------------------------------------

KINDS = st.sampled_from(["<f4", "<f8", "<i8", "|u1"])


@st.composite
def frames(draw):
    arrays = {}
    for number in range(draw(st.integers(0, 3))):
        shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
        kind = np.dtype(draw(KINDS))
        values = np.arange(int(np.prod(shape))).reshape(shape).astype(kind)
        arrays[f"a{number}"] = values
    words = draw(
        st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3)
    )
    return Frame(draw(st.text(max_size=8)), words, arrays)


@given(frames())
def test_what_is_sent_arrives(frame):
    found = decode(encode(frame))
    assert (found.kind, found.words) == (frame.kind, frame.words)
    assert found.arrays.keys() == frame.arrays.keys()
    for name, array in frame.arrays.items():
        assert found.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(found.arrays[name], array)


@given(frames(), st.data())
def test_whatever_else_arrives_is_refused_or_a_message(frame, data):
    raw = bytearray(encode(frame))
    for _ in range(data.draw(st.integers(0, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(raw[: data.draw(st.integers(0, len(raw)))])
    for told in (cut, bytes(raw), bytes(raw) + b"x", data.draw(st.binary(max_size=64))):
        with suppress(WireError):
            decode(told)


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ({"kind": "train", "words": {}, "arrays": [["a", "<f8", [1 << 40]]]}, b""),
        ({"kind": "train", "words": {}, "arrays": [["a", "<f8", [1 << 27, 1 << 27]]]}, b""),
        ({"kind": "train", "words": {}, "arrays": [["a", "|O", [1]]]}, b"x" * 8),
        ({"kind": "train", "words": {}, "arrays": [["a", "<f8", [-1]]]}, b""),
        ({"kind": "train", "words": {}, "arrays": [["a", "<f8", [True]]]}, b"x" * 8),
        ({"kind": "train", "words": [], "arrays": []}, b""),
        (
            {"kind": "train", "words": {}, "arrays": [["a", "<f8", [1]]]},
            np.float64("nan").tobytes(),
        ),
        ({"kind": "train", "words": {}, "arrays": [["a", "<f8", [1]]] * 2}, b"x" * 16),
        ([], b""),
    ],
)
def test_headers_that_lie_are_refused(header, body):
    told = json.dumps(header).encode()
    with pytest.raises(WireError):
        decode(b"scdn1\n" + len(told).to_bytes(4, "big") + told + body)


def test_too_large_is_refused_unread():
    with pytest.raises(WireError, match="at most"):
        decode(b"x" * 100, limit=99)
    with pytest.raises(WireError, match="not JSON"):
        decode(b"scdn1\n" + (9).to_bytes(4, "big") + b'{"a":NaN}')


# --- a device and strange servers -----------------------------------------------------------------


@given(st.data())
def test_a_device_answers_everything_and_never_falls(site, data):
    asked = device(site, "device-1")
    kind = data.draw(st.sampled_from([*ASKED, "?"]))
    words = data.draw(
        st.dictionaries(
            st.sampled_from(["run", "nonce", "base", "state", "share", "steps", "name", "salt"]),
            st.integers(-3, 3) | st.text(max_size=4) | st.none(),
        )
    )
    reply = decode(asked.answer(encode(Frame(kind, words, data.draw(frames()).arrays))))
    assert reply.kind in ("refused", "hello", "bye")


def test_a_device_runs_no_model_that_it_does_not_know(site):
    asked = device(site, "device-1")
    features = asked.features
    keys = digests(features.keys, "")
    start = {"run": "r", "nonce": "n", "name": "a", "seed": 0, "task": "classification", "width": 3}
    wishes = {"learning": {"model": "os:system"}}
    arrays = {"train": keys[:9], "test": keys[9:12], "sample": np.arange(3)}
    reply = decode(asked.answer(encode(Frame("start", {**start, **wishes}, arrays))))
    assert reply.kind == "refused"
    assert "os:system" in reply.words["reason"]


def test_features_are_never_sent(site):
    """No column of a device's features can be found in what it sends."""
    line = network(site, *THREE)
    sent = []

    def kept(id_, node, answer):
        sent.append(answer)
        return [Reply(id_, node, answer)]

    for node in (1, 2, 3):
        line.tamper[node] = lambda id_, _, answer, node=node: kept(id_, node, answer)
    federate(site, site / "private", line)
    values = line.devices[1].features.values
    told = [a for raw in sent for a in decode(raw).arrays.values() if a.dtype.kind == "f"]
    assert len(told) > 10
    for array in told:
        assert array.shape[-1] == 10  # an embedding's width, for each row
        for column in array.reshape(-1, 10)[:50].T:
            assert not any(np.array_equal(column, values[: len(column), c]) for c in range(8))


# --- a server and strange devices -----------------------------------------------------------------


def good(id_, _, answer):
    return [Reply(id_, 2, answer)]


def lost(*_):
    return []


def cut(id_, _, answer):
    return [Reply(id_, 2, answer[: len(answer) // 2])]


def empty(id_, *_):
    return [Reply(id_, 2, b"")]


def other_node(id_, _, answer):
    return [Reply(id_, 7, answer)]


def changed(change):
    def tamper(id_, _, answer):
        frame = decode(answer)
        kind, words, arrays = change(frame)
        return [Reply(id_, 2, encode(Frame(kind, words, arrays)))]

    return tamper


def _scaled(frame):
    return frame.kind, frame.words, {k: a[:-1] for k, a in frame.arrays.items()}


def _huge_smoothness(frame):
    return frame.kind, {**frame.words, "smoothness": -1.0, "seconds": -1.0}, frame.arrays


def _more(frame):
    return frame.kind, {**frame.words, "more": 1}, {**frame.arrays, "more": np.zeros(3)}


def _other_kind(frame):
    return "bye", frame.words, frame.arrays


def _nonce(frame):
    return frame.kind, {**frame.words, "nonce": "0"}, frame.arrays


def _run(frame):
    return frame.kind, {**frame.words, "run": "0"}, frame.arrays


def _whole_numbers(frame):
    return frame.kind, frame.words, {k: a.astype(np.int64) for k, a in frame.arrays.items()}


def _nan(id_, _, answer):
    raw = bytearray(answer)
    raw[-8:] = np.float64("nan").tobytes()
    return [Reply(id_, 2, bytes(raw))]


def replayed():
    """Always the first answer again."""
    first = []

    def tamper(id_, _, answer):
        first.append(answer)
        return [Reply(id_, 2, first[0])]

    return tamper


def twice(id_, _, answer):
    return [Reply(id_, 2, answer), Reply(id_, 2, answer)]


WRONG = {
    "cut": cut,
    "empty": empty,
    "other node": other_node,
    "shape": changed(_scaled),
    "negative": changed(_huge_smoothness),
    "more": changed(_more),
    "kind": changed(_other_kind),
    "nonce": changed(_nonce),
    "run": changed(_run),
    "whole": changed(_whole_numbers),
    "nan": _nan,
}


@pytest.fixture(scope="module")
def without(site):
    """The same run in which the second device's answers are lost from round 1 on."""
    line = network(site, *THREE)
    return federate(site, site / "without", line, during(0, lambda: line.tamper.update({2: lost})))


@pytest.mark.parametrize("how", [*WRONG, "replayed"])
def test_wrong_answers_change_nothing_and_are_named(site, tmp_path, without, how):
    """As if they had been lost; three of them, and the device is gone."""
    line, notes = network(site, *THREE), []
    tamper = replayed() if how == "replayed" else WRONG[how]
    if how == "replayed":
        tamper("", b"", b"")
    found = federate(
        site, tmp_path / "run", line, during(0, lambda: line.tamper.update({2: tamper})), notes
    )
    assert max(differences(without.rounds, found.rounds))[0] < 1e-12
    assert found.rounds[-1]["federation"]["wrong"] == {"device-2": STRIKES}
    assert sum("device-2: a wrong answer" in note for note in notes) == STRIKES
    assert any("no longer listened to" in note for note in notes)
    assert found.rounds[3]["exited"] == ["device-2"]


def test_an_answer_that_comes_twice_counts_once(site, tmp_path):
    plain = federate(site, tmp_path / "plain", network(site, *THREE))
    line, notes = network(site, *THREE), []
    line.tamper[2] = twice
    found = federate(site, tmp_path / "twice", line, None, notes)
    assert max(differences(plain.rounds, found.rounds))[0] < 1e-12
    assert any("nothing that is open" in note for note in notes)


def test_late_answers_are_dropped_counted_and_named(site, tmp_path, without):
    line, notes, held = network(site, *THREE), [], []

    def late(id_, _, answer):
        held.append((id_, answer))
        return []

    def deliver(event, _):
        if event["round"] == 0:
            line.tamper[2] = late
        else:
            line.replies |= {id_: [Reply(id_, 2, answer)] for id_, answer in held}

    found = federate(site, tmp_path / "run", line, deliver, notes)
    assert max(differences(without.rounds, found.rounds))[0] < 1e-12
    assert found.rounds[-1]["federation"]["late"]["device-2"] >= 1
    assert any("device-2: its answer came too late" in note for note in notes)
    assert found.rounds[-1]["federation"]["wrong"] == {}


class Silent:
    def answer(self, raw):
        return raw[:0]


def test_a_post_without_answers_does_not_wait_for_the_absent():
    line = Cable()
    line.plug(1, Silent())
    now = [0.0]
    post = Post(line, "r", 1000.0, clock=lambda: now[0])
    line.tamper[1] = lost
    post.sleep = lambda s: (now.__setitem__(0, now[0] + s), line.devices.pop(1, None))
    assert post.ask_nodes({"a": (1, Ask("bye", {"reason": ""}))}) == {}
    assert now[0] < 5


class Grid:
    """Flower's grid, as far as `GridLine` uses it; some messages make it raise."""

    def __init__(self, answers):
        self.answers = answers

    def pull_messages(self, ids):
        found = [self.answers[id_] for id_ in ids if id_ in self.answers]
        for answer in found:
            if isinstance(answer, Exception):
                raise answer
        return found


def told(id_, content, error=None):
    return SimpleNamespace(
        metadata=SimpleNamespace(reply_to_message_id=id_, src_node_id=7),
        has_error=lambda: error is not None,
        error=SimpleNamespace(reason=error),
        content=content,
    )


def test_a_message_that_flower_cannot_read_fails_alone():
    answers = {
        "good": told("good", {"scdn": {"frame": b"frame"}}),
        "bare": told("bare", {}),
        "text": told("text", {"scdn": {"frame": "text"}}),
        "error": told("error", None, "gone"),
        "broken": ValueError("not a message"),
    }
    line = GridLine(Grid(answers))
    line._sent = dict.fromkeys([*answers, "silent"], 7)
    found, deadline = {}, time.monotonic() + 10
    while len(found) < len(answers) and time.monotonic() < deadline:
        found |= {reply.message: reply.raw for reply in line.pull([*answers, "silent", "strange"])}
    assert found == {"good": b"frame", "bare": b"", "text": b"", "error": None, "broken": b""}


@given(st.sampled_from(sorted(ANSWERED)), frames())
def test_no_array_that_was_not_asked_for_gets_through(kind, frame):
    form = ANSWERED[kind]
    known = {name.rstrip("?") for name in form.arrays}
    try:
        read(form, Frame(kind, frame.words, frame.arrays))
    except WireError:
        return
    assert set(frame.arrays) <= known


# --- who comes and goes ---------------------------------------------------------------------------


def test_a_good_bye_is_an_exit_and_its_embeddings_stay(site, tmp_path):
    line = network(site, *THREE)
    found = federate(site, tmp_path / "run", line, during(1, lambda: line.unplug(2)))
    assert [event["exited"] for event in found.rounds] == [[], [], ["device-2"], []]
    assert "future" in found.rounds[-1]["metrics"]
    assert [len(event["devices"]) for event in found.rounds] == [3, 3, 3, 2]


def test_silence_is_a_failed_link_and_three_in_a_row_an_exit(without):
    assert [event["federation"]["missed"] for event in without.rounds] == [[], *[["device-2"]] * 3]
    assert [event["link_failed"] for event in without.rounds] == [
        [],
        ["device-2"],
        ["device-2"],
        [],
    ]
    assert [event["exited"] for event in without.rounds] == [[], [], [], ["device-2"]]
    for event in without.rounds[1:3]:
        (device_,) = [d for d in event["devices"] if d["id"] == "device-2"]
        assert device_["bits_sent"] == 0
        assert device_["transmission_j"] == pytest.approx(
            device_["power_w"] * without.scenario["max_delay_s"]
        )


def test_one_that_is_back_too_late_is_a_newcomer(site, tmp_path):
    line = network(site, *THREE)

    def idle(id_, raw, answer):
        return [] if decode(raw).kind == "train" else [Reply(id_, 2, answer)]

    def cable(event, _):
        line.tamper = {2: idle} if event["round"] < 3 else {}

    found = federate(site, tmp_path / "run", line, cable, None, "learning.rounds=6")
    assert found.rounds[3]["exited"] == ["device-2"]
    assert found.rounds[3]["entered"] == ["device-2-2"]
    assert [len(event["devices"]) for event in found.rounds] == [3] * 6
    assert "device-2-2" not in found.rounds[5]["federation"]["missed"]


def test_one_that_answers_again_goes_on_as_it_was(site, tmp_path):
    line = network(site, *THREE)

    def cable(event, _):
        line.tamper = {2: lost} if event["round"] == 0 else {}

    found = federate(site, tmp_path / "run", line, cable)
    assert [event["link_failed"] for event in found.rounds] == [[], ["device-2"], [], []]
    assert all(event["exited"] == [] for event in found.rounds)


def test_an_update_whose_report_was_lost_is_taken_back(site, tmp_path):
    """The device moved, the server did not hear of it: both go on from where they agreed."""
    line = network(site, *THREE)

    def applied(id_, raw, answer):
        return [] if decode(raw).kind == "apply" else [Reply(id_, 2, answer)]

    def cable(event, _):
        line.tamper = {2: applied} if event["round"] == 0 else {}

    found = federate(site, tmp_path / "run", line, cable)
    assert found.rounds[1]["federation"]["missed"] == ["device-2"]
    assert line.devices[2].states.keys() == {3, 4}


def test_a_newcomer_widens_the_model(site, tmp_path):
    line = network(site, *THREE)
    found = federate(
        site, tmp_path / "run", line, during(0, lambda: line.plug(9, device(site, "device-4")))
    )
    assert [event["entered"] for event in found.rounds] == [[], ["device-4"], [], []]
    assert [len(event["devices"]) for event in found.rounds] == [3, 3, 4, 4]


def test_a_device_that_forgot_everything_is_a_newcomer(site, tmp_path):
    line = network(site, *THREE)

    def anew():
        line.unplug(2)
        line.plug(9, device(site, "device-2"))

    found = federate(site, tmp_path / "run", line, during(0, anew))
    assert found.rounds[1]["exited"] == ["device-2"]
    assert found.rounds[1]["entered"] == ["device-2-2"]


def test_a_device_that_kept_its_state_goes_on(site, tmp_path):
    state = tmp_path / "state.npz"
    line = network(site, *THREE)
    line.plug(2, device(site, "device-2", state=state))

    def anew():
        line.plug(2, device(site, "device-2", state=state))  # a new process at the same node

    plain = federate(site, tmp_path / "plain", network(site, *THREE))
    found = federate(site, tmp_path / "run", line, during(0, anew))
    assert [event["exited"] for event in found.rounds] == [[]] * 4
    assert found.rounds[1]["link_failed"] == ["device-2"]  # until it was asked who it is
    assert found.rounds[2]["link_failed"] == []
    assert len(plain.rounds) == len(found.rounds)


def test_names_cannot_be_borrowed(site, tmp_path):
    line, notes = network(site, *THREE), []
    line.plug(8, device(site, "device-1"))
    line.plug(9, device(site, "device-4"), key_name="device-3")
    found = federate(site, tmp_path / "run", line, None, notes)
    assert all(len(event["devices"]) == 3 for event in found.rounds)
    assert any("who is here already" in note for note in notes)
    assert any("its key is of device-3" in note for note in notes)


def test_a_newcomer_without_the_rows_is_not_let_in(site, tmp_path):
    line, notes = network(site, *THREE), []
    poor = device(site, "device-4")
    some = slice(0, 100)
    poor.features = replace(
        poor.features, keys=poor.features.keys[some], values=poor.features.values[some]
    )
    found = federate(site, tmp_path / "run", line, during(0, lambda: line.plug(9, poor)), notes)
    assert all(event["entered"] == [] for event in found.rounds)
    assert any("lacks 1697 of the run's rows" in note for note in notes)
    assert "missing" in poor.stopped


# --- resumed --------------------------------------------------------------------------------------


class Killed(BaseException):
    pass


@pytest.mark.parametrize("after", [0, 2])
@pytest.mark.parametrize("damping", ["fitted", "active"])
def test_a_resumed_server_ends_as_if_it_had_not_stopped(site, tmp_path, after, damping):
    more = f'learning.damping="{damping}"'
    plain = federate(site, tmp_path / "plain", network(site, *THREE), None, None, more)
    line, out = network(site, *THREE), tmp_path / "run"
    pushes = line.push

    def dies(node, raw, lasts_s):
        """In the middle of the round after: some devices have heard of it."""
        frame = decode(raw)
        if frame.kind == "train" and frame.words["round"] == after + 1 and node == 3:
            raise Killed
        return pushes(node, raw, lasts_s)

    line.push = dies
    with pytest.raises(Killed):
        federate(site, out, line, None, None, more)
    line.push = pushes
    found = go_on(labels(site), line, out, QUICK, lambda _: None)
    assert max(differences(plain.rounds, found.rounds))[0] < 1e-12
    assert max(differences(plain.end, found.end))[0] < 1e-12


def test_a_run_is_not_resumed_with_other_labels(site, tmp_path):
    line, out = network(site, *THREE), tmp_path / "run"

    def stop():
        raise Killed

    with pytest.raises(Killed):
        federate(site, out, line, during(0, stop))
    fewer = labels(site)
    fewer = replace(fewer, keys=fewer.keys[:-5] + ["?"] * 5)
    with pytest.raises(InputError, match="not those the run began with"):
        go_on(replace(fewer, test=~fewer.test), line, out, QUICK, lambda _: None)


# --- rows by key ----------------------------------------------------------------------------------


def test_rows_meet_by_key_and_the_report_says_which_did_not(tmp_path):
    meters, weather = write_sample(tmp_path)
    grid = read_labels(meters, "home", "heat_pump", "classification", None, 0)
    sky = read_features(weather, "home")
    found = align(grid, {"sky": digests(sky.keys, "salt")}, "salt")
    mine, theirs = set(grid.keys), set(sky.keys)
    assert found.report["matched"] == len(mine & theirs)
    assert found.report["devices"]["sky"] == {
        "rows": len(theirs),
        "missing": len(mine - theirs),
        "examples": sorted(mine - theirs, key=grid.keys.index)[:3],
        "unmatched": len(theirs - mine),
    }
    assert len(found.lines()) == 2
    order = [grid.keys[n] for n in range(len(grid.keys)) if grid.keys[n] in theirs]
    by_digest = dict(zip((d.tobytes() for d in digests(order, "salt")), order, strict=True))
    for part, targets in ((found.train, found.dataset.train_y), (found.test, found.dataset.test_y)):
        for row, target in zip(part, targets, strict=True):
            key = by_digest[row.tobytes()]
            assert grid.targets[grid.keys.index(key)] == target


@given(st.lists(st.text(max_size=6), unique=True, max_size=9), st.text(max_size=4))
def test_hashed_keys_differ_where_keys_or_salts_do(keys, salt):
    found = digests(keys, salt)
    assert len({row.tobytes() for row in found}) == len(keys)
    other = digests(keys, salt + "x")
    assert not (found == other).all(axis=1).any()


def test_a_network_that_lists_its_own_can_change():
    scenario = scenario_of("fleet.0.count=3")
    trace = churn_trace(scenario).only(np.arange(3) < 3)
    more = arrived(trace, device_of(scenario, "x", (1.0, 2.0, 3.0)), 1)
    assert more.fleet.id.tolist()[-1] == "x"
    assert more.fleet.position_m[-1].tolist() == [1.0, 2.0, 3.0]
    assert not more.present(1)[-1]
    assert more.present(2)[-1]
    fewer = departed(more, {"x"}, 3)
    assert fewer.present(3)[-1]
    assert not fewer.present(4)[-1]
    assert never_came(more, "x").fleet.id.tolist() == trace.fleet.id.tolist()
    assert device_of(scenario, "y", (1e9, 0.0, 0.0)).position_m.max() <= 100


# --- settings that reach devices ------------------------------------------------------------------


@pytest.mark.parametrize(
    "setting",
    [
        'learning.damping="none"',
        'learning.input="masked"',
        'learning.smoothness="measured"',
        "method=zoc",
        "method=sc-dn-dropout",
    ],
)
def test_every_setting_gives_the_same_events(tmp_path, setting):
    scenario = scenario_of("learning.rounds=2", setting)
    simulated = run(scenario, tmp_path / "simulated")
    share_out(scenario, churn_trace(scenario), tmp_path)
    line = network(tmp_path, *THREE)
    found = federate(tmp_path, tmp_path / "run", line, None, None, "learning.rounds=2", setting)
    assert max(differences(simulated.rounds, found.rounds))[0] < 1e-9


def test_rarer_tables_cost_fewer_bytes_and_change_no_training(site, tmp_path):
    often = federate(site, tmp_path / "often", network(site, *THREE))
    more = ("learning.refresh=4", "learning.sample_rows=64", "learning.batch_size=8")
    rare = federate(site, tmp_path / "rare", network(site, *THREE), None, None, *more)
    same = federate(site, tmp_path / "same", network(site, *THREE), None, None, *more[1:])
    assert max(differences(rare.rounds, same.rounds))[0] < 1e-9
    up = [e["devices"][0]["measured"]["bytes_up"] for e in (rare.rounds[1], often.rounds[1])]
    assert up[0] < up[1] / 2
