"""How statements of the paper are judged by our numbers.

A statement about a few blocks is checked in each of them (`Finding`); one about many cases counts
those that agree. It is reproduced if it holds everywhere, reproduced in this regime if it holds
somewhere, and not reproduced if it holds nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from scdn.paper.artefact import Claim, Numbers, Verdict
from scdn.paper.method_grid import Row, own_rows
from scdn.paper.value_text import count_runs

BEYOND_PAPER = "beyond the paper"  # the source of statements that are not the paper's
MOST = 0.9  # the share of cases that must agree with a statement about all cases

Case = TypeVar("Case")
Count = tuple[int, int]  # how many cases agree, of how many
Finding = tuple[bool, str] | None  # whether a statement holds, and the numbers; None: too few runs


def verdict(counts: Iterable[Count]) -> Verdict:
    """Return the verdict on how many cases agree in each group."""
    shares = [agreeing / total for agreeing, total in counts if total]
    if not shares:
        return "not measured"
    if min(shares) >= MOST:
        return "reproduced"
    return "reproduced in this regime" if max(shares) >= MOST else "not reproduced"


# --- statements about many cases ------------------------------------------------------------------


def count_claim(
    source: str, text: str, counts: Mapping[str, Count], cases: str, note: str = ""
) -> Claim:
    """Judge a statement by how many cases agree in each group."""
    shares = "; ".join(
        f"{group}: {agreeing} of {total}" if total else f"{group}: none"
        for group, (agreeing, total) in counts.items()
    )
    reason = f"{shares} {cases}.{' ' + note if note else ''}"
    return Claim(source, text, verdict(counts.values()), reason)


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


# --- statements about blocks ----------------------------------------------------------------------


def block_claim(source: str, text: str, findings: Mapping[str, Finding]) -> Claim:
    """Judge a statement by what was found in each block."""
    known = [finding[0] for finding in findings.values() if finding is not None]
    reason = "; ".join(
        f"{block}: {'too few runs' if finding is None else finding[1]}"
        for block, finding in findings.items()
    )
    counts = [(int(holds), 1) for holds in known]
    return Claim(source, text, verdict(counts), reason if known else "no runs, or too few")


def significantly_better(ours: Sequence[float], others: Sequence[float], sign: int) -> Finding:
    """Return whether paired runs are better on average by more than two standard errors.

    `sign` is +1 where larger values are better, -1 where smaller ones are.
    """
    if len(ours) < 2:
        return None
    gaps = sign * (np.asarray(ours) - np.asarray(others))
    error = float(gaps.std(ddof=1)) / len(gaps) ** 0.5
    gap = float(gaps.mean())
    means = f"{np.mean(ours):.4g} against {np.mean(others):.4g}"
    return gap > 2 * error, f"{means} ({sign * gap:+.2g} ± {error:.2g}, {count_runs(len(gaps))})"


def within_deviation(triples: Iterable[tuple[float, float, float]]) -> tuple[bool, str]:
    """Return whether our means are the published ones: (ours, published mean, published std)."""
    near = [abs(ours - mean) <= std for ours, mean, std in triples]
    return all(near), f"{sum(near)} of {len(near)}"


class Statement(NamedTuple):
    """A statement of the paper, and the check of it in one block."""

    source: str
    text: str
    check: Callable[[Any], Finding]


class BlockResults(Protocol):
    """The rows of one block from one start, with methods that statements use as checks."""

    complete: bool  # whether all rows are there that the checks need


def judge_statements(
    numbers: Numbers,
    statements: Sequence[Statement],
    block_results: Callable[[Numbers, str, str, list[Row]], BlockResults],
) -> list[Claim]:
    """Judge each statement from the first start, and whether the other starts agree with it."""

    def blocks(start: str, paired_with: str | None = None) -> dict[str, BlockResults]:
        rows = own_rows(numbers, start, paired_with)
        results = {name: block_results(numbers, name, start, rows[name]) for name in rows}
        return {name: block for name, block in results.items() if block.complete}

    first, *others = numbers["starts"]
    main = blocks(first)
    judged = [
        block_claim(s.source, s.text, {name: s.check(block) for name, block in main.items()})
        for s in statements
    ]
    for start in others:
        here, there = blocks(first, start), blocks(start)
        judged.append(_same_from(start, numbers["data"], statements, here, there))
    return judged


def _same_from(
    start: str,
    data: str,
    statements: Sequence[Statement],
    main: Mapping[str, BlockResults],
    other: Mapping[str, BlockResults],
) -> Claim:
    """Judge whether the paper's statements have the same answers from another start.

    Both starts are compared over the same seeds. At least one answer must be yes.
    """
    findings: dict[str, Finding] = {}
    for block in main:
        if block not in other:
            continue
        answers = [
            (statement.text, here[0], there[0])
            for statement in statements
            if not statement.source.startswith(BEYOND_PAPER)
            and (here := statement.check(main[block])) is not None
            and (there := statement.check(other[block])) is not None
        ]
        if not answers:
            continue
        different = [
            f"“{text}” holds only from the {'first' if here else start} start"
            for text, here, there in answers
            if here != there
        ]
        yes = sum(here and there for _, here, there in answers)
        same = len(answers) - len(different)
        summary = f"{same} of {len(answers)} answers are the same, {yes} of them yes"
        findings[block] = not different and yes > 0, "; ".join([summary, *different])
    text = f"From a {start} start the takeaways are the same."
    return block_claim(f"App. more_exps, {data}", text, findings)
