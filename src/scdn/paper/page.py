"""One page on all artefacts: twelve answers at the top, then every claim, table and figure."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader

from scdn.errors import input_error
from scdn.file_io import make_folder, write_atomic
from scdn.paper.artefact import VERDICTS, Claim, Drawing, Part, ResultTable
from scdn.paper.chapters import Chapter, read_chapters, refuse_other_versions, tally
from scdn.paper.headlines import HeadlineRow, answer_headlines
from scdn.paper.plotting import draw_png
from scdn.paper.settings_table import settings_table

TITLE = "The paper's claims, checked"
CHECKS = (
    "✓ holds in every block of every artefact that was judged, ✗ in none, ◐ in some, or in all "
    "that have an answer so far. A data set without a block in brackets stands for both of its "
    "blocks; against several rivals all must agree."
)
LEAD = (
    "Every table and figure of “SC-DN”, computed by this package and shown beside the published "
    "numbers. Each claim is checked in blocks: *published* follows the paper (Algorithm 3, its "
    "approximated rate, its settings); *true* has the exact solver and Shannon's rate. It is "
    "reproduced if it holds in all of them. A statement about all cells holds if nine tenths of "
    "them agree. Where a method has less than one iteration per device and round it hardly trains: "
    "the regime is not reached, and what it saves does not count. Likewise scores are not compared "
    "where neither method beats predicting without input."
)
_SIGNS = dict(zip(VERDICTS, ("✗", "◐", "✓", "○", "○", "…", "–"), strict=True))


def write_pages(source: Path, out: Path) -> list[Path]:
    """Write the page in both forms and the pictures beside it; return the pages' paths."""
    chapters = read_chapters(source)
    if not chapters:
        allowed = "needs results: scdn paper run NAME"
        raise input_error(str(source), "folder", "has no results of artefacts", allowed)
    pictures: dict[str, bytes] = {}
    for chapter in chapters:
        with refuse_other_versions(source / f"{chapter.name}.json", chapter.name):
            drawings = [part for part in chapter.parts if isinstance(part, Drawing)]
            pictures |= {drawing.name: draw_png(drawing) for drawing in drawings}
    make_folder(out)
    for name, png in pictures.items():
        write_atomic(out / f"{name}.png", png)
    pages = {"report.html": html(chapters, pictures), "report.md": markdown(chapters)}
    for name, text in pages.items():
        write_atomic(out / name, text)
    return [out / name for name in pages]


def _answer(chapters: Sequence[Chapter]) -> str:
    count = tally([claim for chapter in chapters for claim in chapter.papers_claims])
    listed = ", ".join(f"{number} {verdict}" for verdict, number in count.items() if number)
    return f"Of {sum(count.values())} claims of the paper, {listed}."


def _claims_summary(claims: Sequence[Claim]) -> str:
    count = tally(claims)
    return ", ".join(f"{number} {verdict}" for verdict, number in count.items() if number)


def _settings(chapters: Sequence[Chapter]) -> ResultTable:
    """Return the settings of all blocks; on which device models were trained decides nothing."""
    overrides = {
        chapter.name: [text for text in chapter.overrides if not text.startswith("learning.device")]
        for chapter in chapters
    }
    return settings_table({name: settings for name, settings in overrides.items() if settings})


def _bill(chapters: Sequence[Chapter]) -> list[str]:
    """Return, as a paragraph, what placing the server is worth by what a report is billed as."""
    claims = [
        claim for chapter in chapters if chapter.name == "payload" for claim in chapter.claims
    ]
    lines = []
    for claim in claims:
        lead = "What a report is billed as, and what remains of the placement ([payload](#payload))"
        runs = "[What is counted](../../what-is-counted.md) has whole runs by both bills."
        lines += [f"{lead}: “{claim.text}” {claim.reason}. {runs}", ""]
    return lines


# --- Markdown -------------------------------------------------------------------------------------


def markdown(chapters: Sequence[Chapter]) -> str:
    """Return the page as Markdown."""
    lines = [f"# {TITLE}", "", "## Twelve answers", ""]
    header = ("", "the paper says", "answer", "number", "detail")
    lines += [*_markdown_table(header, _headline_cells(answer_headlines(chapters))), ""]
    lines += [
        CHECKS,
        "",
        *_bill(chapters),
        _answer(chapters),
        "",
        LEAD,
        "",
        *_markdown_part(_settings(chapters)),
        "",
    ]
    for chapter in chapters:
        lines += [f'<a id="{chapter.name}"></a>', "", f"## {chapter.title}", "", chapter.facts, ""]
        lines += _markdown_claims("Claims", chapter.papers_claims)
        lines += _markdown_claims("Beyond the paper", chapter.other_claims)
        for part in chapter.parts:
            lines += [*_markdown_part(part), ""]
    return "\n".join(lines)


def _headline_cells(rows: Sequence[HeadlineRow]) -> list[tuple[str, ...]]:
    return [(row.sign, row.statement, row.answer, row.number, _link(row.artefact)) for row in rows]


def _link(name: str) -> str:
    return f"[{name}](#{name})"


def _markdown_claims(title: str, claims: Sequence[Claim]) -> list[str]:
    """Return claims as a table that is folded."""
    if not claims:
        return []
    rows = [
        (f"{_SIGNS[claim.verdict]} {claim.verdict}", claim.text, claim.source, claim.reason)
        for claim in claims
    ]
    summary = f"{title}: {_claims_summary(claims)}"
    table = _markdown_table(("", "statement", "where", "here"), rows)
    opening = f'<details markdown="1"><summary>{summary}</summary>'
    return [opening, "", *table, "", "</details>", ""]


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
        lead=LEAD.replace("*", ""),
        answer=_answer(chapters),
        checks=CHECKS,
        bill=re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", "".join(_bill(chapters))),
        headlines=answer_headlines(chapters),
        settings=_settings(chapters),
        summary=_claims_summary,
        signs=_SIGNS,
        chapters=[
            (chapter, chapter.facts.replace("**", ""), _folded_claims(chapter))
            for chapter in chapters
        ],
        pictures={name: base64.b64encode(png).decode() for name, png in pictures.items()},
    )


def _folded_claims(chapter: Chapter) -> list[tuple[str, Sequence[Claim]]]:
    groups = (("Claims", chapter.papers_claims), ("Beyond the paper", chapter.other_claims))
    return [(title, claims) for title, claims in groups if claims]
