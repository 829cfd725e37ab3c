"""An artefact's results as the page shows them: how they were made, claims, tables, drawings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scdn.errors import input_error
from scdn.file_io import read_document
from scdn.paper.artefact import (
    VERDICTS,
    Claim,
    Numbers,
    Part,
    ResultTable,
    artefact_names,
    read_spec,
)
from scdn.paper.stale_results import Changes, changes_text, stale_blocks
from scdn.paper.value_text import count_runs

_SETTING_NOTES = {  # settings that need an explanation
    "learning.dataset=cifar10-webp82": " (CIFAR-10 compressed once more as WebP of quality 82, "
    "32 dB: benchmarks/recompress.py; results kept from earlier runs have another encoding, on "
    "which scores differ by up to a point)"
}


@dataclass(frozen=True)
class Chapter:
    """One artefact as the page shows it."""

    name: str
    title: str
    facts: str
    parts: tuple[Part, ...]
    claims: tuple[Claim, ...]
    overrides: tuple[str, ...] = ()  # settings that the user has changed

    @property
    def papers_claims(self) -> list[Claim]:
        """The claims that the paper makes, contradictions first."""
        return _sorted(claim for claim in self.claims if not claim.beyond_paper)

    @property
    def other_claims(self) -> list[Claim]:
        """The statements beyond the paper."""
        return _sorted(claim for claim in self.claims if claim.beyond_paper)


def _sorted(claims: Iterator[Claim]) -> list[Claim]:
    return sorted(claims, key=lambda claim: VERDICTS.index(claim.verdict))


def tally(claims: Sequence[Claim]) -> dict[str, int]:
    """Return how many claims have each verdict."""
    counts = Counter(claim.verdict for claim in claims)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def read_chapters(source: Path) -> list[Chapter]:
    """Return the artefacts that have results in a folder, in the order of the page."""
    paths = {name: source / f"{name}.json" for name in artefact_names()}
    return [_chapter(path, name) for name, path in paths.items() if path.exists()]


def _chapter(path: Path, name: str) -> Chapter:
    document = read_document(path)
    with refuse_other_versions(path, name):
        settings = tuple(document.get("settings", ()))
        spec = read_spec(name, overrides=settings, runs=1)
        stale = stale_blocks(document, spec)
        numbers: Numbers = {**document["numbers"], "stale": stale}
        return Chapter(
            name,
            f"{document['title']} ({document['paper']})",
            _facts(document) + _stale_facts(stale),
            _without_repeated_notes(spec.job_module.show(numbers)),
            tuple(spec.claim_module.claims(numbers)),
            settings,
        )


def _without_repeated_notes(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Keep a note only below the first table that has it."""
    kept: list[Part] = []
    notes = {""}
    for part in parts:
        if isinstance(part, ResultTable):
            kept.append(replace(part, note="") if part.note in notes else part)
            notes.add(part.note)
        else:
            kept.append(part)
    return tuple(kept)


@contextmanager
def refuse_other_versions(path: Path, name: str) -> Iterator[None]:
    """Raise an InputError for a document whose numbers have another form than today's."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        why = f"has no {error}" if isinstance(error, KeyError) else "has numbers of another form"
        fault = f"{why}: not a result, or one of an earlier version"
        allowed = f"must be written by scdn paper run {name}"
        raise input_error(str(path), "file", fault, allowed) from error


def _facts(document: Mapping[str, Any]) -> str:
    """Return how the numbers were made: runs, the user's settings, time, machine, versions."""
    runs = document["runs"]
    fewest, most = runs if isinstance(runs, list) else (runs, runs)  # older documents: one number
    times = "; ".join(
        f"{entry['jobs']} jobs of {entry['seconds'] / 60:.1f} min in all on {entry['where']} "
        f"({', '.join(f'{name} {version}' for name, version in entry['versions'].items())})"
        for entry in document["took"]
    )
    facts = f"{count_runs(most)} per point"
    planned, done = (document["jobs"][key] for key in ("planned", "done"))
    if done < planned:
        facts = f"at most {facts}, {done} of {planned} jobs so far"
    elif fewest < most:
        facts = f"{fewest} to {facts}"
    if document.get("only"):
        facts += f", only {' and '.join(document['only'])}"
    if document.get("settings"):
        settings = [setting + _SETTING_NOTES.get(setting, "") for setting in document["settings"]]
        facts += f", with {', '.join(settings)}"
    return f"{facts}; {times}."


def _stale_facts(stale: Mapping[str, Changes]) -> str:
    """Return which results were made with other settings than today's."""
    return "".join(
        f" **{f'Block “{block}”' if block else 'These results'}: {changes_text(changes)}.**"
        for block, changes in stale.items()
    )
