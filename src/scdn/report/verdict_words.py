"""The sentences of a verdict. They state what was measured, and what the exact test makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scdn.record.headline_metric import Headline
from scdn.report.number_format import number, p_value
from scdn.report.results import TOO_FEW_SEEDS, MethodResult
from scdn.report.statistics import LEAST_SEEDS

_BITS = ((1e9, "Gbit"), (1e6, "Mbit"), (1e3, "kbit"), (1.0, "bit"))
_REASONS = {
    "seconds": "If time matters most",
    "score": "If the final score matters most",
    "bits": "If traffic matters most",
    "joules": "If energy matters most",
}


@dataclass(frozen=True)
class ChoiceNumbers:
    """What the chosen method achieved; None where it has no number."""

    method: str
    target: str | None
    metric: Headline
    joules: float | None
    seconds: float | None
    score: float | None
    reached: int
    seeds: int
    averaged: bool  # over several seeds
    ranked: bool  # medians, not means

    @property
    def average(self) -> str:
        """What the numbers are, in brackets."""
        return f" ({'medians' if self.ranked else 'means'})" if self.averaged else ""

    @property
    def cost(self) -> str:
        """Joules and seconds as text."""
        if self.joules is None or self.seconds is None:
            return ""
        return f"{significant(self.joules)} J and {significant(self.seconds)} s{self.average}"


def headline(choice: ChoiceNumbers, certainty: str) -> str:
    """Return the verdict in one sentence."""
    decided = certainty == "decided"
    if choice.target is None:
        score = "–" if choice.score is None else choice.metric.format(choice.score)
        cost = f" for {choice.cost}" if choice.cost else ""
        ended = f"{score}{cost}, over {_seeds(choice.seeds)}"
        if certainty == "one method":
            return (
                f"{choice.method} ended with {ended}; it is the only method, so there is no choice."
            )
        if decided:
            return f"{choice.method} is the choice for the best score: it ended with {ended}."
        return (
            f"{choice.method} ended with the best score in these runs, {ended}.{_doubt(certainty)}"
        )
    often = _share(choice.reached, choice.seeds)
    if not choice.cost:  # half of its runs or more missed the target
        return f"No method reaches {choice.target} reliably: {choice.method} reached it {often}."
    if certainty == "one method":
        return (
            f"{choice.method} reached {choice.target} with {choice.cost}, {often}; "
            "it is the only method, so there is no choice."
        )
    if decided:
        return (
            f"{choice.method} is the choice for {choice.target}: "
            f"it needs {choice.cost}, and got there {often}."
        )
    return (
        f"{choice.method} reached {choice.target} with the least energy in these runs: "
        f"{choice.cost}, {often}.{_doubt(certainty)}"
    )


def _doubt(certainty: str) -> str:
    if certainty == TOO_FEW_SEEDS:
        return " There are too few seeds to tell whether that is chance."
    return " The exact test does not confirm it against every other method."


def evidence(
    choice: ChoiceNumbers,
    other: str,
    result: MethodResult | None,
    factor: float | None,
    ahead: tuple[int, int],
) -> list[str]:
    """Return how far the next best method is behind, in how many seeds, and what the test says."""
    sentences = []
    if choice.target is not None:
        needs = (
            "never got there" if result is None else "missed the target in half of its runs or more"
        )
        if result is not None and result.centre is not None:
            needs = f"needed {significant(result.centre)} J"
            needs += "" if factor is None else f", {times(factor)}"
        sentences.append(f"The next best, {other}, {needs}.")
        better = f"{choice.method} needed less energy than {other}"
    else:
        if result is not None and result.centre is not None and choice.score is not None:
            _, theirs = scores(choice.metric, choice.score, result.centre)
            sentences.append(f"The next best, {other}, ended with {theirs}.")
        better = f"{choice.method} scored better than {other}"
    count, common = ahead
    if common:
        sentences.append(f"{better} in {count} of {_seeds(common, 'common ')}: {test(result)}.")
    else:
        sentences.append(f"{choice.method} and {other} have no seed in common, so no test applies.")
    return sentences


def test(result: MethodResult | None) -> str:
    """Return what the exact test says of another method against the choice."""
    if result is None or result.verdict in (None, TOO_FEW_SEEDS):
        return f"too few seeds to tell, {LEAST_SEEDS} are the least"
    chance = _p(result.p)
    if result.verdict == "worse":
        return f"the exact test confirms it ({chance})"
    if result.verdict == "better":
        return f"seed by seed the exact test finds {result.method} better ({chance})"
    return f"the exact test finds no clear difference ({chance})"


def other_tests(tests: Mapping[str, MethodResult | None], certainty: str) -> list[str]:
    """Return which further methods the test does not tell from the choice."""
    if certainty != "no clear difference":
        return []
    unclear = [
        f"{method} ({_p(result.p)})"
        for method, result in tests.items()
        if result is not None and result.verdict != "worse"
    ]
    return [f"Nor does it confirm the choice against {_listed(unclear)}."] if unclear else []


def alternative(
    key: str,
    method: str,
    values: tuple[float, float],
    prices: Sequence[float | None],
    metric: Headline,
    to_target: bool,
) -> str:
    """Return when another method would be the choice: its value, the choice's, and the price."""
    if key == "score":
        first, second = scores(metric, *values)
        text = f"{method} ended with {first} instead of {second}"
    elif key == "seconds":
        first, second = distinct(*values)
        verb = "got there in" if to_target else "took"
        text = f"{method} {verb} {first} s instead of {second} s"
    elif key == "joules":
        first, second = distinct(*values)
        text = f"{method} used {first} J instead of {second} J"
    else:
        text = f"{method} sent and received {bits(values[0])} instead of {bits(values[1])}"
    price = _price(prices, metric, scored=not to_target and key != "score", whole=key == "score")
    return f"{_REASONS[key]}: {text}{price}"


