"""Ablations, overheads and bounds: controllers' laws, small runs, verdicts that turn either way."""

from __future__ import annotations

import copy
import json
from itertools import combinations

import numpy as np
import pytest

from scdn.control.max_vfl import greedy
from scdn.data import fetch
from scdn.file_io import to_json
from scdn.methods import GAP, Notes, exact
from scdn.paper import ablation, bounds, overheads
from scdn.paper.artefact import Drawing, Setting, Table, table_of
from scdn.paper.control import drawn_problem
from scdn.paper.draw import picture
from scdn.paper.jobs import carry_out, sweep
from scdn.paper.overheads import _line
from scdn.paper.switches import CONTROLS, controlled

SMALL = (
    "learning.dataset=digits",
    "learning.sample_rows=64",
    "learning.batch_size=16",
    "fleet.0.count=2",
    "fleet.0.altitude_m=[0, 20]",
)


def _setting(name, only=(), **changes):
    return Setting(table_of(name) | changes, runs=1, rounds=2, only=only, settings=SMALL)


def _done(setting, module, folder):
    """An artefact's numbers, as they are read back from its file, and what they came from."""
    fetch("digits")
    records = sweep(module.jobs(setting), folder)
    found = {key: record["result"] for key, record in records.items()}
    return json.loads(to_json(module.numbers(setting, found))), found


def _verdicts(module, numbers):
    return {claim.text.split(" (")[0]: claim.verdict for claim in module.claims(numbers)}


def _show(module, numbers):
    for part in module.show(numbers):
        if isinstance(part, Drawing):
            assert picture(part).startswith(b"\x89PNG")
        else:
            assert isinstance(part, Table)
            assert all(len(row) == len(part.head) for row in part.rows)


# --- controllers ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def problems():
    scenario = table_of("ablation-mnist")["scenario"]
    setting = Setting({"name": "x", "runs": 1, "scenario": scenario})
    return [drawn_problem(setting.scenario([f"seed={seed}"])) for seed in range(4)]


def test_no_control_that_is_held_beats_the_optimum(problems):
    notes = Notes()
    for problem in problems:
        best = exact(problem, notes)
        for size in range(len(CONTROLS) + 1):
            for held in combinations(CONTROLS, size):
                plan = controlled(problem, notes, solver="exact", iterations=1, held=held)
                assert not plan.evaluation.violations
                assert plan.objective >= best.objective * (1 - GAP)
                if not held:
                    assert plan.objective == best.objective
                if "position" in held:
                    assert np.array_equal(plan.server_m, problem.server_m)


def test_all_held_is_the_greedy_rule_for_those_who_take_part(problems):
    for problem in problems:
        plan = controlled(problem, Notes(), solver="exact", iterations=1, held=CONTROLS)
        rule, on = greedy(problem), plan.decision.active
        assert not (on & ~rule.active).any()
        for name in ("iterations", "power_w", "cpu_hz"):
            assert np.array_equal(getattr(plan.decision, name)[on], getattr(rule, name)[on])


def test_one_held_control_leaves_the_others_as_they_were(problems):
    names = {"power": "power_w", "clock": "cpu_hz"}
    for problem in problems:
        free = exact(problem, Notes()).decision
        for control, changed in names.items():
            plan = controlled(problem, Notes(), solver="exact", iterations=1, held=[control])
            most = {"power_w": problem.max_power_w, "cpu_hz": problem.cpu_max_hz}[changed]
            assert np.array_equal(getattr(plan.decision, changed)[free.active], most[free.active])
            for name in set(free._fields) - {changed}:
                assert np.array_equal(getattr(plan.decision, name), getattr(free, name))


# --- ablations ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ablated(tmp_path_factory):
    setting = _setting("ablation-mnist", sweep={"iterations": [1, 2]})
    return setting, *_done(setting, ablation, tmp_path_factory.mktemp("cells"))


def test_an_ablation_runs_and_is_shown(ablated):
    _, numbers, _ = ablated
    _show(ablation, numbers)
    true = numbers["blocks"]["true"]
    assert sum(true["no-processing"]["clock_hz"]) > sum(true["full"]["clock_hz"])
    assert sum(true["no-transmission"]["transmission_j"]) > sum(true["full"]["transmission_j"])
    assert len({claim.text for claim in ablation.claims(numbers)}) == 6


