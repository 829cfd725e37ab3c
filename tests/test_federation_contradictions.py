"""What a device says is compared with its own history, and what it has spoilt is undone."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
import torch
from federation_helpers import (
    THREE,
    export_features,
    federate,
    network_of,
    server,
    small_scenario,
)
from hypothesis import given
from hypothesis import strategies as st
from malicious_behaviours import BEHAVIOURS, behave
from malicious_unseen import UNSEEN

from scdn.federation.anomaly_detection import AnomalyDetector
from scdn.federation.blocked_steps import BlockedRounds
from scdn.federation.fusion_history import WATCHED_ROUNDS, FusionHistory
from scdn.federation.odd_replies import OddReplies
from scdn.federation.reply_history import SIZE, ReplyHistory
from scdn.learning.fusion_model import FusionModel
from scdn.learning.tensors import TensorOptions

ROWS = {"held_out": torch.arange(40)}


def table(seed, rows=40):
    return torch.randn(rows, 3, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("length", "left_out"), [(0.0, {"a"}), (0.5, set()), (None, set())])
def test_a_step_of_length_0_changes_no_embedding(length, left_out):
    detector = AnomalyDetector(100, 0.0)
    before = {"a": {"held_out": table(0)}, "b": {"held_out": table(1)}}
    after = {"a": {"held_out": 1.5 * table(0)}, "b": {"held_out": table(1)}}
    assert detector.after_step(after, ROWS, 32, before, length).keys() == left_out


@pytest.mark.parametrize("how", ["right where trained", "negated where not trained"])
def test_a_device_that_is_right_where_it_trains_alone_is_left_out_at_once(tmp_path, how):
    """It knows which rows it was sent gradients of; steps then look bad to the server for long."""
    settings = ("fleet.0.count=6", "learning.rounds=2", "seed=21")
    files, log = export_features(tmp_path / "files", *settings), []
    network = network_of(files, *(f"device-{n}" for n in range(1, 7)))
    UNSEEN[how](network, files, -1)
    run = federate(files, tmp_path / "run", network, *settings, log=log)
    left_out = [event["federation"]["left_out"] for event in run.rounds]
    assert "its rows held out have a correlation of" in left_out[0]["device-6"]
    assert left_out[1].keys() <= {"device-6"}


def test_noise_and_rounding_are_no_change():
    detector = AnomalyDetector(100, 0.1)
    before = {"a": {"held_out": table(0)}}
    after = {"a": {"held_out": table(0) + 0.1 * table(2)}}
    assert detector.after_step(after, ROWS, 32, before, 0.0) == {}


def test_a_device_that_is_left_out_of_a_round_goes_back_to_where_it_began():
    detector = AnomalyDetector(100, 0.0)
    detector.begin_round(0)
    detector.accept("a", 4, {"held_out": table(0)}, ROWS, 32)
    detector.accept("a", 5, {"held_out": table(1)}, ROWS, 32)
    detector.go_back("a")
    sent = {"a": {"held_out": table(1)}}
    assert detector.before_training(sent, ROWS, {"a": 4}, 32).keys() == {"a"}
    sent = {"a": {"held_out": table(0)}}
    assert detector.before_training(sent, ROWS, {"a": 4}, 32) == {}


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=80), st.floats(1.0, 1e6))
def test_what_is_usual_scales_with_the_figures_and_lies_among_them(values, factor):
    one, other = ReplyHistory(), ReplyHistory()
    for value in values:
        one.accept_figures({"variance": value, SIZE: value})
        other.accept_figures({"variance": factor * value, SIZE: factor * value})
    kept = values[-64:]
    assert min(kept) <= one.usual("variance") <= max(kept) == one.usual(SIZE)
    assert other.usual("variance") == pytest.approx(factor * one.usual("variance"))


def test_a_figure_that_grows_each_round_is_out_of_line_in_the_end():
    detector, found = AnomalyDetector(10, 0.0), []
    for round_ in range(6):
        sent = {"a": {"variance": 100.0**round_}, "b": {"variance": 1.0}, "c": {"variance": 2.0}}
        found.append(set(detector.figures(sent)))
        for name in sent:
            detector.accept_figures(name, sent[name])
    assert found[0] == found[1] == set()
    assert found[3] == found[4] == {"a"}


def test_a_measured_smoothness_that_is_far_off_is_not_used_and_the_device_stays():
    log = []
    detector = AnomalyDetector(10, 0.0, log.append)
    sent = {name: {"measured_smoothness": 0.05} for name in "abc"}
    sent["a"]["measured_smoothness"] = 128.0
    assert detector.figures(sent) == {}
    assert sent["a"]["measured_smoothness"] is None
    assert [line.partition(":")[0] for line in log] == ["a"]


# --- the fusion model -----------------------------------------------------------------------------


class Harm:
    """A server whose loss is the mean of its fusion model's bias."""

    def __init__(self, members):
        options = TensorOptions("cpu", "float64")
        self.server = SimpleNamespace(fusion=FusionModel.create(members, 3, options, 0))

    def set_bias(self, value):
        self.server.fusion.parameters["bias"].fill_(value)

    def with_imputed(self, sent, _rows):
        return sent

    def loss(self, _tables, _rows):
        return float(self.server.fusion.parameters["bias"].mean())


