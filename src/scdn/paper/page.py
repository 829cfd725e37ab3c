"""One page on the whole paper, as HTML and as Markdown: what contradicts it comes first."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from scdn.errors import input_error
from scdn.file_io import make_folder, read_document, write_atomic
from scdn.paper.artefact import VERDICTS, Claim, Drawing, Table, module_of, names, table_of
from scdn.paper.draw import picture

TITLE = "The paper, run again"
LEAD = (
    "Every table and figure of “SC-DN” from its own code, beside the published numbers. Verdicts "
    "are computed from the numbers on this page; what does not hold comes first."
)
_MEANT = {  # settings that need a word
    "learning.dataset=cifar10-webp82": " (CIFAR-10 compressed once more as WebP of quality 82, "
    "32 dB: benchmarks/recompress.py)",
}
_SIGNS = {
    "not reproduced": "✗",
    "reproduced in this regime": "◐",
    "reproduced": "✓",
    "not measured": "–",
}


@dataclass(frozen=True)
class Chapter:
    """One artefact as it is shown."""

    name: str
    title: str
    facts: str
    parts: tuple[Table | Drawing, ...]
    claims: tuple[Claim, ...]


def write_pages(source: Path, out: Path) -> list[Path]:
    """The page in both forms, and the pictures beside the Markdown; their paths."""
    chapters = read_chapters(source)
    if not chapters:
        allowed = "needs results: scdn paper run NAME"
        raise input_error(str(source), "folder", "has no results of artefacts", allowed)
    pictures: dict[str, bytes] = {}
    for chapter in chapters:
        with _of_this_version(source / f"{chapter.name}.json", chapter.name):
            drawings = [part for part in chapter.parts if isinstance(part, Drawing)]
            pictures |= {drawing.name: picture(drawing) for drawing in drawings}
    make_folder(out)
    written = []
    for name, raw in pictures.items():
        write_atomic(out / f"{name}.png", raw)
    for name, text in (
        ("report.html", html(chapters, pictures)),
        ("report.md", markdown(chapters)),
    ):
        write_atomic(out / name, text)
        written.append(out / name)
    return written


def read_chapters(source: Path) -> list[Chapter]:
    """The artefacts whose numbers are there, in the paper's order."""
    found = []
    for name in names():
        path = source / f"{name}.json"
        if path.exists():
            found.append(_chapter(path, name))
    return found


def _chapter(path: Path, name: str) -> Chapter:
    document, module = read_document(path), module_of(table_of(name))
    with _of_this_version(path, name):
        return Chapter(
            name,
            f"{document['title']} ({document['paper']})",
            _facts(document),
            tuple(module.show(document["numbers"])),
            tuple(module.claims(document["numbers"])),
        )


@contextmanager
def _of_this_version(path: Path, name: str) -> Iterator[None]:
    """Refuses a document whose numbers have another form than those of today."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        why = f"has no {error}" if isinstance(error, KeyError) else "has numbers of another form"
        found = f"{why}: not a result, or one of an earlier version"
        allowed = f"must be written by scdn paper run {name}"
        raise input_error(str(path), "file", found, allowed) from error


def _facts(document: Mapping[str, Any]) -> str:
    """How it was made: runs, the user's settings, time, machine, versions."""
    runs = document["runs"]
    least, most = runs if isinstance(runs, list) else (runs, runs)  # older ones know one number
    took = "; ".join(
        f"{entry['jobs']} jobs of {entry['seconds'] / 60:.1f} min in all on {entry['where']} "
        f"({', '.join(f'{name} {version}' for name, version in entry['versions'].items())})"
        for entry in document["took"]
    )
    words = f"{most} run{'s' if most != 1 else ''} per point"
    planned, done = (document["jobs"][key] for key in ("planned", "done"))
    if done < planned:
        words = f"at most {words}, {done} of {planned} jobs so far"
    elif least < most:
        words = f"{least} to {words}"
    if document.get("only"):
        words += f", only {' and '.join(document['only'])}"
    if document.get("settings"):
        words += f", with {', '.join(s + _MEANT.get(s, '') for s in document['settings'])}"
    return f"{words}; {took}."


