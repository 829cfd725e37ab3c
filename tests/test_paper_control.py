"""The four artefacts about one round: small runs end to end, verdicts that can go either way."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from scdn.errors import InputError
from scdn.paper import convergence, counting, exact_rival, response, weights
from scdn.paper.artefact import Drawing, Setting, Table, module_of, table_of
from scdn.paper.control import STARTS, algorithm_3
from scdn.paper.draw import picture
from scdn.paper.jobs import carry_out, sweep
from scdn.paper.produce import produce
from scdn.paper.published import published

pytest.importorskip("cvxpy")

SMALL = {
    "convergence": {"devices": [2], "iterations": 2},
    "response": {"pade_s": [1e-3, 5e-7], "true_s": [0.1, 0.04]},
    "weights": {
        "devices": [2],
        "published": {name: [3] for name in weights.WEIGHTS},
        "shannon": {name: [-3, 0, 3] for name in weights.WEIGHTS},
    },
    "exact": {"devices": [2], "regimes": {"patient": ["profile=product", "max_delay_s=1.0"]}},
}


def small(name: str, runs: int = 1, **more: object) -> Setting:
    table = copy.deepcopy(table_of(name))
    table["sweep"].update(SMALL[name])
    return Setting(table, runs, **more)


def quick(problem, **how):
    return algorithm_3(problem, **{**how, "iterations": 2})


def measured(setting: Setting, folder) -> dict:
    module = module_of(setting.table)
    found = sweep(module.jobs(setting), folder)
    return module.numbers(setting, {key: record["result"] for key, record in found.items()})


def verdicts(module, numbers) -> dict[str, str]:
    return {claim.text: claim.verdict for claim in module.claims(numbers)}


def verdict_of(module, numbers, words: str) -> str:
    (found,) = [v for text, v in verdicts(module, numbers).items() if words in text]
    return found


def test_so_far_shows_the_runs_that_are_whole(tmp_path):
    setting = small("exact", 3)
    produce(setting, tmp_path)
    document = tmp_path / "exact.json"
    whole = json.loads(document.read_text())
    cells = sorted((tmp_path / "cells" / "exact").iterdir())
    assert len(cells) == 3
    cells[2].unlink()
    produce(setting, tmp_path, so_far=True)
    fewer = json.loads(document.read_text())
    assert (whole["seeds"], fewer["seeds"]) == ([0, 1, 2], [0, 1])
    assert fewer["jobs"] == {"planned": 3, "done": 2}
    assert fewer["runs"] == [2, 2]
    cells[0].unlink()
    with pytest.raises(InputError, match="has 1 of 3 results, and no run is whole"):
        produce(setting, tmp_path, so_far=True)
    assert json.loads(document.read_text()) == fewer


@pytest.mark.parametrize("name", SMALL)
def test_a_small_run_has_numbers_drawings_and_verdicts(name, tmp_path, monkeypatch):
    for module in (response, weights):
        monkeypatch.setattr(module, "algorithm_3", quick)
    setting = small(name, only=("shannon",) if name == "weights" else ())
    numbers = json.loads(json.dumps(measured(setting, tmp_path), allow_nan=False))
    module = module_of(setting.table)
    parts = module.show(numbers)
    drawings = [part for part in parts if isinstance(part, Drawing)]
    for drawing in drawings[:2]:  # the others are of the same two functions
        assert picture(drawing).startswith(b"\x89PNG")
    for part in parts:
        if isinstance(part, Table):
            assert {len(row) for row in part.rows} == {len(part.head)}
    claims = module.claims(numbers)
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
    (job,) = [job for job in module_of(table_of(name)).jobs(small(name)) if job.key == key]
    once, again = (carry_out(job.work, job.arguments, None)["result"] for _ in range(2))
    assert once == again


def test_every_job_has_its_own_seed_start_and_size():
    for name in SMALL:
        jobs = module_of(table_of(name)).jobs(Setting(table_of(name)))
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
    assert counting.verdict(counts) == expected


def test_cases_that_cannot_be_asked_do_not_count():
    cases = {"a": [3, None, -1], "b": [None]}
    found = counting.tallies(cases, lambda case: None if case is None else case > 0)
    assert found == {"a": (1, 2), "b": (0, 0)}


def test_a_trend_forgives_small_steps_back_only():
    assert counting.goes([0, 1, 0.97, 2], 1)
    assert not counting.goes([0, 1, 0.5, 2], 1)
    assert counting.goes([2, 1, 1, 0], -1)
    assert not counting.goes([1, 1, 1], 1)


def as_published() -> dict:
    """Numbers of a run that agrees with the paper in everything."""
    cells = {}
    for start in STARTS:
        cells[start] = {}
        for n, entry in published()[convergence.PUBLISHED[start]].items():
            first, _, last = entry["mean"]
            fall = np.geomspace(first, last, 12)
            cells[start][n] = {
                "mean": [*fall, *([last] * 18)],
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
    good = as_published()
    assert verdict_of(convergence, good, "monotonically") == "reproduced"
    assert verdict_of(convergence, good, "about 15 iterations") == "reproduced"
    assert verdict_of(convergence, good, "Larger networks") == "reproduced"
    assert verdict_of(convergence, good, "at iteration 30") == "reproduced"
    assert verdict_of(convergence, good, "only nominally") == "reproduced"
    bad = as_published()
    for start in STARTS:
        for number, cell in enumerate(bad["penalties"]["raised"][start].values()):
            cell["rise"], cell["unheard"] = 0.1, [2]
            cell["mean"] = list(np.geomspace(1e5, 9.0 - number, 30))
    assert verdict_of(convergence, bad, "monotonically") == "reproduced in this regime"
    for words in ("about 15 iterations", "Larger networks", "at iteration 30"):
        assert verdict_of(convergence, bad, words) == "not reproduced"


def event(**changes: object) -> dict:
    usual = {
        "counts": [2, 2, 1, 0],
        "power_rises": True,
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
    }
    return {**usual, **changes}


def events(**changes: object) -> dict:
    found = {s: {start: [event(**changes)] for start in STARTS} for s in response.SOLVERS}
    return {"events": found}


def test_the_response_is_judged_by_its_events():
    numbers = events()
    for by in numbers["events"].values():
        by["max"][0]["least_s"] = 5e-5
    assert set(verdicts(response, numbers).values()) == {"reproduced"}
    bad = events(
        counts=[2, 0, 1, 0],
        power_rises=False,
        nearest=1,
        midpoint_m=40.0,
        beside_m=40.0,
        off_z_m=20.0,
    )
    for by in bad["events"].values():
        by["random"][0]["last"] = 1
    found = verdicts(response, bad)
    assert found.pop("The last active device is the one nearest to the server's start") != (
        "reproduced"
    )
    assert set(found.values()) == {"not reproduced"}
    assert verdict_of(response, events(last=None, beside_m=None), "same device") == "not measured"


def curves(rising: bool) -> dict:
    """Curves that all rise or all fall, where the paper says that some do and some do not."""
    ends = (0.0, 4.0) if rising else (4.0, 0.0)
    values = list(np.linspace(*ends, 5))
    cell = {name: {"mean": values, "std": [0.0] * 5} for name in weights.KEPT}
    by = {w: {s: {str(n): cell for n in (2, 6, 10)} for s in STARTS} for w in weights.WEIGHTS}
    exponents = {"shannon": {weight: [0, 1, 2, 3, 4] for weight in weights.WEIGHTS}}
    return {
        "devices": [2, 6, 10],
        "curves": {"shannon": by},
        "exponents": exponents,
        "runs": 2,
    }


@pytest.mark.parametrize("rising", [True, False])
def test_trends_are_judged_by_their_direction(rising):
    numbers = curves(rising)
    for words, up in (
        ("ψ^G buys more", True),
        ("ψ^G lowers", False),
        ("ψ^P costs", False),
        ("ψ^P raises", True),
        ("ψ^R lowers", False),
        ("ψ^R raises", True),
        ("ψ^S makes", False),
    ):
        expected = "reproduced" if up == rising else "not reproduced"
        assert verdict_of(weights, numbers, words) == expected
    landed = verdict_of(weights, numbers, "At the largest ψ^R")
    assert landed == ("not reproduced" if rising else "reproduced")


def pair(ratio: float, late: int) -> dict:
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
    good, bad = {"2": [pair(1.001, 0)] * 3}, {"2": [pair(7.0, 1)] * 3}
    both = {"devices": [2], "regimes": {"pade": good, "shannon": bad}}
    worse = {"devices": [2], "regimes": {"pade": bad, "shannon": bad}}
    fine = {"devices": [2], "regimes": {"pade": good}}
    for words in ("optimal point", "within T^max", "can be heard"):
        assert verdict_of(exact_rival, fine, words) == "reproduced"
        assert verdict_of(exact_rival, both, words) == "reproduced in this regime"
        assert verdict_of(exact_rival, worse, words) == "not reproduced"