def test_a_second_run_is_the_same(ablated):
    setting, _, found = ablated
    jobs = {job.key: job for job in ablation.jobs(setting)}
    for key in ("published-no-transmission-0", "true-only-power-0"):
        again = carry_out(jobs[key].work, jobs[key].arguments, None)["result"]
        assert again | {"solve_s": None} == found[key] | {"solve_s": None}


def test_ablations_take_place_in_the_dynamic_tables_network():
    for data in ("mnist", "cifar10", "pawpularity"):
        mine, theirs = table_of(f"ablation-{data}"), table_of(f"dynamic-{data}")
        assert mine["scenario"] == theirs["scenario"]
        assert mine["blocks"] == theirs["blocks"]
        assert mine["name"] != theirs["name"]


def test_only_some_blocks_may_run(ablated):
    jobs = ablation.jobs(_setting("ablation-mnist", only=("true",)))
    assert {job.key.split("-")[0] for job in jobs} == {"true"}
    numbers = copy.deepcopy(ablated[1])
    del numbers["blocks"]["published"]
    assert "not measured" in _verdicts(ablation, numbers).values()
    _show(ablation, numbers)


def test_ablation_verdicts_follow_the_numbers(ablated):
    numbers = copy.deepcopy(ablated[1])
    saves = "Counting processing saves 98.99 % of clock cycles"
    minor = "Disabling any component changes the final score by less than 1 point of top-3."
    robust = "The final score is robust to the number of Algorithm 3's iterations"
    published, true = (numbers["blocks"][name] for name in ("published", "true"))
    for block in (published, true):
        block["full"] |= {"clock_hz": [1.0], "iterations": [1.0]}
        block["no-processing"]["clock_hz"] = [100.0]
        for case in block.values():
            case["score"] = [80.0]
    verdicts = _verdicts(ablation, numbers)
    assert {verdicts[name] for name in (saves, minor, robust)} == {"reproduced"}
    published["full"]["iterations"] = [0.9]  # where devices rest, no score can change
    resting = _verdicts(ablation, numbers)
    assert (resting[minor], resting[robust]) == ("reproduced in this regime", "not reproduced")
    published["full"]["iterations"] = [1.0]
    published["no-processing"]["clock_hz"] = [1.1]
    published["fixed"]["score"] = [70.0]
    published["iterations-1"]["score"] = [60.0]
    verdicts = _verdicts(ablation, numbers)
    assert {verdicts[name] for name in (saves, minor, robust)} == {"reproduced in this regime"}
    true["no-processing"]["clock_hz"] = [0.0]  # nothing is spent, so nothing is saved
    true["no-movement"]["score"] = [82.0]
    numbers["counts"] = [20, 30]
    published["iterations-20"] = published["iterations-1"]
    verdicts = _verdicts(ablation, numbers)
    assert {verdicts[name] for name in (saves, minor, robust)} == {"not reproduced"}


def test_a_score_that_says_little_is_told_so(ablated):
    numbers = copy.deepcopy(ablated[1])
    for block in numbers["blocks"].values():
        block["full"] |= {"score": [numbers["trivial"] - 1], "iterations": [0.01]}
    reasons = [claim.reason for claim in ablation.claims(numbers)[-2:]]
    assert all("trivial" in reason and "trains only 0.01" in reason for reason in reasons)
    for block in numbers["blocks"].values():
        block["full"] |= {"score": [numbers["trivial"] + 1], "iterations": [2.0]}
    reasons = [claim.reason for claim in ablation.claims(numbers)[-2:]]
    assert not any("trivial" in reason or "trains only" in reason for reason in reasons)


# --- overheads ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def timed(tmp_path_factory):
    sizes = {"devices": [2, 3], "iterations": 2, "importance": [2, 3], "smoothness": 2}
    setting = _setting("overheads", sweep={**sizes, "datasets": {"mnist": []}})
    return _done(setting, overheads, tmp_path_factory.mktemp("cells"))[0]


