"""Chromium for tests, benchmarks and screenshots; it renders 3-D on the CPU."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_OPTIONS = ("--no-sandbox", "--enable-unsafe-swiftshader")  # WebGL without a graphics card


def chromium() -> str | None:
    """Return the path of Chromium; None if it is not installed."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


NEEDS_CHROMIUM = pytest.mark.skipif(
    chromium() is None, reason="NO BROWSER TESTS: Chromium is not installed (apt install chromium)"
)


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


@contextmanager
def checked_page(browser: Any, address: str) -> Iterator[Any]:
    """Open a page whose script errors fail the test; requests that are refused do not."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=address)
    tab = context.new_page()
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda message: message.type == "error" and errors.append(message.text))
    tab.set_default_timeout(60_000)
    yield tab
    context.close()
    refused = [text for text in errors if "status of 4" in text or "ERR_CONNECTION" in text]
    assert errors == refused


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
