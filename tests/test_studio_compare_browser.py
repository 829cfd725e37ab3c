"""Compare in Chromium: the verdict, honest colours, the Pareto view, downloads and the address."""

from __future__ import annotations

import csv
import json
from urllib.parse import parse_qs

import pytest
from recorded_runs import write_run
from studio_browser import NEEDS_CHROMIUM, checked_page, until
from studio_server import serving

from scdn.record.run_reader import EVENTS
from scdn.studio.settings import StudioSettings

pytestmark = NEEDS_CHROMIUM


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """A studio with `six` seeds of three methods, and `two` of two in another network."""
    folder = tmp_path_factory.mktemp("compared")
    for study, methods, seeds in (
        ("six", ("mission", "gsp", "vafl"), 6),
        ("two", ("mission", "gsp"), 2),
    ):
        for method in methods:
            for seed in range(seeds):
                run = write_run(folder / study / method / f"seed-{seed}", method, seed,
                                targets=["top3=82"])  # fmt: skip
                lines = [json.loads(line) for line in (run / EVENTS).read_text().splitlines()]
                lines[0]["scenario"] |= {"name": study, "round_s": seeds}
                if method == "mission":
                    lines[-1]["mission"] = {"priced_j": 40.0, "bound_j": 30.0 + seed}
                (run / EVENTS).write_text("".join(json.dumps(line) + "\n" for line in lines))
    with serving(StudioSettings(folder)) as url:
        yield url


@pytest.fixture
def page(browser, compared):
    with checked_page(browser, compared) as tab:
        yield tab


def _open(page, compared, query):
    page.goto("about:blank")
    page.goto(f"{compared}/#compare?{query}")
    page.wait_for_selector(".pareto svg .point")


def _summary(page, compared, *runs, **more):
    query = "&".join([*(f"run={run}" for run in runs), *(f"{k}={v}" for k, v in more.items())])
    return page.request.get(f"{compared}/api/study?{query}").json()


def _address(page):
    return {k: v[0] for k, v in parse_qs(page.evaluate("location.hash").partition("?")[2]).items()}


def test_the_verdict_comes_first_and_the_costs_of_the_target_lead_the_table(page, compared):
    _open(page, compared, "study=six")
    (verdict,) = _summary(page, compared, "six")["verdicts"]
    assert (verdict["choice"], verdict["certainty"]) == ("mission", "decided")
    card = page.get_by_role("region", name="Which method to reach 82 % top-3?")
    text = card.inner_text()
    for sentence in (verdict["headline"], *verdict["evidence"], *verdict["reservations"]):
        assert sentence in text
    assert "decided by the exact test" in text
    assert "When it would not be the choice" in text
    kinds = ".method-verdict, .main-table, .pareto, .comparing .uplot"
    order = page.evaluate(
        "kinds => [...document.querySelectorAll(kinds)].map(e => e.className)", kinds
    )
    assert [name.split()[-1] for name in order[:4]] == [
        "decided", "main-table", "main-table", "pareto",
    ]  # fmt: skip
    heads = page.locator(".main-table").first.locator("thead th").all_inner_texts()
    assert [head.split(" (")[0].split(" %")[0] for head in heads[:4]] == [
        "Method", "Energy to 82", "Time to 82", "Top-3 accuracy",
    ]  # fmt: skip

    _open(page, compared, "study=two")
    few = page.locator(".method-verdict")
    few.get_by_text("There are too few seeds to tell whether that is chance.").wait_for()
    assert "decided" not in few.inner_text()
    assert few.evaluate("e => getComputedStyle(e).borderLeftColor") == _rgb(page, "--faint")


def _rgb(page, name):
    return page.evaluate(
        """name => { const e = document.createElement("i"); e.style.color = `var(${name})`;
            document.body.append(e); const c = getComputedStyle(e).color; e.remove();
            return c; }""",
        name,
    )


