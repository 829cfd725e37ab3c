"""How statements of the paper are judged by our numbers.

A statement is checked in each block, or counted over the cases of each group (`Finding`). Nine
tenths of the cases must agree with a statement about all of them, in learning and solver tables.
It is reproduced if it holds everywhere, reproduced in this regime if it holds somewhere, and not
reproduced if it holds nowhere. A block that does not reach the regime that the statement is about,
or that has too few runs, has no answer. Where a block's results were made with other settings than
today's, the verdict waits for them: it is `not recomputed`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from scdn.paper.artefact import BEYOND_PAPER, Claim, Finding, Numbers, Verdict
from scdn.paper.method_grid import Row, own_rows
from scdn.paper.stale_results import VAFL_ONLY, Changes, changes_text
from scdn.paper.value_text import count_runs

MOST = 0.9  # the share of cases that must agree with a statement about all cases

Case = TypeVar("Case")
Count = tuple[int, int]  # how many cases agree, of how many


def verdict(findings: Iterable[Finding]) -> Verdict:
    """Return the verdict on what was found in each block or group."""
    answers = [finding.answer for finding in findings]
    if "not recomputed" in answers:
        return "not recomputed"
    known = [answer for answer in answers if isinstance(answer, bool)]
    if known:
        missing = len(known) < len(answers)
        if all(known) and not missing:
            return "reproduced"
        return "reproduced in this regime" if any(known) else "not reproduced"
    if "regime not reached" in answers:
        return "regime not reached"
    return "not enough runs" if answers else "not measured"


def mostly(flags: Collection[bool]) -> bool:
    """Return whether a statement about all cases holds: nine tenths of them must agree."""
    return bool(flags) and sum(flags) >= MOST * len(flags)


def too_few_runs(runs: int) -> Finding:
    """Return the finding of a block with too few runs."""
    return Finding("not enough runs", count_runs(runs))


# --- statements about many cases ------------------------------------------------------------------


def count_claim(
    source: str, text: str, counts: Mapping[str, Count], cases: str, note: str = ""
) -> Claim:
    """Judge a statement by how many cases agree in each group."""
    shares = {
        group: f"{agreeing} of {total}" if total else "none"
        for group, (agreeing, total) in counts.items()
    }
    findings = {
        group: Finding(agreeing >= MOST * total, f"{shares[group]} {cases}")
        for group, (agreeing, total) in counts.items()
        if total
    }
    summary = "; ".join(f"{group}: {share}" for group, share in shares.items())
    reason = f"{summary} {cases}.{' ' + note if note else ''}"
    return Claim(source, text, verdict(findings.values()), reason, findings)


def count_true(flags: Iterable[bool | None]) -> Count:
    """Return how many flags are true, of how many; None is not counted."""
    known = [bool(flag) for flag in flags if flag is not None]
    return sum(known), len(known)


def count_agreeing(
    groups: Mapping[str, Iterable[Case]], agrees: Callable[[Case], bool | None]
) -> dict[str, Count]:
    """Return for each group how many of its cases agree."""
    return {group: count_true(map(agrees, cases)) for group, cases in groups.items()}


def is_monotone(values: Sequence[float], direction: int) -> bool:
    """Return whether a curve rises (+1) or falls (-1), from its first point to its last.

    Steps in the other direction are allowed within 5 % of its range.
    """
    curve = direction * np.asarray(values, dtype=np.float64)
    span = float(curve.max() - curve.min())
    return bool(curve[-1] > curve[0] and np.diff(curve).min() >= -0.05 * span)


def is_trend(values: Sequence[float], direction: int) -> bool:
    """Return whether a curve on the whole rises (+1) or falls (-1): single steps do not matter.

    Most pairs of its points must be in that order, by Kendall's coefficient of at least one half.
    """
    curve = direction * np.asarray(values, dtype=np.float64)
    first, second = np.triu_indices(len(curve), 1)
    return len(curve) > 1 and float(np.sign(curve[second] - curve[first]).mean()) >= 0.5


# --- statements about blocks ----------------------------------------------------------------------


def block_claim(source: str, text: str, findings: Mapping[str, Finding | None]) -> Claim:
    """Judge a statement by what was found in each block; None: nothing was measured there."""
    known = {block: finding for block, finding in findings.items() if finding is not None}
    reason = "; ".join(f"{block}: {_finding_text(finding)}" for block, finding in known.items())
    return Claim(source, text, verdict(known.values()), reason or "no runs", known)


def _finding_text(finding: Finding) -> str:
    known = isinstance(finding.answer, bool)
    return finding.evidence if known else f"{finding.answer} ({finding.evidence})"


def significantly_better(ours: Sequence[float], others: Sequence[float], sign: int) -> Finding:
    """Return whether paired runs are better on average by more than two standard errors.

    `sign` is +1 where larger values are better, -1 where smaller ones are.
    """
    if len(ours) < 2:
        return too_few_runs(len(ours))
    gaps = sign * (np.asarray(ours) - np.asarray(others))
    error = float(gaps.std(ddof=1)) / len(gaps) ** 0.5
    gap = float(gaps.mean())
    means = f"{np.mean(ours):.4g} against {np.mean(others):.4g}"
    evidence = f"{means} ({sign * gap:+.2g} ± {error:.2g}, {count_runs(len(gaps))})"
    return Finding(gap > 2 * error, evidence)


def finding_if_learned(
    finding: Finding, scores: Sequence[float], trivial: float, sign: int
) -> Finding:
    """Return a finding that compares scores, or no answer if none beats predicting without input.

    `sign` is +1 where larger scores are better, -1 where smaller ones are.
    """
    learned = max(sign * (score - trivial) for score in scores) > 0
    if learned or not isinstance(finding.answer, bool):
        return finding
    nobody = f"neither beats predicting without input, {trivial:.4g}"
    return Finding("regime not reached", f"{finding.evidence}; {nobody}")


def within_deviation(triples: Iterable[tuple[float, float, float]]) -> Finding:
    """Return whether our means are the published ones: (ours, published mean, published std)."""
    near = [abs(ours - mean) <= std for ours, mean, std in triples]
    return Finding(mostly(near), f"{sum(near)} of {len(near)}")


@dataclass(frozen=True)
class Statement:
    """A statement of the paper, and the check of it in one block.

    `methods` are those besides SC-DN whose results it needs; None: all.
    """

    source: str
    text: str
    check: Callable[[Any], Finding | None]
    methods: tuple[str, ...] | None = ()

    def needs(self, method: str) -> bool:
        """Return whether the check uses a method's results."""
        return self.methods is None or method in self.methods


