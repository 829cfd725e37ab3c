"""Federations in which nobody waits: late devices are heard later, as in a simulation."""

from __future__ import annotations

import itertools
import subprocess
import sys
from dataclasses import replace

import pytest
from federation_helpers import (
    SETTINGS,
    THREE,
    InProcessNetwork,
    Killed,
    device,
    differences,
    largest_difference,
    scripted_scenario,
    server,
    small_scenario,
)
from malicious_behaviours import BEHAVIOURS, behave

from scdn.data import fetch
from scdn.errors import InputError
from scdn.federation.export_parties import export_parties
from scdn.federation.kept_states import KeptStates
from scdn.federation.server_settings import federated_scenario
from scdn.federation.wire_format import decode
from scdn.methods import method, register_method
from scdn.record.run_reader import read_run
from scdn.scenario import make_scenario, read_scenario
from scdn.simulation.runner import run
from scdn.world.churn import churn_trace

SCHEDULES = ("asynchronous", "buffered")
ONE_SLOW = "device-1"


@pytest.fixture(scope="module", autouse=True)
def _methods():
    """Methods that differ from sc-dn-greedy in their schedule alone."""
    for schedule in SCHEDULES:
        own = replace(method("max-vfl"), name=f"greedy-{schedule}", schedule=schedule)
        register_method(own)


class SlowNetwork(InProcessNetwork):
    """Replies to requests to train ahead come after so many looks for them, by node.

    So do replies to later requests: a device answers one after another.
    """

    def __init__(self, looks):
        super().__init__()
        self.looks, self.due, self.busy = looks, {}, {}
        self.pulls = itertools.count()

    def push(self, node, raw, lasts_s):
        message_id = super().push(node, raw, lasts_s)
        frame = decode(raw)
        if frame.kind == "train" and frame.fields["ahead"]:
            self.busy[node] = next(self.pulls) + self.looks.get(node, 1)
        self.due[message_id] = self.busy.get(node, 0)
        return message_id

    def start_again(self, node, device):
        """Let a device forget what it works on."""
        self.busy.pop(node, None)
        for message_id, replies in self.replies.items():
            self.replies[message_id] = [reply for reply in replies if reply.node != node]
        self.devices[node] = device

    def pull(self, message_ids):
        now = next(self.pulls)
        return super().pull([id_ for id_ in message_ids if self.due.get(id_, now) <= now])


def slow_network(folder, scenario, looks):
    export_parties(scenario, churn_trace(scenario), folder)
    network = SlowNetwork(looks)
    for node, name in enumerate(churn_trace(scenario).fleet.id.tolist(), 1):
        network.plug(node, device(folder, name))
    return network


def scenario_with_churn(folder, schedule, *settings):
    settings = (f"method=greedy-{schedule}", *settings)
    return scripted_scenario(folder, *settings)[0]


def replaying(scenario, folder):
    churn = scenario.churn.model_copy(update={"arrivals": str(folder)})
    return scenario.model_copy(update={"churn": churn})


def patient_server(folder, network, log):
    """Return a server that waits for late devices however busy this machine is."""
    federation = server(folder, folder / "run", network, log)
    federation._membership.messenger.timeout_s = 60.0
    return federation


def killed_and_resumed(folder, scenario, network):
    """Return a federation of six rounds whose server is killed after the third and resumed."""

    def kill(event, _):
        if event["round"] == 2:
            raise Killed

    with pytest.raises(Killed):
        server(folder, folder / "run", network).run(scenario, on_round=kill)
    recorded = server(folder, folder / "run", network).resume()
    assert [event["round"] for event in recorded.rounds] == list(range(6))
    times = [a["at_s"] for event in recorded.rounds for a in event["arrivals"]]
    assert times == sorted(times)
    return recorded


def arrivals(recorded):
    return [[(a["id"], a["staleness"]) for a in event["arrivals"]] for event in recorded.rounds]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("step", "optimizer", "bits", "table_rounds"),
    [
        ("searched", "adam", 32, 0),
        ("searched", "adam", 4, 3),
        ("fitted", "sgd", 32, 0),
        ("rate", "adam", 4, 3),
    ],
)
def test_with_recorded_arrivals_events_are_those_of_a_simulation(
    tmp_path, schedule, step, optimizer, bits, table_rounds
):
    """Reports come as they like; a simulation with their order has the same events."""
    scenario = scenario_with_churn(
        tmp_path,
        schedule,
        f'learning.step="{step}"',
        f'learning.server_optimizer="{optimizer}"',
        f"learning.number_bits={bits}",
        f"learning.table_rounds={table_rounds}",
        "learning.steps_per_iteration=1",  # stale gradients of long steps diverge
        f'learning.damping="{"active" if step == "rate" else "none"}"',
    )
    log = []
    network = slow_network(tmp_path, scenario, {1: 30})
    federated = patient_server(tmp_path, network, log).run(scenario)
    assert not any("dropped" in line or "refused" in line for line in log)
    simulated = run(replaying(scenario, tmp_path / "run"), tmp_path / "simulated")
    late = [a for event in federated.rounds for a in event["arrivals"] if a["id"] == ONE_SLOW]
    assert max((a["staleness"] for a in late), default=9) > 1
    assert arrivals(simulated) == arrivals(federated)
    assert len(list(differences(simulated.rounds, federated.rounds))) > 300
    assert largest_difference(simulated.rounds, federated.rounds) < 1e-9
    # The same order again, whatever the devices' own pace is now.
    again = server(tmp_path, tmp_path / "again", slow_network(tmp_path, scenario, {2: 10}))
    repeated = again.run(replaying(scenario, tmp_path / "run"))
    assert largest_difference(repeated.rounds, federated.rounds) < 1e-9