def test_a_difference_is_coloured_only_where_the_exact_test_decides(page, compared):
    for study in ("six", "two"):
        _open(page, compared, f"study={study}")
        page.get_by_text("Further measures").click()
        measures = _summary(page, compared, study)["measures"]
        expected = [
            next(v["verdict"] for v in measure["values"] if v["method"] == method)
            for main in (True, False)
            for method in ("gsp", "vafl")[: 2 if study == "six" else 1]
            for measure in measures
            if measure["main"] == main and any(v["method"] == method for v in measure["values"])
        ]
        shown = page.evaluate(
            "[...document.querySelectorAll('.results td small')]"
            ".map(e => [e.innerText, getComputedStyle(e).color])"
        )
        colours = {"better": _rgb(page, "--good"), "worse": _rgb(page, "--danger")}
        assert len(shown) == len(expected)
        for verdict, (text, colour) in zip(expected, shown, strict=True):
            assert colour == colours.get(verdict, _rgb(page, "--muted")), (verdict, text)
            assert ("▲" in text) == (verdict == "better")
            assert ("▼" in text) == (verdict == "worse")
            if verdict not in colours:
                assert verdict in text
        if study == "six":
            assert {"better", "worse"} & set(expected)
            assert page.get_by_text("▲ green is better and ▼ red is worse").is_visible()
        else:
            assert set(expected) == {"too few seeds to tell"}
            assert page.get_by_text("All are grey: fewer than 6 common seeds").is_visible()


def test_the_pareto_view_is_read_and_opened_by_keyboard(page, compared):
    _open(page, compared, "study=six")
    pareto = page.locator(".pareto")
    study = _summary(page, compared, "six")
    assert pareto.locator("a.point").count() == 18
    assert pareto.locator(".point.mean").count() == 3
    assert pareto.locator("path.front").count() == 1
    assert pareto.get_by_text("target 82").is_visible()
    assert pareto.get_by_text("bound of mission: 30.0 J").is_visible()
    ticks = pareto.locator("svg").first.text_content()
    pareto.get_by_label("Logarithmic costs").set_checked(True)
    assert pareto.get_attribute("data-log") == "true"
    assert pareto.locator("svg").first.text_content() != ticks
    pareto.get_by_role("button", name="against seconds").click()
    assert pareto.get_attribute("data-cost") == "seconds"
    assert pareto.locator(".bound").count() == 0  # a bound of joules

    pareto.get_by_label("Logarithmic costs").focus()
    page.keyboard.press("Tab")
    points = study["pareto"]["runs"] + study["pareto"]["means"]
    points.sort(key=lambda point: (point["seconds"], point["score"]))
    focused = "document.activeElement.getAttribute('aria-label')"
    for point in points:
        name = page.evaluate(focused)
        who = "mean over seeds" if point["seed"] is None else f"seed {point['seed']}"
        assert name.startswith(f"{point['method']}, {who}; Top-3 accuracy ")
        assert pareto.locator(".pareto-tip").inner_text() == name
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Home")
    first = next(n for n, point in enumerate(points) if point["seed"] is not None)
    for _ in range(first):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    run = study["run_names"][points[first]["run"]]
    until(page, f"location.hash.startsWith('#run?run={run}')")
    page.wait_for_selector('nav a[href="#run"][aria-current="page"]')


def test_every_picture_and_table_is_saved(page, compared, tmp_path):
    _open(page, compared, "study=six&target=top3=80&cost=seconds")
    study = _summary(page, compared, "six", target="top3=80")
    shown = [name for name in study["figures"] if name != "pareto_joules"]
    for figure in shown:
        for kind in ("PNG", "SVG"):
            assert page.get_by_role("link", name=f"{kind} of {figure}", exact=True).count() == 1
    saved = {}
    names = ["PNG of pareto_seconds", "SVG of pareto_seconds", "CSV of pareto", "CSV of ledger",
             "CSV of statistics", "CSV of targets", "CSV of all rounds"]  # fmt: skip
    for name in names:
        with page.expect_download() as download:
            page.get_by_role("link", name=name, exact=True).click()
        download.value.save_as(tmp_path / "saved")
        saved[name] = (tmp_path / "saved").read_bytes()
    assert saved["PNG of pareto_seconds"].startswith(b"\x89PNG")
    assert b"target 80" in saved["SVG of pareto_seconds"]
    lengths = {
        name: len(list(csv.DictReader(content.decode().splitlines())))
        for name, content in saved.items()
        if name.startswith("CSV")
    }
    assert lengths == {
        "CSV of pareto": 18 + 3,
        "CSV of ledger": 3,
        "CSV of statistics": sum(len(measure["values"]) for measure in study["measures"]),
        "CSV of targets": 18,
        "CSV of all rounds": 18 * 12,
    }
    assert b"top3=80" in saved["CSV of targets"]


