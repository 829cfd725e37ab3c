"""Laws of the bill: every bit, second and joule of a round's messages, by direction and device."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import astuple, replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT, many
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import random_request
from run_scenarios import BASE, METHODS, scenario, without_times

from scdn.control.max_vfl import at_maximum
from scdn.control.plan import make_plan
from scdn.control.plan_request import make_request, problem_of
from scdn.control.solve import solve
from scdn.data import fetch
from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.radio_use import RadioUse, ReportUse
from scdn.learning.round_protocol import RoundProtocol, bits_of
from scdn.learning.round_training import RoundTraining
from scdn.learning.step_rule import StepTaken
from scdn.learning.virtual_clock import Arrival, PartyCycle, VirtualClock
from scdn.methods import Method, method
from scdn.record.event_schema import AnyEvent
from scdn.record.round_totals import TERMS, energy_terms, round_totals
from scdn.rng import generator
from scdn.scenario import Electronics, Fading, LearningSettings
from scdn.simulation.outcome import realise
from scdn.simulation.radio_bill import add_electronics, report_uses, with_steps
from scdn.simulation.request_builder import round_request
from scdn.simulation.runner import run

DIVERGING = {"learning_rate": 1e30, "optimizers": ["sgd"]}


def often_idle(problem, _):
    """Everything at its maximum, but in every other round some devices have no iterations."""
    idle = np.array([name in ("d-1", "x-1") for name in problem.ids])
    iterations = np.where(idle & (next(ROUNDS) % 2 == 0), 0.0, problem.iteration_limit())
    decision = at_maximum(problem, problem.server_m, iterations=iterations)
    return make_plan(problem, "greedy", "heuristic", decision, 0.0)


ROUNDS = itertools.count()
OFTEN_IDLE = Method("often-idle", often_idle)
CASES = {
    "searched": {"max_delay_s": 0.006},
    "shortened": {"max_delay_s": 0.006},  # embeddings are sent twice more in every round
    "shortened, asynchronous": {"max_delay_s": 0.05, "method": "vafl"},
    "coded": {
        "max_delay_s": 0.002,
        "method": "zoc",
        "learning": {"number_bits": 4, "labels": "server", "table_rounds": 3},
    },
    "drawn": {
        "max_delay_s": 0.006,
        "fading": {"mode": "drawn"},
        "learning": {"table_rounds": 8, "table_survival": 0.9},
    },
    "fitted": {
        "max_delay_s": 0.02,
        "method": "max-vfl",
        "learning": {"step": "fitted", "server_optimizer": "sgd", "server_turn": "after"},
    },
    "without updates": {  # of a device that always diverges, and of one that is often idle
        "max_delay_s": 0.02,
        "method": "test_bill:OFTEN_IDLE",
        "fleet": [*BASE["fleet"], {**BASE["fleet"][0], "kind": "x", "count": 2, **DIVERGING}],
        "churn": {"entry_rate": 0.0},
        "learning": {"table_rounds": 3},
    },
    "without updates, asynchronous": {
        "max_delay_s": 0.05,
        "method": "vafl",
        "fleet": [*BASE["fleet"], {**BASE["fleet"][0], "kind": "x", "count": 2, **DIVERGING}],
        "learning": {"table_rounds": 3},
    },
    "asynchronous": {"max_delay_s": 0.05, "method": "vafl"},
    "tables, asynchronous": {  # survival crosses the limit while cycles are running
        "max_delay_s": 0.05,
        "method": "vafl",
        "learning": {"table_rounds": 3, "table_survival": 0.98, "rounds": 4},
    },
    "late": {"max_delay_s": 0.0031, "method": "vafl", "fading": {"mode": "drawn"}},
    "buffered": {
        "max_delay_s": 0.05,
        "method": "max-vfl-buffered",
        "learning": {"rounds": 5, "labels": "server"},
    },
    "shortened, buffered": {
        "max_delay_s": 0.05,
        "method": "max-vfl-buffered",
        "learning": {"table_rounds": 3, "table_survival": 0.98, "rounds": 4, "buffer_reports": 1},
    },
    "late, buffered": {
        "max_delay_s": 0.0031,
        "method": "max-vfl-buffered",
        "fading": {"mode": "drawn"},
    },
    "without updates, buffered": {
        "max_delay_s": 0.05,
        "method": "max-vfl-buffered",
        "fleet": [*BASE["fleet"], {**BASE["fleet"][0], "kind": "x", "count": 2, **DIVERGING}],
        "learning": {"table_rounds": 3},
    },
}
HONEST = {"payload": "protocol", "unheard": "imputed", "rounds": 3, "server_steps": 20}
POWERS = {"electronics": {"circuit_w": 0.2, "idle_w": 0.03}, "server": {"transmit_w": 0.5}}


def close(value, expected):
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-300)


@pytest.fixture(scope="module")
def billed(tmp_path_factory):
    """Return a function that runs a case once, with the number of members in each round."""
    fetch("digits")
    folder = tmp_path_factory.mktemp("bill")

    @cache
    def run_case(case):
        table = CASES[case]
        learning = HONEST | table.get("learning", {})
        setting = scenario(seed=4, **{**table, "learning": learning}, **POWERS)
        members, simulations, table_senders = [], [], {}

        def observe(_, simulation):
            members.append(len(simulation.model.server.fusion.members))
            simulations.append(simulation)

        take_step = RoundTraining.take_step

        def observe_step(training):
            step = take_step(training)
            of_run = table_senders.setdefault(id(training.parties), [])  # a rival runs two
            of_run.append(set(training.task.table_parts))
            further = 2 if case.startswith("shortened") else 0
            return replace(step, sendings=step.sendings + further)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(RoundTraining, "take_step", observe_step)
            recorded = run(setting, folder / case, on_round=observe)
        members.insert(0, len(recorded.rounds[0]["devices"]))
        return SimpleNamespace(
            run=recorded,
            setting=setting,
            members=members,
            simulation=simulations[0],
            table_senders=table_senders[id(simulations[-1].model.parties)],
        )

    return run_case


# --- joules, seconds and bits of recorded runs ----------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_energy_by_parts_is_the_total_in_events_ledger_and_summary(billed, case):
    recorded = billed(case).run
    sums = dict.fromkeys(TERMS, 0.0)
    for event in recorded.rounds:
        terms, server = energy_terms(event), event["server"]
        assert tuple(terms) == TERMS
        every_joule = [
            device[key]
            for device in event["devices"]
            for key in ("transmission_j", "processing_j", "circuit_j", "idle_j")
        ]
        every_joule += [server[k] for k in ("hover_j", "climb_j", "lateral_j")]
        every_joule += [server[k] for k in ("compute_j", "transmission_j")]
        close(round_totals(event).joules, math.fsum(every_joule))
        close(server["movement_j"], server["hover_j"] + server["climb_j"] + server["lateral_j"])
        for term in TERMS:
            sums[term] += terms[term]
        AnyEvent.model_validate(event)
    totals = recorded.end["energy"]
    assert json.loads((recorded.folder / "summary.json").read_text())["energy"] == totals
    for term in TERMS:
        close(totals[term], sums[term])
    close(totals["total_j"], math.fsum(totals[term] for term in TERMS))
    devices_j = sum(totals[t] for t in ("transmission_j", "processing_j", "circuit_j", "idle_j"))
    close(totals["present_device_j"] * totals["present_rounds"], devices_j)
    assert totals["circuit_j"] > 0 < totals["server_transmission_j"]


@pytest.mark.parametrize("case", CASES)
def test_bits_and_airtime_add_up(billed, case):
    recorded, setting = billed(case).run, billed(case).setting
    totals = recorded.end["energy"]
    for key in ("bits_sent", "bits_received"):
        for event in recorded.rounds:
            close(event[key], sum(device[key] for device in event["devices"]))
        close(totals[key], sum(event[key] for event in recorded.rounds))
    for event in recorded.rounds:
        server, electronics = event["server"], setting.electronics
        assert round_totals(event).bits == event["bits_sent"] + event["bits_received"]
        close(server["airtime_s"], sum(device["receiving_s"] for device in event["devices"]))
        close(server["transmission_j"], setting.server.transmit_w * server["airtime_s"])
        for device in event["devices"]:
            assert 0 <= device["receiving_s"] <= device["airtime_s"]
            close(device["circuit_j"], electronics.circuit_w * device["airtime_s"])
            close(device["idle_j"], electronics.idle_w * event["latency_s"])
            if "arrivals" not in event:
                sending_s = device["airtime_s"] - device["receiving_s"]
                assert device["transmission_j"] == pytest.approx(
                    device["power_w"] * sending_s, rel=1e-9, abs=1e-18
                )
    close(totals["server_airtime_s"], sum(e["server"]["airtime_s"] for e in recorded.rounds))
    close(totals["latency_s"], sum(e["latency_s"] for e in recorded.rounds))


# --- an independent computation -------------------------------------------------------------------


def table(rows, bits):
    """The bits of a table of ten columns: in whole bytes, with two limits for each column."""
    return rows * 10 * 32 if bits == 32 else 8 * math.ceil(rows * 10 * bits / 8) + 10 * 64


def slow_bits(setting, members, survival, sendings, trains=True, diverged=False, first=False):
    """Both directions of one device, written out from the protocol's description for digits.

    `first` says that the server has heard the device's sample never before.
    """
    learning = setting.learning
    bits, batch = learning.number_bits, learning.batch_size
    drawn = table(learning.steps_per_iteration * setting.max_iterations * batch, bits)
    held_out = table(2 * batch, bits) if learning.step == "searched" else 0
    sample = 0
    if method(setting.method).uses_importance:
        sample = table(learning.sample_rows, bits)
    first_sample = sample if first else 0
    up, down = drawn + held_out, 8 * 32  # before the step, orders
    if not trains:
        return up + first_sample, down
    up += 3 * 32  # figures
    down += sample  # its gradients
    if learning.labels == "server":
        down += drawn
    else:
        hidden = learning.fusion_hidden
        fusion_parameters = members * 10 * hidden + hidden + hidden * 10 + 10
        down += (members - 1) * drawn + 32 * fusion_parameters
    if diverged:
        return up + first_sample, down
    if learning.step != "rate":
        up += held_out if learning.step == "searched" else drawn  # trained
        down += 32 * sendings
    report = sample
    if learning.server_optimizer == "adam" or learning.server_turn == "after":
        report += drawn + held_out
    if learning.table_rounds and survival <= learning.table_survival:
        report += table(math.ceil(1438 / learning.table_rounds), bits)
    up += sendings * report
    return up, down


def slow_rate(setting, server, entry, power_w, draws):
    """Shannon's rate over the path of the contract, without the margin, in bits per second."""
    radio, position = setting.radio, entry["position_m"]
    link = radio.a2a if position[2] > 0 and server[2] > 0 else radio.a2g
    d = math.dist(server, position)
    theta = math.degrees(math.asin(min(1.0, abs(server[2] - position[2]) / d)))
    p = 1 / (1 + link.los_scale * math.exp(-link.los_slope * (theta - link.los_scale)))
    wave = 4 * math.pi * radio.carrier_hz * max(d, radio.min_distance_m) / 299_792_458
    los, nlos = 10 ** (link.los_loss_db / 10), 10 ** (link.nlos_loss_db / 10)
    loss = wave**link.exponent * (p * los + (1 - p) * nlos)
    if setting.fading.mode == "drawn":
        uniform, normal = draws
        shadow_db = setting.fading.los_shadow_db if uniform < p else setting.fading.nlos_shadow_db
        sigma = shadow_db * math.log(10) / 10
        loss = wave**link.exponent * (los if uniform < p else nlos)
        loss *= math.exp(sigma * normal - sigma**2 / 2)
    noise = 10 ** (radio.noise_dbm_per_hz / 10) * 1e-3 * radio.bandwidth_hz
    return radio.bandwidth_hz * math.log1p(power_w / (noise * loss)) / math.log(2)


