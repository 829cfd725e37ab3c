"""Whole runs keep the books, meet the same luck and obey their plans, whatever the method."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from conftest import LONG, many

from scdn import methods as known
from scdn.control.plan import make_plan
from scdn.control.problem import Decision
from scdn.data import fetch
from scdn.errors import InputError
from scdn.file_io import merge_tables
from scdn.learning.vertical_model import VerticalModel
from scdn.methods import Method, methods, register
from scdn.record.run_reader import EVENTS, read_run
from scdn.rng import generator
from scdn.scenario import make_scenario
from scdn.simulation.runner import REFERENCE_FOLDER, create_simulation, mean_iterations, resume, run
from scdn.world.churn import make_trace
from scdn.world.geometry import server_start

METHODS = {method.name: method for method in methods() if method.name != "sc-dn-paper"}
RIVALS = [name for name, method in METHODS.items() if method.rival]
TWINS = ["max-vfl", "gsp", "vafl"]
FORGETFUL = [name for name, method in METHODS.items() if method.memory == "zero-out"]
KEEPING = [name for name, method in METHODS.items() if method.memory == "keep"]

# A perceptron of 1,210 connections in place of 50,890: report time and FLOPs shrink with it, so
# that clocks, powers and reach matter as they do by default.
BASE = {
    "max_delay_s": 0.00143,
    "fleet": [
        {
            "kind": "d",
            "count": 6,
            "altitude_m": [0, 30],
            "flops_per_cycle": [1.9e-5, 4.4e-5],
            "optimizers": ["sgd", "proximal", "momentum"],
            "weibull_scale_rounds": 8.0,
        }
    ],
    "churn": {"entry_rate": 0.7},
    "learning": {
        "dataset": "digits",
        "model": "mlp",
        "hidden": 16,
        "fusion_hidden": 8,
        "rounds": 4,
        "sample_rows": 64,
        "batch_size": 16,
        "input": "masked",
    },
}


def scenario(**wishes):
    return make_scenario(merge_tables(BASE, wishes))


def device(name, place, entered=None, exited=None, **wishes):
    where = {"id": name, "position_m": place, "flops_per_cycle": 3e-5}
    return where | {"entered": entered, "exited": exited} | wishes


# Two leave at once, the network is empty for a round, and then all are new.
SCRIPT = [
    device("a", [20, 20, 0], exited=1),
    device("b", [80, 30, 10], exited=2),
    device("c", [40, 90, 0], exited=1),
    device("n", [60, 60, 0], entered=3, optimizer={"kind": "momentum", "rho": 0.2}),
    device("m", [10, 95, 25], entered=3, exited=5),
]


def scripted(folder, devices=SCRIPT, rounds=6, **wishes):
    path = folder / f"trace-{len(list(folder.glob('trace-*')))}.json"
    make_trace({"rounds": rounds, "devices": devices}).save(path)
    script = {"churn": {"trace": str(path)}, "fleet": [], "learning": {"rounds": rounds}}
    return scenario(**merge_tables(script, wishes))


def drawn_at_random(number):
    """A random corner of the scenarios there are."""
    draw = generator(number, "test-simulation")

    def one_of(*options):
        return options[int(draw.integers(len(options)))]

    group = {**BASE["fleet"][0], "count": int(draw.integers(1, 6))}
    return scenario(
        seed=number,
        fleet=[group | {"weibull_scale_rounds": float(draw.uniform(2, 20))}],
        max_iterations=int(draw.integers(1, 7)),
        max_delay_s=float(BASE["max_delay_s"] * draw.uniform(0.8, 1.3)),
        server={"start": one_of("centre", "random", "origin", "max", "random-edge")},
        churn={"entry_rate": float(draw.uniform(0, 2)), "quiet_rounds": int(draw.integers(3))},
        fading={"mode": one_of("none", "drawn")},
        learning={
            "rounds": int(draw.integers(3, 6)),
            "steps_per_iteration": int(draw.integers(1, 3)),
            "input": one_of("own", "masked"),
            "labels": one_of("shared", "server"),
            "damping": one_of("none", "active", "fitted"),
            "server_turn": one_of("parallel", "after"),
            "payload": one_of("model", "model", "embeddings"),
            "imputation": one_of("zero", "mean", "learned"),
            "redraw_optimizers": one_of(True, False),
        },
    )


CASES = ["plain", "drawn", "scripted", *range(many(10))]


def spared(case, name):
    """Names for what other methods do too are not run everywhere in the short profile."""
    return not LONG and case not in ("plain", "scripted") and name in ("sc-dn-greedy", "zoc-greedy")


def grid(names, cases=CASES):
    pairs = [(case, name) for case in cases for name in names if not spared(case, name)]
    return [pytest.param(case, name) for case, name in pairs]


class World:
    """Scenarios by case, and each run once, with what was seen on the way."""

    def __init__(self, folder):
        self.folder = folder
        self.runs = {}
        self.scenarios = {
            "plain": scenario(seed=3),
            "drawn": scenario(seed=3, fading={"mode": "drawn"}),
            "scripted": scripted(folder, seed=1, learning={"input": "own", "labels": "server"}),
        }

    def scenario(self, case, name="sc-dn"):
        if case not in self.scenarios:
            self.scenarios[case] = drawn_at_random(case)
        return self.scenarios[case].model_copy(update={"method": name})

    def run(self, case, name):
        if (case, name) not in self.runs:
            reference = self.run(case, "sc-dn").run.folder if METHODS[name].rival else None
            try:
                self.runs[case, name] = self._run(case, name, reference)
            except Exception as error:  # the same for every test that asks
                self.runs[case, name] = error
        found = self.runs[case, name]
        if isinstance(found, Exception):
            raise found
        return found

    def _run(self, case, name, reference):
        batches, rounds = {}, []
        begin_round = VerticalModel._begin_round

        def recording(model, round_index, local_steps, server_steps, training_parties, arrival):
            pending = begin_round(
                model, round_index, local_steps, server_steps, training_parties, arrival
            )
            batches[round_index, arrival] = pending.batches.numpy()
            return pending

        def watch(event, simulation):
            server = simulation.model.server
            rounds.append(
                SimpleNamespace(
                    members=server.fusion.members,
                    present=simulation.model.present,
                    metrics=by_hand(server),
                    kept={n: e.test.clone() for n, e in server.memory.embeddings.items()},
                    event=event,
                )
            )
            rounds[0].simulation = simulation

        place = self.folder / f"{case}-{name}"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(VerticalModel, "_begin_round", recording)
            found = run(self.scenario(case, name), place, reference=reference, on_round=watch)
        return SimpleNamespace(run=found, batches=batches, rounds=rounds)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    fetch("digits")
    return World(tmp_path_factory.mktemp("runs"))


def by_hand(server):
    """Test loss and accuracy from the logits, in NumPy."""
    logits, truth = server.predict().double().numpy(), server.test_targets.numpy()
    logits = logits - logits.max(axis=1, keepdims=True)
    right = logits[np.arange(len(truth)), truth]
    loss = (np.log(np.exp(logits).sum(axis=1)) - right).mean()
    return {"test_loss": loss, "top1": 100 * (logits.argmax(axis=1) == truth).mean()}


# --- the books ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "name"), grid(METHODS))
def test_totals_are_sums_over_events(world, case, name):
    found = world.run(case, name).run
    totals, rounds = found.end["energy"], found.rounds

    def close(value, expected):
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-300)

    for term in ("transmission_j", "processing_j", "bits_sent"):
        close(totals[term], sum(device[term] for e in rounds for device in e["devices"]))
    for term in ("hover_j", "climb_j", "lateral_j", "movement_j"):
        close(totals[term], sum(e["server"][term] for e in rounds))
    close(totals["bits_sent"], sum(e["bits_sent"] for e in rounds))
    close(totals["latency_s"], sum(e["latency_s"] for e in rounds))
    close(
        totals["total_j"],
        totals["transmission_j"] + totals["processing_j"] + totals["movement_j"],
    )
    summary = json.loads((found.folder / "summary.json").read_text())
    assert found.end == {"event": "end", **summary}
    assert found.end["metrics"] == rounds[-1]["metrics"]
    assert (found.end["status"], found.end["rounds"]) == ("done", len(rounds))
    assert found.end["fallbacks"] == 0


def path_loss(server, place, radio, sight=None, shadow=None, fading=None):
    """The contract's path loss without a margin; drawn around it if there is luck."""
    link = radio.a2a if place[2] > 0 and server[2] > 0 else radio.a2g
    d = math.dist(server, place)
    theta = math.degrees(math.asin(min(1.0, abs(server[2] - place[2]) / d))) if d else 0.0
    p = 1 / (1 + link.los_scale * math.exp(-link.los_slope * (theta - link.los_scale)))
    wave = 4 * math.pi * radio.carrier_hz * max(d, radio.min_distance_m) / 299_792_458
    los, nlos = 10 ** (link.los_loss_db / 10), 10 ** (link.nlos_loss_db / 10)
    if sight is None:
        return wave**link.exponent * (p * los + (1 - p) * nlos)
    sigma = math.log(10) / 10 * (fading.los_shadow_db if sight < p else fading.nlos_shadow_db)
    excess = los if sight < p else nlos
    return wave**link.exponent * excess * math.exp(sigma * shadow - sigma**2 / 2)