def with_bias(harm, value):
    fusion = harm.server.fusion
    return fusion._with_blocks(fusion.parameters["blocks"], fusion.members), value


@pytest.mark.parametrize("joins", [False, True])
def test_the_best_of_the_last_fusion_models_is_taken_again(joins):
    harm, log = Harm(("a", "b")), []
    history = FusionHistory(log.append)
    models = {}
    for round_, loss in enumerate([5.0, 2.0, 3.0]):
        harm.server.fusion = FusionModel.create(
            ("a", "b"), 3, TensorOptions("cpu", "float64"), round_
        )
        harm.set_bias(loss)
        models[round_] = harm.server.fusion
        history.begin_round(round_, harm, {}, ROWS["held_out"])
        assert harm.server.fusion is models[round_]  # nobody is left out: nothing changes
    history.note_left_out(3)
    if joins:
        harm.server.fusion = harm.server.fusion.with_members(("c",))
    history.begin_round(3, harm, {}, ROWS["held_out"])
    assert harm.loss({}, None) == 2.0
    blocks, good = harm.server.fusion.parameters["blocks"], models[1].parameters["blocks"]
    assert torch.equal(blocks[:2], good)
    assert len(blocks) == 2 + joins
    assert log == ["the fusion model is again that of round 2: its loss is 2 instead of 3"]


def test_a_fusion_model_that_is_as_good_stays_and_the_watch_ends():
    harm, log = Harm(("a",)), []
    history = FusionHistory(log.append)
    harm.set_bias(1.0)
    history.begin_round(0, harm, {}, ROWS["held_out"])
    harm.server.fusion = FusionModel.create(("a",), 3, TensorOptions("cpu", "float64"), 1)
    harm.set_bias(1.01)
    history.note_left_out(1)
    present = harm.server.fusion
    history.begin_round(1, harm, {}, ROWS["held_out"])
    assert harm.server.fusion is present
    harm.set_bias(9.0)
    history.begin_round(1 + WATCHED_ROUNDS, harm, {}, ROWS["held_out"])
    assert harm.server.fusion is present
    assert log == []


def test_of_two_models_of_one_round_the_better_one_stays():
    """Where nobody waits, a round has several arrivals, and the server trains after each."""
    harm, log = Harm(("a",)), []
    history = FusionHistory(log.append)
    harm.set_bias(5.0)
    history.begin_round(4, harm, {}, ROWS["held_out"])
    harm.server.fusion = present = FusionModel.create(("a",), 3, TensorOptions("cpu", "float64"), 1)
    harm.set_bias(2.0)
    history.note_left_out(4)
    history.begin_round(4, harm, {}, ROWS["held_out"])
    assert harm.server.fusion is present
    assert log == []


def test_a_resumed_server_goes_back_to_the_same_fusion_model():
    harms, histories = [Harm(("a", "b")) for _ in range(2)], [FusionHistory() for _ in range(2)]
    harms[0].set_bias(2.0)
    histories[0].begin_round(0, harms[0], {}, ROWS["held_out"])
    good = harms[0].server.fusion
    histories[0].note_left_out(1)
    present = FusionModel.create(("a", "b"), 3, TensorOptions("cpu", "float64"), 1)
    histories[1].load_state_dict(histories[0].state_dict(), present)
    for harm, history in zip(harms, histories, strict=True):
        harm.server.fusion = present
        harm.set_bias(9.0)
        history.begin_round(1, harm, {}, ROWS["held_out"])
        assert harm.loss({}, None) == 2.0
        assert torch.equal(harm.server.fusion.parameters["blocks"], good.parameters["blocks"])


# --- after a resume -------------------------------------------------------------------------------


def resumed(detector):
    later = AnomalyDetector(detector.train_rows, detector.noise_deviation)
    later.load_state_dict(json.loads(json.dumps(detector.state_dict())))
    return later


def test_an_old_device_is_not_compared_with_newcomers_after_a_resume():
    """The embeddings of a model grow with time."""
    detector = AnomalyDetector(100, 0.0)
    sent = {"old": {"held_out": 10 * table(0)}}
    sent |= {name: {"held_out": table(seed)} for seed, name in enumerate("ab", 1)}
    for state in range(8):
        detector.accept("old", state, sent["old"], ROWS, 32)
    states = {"old": 8, "a": 0, "b": 0}
    for one in (detector, resumed(detector)):
        assert one.before_training(sent, ROWS, states, 32) == {}