BUFFERED = [name for name in CASES if "buffered" in name]
SYNCHRONOUS = [
    name for name, table in CASES.items() if table.get("method") != "vafl" and name not in BUFFERED
]


@pytest.mark.parametrize("case", SYNCHRONOUS)
def test_a_round_costs_what_its_messages_say(billed, case):
    observed = billed(case)
    setting, learning, heard_devices = observed.setting, observed.setting.learning, 0
    fleet, sampled = observed.simulation.trace.fleet, set()
    index = {name: n for n, name in enumerate(fleet.id)}
    for event, members in zip(observed.run.rounds, observed.members, strict=False):
        draw = generator(setting.seed, "fading", event["round"])
        uniforms, normals = draw.uniform(size=len(fleet)), draw.standard_normal(len(fleet))
        (sendings,) = event["step"]["sendings"]
        server, seconds = event["server"]["position_m"], [0.0]
        for entry in event["devices"]:
            name, power_w = entry["id"], entry["power_w"]
            n, failed = index[name], name in event["link_failed"]
            heard = name in set(event["active"]) - set(event["exited"]) and not failed
            up = down = receiving_s = 0
            sending_s = setting.max_delay_s if failed else 0.0
            if heard:
                draws = uniforms[n], normals[n]
                up, down = slow_bits(
                    setting,
                    members,
                    entry["survival"],
                    sendings,
                    trains=entry["iterations"] > 0,
                    diverged=name in event["step"]["diverged"],
                    first=name not in sampled,
                )
                sampled.add(name)
                planned, _ = slow_bits(setting, members, entry["survival"], 1)
                rate = slow_rate(setting, server, entry, power_w, draws)
                sending_s = up / rate
                assert entry["delay_s"] == pytest.approx(planned / rate, rel=1e-9)
                assert entry["delay_s"] <= setting.max_delay_s * (1 + 1e-9)
                receiving_s = down / slow_rate(
                    setting, server, entry, setting.server.transmit_w, draws
                )
            assert (entry["bits_sent"], entry["bits_received"]) == (up, down)
            assert entry["receiving_s"] == pytest.approx(receiving_s, rel=1e-9)
            assert entry["airtime_s"] == pytest.approx(receiving_s + sending_s, rel=1e-9)
            assert entry["transmission_j"] == pytest.approx(power_w * sending_s, rel=1e-9)
            if heard or failed:
                steps = learning.steps_per_iteration * entry["iterations"]
                flops = (
                    3 * steps * learning.batch_size * observed.simulation.model.connections[name]
                )
                busy_s = flops / fleet.flops_per_cycle[n] / entry["cpu_hz"]
                seconds.append(busy_s + receiving_s + sending_s)
            heard_devices += heard
        server_s = event["server"]["compute_s"]
        assert event["latency_s"] == pytest.approx(max(seconds) + server_s, rel=1e-9)
    assert heard_devices > 0