def true_delay(setting, server, entry, payload, bandwidth, luck):
    radio = setting.radio
    loss = path_loss(server, entry["position_m"], radio, *luck, setting.fading)
    noise = 10 ** (radio.noise_dbm_per_hz / 10) * 1e-3 * bandwidth
    rate = bandwidth * math.log1p(entry["power_w"] / (noise * loss)) / math.log(2)
    return payload / rate if rate else math.inf


@pytest.mark.parametrize(("case", "name"), grid(METHODS))
def test_energies_follow_the_contract(world, case, name):
    found = world.run(case, name)
    simulation, setting = found.rounds[0].simulation, world.scenario(case)
    fleet, learning = simulation.trace.fleet, setting.learning
    index = {device: n for n, device in enumerate(fleet.id)}
    begun = []  # cycles that a party may have begun, in this round or an earlier one
    for event in found.run.rounds:
        draw = generator(setting.seed, "fading", event["round"])
        sight, shadow = draw.uniform(size=len(fleet)), draw.standard_normal(len(fleet))
        server, nobody_waits = event["server"]["position_m"], "arrivals" in event
        for entry in event["devices"]:
            n, who = index[entry["id"]], entry["id"]
            connections = simulation.model.connections[who]
            (payload,) = simulation.data.payload_bits(np.array([float(connections)]))
            sends, failed = entry["active"] and who not in event["exited"], False
            if sends:
                luck = (None, None) if setting.fading.mode == "none" else (sight[n], shadow[n])
                delay = true_delay(
                    setting, server, entry, payload, setting.radio.bandwidth_hz, luck
                )
                failed = delay > setting.max_delay_s * (1 + 1e-9)
                on_air = setting.max_delay_s if failed else delay
                assert entry["delay_s"] == pytest.approx(on_air, rel=1e-9)
            else:
                assert entry["delay_s"] is None
            assert (who in event["link_failed"]) == failed
            sent = entry["power_w"] * (entry["delay_s"] or 0)
            bits = payload if sends and not failed else 0
            q = learning.steps_per_iteration * entry["iterations"]
            work = q * 3 * connections * fleet.capacitance[n] * learning.batch_size
            computed = work / (2 * fleet.flops_per_cycle[n]) * entry["cpu_hz"] ** 2
            if not nobody_waits or who in event["exited"]:
                assert entry["transmission_j"] == pytest.approx(sent, rel=1e-9)
                assert entry["bits_sent"] == bits
                assert entry["processing_j"] == pytest.approx(computed, rel=1e-9)
                continue
            begun.append((who, q, sent, computed, bits))
            mine = [arrival for arrival in event["arrivals"] if arrival["id"] == who]
            for term in ("transmission_j", "processing_j", "bits_sent"):
                total = sum(arrival[term] for arrival in mine)
                assert entry[term] == pytest.approx(total, rel=1e-12)
            for arrival in mine:
                assert any(
                    (arrival["transmission_j"], arrival["processing_j"], arrival["bits_sent"])
                    == pytest.approx(cycle[2:], rel=1e-9)
                    for cycle in begun
                    if cycle[0] == who and (arrival["dropped"] or cycle[1] == arrival["steps"])
                )