SLOW_FLEET = (
    'fleet=[{kind="device", count=2, flops_per_cycle=0.0066, cpu_max_hz=2.3e9}, '
    '{kind="slow", count=1, flops_per_cycle=0.0066, cpu_max_hz=2.3e8}]'
)


def mission_scenario(*settings):
    """Return a scenario of a mission in a hurry, with a device whose clock is ten times slower."""
    fetch("digits")
    shared = [s for s in SETTINGS if not s.startswith(("fleet", "method"))]
    mission = ("method=mission", "mission.goal=time", "mission.target=top1=99", SLOW_FLEET)
    deadline = "learning.compute_deadline_s=1"
    quiet = ("churn.exits=false", "learning.rounds=6")
    return federated_scenario(
        read_scenario("examples/quick.toml", (*shared, *mission, deadline, *quiet, *settings))
    )


@pytest.mark.parametrize("bits", [(), (4,)])
def test_a_mission_that_goes_on_without_a_slow_device_has_the_events_of_a_simulation(
    tmp_path, bits
):
    scenario = mission_scenario(f"mission.bits={list(bits)}")
    log = []
    network = slow_network(tmp_path, scenario, {3: 25})
    federated = patient_server(tmp_path, network, log).run(scenario)
    assert not any("dropped" in line or "refused" in line for line in log)
    assert federated.rounds[0]["plan"]["waits_for"] == ["device-1", "device-2"]
    simulated = run(replaying(scenario, tmp_path / "run"), tmp_path / "simulated")
    assert arrivals(simulated) == arrivals(federated)
    assert len(list(differences(simulated.rounds, federated.rounds))) > 300
    assert largest_difference(simulated.rounds, federated.rounds) < 1e-9


def test_a_federated_mission_waits_for_all_where_seconds_have_no_price(tmp_path):
    scenario = mission_scenario("mission.goal=energy")
    network = slow_network(tmp_path, scenario, {})
    federated = server(tmp_path, tmp_path / "run", network).run(scenario)
    simulated = run(scenario, tmp_path / "simulated")
    assert all("arrivals" not in event for event in federated.rounds)
    assert largest_difference(simulated.rounds, federated.rounds) < 1e-9


def test_a_restarted_server_of_a_mission_goes_on(tmp_path):
    scenario = mission_scenario()
    network = slow_network(tmp_path, scenario, {3: 1000})
    killed_and_resumed(tmp_path, scenario, network)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_events_name_devices_that_are_left_out_of_any_arrival(tmp_path, schedule):
    settings = ("learning.rounds=6", "churn.exits=false", f"method=greedy-{schedule}")
    scenario = small_scenario(*settings)
    network, log = slow_network(tmp_path, scenario, {}), []
    behave(network, 2, BEHAVIOURS["scaled by 1000"])
    recorded = patient_server(tmp_path, network, log).run(scenario)
    told = {line.partition(":")[0] for line in log if "left out of round" in line}
    assert told == {"device-2"}
    named = [event["federation"]["left_out"].keys() for event in recorded.rounds]
    rounds = {line.partition("round ")[2].partition(":")[0] for line in log if "left out" in line}
    assert {str(n + 1) for n, names in enumerate(named) if names} == rounds


