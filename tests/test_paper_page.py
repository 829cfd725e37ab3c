"""The page on all artefacts, made from the committed results."""

from __future__ import annotations

import json
import re

import pytest
from conftest import ROOT

from scdn.cli import main
from scdn.paper.artefact import Claim
from scdn.paper.page import Chapter, markdown, read_chapters, write_pages

RESULTS = ROOT / "docs" / "results" / "paper"


def committed(name):
    return json.loads((RESULTS / f"{name}.json").read_text())


def report_on(folder):
    return main(["paper", "report", "--from", str(folder), "--out", str(folder)])


def test_the_committed_page_is_what_the_code_makes_of_the_committed_numbers():
    page = (RESULTS / "report.md").read_text()
    assert markdown(read_chapters(RESULTS)) == page
    for name in re.findall(r"\]\((\S+\.png)\)", page):
        assert (RESULTS / name).exists(), name


def test_the_page_holds_every_part_and_fetches_nothing(tmp_path):
    for name in ("static-mnist", "exact"):
        (tmp_path / f"{name}.json").write_text(json.dumps(committed(name)))
    write_pages(tmp_path, tmp_path)
    html, text = (tmp_path / "report.html").read_text(), (tmp_path / "report.md").read_text()
    for chapter in read_chapters(tmp_path):
        for part in chapter.parts:
            assert part.title in text
            assert part.title in html
        for claim in chapter.claims:
            assert claim.reason in text
    assert not re.search(r'(?:src|href)="(?!data:|#)', html)
    assert html.count("data:image/png;base64,") == 2
    for name in re.findall(r"\]\((\S+\.png)\)", text):
        assert (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"runs": [2, 2], "settings": ["a.b=1", "c=2"]}, "2 runs per point, with a.b=1, c=2; "),
        ({"runs": [2, 2]}, "2 runs per point; "),
        ({"runs": [2, 10]}, "2 to 10 runs per point; "),
        ({"runs": [1, 1]}, "1 run per point; "),
        ({"runs": [2, 2], "only": ["true"]}, "2 runs per point, only true; "),
        (
            {"runs": [2, 10], "jobs": {"planned": 20, "done": 16}, "settings": ["a.b=1"]},
            "at most 10 runs per point, 16 of 20 jobs so far, with a.b=1; ",
        ),
    ],
)
def test_the_page_says_how_many_runs_and_with_what(changes, facts, tmp_path):
    document = committed("exact") | {"only": [], "settings": []} | changes
    (tmp_path / "exact.json").write_text(json.dumps(document))
    (chapter,) = read_chapters(tmp_path)
    assert chapter.facts.startswith(facts)
    assert facts in markdown([chapter])


def test_documents_without_settings_are_shown(tmp_path):
    """Earlier versions wrote fewer fields, and one number of runs."""
    document = committed("exact") | {"runs": 10}
    for field in ("only", "settings", "seeds", "cases", "varied"):
        del document[field]
    (tmp_path / "exact.json").write_text(json.dumps(document))
    (chapter,) = read_chapters(tmp_path)
    assert chapter.facts.startswith("10 runs per point; ")


def test_what_contradicts_the_paper_comes_first():
    claims = tuple(
        Claim("source", verdict, verdict, "reason")
        for verdict in ("reproduced", "not measured", "not reproduced", "reproduced in this regime")
    )
    text = markdown([Chapter("x", "X", "facts", (), claims)])
    order = [text.index(f"| {sign}") for sign in "✗◐✓–"]
    assert order == sorted(order)


def test_a_report_of_nothing_or_of_a_broken_file_is_refused(tmp_path, capsys):
    assert report_on(tmp_path) == 2
    (tmp_path / "static-mnist.json").write_text('{"numbers": ')
    assert report_on(tmp_path) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "static-mnist.json" in lines[1]


@pytest.mark.parametrize("missing", ["title", "took", "numbers", "rows", "energy"])
def test_a_report_of_half_a_result_is_refused(missing, tmp_path, capsys):
    document = committed("dynamic-mnist")
    parent = document if missing in document else document["numbers"]
    for table in [parent] if missing in parent else parent["rows"]:  # only pictures need `energy`
        table.pop(missing)
    (tmp_path / "dynamic-mnist.json").write_text(json.dumps(document))
    assert report_on(tmp_path) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert str(tmp_path / "dynamic-mnist.json") in line
    assert missing in line


@pytest.mark.parametrize("changed", ["title", "took", "runs", "numbers", "rows", "starts"])
def test_a_result_of_another_form_is_refused_or_shown(changed, tmp_path, capsys):
    """As an earlier version may have written it: never a traceback."""
    document = committed("static-mnist")
    parent = document if changed in document else document["numbers"]
    for value in (None, 3, [3], {"a": 3}):
        parent[changed] = value
        (tmp_path / "static-mnist.json").write_text(json.dumps(document))
        status = report_on(tmp_path)
        lines = capsys.readouterr().err.splitlines()
        assert (status, len(lines)) in ((0, 0), (2, 1)), value
        assert status == 0 or "scdn paper run static-mnist" in lines[0]


def test_a_folder_that_cannot_be_made_is_named(tmp_path, capsys):
    (tmp_path / "exact.json").write_text(json.dumps(committed("exact")))
    (tmp_path / "file").touch()
    out = str(tmp_path / "file" / "x")
    assert main(["paper", "report", "--from", str(tmp_path), "--out", out]) == 1
    assert main(["paper", "run", "exact", "--runs", "1", "--out", out]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(out in line for line in lines)