def test_overheads_are_measured_and_shown(timed):
    _show(overheads, timed)
    assert timed["importance"]["data"]["mnist"]["passes"] == [2, 3]
    assert all(min(way["mean"]) > 0 for way in timed["solvers"]["ways"].values())
    assert timed["smoothness"]["mnist"]["percent_round"] > 0


def test_a_line_is_fitted():
    found = _line([2, 4, 6], [[3.0, 7.0, 11.0], [5.0, 9.0, 13.0]])
    assert found["mean"] == [4, 8, 12]
    assert (found["slope"], found["intercept"], found["r2"]) == pytest.approx((2, 0, 1))
    assert _line([2, 4, 6], [[1.0, 5.0, 1.0]])["r2"] == pytest.approx(0)


def test_overhead_verdicts_follow_the_numbers(timed):
    numbers = copy.deepcopy(timed)
    importance = numbers["importance"]["data"]["mnist"]
    importance["seconds"] = _line([2, 3, 4], [[0.001, 0.002, 0.003]])
    numbers["solvers"]["ways"]["rebuilt"] = _line([2, 3, 4], [[4.0, 6.0, 8.0]])
    numbers["solvers"]["ways"]["parametrised"] = _line([2, 3, 4], [[1.0, 9.0, 1.0]])
    times = {"percent_round": 50.0, "percent_epochs": 0.1, "estimate_s": 3.9}
    numbers["smoothness"]["mnist"] |= times
    importance["passes"] = [4, 6]
    regime = "reproduced in this regime"
    expected = ["reproduced"] * 2 + [regime] * 2 + ["reproduced"] * 2
    assert [claim.verdict for claim in overheads.claims(numbers)] == expected
    importance["passes"] = [4, 7]
    importance["seconds"] = _line([2, 3, 4], [[0.05, 0.01, 0.05]])
    numbers["solvers"]["ways"]["rebuilt"] = _line([2, 3, 4], [[8.0, 6.0, 4.0]])
    numbers["smoothness"]["mnist"] |= {"percent_epochs": 20.0, "estimate_s": 4.0}
    assert {claim.verdict for claim in overheads.claims(numbers)} == {"not reproduced"}


# --- bounds ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bounded(tmp_path_factory):
    setting = _setting("bounds", sweep={"parties": [2]})
    return _done(setting, bounds, tmp_path_factory.mktemp("cells"))


def test_bounds_are_measured_and_shown(bounded):
    numbers, found = bounded
    _show(bounds, numbers)
    for each in numbers["proposition"].values():
        assert each["real"][0] == each["ideal"][0]  # nobody had come yet
        assert len(each["bound_log10"]) == 2
    halves, stays = (found[f"theorem-2-{rates}-0"] for rates in bounds.RATES)
    assert halves == stays  # rates halve later
    total = numbers["theorem"][0]["so_far"]["measured"][-1]
    assert total == pytest.approx(np.sum(halves["squares"]), rel=1e-5)


def test_bound_verdicts_follow_the_numbers(bounded):
    numbers = copy.deepcopy(bounded[0])
    for case in numbers["theorem"]:
        case["below"]["paper"], case["falls"]["paper"] = 0, [True]
    for found in numbers["proposition"].values():
        found |= {"broken": 0, "early": [0.1], "late": [0.2]}
    assert {claim.verdict for claim in bounds.claims(numbers)} == {"reproduced"}
    first = next(iter(numbers["proposition"].values()))
    numbers["theorem"][0]["below"]["paper"] = 3
    first |= {"broken": 1, "late": [0.05]}
    regime = [claim.verdict for claim in bounds.claims(numbers)]
    assert regime == ["reproduced in this regime", "reproduced"] + ["reproduced in this regime"] * 2
    for case in numbers["theorem"]:
        case["below"]["paper"], case["falls"]["paper"] = 1, [False]
    for found in numbers["proposition"].values():
        found |= {"broken": 1, "early": [-0.3], "late": [-0.2]}
    assert {claim.verdict for claim in bounds.claims(numbers)} == {"not reproduced"}
