"""Takes the screenshots docs/pictures/studio-*.png of the studio with a folder of finished runs.

python web/screenshots.py RUNS_DIR

RUNS_DIR holds the studies demo-mnist (of `make demo`) and wildfire (of examples/wildfire.toml).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from studio_browser import open_browser, until  # noqa: E402
from studio_server import serving  # noqa: E402

from scdn.studio.settings import StudioSettings  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"


def take(page: Any, name: str, wait_ms: int = 900) -> None:
    """Save a screenshot of the page after animations have ended."""
    page.wait_for_timeout(wait_ms)
    page.screenshot(path=PICTURES / f"studio-{name}.png")
    print(f"studio-{name}.png")


def open_view(browser: Any, address: str, view: str, ready: str) -> Any:
    """Open a view of the studio and wait for the selector `ready`."""
    page = browser.new_page(viewport={"width": 1366, "height": 820})
    page.set_default_timeout(120_000)
    page.goto(f"{address}/#{view}")
    page.wait_for_selector(ready)
    return page


def take_all(browser: Any, address: str) -> None:
    """Take the introduction, the plan without and with rivals, a replay, and a comparison twice."""
    ready = '.introduction[data-scene="2"][data-ready="true"]'
    take(open_view(browser, address, "introduction?scene=2", ready), "introduction")

    page = open_view(browser, address, "plan", '.plan[data-status="optimal"]')
    take(page, "plan", 1500)
    page.get_by_label("Compare with rivals").check()
    until(page, "document.querySelectorAll('table.compare tbody tr').length === 5")
    take(page, "rivals")

    page = open_view(browser, address, "run", '.runs[data-over="true"]')
    page.locator("button.run", has_text="sc-dn").first.click()
    page.wait_for_selector('.runs[data-over="true"]')
    page.wait_for_timeout(500)
    last = page.evaluate("studio.run.replay.rounds.length")
    page.evaluate(f"location.hash += '&round={round(0.6 * last)}'")
    take(page, "run")

    page = open_view(browser, address, "compare?study=demo-mnist", ".comparing[data-methods]")
    take(page, "compare")
    page.locator(".pareto-plot").scroll_into_view_if_needed()
    take(page, "pareto")


if __name__ == "__main__":
    runs = Path(sys.argv[1]).resolve()
    with serving(StudioSettings(runs)) as url, open_browser() as chromium:
        take_all(chromium, url)