def test_a_device_that_is_not_ready_is_late_and_not_gone(tmp_path):
    """It is left alone while it works, and its report is used when it comes."""
    settings = ("learning.rounds=8", "churn.exits=false", "method=greedy-buffered")
    scenario = small_scenario(*settings)
    log = []
    network = slow_network(tmp_path, scenario, {1: 20})
    recorded = patient_server(tmp_path, network, log).run(scenario)
    assert all(event["exited"] == [] and event["link_failed"] == [] for event in recorded.rounds)
    late = [(e["round"], a) for e in recorded.rounds for a in e["arrivals"] if a["id"] == ONE_SLOW]
    assert late
    index, report = late[0]
    assert report["staleness"] == index > 0
    assert [len(e["arrivals"]) for e in recorded.rounds] == [2] * 8  # of three
    assert not any("no reply" in line or "left" in line for line in log)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_device_that_disconnects_while_it_works_has_left(tmp_path, schedule):
    settings = ("learning.rounds=6", "churn.exits=false", f"method=greedy-{schedule}")
    scenario = small_scenario(*settings)
    network = slow_network(tmp_path, scenario, {1: 10_000})

    def unplug(event, _):
        if event["round"] == 1:
            network.unplug(1)

    log = []
    recorded = server(tmp_path, tmp_path / "run", network, log).run(scenario, on_round=unplug)
    assert len(recorded.rounds) == 6
    assert sum(line.startswith(f"{ONE_SLOW}: has left, in round ") for line in log) == 1
    exits = [name for event in recorded.rounds for name in event["exited"]]
    assert exits == [ONE_SLOW]
    assert all(event["arrivals"] for event in recorded.rounds)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_device_that_is_killed_while_it_works_and_started_again_at_once_is_back(
    tmp_path, schedule
):
    """It goes on at the node of the process that was killed, so that it is never disconnected."""
    settings = ("learning.rounds=12", "churn.exits=false", f"method=greedy-{schedule}")
    scenario, kept, log = small_scenario(*settings), KeptStates(tmp_path / "state"), []
    network = slow_network(tmp_path, scenario, dict.fromkeys((1, 2, 3), 10))
    network.devices[1] = device(tmp_path, ONE_SLOW, kept=kept)
    network.looks[1] = 10_000

    def start_again(event, _):
        if event["round"] == 1:
            network.looks[1] = 10
            network.start_again(1, device(tmp_path, ONE_SLOW, kept=kept))

    federation = server(tmp_path, tmp_path / "run", network, log, patience_s=600.0)
    messenger, now = federation._membership.messenger, [0.0]
    messenger.timeout_s, messenger.clock = 3.0, lambda: now[0]  # work may take 60 s
    messenger.sleep = lambda seconds: now.__setitem__(0, now[0] + seconds)
    recorded = federation.run(scenario, on_round=start_again)
    assert f"{ONE_SLOW}: no longer works on what it was asked" in log
    assert f"{ONE_SLOW}: is back" in log
    assert all(event["exited"] == [] for event in recorded.rounds)
    assert any(a["id"] == ONE_SLOW for event in recorded.rounds for a in event["arrivals"])


def test_a_restarted_server_lets_devices_begin_again(tmp_path):
    settings = ("learning.rounds=6", "churn.exits=false", "method=greedy-asynchronous")
    scenario = small_scenario(*settings)
    network = slow_network(tmp_path, scenario, {1: 40})
    recorded = killed_and_resumed(tmp_path, scenario, network)
    assert {a["id"] for event in recorded.rounds for a in event["arrivals"]} >= set(THREE[1:])


def test_gradients_of_the_moment_of_arrival_cannot_be_federated():
    with pytest.raises(InputError, match=r"learning\.gradients.*must be start"):
        small_scenario('learning.gradients="arrival"')


def test_recorded_arrivals_must_be_of_the_same_scenario(tmp_path):
    waits = run(small_scenario("learning.rounds=1"), tmp_path / "waits")
    assert "arrivals" not in waits.rounds[0]
    scenario = small_scenario("learning.rounds=2", "method=greedy-buffered", "churn.exits=false")
    with pytest.raises(InputError, match="has no arrivals"):
        run(replaying(scenario, tmp_path / "waits"), tmp_path / "one")
    run(scenario, tmp_path / "short")
    longer = small_scenario("learning.rounds=3", "method=greedy-buffered", "churn.exits=false")
    with pytest.raises(InputError, match="the run goes on"):
        run(replaying(longer, tmp_path / "short"), tmp_path / "two")


def test_processes_of_which_one_is_slow_have_the_events_of_a_simulation(tmp_path):
    """Real processes, whatever the order of their reports: a simulation repeats it."""
    out = tmp_path / "run"
    settings = (*SETTINGS, "learning.rounds=4", "churn.exits=false", "method=max-vfl-buffered")
    options = [word for setting in settings for word in ("--set", setting)]
    command = [sys.executable, "-m", "scdn.cli", "federate", "local", "examples/quick.toml"]
    done = subprocess.run([*command, *options, "--out", out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    recorded = read_run(out)
    assert [len(event["arrivals"]) for event in recorded.rounds] == [2] * 4  # of three
    scenario = make_scenario(recorded.scenario, "events")
    simulated = run(replaying(scenario, out), tmp_path / "simulated")
    assert arrivals(simulated) == arrivals(recorded)
    assert largest_difference(simulated.rounds, recorded.rounds) < 1e-5