def _sorted(chapters: Sequence[Chapter]) -> list[tuple[Chapter, Claim]]:
    """All claims, contradictions first."""
    every = [(chapter, claim) for chapter in chapters for claim in chapter.claims]
    return sorted(every, key=lambda pair: VERDICTS.index(pair[1].verdict))


def _tally(chapters: Sequence[Chapter]) -> str:
    claims = [claim for chapter in chapters for claim in chapter.claims]
    counts = [
        f"{n} {verdict}"
        for verdict in VERDICTS
        if (n := sum(claim.verdict == verdict for claim in claims))
    ]
    return f"{len(claims)} claims: {', '.join(counts)}."


# --- Markdown -------------------------------------------------------------------------------------


def markdown(chapters: Sequence[Chapter]) -> str:
    """The page for readers of plain text."""
    lines = [f"# {TITLE}", "", LEAD, "", "## Verdicts", "", _tally(chapters), ""]
    lines += [
        "| | the paper says | where | here |",
        "|---|---|---|---|",
        *(
            f"| {_SIGNS[claim.verdict]} {claim.verdict} | {_cell(claim.text)}"
            f" | {_cell(claim.source)} | {_cell(claim.reason)}"
            f" ([{chapter.name}](#{chapter.name})) |"
            for chapter, claim in _sorted(chapters)
        ),
        "",
    ]
    for chapter in chapters:
        lines += [f'<a id="{chapter.name}"></a>', "", f"## {chapter.title}", "", chapter.facts, ""]
        for part in chapter.parts:
            lines += [*_markdown_part(part), ""]
    return "\n".join(lines)


def _markdown_part(part: Table | Drawing) -> Iterator[str]:
    if isinstance(part, Drawing):
        yield f"![{part.title}]({part.name}.png)"
        return
    yield f"**{part.title}**"
    yield ""
    yield "| " + " | ".join(map(_cell, part.head)) + " |"
    yield "|" + "---|" * len(part.head)
    for row in part.rows:
        yield "| " + " | ".join(map(_cell, row)) + " |"
    if part.note:
        yield ""
        yield part.note


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


# --- HTML -----------------------------------------------------------------------------------------


def html(chapters: Sequence[Chapter], pictures: Mapping[str, bytes]) -> str:
    """The page for a browser: everything inside it, nothing fetched."""
    template = files("scdn.paper").joinpath("page.html").read_text(encoding="utf-8")
    return Template(template).substitute(
        title=TITLE,
        lead=escape(LEAD),
        tally=escape(_tally(chapters)),
        verdicts="".join(_html_claim(chapter, claim) for chapter, claim in _sorted(chapters)),
        links="".join(f'<a href="#{c.name}">{escape(c.name)}</a>' for c in chapters),
        chapters="".join(_html_chapter(chapter, pictures) for chapter in chapters),
    )


def _html_claim(chapter: Chapter, claim: Claim) -> str:
    kind = claim.verdict.replace(" ", "-")
    return (
        f'<tr class="{kind}"><td class="verdict">{_SIGNS[claim.verdict]} {claim.verdict}</td>'
        f"<td>{escape(claim.text)}<small>{escape(claim.source)}</small></td>"
        f'<td>{escape(claim.reason)} <a href="#{chapter.name}">{escape(chapter.name)}</a></td></tr>'
    )


def _html_chapter(chapter: Chapter, pictures: Mapping[str, bytes]) -> str:
    parts = "".join(_html_part(part, pictures) for part in chapter.parts)
    return (
        f'<section id="{chapter.name}"><h2>{escape(chapter.title)}</h2>'
        f'<p class="facts">{escape(chapter.facts)}</p>{parts}</section>'
    )


def _html_part(part: Table | Drawing, pictures: Mapping[str, bytes]) -> str:
    if isinstance(part, Drawing):
        raw = base64.b64encode(pictures[part.name]).decode()
        return (
            f'<figure><img alt="{escape(part.title)}" src="data:image/png;base64,{raw}"></figure>'
        )
    head = "".join(f"<th>{escape(cell)}</th>" for cell in part.head)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in part.rows
    )
    note = f'<p class="note">{escape(part.note)}</p>' if part.note else ""
    return (
        f'<h3>{escape(part.title)}</h3><div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{note}"
    )
