"""The four artefacts about one round: small runs end to end, verdicts in every direction."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import numpy as np
import pytest
from paper_artefacts import assert_can_be_shown, run_jobs_of, verdict_on, verdicts

from scdn.errors import InputError
from scdn.paper.artefact import Finding, read_spec
from scdn.paper.convergence import claims as convergence_claims
from scdn.paper.convergence import jobs as convergence_jobs
from scdn.paper.delay_limit import claims as delay_limit_claims
from scdn.paper.delay_limit import jobs as delay_limit_jobs
from scdn.paper.objective_weights import claims as weight_claims
from scdn.paper.objective_weights import jobs as weight_jobs
from scdn.paper.optimality import claims as optimality_claims
from scdn.paper.published_tables import published_tables
from scdn.paper.run_artefact import run_artefact
from scdn.paper.single_round import STARTS, run_algorithm3
from scdn.paper.sweep import run_job
from scdn.paper.verdicts import (
    count_agreeing,
    count_claim,
    is_monotone,
    is_trend,
    mostly,
    verdict,
)

pytest.importorskip("cvxpy")

SMALL = {
    "convergence": {"devices": [2], "iterations": 2},
    "response": {"pade_s": [1e-3, 5e-7], "true_s": [0.1, 0.04]},
    "weights": {
        "devices": [2],
        "published": {name: [3] for name in weight_jobs.WEIGHTS},
        "shannon": {name: [-3, 0, 3] for name in weight_jobs.WEIGHTS},
    },
    "exact": {"devices": [2], "regimes": {"patient": ["profile=product", "max_delay_s=1.0"]}},
}


def small_spec(name, **options):
    spec = read_spec(name, **{"runs": 1, **options})
    return replace(spec, sweep=spec.sweep | SMALL[name])


def run_two_iterations(problem, **settings):
    return run_algorithm3(problem, **{**settings, "iterations": 2})


def test_so_far_shows_the_runs_that_are_complete(tmp_path):
    spec = small_spec("exact", runs=3)
    run_artefact(spec, tmp_path)
    document = tmp_path / "exact.json"
    complete = json.loads(document.read_text())
    cells = sorted((tmp_path / "cells" / "exact").iterdir())
    assert len(cells) == 3
    cells[2].unlink()
    run_artefact(spec, tmp_path, so_far=True)
    fewer = json.loads(document.read_text())
    assert (complete["seeds"], fewer["seeds"]) == ([0, 1, 2], [0, 1])
    assert fewer["jobs"] == {"planned": 3, "done": 2}
    assert fewer["runs"] == [2, 2]
    cells[0].unlink()
    with pytest.raises(InputError, match="has 1 of 3 results, and no run is complete"):
        run_artefact(spec, tmp_path, so_far=True)
    assert json.loads(document.read_text()) == fewer


@pytest.mark.parametrize("name", SMALL)
def test_a_small_run_has_numbers_drawings_and_verdicts(name, tmp_path, monkeypatch):
    for module in (delay_limit_jobs, weight_jobs):
        monkeypatch.setattr(module, "run_algorithm3", run_two_iterations)
    for module in (convergence_jobs, convergence_claims):
        monkeypatch.setattr(module, "STARTS", ("centre", "max"))
    monkeypatch.setattr(delay_limit_jobs, "_LIMIT_PRECISION", 0.3)
    spec = small_spec(name, only=("shannon",) if name == "weights" else ())
    numbers, _ = run_jobs_of(spec, tmp_path)
    assert_can_be_shown(spec.job_module, numbers, drawings=2)  # the others use the same functions
    claims = spec.claim_module.claims(numbers)
    assert len({claim.text for claim in claims}) == len(claims) >= 4


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("convergence", "max-2-0"),
        ("response", "true-random-0"),
        ("weights", "published-movement-centre-2-0"),
    ],
)
def test_a_second_run_gives_the_same_numbers(name, key):
    spec = small_spec(name)
    (job,) = [job for job in spec.job_module.jobs(spec) if job.key == key]
    first, second = (run_job(job.function, job.arguments)["result"] for _ in range(2))
    assert first == second


def test_every_job_has_its_own_seed_start_and_size():
    for spec in map(read_spec, SMALL):
        jobs = spec.job_module.jobs(spec)
        assert len({json.dumps(job.arguments, sort_keys=True) for job in jobs}) == len(jobs)


# --- verdicts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"a": (10, 10), "b": (9, 10)}, "reproduced"),
        ({"a": (10, 10), "b": (2, 10)}, "reproduced in this regime"),
        ({"a": (8, 10), "b": (2, 10)}, "not reproduced"),
        ({"a": (0, 0)}, "not measured"),
        ({"a": (0, 0), "b": (3, 3)}, "reproduced"),
    ],
)
def test_a_verdict_follows_from_counts(counts, expected):
    assert count_claim("", "", counts, "cases").verdict == expected


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([True, True], "reproduced"),
        ([True, False], "reproduced in this regime"),
        ([True, "regime not reached"], "reproduced in this regime"),
        ([False, "regime not reached"], "not reproduced"),
        (["not enough runs", "regime not reached"], "regime not reached"),
        (["not enough runs"], "not enough runs"),
        ([True, "not recomputed"], "not recomputed"),
        ([], "not measured"),
    ],
)
def test_a_verdict_follows_from_answers(answers, expected):
    assert verdict([Finding(answer, "") for answer in answers]) == expected


def test_nine_tenths_of_all_cases_must_agree():
    assert mostly([True] * 9 + [False])
    assert not mostly([True] * 8 + [False] * 2)
    assert not mostly([True, True, False])
    assert not mostly([])


def test_single_runs_are_judged_as_trends():
    assert is_trend([1, 2, 1.9, 3, 4], 1)
    assert is_trend([4, 1, 2, 0.5, 0.1], -1)
    assert not is_trend([1, 2, 1, 2, 1], 1)
    assert not is_trend([1, 1, 1], 1)
    assert not is_trend([1], 1)


def test_cases_without_an_answer_do_not_count():
    cases = {"a": [3, None, -1], "b": [None]}
    counts = count_agreeing(cases, lambda case: None if case is None else case > 0)
    assert counts == {"a": (1, 2), "b": (0, 0)}


def test_a_trend_allows_small_steps_back_only():
    assert is_monotone([0, 1, 0.97, 2], 1)
    assert not is_monotone([0, 1, 0.5, 2], 1)
    assert is_monotone([2, 1, 1, 0], -1)
    assert not is_monotone([1, 1, 1], 1)


def numbers_as_published() -> dict:
    """Return convergence numbers that agree with the paper in everything."""
    cells = {}
    for start in STARTS:
        cells[start] = {}
        for n, entry in published_tables()[convergence_claims.PUBLISHED[start]].items():
            first, _, last = entry["mean"]
            cells[start][n] = {
                "mean": [*np.geomspace(first, last, 12), *([last] * 18)],
                "std": [0.1] * 30,
                "rise": 0.0,
                "stopped": [14],
                "active": [int(n)],
                "unheard": [0],
                "iterations": 3.0,
                "penalty_share": 0.9,
                "centroid_m": 1.0,
            }
    both = {"raised": cells, "single": copy.deepcopy(cells)}
    return {"devices": [2, 4, 6, 8, 10], "tolerance": 1e-4, "penalties": both}


def test_convergence_is_judged_by_its_numbers():
    good, bad = numbers_as_published(), numbers_as_published()
    for words in ("monotonically", "about 15 iterations", "Larger networks", "at iteration 30",
                  "only nominally"):  # fmt: skip
        assert verdict_on(convergence_claims, good, words) == "reproduced"
    for start in STARTS:
        for number, cell in enumerate(bad["penalties"]["raised"][start].values()):
            cell["rise"], cell["unheard"] = 0.1, [2]
            cell["mean"] = list(np.geomspace(1e5, 9.0 - number, 30))
    assert verdict_on(convergence_claims, bad, "monotonically") == "reproduced in this regime"
    for words in ("about 15 iterations", "Larger networks", "at iteration 30"):
        assert verdict_on(convergence_claims, bad, words) == "not reproduced"


def delay_limit_numbers(**changes: object) -> dict:
    """Return events that agree with the paper, the same in every network, with changes."""
    events = {
        "counts": [2, 2, 1, 0],
        "power_w": [0.1, 0.2],
        "both": 2,
        "last": 0,
        "nearest": 0,
        "least_s": 5e-6,
        "midpoint_m": 1.0,
        "apart_m": 50.0,
        "beside_m": 1.0,
        "off_z_m": 0.0,
        "off_moved_m": 0.0,
        "edges_s": [],
        "late": 0,
        "sent": 5,
    } | changes
    solvers = delay_limit_jobs.SOLVERS
    return {"events": {s: {start: [dict(events)] for start in STARTS} for s in solvers}}


@pytest.mark.parametrize(
    ("counts", "expected"),
    [([2, *[0] * 9], "reproduced"), ([2, 1, 2, 0], "not reproduced"), ([2, 1], "not reproduced")],
)
def test_devices_are_only_ever_switched_off(counts, expected):
    """Early or late: limits at which nothing changes say nothing."""
    numbers = delay_limit_numbers(counts=counts)
    assert verdict_on(delay_limit_claims, numbers, "Then both are switched off") == expected


def test_the_response_to_limits_is_judged_by_its_events():
    good = delay_limit_numbers()
    for by_start in good["events"].values():
        by_start["max"][0]["least_s"] = 5e-5
    assert set(verdicts(delay_limit_claims, good).values()) == {"reproduced"}
    bad = delay_limit_numbers(
        counts=[2, 2, 2, 2],
        power_w=[0.2, 0.1],
        nearest=1,
        midpoint_m=40.0,
        beside_m=40.0,
        off_z_m=20.0,
        off_moved_m=20.0,
    )
    for by_start in bad["events"].values():
        by_start["random"][0]["last"] = 1
    by_text = verdicts(delay_limit_claims, bad)
    nearest = "The last active device is the one nearest to the server's start"
    assert by_text.pop(nearest) != "reproduced"
    assert set(by_text.values()) == {"not reproduced"}
    earlier = delay_limit_numbers()
    del earlier["events"]["Algorithm 3"]["max"][0]["power_w"]
    assert verdict_on(delay_limit_claims, earlier, "raise their power") == "not recomputed"
    unknown = delay_limit_numbers(last=None, beside_m=None)
    assert verdict_on(delay_limit_claims, unknown, "same device") == "not measured"


def weight_numbers(rising: bool) -> dict:
    """Return curves that all rise or all fall; the paper says that some do and some do not."""
    values = list(np.linspace(*((0.0, 4.0) if rising else (4.0, 0.0)), 5))
    curves = {name: {"mean": values, "std": [0.0] * 5} for name in weight_jobs.QUANTITIES}
    weights = weight_jobs.WEIGHTS
    by_weight = {w: {s: {str(n): curves for n in (2, 6, 10)} for s in STARTS} for w in weights}
    return {
        "devices": [2, 6, 10],
        "curves": {"shannon": by_weight},
        "exponents": {"shannon": {weight: [0, 1, 2, 3, 4] for weight in weights}},
        "runs": 2,
    }


@pytest.mark.parametrize("rising", [True, False])
def test_trends_are_judged_by_their_direction(rising):
    numbers = weight_numbers(rising)
    for words, rises in (
        ("ψ^G buys more", True),
        ("ψ^G lowers", False),
        ("ψ^P costs", False),
        ("ψ^P raises", True),
        ("ψ^R lowers", False),
        ("ψ^R raises", True),
        ("ψ^S makes", False),
    ):
        expected = "reproduced" if rises == rising else "not reproduced"
        assert verdict_on(weight_claims, numbers, words) == expected
    for words in ("all devices are off", "the server keeps its xy-position", "the server is at z"):
        landed = verdict_on(weight_claims, numbers, f"At the largest ψ^R (1e12) {words}")
        assert landed == ("not reproduced" if rising else "reproduced")


def comparison(ratio: float, late: int) -> dict:
    return {
        "exact": {"objective": 2.0, "proven": True, "active": 2, "seconds": 0.01},
        "paper": {
            "active": 2,
            "late": late,
            "out_of_reach": late,
            "delay_over_limit": [1.0],
            "seconds": 1.0,
        },
        "repaired": {"objective": 2.0 * ratio, "active": 2},
    }


def test_optimality_is_judged_against_the_proven_optimum():
    good, bad = {"2": [comparison(1.001, 0)] * 3}, {"2": [comparison(7.0, 1)] * 3}
    for regimes, expected in (
        ({"pade": good}, "reproduced"),
        ({"pade": good, "shannon": bad}, "reproduced in this regime"),
        ({"pade": bad, "shannon": bad}, "not reproduced"),
    ):
        numbers = {"devices": [2], "regimes": regimes}
        for words in ("optimal point", "within T^max", "in reach"):
            assert verdict_on(optimality_claims, numbers, words) == expected
