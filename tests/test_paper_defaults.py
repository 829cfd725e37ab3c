"""Artefacts of the paper and the benchmarks' networks do not depend on the product's defaults."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from scdn.cli import main
from scdn.paper import artefact
from scdn.paper.artefact import artefact_names, read_spec
from scdn.paper.theory_bounds import theorem1
from scdn.scenario import LearningSettings, Scenario, make_scenario, read_scenario
from scdn.scenario.definition import PROFILES

ROOT = Path(__file__).parents[1]
NETWORKS = ROOT / "benchmarks" / "networks"
DEVICES = {"paper-static": 4, "paper-dynamic": 6, "wildfire": 9, "smart-grid": 11}
NOT_OF_A_NETWORK = {
    "targets",
    "server.cpu_hz",
    "server.flops_per_cycle",
    "server.capacitance",
    "server.transmit_w",
    "electronics",
    "electronics.circuit_w",
    "electronics.idle_w",
    "mission",
    "mission.goal",
    "mission.schedule",
    "mission.durations",
    "mission.bits",
}
LEARNING_RULE = ("step", "damping", "server_optimizer", "server_turn", "server_rate")


def defaulted_fields(model: BaseModel, path: str = "") -> set[str]:
    """Return the fields, at any depth, whose values were not given; absent ones do not count."""
    fields = set()
    for name in type(model).model_fields:
        value = getattr(model, name)
        entries = value if isinstance(value, tuple) else (value,)
        if name not in model.model_fields_set and value is not None:
            fields.add(f"{path}{name}")
        for entry in entries:
            if isinstance(entry, BaseModel):
                fields |= defaulted_fields(entry, f"{path}{name}.")
    return fields


@pytest.mark.parametrize("name", artefact_names())
def test_no_scenario_of_an_artefact_takes_a_value_from_the_products_defaults(name, monkeypatch):
    """A new setting needs a line in paper/defaults.toml that keeps what was done before."""
    scenarios: list[Scenario] = []

    def record(*arguments):
        scenarios.append(make_scenario(*arguments))
        return scenarios[-1]

    monkeypatch.setattr(artefact, "make_scenario", record)
    spec = read_spec(name, runs=1)
    jobs = spec.job_module.jobs(spec)
    assert scenarios
    for scenario in scenarios:
        assert defaulted_fields(scenario) == set()
    tables = [job.arguments["scenario"] for job in jobs if "scenario" in job.arguments]
    assert all(defaulted_fields(make_scenario(table)) == set() for table in tables)


@pytest.mark.parametrize("name", artefact_names())
def test_artefacts_train_as_the_paper_or_with_the_steady_update(name):
    """The server takes plain SGD steps, and nobody searches for a step, except beside the paper."""
    spec = read_spec(name, runs=1)
    for job in spec.job_module.jobs(spec):
        if "scenario" in job.arguments:
            learning = job.arguments["scenario"]["learning"]
            rule = (learning["step"], learning["server_turn"], learning["server_optimizer"])
            if job.key.startswith("mission-"):
                assert rule == ("searched", "after", "adam")
            else:
                assert rule in {("rate", "parallel", "sgd"), ("fitted", "after", "sgd")}
            assert learning["damping"] == "none"


@pytest.mark.parametrize("name", [name for name in artefact_names() if name != "epsilon"])
def test_every_reading_of_the_paper_has_the_same_epsilon(name):
    spec = read_spec(name, runs=1)
    scenarios = [job.arguments["scenario"] for job in spec.job_module.jobs(spec)
                 if "scenario" in job.arguments]  # fmt: skip
    values = {"paper": set(), "product": set()}
    for scenario in scenarios:
        values[scenario["profile"]].add(scenario["learning"]["epsilon"])
    assert values["paper"] <= {2.303e-8}
    assert values["product"] <= {1e-3}


def test_another_epsilon_can_be_asked_for():
    spec = read_spec("static-mnist", runs=1, overrides=("learning.epsilon=1e-5",))
    epsilons = {j.arguments["scenario"]["learning"]["epsilon"] for j in spec.job_module.jobs(spec)}
    assert epsilons == {1e-5}


@pytest.mark.parametrize("name", ["static-mnist", "dynamic-cifar10"])
def test_every_methods_server_has_the_same_steps_except_where_the_block_says_so(name):
    spec = read_spec(name, runs=1)
    for job in spec.job_module.jobs(spec):
        given = job.arguments["scenario"]["learning"]["arrival_steps"]
        assert given == ("party" if job.key.startswith("vafl-server-") else "shared")
        if job.key.startswith("vafl-server-"):
            assert job.after.startswith("published-")


def test_the_model_of_theorem_1_has_its_own_settings():
    settings = theorem1.learning_settings()
    absent = set(LearningSettings.model_fields) - settings.model_fields_set
    assert [name for name in absent if getattr(settings, name) is not None] == []
    assert (settings.step, settings.server_optimizer) == ("rate", "sgd")


def test_the_papers_profile_says_how_the_paper_learns():
    learning = PROFILES["paper"]["learning"]
    assert set(LEARNING_RULE) <= learning.keys()
    assert [learning[name] for name in LEARNING_RULE] == ["rate", "none", "sgd", "parallel", 0.1]
    assert PROFILES["paper"]["server"]["cpu_hz"] == 0


# --- networks of the benchmarks -------------------------------------------------------------------


@pytest.mark.parametrize("name", DEVICES)
def test_a_benchmarks_network_fixes_everything_but_how_to_learn(name, capsys):
    path = NETWORKS / f"{name}.toml"
    assert main(["scenario", "show", str(path)]) == 0
    assert capsys.readouterr().out.startswith(f"{name}: ")
    scenario = read_scenario(path)
    assert sum(group.count for group in scenario.fleet) == DEVICES[name]
    defaulted = {field for field in defaulted_fields(scenario) if "learning." not in field}
    assert defaulted <= NOT_OF_A_NETWORK
    given = scenario.learning.model_fields_set
    assert given == {"dataset", "rounds", "input"}
    assert (scenario.learning.dataset, scenario.learning.rounds) == ("mnist", 30)


def test_every_network_is_tested():
    assert {path.stem for path in NETWORKS.glob("*.toml")} == DEVICES.keys()
