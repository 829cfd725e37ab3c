"""The verdict on a study: which method to choose, by the exact test and with its reservations."""

from __future__ import annotations

import math
from functools import cached_property

from scdn.record.headline_metric import Headline
from scdn.record.round_totals import finite_number
from scdn.record.run_reader import Run
from scdn.report import verdict_words as words
from scdn.report.comparison_groups import ComparisonGroup, comparison_groups
from scdn.report.method_comparison import MethodComparison
from scdn.report.results import TOO_FEW_SEEDS, MethodResult, Verdict
from scdn.report.study import Study
from scdn.targets import Target

DECIDED, NOT_CLEAR = "decided", "no clear difference"
ONE_METHOD, NOBODY = "one method", "nobody"
COSTS = ("joules", "seconds", "bits")
_NOTICEABLE = 0.01  # a cost that is lower by less is no reason to choose otherwise


def verdicts(study: Study) -> list[Verdict]:
    """Return a verdict for each group of settings and each target, or one on the final scores."""
    return [
        verdict(study, group, target)
        for group in comparison_groups(study)
        for target in (study.targets or (None,))
    ]


def verdict(study: Study, group: ComparisonGroup, target: Target | None) -> Verdict:
    """Return which of a group's methods to choose for a target, or for the final score."""
    contest = Contest(study, group, target)
    if contest.nobody_ended_well:
        return contest.undecidable()
    return contest.verdict()


