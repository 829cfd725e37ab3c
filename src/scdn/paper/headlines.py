"""The paper's twelve headline claims, each answered in a sentence from what was found."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scdn.paper.artefact import Finding
from scdn.paper.chapters import Chapter

STATIC = ("static-mnist", "static-cifar10", "static-pawpularity")
DYNAMIC = ("dynamic-mnist", "dynamic-cifar10", "dynamic-pawpularity")


class HeadlinePart(NamedTuple):
    """One of the things that a headline claims: all claims of artefacts that match the pattern."""

    label: str
    artefacts: tuple[str, ...]
    pattern: str


@dataclass(frozen=True)
class HeadlineClaim:
    """What the paper claims, and where it is judged."""

    statement: str
    parts: tuple[HeadlinePart, ...]


@dataclass(frozen=True)
class HeadlineRow:
    """A headline with its answer."""

    statement: str
    sign: str  # ✓ holds, ◐ in part, ✗ does not hold, – cannot be said
    answer: str  # one sentence
    number: str
    artefacts: tuple[str, ...]  # where the detail is


def _accuracy(rival: str) -> HeadlineClaim:
    static = HeadlinePart("in static networks", STATIC, f"comparable to or better than {rival}'s")
    dynamic = HeadlinePart("in dynamic networks", DYNAMIC, f"SC-DN ends better than {rival}")
    statement = f"SC-DN is as accurate as {rival}, or better"
    return HeadlineClaim(statement, (static,) if rival == "Max VFL" else (static, dynamic))


HEADLINES = (
    HeadlineClaim(
        "Keeping the embeddings of devices that left beats zeroing them out (ZOC)",
        (
            HeadlinePart("on known samples", DYNAMIC, r"better than ZOC \(known samples\)"),
            HeadlinePart("without P^r", DYNAMIC, "better than ZOC also without"),
            HeadlinePart("on later samples", DYNAMIC, "on samples recorded after the exits"),
        ),
    ),
    *(_accuracy(rival) for rival in ("Max VFL", "GSP", "VAFL")),
    HeadlineClaim(
        "SC-DN takes less processing energy than each rival at full clock",
        tuple(
            HeadlinePart(
                f"per {per}", STATIC + DYNAMIC, f"less processing energy than .* per {per}"
            )
            for per in ("active device", "device present")
        ),
    ),
    HeadlineClaim(
        "SC-DN takes less processing energy than each rival at its least clock (beyond the paper)",
        (HeadlinePart("", STATIC + DYNAMIC, "less processing energy than .* least clock"),),
    ),
    HeadlineClaim(
        "Solving P^r adds accuracy and saves energy",
        (
            HeadlinePart("accuracy", DYNAMIC, r"P\^r makes SC-DN's final score better"),
            HeadlinePart("energy per active device", DYNAMIC, r"^P\^r saves .* per active"),
            HeadlinePart("energy per device present", DYNAMIC, r"^P\^r saves .* device present"),
        ),
    ),
    HeadlineClaim(
        "Algorithm 3 lowers its objective in every iteration",
        (HeadlinePart("", ("convergence",), "decreases monotonically"),),
    ),
    HeadlineClaim(
        "Algorithm 3's plans are optimal, and in time",
        (
            HeadlinePart("optimal", ("exact",), "converges to the optimal point"),
            HeadlinePart("in time", ("exact",), "report within"),
        ),
    ),
    HeadlineClaim(
        "Plans follow the weights ψ and the time limit T^max as described",
        (
            HeadlinePart("weights", ("weights",), "Larger ψ"),
            HeadlinePart("time limit", ("response",), ""),
        ),
    ),
    HeadlineClaim(
        "Theorem 1 holds, and smoothness falls during training (Remark 1)",
        (
            HeadlinePart("Theorem 1", ("bounds",), "bound on the summed squared gradients"),
            HeadlinePart("Remark 1", ("bounds",), "generally decrease"),
        ),
    ),
    HeadlineClaim(
        "On Pawpularity the methods learn (beyond the paper: against predicting the mean)",
        (
            HeadlinePart("SC-DN", STATIC[2:], "SC-DN is better than predicting without input"),
            HeadlinePart("all methods", STATIC[2:], "Every method is better than predicting"),
        ),
    ),
)


def answer_headlines(chapters: Sequence[Chapter]) -> list[HeadlineRow]:
    """Return the headlines of which a part was measured, with their answers."""
    by_name = {chapter.name: chapter for chapter in chapters}
    rows = []
    for headline in HEADLINES:
        by_part = {part.label: list(_findings(part, by_name)) for part in headline.parts}
        measured = tuple(
            name
            for name in dict.fromkeys(a for part in headline.parts for a in part.artefacts)
            if name in by_name
        )
        if measured:
            rows.append(_row(headline.statement, by_part, measured))
    return rows


def _findings(
    part: HeadlinePart, by_name: dict[str, Chapter]
) -> Iterator[tuple[str, str, Finding]]:
    """Yield artefact, block and finding of every claim that belongs to a part."""
    for name in part.artefacts:
        if name in by_name:
            for claim in by_name[name].claims:
                if re.search(part.pattern, claim.text):
                    for block, finding in claim.findings.items():
                        yield name, block, finding


def _row(
    statement: str, by_part: dict[str, list[tuple[str, str, Finding]]], artefacts: tuple[str, ...]
) -> HeadlineRow:
    every = [finding for findings in by_part.values() for _, _, finding in findings]
    known = [finding.answer for finding in every if isinstance(finding.answer, bool)]
    missing = Counter(str(f.answer) for f in every if not isinstance(f.answer, bool))
    parts = "; ".join(
        f"{f'{label}: ' if label else ''}{_count(findings)}" for label, findings in by_part.items()
    )
    if not known:
        sign, word = "–", "Cannot be said yet"
    elif all(known):
        sign, word = ("◐", "Yes, as far as can be said") if missing else ("✓", "Yes")
    else:
        sign, word = ("◐", "In part") if any(known) else ("✗", "No")
    left = "".join(f"; {name} in {count}" for name, count in missing.items())
    first = (_first_number(findings) for findings in by_part.values())
    numbers = list(dict.fromkeys(number for number in first if number))
    return HeadlineRow(
        statement, sign, f"{word}: {parts}{left}.", "; ".join(numbers[:2]), artefacts
    )


def _first_number(findings: Sequence[tuple[str, str, Finding]]) -> str:
    """Return the numbers of the first check that has an answer."""
    known = (entry for entry in findings if isinstance(entry[2].answer, bool))
    name, block, finding = next(known, ("", "", None))
    return "" if finding is None else f"{name}, {block}: {finding.evidence}"


def _count(findings: Sequence[tuple[str, str, Finding]]) -> str:
    """Return in how many of the checks with an answer a part holds."""
    known = [finding.answer for _, _, finding in findings if isinstance(finding.answer, bool)]
    if not known:
        return "cannot be said"
    if len(known) == 1:
        return "yes" if known[0] else "no"
    return (
        f"in all {len(known)} checks" if all(known) else f"in {sum(known)} of {len(known)} checks"
    )