@pytest.mark.parametrize(("case", "name"), grid(METHODS))
def test_movement_follows_the_contract(world, case, name):
    setting = world.scenario(case)
    region, costs = setting.region_m, setting.movement
    before = server_start(setting).tolist()
    for event in world.run(case, name).run.rounds:
        after = event["server"]["position_m"]
        hover = costs.hover_j * math.exp(after[2] / costs.altitude_scale_m)
        climb = 0.0
        if after[2] > before[2]:
            climb = costs.climb_j * math.log((region[2] - before[2]) / (region[2] - after[2]))
        lateral = costs.lateral_j_per_m * math.dist(before[:2], after[:2])
        for term, expected in (("hover", hover), ("climb", climb), ("lateral", lateral)):
            assert event["server"][f"{term}_j"] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        total = sum(event["server"][f"{term}_j"] for term in ("hover", "climb", "lateral"))
        assert event["server"]["movement_j"] == pytest.approx(total, rel=1e-12)
        before = after


@pytest.mark.parametrize(("case", "name"), grid(METHODS))
def test_a_round_lasts_until_its_slowest_report(world, case, name):
    found, learning = world.run(case, name), world.scenario(case).learning
    simulation = found.rounds[0].simulation
    fleet = simulation.trace.fleet
    flops = dict(zip(fleet.id, fleet.flops_per_cycle, strict=True))
    clock = 0.0
    for event in found.run.rounds:
        spent = []
        for entry in event["devices"]:
            if entry["active"] and entry["id"] not in event["exited"]:
                q = learning.steps_per_iteration * entry["iterations"]
                work = 3 * q * learning.batch_size * simulation.model.connections[entry["id"]]
                spent.append(work / flops[entry["id"]] / entry["cpu_hz"] + entry["delay_s"])
                assert spent[-1] <= learning.compute_deadline_s * (1 + 1e-9) + entry["delay_s"]
        if METHODS[name].schedule == "synchronous":
            assert event["latency_s"] == pytest.approx(max(spent, default=0.0), rel=1e-9)
        elif spent:
            clock += event["latency_s"]
            assert event["arrivals"][-1]["at_s"] == pytest.approx(clock, rel=1e-9)


