"""The engine behind the paper's artefacts: published numbers, specs, sweeps, provenance."""

from __future__ import annotations

import hashlib
import json

import pytest

from scdn.cli import main
from scdn.errors import InputError
from scdn.file_io import apply_settings
from scdn.paper.artefact import artefact_names, read_spec
from scdn.paper.provenance import job_settings
from scdn.paper.published_tables import published_tables
from scdn.paper.sweep import ArtefactJob, run_sweep

PUBLISHED_SHA256 = "fb2478dd90306a1082ef81d5ffbfb02048c56ef6455686d6a8141fdbfad829cb"

# --- published numbers ----------------------------------------------------------------------------


def test_published_numbers_are_the_papers():
    """Values read from the paper's tables, and a digest of all of them against silent change."""
    tables = published_tables()
    mnist, cifar10 = tables["static_mnist_center"], tables["static_cifar10_center"]
    assert mnist["SC-DN"]["Final Acc (%)"] == {"N=2": 85.69, "N=4": 68.86, "N=6": 66.61}
    assert mnist["Max VFL"]["Avg Energy (J)"] == {"N=2": 472.32, "N=4": 472.55, "N=6": 472.30}
    assert cifar10["SC-DN"]["Avg Energy (kJ)"] == {"N=2": 22.85, "N=4": 21.19, "N=6": 19.91}
    dynamic = tables["dynamic_mnist_metric_center"]["SC-DN w/ P^r"]
    assert dynamic["mean"] == [61.05, 71.99, 81.52, 82.54]
    assert tables["solver_objective_center"]["2"]["mean"] == [9.92e4, 0.487, 0.3]
    canonical = json.dumps(tables, sort_keys=True).encode()
    assert hashlib.sha256(canonical).hexdigest() == PUBLISHED_SHA256


# --- specs ----------------------------------------------------------------------------------------


def test_every_artefact_has_its_four_functions_and_its_own_position_on_the_page():
    specs = [read_spec(name) for name in artefact_names()]
    assert len({spec.order for spec in specs}) == len(specs)
    for spec in specs:
        assert callable(spec.claim_module.claims), spec.name
        for function in ("jobs", "numbers", "show"):
            assert callable(getattr(spec.job_module, function)), f"{spec.name}: {function}"


def test_ablations_use_the_networks_of_the_dynamic_artefacts():
    for data in ("mnist", "cifar10", "pawpularity"):
        ablation, dynamic = read_spec(f"ablation-{data}"), read_spec(f"dynamic-{data}")
        assert ablation.base_scenario == dynamic.base_scenario
        assert ablation.all_blocks == dynamic.all_blocks
        assert (ablation.folder, ablation.name) == ("ablation", f"ablation-{data}")


def test_an_inherited_spec_changes_only_what_it_names():
    static, dynamic = read_spec("static-mnist").scenario(), read_spec("dynamic-mnist").scenario()
    assert not static.churn.exits
    assert dynamic.churn.exits
    assert dynamic.learning == static.learning
    (group,) = dynamic.fleet
    assert (group.count, group.learning_rate) == (6, static.fleet[0].learning_rate)