@pytest.mark.parametrize("case", [name for name in CASES if name not in SYNCHRONOUS])
def test_each_arrival_is_billed_for_its_own_messages(billed, case):
    observed, trained = billed(case), 0
    setting, clock_s = observed.setting, 0.0
    table_senders, together = iter(observed.table_senders), case in BUFFERED
    for event, members in zip(observed.run.rounds, observed.members, strict=False):
        sendings = iter(event["step"]["sendings"])
        if together:  # one step for all reports of the round
            sendings, senders = itertools.repeat(*event["step"]["sendings"]), next(table_senders)
        sums = {device["id"]: RadioUse() for device in event["devices"]}
        for arrival in event["arrivals"]:
            use = RadioUse(**{key: arrival[key] for key in RadioUse.__dataclass_fields__})
            sums[arrival["id"]] += use
            close(use.server_transmission_j, setting.server.transmit_w * use.receiving_s)
            assert clock_s <= arrival["at_s"]
            if arrival["dropped"]:
                assert (use.bits_sent, use.bits_received, use.receiving_s) == (0, 0, 0)
                close(use.sending_s, setting.max_delay_s)
                continue
            trained += 1
            sent = next(sendings)
            # Messages down were sent when the cycle began, in this round or an earlier one.
            known = range(1, members + 1)
            sends_table = arrival["id"] in (senders if together else next(table_senders))
            survival = 0.0 if sends_table else math.inf
            diverged = arrival["id"] in event["step"]["diverged"]
            possible = [
                slow_bits(setting, count, survival, sent, diverged=diverged) for count in known
            ]
            assert (use.bits_sent, use.bits_received) in possible
        assert together or next(sendings, None) is None or not event["arrivals"]
        for device in event["devices"]:
            use = sums[device["id"]]
            close(device["bits_sent"], use.bits_sent)
            close(device["bits_received"], use.bits_received)
            close(device["airtime_s"], use.airtime_s)
            close(device["transmission_j"], use.transmission_j)
        clock_s += event["latency_s"]
    assert trained > 0


