"""Runs add up, meet the same network and draws, and obey their plans, whatever the method."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch
from run_scenarios import CASES, METHODS, RunCache, grid, scenario, without_times

from scdn.data import fetch
from scdn.record.run_reader import EVENTS, read_run
from scdn.rng import generator
from scdn.scenario import make_scenario
from scdn.simulation.runner import create_simulation, run
from scdn.world.geometry import server_start

RIVALS = [name for name, method in METHODS.items() if method.rival]
TWINS = ["max-vfl", "gsp", "vafl"]
FORGETFUL = [name for name, method in METHODS.items() if method.memory == "zero-out"]
KEEPING = [name for name, method in METHODS.items() if method.memory == "keep"]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    fetch("digits")
    return RunCache(tmp_path_factory.mktemp("runs"))


# --- energy and time ------------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "name"), grid(METHODS))
def test_totals_are_sums_over_events(world, case, name):
    recorded = world.run(case, name).run
    totals, rounds = recorded.end["energy"], recorded.rounds

    def close(value, expected):
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-300)

    for term in ("transmission_j", "processing_j", "bits_sent"):
        close(totals[term], sum(device[term] for e in rounds for device in e["devices"]))
    for term in ("hover_j", "climb_j", "lateral_j", "movement_j"):
        close(totals[term], sum(e["server"][term] for e in rounds))
    close(totals["bits_sent"], sum(e["bits_sent"] for e in rounds))
    for term in ("compute_j", "compute_s"):
        close(totals[f"server_{term}"], sum(e["server"][term] for e in rounds))
    close(totals["latency_s"], sum(e["latency_s"] for e in rounds))
    devices_j = totals["transmission_j"] + totals["processing_j"]
    server_j = totals["server_compute_j"] + totals["server_transmission_j"]
    close(totals["total_j"], devices_j + totals["movement_j"] + server_j)
    present, active = (sum(len(e[key]) for e in rounds) for key in ("devices", "active"))
    assert (totals["present_rounds"], totals["active_rounds"]) == (present, active)
    close(totals["present_device_j"] * present, devices_j)
    close(totals["active_device_j"] * active, devices_j)
    summary = json.loads((recorded.folder / "summary.json").read_text())
    assert recorded.end == {"event": "end", **summary}
    assert recorded.end["metrics"] == rounds[-1]["metrics"]
    assert (recorded.end["status"], recorded.end["rounds"]) == ("done", len(rounds))
    assert recorded.end["fallbacks"] == 0


def path_loss(server, position, radio, sight=None, shadow=None, fading=None):
    """The contract's path loss without a margin; drawn around it if random numbers are given."""
    link = radio.a2a if position[2] > 0 and server[2] > 0 else radio.a2g
    d = math.dist(server, position)
    theta = math.degrees(math.asin(min(1.0, abs(server[2] - position[2]) / d))) if d else 0.0
    p = 1 / (1 + link.los_scale * math.exp(-link.los_slope * (theta - link.los_scale)))
    wave = 4 * math.pi * radio.carrier_hz * max(d, radio.min_distance_m) / 299_792_458
    los, nlos = 10 ** (link.los_loss_db / 10), 10 ** (link.nlos_loss_db / 10)
    if sight is None:
        return wave**link.exponent * (p * los + (1 - p) * nlos)
    sigma = math.log(10) / 10 * (fading.los_shadow_db if sight < p else fading.nlos_shadow_db)
    excess = los if sight < p else nlos
    return wave**link.exponent * excess * math.exp(sigma * shadow - sigma**2 / 2)


def true_delay(setting, server, entry, payload, draws):
    radio, bandwidth = setting.radio, setting.radio.bandwidth_hz
    loss = path_loss(server, entry["position_m"], radio, *draws, setting.fading)
    noise = 10 ** (radio.noise_dbm_per_hz / 10) * 1e-3 * bandwidth
    rate = bandwidth * math.log1p(entry["power_w"] / (noise * loss)) / math.log(2)
    return payload / rate if rate else math.inf


