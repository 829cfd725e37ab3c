"""Takes the screenshots docs/pictures/studio-*.png of the studio with a folder of finished runs.

python web/screenshots.py RUNS_DIR
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from studio_browser import open_browser, until  # noqa: E402
from studio_server import serving  # noqa: E402

from scdn.studio.settings import StudioSettings  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
LAPTOP, TABLET = {"width": 1366, "height": 820}, {"width": 820, "height": 1100}


def take(page: Any, name: str, wait_ms: int = 900) -> None:
    """Save a screenshot of the page after animations have ended."""
    page.wait_for_timeout(wait_ms)
    page.screenshot(path=PICTURES / f"studio-{name}.png")
    print(f"studio-{name}.png")


def open_view(browser: Any, address: str, view: str, ready: str, **options: Any) -> Any:
    """Open a view of the studio and wait for the selector `ready`."""
    page = browser.new_context(**{"viewport": LAPTOP, **options}).new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{address}/#{view}")
    page.wait_for_selector(ready)
    return page


def plan_view(browser: Any, address: str) -> None:
    """Take the plan view: at first, with rivals, with a broken file, dark, and on a tablet."""
    planned = '.plan[data-status="optimal"]'
    page = open_view(browser, address, "plan", planned)
    take(page, "plan", 1500)
    page.get_by_label("Compare with rivals").check()
    until(page, "document.querySelectorAll('table.compare tbody tr').length === 5")
    take(page, "rivals")
    broken = json.loads((ROOT / "examples" / "request.json").read_text())
    broken["max_delay_s"] = "soon"
    broken["devices"][1]["positon_m"] = broken["devices"][1].pop("position_m")
    page.evaluate("text => studio.plan.open('broken.json', text)", json.dumps(broken))
    page.locator(".faults").wait_for()
    take(page, "faults")
    dark = open_view(browser, address, "plan", planned, color_scheme="dark")
    dark.evaluate("studio.plan.model.select('device:d4')")
    take(dark, "reach-dark", 1500)
    tablet = open_view(browser, address, "plan", planned, viewport=TABLET, has_touch=True)
    take(tablet, "tablet", 1500)


def run_view(browser: Any, address: str) -> None:
    """Take the run view: in the middle of a replay, and with the dialog that starts a run."""
    loaded = '.runs[data-over="true"]'
    page = open_view(browser, address, "run", loaded)
    page.locator("button.run", has_text="sc-dn").first.click()
    page.wait_for_selector(loaded)
    page.wait_for_timeout(500)
    last = page.evaluate("studio.run.replay.rounds.length - 1")
    page.get_by_label("Round", exact=True).fill(str(round(0.6 * last) + 0.4))
    take(page, "run")
    page.get_by_role("button", name="New run").first.click()
    page.get_by_label("gsp", exact=True).check()
    take(page, "start")
    dark = open_view(browser, address, "run", loaded, color_scheme="dark")
    take(dark, "run-dark")


def compare_view(browser: Any, address: str) -> None:
    """Take the compare view, light and dark."""
    compared = ".comparing[data-methods]"
    take(open_view(browser, address, "compare", compared), "compare")
    dark = open_view(browser, address, "compare", compared, color_scheme="dark")
    dark.locator(".card.wide").scroll_into_view_if_needed()
    take(dark, "ledger-dark")


def empty_view(browser: Any) -> None:
    """Take the run view of a studio without runs."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("runs").mkdir()
        with serving(StudioSettings(Path("runs"))) as address:
            take(open_view(browser, address, "run", ".state.empty"), "empty")


if __name__ == "__main__":
    runs = Path(sys.argv[1]).resolve()
    os.chdir(runs.parent)  # the page shows the folder by its relative name
    with serving(StudioSettings(Path(runs.name))) as url, open_browser() as chromium:
        plan_view(chromium, url)
        run_view(chromium, url)
        compare_view(chromium, url)
        empty_view(chromium)
