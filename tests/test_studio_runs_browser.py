"""The studio's Run and Compare pages in Chromium: what they open on, and what they say of runs."""

from __future__ import annotations

import shutil

import pytest
from conftest import ROOT
from studio_browser import NEEDS_CHROMIUM, checked_page, until
from studio_server import serving

from scdn.data.catalog import fetch
from scdn.scenario import read_scenario
from scdn.simulation.compare import compare
from scdn.studio.settings import StudioSettings

pytestmark = NEEDS_CHROMIUM
ROUNDS = 6


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    fetch("digits")
    quick = read_scenario(ROOT / "examples" / "quick.toml", [f"learning.rounds={ROUNDS}"])
    compare(quick, ["sc-dn", "max-vfl"], [5], folder / "two")
    return folder / "two"


@pytest.fixture
def study(recorded, tmp_path):
    """A copy of a study, which a test may change."""
    return shutil.copytree(recorded, tmp_path / "two")


def _cut(run, rounds):
    """Let a run have these rounds and no end."""
    lines = (run / "events.jsonl").read_text().splitlines()
    (run / "events.jsonl").write_text("\n".join(lines[: 1 + rounds]) + "\n")


@pytest.mark.parametrize(
    ("folder", "view"),
    [("", "introduction"), ("two", "compare"), ("two/max-vfl/seed-5", "run")],
)
def test_the_page_shows_what_the_studio_was_opened_on(browser, study, folder, view):
    with (
        serving(StudioSettings(study.parent / folder)) as address,
        checked_page(browser, address) as page,
    ):
        page.goto(address)
        page.wait_for_selector(f'nav a[href="#{view}"][aria-current="page"]')
        if view == "compare":
            page.get_by_text("2 methods over 1 seed").wait_for()
        if view == "run":
            page.wait_for_selector(f'button.run[data-run="{folder}"][aria-pressed="true"]')


def test_a_new_run_does_not_spoil_an_opened_study(browser, study):
    with serving(StudioSettings(study)) as address, checked_page(browser, address) as page:
        page.goto(f"{address}/#run")
        page.get_by_role("button", name="New run").first.click()
        page.get_by_label("Rounds").fill("2")
        page.get_by_label("Name").fill("mine")
        page.get_by_label("mission", exact=True).uncheck()
        page.get_by_label("sc-dn", exact=True).check()
        page.get_by_role("button", name="Start", exact=True).click()
        page.wait_for_selector('button.run[data-run="two-runs/mine"][aria-pressed="true"]')
        page.wait_for_selector('.runs[data-over="true"][data-rounds="2"]')
        page.get_by_role("link", name="Compare").click()
        page.get_by_text("2 methods over 1 seed").wait_for()
        assert page.locator(".study-choice input:checked").count() == 1
        assert page.get_by_text("cannot be compared").count() == 0
    assert not (study / "mine").exists()


def test_a_run_that_has_ended_is_neither_paused_nor_stopped(browser, study):
    """Even while its job goes on, as other runs of a comparison do."""

    def with_job(route):
        answer = route.fetch().json()
        answer["jobs"] = [{"job": "two", "state": "running", "command": "scdn", "log": ""}]
        for run in answer["runs"]:
            run["job"] = "two"
            if run["method"] == "max-vfl":
                run["status"] = "running"
        route.fulfill(json=answer)

    with serving(StudioSettings(study)) as address, checked_page(browser, address) as page:
        page.route("**/api/runs", with_job)
        page.goto(f"{address}/#run")
        page.locator('button.run[data-run="two/max-vfl/seed-5"]').click()
        page.get_by_role("button", name="Stop").wait_for()
        page.locator('button.run[data-run="two/sc-dn/seed-5"]').click()
        page.wait_for_selector(".title .chip.done")
        for name in ("Pause", "Stop"):
            assert page.locator(".bar.top").get_by_role("button", name=name).count() == 0
        page.unroute_all(behavior="ignoreErrors")