# --- who is there ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "name"), grid(METHODS))
def test_who_is_there_and_who_works(world, case, name):
    setting = world.scenario(case)
    found = world.run(case, name)
    present, gone = None, set()
    for event, seen in zip(found.run.rounds, found.rounds, strict=True):
        ids = [entry["id"] for entry in event["devices"]]
        here, entered, exited = set(ids), set(event["entered"]), set(event["exited"])
        assert len(ids) == len(here)
        assert present is None or here == present
        assert not here & gone
        assert exited <= here
        assert not entered & (here | gone)
        assert event["active"] == [e["id"] for e in event["devices"] if e["active"]]
        assert set(event["link_failed"]) <= set(event["active"]) - exited
        for entry in event["devices"]:
            assert isinstance(entry["iterations"], int)
            assert 0 <= entry["iterations"] <= setting.max_iterations
            assert (entry["reason"] is None) == entry["active"]
            if not entry["active"]:
                nothing = ("iterations", "power_w", "transmission_j", "processing_j", "bits_sent")
                assert [entry[key] for key in nothing] == [0] * 5
                assert entry["delay_s"] is None
            if entry["id"] in exited:
                assert (entry["transmission_j"], entry["bits_sent"]) == (0, 0)
                worked = entry["active"] and entry["iterations"] > 0
                assert (entry["processing_j"] > 0) == worked
            assert 1 <= entry["importance"] <= setting.learning.importance_max
        gone |= exited
        present = (here - exited) | entered
        assert set(seen.present) == present
    assert [e["round"] for e in found.run.rounds] == list(range(setting.learning.rounds))


def test_the_script_is_followed(world):
    rounds = world.run("scripted", "sc-dn").run.rounds
    assert [[entry["id"] for entry in e["devices"]] for e in rounds] == [
        ["a", "b", "c"], ["a", "b", "c"], ["b"], [], ["n", "m"], ["n", "m"],
    ]  # fmt: skip
    assert [e["exited"] for e in rounds] == [[], ["a", "c"], ["b"], [], [], ["m"]]
    assert [e["entered"] for e in rounds] == [[], [], [], ["n", "m"], [], []]
    new = [entry["importance"] for entry in rounds[4]["devices"]]
    assert new == [1, 1]


# --- the same luck for all ------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "name"), grid(METHODS))
def test_methods_meet_the_same_network(world, case, name):
    ours, theirs = world.run(case, name).run.rounds, world.run(case, "sc-dn").run.rounds
    for one, other in zip(ours, theirs, strict=True):
        assert (one["entered"], one["exited"]) == (other["entered"], other["exited"])
        for key in ("id", "position_m", "survival"):
            assert [e[key] for e in one["devices"]] == [e[key] for e in other["devices"]]


@pytest.mark.parametrize("case", CASES)
def test_methods_start_from_the_same_models(world, case):
    expected = create_simulation(world.scenario(case), ())
    expected_arrays, expected_values = expected.model.state_dict()
    for name in METHODS:
        found = create_simulation(world.scenario(case, name), ())
        arrays, values = found.model.state_dict()
        assert found.initial_loss == expected.initial_loss
        assert found.model.metrics() == expected.model.metrics()
        assert values["parties"] == expected_values["parties"]
        assert values["server"]["members"] == expected_values["server"]["members"]
        assert arrays.keys() == expected_arrays.keys()
        assert all(np.array_equal(arrays[key], expected_arrays[key]) for key in arrays)


@pytest.mark.parametrize(("case", "name"), grid(METHODS))
def test_methods_draw_the_same_batches(world, case, name):
    """Asynchronous ones draw by arrival, and are compared with each other."""
    rival = "sc-dn" if METHODS[name].schedule == "synchronous" else "vafl"
    ours, theirs = world.run(case, name).batches, world.run(case, rival).batches
    both = ours.keys() & theirs.keys()
    assert both or not ours
    if rival == "sc-dn":
        assert ours.keys() == theirs.keys()
    for key in both:
        steps = min(len(ours[key]), len(theirs[key]))
        assert np.array_equal(ours[key][:steps], theirs[key][:steps])


# --- rivals and their twins -----------------------------------------------------------------------


@pytest.mark.parametrize(("case", "name"), grid(RIVALS))
def test_rivals_take_the_mean_iterations(world, case, name):
    found, learning = world.run(case, name), world.scenario(case).learning
    simulation = found.rounds[0].simulation
    fleet = simulation.trace.fleet
    index = {device: n for n, device in enumerate(fleet.id)}
    reference = world.run(case, "sc-dn").run.rounds
    for event, other in zip(found.run.rounds, reference, strict=True):
        counts = [entry["iterations"] for entry in other["devices"]]
        mean = sum(counts) / len(counts) if counts else 0
        for entry in event["devices"]:
            n, connections = index[entry["id"]], simulation.model.connections[entry["id"]]
            once = 3 * learning.steps_per_iteration * learning.batch_size * connections
            budget = fleet.cpu_max_hz[n] * learning.compute_deadline_s * fleet.flops_per_cycle[n]
            most = math.floor(budget / once * (1 + 1e-12))
            allowed = {min(math.floor(mean), most), min(math.ceil(mean), most)}
            assert entry["iterations"] in (allowed if entry["active"] else {0})


