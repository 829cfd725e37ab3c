"""Chromium for tests, benchmarks and screenshots; it renders 3-D on the CPU."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_OPTIONS = ("--no-sandbox", "--enable-unsafe-swiftshader")  # WebGL without a graphics card


def chromium() -> str | None:
    """Return the path of Chromium; None if it is not installed."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


@contextmanager
def open_browser() -> Iterator[Any]:
    """Start Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=list(_OPTIONS))
        try:
            yield browser
        finally:
            browser.close()


def screen_position(page: Any, key: str) -> tuple[float, float]:
    """Return where on the page a device or the server of the Plan view is drawn."""
    x, y = page.evaluate(
        """key => {
            const { viewport, model } = studio.plan;
            const box = viewport.canvas.getBoundingClientRect();
            const point = viewport.toScreen(model.position(key));
            return [box.left + point.x, box.top + point.y];
        }""",
        key,
    )
    return x, y


def until(page: Any, expression: str, seconds: float = 60.0) -> None:
    """Wait until an expression is true; the page's policy forbids Playwright's own wait."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(30)