def test_the_address_keeps_what_is_shown_over_a_reload_and_back(page, compared):
    _open(page, compared, "study=six")
    page.get_by_label("Reference").focus()
    page.get_by_label("Reference").select_option("gsp")
    until(page, "document.querySelector('.comparing').dataset.methods === 'gsp,mission,vafl'")
    assert page.evaluate("document.activeElement.ariaLabel") == "Reference"
    page.get_by_label("Cost to reach").fill("top3=80, top1=30")
    page.keyboard.press("Enter")
    page.get_by_text("top3=80 is reached in").wait_for()
    page.get_by_role("button", name="against seconds").click()
    page.get_by_label("Logarithmic costs").set_checked(True)
    expected = {"study": "six", "reference": "gsp", "target": "top3=80,top1=30", "cost": "seconds",
                "log": "1"}  # fmt: skip
    assert _address(page) == expected

    def state():
        page.wait_for_selector(".pareto svg .point")
        return page.evaluate(
            """() => ({ methods: document.querySelector(".comparing").dataset.methods,
                asked: document.getElementById("target").value,
                studies: [...document.querySelectorAll(".study-choice input")].map(e => e.checked),
                cost: document.querySelector(".pareto").dataset.cost,
                log: document.querySelector(".pareto").dataset.log,
                verdicts: document.querySelector(".verdicts").innerText })"""
        )

    before = state()
    page.reload()
    assert state() == before
    assert _address(page) == expected

    page.get_by_role("checkbox", name="two").check()
    page.get_by_text("two: which method to reach 82 % top-3?").wait_for()  # the scenarios' own
    page.go_back()
    page.get_by_text("two: which method").wait_for(state="detached")
    assert state() == before
    page.go_back()
    until(page, "document.querySelector('.pareto').dataset.log === 'false'")
    page.go_back()
    until(page, "document.querySelector('.pareto').dataset.cost === 'joules'")
    assert _address(page) == {"study": "six", "reference": "gsp", "target": "top3=80,top1=30"}


def test_networks_differ_in_shape_and_a_wrong_address_is_said(page, compared):
    _open(page, compared, "study=six,two")
    assert page.locator(".method-verdict").count() == 2
    shapes = page.evaluate(
        "[...document.querySelectorAll('.pareto a.point')].map(e => [e.getAttribute('aria-label')"
        ".includes('; two;'), e.querySelector('path').getAttribute('d')])"
    )
    assert len({tuple(shape) for shape in shapes}) == 2
    assert page.locator(".pareto path.front").count() == 2
    for name in ("six", "two"):
        assert page.locator(".pareto-keys").get_by_text(name, exact=True).is_visible()
    page.goto("about:blank")
    page.goto(f"{compared}/#compare?study=gone,two&target=top9=1&reference=nobody&log=x")
    page.get_by_text("gone is not among the comparisons").wait_for()
    page.get_by_text("top9 is not recorded; must be one of").wait_for()
    assert page.get_by_label("Cost to reach").input_value() == "top9=1"
    assert page.get_by_label("Reference").input_value() == "mission"
    assert page.locator(".method-verdict").count() == 1


@pytest.mark.parametrize(("width", "theme"), [(1366, "light"), (820, "dark"), (390, "light")])
def test_compare_fits_the_screen(browser, compared, width, theme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
    page = context.new_page()
    for query in ("study=six", "study=six,two&cost=seconds"):
        _open(page, compared, query)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        outside = page.evaluate(
            """width => [...document.querySelectorAll(
                ".method-verdict *, .pareto svg text, .pareto .point, .exports a, .reading"
            )].filter(e => {
                const b = e.getBoundingClientRect();
                return b.width && (b.left < -1 || b.right > width + 1);
            }).map(e => e.textContent)""",
            width,
        )
        assert outside == []
        names = page.evaluate(
            "[...document.querySelectorAll('.pareto text.name, .pareto text.note')].map(e => {"
            "const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })"
        )
        for n, a in enumerate(names):
            for b in names[:n]:
                apart = a[2] <= b[0] + 2 or b[2] <= a[0] + 2 or a[3] <= b[1] + 4 or b[3] <= a[1] + 4
                assert apart, (a, b)
    context.close()