def test_the_cases_reach_what_they_are_for(billed):
    rounds = {case: billed(case).run.rounds for case in CASES}
    assert any(a["dropped"] for event in rounds["late"] for a in event["arrivals"])
    assert any(event["link_failed"] for event in rounds["drawn"])
    assert all(n > 2 for event in rounds["shortened"] for n in event["step"]["sendings"])
    assert all(event["bits_received"] > 0 for event in rounds["searched"] if event["active"])
    for case in ("without updates", "without updates, asynchronous"):
        assert all(event["step"]["diverged"] for event in rounds[case])
    assert any(event["step"]["diverged"] for event in rounds["without updates, buffered"])
    first_round = rounds["without updates"][0]
    idle = {device["id"] for device in first_round["devices"] if device["iterations"] == 0}
    assert idle == {"d-1", "x-1"} < set(first_round["active"])
    assert any(a["dropped"] for event in rounds["late, buffered"] for a in event["arrivals"])
    for case in ("buffered", "shortened, buffered", "without updates, buffered"):
        assert any(a["staleness"] for event in rounds[case] for a in event["arrivals"])
    assert any(billed("shortened, buffered").table_senders)
    tables = billed("tables, asynchronous").table_senders
    assert {len(senders) for senders in tables} == {0, 1}


# --- laws -----------------------------------------------------------------------------------------