class Contest:
    """The methods of a group, compared by their costs and scores.

    Parameters
    ----------
    study
        Runs, metrics and which runs diverged.
    group
        The runs that are compared.
    target
        What they are to reach; None compares final scores, and costs of whole runs.
    """

    def __init__(self, study: Study, group: ComparisonGroup, target: Target | None) -> None:
        self.study, self.group, self.target = study, group, target
        self.metric = study.metrics[target.metric] if target else study.headline
        short = dict(zip(group.names, group.methods, strict=True))
        own = {(run.method, run.seed) for _, run in group.runs}
        self.diverged = {(short[m], seed) for m, seed in study.diverged if (m, seed) in own}
        self.values = self._values()

    @property
    def shown_target(self) -> str | None:
        """The target as text, such as `95 % top-3`."""
        return None if self.target is None else self.metric.format_target(self.target.value)

    @property
    def primary(self) -> str:
        """What decides: the joules to the target, or the final score."""
        return "joules" if self.target else "score"

    def _values(self) -> dict[str, dict[str, dict[int, float]]]:
        """Return each quantity by method and seed; NaN where a run has none."""
        values: dict[str, dict[str, dict[int, float]]] = {}
        for method, run in self.group.runs:
            for key, value in self._run_values(run).items():
                values.setdefault(key, {}).setdefault(method, {})[run.seed] = value
        return values

    def _run_values(self, run: Run) -> dict[str, float]:
        totals = self.study.totals(run)
        whole = {key: getattr(totals, key) if run.rounds else math.nan for key in COSTS}
        costs = whole
        if self.target:
            at = list(self.study.targets).index(self.target)
            reached = self.study.target_results(run)[at]
            costs = {key: math.nan if reached[key] is None else reached[key] for key in COSTS}
        scores = [finite_number(r.get("metrics") or {}, self.metric.metric) for r in run.rounds]
        known = [score for score in scores if not math.isnan(score)]
        return {**costs, "total": whole["joules"], "score": known[-1] if known else math.nan}

    def results(self, reference: str = "") -> dict[str, dict[str, MethodResult]]:
        """Return every quantity of every method, compared with a reference if one is named."""
        others = [method for method in self.group.methods if method != reference]
        compare = MethodComparison([reference, *others], self.diverged)
        sign = 1 if self.metric.higher_is_better else -1
        failure = "not reached" if self.target else None
        table = {}
        for key, values in self.values.items():
            better = sign if key == "score" else -1
            to_target = failure if key in COSTS else None
            measure = compare.measure(key, "", "", better, values, failure=to_target)
            table[key] = {result.method: result for result in measure.values}
        return table

    @cached_property
    def reached(self) -> dict[str, int]:
        """In how many seeds each method reached the target, or ended without diverging."""
        first = self.values["joules"]
        return {
            method: sum(
                not math.isnan(value) and (method, seed) not in self.diverged
                for seed, value in first.get(method, {}).items()
            )
            for method in self.group.methods
        }

    def seeds(self, method: str) -> int:
        """Return how many runs a method has."""
        return len(self.values["joules"].get(method, {}))

    @property
    def nobody_ended_well(self) -> bool:
        """Whether no run reached the target; without one, whether no method has a median score."""
        if self.target:
            return not any(self.reached.values())
        return all(_centre(result) is None for result in self.results()["score"].values())

    @cached_property
    def ranking(self) -> list[str]:
        """The methods from the best; no method is behind one that it dominates."""
        table = self.results()

        def costs(method: str) -> tuple[float, ...]:
            joules, seconds, bits = (_cost(table[key].get(method)) for key in COSTS)
            score = _score(table["score"].get(method), self.metric)
            missed = -self.reached[method] / max(1, self.seeds(method))
            if self.target:
                return joules, missed, seconds, score, bits
            return score, joules, seconds, bits

        return sorted(self.group.methods, key=costs)

    def verdict(self) -> Verdict:
        """Return the verdict where there is a choice."""
        choice, *others = self.ranking
        table = self.results(choice)
        primary = table[self.primary]
        tests = {method: primary.get(method) for method in others}
        own, following = primary.get(choice), others[0] if others else None
        against = None if following is None else tests[following]
        joules, seconds = (_centre(table[key].get(choice)) for key in ("joules", "seconds"))
        score = _centre(table["score"].get(choice))
        factor = None
        if self.target and joules and against is not None and against.centre:
            factor = against.centre / joules
        numbers = words.ChoiceNumbers(
            choice, self.shown_target, self.metric, joules, seconds, score,
            self.reached[choice], self.seeds(choice), self.seeds(choice) > 1,
            own is not None and own.mean is None,
        )  # fmt: skip
        certainty = _certainty(tests)
        evidence = []
        if following is not None:
            lower = self._seeds_ahead(choice, following)
            evidence = words.evidence(numbers, following, against, factor, lower)
            unclear = {m: r for m, r in tests.items() if m != following}
            evidence += words.other_tests(unclear, certainty)
        return Verdict(
            self.group.setting, self.shown_target, choice, certainty,
            words.headline(numbers, certainty), evidence,
            self._reservations(choice, table, few=certainty == TOO_FEW_SEEDS),
            joules, seconds, score, self.reached[choice] if self.target else None,
            self.seeds(choice), following, factor, None if against is None else against.p,
        )  # fmt: skip

    def undecidable(self) -> Verdict:
        """Return the verdict where no run reached the target, or too many diverged."""
        table = self.results()
        scores = table["score"]
        ended = [m for m in self.group.methods if _centre(scores.get(m)) is not None]
        best = min(ended, key=lambda m: _score(scores[m], self.metric), default=None)
        total = None if best is None else _centre(table["total"].get(best))
        score = None if best is None else _centre(scores[best])
        runs = len(self.group.runs)
        headline, evidence = words.nobody(self.shown_target, self.metric, best, score, total, runs)
        divergence = words.divergence(None, len(self.diverged), runs)
        notes = [*self._stopped_before(), *divergence, *self._unfinished()]
        return Verdict(
            self.group.setting, self.shown_target, None, NOBODY, headline, evidence, notes,
            score=score,
        )  # fmt: skip

    def _seeds_ahead(self, choice: str, other: str) -> tuple[int, int]:
        """Return in how many of the common seeds the choice was strictly better, and how many."""
        mine, theirs = (self._comparable(method) for method in (choice, other))
        common = [
            seed
            for seed in mine.keys() & theirs.keys()
            if not (math.isnan(mine[seed]) or math.isnan(theirs[seed]))
        ]
        return sum(mine[seed] < theirs[seed] for seed in common), len(common)

    def _comparable(self, method: str) -> dict[int, float]:
        """Return what decides, by seed, lower for better; infinite for a run that failed."""
        lower = -1 if self.primary == "score" and self.metric.higher_is_better else 1
        values = self.values[self.primary].get(method, {})
        missed = math.inf if self.target else math.nan
        return {
            seed: math.inf
            if (method, seed) in self.diverged
            else missed
            if math.isnan(value)
            else lower * value
            for seed, value in values.items()
        }

    def _reservations(
        self, choice: str, table: dict[str, dict[str, MethodResult]], few: bool
    ) -> list[str]:
        """Return when another method would be the choice, and what makes the verdict uncertain."""
        notes = self._stopped_before()
        if self.target and self.reached[choice] < self.seeds(choice):
            reliable = [m for m in self.group.methods if 0 < self.seeds(m) == self.reached[m]]
            notes.append(words.missed(self.reached[choice], self.seeds(choice), reliable))
        alternatives = [
            sentence
            for key in ("joules", "seconds", "score", "bits")
            if key != self.primary
            for sentence in self._alternative(key, choice, table, few)
        ]
        known = all(_centre(table[key].get(choice)) is not None for key in (*COSTS, "score"))
        if len(self.group.methods) > 1 and known and not alternatives:
            alternatives = [words.no_alternative(self.target is not None)]
        own = sum(method == choice for method, _ in self.diverged)
        notes += [*alternatives, *words.divergence(choice, own, self.seeds(choice))]
        counts = {method: self.seeds(method) for method in self.group.methods}
        if len(set(counts.values())) > 1:
            notes.append(words.unequal_seeds(counts))
        return [*notes, *self._unfinished()]

    def _alternative(
        self, key: str, choice: str, table: dict[str, dict[str, MethodResult]], few: bool
    ) -> list[str]:
        """Return a sentence on the method that is best by another quantity, if one is better."""
        results = table[key]
        known = [m for m in self.ranking if _centre(results.get(m)) is not None]
        if len(known) < 2 or choice not in known:
            return []
        own = _centre(results[choice])
        if key == "score":
            best = min(known, key=lambda m: _score(results[m], self.metric))
        else:
            best = min(known, key=lambda m: _cost(results[m]))
        other = _centre(results[best])
        if best == choice or own is None or other is None:
            return []
        if key == "score":
            if self.metric.format(own) == self.metric.format(other):
                return []
        elif other > (1 - _NOTICEABLE) * own:
            return []
        aside = "total" if key == "score" else self.primary
        prices = [_centre(table[aside].get(method)) for method in (best, choice)]
        text = words.alternative(
            key, best, (other, own), prices, self.metric, to_target=self.target is not None
        )
        return [f"{text}{words.alternative_test(results[best], quiet=few)}."]

    def _stopped_before(self) -> list[str]:
        """Return which methods never tried for the target, since they had reached their own."""
        stopped: dict[str, list[str]] = {}
        for method, run in self.group.runs:
            reason = str((run.end or {}).get("reason") or "")
            missed = math.isnan(self.values["joules"][method][run.seed])
            if self.target and missed and reason.startswith("the target "):
                stopped.setdefault(method, []).append(reason.split()[2])
        return [
            words.stopped_before(method, own, self.seeds(method), self.shown_target)
            for method, own in stopped.items()
        ]

    def _unfinished(self) -> list[str]:
        count = sum(run.end is None for _, run in self.group.runs)
        return words.unfinished(count, len(self.group.runs))


def _certainty(tests: dict[str, MethodResult | None]) -> str:
    """Return what the exact tests against all other methods say together."""
    if not tests:
        return ONE_METHOD
    outcomes = [None if result is None else result.verdict for result in tests.values()]
    if any(verdict in (None, TOO_FEW_SEEDS) for verdict in outcomes):
        return TOO_FEW_SEEDS
    return DECIDED if all(verdict == "worse" for verdict in outcomes) else NOT_CLEAR


def _centre(result: MethodResult | None) -> float | None:
    return None if result is None else result.centre


def _cost(result: MethodResult | None) -> float:
    centre = _centre(result)
    return math.inf if centre is None else centre


def _score(result: MethodResult | None, metric: Headline) -> float:
    """Return a score with lower for better; infinite where there is none."""
    centre = _centre(result)
    if centre is None:
        return math.inf
    return -centre if metric.higher_is_better else centre
