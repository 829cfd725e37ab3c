"""What is shown beside the paper: other blocks, ε, the bill, fading and redrawn optimisers."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import pytest
from paper_artefacts import assert_can_be_shown, run_jobs_of, verdicts

from scdn.cli import main
from scdn.data import fetch
from scdn.paper.artefact import ResultTable, read_spec
from scdn.paper.disturbances import claims as fading_claims
from scdn.paper.disturbances import jobs as fading_jobs
from scdn.paper.epsilon import claims as epsilon_claims
from scdn.paper.epsilon import jobs as epsilon_jobs
from scdn.paper.method_grid import grid_cells
from scdn.paper.payload import claims as payload_claims
from scdn.paper.payload import jobs as payload_jobs
from scdn.paper.run_artefact import run_artefact
from scdn.paper.static import claims as static_claims

DIGITS = ("learning.dataset=digits", "learning.input=own")


# --- blocks beside the paper ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def static(tmp_path_factory):
    """The document of a small run of all blocks, without Algorithm 3."""
    fetch("digits")
    spec = read_spec("static-mnist", runs=2, rounds=2, overrides=DIGITS)
    blocks = copy.deepcopy(spec.all_blocks)
    blocks["published"]["methods"] = ["sc-dn", "max-vfl", "gsp", "vafl"]
    sweep = spec.sweep | {"devices": [2], "starts": ["centre"]}
    out = tmp_path_factory.mktemp("out")
    run_artefact(replace(spec, sweep=sweep, all_blocks=blocks), out)
    return json.loads((out / "static-mnist.json").read_text())


def test_blocks_beside_the_paper_are_shown_and_not_judged(static):
    numbers = static["numbers"]
    assert numbers["judged"] == ["published", "true"]
    rows = {(row["block"], row["method"]): row for row in numbers["rows"]}
    assert ("mission", "mission") in rows
    assert ("vafl-server", "vafl") in rows
    for claim in static_claims.claims(numbers):
        assert set(claim.findings) <= {"published", "true"}
    tables = [p for p in read_spec("static-mnist").job_module.show(numbers)
              if isinstance(p, ResultTable)]  # fmt: skip
    sources = {row[2].split(" (")[0] for row in tables[0].rows}
    assert {"mission, product update", "vafl-server, paper update"} <= sources
    assert_can_be_shown(read_spec("static-mnist").job_module, numbers)


def test_vafls_other_server_takes_the_same_iterations(static):
    rows = {(row["block"], row["update"], row["method"]): row for row in static["numbers"]["rows"]}
    shared, own = (rows[block, "paper", "vafl"] for block in ("published", "vafl-server"))
    assert own["iterations"] == shared["iterations"]
    assert own["energy"] == shared["energy"]
    assert own["last"] != shared["last"]


def test_a_block_that_needs_another_ones_iterations_can_be_run_alone():
    spec = read_spec("static-mnist", runs=1, only=("vafl-server",))
    jobs = {job.key: job for job in spec.job_module.jobs(spec)}
    assert len(jobs) == 6
    for key, job in jobs.items():
        if key.startswith("vafl-server"):
            assert job.after in jobs


def test_what_is_judged_runs_first_seed_by_seed():
    spec = read_spec("static-mnist")
    first = {cell.key(0)[:-2] for rank, cell in grid_cells(spec) if rank == 0}
    keys = [job.key for job in spec.job_module.jobs(spec)][: 10 * len(first)]
    assert {key.rpartition("-")[0] for key in keys} == first
    assert [key.rpartition("-")[2] for key in keys] == [
        str(seed) for seed in range(10) for _ in first
    ]


# --- ε --------------------------------------------------------------------------------------------


def test_epsilon_decides_who_trains(tmp_path):
    pytest.importorskip("cvxpy")
    fetch("digits")
    spec = read_spec("epsilon", runs=1, rounds=1, overrides=DIGITS)
    spec = replace(spec, sweep=spec.sweep | {"epsilons": [10.0, 2.303e-8], "devices": [2]})
    numbers, _ = run_jobs_of(spec, tmp_path)
    assert_can_be_shown(epsilon_jobs, numbers)
    large, small = (row["planned"]["mean"] for row in numbers["rows"])
    assert large < small
    (verdict,) = verdicts(epsilon_claims, numbers).values()
    assert verdict == "not reproduced"
    for row in numbers["rows"]:
        row["planned"]["mean"] = 3.0
    assert set(verdicts(epsilon_claims, numbers).values()) == {"reproduced"}


# --- the bill -------------------------------------------------------------------------------------


def test_by_the_models_bits_the_server_must_move_and_by_embeddings_it_need_not(tmp_path):
    spec = read_spec("payload", runs=3)
    numbers, _ = run_jobs_of(replace(spec, sweep=spec.sweep | {"devices": [4]}), tmp_path)
    assert_can_be_shown(payload_jobs, numbers)
    model, *others = numbers["rows"]
    assert model["height_m"]["mean"] > 0
    assert model["active_if_it_stays"]["mean"] < 1
    for row in others:
        assert row["height_m"]["mean"] == 0
        assert row["active_if_it_stays"]["mean"] == 1
        assert min(row["stays_over_best"]) >= 1
    assert model["snr_db"] - others[-1]["snr_db"] == pytest.approx(42, abs=0.5)
    (claim,) = payload_claims.claims(numbers)
    answers = [finding.answer for finding in claim.findings.values()]
    assert answers[1:] == [False] * 3


# --- fading and optimisers ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fading(tmp_path_factory):
    fetch("digits")
    spec = read_spec("fading", runs=2, rounds=4, overrides=(*DIGITS, "churn.entry_rate=0"))
    return run_jobs_of(spec, tmp_path_factory.mktemp("cells"))[0]


def test_links_fail_only_where_fading_is_drawn(fading):
    assert_can_be_shown(fading_jobs, fading)
    failed = {
        row["condition"]: row["failed"] / row["sent"]
        for row in fading["rows"]
        if row["method"] == "sc-dn"
    }
    assert failed["as in the other artefacts"] == failed["optimisers redrawn"] == 0
    assert failed["fading drawn"] > failed["fading drawn, plans with a margin of 6 dB"] > 0
    scores = {row["condition"]: row["last"] for row in fading["rows"] if row["method"] == "sc-dn"}
    assert scores["optimisers redrawn"] != scores["as in the other artefacts"]


def test_a_lead_must_survive_every_condition(fading):
    numbers = copy.deepcopy(fading)
    for row in numbers["rows"]:
        row["last"] = [90.0, 91.0] if row["method"] == "sc-dn" else [80.0, 81.5]
    assert set(verdicts(fading_claims, numbers).values()) == {"reproduced"}
    numbers["rows"][1]["last"] = [99.0, 98.0]  # without P^r, as in the other artefacts
    by_text = verdicts(fading_claims, numbers)
    assert by_text["SC-DN ends better than SC-DN without P^r under every condition."] == (
        "reproduced in this regime"
    )


# --- other choices --------------------------------------------------------------------------------


def test_another_choice_is_one_option_away(tmp_path, capsys):
    """Its results are never mistaken for those of the page's settings."""
    command = ["paper", "run", "payload", "--runs", "1", "--out", str(tmp_path)]
    assert main([*command, "--set", "max_delay_s=0.2"]) == 0
    document = json.loads((tmp_path / "payload.json").read_text())
    assert document["settings"] == ["max_delay_s=0.2"]
    assert main(["paper", "report", "--from", str(tmp_path), "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    assert "with max_delay_s=0.2" in (tmp_path / "report.md").read_text()
