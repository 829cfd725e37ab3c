"""The paper's twelve headline claims, each answered in a sentence from what was found."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scdn.paper.artefact import Finding
from scdn.paper.chapters import Chapter

STATIC = ("static-mnist", "static-cifar10", "static-pawpularity")
DYNAMIC = ("dynamic-mnist", "dynamic-cifar10", "dynamic-pawpularity")
DATA = {"mnist": "MNIST", "cifar10": "CIFAR-10", "pawpularity": "Pawpularity"}


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


Place = tuple[str, str]  # artefact and block


class Check(NamedTuple):
    """What was found for a part of a headline in one block of one artefact."""

    artefact: str
    block: str
    finding: Finding
    claim: str  # its text


@dataclass(frozen=True)
class HeadlineRow:
    """A headline with its answer."""

    statement: str
    sign: str  # ✓ holds, ◐ in part, ✗ does not hold, – cannot be said
    answer: str  # one sentence
    number: str
    artefact: str  # where the detail is


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
            HeadlinePart("it adds accuracy", DYNAMIC, r"P\^r makes SC-DN's final score better"),
            HeadlinePart("saves as much per active device", DYNAMIC, r"^P\^r saves .* per active"),
            HeadlinePart("saves as much per device present", DYNAMIC, r"^P\^r saves .* present"),
        ),
    ),
    HeadlineClaim(
        "Algorithm 3 lowers its objective in every iteration",
        (HeadlinePart("", ("convergence",), "decreases monotonically"),),
    ),
    HeadlineClaim(
        "Algorithm 3's plans are optimal, and in time",
        (
            HeadlinePart("they are optimal", ("exact",), "converges to the optimal point"),
            HeadlinePart("in time", ("exact",), "report within"),
        ),
    ),
    HeadlineClaim(
        "Plans follow the weights ψ and the time limit T^max as described",
        (
            HeadlinePart("they follow the weights", ("weights",), "Larger ψ"),
            HeadlinePart("the time limit", ("response",), ""),
        ),
    ),
    HeadlineClaim(
        "Theorem 1 holds, and smoothness falls during training (Remark 1)",
        (
            HeadlinePart("Theorem 1 holds", ("bounds",), "bound on the summed squared gradients"),
            HeadlinePart("smoothness falls", ("bounds",), "generally decrease"),
        ),
    ),
    HeadlineClaim(
        "On Pawpularity the methods learn (beyond the paper: against predicting the mean)",
        (
            HeadlinePart("SC-DN learns", STATIC[2:], "SC-DN is better than predicting without"),
            HeadlinePart("every method", STATIC[2:], "Every method is better than predicting"),
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


def _findings(part: HeadlinePart, by_name: dict[str, Chapter]) -> Iterator[Check]:
    """Yield what was found in every claim that belongs to a part."""
    for name in part.artefacts:
        if name in by_name:
            for claim in by_name[name].claims:
                if re.search(part.pattern, claim.text):
                    for block, finding in claim.findings.items():
                        yield Check(name, block, finding, claim.text)


def _row(
    statement: str, by_part: dict[str, list[Check]], artefacts: tuple[str, ...]
) -> HeadlineRow:
    every = [check for checks in by_part.values() for check in checks]
    known = [check for check in every if isinstance(check.finding.answer, bool)]
    name, number = next(((c.artefact, _number(c)) for c in known), (artefacts[0], ""))
    answers = [check.finding.answer for check in known]
    if not known:
        sign, word = "–", "Cannot be said yet"
    elif all(answers):
        sign, word = (
            ("✓", "Yes") if len(known) == len(every) else ("◐", "Yes, as far as can be said")
        )
    else:
        sign, word = ("◐", "In part") if any(answers) else ("✗", "No")
    if not known:
        where = ""
    elif len(set(answers)) == 1:
        where = ", in every case" if all(answers) else ", in no case"
    else:
        parts = (f"{label} {_where(checks)}" for label, checks in by_part.items() if checks)
        where = f": {'; '.join(map(str.strip, parts))}"
    return HeadlineRow(statement, sign, f"{word}{where}{_left_open(every)}.", number, name)


def _number(check: Check) -> str:
    """Return the numbers of a check, where they were measured, and against which rival."""
    rival = re.search("less processing energy than (Max VFL|GSP|VAFL)", check.claim)
    against = f" of {rival[1]}'s" if rival else ""
    return f"{check.artefact}, {check.block}: {check.finding.evidence}{against}"


def _where(checks: Sequence[Check]) -> str:
    """Return where a statement holds, of the places where that can be said."""
    by_place: dict[Place, list[bool]] = {}
    for check in checks:
        if isinstance(check.finding.answer, bool):
            by_place.setdefault((check.artefact, check.block), []).append(check.finding.answer)
    holds = {place: all(answers) for place, answers in by_place.items()}
    flat = [answer for answers in by_place.values() for answer in answers]
    if not flat:
        return "cannot be said yet"
    if all(flat):
        return "everywhere" if len(flat) == len(checks) else "wherever it can be said"
    if not any(flat):
        return "nowhere"
    if any(_data(artefact) is None for artefact, _ in holds):
        return f"in {sum(flat)} of {len(flat)} cases"
    if not any(holds.values()):
        return "nowhere against every rival"
    return f"for {_listed(_places([place for place, held in holds.items() if held], holds))}"


def _places(chosen: Collection[Place], known: Collection[Place]) -> list[str]:
    """Return data sets, with kind of network and block where not all of theirs are chosen."""
    names: list[str] = []
    several_kinds = len({artefact.split("-")[0] for artefact, _ in known}) > 1
    for data in dict.fromkeys(_data(artefact) for artefact, _ in chosen):
        if data is None:
            names += dict.fromkeys(name for name, _ in chosen if _data(name) is None)
            continue
        every = [place for place in known if _data(place[0]) == data]
        if len(every) > 1 and all(place in chosen for place in every):
            names.append(str(data))
            continue
        for artefact in dict.fromkeys(name for name, _ in chosen if _data(name) == data):
            blocks = [block for name, block in chosen if name == artefact]
            all_blocks = [block for name, block in every if name == artefact]
            name = f"{artefact.split('-')[0]} {data}" if several_kinds else str(data)
            whole = len(blocks) == len(all_blocks) > 1
            names.append(name if whole else f"{name} ({' and '.join(blocks)})")
    return names


def _left_open(checks: Sequence[Check]) -> str:
    """Return where there is no answer, and why."""
    reasons: dict[str, list[Place]] = {}
    places = {(check.artefact, check.block) for check in checks}
    for check in checks:
        if not isinstance(check.finding.answer, bool):
            place = (check.artefact, check.block)
            if place not in reasons.setdefault(str(check.finding.answer), []):
                reasons[str(check.finding.answer)].append(place)
    if not reasons:
        return ""
    listed = (f"{reason} for {_listed(_places(p, places))}" for reason, p in reasons.items())
    return f" ({'; '.join(listed)})"


def _data(artefact: str) -> str | None:
    """Return the data set of an artefact, if it is one of several for the same claims."""
    return DATA.get(artefact.removeprefix("static-").removeprefix("dynamic-"))


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
