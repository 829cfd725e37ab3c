"""Federations in which nobody waits: late devices are heard later, as in a simulation."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from federation_helpers import (
    InProcessNetwork,
    device,
    differences,
    largest_difference,
    scripted_scenario,
    server,
)

from scdn.federation.export_parties import export_parties
from scdn.federation.wire_format import decode
from scdn.methods import method, register_method
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
    """Replies to requests to train ahead come after so many looks for them, by node."""

    def __init__(self, looks):
        super().__init__()
        self.looks, self.due = looks, {}
        self.pulls = itertools.count()

    def push(self, node, raw, lasts_s):
        message_id = super().push(node, raw, lasts_s)
        frame = decode(raw)
        if frame.kind == "train" and frame.fields["ahead"]:
            self.due[message_id] = next(self.pulls) + self.looks.get(node, 1)
        return message_id

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
        "fleet.0.learning_rate=0.01",
    )
    log = []
    network = slow_network(tmp_path, scenario, {1: 30})
    federated = server(tmp_path, tmp_path / "run", network, log).run(scenario)
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