def test_buttons_follow_the_state_of_the_job(browser, study):
    """A job may end after its last run has; the run itself does not change then."""
    state = "running"

    def with_job(route):
        answer = route.fetch().json()
        answer["jobs"] = [{"job": "two", "state": state, "command": "scdn", "log": ""}]
        answer["runs"] = [{**run, "job": "two", "status": "running"} for run in answer["runs"]]
        route.fulfill(json=answer)

    with serving(StudioSettings(study)) as address, checked_page(browser, address) as page:
        page.route("**/api/runs", with_job)
        page.goto(f"{address}/#run")
        page.get_by_role("button", name="Stop").wait_for()
        state = "done"
        page.get_by_role("button", name="Stop").wait_for(state="detached", timeout=10_000)
        page.unroute_all(behavior="ignoreErrors")


def test_a_page_whose_server_is_gone_says_so_instead_of_running(browser, study):
    _cut(study / "sc-dn" / "seed-5", 3)
    with serving(StudioSettings(study)) as address, checked_page(browser, address) as page:
        page.goto(f"{address}/#run")
        page.locator('button.run[data-run="two/sc-dn/seed-5"]').click()
        page.wait_for_selector(".title .chip.running")
        page.route("**/api/**", lambda route: route.abort("connectionrefused"))
        page.locator(".title", has_text="does not answer").wait_for()
        assert page.locator(".title .chip.running").count() == 0
        page.get_by_role("link", name="Compare").click()
        page.get_by_role("heading", name="The studio does not answer").last.wait_for()
        page.unroute("**/api/**")
        page.get_by_role("link", name="Run").click()
        page.wait_for_selector(".title .chip.running")


_MARKER = """[...document.querySelectorAll('.curves .marker')].map(
    marker => new DOMMatrix(getComputedStyle(marker).transform).e)"""
_EXPECTED = "studio.run.curves.metric.chart.plot.valToPos(studio.run.time + 1, 'x')"


def test_the_round_marker_follows_the_scale_of_another_study(browser, study):
    short = shutil.copytree(study / "sc-dn" / "seed-5", study.parent / "short")
    _cut(short, 3)
    curves = []  # they come after the run's events, so that the round is marked before the scale
    with serving(StudioSettings(study.parent)) as address, checked_page(browser, address) as page:
        page.route("**/api/points*", lambda route: curves.append(route))
        page.goto(f"{address}/#run")
        for run, rounds in (("two/sc-dn/seed-5", ROUNDS), ("short", 3)):
            page.locator(f'button.run[data-run="{run}"]').click()
            page.wait_for_selector(f'.runs[data-rounds="{rounds}"]')
            until(page, f"studio.run.time === {rounds - 1}")
            curves[-1].continue_()
            until(page, f"studio.run.curves.metric.chart.plot.scales.x.max === {rounds}")
            page.wait_for_timeout(300)
            markers = page.evaluate(_MARKER)
            assert len(markers) == 3
            assert markers == pytest.approx([page.evaluate(_EXPECTED)] * 3, abs=1)


def test_a_legend_shows_no_value_of_a_curve_that_has_ended(browser, study):
    _cut(study / "max-vfl" / "seed-5", 3)
    with serving(StudioSettings(study)) as address, checked_page(browser, address) as page:
        page.goto(f"{address}/#compare")
        card = page.locator("figure.card", has=page.get_by_label("PNG of metric"))
        legend = card.locator(".u-legend .u-series:not(.edge)")
        legend.first.wait_for()
        page.mouse.move(1, 1)
        shown = {
            row.locator(".u-label").inner_text(): row.locator(".u-value").inner_text()
            for row in legend.all()
        }
        assert shown["round"] == str(ROUNDS)
        assert shown["max-vfl"] == "–"
        assert float(shown["sc-dn"]) > 0