def test_rivals_draw_floor_or_ceiling_with_that_mean():
    luck = generator(0, "test").random(20_000)
    found = known.rival_iterations(2.3, np.full(20_000, 5.0), luck)
    assert set(found) == {2.0, 3.0}
    assert found.mean() == pytest.approx(2.3, abs=0.02)
    assert set(known.rival_iterations(4.0, np.full(20_000, 5.0), luck)) == {4.0}
    assert set(known.rival_iterations(4.5, np.full(20_000, 3.7), luck)) == {3.0}


@pytest.mark.parametrize(("case", "name"), grid(TWINS))
def test_matched_methods_spend_less_on_the_same(world, case, name):
    maximum, matched = world.run(case, name).run, world.run(case, f"{name}-matched").run
    for one, other in zip(maximum.rounds, matched.rounds, strict=True):
        assert one["server"] == other["server"]
        heard = [Counter(a["id"] for a in e.get("arrivals", ())) for e in (one, other)]
        for ours, theirs in zip(one["devices"], other["devices"], strict=True):
            assert ours["iterations"] == theirs["iterations"]
            assert theirs["power_w"] <= ours["power_w"] * (1 + 1e-12)
            assert theirs["cpu_hz"] <= ours["cpu_hz"]
            for term in ("transmission_j", "processing_j"):
                most, least = ours[term], theirs[term]
                if METHODS[name].schedule == "asynchronous" and ours["id"] not in one["exited"]:
                    if not heard[0][ours["id"]] or not heard[1][ours["id"]]:
                        continue  # compared per report, and one had none
                    most, least = most / heard[0][ours["id"]], least / heard[1][ours["id"]]
                assert least <= most * (1 + 1e-9)


def test_the_reference_is_made_and_kept(world, tmp_path):
    found = run(world.scenario("plain", "gsp"), tmp_path / "gsp")
    kept = read_run(tmp_path / "gsp" / REFERENCE_FOLDER)
    expected = world.run("plain", "sc-dn").run
    assert (kept.method, kept.seed) == ("sc-dn", 3)
    assert timeless(kept) == timeless(expected)
    assert mean_iterations(kept) == mean_iterations(expected)
    assert timeless(found) == timeless(world.run("plain", "gsp").run)


def timeless(found):
    """A run's events without how long they took."""
    events = [found.start, *found.rounds, *([found.end] if found.end else [])]
    events = json.loads(json.dumps(events))
    for event in events:
        event.pop("seconds", None)
        event.get("plan", {}).pop("solve_seconds", None)
    return events


def one_line(error):
    text = str(error.value)
    assert text
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    "wishes", [{"seed": 4}, {"max_iterations": 4}, {"learning": {"rounds": 7}}], ids=str
)
def test_a_wrong_reference_is_refused(world, tmp_path, wishes):
    other = scenario(**merge_tables({"seed": 3, "method": "gsp"}, wishes))
    folder = world.run("plain", "sc-dn").run.folder
    with pytest.raises(InputError) as error:
        run(other, tmp_path / "out", reference=folder)
    assert ": reference: " in one_line(error)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "wishes", [{"fleet": [{**BASE["fleet"][0], "count": 3}]}, {"max_delay_s": 0.01}], ids=[0, 1]
)
def test_a_reference_of_another_network_is_refused(world, tmp_path, wishes):
    folder = world.run("plain", "sc-dn").run.folder
    with pytest.raises(InputError):
        run(scenario(seed=3, method="gsp", **wishes), tmp_path / "out", reference=folder)


def test_a_reference_from_before_a_setting_existed_fits(world, tmp_path):
    folder = tmp_path / "reference"
    folder.mkdir()
    text = (world.run("plain", "sc-dn").run.folder / EVENTS).read_text()
    older = text.replace('"smoothness":"norms",', "", 1).replace('"smoothness": "norms", ', "", 1)
    assert older != text
    (folder / EVENTS).write_text(older)
    found = run(world.scenario("plain", "vafl"), tmp_path / "out", reference=folder)
    assert timeless(found) == timeless(world.run("plain", "vafl").run)


def test_measured_smoothness_is_new_in_every_round(tmp_path):
    fetch("digits")
    learning = {"smoothness": "measured", "rounds": 3}
    for name in ("sc-dn", "vafl"):
        found = run(scenario(seed=3, method=name, learning=learning), tmp_path / name)
        told = [{d["id"]: d["smoothness"] for d in event["devices"]} for event in found.rounds]
        for earlier, later in pairwise(told):
            both = earlier.keys() & later.keys()
            assert both
            if name == "sc-dn":  # whether it trained or rested
                assert all(earlier[device] != later[device] for device in both)
            else:  # nothing is measured: the scenario's own
                assert set(later.values()) == {0.5}


