"""A real Chromium for tests, benchmarks and pictures; it draws 3-D on the processor."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_OPTIONS = ("--no-sandbox", "--enable-unsafe-swiftshader")  # as where there is no graphics card


def chromium() -> str | None:
    """Where Chromium is installed."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if (found := shutil.which(name))), None)


@contextmanager
def open_browser() -> Iterator[Any]:
    """Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium(), args=list(_OPTIONS))
        try:
            yield opened
        finally:
            opened.close()


def spot_of(page: Any, key: str) -> tuple[float, float]:
    """Where on the page something of the Plan view is drawn."""
    x, y = page.evaluate(
        """key => {
            const { stage, model } = studio.plan;
            const box = stage.canvas.getBoundingClientRect();
            const seen = stage.onScreen(model.place(key));
            return [box.left + seen.x, box.top + seen.y];
        }""",
        key,
    )
    return x, y


def until(page: Any, expression: str, seconds: float = 60.0) -> None:
    """Waits until an expression is true on the page, whose policy forbids Playwright's own way."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(30)