class BlockResults(Protocol):
    """The rows of one block from one start, with methods that statements use as checks."""

    complete: bool  # whether the rows are there that every check needs
    not_run: tuple[str, ...]  # methods that only some checks need, and that have no rows


def judge_statements(
    numbers: Numbers,
    statements: Sequence[Statement],
    block_results: Callable[[Numbers, str, str, list[Row]], BlockResults],
) -> list[Claim]:
    """Judge each statement from the first start, and whether the other starts agree with it."""
    stale: Mapping[str, Changes] = numbers.get("stale", {})

    def blocks(start: str, paired_with: str | None = None) -> dict[str, BlockResults]:
        rows = own_rows(numbers, start, paired_with)
        results = {name: block_results(numbers, name, start, rows[name]) for name in rows}
        return {name: block for name, block in results.items() if block.complete}

    def check(statement: Statement, name: str, block: BlockResults) -> Finding | None:
        changes = stale.get(name, {})
        if not statement.needs("vafl"):
            changes = {key: change for key, change in changes.items() if key != VAFL_ONLY}
        if changes:
            return Finding("not recomputed", changes_text(changes))
        absent = [method for method in block.not_run if statement.needs(method)]
        if absent:
            return Finding("not enough runs", f"none of {' and '.join(absent)}")
        return statement.check(block)

    first, *others = numbers["starts"]
    main = blocks(first)
    judged = [
        block_claim(s.source, s.text, {name: check(s, name, block) for name, block in main.items()})
        for s in statements
    ]
    for start in others:
        here, there = blocks(first, start), blocks(start)
        findings: dict[str, Finding | None] = {}
        for name in main:
            if name in here and name in there:
                pairs = [
                    (s.text, check(s, name, here[name]), check(s, name, there[name]))
                    for s in statements
                    if not s.source.startswith(BEYOND_PAPER)
                ]
                findings[name] = _same_answers(start, pairs)
        text = f"From a {start} start the takeaways are the same."
        judged.append(block_claim(f"App. more_exps, {numbers['data']}", text, findings))
    return judged


def _same_answers(
    start: str, pairs: Sequence[tuple[str, Finding | None, Finding | None]]
) -> Finding | None:
    """Return whether statements have the same answers from two starts, over the same seeds.

    Nine tenths of them must, and at least one answer must be yes.
    """
    findings = [finding for _, *both in pairs for finding in both if finding is not None]
    stale = [finding for finding in findings if finding.answer == "not recomputed"]
    if stale:
        return stale[0]
    answers = [
        (text, here.answer, there.answer)
        for text, here, there in pairs
        if here is not None
        and there is not None
        and isinstance(here.answer, bool)
        and isinstance(there.answer, bool)
    ]
    if not answers:
        return None
    different = [
        f"“{text}” holds only from the {'first' if here else start} start"
        for text, here, there in answers
        if here != there
    ]
    yes = sum(here and there for _, here, there in answers)
    same = len(answers) - len(different)
    summary = f"{same} of {len(answers)} answers are the same, {yes} of them yes"
    agree = mostly([here == there for _, here, there in answers])
    return Finding(agree and yes > 0, "; ".join([summary, *different]))