def test_an_unfinished_reference_is_refused(world, tmp_path):
    folder = tmp_path / "reference"
    folder.mkdir()
    lines = (world.run("plain", "sc-dn").run.folder / EVENTS).read_text().splitlines(True)
    (folder / EVENTS).write_text("".join(lines[:3]))
    with pytest.raises(InputError) as error:
        run(world.scenario("plain", "vafl"), tmp_path / "out", reference=folder)
    assert "has not ended" in one_line(error)


def test_a_reference_of_another_method_is_refused(world, tmp_path):
    with pytest.raises(InputError):
        run(
            world.scenario("plain", "gsp"),
            tmp_path / "out",
            reference=world.run("plain", "max-vfl").run.folder,
        )


def test_a_reference_that_lies_beside_must_fit(world, tmp_path):
    """Begun with seed 4 and stopped during its reference, then begun with seed 3."""
    run(scenario(seed=4), tmp_path / "out" / REFERENCE_FOLDER)
    try:
        found = run(world.scenario("plain", "gsp"), tmp_path / "out")
    except InputError:
        return
    assert timeless(found) == timeless(world.run("plain", "gsp").run)


# --- memories -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "name"), grid(FORGETFUL))
def test_zero_out_forgets_who_left(world, case, name):
    for seen in world.run(case, name).rounds:
        assert set(seen.members) == set(seen.present)
        if "future" in seen.event["metrics"]:
            cached = {
                k: seen.event["metrics"][k] for k in ("train_loss", "test_loss", "top1", "top3")
            }
            assert seen.event["metrics"]["future"] == cached


@pytest.mark.parametrize(("case", "name"), grid(KEEPING))
def test_keep_keeps_everybody(world, case, name):
    ever, kept = [], {}
    for seen in world.run(case, name).rounds:
        ever += [n for n in (e["id"] for e in seen.event["devices"]) if n not in ever]
        ever += seen.event["entered"]
        assert list(seen.members) == ever
        assert set(kept) <= set(seen.kept)
        assert all(torch.equal(kept[n], seen.kept[n]) for n in kept)  # frozen when it left
        kept = seen.kept
        assert set(kept) == set(ever) - set(seen.present)


@pytest.mark.parametrize(("case", "name"), grid(METHODS))
def test_metrics_are_those_of_the_models(world, case, name):
    exits, setting = 0, world.scenario(case)
    for seen in world.run(case, name).rounds:
        metrics = seen.event["metrics"]
        assert {key: metrics[key] for key in seen.metrics} == pytest.approx(seen.metrics, rel=1e-5)
        assert metrics["top1"] <= metrics["top3"]
        exits += len(seen.event["exited"])
        assert ("future" in metrics) == (exits > 0)
        if exits:
            shown = metrics["future_by"][setting.learning.imputation]
            assert metrics["future"] == {"train_loss": metrics["train_loss"], **shown}


# --- the asynchronous schedule --------------------------------------------------------------------

VAFL = [name for name, method in METHODS.items() if method.schedule == "asynchronous"]


@pytest.mark.parametrize(("case", "name"), grid(VAFL))
def test_as_many_arrive_as_take_part(world, case, name):
    before = 0.0
    for event in world.run(case, name).run.rounds:
        works = {entry["id"] for entry in event["devices"] if entry["iterations"] > 0}
        takes_part = set(event["active"]) & works - set(event["exited"])
        arrivals = event["arrivals"]
        assert len(arrivals) == (len(event["devices"]) if takes_part else 0)
        for arrival in arrivals:
            assert arrival["id"] in takes_part
            assert arrival["at_s"] >= before
            assert isinstance(arrival["staleness"], int)
            assert arrival["staleness"] >= 0
            before = arrival["at_s"]


def test_nobody_waits(world):
    """A recorded round of vafl never takes longer than its slowest party."""
    events = world.run("plain", "vafl").run.rounds
    assert max(a["staleness"] for e in events for a in e.get("arrivals", ())) > 0


# --- the drawn channel ----------------------------------------------------------------------------


def test_a_margin_saves_links(tmp_path):
    """Least power for the mean channel fails often; with 10 dB more, seldom."""
    fetch("digits")
    shares = []
    for margin in (0, 10):
        failed = sent = 0
        for seed in range(2):
            setting = scenario(
                seed=seed,
                method="max-vfl-matched",
                fading={"mode": "drawn"},
                radio={"margin_db": margin},
                max_delay_s=0.0025,
                churn={"exits": False, "entry_rate": 0.0},
                learning={"rounds": 4},
            )
            for event in run(setting, tmp_path / f"{margin}-{seed}").rounds:
                failed += len(event["link_failed"])
                sent += len(event["active"])
        assert sent > 20
        shares.append(failed / sent)
    assert shares[0] > 0.1
    assert shares[1] < shares[0] / 2


# --- what is written ------------------------------------------------------------------------------

ROUND = {"round", "active", "entered", "exited", "link_failed", "server", "devices", "metrics",
         "plan", "seconds"}  # fmt: skip