def test_an_unknown_artefact_is_one_clear_line(capsys):
    assert main(["paper", "run", "table-42"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "table-42" in line
    assert "static-mnist" in line


@pytest.mark.parametrize(
    ("name", "only", "allowed"),
    [
        ("static-mnist", "foo", "must be one of published, true, vafl-server, mission"),
        ("ablation-mnist", "true,foo", "must be one of published, true, vafl-server, mission"),
        ("weights", "true", "must be one of published, shannon"),
        ("bounds", "theorem", "must be one of published, true, vafl-server, mission"),
        ("exact", "pade", "the artefact has no blocks"),
        ("payload", "true", "the artefact has no blocks"),
    ],
)
def test_an_unknown_block_is_one_clear_line(name, only, allowed, tmp_path, capsys):
    command = ["paper", "run", name, "--only", only, "--out", str(tmp_path / "out")]
    assert main(command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{name}: --only: got ")
    assert line.endswith(allowed)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "name", [n for n in artefact_names() if read_spec(n).all_blocks and read_spec(n).takes_only]
)
def test_a_single_block_has_fewer_jobs(name):
    spec = read_spec(name, runs=1)
    count = len(spec.job_module.jobs(spec))
    for block in spec.judged_blocks:
        assert 0 < len(spec.job_module.jobs(read_spec(name, runs=1, only=(block,)))) < count


# --- sweeps ---------------------------------------------------------------------------------------


CALLS: list[dict] = []


def double(arguments, earlier=None):
    """Return twice the number, plus the earlier job's value."""
    CALLS.append(arguments)
    if arguments.get("fails"):
        raise RuntimeError("killed here")
    return {"value": 2 * arguments["n"] + (earlier or {"value": 0})["value"]}


def pairs_of_jobs(count, **arguments):
    first = [ArtefactJob(f"a{n}", double, {"n": n, **arguments}) for n in range(count)]
    second = [ArtefactJob(f"b{n}", double, {"n": n, **arguments}, f"a{n}") for n in range(count)]
    return first + second


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_gets_the_result_of_the_job_before_it(tmp_path, workers):
    records = run_sweep(pairs_of_jobs(3), tmp_path, workers=workers)
    assert [records[f"b{n}"]["result"]["value"] for n in range(3)] == [0, 4, 8]


def test_an_interrupted_sweep_continues_where_it_stopped(tmp_path):
    jobs = pairs_of_jobs(3)
    failing = ArtefactJob("b1", double, {"n": 1, "fails": True}, after="a1")
    with pytest.raises(RuntimeError, match="killed here"):
        run_sweep([*jobs[:4], failing], tmp_path)
    CALLS.clear()
    records = run_sweep(jobs, tmp_path)
    assert [call["n"] for call in CALLS] == [1, 2]  # a0, a1, a2 and b0 were done
    assert records["b2"]["result"]["value"] == 8


def test_changed_arguments_and_broken_files_run_again(tmp_path):
    run_sweep(pairs_of_jobs(2), tmp_path)
    broken = tmp_path / "a1.json"
    without_versions = json.loads(broken.read_text())
    del without_versions["versions"]
    for text in ('{"result": ', json.dumps(without_versions)):
        CALLS.clear()
        broken.write_text(text)
        run_sweep(pairs_of_jobs(2), tmp_path)
        assert [call["n"] for call in CALLS] == [1]
    CALLS.clear()
    run_sweep(pairs_of_jobs(2, more=1), tmp_path)
    assert len(CALLS) == 4


def test_so_far_runs_nothing(tmp_path):
    jobs = pairs_of_jobs(2)
    run_sweep(jobs[:1], tmp_path)
    CALLS.clear()
    assert list(run_sweep(jobs, tmp_path, so_far=True)) == ["a0"]
    assert not CALLS


def test_a_missing_ray_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("scdn.errors.find_spec", lambda _: None)
    with pytest.raises(InputError, match="ray is not installed, pip install 'scdn\\[sweep\\]'"):
        run_sweep(pairs_of_jobs(1), tmp_path, ray="auto")


@pytest.mark.parametrize("name", ["exact", "bounds", "static-mnist"])
def test_jobs_for_a_missing_gpu_are_refused(name, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    command = ["paper", "run", name, "--runs", "1", "--device", "cuda", "--out", str(tmp_path)]
    assert main(command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "no usable GPU" in line
    assert not list(tmp_path.rglob("*.json"))


def test_results_of_a_gpu_are_read_without_one(tmp_path, monkeypatch):
    on_gpu = {"n": 1, "scenario": {"learning": {"device": "cuda"}}}
    record = {"result": {"value": 2}, "versions": {}, "arguments": on_gpu}
    (tmp_path / "a.json").write_text(json.dumps(record))
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    jobs = [ArtefactJob(key, double, on_gpu) for key in "ab"]
    assert list(run_sweep(jobs[:1], tmp_path)) == ["a"]
    assert list(run_sweep(jobs, tmp_path, so_far=True)) == ["a"]
    with pytest.raises(InputError, match="no usable GPU"):
        run_sweep(jobs, tmp_path)


def test_so_far_without_results_is_refused(tmp_path, capsys):
    assert main(["paper", "run", "static-mnist", "--so-far", "--out", str(tmp_path)]) == 2
    assert "has 0 of 1290 results, and no run is complete" in capsys.readouterr().err


# --- provenance -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", artefact_names())
def test_recorded_settings_are_those_that_every_job_was_given(name):
    spec = read_spec(name, overrides=("learning.batch_size=32",))
    jobs = spec.job_module.jobs(spec)
    recorded = job_settings(jobs)
    assert len(json.dumps(recorded)) < 10_000
    scenarios = [job.arguments["scenario"] for job in jobs if "scenario" in job.arguments]
    assert {scenario["learning"]["batch_size"] for scenario in scenarios} == {32}
    assert sum(case["jobs"] for case in recorded["cases"].values()) == len(scenarios)
    for case in recorded["cases"].values():
        settings = [f"{key}={json.dumps(value)}" for key, value in case["scenario"].items()]
        scenario = apply_settings(recorded["scenario"], settings)
        same = [with_varied_fields(scenario, other) == other for other in scenarios]
        assert sum(same) == case["jobs"]


def with_varied_fields(scenario, other):
    """Return a scenario with the method, seed, start and number of devices of another."""
    server = scenario["server"] | {"start": other["server"]["start"]}
    (group,), (other_group,) = scenario["fleet"], other["fleet"]
    fleet = [group | {"count": other_group["count"]}]
    varied = {"method": other["method"], "seed": other["seed"], "server": server, "fleet": fleet}
    return scenario | varied


def test_recorded_runs_are_the_fewest_and_the_most_of_a_point():
    def runs(name, **options):
        spec = read_spec(name, **options)
        return job_settings(spec.job_module.jobs(spec))["runs"]

    assert runs("static-mnist") == [10, 10]
    assert runs("static-mnist", runs=3) == [3, 3]
    assert runs("weights") == [10, 10]
