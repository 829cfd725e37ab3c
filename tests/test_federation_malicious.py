"""Devices that send anything: no run ends, the score stays, and the log names them."""

from __future__ import annotations

import pytest
from conftest import LONG
from federation_helpers import (
    THREE,
    Killed,
    device,
    export_features,
    federate,
    largest_difference,
    network_of,
    server,
    small_scenario,
    tampered,
)
from malicious_behaviours import BEHAVIOURS, Behaviour, behave, no_smoothness
from malicious_lifecycles import INDISTINGUISHABLE, LIFECYCLES

from scdn.federation.anomaly_detection import MAX_SUSPICIOUS_ROUNDS, AnomalyDetector
from scdn.federation.federated_server import FederatedServer
from scdn.federation.membership import MAX_SILENT_DEPARTURES
from scdn.federation.server_settings import ServerSettings
from scdn.federation.slow_replies import find_slow
from scdn.federation.wire_format import Frame

SIX = tuple(f"device-{n}" for n in range(1, 7))
SETTINGS = ("fleet.0.count=6", "learning.rounds=20", 'learning.precision="float32"')
MOST_LOST = 2.0  # points of the score that one malicious device may cost five honest ones
SHORT = (  # one of each kind; all of them run if SCDN_TEST_LONG is set
    "huge_empty_array",
    "surrogate_in_kind",
    "overflow_in_32_bits",
    "huge_figures",
    "noise in sample alone",
    "noise in test alone later",
    "noise later",
    "exaggerates_its_update",
    "says_diverged",
    "refuses",
    "scaled by 10",
    "scaled by 1000",
    "drifts with its model",
    "grows by 1.5 with its model later",
    "half shuffled in test alone",
)


@pytest.fixture(scope="module")
def six_files(tmp_path_factory):
    return export_features(tmp_path_factory.mktemp("six"), *SETTINGS)


def run_with(files, out, names, behaviour=None):
    """Return the run and its log; the sixth device behaves so from a round on."""
    network, log = network_of(files, *names), []
    labels = server(files, out, network).labels
    federation = FederatedServer(labels, network, out, len(names), 0.5, 0.1, log.append)

    def begin(event, _):
        if behaviour is not None and event["round"] == behaviour.start - 1:
            behave(network, 6, behaviour)

    if behaviour is not None and behaviour.start == 0:
        behave(network, 6, behaviour)
    return federation.run(small_scenario(*SETTINGS), on_round=begin), log


@pytest.fixture(scope="module")
def honest(six_files, tmp_path_factory):
    """The score of five honest devices alone."""
    run, _ = run_with(six_files, tmp_path_factory.mktemp("honest") / "run", SIX[:5])
    return run.end["metrics"]


def test_the_catalogue_has_thirty_behaviours():
    assert len(BEHAVIOURS) >= 30
    assert set(SHORT) <= BEHAVIOURS.keys()


@pytest.mark.parametrize("how", BEHAVIOURS if LONG else SHORT)
def test_a_malicious_device_ends_nothing_costs_little_and_is_named(
    six_files, tmp_path, honest, how
):
    run, log = run_with(six_files, tmp_path / "run", SIX, BEHAVIOURS[how])
    assert run.end["status"] == "done"
    assert len(run.rounds) == 20
    assert run.end["metrics"]["top3"] >= honest["top3"] - MOST_LOST
    about = [line for line in log if line.startswith("device-6") and "connected" not in line]
    assert about or how in INDISTINGUISHABLE
    left_out = {name for event in run.rounds for name in event["federation"]["left_out"]}
    assert left_out <= {"device-6"}
    assert all(line.isprintable() for line in log)


def test_honest_devices_are_never_left_out(six_files, tmp_path):
    run, log = run_with(six_files, tmp_path / "run", SIX)
    assert all(event["federation"]["left_out"] == {} for event in run.rounds)
    assert not any("left out" in line for line in log)


# --- parts of it ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return export_features(tmp_path_factory.mktemp("parties"), "learning.rounds=4")