@pytest.mark.parametrize(("case", "name"), grid(METHODS))
def test_energies_follow_the_contract(world, case, name):
    observed = world.run(case, name)
    simulation, setting = observed.rounds[0].simulation, world.scenario(case)
    fleet, learning = simulation.trace.fleet, setting.learning
    index = {device: n for n, device in enumerate(fleet.id)}
    begun = []  # cycles that a party may have begun, in this round or before
    for event in observed.run.rounds:
        draw = generator(setting.seed, "fading", event["round"])
        sight, shadow = draw.uniform(size=len(fleet)), draw.standard_normal(len(fleet))
        server, asynchronous = event["server"]["position_m"], "arrivals" in event
        for entry in event["devices"]:
            n, party = index[entry["id"]], entry["id"]
            connections = simulation.model.connections[party]
            (payload,) = simulation.data.payload_bits(
                np.array([float(connections)]),
                np.array([entry["survival"]]),
                METHODS[name].uses_importance,
            )
            sends, failed = entry["active"] and party not in event["exited"], False
            if sends:
                draws = (None, None) if setting.fading.mode == "none" else (sight[n], shadow[n])
                delay = true_delay(setting, server, entry, payload, draws)
                failed = delay > setting.max_delay_s * (1 + 1e-9)
                on_air = setting.max_delay_s if failed else delay
                assert entry["delay_s"] == pytest.approx(on_air, rel=1e-9)
            else:
                assert entry["delay_s"] is None
            assert (party in event["link_failed"]) == failed
            sent = entry["power_w"] * (entry["delay_s"] or 0)
            bits = payload if sends and not failed else 0
            q = learning.steps_per_iteration * entry["iterations"]
            flops = q * 3 * connections * fleet.capacitance[n] * learning.batch_size
            computed = flops / (2 * fleet.flops_per_cycle[n]) * entry["cpu_hz"] ** 2
            if not asynchronous or party in event["exited"]:
                assert entry["processing_j"] == pytest.approx(computed, rel=1e-9)
                if learning.payload == "model":  # test_bill.py tests the protocol's bill
                    assert entry["transmission_j"] == pytest.approx(sent, rel=1e-9)
                    assert entry["bits_sent"] == bits
                continue
            begun.append((party, q, computed, sent, bits))
            own_arrivals = [arrival for arrival in event["arrivals"] if arrival["id"] == party]
            for term in ("transmission_j", "processing_j", "bits_sent"):
                total = sum(arrival[term] for arrival in own_arrivals)
                assert entry[term] == pytest.approx(total, rel=1e-12)
            for arrival in own_arrivals:
                terms = ("processing_j", "transmission_j", "bits_sent")
                count = len(terms) if learning.payload == "model" else 1
                assert any(
                    [arrival[term] for term in terms[:count]]
                    == pytest.approx(cycle[2 : 2 + count], rel=1e-9)
                    for cycle in begun
                    if cycle[0] == party and (arrival["dropped"] or cycle[1] == arrival["steps"])
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
def test_the_servers_computing_follows_the_contract(world, case, name):
    """Cycles, seconds and joules as a device's, with the fusion model's weights and biases."""
    setting, observed = world.scenario(case), world.run(case, name)
    learning, server = setting.learning, setting.server
    classes = width = 10
    members = [len(observed.run.rounds[0]["devices"]), *(len(o.members) for o in observed.rounds)]
    for event, count in zip(observed.run.rounds, members, strict=False):
        hidden, work = learning.fusion_hidden, event["server"]
        connections = count * width * hidden + hidden + hidden * classes + classes
        rows = work["gradient_rows"] + work["forward_rows"] / 3
        assert work["gradient_rows"] >= work["steps"] * learning.batch_size
        cycles = rows * 3 * connections / server.flops_per_cycle
        seconds = cycles / server.cpu_hz if server.cpu_hz else 0.0
        joules = cycles * server.capacitance / 2 * server.cpu_hz**2
        assert work["compute_s"] == pytest.approx(seconds, rel=1e-12)
        assert work["compute_j"] == pytest.approx(joules, rel=1e-12)


def test_counting_the_servers_computing_changes_its_costs_alone(tmp_path):
    fetch("digits")
    free, counted = (
        run(scenario(seed=3, server={"cpu_hz": hz}), tmp_path / f"{hz:g}") for hz in (0.0, 1.5e9)
    )
    for one, other in zip(free.rounds, counted.rounds, strict=True):
        assert (one["metrics"], one["devices"]) == (other["metrics"], other["devices"])
        seconds = other["server"]["compute_s"]
        assert one["server"]["compute_s"] == 0 < seconds
        assert other["latency_s"] == one["latency_s"] + seconds
    before, after = free.end["energy"], counted.end["energy"]
    assert after["total_j"] == pytest.approx(before["total_j"] + after["server_compute_j"])
    assert after["server_compute_j"] > before["server_compute_j"] == 0


@pytest.mark.parametrize(("case", "name"), grid(METHODS))
def test_a_round_lasts_until_its_slowest_report(world, case, name):
    observed, learning = world.run(case, name), world.scenario(case).learning
    simulation = observed.rounds[0].simulation
    fleet = simulation.trace.fleet
    flops = dict(zip(fleet.id, fleet.flops_per_cycle, strict=True))
    clock = 0.0
    for event in observed.run.rounds:
        seconds = []
        for entry in event["devices"]:
            if entry["active"] and entry["id"] not in event["exited"]:
                q = learning.steps_per_iteration * entry["iterations"]
                work = 3 * q * learning.batch_size * simulation.model.connections[entry["id"]]
                busy_s = work / flops[entry["id"]] / entry["cpu_hz"]
                assert busy_s <= learning.compute_deadline_s * (1 + 1e-9)
                seconds.append(busy_s + entry["airtime_s"])
        if "arrivals" not in event:  # all reports are waited for
            assert METHODS[name].schedule in ("synchronous", "planned")
            slowest = max(seconds, default=0.0)
            busy = event["server"]["compute_s"]
            assert event["latency_s"] == pytest.approx(slowest + busy, rel=1e-9)
        else:
            arrived = event["arrivals"][-1]["at_s"] if event["arrivals"] else clock
            clock += event["latency_s"]
            assert bool(event["arrivals"]) == bool(seconds)
            ended = arrived + event["server"]["compute_s"]
            if METHODS[name].schedule == "buffered":  # the buffer's reports are sent to their end
                unplanned = sum(event["step"]["sendings"]) > 1 or event["step"]["diverged"]
                assert ended <= clock * (1 + 1e-9)
            if METHODS[name].schedule == "asynchronous" or not unplanned:
                assert ended == pytest.approx(clock, rel=1e-9)


# --- devices --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "name"), grid(METHODS))
def test_devices_come_leave_and_work_as_recorded(world, case, name):
    setting = world.scenario(case)
    observed = world.run(case, name)
    present, departed = None, set()
    for event, seen in zip(observed.run.rounds, observed.rounds, strict=True):
        ids = [entry["id"] for entry in event["devices"]]
        here, entered, exited = set(ids), set(event["entered"]), set(event["exited"])
        assert len(ids) == len(here)
        assert present is None or here == present
        assert not here & departed
        assert exited <= here
        assert not entered & (here | departed)
        assert event["active"] == [e["id"] for e in event["devices"] if e["active"]]
        assert set(event["link_failed"]) <= set(event["active"]) - exited
        for entry in event["devices"]:
            assert isinstance(entry["iterations"], int)
            assert 0 <= entry["iterations"] <= setting.max_iterations
            assert (entry["reason"] is None) == entry["active"]
            if not entry["active"]:
                zeros = ("iterations", "power_w", "transmission_j", "processing_j", "bits_sent")
                assert [entry[key] for key in zeros] == [0] * 5
                assert entry["delay_s"] is None
            if entry["id"] in exited:
                assert (entry["transmission_j"], entry["bits_sent"]) == (0, 0)
                worked = entry["active"] and entry["iterations"] > 0
                assert (entry["processing_j"] > 0) == worked
            assert 1 <= entry["importance"] <= setting.learning.importance_max
        departed |= exited
        present = (here - exited) | entered
        assert set(seen.present) == present
    assert [e["round"] for e in observed.run.rounds] == list(range(setting.learning.rounds))


@pytest.mark.parametrize(("case", "name"), grid(METHODS))
def test_executed_iterations_are_those_that_were_learned_from(world, case, name):
    observed = world.run(case, name)
    per_iteration = world.scenario(case).learning.steps_per_iteration
    for event in observed.run.rounds:
        trained = Counter()
        for (round_index, _), steps in observed.steps.items():
            trained.update(steps if round_index == event["round"] else {})
        lost = {*event["exited"], *event["link_failed"]}
        reports = Counter(a["id"] for a in event.get("arrivals", ()) if not a["dropped"])
        for entry in event["devices"]:
            executed = entry["executed_iterations"]
            assert executed * per_iteration == trained[entry["id"]]
            if "arrivals" not in event:
                assert executed == (0 if entry["id"] in lost else entry["iterations"])
            elif not reports[entry["id"]]:
                assert executed == 0


def test_a_party_that_reports_often_executes_more_than_planned(world):
    entries = [e for event in world.run("plain", "vafl").run.rounds for e in event["devices"]]
    assert any(entry["executed_iterations"] > entry["iterations"] for entry in entries)
    assert any(entry["executed_iterations"] < entry["iterations"] for entry in entries)


def test_a_scripted_trace_is_followed(world):
    rounds = world.run("scripted", "sc-dn").run.rounds
    assert [[entry["id"] for entry in e["devices"]] for e in rounds] == [
        ["a", "b", "c"], ["a", "b", "c"], ["b"], [], ["n", "m"], ["n", "m"],
    ]  # fmt: skip
    assert [e["exited"] for e in rounds] == [[], ["a", "c"], ["b"], [], [], ["m"]]
    assert [e["entered"] for e in rounds] == [[], [], [], ["n", "m"], [], []]
    new = [entry["importance"] for entry in rounds[4]["devices"]]
    assert new == [1, 1]


# --- the same draws for all -----------------------------------------------------------------------


@pytest.mark.parametrize(("case", "name"), grid(METHODS))
def test_methods_meet_the_same_network(world, case, name):
    rounds = world.run(case, name).run.rounds
    expected = world.run(case, "sc-dn").run.rounds
    for one, other in zip(rounds, expected, strict=True):
        assert (one["entered"], one["exited"]) == (other["entered"], other["exited"])
        for key in ("id", "position_m", "survival"):
            assert [e[key] for e in one["devices"]] == [e[key] for e in other["devices"]]


@pytest.mark.parametrize("case", CASES)
def test_methods_start_from_the_same_models(world, case):
    expected = create_simulation(world.scenario(case), ())
    expected_arrays, expected_values = expected.model.state_dict()
    for name in METHODS:
        simulation = create_simulation(world.scenario(case, name), ())
        arrays, values = simulation.model.state_dict()
        assert simulation.initial_loss == expected.initial_loss
        assert simulation.model.metrics() == expected.model.metrics()
        assert values["parties"] == expected_values["parties"]
        assert values["server"]["members"] == expected_values["server"]["members"]
        assert arrays.keys() == expected_arrays.keys()
        assert all(np.array_equal(arrays[key], expected_arrays[key]) for key in arrays)


@pytest.mark.parametrize(("case", "name"), grid(METHODS))
def test_methods_draw_the_same_batches(world, case, name):
    """Asynchronous methods draw by arrival, so they are compared with each other."""
    other = "vafl" if METHODS[name].schedule == "asynchronous" else "sc-dn"
    if METHODS[name].uses_progress:  # sets rows aside: see docs/equal-terms.md
        other = name
    batches, expected = world.run(case, name).batches, world.run(case, other).batches
    common = batches.keys() & expected.keys()
    assert common or not batches
    if other == "sc-dn":
        assert batches.keys() == expected.keys()
    for key in common:
        steps = min(len(batches[key]), len(expected[key]))
        assert np.array_equal(batches[key][:steps], expected[key][:steps])


# --- rivals and their twins -----------------------------------------------------------------------


@pytest.mark.parametrize(("case", "name"), grid(RIVALS))
def test_rivals_take_the_mean_iterations(world, case, name):
    observed, learning = world.run(case, name), world.scenario(case).learning
    simulation = observed.rounds[0].simulation
    fleet = simulation.trace.fleet
    index = {device: n for n, device in enumerate(fleet.id)}
    reference = world.run(case, "sc-dn").run.rounds
    for event, other in zip(observed.run.rounds, reference, strict=True):
        counts = [entry["iterations"] for entry in other["devices"]]
        mean = sum(counts) / len(counts) if counts else 0
        for entry in event["devices"]:
            n, connections = index[entry["id"]], simulation.model.connections[entry["id"]]
            flops_per_iteration = (
                3 * learning.steps_per_iteration * learning.batch_size * connections
            )
            budget = fleet.cpu_max_hz[n] * learning.compute_deadline_s * fleet.flops_per_cycle[n]
            most = math.floor(budget / flops_per_iteration * (1 + 1e-12))
            allowed = {min(math.floor(mean), most), min(math.ceil(mean), most)}
            assert entry["iterations"] in (allowed if entry["active"] else {0})


@pytest.mark.parametrize(("case", "name"), grid(TWINS))
def test_matched_methods_spend_less_on_the_same(world, case, name):
    maximum, matched = world.run(case, name).run, world.run(case, f"{name}-matched").run
    for one, other in zip(maximum.rounds, matched.rounds, strict=True):
        for key in ("position_m", "hover_j", "climb_j", "lateral_j"):
            assert one["server"][key] == other["server"][key]
        reports = [Counter(a["id"] for a in e.get("arrivals", ())) for e in (one, other)]
        for full, least in zip(one["devices"], other["devices"], strict=True):
            assert full["iterations"] == least["iterations"]
            assert least["power_w"] <= full["power_w"] * (1 + 1e-12)
            assert least["cpu_hz"] <= full["cpu_hz"]
            for term in ("transmission_j", "processing_j"):
                most, fewest = full[term], least[term]
                if METHODS[name].schedule == "asynchronous" and full["id"] not in one["exited"]:
                    if not reports[0][full["id"]] or not reports[1][full["id"]]:
                        continue  # compared per report, and one had none
                    most, fewest = most / reports[0][full["id"]], fewest / reports[1][full["id"]]
                assert fewest <= most * (1 + 1e-9)


# --- memories -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "name"), grid(FORGETFUL))
def test_zero_out_removes_departed_devices(world, case, name):
    for observed in world.run(case, name).rounds:
        assert set(observed.members) == set(observed.present)
        if "future" in observed.event["metrics"]:
            future, metrics = observed.event["metrics"]["future"], observed.event["metrics"]
            assert {"train_loss", "test_loss", "top1", "top3", "macro_f1"} == set(future)
            assert future == {name: metrics[name] for name in future}


@pytest.mark.parametrize(("case", "name"), grid(KEEPING))
def test_keep_keeps_every_device_that_was_ever_present(world, case, name):
    ever, kept = [], {}
    for observed in world.run(case, name).rounds:
        ever += [n for n in (e["id"] for e in observed.event["devices"]) if n not in ever]
        ever += observed.event["entered"]
        assert list(observed.members) == ever
        assert set(kept) <= set(observed.kept)
        assert all(torch.equal(kept[n], observed.kept[n]) for n in kept)  # frozen when it left
        kept = observed.kept
        assert set(kept) == set(ever) - set(observed.present)


@pytest.mark.parametrize(("case", "name"), grid(METHODS))
def test_metrics_are_those_of_the_models(world, case, name):
    exits, setting = 0, world.scenario(case)
    for observed in world.run(case, name).rounds:
        metrics = observed.event["metrics"]
        assert {key: metrics[key] for key in observed.metrics} == pytest.approx(
            observed.metrics, rel=1e-5
        )
        assert metrics["top1"] <= metrics["top3"]
        exits += len(observed.event["exited"])
        assert ("future" in metrics) == (exits > 0)
        if exits:
            shown = metrics["future_by"][setting.learning.imputation]
            assert metrics["future"] == {"train_loss": metrics["train_loss"], **shown}


# --- the asynchronous schedule --------------------------------------------------------------------

VAFL = [name for name, method in METHODS.items() if method.schedule == "asynchronous"]


@pytest.mark.parametrize(("case", "name"), grid(VAFL))
def test_an_asynchronous_round_has_as_many_arrivals_as_devices(world, case, name):
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


def test_asynchronous_reports_are_stale(world):
    """Somebody reports more often than others, so that their reports meet a newer model."""
    events = world.run("plain", "vafl").run.rounds
    assert max(a["staleness"] for e in events for a in e.get("arrivals", ())) > 0


def test_asynchronous_devices_keep_to_the_duty_cycle(tmp_path):
    """After a report a device is silent until its share of the time is within the limit."""
    fetch("digits")
    share = 0.002
    setting = scenario(method="vafl", round_s=10, radio={"duty_cycle": share})
    last_s, checked = {}, 0
    for event in run(setting, tmp_path / "run").rounds:
        for arrival in event["arrivals"]:
            name, at_s = arrival["id"], arrival["at_s"]
            if name in last_s and arrival["sending_s"] > 0:
                checked += 1
                assert arrival["sending_s"] <= share * (at_s - last_s[name]) * (1 + 1e-9)
            last_s[name] = at_s
    assert checked > 0


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


# --- events ---------------------------------------------------------------------------------------

ROUND = {"round", "active", "entered", "exited", "link_failed", "server", "devices", "metrics",
         "plan", "seconds"}  # fmt: skip
DEVICE = {"id", "iterations", "executed_iterations", "power_w", "cpu_hz", "delay_s",
          "transmission_j", "processing_j", "importance", "smoothness"}  # fmt: skip


def refuse_constant(text):
    raise AssertionError(f"{text} is not JSON")


@pytest.mark.parametrize(("case", "name"), grid(METHODS))
def test_events_have_the_fields_of_the_contract(world, case, name):
    recorded = world.run(case, name).run
    raw = (recorded.folder / EVENTS).read_bytes().decode()
    assert raw.endswith("\n")
    events = [json.loads(line, parse_constant=refuse_constant) for line in raw[:-1].split("\n")]
    assert [e["event"] for e in events] == ["start", *["round"] * len(recorded.rounds), "end"]
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
    json.loads((recorded.folder / "summary.json").read_text(), parse_constant=refuse_constant)
    again = read_run(recorded.folder)
    assert (again.rounds, again.end, again.start) == (events[1:-1], events[-1], start)


@pytest.mark.parametrize("case", CASES)
def test_a_run_repeats_itself(world, case, tmp_path):
    name = "sc-dn" if case == "drawn" else "zoc"
    again = run(world.scenario(case, name), tmp_path / "again")
    assert without_times(again) == without_times(world.run(case, name).run)


def test_measured_smoothness_is_new_in_every_round(tmp_path):
    fetch("digits")
    learning = {"smoothness": "measured", "rounds": 3}
    for name in ("sc-dn", "vafl"):
        recorded = run(scenario(seed=3, method=name, learning=learning), tmp_path / name)
        smoothness = [
            {d["id"]: d["smoothness"] for d in event["devices"]} for event in recorded.rounds
        ]
        for earlier, later in pairwise(smoothness):
            present = earlier.keys() & later.keys()
            assert present
            if name == "sc-dn":  # whether it trained or rested
                assert all(earlier[device] != later[device] for device in present)
            else:  # nothing is measured: the scenario's own
                assert set(later.values()) == {0.5}