AMOUNTS = st.integers(0, 10**9).map(float)
USES = st.builds(RadioUse, *[AMOUNTS] * 6)


@given(USES, USES, st.integers(0, 9))
def test_each_sending_adds_the_same(planned, again, sendings):
    report = ReportUse(planned, again)
    assert report.use(1) == planned
    assert report.use(sendings + 1) == report.use(sendings) + again
    assert report.use(sendings).airtime_s == pytest.approx(
        report.use(sendings).sending_s + report.use(sendings).receiving_s
    )


@given(USES, USES, st.lists(st.integers(0, 4), min_size=1, max_size=4))
def test_unplanned_sendings_move_the_running_cycle_and_survive_a_checkpoint(
    planned, again, sendings
):
    cycle = PartyCycle(LocalSteps(1, 0.1), 5.0, report=ReportUse(planned, again))
    clock = VirtualClock()
    arrivals = clock.next_arrivals({"a": cycle}, len(sendings))
    due_s = clock.due_s["a"]
    steps = [StepTaken(1.0, sendings=n) for n in sendings]
    billed_arrivals = with_steps(arrivals, steps, ["a"])
    clock.postpone(billed_arrivals)
    extra = sum(n - 1 for n in sendings) * (again.sending_s + again.receiving_s)
    assert clock.due_s["a"] - due_s == pytest.approx(extra, rel=1e-9, abs=1e-3)
    stored = json.loads(json.dumps(clock.state_dict()))
    restored = VirtualClock()
    restored.load_state_dict(stored)
    assert restored == clock


def test_arrivals_that_do_not_train_keep_the_planned_sending():
    late = Arrival("a", 1.0, 0, PartyCycle(LocalSteps(1, 0.1), 1.0, late=True))
    gone = Arrival("b", 1.0, 0, PartyCycle(LocalSteps(1, 0.1), 1.0))
    here = Arrival("c", 1.0, 0, PartyCycle(LocalSteps(1, 0.1), 1.0))
    step = StepTaken(1.0, sendings=3)
    steps = [arrival.step for arrival in with_steps([late, gone, here], [step], ["a", "c"])]
    assert steps == [None, None, step]


def maximal_outcome(seed):
    """A random network with everything at its maximum, and one in four devices leaving."""
    problem = problem_of(make_request(random_request(seed)))
    plan = make_plan(problem, "greedy", "heuristic", at_maximum(problem, problem.server_m), 0.0)
    leaving = np.random.default_rng(seed).random(len(problem)) < 0.25
    return plan, realise(plan, leaving, Fading())