def _price(prices: Sequence[float | None], metric: Headline, scored: bool, whole: bool) -> str:
    theirs, own = prices
    if theirs is None or own is None:
        return ""
    if scored:
        first, second = scores(metric, theirs, own)
        return f", and ended with {first} instead of {second}"
    first, second = distinct(theirs, own)
    runs = " over the whole run" if whole else ""
    return f", for {first} J instead of {second} J{runs}"


def alternative_test(result: MethodResult, quiet: bool) -> str:
    """Return what the test says of an alternative; nothing where a `quiet` verdict has said it."""
    if result.verdict in (None, TOO_FEW_SEEDS):
        return "" if quiet else "; too few seeds to tell"
    chance = _p(result.p)
    if result.verdict == "better":
        return f"; the exact test confirms it ({chance})"
    if result.verdict == "worse":
        return f"; but seed by seed the exact test finds it worse ({chance})"
    return f"; no clear difference ({chance})"


def no_alternative(to_target: bool) -> str:
    """Return that nothing else speaks for another method."""
    if to_target:
        return "No other method was noticeably faster, scored better at the end or sent fewer bits."
    return "No other method used noticeably less energy, time or traffic."


def missed(reached: int, seeds: int, reliable: Sequence[str]) -> str:
    """Return how often the choice missed the target, and which methods never did."""
    others = (
        f"{_listed(reliable)} never did" if reliable else "no method reached it with every seed"
    )
    return f"It missed the target in {seeds - reached} of {_seeds(seeds)}; {others}."


def stopped_before(method: str, own: Sequence[str], seeds: int, target: str | None) -> str:
    """Return that a method's runs ended at a target of their own, before the one that is asked."""
    targets = _listed(list(dict.fromkeys(own)))
    return (
        f"{len(own)} of {seeds} run{'s' * (seeds != 1)} of {method} ended as asked at {targets}, "
        f"and did not go on to {target}: to compare {method}, run it with that target."
    )


def divergence(method: str | None, count: int, runs: int) -> list[str]:
    """Return how many runs diverged."""
    if not count:
        return []
    whose = "the runs" if method is None else f"the runs of {method}"
    return [f"{count} of {runs} of {whose} diverged." if runs > 1 else "The run diverged."]


def unfinished(count: int, runs: int) -> list[str]:
    """Return how many runs have not ended."""
    if not count:
        return []
    verb = "has" if count == 1 else "have"
    return [f"{count} of {runs} runs {verb} not ended, so the verdict may change."]


def unequal_seeds(counts: Mapping[str, int]) -> str:
    """Return that the methods have different numbers of seeds."""
    each = ", ".join(f"{method} {count}" for method, count in counts.items())
    return f"The methods have different numbers of seeds ({each}); tests use the common ones."


def nobody(
    target: str | None,
    metric: Headline,
    best: str | None,
    score: float | None,
    joules: float | None,
    runs: int,
) -> tuple[str, list[str]]:
    """Return the sentences where no run reached the target, or too many diverged."""
    if best is None or score is None:
        ending = (
            "The run diverged" if runs == 1 else "Half of the runs of each method or more diverged"
        )
        return f"{ending}, so there is nothing to choose.", []
    cost = "" if joules is None else f" after {significant(joules)} J"
    return (
        f"No run reached {target}, so there is no method to choose for it.",
        [f"The best score at the end is that of {best}: {metric.format(score)}{cost}."],
    )


def times(factor: float) -> str:
    """Return a factor in words: `3.6 times as much`, or percent where that is clearer."""
    if factor < 1.005:
        return "about as much"
    if factor < 1.2:
        return f"{100 * (factor - 1):.2g} % more"
    return f"{factor:.2g} times as much" if factor < 10 else f"{factor:.0f} times as much"


def significant(value: float, digits: int = 3) -> str:
    """Return a number with three digits, or all of its whole part."""
    return number(value) if 0 < abs(value) < 1e-3 else f"{value:.{_places(value, digits)}f}"


def distinct(first: float, second: float) -> tuple[str, str]:
    """Return two numbers with as many digits as tell them apart."""
    for digits in range(3, 9):
        texts = significant(first, digits), significant(second, digits)
        if texts[0] != texts[1]:
            return texts
    return significant(first), significant(second)


def scores(metric: Headline, first: float, second: float) -> tuple[str, str]:
    """Return two scores as text, with more decimals where they would look equal."""
    texts = metric.format(first), metric.format(second)
    if texts[0] != texts[1] or first == second:
        return texts
    unit = f" {metric.unit}" if metric.unit else ""
    one, other = distinct(first, second)
    return f"{one}{unit}", f"{other}{unit}"


def bits(value: float) -> str:
    """Return an amount of traffic with its unit."""
    size, unit = next(((s, u) for s, u in _BITS if value >= s), (1.0, "bit"))
    return f"{significant(value / size)} {unit}"


def _places(value: float, digits: int) -> int:
    size, whole = abs(value), 1
    while size >= 10:
        size, whole = size / 10, whole + 1
    while 0 < size < 1 and whole > -3:
        size, whole = size * 10, whole - 1
    return max(0, digits - whole)


def _p(p: float | None) -> str:
    return f"p {p_value(p)}"


def _share(reached: int, seeds: int) -> str:
    if reached == seeds:
        return {1: "with its one seed", 2: "with both seeds"}.get(seeds, f"with all {seeds} seeds")
    return f"with {reached} of {seeds} seeds"


def _seeds(count: int, kind: str = "") -> str:
    return f"{count} {kind}seed{'s' * (count != 1)}"


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
