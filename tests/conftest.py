"""Random tests run a seeded tenth by default, all of it with SCDN_TEST_LONG=1."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

LONG = bool(os.environ.get("SCDN_TEST_LONG"))
ROOT = Path(__file__).resolve().parent.parent

_quiet = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile(
    "short", max_examples=50, derandomize=True, deadline=None, suppress_health_check=_quiet
)
settings.register_profile("long", max_examples=500, deadline=None, suppress_health_check=_quiet)
settings.load_profile("long" if LONG else "short")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A script's background process is deaf to Ctrl-C, and so would be what tests start and stop.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _own_store(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Data sets that tests store do not end up in the user's cache."""
    os.environ["SCDN_DATA"] = str(tmp_path_factory.mktemp("data"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says loudly what was not tested."""
    skipped = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    for what, why in {"BROWSER": "Chromium is not installed", "GPU": "there is none"}.items():
        if any(f"NO {what} TESTS" in words for words in skipped):
            terminalreporter.section(f"NO {what} TESTS: {why}", "*")


@pytest.fixture(scope="session")
def examples() -> Path:
    return ROOT / "examples"


def many(count: int) -> int:
    """How many of `count` seeded trials to run: a tenth, or all in the long run."""
    return count if LONG else max(1, count // 10)
