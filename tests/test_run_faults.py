"""Runs that diverge, plans that break limits, and methods of the user's own."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from run_scenarios import BASE, RunCache, device, one_line, scenario, scripted, without_times

from scdn import methods as known
from scdn.control.evaluation import Decision
from scdn.control.plan import make_plan
from scdn.data import fetch
from scdn.errors import InputError
from scdn.methods import Method, register_method
from scdn.record.run_reader import read_run
from scdn.simulation.runner import resume, run


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    fetch("digits")
    return RunCache(tmp_path_factory.mktemp("runs"))


# --- divergence -----------------------------------------------------------------------------------

HOT = [
    device("a", [20, 20, 0]),
    device("b", [80, 30, 0], exited=2),
    device("hot", [40, 60, 0], entered=1, learning_rate=1e9),
]

# Rates are as they are set, and L_n comes from the weights, as in the paper.
FIXED = {"learning": {"step": "fitted", "server_optimizer": "sgd", "smoothness": "norms"}}


@pytest.mark.parametrize("name", ["max-vfl", "zoc-greedy", "vafl"])
def test_a_run_that_diverges_ends_and_records_why(tmp_path, name):
    fetch("digits")
    recorded = run(scripted(tmp_path, HOT, rounds=5, method=name, **FIXED), tmp_path / "out")
    assert recorded.end["status"] == "diverged"
    assert re.search(r"_loss is .* after round \d|not? (longer )?finite", recorded.end["reason"])
    assert 2 <= len(recorded.rounds) == recorded.end["rounds"] < 5
    assert recorded.end["metrics"] == recorded.rounds[-1]["metrics"]
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["status"] == "diverged"
    assert without_times(read_run(tmp_path / "out")) == without_times(recorded)
    assert without_times(resume(tmp_path / "out")) == without_times(recorded)


def test_energy_of_a_diverged_run_is_that_of_its_rounds(tmp_path):
    fetch("digits")
    setting = scripted(tmp_path, HOT, rounds=5, method="max-vfl", **FIXED)
    recorded = run(setting, tmp_path / "out")
    assert recorded.end["status"] == "diverged"
    spent = sum(entry["processing_j"] for e in recorded.rounds for entry in e["devices"])
    assert recorded.end["energy"]["processing_j"] == pytest.approx(spent, rel=1e-12)


def test_gradients_that_are_not_finite_are_divergence(tmp_path):
    """The losses are still finite, but the norms of the gradients are not."""
    fetch("digits")
    group = {**BASE["fleet"][0], "learning_rate": 30.0, "optimizers": ["sgd"]}
    learning = {"damping": "none", "server_rate": 1e5, "rounds": 8, "smoothness": "measured"}
    learning |= {"server_optimizer": "sgd"}
    setting = scenario(seed=3, method="max-vfl", fleet=[group], learning=learning)
    recorded = run(setting, tmp_path / "out")
    assert recorded.end["status"] == "diverged"
    assert "are not finite" in recorded.end["reason"]


@pytest.mark.parametrize("damping", ["none", "fitted"])
def test_a_smoothness_that_is_not_finite_is_divergence(tmp_path, damping):
    """The losses are still finite, but the product of norms is not."""
    fetch("digits")
    group = {**BASE["fleet"][0], "learning_rate": 1e5, "optimizers": ["sgd"]}
    learning = {"damping": damping, "server_optimizer": "sgd", "server_rate": 1e5, "rounds": 8}
    setting = scenario(seed=3, method="max-vfl", fleet=[group], learning=learning)
    recorded = run(setting, tmp_path / "out")
    assert recorded.end["status"] == "diverged"


@pytest.mark.parametrize("steps", [1, 10])  # embeddings are far off, or may overflow
@pytest.mark.parametrize("name", ["max-vfl", "zoc-greedy", "sc-dn-dropout", "vafl"])
def test_a_device_whose_rate_is_far_off_does_not_end_a_run_whose_step_is_searched(
    tmp_path, name, steps
):
    fetch("digits")
    learning = {"steps_per_iteration": steps, "compute_deadline_s": 4.0 * steps}
    setting = scripted(tmp_path, HOT, rounds=5, method=name, learning=learning)
    recorded = run(setting, tmp_path / "out")
    assert recorded.end["status"] == "done"
    assert recorded.end["rounds"] == 5
    assert all(set(event["step"]["diverged"]) <= {"hot"} for event in recorded.rounds)
    first, last = (recorded.rounds[n]["metrics"]["train_loss"] for n in (0, -1))
    assert last < first


# --- methods of the user --------------------------------------------------------------------------


@pytest.fixture
def registry(monkeypatch):
    fetch("digits")
    monkeypatch.setattr(known.METHODS, "_entries", dict(known.METHODS._entries))


def decide(problem, **changes):
    """Plan two iterations at full power and clock for all devices, the server where it is."""
    count = len(problem)
    decision = {
        "server_m": problem.server_m,
        "active": np.ones(count, dtype=bool),
        "iterations": np.full(count, 2.0),
        "power_w": problem.max_power_w,
        "cpu_hz": problem.cpu_max_hz,
    }
    return make_plan(problem, "mine", "heuristic", Decision(**(decision | changes)), 0.0)


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
    register_method(Method("bad", lambda problem, _: decide(problem, **BAD[fault](problem))))
    recorded = run(world.scenario("plain", "bad"), tmp_path / "bad")
    expected = world.run("plain", "max-vfl-matched").run
    assert recorded.end["fallbacks"] == len(recorded.rounds)
    for event, other in zip(recorded.rounds, expected.rounds, strict=True):
        assert event["plan"]["fallback"] == "greedy-matched"
        assert event["devices"] == other["devices"]
        assert event["server"] == other["server"]


@pytest.mark.usefixtures("registry")
def test_a_controller_that_lacks_a_package_is_not_replaced(tmp_path):
    """Its plans would all be another method's, under its name."""

    def lacking(*_):
        import a_solver_that_is_not_there  # noqa: F401

    register_method(Method("lacking", lacking))
    with pytest.raises(InputError, match=r"lacking: needs a package .*a_solver_that_is_not_there"):
        run(scenario(seed=3, method="lacking", learning={"rounds": 2}), tmp_path / "out")


