"""The page on all artefacts, made from the committed results."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import ROOT

from scdn.cli import main
from scdn.paper.artefact import VERDICTS, Claim, Finding, read_spec
from scdn.paper.chapters import Chapter, read_chapters
from scdn.paper.headlines import HEADLINES, answer_headlines
from scdn.paper.page import markdown, write_pages
from scdn.paper.stale_results import changed_settings, stale_blocks

RESULTS = ROOT / "docs" / "results" / "paper"
SMALL = "learning.batch_size=32"


def committed(name):
    return json.loads((RESULTS / f"{name}.json").read_text())


def report_on(folder):
    return main(["paper", "report", "--from", str(folder), "--out", str(folder)])


def test_the_committed_page_is_what_the_code_makes_of_the_committed_numbers():
    page = (RESULTS / "report.md").read_text()
    assert markdown(read_chapters(RESULTS)) == page
    for name in re.findall(r"\]\((\S+\.png)\)", page):
        assert (RESULTS / name).exists(), name


def test_a_row_is_recomputed_in_ten_lines(capsys, monkeypatch):
    """The example of docs/paper.md gives the numbers of the page."""
    monkeypatch.chdir(ROOT)
    (code,) = re.findall(r"^```python\n(.*?)^```", Path("docs/paper.md").read_text(), re.M | re.S)
    lines = [line for line in code.splitlines() if line and "import" not in line]
    assert len(lines) <= 10
    exec(compile(code, "paper.md", "exec"), {})  # noqa: S102
    saved = json.loads(capsys.readouterr().out)
    (chapter,) = [c for c in read_chapters(RESULTS) if c.name == "static-mnist"]
    text = "SC-DN uses less processing energy than Max VFL, per active device."
    (claim,) = [claim for claim in chapter.claims if claim.text == text]
    shown = " / ".join(f"{value:.3g}" for value in saved)
    assert claim.findings["true"].evidence == f"saves {shown} %"


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
        (
            {"runs": [2, 2], "settings": [SMALL, "seed=3"]},
            f"2 runs per point, with {SMALL}, seed=3; ",
        ),
        ({"runs": [2, 2]}, "2 runs per point; "),
        ({"runs": [2, 10]}, "2 to 10 runs per point; "),
        ({"runs": [1, 1]}, "1 run per point; "),
        ({"runs": [2, 2], "only": ["true"]}, "2 runs per point, only true; "),
        (
            {"runs": [2, 10], "jobs": {"planned": 20, "done": 16}, "settings": [SMALL]},
            f"at most 10 runs per point, 16 of 20 jobs so far, with {SMALL}; ",
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


def test_what_contradicts_the_paper_comes_first_and_ours_is_apart():
    claims = [Claim("source", verdict, verdict, "reason") for verdict in reversed(VERDICTS)]
    ours = Claim("beyond the paper, mnist", "ours", "not reproduced", "reason")
    chapter = Chapter("x", "X", "facts", (), (*claims, ours))
    assert [claim.verdict for claim in chapter.papers_claims] == list(VERDICTS)
    assert chapter.other_claims == [ours]
    text = markdown([chapter])
    assert f"Of {len(VERDICTS)} claims of the paper" in text  # ours is not counted
    assert text.index("<summary>Claims: ") < text.index("<summary>Beyond the paper: 1 not")


# --- headlines ------------------------------------------------------------------------------------


def keeping_beats_zoc(**answers):
    """Return the first headline's row for a chapter with these answers by block."""
    findings = {block: Finding(answer, f"{block} numbers") for block, answer in answers.items()}
    text = "Keeping departed devices' embeddings ends better than ZOC (known samples)."
    claim = Claim("Sec. V", text, "reproduced", "", findings)
    (row,) = answer_headlines([Chapter("dynamic-mnist", "", "", (), (claim,))])[:1]
    return row


def test_the_page_has_twelve_headlines_and_every_part_is_judged_somewhere():
    chapters = read_chapters(RESULTS)
    assert len(HEADLINES) == len(answer_headlines(chapters)) == 12
    texts = {chapter.name: [claim.text for claim in chapter.claims] for chapter in chapters}
    for headline in HEADLINES:
        for part in headline.parts:
            for name in part.artefacts:
                assert any(re.search(part.pattern, text) for text in texts[name]), (part, name)


def test_a_headline_is_answered_by_what_was_found():
    yes = keeping_beats_zoc(published=True, true=True)
    assert (yes.sign, yes.answer) == ("✓", "Yes, in every case.")
    assert yes.number == "dynamic-mnist, published: published numbers"
    assert yes.artefact == "dynamic-mnist"
    part = keeping_beats_zoc(published=False, true=True)
    assert part.sign == "◐"
    assert part.answer == "In part: on known samples for MNIST (true)."
    assert keeping_beats_zoc(published=False, true=False).sign == "✗"
    waiting = keeping_beats_zoc(published="not recomputed", true=True)
    assert waiting.sign == "◐"
    assert waiting.answer == (
        "Yes, as far as can be said, in every case (not recomputed for MNIST (published))."
    )
    assert keeping_beats_zoc(published="regime not reached").sign == "–"


# --- results of other settings --------------------------------------------------------------------


def test_results_of_other_settings_wait_to_be_recomputed(tmp_path):
    document = committed("static-mnist")
    case = next(case for key, case in document["cases"].items() if key.startswith("published"))
    case["scenario"]["learning.epsilon"] = 0.5
    document["scenario"]["learning"].pop("epsilon", None)
    (tmp_path / "static-mnist.json").write_text(json.dumps(document))
    (chapter,) = read_chapters(tmp_path)
    made = "made with learning.epsilon = 0.5, to be recomputed with 2.303e-08"
    assert made in chapter.facts
    waiting = [claim for claim in chapter.claims if claim.verdict == "not recomputed"]
    assert waiting
    for claim in waiting:
        assert claim.findings["published"].answer == "not recomputed"
        assert made in claim.reason
    judged_by_true_alone = [c for c in chapter.claims if "published" not in c.findings]
    assert all(c.verdict != "not recomputed" for c in judged_by_true_alone)


def test_artefacts_with_settings_of_the_user_are_named_beside_the_settings(tmp_path):
    for name in ("static-mnist", "payload"):
        document = json.loads((RESULTS / f"{name}.json").read_text())
        if name == "static-mnist":
            document["settings"] = ["learning.epsilon=0.01"]
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    write_pages(tmp_path, tmp_path / "page")
    for form in ("md", "html"):
        text = (tmp_path / "page" / f"report.{form}").read_text()
        assert "Run with other settings: static-mnist with learning.epsilon=0.01. ε is" in text


def test_a_setting_that_is_new_is_as_it_was_before():
    (job, *_) = read_spec("static-mnist").job_module.jobs(read_spec("static-mnist", runs=1))
    today = job.arguments["scenario"]
    assert changed_settings(today, today) == {}
    before = json.loads(json.dumps(today))
    del before["learning"]["arrival_steps"], before["learning"]["local_optimizer"]
    assert changed_settings(before, today) == {"learning.arrival_steps": ("party", "shared")}
    before["seed"], before["method"] = 77, "other"  # these vary within a case
    assert changed_settings(before, today).keys() == {"learning.arrival_steps"}


@pytest.mark.parametrize("name", ["convergence", "response", "weights", "exact"])
def test_artefacts_on_one_round_have_todays_settings(name):
    assert stale_blocks(committed(name), read_spec(name, runs=1)) == {}


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
