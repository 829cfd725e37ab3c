"""What the paper says about its ablations: what each term saves, and that scores hardly change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from scdn.paper.ablation.ablated_controller import FIXED, FULL, TERMS, case_with_iterations
from scdn.paper.artefact import Claim, Finding, Numbers
from scdn.paper.method_grid import TRAINS, score_decimals, score_sign
from scdn.paper.published_tables import published_tables
from scdn.paper.stale_results import changes_text
from scdn.paper.summaries import rounded, summarise
from scdn.paper.value_text import listed
from scdn.paper.verdicts import block_claim, too_few_runs

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
FEWEST_RUNS = 3  # of every case
SETTLED = 15  # iterations after which the paper calls Algorithm 3 converged

Cases = dict[str, Any]  # a block's cases, by name


def claims(numbers: Numbers) -> list[Claim]:
    """Judge each saving, and that scores hardly change."""
    data = numbers["data"]
    source, judged = f"App. ablation, {data}", []
    for term, readings in READINGS.items():
        ablated = ABLATED[readings[0]]
        row = published_tables()["ablation_dynamic"][ablated.published_row]
        published = row[ablated.published_percent][data]
        text = (
            f"Counting {term} saves {published:g} % of {QUANTITIES[ablated.quantity]} (± {NEAR:g} "
            "points, and at least half of it)."
        )
        near = partial(_saves_as_published, readings=readings, published=published)
        judged.append(block_claim(source, text, _findings(numbers, near)))
    for term in TERMS:
        text = f"Counting {term} saves {QUANTITIES[ABLATED[f'no-{term}'].quantity]}."
        saves = partial(_term_saves, term=term)
        judged.append(block_claim(source, text, _findings(numbers, saves)))
    text = f"Disabling any component changes the final score by less than {_limit_text(numbers)}."
    changes = _findings(numbers, partial(_score_hardly_changes, numbers))
    judged.append(block_claim(f"Table abla_optim_all, {data}", text, changes))
    return [*judged, *_robust_to_iterations(numbers)]


def _findings(
    numbers: Numbers, check: Callable[[Cases], Finding], only: str | None = None
) -> dict[str, Finding | None]:
    """Check a statement in every block with enough runs that were made with today's settings."""
    findings: dict[str, Finding | None] = {}
    for block, cases in numbers["blocks"].items():
        if only not in (None, block):
            continue
        runs, changes = len(cases[FULL]["score"]), numbers.get("stale", {}).get(block)
        if changes:
            findings[block] = Finding("not recomputed", changes_text(changes))
        elif runs < FEWEST_RUNS:
            findings[block] = too_few_runs(runs)
        else:
            findings[block] = check(cases)
    return findings


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


def _saves_as_published(cases: Cases, *, readings: Sequence[str], published: float) -> Finding:
    """Return whether any reading of the disabled term is near the published saving."""
    savings = {case: saved_percent(cases, case) for case in readings}
    evidence = ", ".join(
        f"{ABLATED[case].label}, {saving_text(percent, ABLATED[case].quantity)}"
        for case, percent in savings.items()
    )
    known = [percent for percent in savings.values() if percent is not None]
    holds = any(abs(p - published) <= NEAR and p >= published / 2 for p in known)
    return _if_trained(cases, Finding(holds, evidence))


def _term_saves(cases: Cases, *, term: str) -> Finding:
    """Return whether a term saves at least one percent against a weight of zero."""
    case = f"no-{term}"
    percent = saved_percent(cases, case)
    evidence = saving_text(percent, ABLATED[case].quantity)
    return _if_trained(cases, Finding(percent is not None and percent >= 1, evidence))


def _if_trained(cases: Cases, finding: Finding) -> Finding:
    """Return the finding; where SC-DN hardly trains, its regime is not reached."""
    iterations = _iterations(cases)
    if iterations >= TRAINS:
        return finding
    trains = f"SC-DN hardly trains: {iterations:.2g} iterations"
    return Finding("regime not reached", f"{finding.evidence}; {trains}")


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
    evidence = f"{full:.{decimals}f} in full; {parts}"
    return _if_learned(numbers, cases, Finding(small, evidence))


def _iterations(cases: Cases) -> float:
    """Return mean iterations per device and round; with hardly any, no score can change."""
    return summarise(cases[FULL]["iterations"])["mean"]


def _if_learned(numbers: Numbers, cases: Cases, finding: Finding) -> Finding:
    """Return the finding; where nothing is learned, an unchanged score means nothing."""
    trivial = numbers["trivial"]
    if score_sign(numbers) * (_score(cases[FULL]) - trivial) > 0:
        return _if_trained(cases, finding)
    chance = f"{finding.evidence}; no better than the trivial predictor's {trivial:.3g}"
    return Finding("regime not reached", chance)


def _robust_to_iterations(numbers: Numbers) -> Iterator[Claim]:
    """Judge how scores depend on Algorithm 3's iterations: on any number, and on 15 or more."""
    counts = numbers["counts"]
    source = f"Fig. oiters_ablate, {numbers['data']}"
    near = f"(within {_limit_text(numbers)} of {max(counts)} iterations)"
    for few, text in (
        (
            min(counts),
            f"The final score is robust to the number of Algorithm 3's iterations {near}.",
        ),
        (SETTLED, f"From {SETTLED} of Algorithm 3's iterations on the final score stays {near}."),
    ):
        check = partial(_stays_near, numbers, [n for n in counts if n >= few])
        yield block_claim(source, text, _findings(numbers, check, "published"))


def _stays_near(numbers: Numbers, counts: Sequence[int], cases: Cases) -> Finding:
    every = numbers["counts"]
    score = {count: _score(cases[case_with_iterations(count, every)]) for count in counts}
    far = [n for n in counts if abs(score[n] - _score(cases[FULL])) > _limit(numbers)]
    evidence = ", ".join(f"{score[n]:.{score_decimals(numbers)}f} after {n}" for n in counts)
    if far:
        evidence += f"; not within it: {listed(far)}"
    return _if_learned(numbers, cases, Finding(not far, evidence))
