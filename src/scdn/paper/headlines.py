"""The paper's twelve headline claims, each answered in a sentence from what was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scdn.paper.artefact import Finding
from scdn.paper.chapters import Chapter

STATIC = ("static-mnist", "static-cifar10", "static-pawpularity")
DYNAMIC = ("dynamic-mnist", "dynamic-cifar10", "dynamic-pawpularity")
RIVALS = ("Max VFL", "GSP", "VAFL")


class HeadlinePart(NamedTuple):
    """One of the things that a headline claims: all claims of artefacts that have the words."""

    label: str
    artefacts: tuple[str, ...]
    words: str


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
    dynamic = HeadlinePart("in dynamic networks", DYNAMIC, f"SC-DN ends better than {rival}.")
    statement = f"SC-DN is as accurate as {rival}, or better"
    return HeadlineClaim(statement, (static,) if rival == "Max VFL" else (static, dynamic))


def _energy(rival: str, words: str) -> HeadlinePart:
    label = f"against {rival}, per {words.removeprefix(', per ')[:-1]}"
    if "clock" in words:
        label = f"against {rival}"
    artefacts = STATIC if rival == "Max VFL" else STATIC + DYNAMIC
    return HeadlinePart(label, artefacts, f"less processing energy than {rival}{words}")


HEADLINES = (
    HeadlineClaim(
        "Keeping the embeddings of devices that left beats zeroing them out (ZOC)",
        (
            HeadlinePart("on known samples", DYNAMIC, "better than ZOC (known samples)"),
            HeadlinePart("without P^r", DYNAMIC, "better than ZOC also without P^r"),
            HeadlinePart("on later samples", DYNAMIC, "on samples recorded after the exits"),
        ),
    ),
    *(_accuracy(rival) for rival in RIVALS),
    HeadlineClaim(
        "SC-DN takes less processing energy than rivals at full clock",
        tuple(
            _energy(rival, words)
            for words in (", per active device.", ", per device present.")
            for rival in RIVALS
        ),
    ),
    HeadlineClaim(
        "SC-DN takes less processing energy than rivals at their least clock (beyond the paper)",
        tuple(_energy(rival, " at its least clock.") for rival in RIVALS),
    ),
    HeadlineClaim(
        "Solving P^r adds accuracy and saves energy",
        (
            HeadlinePart("accuracy", DYNAMIC, "P^r makes SC-DN's final score better"),
            HeadlinePart("energy per active device", DYNAMIC, "per active device."),
            HeadlinePart("energy per device present", DYNAMIC, "per device present."),
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
            HeadlinePart("in time", ("exact",), "report within T^max"),
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
            HeadlinePart("all", STATIC[2:], "Every method is better than predicting"),
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
                if _belongs(part, claim.text):
                    for block, finding in claim.findings.items():
                        yield name, block, finding


def _belongs(part: HeadlinePart, text: str) -> bool:
    if part.label.startswith("energy per "):  # what P^r saves, which every paragraph states
        return text.startswith("P^r saves roughly") and text.endswith(part.words)
    return part.words in text


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
        sign, word = ("◐" if missing else "✓"), ("Yes, where recomputed" if missing else "Yes")
    else:
        sign, word = ("◐", "In part") if any(known) else ("✗", "No")
    left = "".join(f"; {count} {name}" for name, count in missing.items())
    numbers = [number for findings in by_part.values() if (number := _first_number(findings))]
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
        return "no answer"
    if all(known):
        return f"yes in all {len(known)} checks" if len(known) > 1 else "yes"
    return f"yes in {sum(known)} of {len(known)} checks" if len(known) > 1 else "no"