def test_a_missing_smoothness_leaves_out_one_device(files, tmp_path):
    network, log = network_of(files, *THREE), []
    behave(network, 2, Behaviour(no_smoothness))
    run = federate(files, tmp_path / "run", network, 'learning.smoothness="norms"', log=log)
    assert run.end["status"] == "done"
    reason = "its smoothness is not finite"
    assert [event["federation"]["left_out"] for event in run.rounds] == [
        *[{"device-2": reason}] * MAX_SUSPICIOUS_ROUNDS,
        {},
    ]
    assert run.rounds[2]["exited"] == ["device-2"]
    assert any(line.startswith("device-2: dismissed") for line in log)


def negate(network, node):
    """Let a device send the opposite of its embeddings."""
    tables = {"drawn", "held_out", "sample", "test"}

    def negated(_, frame):
        arrays = {n: -a if n in tables else a for n, a in frame.arrays.items()}
        return Frame(frame.kind, frame.fields, arrays)

    tampered(network, node, negated)


def test_nothing_is_kept_of_a_dismissed_device_that_lied(files, tmp_path):
    network, log, kept = network_of(files, *THREE), [], {}

    def lie(event, simulation):
        if event["round"] == 1:
            negate(network, 2)
        if event["exited"]:
            server = simulation.model.server
            kept["memory"] = server.memory.embeddings["device-2"]
            kept["heard"] = {*server.heard.parties}
            kept["recent"] = {name for r in server.recent.rounds for name in r.embeddings}

    run = federate(files, tmp_path / "run", network, "learning.rounds=6", on_round=lie, log=log)
    assert [event["exited"] for event in run.rounds] == [[], [], [], [], ["device-2"], []]
    assert "device-2: nothing that it sent is kept" in log
    assert not kept["memory"].sample.any()
    assert not kept["memory"].test.any()
    assert kept["heard"] == kept["recent"] == {"device-1", "device-3"}


@pytest.mark.parametrize("round_", [3, 4])  # before the round in which the liar leaves, and after
def test_a_server_that_forgot_a_liar_resumes_as_if_it_had_not_stopped(files, tmp_path, round_):
    def begin(network, killed):
        def on_round(event, _):
            if event["round"] == 1:
                negate(network, 2)
            if event["round"] == round_ and killed:
                raise Killed

        return on_round

    runs = []
    for killed in (False, True):
        network, out = network_of(files, *THREE), tmp_path / f"killed-{killed}"
        on_round = begin(network, killed)
        try:
            run = federate(files, out, network, "learning.rounds=6", on_round=on_round)
        except Killed:
            run = server(files, out, network).resume()
        assert [event["exited"] for event in run.rounds][4] == ["device-2"]
        runs.append(run.rounds)
    assert largest_difference(*runs) < 1e-12


def test_a_liar_that_leaves_before_it_is_dismissed_is_forgotten(files, tmp_path):
    network, log = network_of(files, *THREE), []

    def lie(event, _):
        if event["round"] == 1:
            negate(network, 2)
        if event["round"] == 2:
            network.unplug(2)

    federate(files, tmp_path / "run", network, "learning.rounds=5", on_round=lie, log=log)
    assert not any("dismissed" in line for line in log)
    assert "device-2: nothing that it sent is kept" in log


def test_the_last_embeddings_of_a_device_that_was_only_slow_are_kept(files, tmp_path):
    network, kept = network_of(files, *THREE), {}

    def slow(event, simulation):
        if event["round"] == 1:
            kept["test"] = simulation.model.server.test_embeddings["device-2"].clone()
            simulation.remote.detector.slow_rounds["device-2"] = MAX_SUSPICIOUS_ROUNDS
        kept["memory"] = simulation.model.server.memory.embeddings.get("device-2")

    run = federate(files, tmp_path / "run", network, "learning.rounds=4", on_round=slow)
    assert [name for event in run.rounds for name in event["exited"]] == ["device-2"]
    assert kept["memory"].test.any()


