"""The studio's introduction in Chromium: three scenes and a verdict."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT
from studio_browser import NEEDS_CHROMIUM, checked_page, until
from studio_server import serving

from scdn.control.plan_request import make_request, problem_of
from scdn.control.solve import solve
from scdn.studio.api_models import OpenFileRequest
from scdn.studio.settings import StudioSettings
from scdn.studio.uploads import open_file

pytestmark = NEEDS_CHROMIUM


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with serving(StudioSettings(tmp_path_factory.mktemp("runs"))) as url:
        yield url


@pytest.fixture
def page(browser, address):
    with checked_page(browser, address) as tab:
        yield tab


def _wait_for_scene(page, number):
    page.wait_for_selector(f'.introduction[data-scene="{number}"][data-ready="true"]')


@pytest.fixture
def introduction(page, address):
    page.goto(address)
    _wait_for_scene(page, 1)
    return page


def test_the_first_visit_shows_the_introduction_and_later_ones_the_plan(introduction, address):
    introduction.goto("about:blank")
    introduction.goto(address)
    introduction.wait_for_selector('nav a[href="#plan"][aria-current="page"]')
    introduction.get_by_role("link", name="Introduction").click()
    _wait_for_scene(introduction, 1)


def test_scenes_advance_by_button_key_and_dot_and_have_addresses(introduction):
    """Back and a reload show the scene of the address."""
    introduction.get_by_role("button", name="Next: the server decides").click()
    _wait_for_scene(introduction, 2)
    introduction.keyboard.press("ArrowRight")
    _wait_for_scene(introduction, 3)
    assert introduction.url.endswith("#introduction?scene=3")
    introduction.get_by_role("button", name="4 Which method").click()
    _wait_for_scene(introduction, 4)
    introduction.keyboard.press("ArrowRight")  # there is no fifth
    introduction.keyboard.press("ArrowLeft")
    _wait_for_scene(introduction, 3)
    introduction.go_back()
    _wait_for_scene(introduction, 4)
    introduction.reload()
    _wait_for_scene(introduction, 4)


def test_the_next_step_keeps_the_focus(introduction):
    """Enter leads through all scenes."""
    introduction.get_by_role("button", name="Next: the server decides").focus()
    for scene in (2, 3, 4):
        introduction.keyboard.press("Enter")
        _wait_for_scene(introduction, scene)
    focused = introduction.evaluate("document.activeElement.textContent")
    assert focused == "Plan this network by hand"


def test_without_a_plan_the_recorded_scenes_are_still_there(page, address):
    page.route("**/api/plan?*", lambda route: route.fulfill(status=422, json={"faults": [
        {"field": "devices", "found": "none", "allowed": "must be some"}]}))  # fmt: skip
    page.goto(f"{address}/#introduction?scene=2")
    page.get_by_text("The plan could not be computed").wait_for()
    page.keyboard.press("ArrowRight")
    _wait_for_scene(page, 3)
    page.keyboard.press("ArrowLeft")
    page.get_by_text("The plan could not be computed").wait_for()


def test_the_wheel_turns_one_scene(introduction):
    introduction.mouse.move(640, 400)
    introduction.mouse.wheel(0, 120)
    introduction.mouse.wheel(0, 120)  # the same turn
    _wait_for_scene(introduction, 2)


def test_the_decision_is_the_exact_plan_beside_staying(introduction):
    """Numbers on the page are those that the solver gives for the scenario."""
    text = (ROOT / "examples" / "wildfire.toml").read_text()
    opened = open_file(OpenFileRequest(name="wildfire.toml", text=text, round=0))
    document = opened.model_dump(mode="json", by_alias=True)["request"]
    for device in document["devices"]:  # MNIST, which would tell, is not in the tests' store
        device["payload_bits"] = 126816.0
    plan = solve(problem_of(make_request(document, "test")), "exact", gap=1e-4).document()
    document["candidates_m"] = [document["server"]["position_m"]]
    stay = solve(problem_of(make_request(document, "test")), "exact", gap=1e-4).document()
    heard = [sum(device["active"] for device in p["devices"]) for p in (plan, stay)]

    introduction.keyboard.press("ArrowRight")
    _wait_for_scene(introduction, 2)
    shown = introduction.locator(".scene-words").inner_text()
    assert f"hears all {heard[0]} devices, from its start only {heard[1]}" in shown
    costs = introduction.locator(".bars .bar-text").all_inner_texts()
    assert float(costs[0]) == pytest.approx(plan["objective"], rel=5e-3)
    more = 100 * (stay["objective"] / plan["objective"] - 1)
    assert re.search(r"\+(\d+) %", costs[2]).group(1) == str(round(more))
    powers = [1e3 * device["power_w"] for device in plan["devices"]]
    assert f"to {max(powers):.0f} mW" in shown
    widths = introduction.evaluate(
        """[...document.querySelectorAll('.bars li')].map(row =>
            [...row.querySelectorAll('.bar-track i')].map(part => part.offsetWidth)
                .reduce((sum, width) => sum + width))"""
    )
    assert widths[2] / widths[0] == pytest.approx(stay["objective"] / plan["objective"], rel=0.02)


def test_the_last_scene_leads_to_the_network_of_the_introduction(introduction, address):
    introduction.goto(f"{address}/#introduction?scene=4")
    introduction.get_by_role("button", name="Plan this network by hand").click()
    until(introduction, "studio.plan.model.name === 'wildfire'")
    until(introduction, "studio.plan.element.dataset.status === 'optimal'")
    assert "All 9 devices" in introduction.locator(".plan .verdict").inner_text()
    assert introduction.url.endswith("#plan")
    assert introduction.evaluate("document.activeElement.id") == "main"
    introduction.goto(f"{address}/#introduction?scene=4")
    introduction.get_by_role("button", name="Start this run").click()
    source = introduction.get_by_label("Scenario to start from")
    source.wait_for()
    assert source.input_value() == "wildfire.toml"
    assert 'name = "wildfire"' in introduction.get_by_role("textbox", name="Scenario").input_value()


def test_it_can_be_skipped_by_keyboard(introduction):
    introduction.get_by_role("link", name="Skip", exact=True).focus()
    introduction.keyboard.press("Enter")
    introduction.wait_for_selector('nav a[href="#plan"][aria-current="page"]')


@pytest.mark.parametrize("width", [390, 820, 1366])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_scene_fits_with_readable_text(browser, address, width, theme):
    context = browser.new_context(viewport={"width": width, "height": 820}, color_scheme=theme)
    page = context.new_page()
    page.set_default_timeout(60_000)
    for scene in (1, 2, 3, 4):
        page.goto(f"{address}/#introduction?scene={scene}")
        _wait_for_scene(page, scene)
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.querySelector('.introduction').scrollWidth") <= width
        sizes = page.evaluate(
            """[...document.querySelectorAll('.introduction *')]
                .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
                .map(e => parseFloat(getComputedStyle(e).fontSize))"""
        )
        assert min(sizes) >= 12
        if width == 1366:  # the whole scene is in sight
            inside = (
                "(e => e.scrollHeight <= e.clientHeight)(document.querySelector('.introduction'))"
            )
            assert page.evaluate(inside)
    context.close()
