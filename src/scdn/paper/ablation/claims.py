"""What the paper says about its ablations: what each term saves, and that scores hardly change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from scdn.paper.ablation.ablated_controller import FIXED, FULL, TERMS, case_with_iterations
from scdn.paper.artefact import Claim, Numbers, Verdict
from scdn.paper.method_grid import TRAINS, score_decimals, score_sign
from scdn.paper.published_tables import published_tables
from scdn.paper.summaries import rounded, summarise
from scdn.paper.value_text import listed
from scdn.paper.verdicts import Finding, block_claim

QUANTITIES = {
    "server_j": "server energy",
    "processing_j": "processing energy",
    "transmission_j": "transmission energy",
    "clock_hz": "clock cycles",
}


class AblatedCase(NamedTuple):
    """A case without a term: what it spends more of, and where the paper's numbers are."""

    label: str
    quantity: str
    published_row: str
    published_percent: str


_MOVEMENT = ("server_j", "without_server_movement", "server_energy_saved_percent")
_CLOCK = ("clock_hz", "without_cpu_costs", "cpu_cycles_saved_percent")
_POWER = ("transmission_j", "without_tx_power_costs", "tx_energy_saved_percent")
ABLATED = {
    "no-movement": AblatedCase("movement free", *_MOVEMENT),
    FIXED: AblatedCase("server fixed", *_MOVEMENT),
    "no-processing": AblatedCase("processing free", *_CLOCK),
    "no-transmission": AblatedCase("transmission free", *_POWER),
}
READINGS = {  # the cases that the paper may mean by a disabled term
    "movement": ("no-movement", FIXED),
    "processing": ("no-processing",),
    "transmission": ("no-transmission",),
}
NEAR = 10.0  # percentage points between our saving and the published one
SETTLED = 15  # iterations after which the paper calls Algorithm 3 converged

Cases = dict[str, Any]  # a block's cases, by name


def claims(numbers: Numbers) -> list[Claim]:
    """Judge each saving, and that scores hardly change."""
    data, blocks = numbers["data"], numbers["blocks"]
    source, judged = f"App. ablation, {data}", []
    for term, readings in READINGS.items():
        ablated = ABLATED[readings[0]]
        row = published_tables()["ablation_dynamic"][ablated.published_row]
        published = row[ablated.published_percent][data]
        text = (
            f"Counting {term} saves {published:g} % of {QUANTITIES[ablated.quantity]} (± {NEAR:g} "
            "points, and at least half of it)."
        )
        findings = {
            b: _saves_as_published(cases, readings, published) for b, cases in blocks.items()
        }
        judged.append(block_claim(source, text, findings))
    saves = {block: _each_term_saves(cases) for block, cases in blocks.items()}
    judged.append(block_claim(source, "Each component saves what it is there to save.", saves))
    text = f"Disabling any component changes the final score by less than {_limit_text(numbers)}."
    changes = {block: _score_hardly_changes(numbers, cases) for block, cases in blocks.items()}
    judged.append(block_claim(f"Table abla_optim_all, {data}", text, changes))
    return [*judged, _robust_to_iterations(numbers)]


def saved_percent(cases: Cases, case: str) -> float | None:
    """Return the percentage of a case's spending that the full method saves; None if it is 0."""
    quantity = ABLATED[case].quantity
    without = sum(cases[case][quantity])
    return 100 * (1 - sum(cases[FULL][quantity]) / without) if without > 0 else None


def saving_text(percent: float | None, quantity: str) -> str:
    """Return a saving as text."""
    name = QUANTITIES[quantity]
    if percent is None:
        return f"no {name} (none is spent without)"
    if percent < 0:
        return f"no {name} ({1 - percent / 100:.3g} times as much is spent)"
    return f"{percent:.1f} % of {name}"