def test_what_is_expected_of_a_device_is_the_same_after_a_resume():
    detector = AnomalyDetector(100, 0.0)
    detector.accept("a", 1, {"held_out": table(0)}, ROWS, 32)
    expected = detector._expected("a", table(1))
    assert float(expected.abs().sum()) > 0
    assert torch.equal(resumed(detector)._expected("a", table(1)), expected)


def test_a_device_that_blocks_all_steps_is_found_out_after_a_resume():
    detector = AnomalyDetector(100, 0.0)
    for _ in range(2):
        assert detector.taken_back({}, {}, ROWS, ["a"]) == {}
    assert resumed(detector).taken_back({}, {}, ROWS, ["a"]).keys() == {"a"}


# --- steps that are taken back --------------------------------------------------------------------


def test_a_party_that_blocks_a_step_now_and_then_is_not_dismissed():
    blocked = BlockedRounds()
    for _ in range(10):
        assert blocked.add(["a"]) is None
        blocked.note_step_kept({"a", "b"})
    assert [blocked.add(["a"]) for _ in range(3)] == [None, None, "a"]


def test_a_step_without_the_party_that_blocked_does_not_speak_for_it():
    blocked = BlockedRounds()
    for _ in range(2):
        assert blocked.add(["a"]) is None
        blocked.note_step_kept({"b"})
    assert blocked.add(["a"]) == "a"


# --- what is named --------------------------------------------------------------------------------


def test_what_is_odd_is_named_once_for_each_kind():
    log = []
    odd = OddReplies(log.append)
    for _ in range(2):
        odd.note_connections({"a": 1, "b": 5000, "c": 6000})
        odd.note_small_figures("variance", {"a": 1e-7, "b": 1.0, "c": 2.0})
        odd.note_reversed("a", table(0), -table(0))
    assert len(log) == 3
    assert all(line.startswith("a: ") for line in log)


def test_a_report_from_before_the_last_one_is_named():
    log = []
    odd = OddReplies(log.append)
    for seed in (0, 1, 1, 2):
        odd.note_repeated("a", table(seed))
    assert log == []  # what a step of length 0 leaves
    odd.note_repeated("a", table(0))
    assert len(log) == 1


@given(st.floats(0.2, 5.0), st.integers(0, 1000))
def test_honest_updates_are_not_named(factor, seed):
    log = []
    odd = OddReplies(log.append)
    odd.note_reversed("a", table(seed), factor * table(seed) + 0.5 * table(seed + 1))
    odd.note_connections({"a": int(1000 * factor), "b": 1000, "c": 1200})
    odd.note_small_figures("variance", {"a": factor, "b": 1.0, "c": 30.0})
    assert log == []


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return export_features(tmp_path_factory.mktemp("parties"), "learning.rounds=4")


def test_nothing_is_kept_of_what_a_departed_device_sent_when_it_began(files, tmp_path):
    network, kept = network_of(files, *THREE), {}
    federation = server(files, tmp_path / "run", network)

    def act(event, simulation):
        if event["round"] == 1:
            network.unplug(2)
        kept[event["round"]] = set(simulation.remote.before)

    federation.run(small_scenario("learning.rounds=5"), on_round=act)
    assert kept[0] == set(THREE)
    assert kept[4] == set(THREE) - {"device-2"}


def test_steps_that_stand_speak_for_all_who_took_them(files, tmp_path, monkeypatch):
    stood = []
    monkeypatch.setattr(BlockedRounds, "note_step_kept", lambda _, names: stood.append(set(names)))
    federate(files, tmp_path / "run", network_of(files, *THREE))
    assert stood.count(set(THREE)) >= 2  # of four rounds


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("scaled by 0.1", "as large as others'"),
        ("no_time_at_all", "says that training took no time"),
        ("modest_figures", "times those of any other"),
        ("changes signs with its model", "opposite"),
        ("join: one_connection", "its model has 1 connections"),
        ("hello: has the states of another", "says that it is device-1, which it is not"),
    ],
)
def test_a_harmless_lie_is_named_in_the_log(files, tmp_path, how, told):
    network, log = network_of(files, *THREE), []
    behave(network, 3, BEHAVIOURS[how])
    run = federate(files, tmp_path / "run", network, log=log)
    assert run.end["status"] == "done"
    assert any(line.startswith("device-3: ") and told in line for line in log), log
    assert not any(
        line.startswith(("device-1: ", "device-2: ")) and "connected" not in line for line in log
    )