@given(st.integers(0, 10**6), st.sampled_from([0.0, 1e-3, 1.0, 40.0]))
@settings(max_examples=many(200))
def test_by_the_papers_convention_nothing_is_added(seed, transmit_w):
    plan, outcome = maximal_outcome(seed)
    uses = report_uses(plan, outcome, [[]] * len(plan.problem), 0, transmit_w)
    assert [report.use(sendings) for sendings in (0, 1, 5) for report in uses] == [
        use for _ in range(3) for use in outcome.uses()
    ]
    billed_outcome = add_electronics(
        outcome.with_uses([report.use(1) for report in uses]), Electronics(), 3.0
    )
    assert billed_outcome.latency_s == outcome.latency_s
    for name in ("transmission_j", "bits_sent", "sending_s"):
        np.testing.assert_array_equal(getattr(billed_outcome, name), getattr(outcome, name))
    for name in ("bits_received", "receiving_s", "server_transmission_j", "circuit_j", "idle_j"):
        assert not getattr(billed_outcome, name).any()


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(0, 6), st.sampled_from([0.0, 0.5]))
@settings(max_examples=many(200))
def test_only_devices_that_are_heard_exchange_messages(seed, members, sendings, transmit_w):
    plan, outcome = maximal_outcome(seed)
    protocol = RoundProtocol.create(LearningSettings(), 10, 900, 5, uses_importance=True)
    parts = protocol.parts(members, 1000)
    uses = report_uses(plan, outcome, [parts] * len(plan.problem), protocol.sample_bits, transmit_w)
    for n, report in enumerate(uses):
        use, planned = report.use(sendings), outcome.uses()[n]
        assert all(amount >= 0 or amount == pytest.approx(0, abs=1e-9) for amount in astuple(use))
        if not outcome.trains[n]:
            assert use == planned
            assert (use.bits_sent, use.bits_received) == (0, 0)
            continue
        if not planned.bits_sent:  # without a payload the channel's rate is not known
            assert use == planned
            continue
        assert use.bits_received == bits_of(parts, "down", sendings)
        assert use.bits_sent == bits_of(parts, "up", sendings)
        bits_per_s = planned.bits_sent / planned.sending_s
        assert use.sending_s == pytest.approx(use.bits_sent / bits_per_s, rel=1e-9)
        assert (use.receiving_s > 0) == (use.server_transmission_j > 0) == (transmit_w > 0)
        power_w = plan.decision.power_w[n]
        assert use.transmission_j == pytest.approx(power_w * use.sending_s, rel=1e-9, abs=1e-15)


LEARNING = st.builds(
    LearningSettings,
    labels=st.sampled_from(["shared", "server"]),
    step=st.sampled_from(["searched", "fitted"]),
    server_optimizer=st.sampled_from(["adam", "sgd"]),
    batch_size=st.integers(8, 64),
    sample_rows=st.integers(8, 600),
    table_rounds=st.integers(0, 9),
    table_survival=st.floats(0, 1),
)


@given(LEARNING, st.integers(1, 12), st.integers(200, 3000), st.integers(1, 9), st.booleans())
@settings(max_examples=many(300))
def test_fewer_bits_per_number_are_fewer_bits(learning, width, rows, members, uses_importance):
    def sizes(number_bits):
        coded = learning.model_copy(update={"number_bits": number_bits})
        protocol = RoundProtocol.create(coded, width, rows, 5, uses_importance=uses_importance)
        parts = protocol.parts(members, 500, with_table=True)
        reports = [protocol.report_bits(survival) for survival in (0.0, 0.5, 1.0)]
        return [*reports, bits_of(parts, "up"), bits_of(parts, "down")]

    by_bits = [sizes(number_bits) for number_bits in (2, 4, 8, 16, 32)]
    for fewer, more in itertools.pairwise(by_bits):
        assert all(a <= b for a, b in zip(fewer, more, strict=True))


@given(st.integers(0, 10**6), LEARNING)
@settings(max_examples=many(60), deadline=None)
def test_fewer_bits_never_reduce_reach(seed, learning):
    request = random_request(seed)

    def problem(number_bits):
        coded = learning.model_copy(update={"number_bits": number_bits})
        protocol = RoundProtocol.create(coded, 10, 1438, 5, uses_importance=True)
        devices = [
            device | {"payload_bits": protocol.report_bits(device.get("survival", 1.0))}
            for device in request["devices"]
        ]
        return problem_of(make_request(request | {"devices": devices}))

    few, many_bits = problem(4), problem(32)
    positions = np.random.default_rng(seed).uniform(0, few.region_m, (20, 3))
    reach = [p.least_power(positions) <= p.max_power_w for p in (few, many_bits)]
    assert (reach[0] | ~reach[1]).all()
    plans = [solve(p, "exact", gap=1e-3, time_limit_s=5) for p in (few, many_bits)]
    tolerance = 1e-9 * abs(plans[1].objective) + 1e-9
    assert plans[0].lower_bound <= plans[1].objective + tolerance