@pytest.mark.usefixtures("registry")
def test_a_plan_with_late_reports_is_realised(tmp_path):
    """Links of a plan with too little power fail, and their energy is spent."""
    low = lambda problem, _: decide(problem, power_w=problem.max_power_w / 1e6)  # noqa: E731
    register_method(Method("low", low))
    setting = scenario(seed=3, method="low", learning={"rounds": 2})
    recorded = run(setting, tmp_path / "out")
    assert recorded.end["fallbacks"] == 0
    for event in recorded.rounds:
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
def test_a_server_that_may_not_stay_is_moved(tmp_path, site):
    """Max VFL leaves the server where it is, which is not allowed here."""
    fetch("digits")
    setting = scenario(seed=3, method="max-vfl", learning={"rounds": 2}, **site)
    recorded = run(setting, tmp_path / "out")
    assert len(recorded.rounds) == 2
    for event in recorded.rounds:
        position = event["server"]["position_m"]
        assert not all(low < x < high for x, low, high in zip(position, *BOX, strict=True))
        assert setting.candidates_m is None or tuple(position) in setting.candidates_m


USER_MODULE = """
import numpy as np
from scdn.methods import Method, heuristic_controller

def lazy(problem, context):
    from dataclasses import replace
    one = replace(context, iterations=np.ones(len(problem)))
    return heuristic_controller(problem, one, move=True, matched=True)

LAZY = Method("lazy", lazy, memory="zero-out")
"""


@pytest.mark.usefixtures("registry")
def test_a_method_of_the_user_runs_by_path_and_by_name(tmp_path, monkeypatch):
    (tmp_path / "my_methods.py").write_text(USER_MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    setting = scenario(seed=3, method="my_methods:LAZY", learning={"rounds": 3})
    recorded = run(setting, tmp_path / "by-path")
    register_method(known.method("my_methods:LAZY"))
    again = run(setting.model_copy(update={"method": "lazy"}), tmp_path / "by-name")
    for result in (recorded, again):
        assert (result.end["status"], result.method) == ("done", "lazy")
        assert result.end["fallbacks"] == 0
        counts = {e["iterations"] for event in result.rounds for e in event["devices"]}
        assert counts <= {0, 1}
    assert recorded.rounds[-1]["metrics"] == again.rounds[-1]["metrics"]


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
    recorded = run(setting, tmp_path / "out")
    assert recorded.end["status"] == "done"
    assert recorded.end["fallbacks"] == 0
    assert recorded.rounds[0]["plan"]["solver"] == "paper"