DEVICE = {"id", "iterations", "power_w", "cpu_hz", "delay_s", "transmission_j", "processing_j",
          "importance", "smoothness"}  # fmt: skip


def refuse_constant(text):
    raise AssertionError(f"{text} is not JSON")


@pytest.mark.parametrize(("case", "name"), grid(METHODS))
def test_events_are_as_the_contract_says(world, case, name):
    found = world.run(case, name).run
    raw = (found.folder / EVENTS).read_bytes().decode()
    assert raw.endswith("\n")
    events = [json.loads(line, parse_constant=refuse_constant) for line in raw[:-1].split("\n")]
    assert [e["event"] for e in events] == ["start", *["round"] * len(found.rounds), "end"]
    start = events[0]
    assert {"schema", "scenario", "method", "seed", "versions"} <= set(start)
    assert make_scenario(start["scenario"]) == world.scenario(case, name)
    assert (start["method"], start["seed"]) == (name, world.scenario(case).seed)
    for event in events[1:-1]:
        assert set(event) >= ROUND
        assert {"position_m", "movement_j"} <= set(event["server"])
        assert {"objective", "gap", "solve_seconds"} <= set(event["plan"])
        assert {"train_loss", "test_loss", "top1", "top3"} <= set(event["metrics"])
        assert all(set(entry) >= DEVICE for entry in event["devices"])
    json.loads((found.folder / "summary.json").read_text(), parse_constant=refuse_constant)
    again = read_run(found.folder)
    assert (again.rounds, again.end, again.start) == (events[1:-1], events[-1], start)


@pytest.mark.parametrize("case", CASES)
def test_a_run_repeats_itself(world, case, tmp_path):
    name = "sc-dn" if case == "drawn" else "zoc"
    again = run(world.scenario(case, name), tmp_path / "again")
    assert timeless(again) == timeless(world.run(case, name).run)


# --- runs that go wrong ---------------------------------------------------------------------------

HOT = [
    device("a", [20, 20, 0]),
    device("b", [80, 30, 0], exited=2),
    device("hot", [40, 60, 0], entered=1, learning_rate=1e9),
]


@pytest.mark.parametrize("name", ["max-vfl", "zoc-greedy", "vafl"])
def test_a_run_that_diverges_says_so(tmp_path, name):
    fetch("digits")
    found = run(scripted(tmp_path, HOT, rounds=5, method=name), tmp_path / "out")
    assert found.end["status"] == "diverged"
    assert re.search(r"_loss is .* after round \d|not? (longer )?finite", found.end["reason"])
    assert 2 <= len(found.rounds) == found.end["rounds"] < 5
    assert found.end["metrics"] == found.rounds[-1]["metrics"]
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["status"] == "diverged"
    assert timeless(read_run(tmp_path / "out")) == timeless(found)
    assert timeless(resume(tmp_path / "out")) == timeless(found)


def test_the_books_of_a_run_that_diverged(tmp_path):
    fetch("digits")
    found = run(scripted(tmp_path, HOT, rounds=5, method="max-vfl"), tmp_path / "out")
    spent = sum(entry["processing_j"] for e in found.rounds for entry in e["devices"])
    assert found.end["energy"]["processing_j"] == pytest.approx(spent, rel=1e-12)


def test_measured_smoothness_without_bounds_is_divergence(tmp_path):
    """The losses are still numbers, but the gradients' lengths are not."""
    fetch("digits")
    group = {**BASE["fleet"][0], "learning_rate": 30.0, "optimizers": ["sgd"]}
    learning = {"damping": "none", "server_rate": 1e5, "rounds": 8, "smoothness": "measured"}
    setting = scenario(seed=3, method="max-vfl", fleet=[group], learning=learning)
    found = run(setting, tmp_path / "out")
    assert found.end["status"] == "diverged"
    assert "are not finite" in found.end["reason"]


@pytest.mark.parametrize("damping", ["none", "fitted"])
def test_a_smoothness_without_bounds_is_divergence_too(tmp_path, damping):
    """The losses are still numbers, but the product of norms is not."""
    fetch("digits")
    group = {**BASE["fleet"][0], "learning_rate": 1e5, "optimizers": ["sgd"]}
    learning = {"damping": damping, "server_rate": 1e5, "rounds": 8}
    setting = scenario(seed=3, method="max-vfl", fleet=[group], learning=learning)
    found = run(setting, tmp_path / "out")
    assert found.end["status"] == "diverged"


# --- methods of one's own -------------------------------------------------------------------------


@pytest.fixture
def registry(monkeypatch):
    fetch("digits")
    monkeypatch.setattr(known.METHODS, "_entries", dict(known.METHODS._entries))


def decide(problem, **wishes):
    """All work two iterations at full power and clock, with the server where it is."""
    count = len(problem)
    plain = {
        "server_m": problem.server_m,
        "active": np.ones(count, dtype=bool),
        "iterations": np.full(count, 2.0),
        "power_w": problem.max_power_w,
        "cpu_hz": problem.cpu_max_hz,
    }
    return make_plan(problem, "mine", "heuristic", Decision(**(plain | wishes)), 0.0)


