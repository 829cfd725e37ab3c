"""All pages of the studio by keyboard, by axe-core, in both themes and on narrow screens."""

from __future__ import annotations

from importlib.resources import files

import pytest
from recorded_runs import write_run
from studio_browser import NEEDS_CHROMIUM, checked_page
from studio_server import serving

from scdn.studio.settings import StudioSettings

pytestmark = NEEDS_CHROMIUM
READY = {  # what is there when a page has loaded
    "introduction": ".introduction",
    "plan": '.plan[data-status="optimal"]',
    "run": '.runs[data-over="true"]',
    "compare": ".comparing[data-methods]",
}
WIDTHS = (390, 820, 1366)
MANY_TABS = 120  # no page has more places to tab to


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for method in ("mission", "sc-dn", "max-vfl"):
        for seed in (0, 1):
            write_run(folder / "study" / method / f"seed-{seed}", method, seed, churn=True)
    with serving(StudioSettings(folder)) as url:
        yield url


def _open(page, address, view):
    page.goto(f"{address}/#{view}")
    page.wait_for_selector(READY[view])
    page.wait_for_timeout(500)


def _serious_violations(page):
    """Return the rules of axe-core that elements of the page break, with the first element."""
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text())
    results = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{violation['id']}: {violation['help']}: {violation['nodes'][0]['html'][:200]}"
        for violation in results["violations"]
        if violation["impact"] in ("serious", "critical")
    ]


_OVERFLOWING = """[...document.querySelectorAll("button, a.button")]
    .filter(e => e.checkVisibility() && e.clientWidth > 1 &&
        (e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1))
    .map(e => e.outerHTML.slice(0, 160))"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", READY)
def test_axe_finds_no_serious_violation_and_nothing_scrolls_sideways(browser, address, view, theme):
    for width in WIDTHS:
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=theme, has_touch=width < 1000
        )
        page = context.new_page()
        page.set_default_timeout(60_000)
        _open(page, address, view)
        assert _serious_violations(page) == [], width
        sizes = "[document.documentElement, document.querySelector('main')].map(e => e.scrollWidth)"
        assert max(page.evaluate(sizes)) <= width
        assert page.evaluate(_OVERFLOWING) == [], width
        context.close()


@pytest.mark.parametrize("view", READY)
def test_every_control_is_reached_by_keyboard_and_shows_its_focus(browser, address, view):
    with checked_page(browser, address) as page:
        _open(page, address, view)
        controls = page.evaluate(
            """() => [...document.querySelectorAll('a,button,input,select,textarea,[tabindex]')]
                .filter(e => e.checkVisibility() && !e.disabled && e.tabIndex >= 0)
                .map((e, index) => {
                    e.dataset.control = index;
                    return e.outerHTML.slice(0, 160);
                })"""
        )
        reached = set()
        for _ in range(MANY_TABS):
            page.keyboard.press("Tab")
            at = page.evaluate(
                """() => {
                    const e = document.activeElement;
                    const style = getComputedStyle(e);
                    const visible = style.outlineStyle !== 'none' || style.boxShadow !== 'none';
                    return [e.dataset.control ?? null, visible];
                }"""
            )
            if at[0] is None:
                continue
            if int(at[0]) in reached:
                break
            reached.add(int(at[0]))
            assert at[1], f"no focus is shown on {controls[int(at[0])]}"
        missed = [html for index, html in enumerate(controls) if index not in reached]
        assert missed == []
