"""Every method gets the same terms: docs/equal-terms.md says which, and runs show that it is so."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT
from run_scenarios import scenario
from test_pinned import METHODS as PINNED_METHODS

from scdn.data import fetch
from scdn.file_io import merge_tables
from scdn.learning import round_start
from scdn.learning.schedules.asynchronous import arrival_server_steps
from scdn.methods import method
from scdn.simulation.loop import Simulation
from scdn.simulation.runner import run
from scdn.world.geometry import server_start

METHODS = PINNED_METHODS
ROUNDS, STEPS, BATCH = 3, 20, 16
SETTINGS = {
    "seed": 3,
    "max_delay_s": 0.0016,  # somebody is in reach of every method's server
    "server": {"cpu_hz": 1.5e9},
    "learning": {
        "rounds": ROUNDS,
        "server_steps": STEPS,
        "batch_size": BATCH,
        "steps_per_iteration": 2,
    },
}


def documented_terms():
    """Return the table of the page: by method, its cells by column."""
    page = (ROOT / "docs" / "equal-terms.md").read_text()
    rows = [[cell.strip(" `") for cell in line[1:-1].split("|")]
            for line in page.splitlines() if line.startswith("| ")]  # fmt: skip
    columns = rows[0][1:]
    return {name: dict(zip(columns, cells, strict=True)) for name, *cells in rows[1:]}


TERMS = documented_terms()


def run_methods(names, folder, **learning):
    """Run methods, SC-DN first; keep their events and the plans that these carry out."""
    fetch("digits")
    results, carry_out, draw_rows = {}, Simulation.realise, round_start.draw_round
    for name in names:
        plans, rows = [], {}

        def record_plan(simulation, plan, plans=plans):
            plans.append(plan)
            return carry_out(simulation, plan)

        def record_rows(seed, key, *arguments, rows=rows):
            drawn = draw_rows(seed, key, *arguments)
            rows.setdefault(key, []).append([table.tolist() for table in drawn])
            return drawn

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Simulation, "realise", record_plan)
            patch.setattr(round_start, "draw_round", record_rows)
            reference = folder / "sc-dn" if method(name).rival else None
            setting = scenario(**merge_tables(SETTINGS, {"learning": learning}), method=name)
            recorded = run(setting, folder / name, reference=reference)
        results[name] = SimpleNamespace(
            events=recorded.rounds, plans=plans, rows=rows, setting=setting
        )
    return results


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return run_methods(METHODS, folder, server_optimizer="adam", step="searched")


def test_the_page_has_every_method():
    assert set(TERMS) == set(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_the_server_takes_the_same_steps(runs, name):
    """S steps of B rows, shared out among the arrivals of an asynchronous round."""
    assert (TERMS[name]["server steps"], TERMS[name]["rows of a step"]) == ("S", "B")
    for event in runs[name].events:
        assert not any(arrival["dropped"] for arrival in event.get("arrivals", ()))
        assert event["server"]["steps"] == STEPS
        assert event["server"]["gradient_rows"] == STEPS * BATCH


@pytest.mark.parametrize("name", METHODS)
def test_the_rows_of_a_round_are_the_same(runs, name):
    """D rows to train on and 2B to search on, the same at all arrivals of an asynchronous round.

    A mission sets rows aside, on which nobody trains, and draws as many from the others.
    """
    assert (TERMS[name]["drawn rows"], TERMS[name]["search rows"]) == ("D", "2B")
    steps = SETTINGS["learning"]["steps_per_iteration"] * runs[name].setting.max_iterations
    assert runs[name].rows.keys() == {(round_index,) for round_index in range(ROUNDS)}
    for key, draws in runs[name].rows.items():
        (expected,) = runs[name if method(name).uses_progress else "sc-dn"].rows[key]
        assert all(drawn == expected for drawn in draws)
        batches, held_out = expected
        assert np.shape(batches) == (steps, BATCH)
        assert np.shape(held_out) == (1, 2 * BATCH)
        assert not set(np.ravel(batches)) & set(np.ravel(held_out))


@pytest.mark.parametrize("name", METHODS)
def test_memory_and_schedule_are_as_documented(name):
    terms = TERMS[name]
    assert (method(name).memory, method(name).schedule) == (terms["memory"], terms["schedule"])


@pytest.mark.parametrize("name", METHODS)
def test_clocks_and_powers_are_as_documented(runs, name):
    terms = TERMS[name]
    assert sum(plan.decision.active.any() for plan in runs[name].plans) > 1
    for plan in runs[name].plans:
        decision, problem = plan.decision, plan.problem
        active = decision.active
        clocks = {
            "maximum": problem.cpu_max_hz,
            "least": problem.least_cpu_hz(decision.iterations),
        }
        np.testing.assert_allclose(
            decision.cpu_hz[active], clocks[terms["clock"]][active], rtol=1e-6
        )
        powers = {"maximum": problem.max_power_w, "least": problem.least_power(plan.server_m)}
        np.testing.assert_allclose(
            decision.power_w[active], powers[terms["power"]][active], rtol=1e-6
        )


@pytest.mark.parametrize("name", METHODS)
def test_position_and_choice_of_devices_are_as_documented(runs, name):
    terms = TERMS[name]
    positions = [event["server"]["position_m"] for event in runs[name].events]
    start = server_start(runs[name].setting).tolist()
    assert any(p != start for p in positions) == (terms["server"] == "moves")
    for plan in runs[name].plans:
        decision, problem = plan.decision, plan.problem
        in_reach = problem.least_power(plan.server_m) <= problem.max_power_w
        assert not (decision.active & ~in_reach).any()
        if terms["who may be heard"] == "in reach":
            assert decision.active.tolist() == in_reach.tolist()
        if terms["who may be heard"] == "best half":
            assert decision.active.sum() == -(-in_reach.sum() // 2)
        if terms["iterations"] == "maximum":
            limit = problem.iteration_limit()
            assert decision.iterations[in_reach].tolist() == limit[in_reach].tolist()


def test_methods_that_choose_devices_do_so_by_the_same_plan(runs):
    """The methods of one controller differ in what they remember, not in what they first plan."""
    for first, *others in (("sc-dn", "zoc", "sc-dn-dropout"), ("sc-dn-paper", "zoc-paper")):
        entries = [runs[name].events[0]["devices"] for name in (first, *others)]
        assert all(devices == entries[0] for devices in entries)


@pytest.mark.parametrize("name", METHODS)
def test_rivals_take_the_mean_iterations_of_sc_dn(runs, name):
    assert method(name).rival == (TERMS[name]["iterations"] == "SC-DN's mean")
    if not method(name).rival:
        return
    for event, reference in zip(runs[name].events, runs["sc-dn"].events, strict=True):
        mean = np.mean([device["iterations"] for device in reference["devices"]])
        for device in event["devices"]:
            assert device["iterations"] <= np.ceil(mean)


def test_the_papers_server_takes_as_many_steps_as_parties_draw_batches(tmp_path):
    """With server_optimizer = "sgd": an asynchronous server takes the arriving party's steps."""
    names = ("sc-dn", "max-vfl", "gsp", "vafl", "zoc")
    for name, ended in run_methods(names, tmp_path, server_optimizer="sgd").items():
        learning = ended.setting.learning
        for event in ended.events:
            steps = learning.steps_per_iteration * ended.setting.max_iterations
            if TERMS[name]["schedule"] == "asynchronous":
                steps = sum(arrival["steps"] for arrival in event["arrivals"])
            assert event["server"]["steps"] == steps
            assert event["server"]["gradient_rows"] == steps * learning.batch_size


def test_the_papers_server_may_share_its_steps_among_arrivals(tmp_path):
    """With arrival_steps = "shared" VAFL's server takes as many steps as SC-DN's, if all train."""
    options = {"server_optimizer": "sgd", "arrival_steps": "shared"}
    ended = run_methods(("sc-dn", "vafl"), tmp_path, **options)["vafl"]
    steps = ended.setting.learning.steps_per_iteration * ended.setting.max_iterations
    for event in ended.events:
        trained = [arrival["steps"] > 0 for arrival in event["arrivals"]]
        shares = [arrival_server_steps(k, len(trained), steps) for k in range(len(trained))]
        expected = sum(share for share, trains in zip(shares, trained, strict=True) if trains)
        assert event["server"]["steps"] == (expected if trained else steps)
