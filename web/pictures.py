"""Draws docs/pictures/studio-*.png: every state of the page, from a folder with finished runs.

python web/pictures.py RUNS_DIR
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


def shot(page: Any, name: str, wait: int = 900) -> None:
    """The page as it is, once it is calm."""
    page.wait_for_timeout(wait)
    page.screenshot(path=PICTURES / f"studio-{name}.png")
    print(f"studio-{name}.png")


def opened(browser: Any, address: str, tab: str, ready: str, **options: Any) -> Any:
    """A page at a tab, once `ready` is there."""
    page = browser.new_context(**{"viewport": LAPTOP, **options}).new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{address}/#{tab}")
    page.wait_for_selector(ready)
    return page


def plan(browser: Any, address: str) -> None:
    """Planning: as it begins, a device's reach, rivals, a file that is wrong."""
    calm = '.plan[data-status="optimal"]'
    page = opened(browser, address, "plan", calm)
    shot(page, "plan", 1500)
    page.get_by_label("Compare with rivals").check()
    until(page, "document.querySelectorAll('table.compare tbody tr').length === 5")
    shot(page, "rivals")
    broken = json.loads((ROOT / "examples" / "request.json").read_text())
    broken["max_delay_s"] = "soon"
    broken["devices"][1]["positon_m"] = broken["devices"][1].pop("position_m")
    page.evaluate("text => studio.plan.open('broken.json', text)", json.dumps(broken))
    page.locator(".faults").wait_for()
    shot(page, "faults")
    dark = opened(browser, address, "plan", calm, color_scheme="dark")
    dark.evaluate("studio.plan.model.select('device:d4')")
    shot(dark, "reach-dark", 1500)
    tablet = opened(browser, address, "plan", calm, viewport=TABLET, has_touch=True)
    shot(tablet, "tablet", 1500)


def run(browser: Any, address: str) -> None:
    """Runs: in the middle of a replay, and the dialog that starts one."""
    over = '.runs[data-over="true"]'
    page = opened(browser, address, "run", over)
    page.locator("button.run", has_text="sc-dn").first.click()
    page.wait_for_selector(over)
    page.wait_for_timeout(500)
    last = page.evaluate("studio.run.replay.rounds.length - 1")
    page.get_by_label("Round", exact=True).fill(str(round(0.6 * last) + 0.4))
    shot(page, "run")
    page.get_by_role("button", name="New run").first.click()
    page.get_by_label("gsp", exact=True).check()
    shot(page, "start")
    dark = opened(browser, address, "run", over, color_scheme="dark")
    shot(dark, "run-dark")


def rest(browser: Any, address: str) -> None:
    """Comparing, and what is shown where there is nothing."""
    done = ".comparing[data-methods]"
    shot(opened(browser, address, "compare", done), "compare")
    dark = opened(browser, address, "compare", done, color_scheme="dark")
    dark.locator(".card.wide").scroll_into_view_if_needed()
    shot(dark, "ledger-dark")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("runs").mkdir()
        with serving(StudioSettings(Path("runs"))) as nothing:
            shot(opened(browser, nothing, "run", ".state.empty"), "empty")


if __name__ == "__main__":
    here = Path(sys.argv[1]).resolve()
    os.chdir(here.parent)  # the page shows the folder as it was named
    with serving(StudioSettings(Path(here.name))) as place, open_browser() as chromium:
        plan(chromium, place)
        run(chromium, place)
        rest(chromium, place)
