"""What the paper says of its ablations: what each term saves, and that scores hardly change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scdn.paper.artefact import Claim, Numbers, Verdict
from scdn.paper.blocks import TRAINS, decimals, sign, spread
from scdn.paper.digits import listed, rounded
from scdn.paper.judging import Look, judged
from scdn.paper.published import published
from scdn.paper.switches import FIXED, FULL, TERMS, iterated

WORDS = {
    "server_j": "server energy",
    "processing_j": "processing energy",
    "transmission_j": "transmission energy",
    "clock_hz": "clock cycles",
}
_MOVED = ("server_j", "without_server_movement", "server_energy_saved_percent")
_CLOCK = ("clock_hz", "without_cpu_costs", "cpu_cycles_saved_percent")
_POWER = ("transmission_j", "without_tx_power_costs", "tx_energy_saved_percent")
WITHOUT = {  # case → label, what it spends more of, and where the paper's numbers are
    "no-movement": ("movement free", *_MOVED),
    FIXED: ("server fixed", *_MOVED),
    "no-processing": ("processing free", *_CLOCK),
    "no-transmission": ("transmission free", *_POWER),
}
READINGS = {  # what may be meant by a term that is disabled
    "movement": ("no-movement", FIXED),
    "processing": ("no-processing",),
    "transmission": ("no-transmission",),
}
NEAR = 10.0  # points of percent: how near a saving must be to the published one
SETTLED = 15  # iterations after which the paper calls Algorithm 3 converged

Cases = dict[str, Any]  # a block's, by name


def claims(numbers: Numbers) -> list[Claim]:
    """Each saving, and that scores hardly change."""
    data, blocks = numbers["data"], numbers["blocks"]
    where, found = f"App. ablation, {data}", []
    for term, readings in READINGS.items():
        _, quantity, key, percent = WITHOUT[readings[0]]
        wanted = published()["ablation_dynamic"][key][percent][data]
        text = (
            f"Counting {term} saves {wanted:g} % of {WORDS[quantity]} (± {NEAR:g} points, and at "
            "least half of it)."
        )
        looks = {block: _saves(cases, readings, wanted) for block, cases in blocks.items()}
        found.append(judged(where, text, looks))
    saves = {block: _each_saves(cases) for block, cases in blocks.items()}
    found.append(judged(where, "Each component saves what it is there to save.", saves))
    text = f"Disabling any component changes the final score by less than {_margin(numbers)}."
    minor = {block: _minor(numbers, cases) for block, cases in blocks.items()}
    found.append(judged(f"Table abla_optim_all, {data}", text, minor))
    return [*found, _robust(numbers)]


def saving(cases: Cases, case: str) -> float | None:
    """Percent of what a case spends that the full method saves; None where it spends nothing."""
    quantity = WITHOUT[case][1]
    without = sum(cases[case][quantity])
    return 100 * (1 - sum(cases[FULL][quantity]) / without) if without > 0 else None


def saved_words(saved: float | None, quantity: str) -> str:
    """A saving in words."""
    if saved is None:
        return f"no {WORDS[quantity]} (none is spent without)"
    if saved < 0:
        return f"no {WORDS[quantity]} ({1 - saved / 100:.3g} times as much is spent)"
    return f"{saved:.1f} % of {WORDS[quantity]}"


def _saves(cases: Cases, readings: Sequence[str], wanted: float) -> Look:
    """Whether any reading of what was disabled is near the published saving."""
    found = {case: saving(cases, case) for case in readings}
    words = ", ".join(
        f"{WITHOUT[case][0]}, {saved_words(saved, WITHOUT[case][1])}"
        for case, saved in found.items()
    )
    known = [saved for saved in found.values() if saved is not None]
    return any(abs(saved - wanted) <= NEAR and saved >= wanted / 2 for saved in known), words


def _each_saves(cases: Cases) -> Look:
    """At least one percent each, with its weight at zero."""
    found = {case: saving(cases, case) for case in (f"no-{term}" for term in TERMS)}
    words = ", ".join(saved_words(saved, WITHOUT[case][1]) for case, saved in found.items())
    return all(saved is not None and saved >= 1 for saved in found.values()), words


def _limit(numbers: Numbers) -> float:
    """A point of top-3, or the paper's own largest change of the error."""
    if numbers["metric"] == "top3":
        return 1.0
    table, data = published()["ablation_dynamic"], numbers["data"]
    return rounded(max(abs(table[key][data][0] - table["full"][data][0]) for key in table))


def _margin(numbers: Numbers) -> str:
    unit = "point of top-3" if numbers["metric"] == "top3" else "of MSE"
    return f"{_limit(numbers):g} {unit}"


def _score(case: dict[str, Any]) -> float:
    return spread(case["score"])["mean"]


def _minor(numbers: Numbers, cases: Cases) -> Look:
    full, digits = _score(cases[FULL]), decimals(numbers)
    changes = {case: _score(cases[case]) - full for case in WITHOUT}
    words = ", ".join(
        f"{round(change, digits) + 0.0:+.{digits}f} {WITHOUT[case][0]}"
        for case, change in changes.items()
    )
    small = all(abs(change) < _limit(numbers) for change in changes.values())
    good = small and _trained(cases) >= TRAINS
    return good, f"{full:.{digits}f} in full; {words}{_caveat(numbers, cases)}"


def _trained(cases: Cases) -> float:
    """Iterations of a device and round; where hardly any are made, no score can change."""
    return spread(cases[FULL]["iterations"])["mean"]


def _caveat(numbers: Numbers, cases: Cases) -> str:
    """What takes the weight from a score that does not change."""
    trivial, count = numbers["trivial"], _trained(cases)
    better = sign(numbers) * (_score(cases[FULL]) - trivial) > 0
    words = "" if better else f"; no better than the trivial predictor's {trivial:.3g}"
    rests = f"; SC-DN trains only {count:.2g} iterations a device and round (below {TRAINS:g})"
    return words if count >= TRAINS else words + rests


def _robust(numbers: Numbers) -> Claim:
    """Reproduced if every number of iterations will do; in a regime if those from 15 on will.

    Where devices hardly train, nothing is shown.
    """
    counts, cases = numbers["counts"], numbers["blocks"].get("published")
    source = f"Fig. oiters_ablate, {numbers['data']}"
    text = (
        f"The final score is robust to the number of Algorithm 3's iterations (within "
        f"{_margin(numbers)} of {max(counts)} iterations)."
    )
    if cases is None:
        return Claim(source, text, "not measured", "no runs")
    score = {count: _score(cases[iterated(count, counts)]) for count in counts}
    far = [n for n in counts if abs(score[n] - score[counts[-1]]) > _limit(numbers)]
    words = ", ".join(f"{score[n]:.{decimals(numbers)}f} after {n}" for n in counts)
    verdict: Verdict = "reproduced"
    if far:
        verdict = "reproduced in this regime" if max(far) < SETTLED else "not reproduced"
        words += f"; not within it: {listed(far)}"
    if _trained(cases) < TRAINS:
        verdict = "not reproduced"
    return Claim(source, text, verdict, words + _caveat(numbers, cases))