# --- the paper's convention, and requests ---------------------------------------------------------


def test_under_the_papers_bill_the_servers_power_changes_nothing(tmp_path):
    fetch("digits")
    runs = [
        run(scenario(seed=3, server={"transmit_w": watts}), tmp_path / f"{watts:g}")
        for watts in (0.0, 1.0)
    ]
    first, second = (without_times(recorded)[1:] for recorded in runs)
    assert first == second
    for event in runs[0].rounds:
        assert event["bits_received"] == event["server"]["airtime_s"] == 0
        for device in event["devices"]:
            assert device["receiving_s"] == device["circuit_j"] == device["idle_j"] == 0
            assert device["airtime_s"] == (device["delay_s"] or 0)
            connections = 64 * 16 + 16 + 16 * 10 + 10
            assert device["bits_sent"] in (0, 32 * connections)


def test_a_server_that_is_not_counted_still_sends_its_bits(billed, tmp_path):
    table = {**CASES["searched"], "learning": HONEST}
    setting = scenario(seed=4, **table, **(POWERS | {"server": {"transmit_w": 0.0}}))
    free, paid = run(setting, tmp_path / "free"), billed("searched").run
    for one, other in zip(free.rounds, paid.rounds, strict=True):
        assert one["bits_received"] == other["bits_received"]
        assert one["server"]["airtime_s"] == one["server"]["transmission_j"] == 0
        assert one["metrics"] == other["metrics"]


@pytest.mark.parametrize("method", ["sc-dn", "max-vfl"])
def test_a_request_has_the_bits_of_the_protocol(method, monkeypatch, tmp_path):
    fetch("digits")
    learning = HONEST | {"table_rounds": 4, "table_survival": 0.9}
    setting = scenario(seed=4, method=method, learning=learning)
    warnings = []
    request = round_request(setting, 0, warnings.append)
    for device in request.devices:
        expected, _ = slow_bits(setting, 1, device.survival, 1)
        assert device.payload_bits == expected
    assert warnings == []
    model = setting.model_copy(update={"learning": scenario().learning})
    own = round_request(model, 0, warnings.append).devices
    assert {device.payload_bits for device in own} == {1628480.0}
    monkeypatch.setenv("SCDN_DATA", str(tmp_path))
    assert round_request(setting, 0, warnings.append).devices[0].payload_bits == 1628480.0
    assert len(warnings) == 1
    assert "scdn data fetch digits" in warnings[0]


def test_methods_whose_controller_ignores_importance_do_not_send_the_sample():
    needing = {name for name, method in METHODS.items() if method.uses_importance}
    assert needing == {"sc-dn", "zoc", "zoc-paper", "sc-dn-dropout"}
    assert Method("mine", METHODS["max-vfl"].controller).uses_importance


def test_the_page_has_the_numbers_of_the_protocol():
    page = (ROOT / "docs" / "what-is-counted.md").read_text()
    parameters = 4 * 10 * 64 + 64 + 64 * 10 + 10
    for labels in ("shared", "server"):
        sizes = {}
        for bits in (32, 4):
            learning = LearningSettings(labels=labels, number_bits=bits)
            protocol = RoundProtocol.create(learning, 10, 60000, 5, uses_importance=True)
            sizes[bits] = protocol.parts(4, parameters)
        for part, coded in zip(sizes[32], sizes[4], strict=True):
            (line,) = [
                line
                for line in page.splitlines()
                if line.startswith(tuple(f"| {part.name}{end}" for end in (" |", " (", ":", ",")))
            ]
            assert f"| {part.direction} |" in line
            assert line.endswith(f"| {part.bits:,} | {coded.bits:,} |")
        for direction in ("up", "down"):
            totals = [bits_of(sizes[bits], direction) for bits in (32, 4)]
            assert "| **{:,}** | **{:,}** |".format(*totals) in page
    protocol = RoundProtocol.create(LearningSettings(), 10, 60000, 5, uses_importance=False)
    for direction in ("up", "down"):
        assert f"{bits_of(protocol.parts(4, parameters), direction):,}" in page