BAD = {
    "power": lambda p: {"power_w": 2 * p.max_power_w},
    "clock": lambda p: {"cpu_hz": 2 * p.cpu_max_hz},
    "idle": lambda p: {"active": np.zeros(len(p), dtype=bool)},
    "half": lambda p: {"iterations": np.full(len(p), 1.5)},
    "many": lambda p: {"iterations": np.full(len(p), p.max_iterations + 1.0)},
    "place": lambda _: {"server_m": -np.ones(3)},
}


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("fault", BAD)
def test_a_plan_that_breaks_a_limit_is_replaced(world, tmp_path, fault):
    register(Method("bad", lambda problem, _: decide(problem, **BAD[fault](problem))))
    found = run(world.scenario("plain", "bad"), tmp_path / "bad")
    fair = world.run("plain", "max-vfl-matched").run
    assert found.end["fallbacks"] == len(found.rounds)
    for event, other in zip(found.rounds, fair.rounds, strict=True):
        assert event["plan"]["fallback"] == "greedy-matched"
        assert event["devices"] == other["devices"]
        assert event["server"] == other["server"]


@pytest.mark.usefixtures("registry")
def test_late_reports_are_met_as_they_come(tmp_path):
    """A plan with too little power is carried out: its links fail, at a price."""
    low = lambda problem, _: decide(problem, power_w=problem.max_power_w / 1e6)  # noqa: E731
    register(Method("low", low))
    setting = scenario(seed=3, method="low", learning={"rounds": 2})
    found = run(setting, tmp_path / "out")
    assert found.end["fallbacks"] == 0
    for event in found.rounds:
        assert event["plan"]["fallback"] is None
        stay = [e for e in event["devices"] if e["id"] not in event["exited"]]
        assert event["link_failed"] == [entry["id"] for entry in stay]
        for entry in stay:
            assert entry["transmission_j"] == entry["power_w"] * setting.max_delay_s > 0
            assert entry["processing_j"] > 0
            assert entry["bits_sent"] == 0


BOX = ((40, 40, 0), (60, 60, 60))


@pytest.mark.parametrize(
    "site", [{"keep_out_m": [[*BOX[0], *BOX[1]]]}, {"candidates_m": [[9, 9, 9], [70, 70, 20]]}]
)
def test_a_server_that_may_not_stay(tmp_path, site):
    """Max VFL stays where it must not be: refused, or put where it may be."""
    fetch("digits")
    setting = scenario(seed=3, method="max-vfl", learning={"rounds": 2}, **site)
    try:
        found = run(setting, tmp_path / "out")
    except InputError:
        return
    for event in found.rounds:
        place = event["server"]["position_m"]
        assert not all(low < x < high for x, low, high in zip(place, *BOX, strict=True))
        assert setting.candidates_m is None or tuple(place) in setting.candidates_m


OWN = """
import numpy as np
from scdn.methods import Method, heuristic_controller

def lazy(problem, context):
    from dataclasses import replace
    one = replace(context, iterations=np.ones(len(problem)))
    return heuristic_controller(problem, one, move=True, matched=True)

LAZY = Method("lazy", lazy, memory="zero-out")
"""


@pytest.mark.usefixtures("registry")
def test_a_method_of_ones_own(tmp_path, monkeypatch):
    (tmp_path / "my_methods.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    setting = scenario(seed=3, method="my_methods:LAZY", learning={"rounds": 3})
    found = run(setting, tmp_path / "by-path")
    register(known.method("my_methods:LAZY"))
    again = run(setting.model_copy(update={"method": "lazy"}), tmp_path / "by-name")
    for result in (found, again):
        assert (result.end["status"], result.method) == ("done", "lazy")
        assert result.end["fallbacks"] == 0
        counts = {e["iterations"] for event in result.rounds for e in event["devices"]}
        assert counts <= {0, 1}
    assert found.rounds[-1]["metrics"] == again.rounds[-1]["metrics"]


@pytest.mark.parametrize("name", ["nobody", "no.such:THING", "json:loads", "math:"])
def test_an_unknown_method_is_refused(tmp_path, name):
    with pytest.raises(InputError) as error:
        run(scenario(method=name), tmp_path / "out")
    assert "method" in one_line(error)
    assert not (tmp_path / "out").exists()


def test_the_papers_controller_runs(tmp_path):
    pytest.importorskip("cvxpy")
    fetch("digits")
    group = {**BASE["fleet"][0], "count": 2}
    learning = {"rounds": 1}
    setting = scenario(seed=3, method="sc-dn-paper", fleet=[group], learning=learning)
    found = run(setting, tmp_path / "out")
    assert found.end["status"] == "done"
    assert found.end["fallbacks"] == 0
    assert found.rounds[0]["plan"]["solver"] == "paper"
