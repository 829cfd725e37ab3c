"""The studio's page in Chromium: plan by hand, start and replay a run, compare, show faults."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from conftest import ROOT
from studio_browser import NEEDS_CHROMIUM, checked_page, screen_position, until
from studio_server import serving

from scdn.data.catalog import fetch
from scdn.scenario import read_scenario
from scdn.simulation.compare import compare
from scdn.studio.settings import StudioSettings

pytestmark = NEEDS_CHROMIUM


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    fetch("digits")
    quick = read_scenario(ROOT / "examples" / "quick.toml", ["learning.rounds=6", "seed=6"])
    compare(quick, ["sc-dn", "max-vfl"], [6, 7], folder / "two")
    return folder


@pytest.fixture(scope="module")
def address(runs):
    with serving(StudioSettings(runs)) as url:
        yield url


@pytest.fixture
def page(browser, address):
    with checked_page(browser, address) as tab:
        yield tab


@pytest.fixture
def plan(page, address):
    page.goto(f"{address}/#plan")
    page.wait_for_selector('.plan[data-status="optimal"]')
    return page


def _objective(page):
    return float(page.locator("output.big").inner_text())


def _wait_for_plan(page):
    """Wait until the last change is planned with the fine gap."""
    until(page, "studio.plan.element.dataset.status === 'optimal'")
    until(page, "studio.plan.replanner.refinedVersion === studio.plan.model.version")


def test_dragging_a_device_replans_while_it_moves(plan):
    """Only that device moves, and only horizontally."""
    before = plan.evaluate("structuredClone(studio.plan.model.request)")
    objective, count = _objective(plan), int(plan.get_attribute(".plan", "data-plans"))
    x, y = screen_position(plan, "device:d3")
    plan.mouse.move(x, y)
    plan.mouse.down()
    for step in range(1, 13):
        plan.mouse.move(x + 8 * step, y + 5 * step)
    live = int(plan.get_attribute(".plan", "data-plans"))
    plan.mouse.up()
    assert live > count + 1
    _wait_for_plan(plan)
    after = plan.evaluate("studio.plan.model.request")
    assert after["devices"][2]["position_m"] != before["devices"][2]["position_m"]
    assert after["devices"][2]["position_m"][2] == before["devices"][2]["position_m"][2]
    del after["devices"][2], before["devices"][2]
    assert after == before
    assert _objective(plan) != objective
    assert "within" in plan.locator(".proof").inner_text()
    assert "Solved in" in plan.locator(".pace").inner_text()


def test_dragging_with_shift_moves_a_device_up(plan):
    x, y = screen_position(plan, "device:d6")
    plan.mouse.move(x, y)
    plan.keyboard.down("Shift")
    plan.mouse.down()
    plan.mouse.move(x, y - 60, steps=4)
    plan.mouse.up()
    plan.keyboard.up("Shift")
    position = plan.evaluate("studio.plan.model.request.devices[5].position_m")
    assert position[:2] == [67.6, 47.6]
    assert position[2] > 5


def test_the_copied_command_gives_the_same_objective(plan, tmp_path):
    plan.get_by_label("Delay limit", exact=True).fill("400")
    _wait_for_plan(plan)
    plan.get_by_role("button", name="Command").click()
    copied = plan.evaluate("navigator.clipboard.readText()")
    request = re.search(r"<<'REQUEST'\n(.*)\nREQUEST", copied, re.S).group(1)
    (tmp_path / "request.json").write_text(request)
    done = subprocess.run(
        [sys.executable, "-m", "scdn.cli", "plan", str(tmp_path / "request.json"), "--json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["objective"] == pytest.approx(_objective(plan), rel=1e-4)


def test_a_device_is_added_moved_and_removed_by_keyboard(plan):
    plan.get_by_role("button", name="Add a device").focus()
    plan.keyboard.press("Enter")
    until(plan, "studio.plan.model.request.devices.length === 11")
    plan.locator(".plan .viewport canvas").focus()
    before = plan.evaluate("studio.plan.model.position('device:d11')")
    plan.keyboard.press("ArrowRight")
    plan.keyboard.press("PageUp")
    after = plan.evaluate("studio.plan.model.position('device:d11')")
    assert [round(b - a, 6) for a, b in zip(before, after, strict=True)] == [1, 0, 1]
    plan.keyboard.press("Delete")
    until(plan, "studio.plan.model.request.devices.length === 10")
    _wait_for_plan(plan)
    assert plan.locator("table.devices tbody tr").count() == 10


def test_the_server_stays_at_the_candidate_sites(plan):
    plan.get_by_text("Where the server may be").click()
    plan.get_by_role("button", name="Add a site").click()
    plan.get_by_label("Site 1, x in metres").fill("20")
    plan.keyboard.press("Tab")
    _wait_for_plan(plan)
    position = plan.evaluate("studio.plan.model.plan.server.position_m")
    assert position == plan.evaluate("studio.plan.model.request.candidates_m[0]")
    plan.get_by_role("button", name="Remove site 1").click()
    plan.get_by_role("button", name="Add a box").click()
    _wait_for_plan(plan)
    assert plan.evaluate("studio.plan.model.request.keep_out_m.length") == 2


def test_rivals_are_evaluated_under_the_true_model(plan):
    plan.get_by_label("Compare with rivals").check()
    plan.wait_for_selector("table.compare td.broken")
    rows = plan.locator("table.compare tbody tr")
    until(plan, "document.querySelectorAll('table.compare tbody tr').length === 5")
    cells = [
        [cell.strip() for cell in row.locator("th, td").all_inner_texts()] for row in rows.all()
    ]
    assert [row[0].splitlines()[0] for row in cells] == [
        "SC-DN, exact",
        "Algorithm 3",
        "… repaired",
        "GSP",
        "Max VFL",
    ]
    ours, paper, repaired = cells[0], cells[1], cells[2]
    assert ours[1] == repaired[1] == "kept"
    assert paper[1].startswith("breaks")
    objective = [float(row[2].split()[0]) for row in cells if row[1] == "kept"]
    assert objective[0] <= min(objective[1:]) * (1 + 1e-3)


def test_a_broken_file_lists_its_faults_and_changes_nothing(plan, tmp_path):
    before = plan.evaluate("JSON.stringify(studio.plan.model.request)")
    broken = json.loads((ROOT / "examples" / "request.json").read_text())
    broken["max_delay_s"] = "soon"
    broken["devices"][1]["positon_m"] = broken["devices"][1].pop("position_m")
    (tmp_path / "broken.json").write_text(json.dumps(broken))
    with plan.expect_file_chooser() as chooser:
        plan.get_by_role("button", name="Load").click()
    chooser.value.set_files(tmp_path / "broken.json")
    faults = plan.locator(".faults")
    faults.wait_for()
    text = faults.inner_text()
    assert "broken.json was not loaded" in text
    for fragment in (
        "max_delay_s",
        "must be a number",
        "devices.1.positon_m",
        "did you mean position_m?",
    ):
        assert fragment in text
    assert plan.evaluate("JSON.stringify(studio.plan.model.request)") == before
    with plan.expect_file_chooser() as chooser:
        plan.get_by_role("button", name="Load").click()
    chooser.value.set_files(ROOT / "examples" / "wildfire.toml")
    until(plan, "studio.plan.model.name === 'wildfire'")
    assert not faults.is_visible()


def test_a_run_is_started_followed_and_replayed(page, address, runs):
    page.goto(f"{address}/#run")
    page.get_by_role("button", name="New run").first.click()
    page.get_by_label("Rounds").fill("12")
    page.get_by_label("Name").fill("mine")
    page.get_by_label("mission", exact=True).uncheck()
    page.get_by_label("sc-dn", exact=True).check()
    page.get_by_label("max-vfl", exact=True).check()
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_selector('button.run[data-run^="mine/"][aria-pressed="true"]')
    page.locator('button.run[data-run="mine/sc-dn/seed-5"]').click()
    page.wait_for_selector('.runs[data-over="true"][data-rounds="12"]')
    until(page, "Number(document.querySelector('.curves').dataset.points) >= 24")
    assert page.locator(".round").inner_text() == "round 12 of 12"
    assert (runs / "mine" / "sc-dn" / "seed-5" / "events.jsonl").exists()

    lines = (runs / "mine" / "sc-dn" / "seed-5" / "events.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    rounds = [event for event in events if event["event"] == "round"]
    left = {name for event in rounds[:-1] for name in event["exited"]}
    departed = "studio.run.scene.state.devices.filter(s => s.state === 'departed').map(s => s.id)"
    assert set(page.evaluate(departed)) == left - {d["id"] for d in rounds[-1]["devices"]}

    slider = page.get_by_role("slider", name="Round", exact=True)
    slider.press("Home")
    for _ in range(3):
        slider.press("ArrowRight")
    assert page.locator(".round").inner_text() == "round 4 of 12"
    server = page.evaluate("studio.run.scene.state.server")
    assert server == pytest.approx(rounds[3]["server"]["position_m"])
    shown = page.evaluate(
        "studio.run.scene.state.devices.filter(s => s.state !== 'departed').map(s => s.id)"
    )
    assert shown == [device["id"] for device in rounds[3]["devices"]]
    page.get_by_role("button", name="Play").click()
    until(page, "studio.run.time > 5")


def test_a_run_is_paused_stopped_and_resumed(page, address):
    page.goto(f"{address}/#run")
    page.get_by_role("button", name="New run").first.click()
    page.get_by_label("Rounds").fill("60")
    page.get_by_label("Name").fill("long")
    page.get_by_label("mission", exact=True).uncheck()
    page.get_by_label("sc-dn", exact=True).check()
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_selector('button.run[data-run="long"][aria-pressed="true"]')
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Resume").wait_for()


def test_a_mission_is_started_with_its_goal_and_shows_its_forecast(page, address, runs):
    page.goto(f"{address}/#run")
    page.get_by_role("button", name="New run").first.click()
    page.get_by_label("Rounds").fill("3")
    page.get_by_label("Name").fill("flight")
    page.get_by_label("Goal").select_option("best")
    page.get_by_role("textbox", name="Target").fill("top3=99.9")
    page.get_by_label("Budget, J").fill("50")
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_selector('.runs[data-over="true"] button.run[data-run="flight"]')
    page.wait_for_selector('button.run[data-run="flight"][aria-pressed="true"]')
    lines = (runs / "flight" / "events.jsonl").read_text().splitlines()
    start, *rounds, _ = [json.loads(line) for line in lines]
    chosen = {key: start["scenario"]["mission"][key] for key in ("goal", "target", "budget_j")}
    assert chosen == {"goal": "best", "target": "top3=99.9", "budget_j": 50.0}
    assert start["scenario"]["targets"] == ["top3=99.9"]
    panel = page.locator(".mission")
    panel.get_by_text("from the expected one, mean over rounds").wait_for()
    table = page.locator(".round-devices").inner_text()
    for device in rounds[-1]["devices"]:
        assert device["id"] in table
        if device["reason"]:
            assert device["reason"].replace("_", " ") in table


def test_settings_of_a_mission_are_asked_for_only_where_it_is_chosen(page, address):
    page.goto(f"{address}/#run")
    page.get_by_role("button", name="New run").first.click()
    page.get_by_label("Goal").wait_for()
    page.get_by_label("mission", exact=True).uncheck()
    assert not page.get_by_label("Goal").is_visible()


def test_methods_are_compared(page, address, tmp_path):
    page.goto(f"{address}/#compare")
    page.get_by_role("checkbox").first.wait_for()
    for box in page.locator(".study-choice input").all():
        box.set_checked("two" in box.locator("xpath=..").inner_text())
    until(page, "document.querySelector('.comparing').dataset.methods === 'sc-dn,max-vfl'")
    page.get_by_text("2 methods over 2 seeds").wait_for()
    table = page.locator(".main-table").first.inner_text()
    assert "Energy" in table
    assert "too few seeds to tell" in table  # two
    assert page.locator("svg.ledger rect").count() == 2 * 5  # methods and terms
    assert page.locator(".card .uplot").count() >= 3
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV of all rounds").click()
    download.value.save_as(tmp_path / "rounds.csv")
    assert len((tmp_path / "rounds.csv").read_text().splitlines()) == 1 + 4 * 6
    with page.expect_download() as download:
        page.get_by_role("link", name="PNG of metric").click()
    download.value.save_as(tmp_path / "metric.png")
    assert (tmp_path / "metric.png").read_bytes().startswith(b"\x89PNG")
    page.get_by_label("Reference").select_option("max-vfl")
    until(page, "document.querySelector('.comparing').dataset.methods === 'max-vfl,sc-dn'")


def test_an_empty_studio_and_a_stopped_one_show_a_message(page, tmp_path):
    with serving(StudioSettings(tmp_path)) as address:
        page.goto(f"{address}/#run")
        page.get_by_text("No run yet").wait_for()
        page.goto(f"{address}/#compare")
        page.get_by_text("Nothing to compare yet").wait_for()
        page.goto(f"{address}/#plan")
        page.wait_for_selector('.plan[data-status="optimal"]')
    page.get_by_label("Link margin", exact=True).fill("700")
    page.get_by_text("does not answer").first.wait_for()


def test_every_view_fits_a_tablet_and_follows_the_dark_theme(browser, address):
    context = browser.new_context(
        viewport={"width": 820, "height": 1180}, color_scheme="dark", has_touch=True
    )
    page = context.new_page()
    for tab, ready in (
        ("plan", '.plan[data-status="optimal"]'),
        ("run", ".runs"),
        ("compare", ".comparing"),
    ):
        page.goto(f"{address}/#{tab}")
        page.wait_for_selector(ready)
        assert page.evaluate("document.documentElement.scrollWidth") <= 820
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    context.close()