def _saves_as_published(cases: Cases, readings: Sequence[str], published: float) -> Finding:
    """Return whether any reading of the disabled term is near the published saving."""
    savings = {case: saved_percent(cases, case) for case in readings}
    evidence = ", ".join(
        f"{ABLATED[case].label}, {saving_text(percent, ABLATED[case].quantity)}"
        for case, percent in savings.items()
    )
    known = [percent for percent in savings.values() if percent is not None]
    holds = any(abs(p - published) <= NEAR and p >= published / 2 for p in known)
    return holds, evidence


def _each_term_saves(cases: Cases) -> Finding:
    """Return whether each term saves at least one percent against a weight of zero."""
    savings = {case: saved_percent(cases, case) for case in (f"no-{term}" for term in TERMS)}
    evidence = ", ".join(saving_text(p, ABLATED[case].quantity) for case, p in savings.items())
    return all(p is not None and p >= 1 for p in savings.values()), evidence


def _limit(numbers: Numbers) -> float:
    """Return a point of top-3, or the paper's own largest change of the error."""
    if numbers["metric"] == "top3":
        return 1.0
    table, data = published_tables()["ablation_dynamic"], numbers["data"]
    return rounded(max(abs(table[row][data][0] - table["full"][data][0]) for row in table))


def _limit_text(numbers: Numbers) -> str:
    unit = "point of top-3" if numbers["metric"] == "top3" else "of MSE"
    return f"{_limit(numbers):g} {unit}"


def _score(case: dict[str, Any]) -> float:
    return summarise(case["score"])["mean"]


def _score_hardly_changes(numbers: Numbers, cases: Cases) -> Finding:
    full, decimals = _score(cases[FULL]), score_decimals(numbers)
    changes = {case: _score(cases[case]) - full for case in ABLATED}
    parts = ", ".join(
        f"{round(change, decimals) + 0.0:+.{decimals}f} {ABLATED[case].label}"
        for case, change in changes.items()
    )
    small = all(abs(change) < _limit(numbers) for change in changes.values())
    evidence = f"{full:.{decimals}f} in full; {parts}{_caveat(numbers, cases)}"
    return small and _iterations(cases) >= TRAINS, evidence


def _iterations(cases: Cases) -> float:
    """Return mean iterations per device and round; with hardly any, no score can change."""
    return summarise(cases[FULL]["iterations"])["mean"]


def _caveat(numbers: Numbers, cases: Cases) -> str:
    """Return why an unchanged score means little, if it does."""
    trivial, iterations = numbers["trivial"], _iterations(cases)
    caveat = ""
    if score_sign(numbers) * (_score(cases[FULL]) - trivial) <= 0:
        caveat += f"; no better than the trivial predictor's {trivial:.3g}"
    if iterations < TRAINS:
        caveat += f"; SC-DN hardly trains ({iterations:.2g} iterations)"
    return caveat


def _robust_to_iterations(numbers: Numbers) -> Claim:
    """Judge how scores depend on Algorithm 3's iterations.

    Reproduced if any number of iterations will do, in this regime if those from 15 on will; not
    reproduced where devices hardly train.
    """
    counts, cases = numbers["counts"], numbers["blocks"].get("published")
    source = f"Fig. oiters_ablate, {numbers['data']}"
    text = (
        f"The final score is robust to the number of Algorithm 3's iterations (within "
        f"{_limit_text(numbers)} of {max(counts)} iterations)."
    )
    if cases is None:
        return Claim(source, text, "not measured", "no runs")
    score = {count: _score(cases[case_with_iterations(count, counts)]) for count in counts}
    far = [n for n in counts if abs(score[n] - score[counts[-1]]) > _limit(numbers)]
    evidence = ", ".join(f"{score[n]:.{score_decimals(numbers)}f} after {n}" for n in counts)
    verdict: Verdict = "reproduced"
    if far:
        verdict = "reproduced in this regime" if max(far) < SETTLED else "not reproduced"
        evidence += f"; not within it: {listed(far)}"
    if _iterations(cases) < TRAINS:
        verdict = "not reproduced"
    return Claim(source, text, verdict, evidence + _caveat(numbers, cases))