@pytest.mark.parametrize(("how", "start"), [
    ("labels alone, test rows half wrong", 0),  # seen after a third of the rounds
    ("other rows from the start", 17),  # dismissed in the last round
])  # fmt: skip
def test_what_a_dismissed_device_has_taught_the_server_is_undone(
    six_files, honest, tmp_path, how, start
):
    """With what was accepted before, the first cost 19 points; without training, the second 14."""
    network, log = network_of(six_files, *SIX), []
    labels = server(six_files, tmp_path / "run", network).labels
    federation = FederatedServer(labels, network, tmp_path / "run", 6, 0.5, 0.1, log.append)

    def begin(round_):
        if round_ == start - 1:
            LIFECYCLES[how](network, six_files, -1)

    begin(-1)
    scenario = small_scenario(*SETTINGS)
    run = federation.run(scenario, on_round=lambda event, _: begin(event["round"]))
    assert any(line.startswith("device-6: dismissed") for line in log)
    assert run.end["metrics"]["top1"] >= honest["top1"] - MOST_LOST


def test_a_dismissed_device_cannot_join_again(files, tmp_path):
    network, log = network_of(files, *THREE), []
    behave(network, 2, BEHAVIOURS["noise"])

    def reconnect(event, _):
        if event["exited"] == ["device-2"]:
            network.unplug(2)
            network.plug(9, device(files, "device-2"))

    run = federate(
        files, tmp_path / "run", network, "learning.rounds=6", on_round=reconnect, log=log
    )
    assert all(event["entered"] == [] for event in run.rounds)
    assert any("was dismissed; refused" in line for line in log)


@pytest.mark.parametrize("how", ["refuses", "silent"])
def test_a_device_that_always_leaves_without_a_word_is_dismissed(files, tmp_path, how):
    network, log = network_of(files, *THREE), []
    behave(network, 2, BEHAVIOURS[how])
    run = federate(files, tmp_path / "run", network, "learning.rounds=14", log=log)
    entered = [name for event in run.rounds for name in event["entered"]]
    assert entered == [f"device-2-{n}" for n in range(2, MAX_SILENT_DEPARTURES + 1)]
    assert any("dismissed" in line for line in log)


def test_a_device_that_is_out_of_line_stays_so_after_a_resume():
    detector = AnomalyDetector(10, 0.0)
    detector.suspect("a")
    detector.accept_figures("a", {"variance": 2.0})
    later = AnomalyDetector(10, 0.0)
    later.load_state_dict(detector.state_dict())
    later.suspect("a")
    later.suspect("a")
    assert later.to_dismiss(["a", "b"]) == ["a"]
    assert later.figures({"a": {"variance": 2.1e3}}).keys() == {"a"}
    assert later.figures({"a": {"variance": 1.9e3}}) == {}


def test_whoever_always_answers_in_the_last_second_is_suspicious():
    usual = {"a": 0.5, "b": 0.7, "c": 0.4}
    assert find_slow(usual | {"d": 29.0}, 30.0).keys() == {"d"}
    assert find_slow(usual | {"d": 1.9}, 3.0) == {}  # not long
    assert find_slow({"a": 20.0, "b": 22.0, "c": 29.0}, 30.0) == {}  # like the others
    assert find_slow({"a": 29.0}, 30.0) == {}


def test_text_of_devices_is_escaped_in_the_log(tmp_path):
    settings = ServerSettings(str(tmp_path))
    settings.log("device-1: refused (\ud800\x1b[2J\n12:00:00 device-2: dismissed)")
    (line,) = settings.log_file.read_text(encoding="utf-8").splitlines()
    assert line.isprintable()
    assert line.endswith("device-1: refused (\\ud800\\x1b[2J\\n12:00:00 device-2: dismissed)")


def test_histories_do_not_change_what_honest_devices_learn(files, tmp_path):
    """The detector only looks: without it, the numbers are the same."""
    watched = federate(files, tmp_path / "watched", network_of(files, *THREE))

    def stop_watching(_, simulation):
        simulation.remote.detector.harm = None

    network = network_of(files, *THREE)
    unwatched = federate(files, tmp_path / "unwatched", network, on_round=stop_watching)
    assert largest_difference(watched.rounds, unwatched.rounds) == 0
