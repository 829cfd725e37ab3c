"""One page on all artefacts, as HTML and as Markdown: verdicts first, contradictions at the top."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader

from scdn.errors import input_error
from scdn.file_io import make_folder, read_document, write_atomic
from scdn.paper.artefact import (
    VERDICTS,
    ArtefactSpec,
    Claim,
    Drawing,
    Part,
    ResultTable,
    artefact_names,
    read_spec,
)
from scdn.paper.plotting import draw_png
from scdn.paper.value_text import count_runs

TITLE = "The paper's claims, checked"
LEAD = (
    "Every table and figure of “SC-DN”, computed by this package and shown beside the published "
    "numbers. Verdicts follow from the numbers on this page. A method with less than one iteration "
    "per device and round hardly trains: what it saves does not count."
)
_SETTING_NOTES = {  # settings that need an explanation
    "learning.dataset=cifar10-webp82": " (CIFAR-10 compressed once more as WebP of quality 82, "
    "32 dB: benchmarks/recompress.py)"
}
_SIGNS = dict(zip(VERDICTS, ("✗", "◐", "✓", "–"), strict=True))


@dataclass(frozen=True)
class Chapter:
    """One artefact as the page shows it."""

    name: str
    title: str
    facts: str
    parts: tuple[Part, ...]
    claims: tuple[Claim, ...]


def write_pages(source: Path, out: Path) -> list[Path]:
    """Write the page in both forms and the pictures beside it; return the pages' paths."""
    chapters = read_chapters(source)
    if not chapters:
        allowed = "needs results: scdn paper run NAME"
        raise input_error(str(source), "folder", "has no results of artefacts", allowed)
    pictures: dict[str, bytes] = {}
    for chapter in chapters:
        with _refuse_other_versions(source / f"{chapter.name}.json", chapter.name):
            drawings = [part for part in chapter.parts if isinstance(part, Drawing)]
            pictures |= {drawing.name: draw_png(drawing) for drawing in drawings}
    make_folder(out)
    for name, png in pictures.items():
        write_atomic(out / f"{name}.png", png)
    pages = {"report.html": html(chapters, pictures), "report.md": markdown(chapters)}
    for name, text in pages.items():
        write_atomic(out / name, text)
    return [out / name for name in pages]


def read_chapters(source: Path) -> list[Chapter]:
    """Return the artefacts that have results in a folder, in the order of the page."""
    paths = {name: source / f"{name}.json" for name in artefact_names()}
    return [_chapter(path, read_spec(name)) for name, path in paths.items() if path.exists()]


def _chapter(path: Path, spec: ArtefactSpec) -> Chapter:
    document = read_document(path)
    with _refuse_other_versions(path, spec.name):
        return Chapter(
            spec.name,
            f"{document['title']} ({document['paper']})",
            _facts(document),
            _without_repeated_notes(spec.job_module.show(document["numbers"])),
            tuple(spec.claim_module.claims(document["numbers"])),
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
def _refuse_other_versions(path: Path, name: str) -> Iterator[None]:
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


def _sorted_claims(chapters: Sequence[Chapter]) -> list[tuple[Chapter, Claim]]:
    """Return all claims, contradictions first."""
    claims = [(chapter, claim) for chapter in chapters for claim in chapter.claims]
    return sorted(claims, key=lambda pair: VERDICTS.index(pair[1].verdict))


def _tally(claims: Sequence[Claim]) -> dict[str, int]:
    counts = Counter(claim.verdict for claim in claims)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def _answer(chapters: Sequence[Chapter]) -> str:
    count = _tally([claim for chapter in chapters for claim in chapter.claims])
    return (
        f"Of {sum(count.values())} claims, {count['reproduced']} are reproduced, "
        f"{count['reproduced in this regime']} are reproduced only in some of the blocks that "
        f"measured them (“in this regime”), {count['not reproduced']} are not reproduced, and "
        f"{count['not measured']} were not measured."
    )


# --- Markdown -------------------------------------------------------------------------------------


def markdown(chapters: Sequence[Chapter]) -> str:
    """Return the page as Markdown."""
    overview = [
        (f"[{chapter.name}](#{chapter.name})", chapter.title, *_counts(chapter))
        for chapter in chapters
    ]
    verdicts = [
        (
            f"{_SIGNS[claim.verdict]} {claim.verdict}",
            claim.text,
            claim.source,
            f"{claim.reason} ([{chapter.name}](#{chapter.name}))",
        )
        for chapter, claim in _sorted_claims(chapters)
    ]
    lines = [f"# {TITLE}", "", _answer(chapters), "", LEAD, ""]
    lines += [*_markdown_table(("artefact", "", *VERDICTS), overview), "", "## Verdicts", ""]
    lines += [*_markdown_table(("", "the paper says", "where", "here"), verdicts), ""]
    for chapter in chapters:
        lines += [f'<a id="{chapter.name}"></a>', "", f"## {chapter.title}", "", chapter.facts, ""]
        for part in chapter.parts:
            lines += [*_markdown_part(part), ""]
    return "\n".join(lines)


def _counts(chapter: Chapter) -> list[str]:
    return [str(count or "") for count in _tally(chapter.claims).values()]


def _markdown_part(part: Part) -> list[str]:
    if isinstance(part, Drawing):
        return [f"![{part.title}]({part.name}.png)"]
    note = ["", part.note] if part.note else []
    return [f"**{part.title}**", "", *_markdown_table(part.header, part.rows), *note]


def _markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in (header, *cells)]
    return [lines[0], "|" + "---|" * len(header), *lines[1:]]


# --- HTML -----------------------------------------------------------------------------------------


def html(chapters: Sequence[Chapter], pictures: Mapping[str, bytes]) -> str:
    """Return the page as HTML that fetches nothing: pictures are inside it."""
    templates = Environment(loader=PackageLoader("scdn.paper", "."), autoescape=True)
    return templates.get_template("page.html").render(
        title=TITLE,
        lead=LEAD,
        answer=_answer(chapters),
        verdict_names=VERDICTS,
        overview=[(chapter, _counts(chapter)) for chapter in chapters],
        verdicts=_sorted_claims(chapters),
        signs=_SIGNS,
        chapters=chapters,
        pictures={name: base64.b64encode(png).decode() for name, png in pictures.items()},
    )
