"""Settings for all tests: random ones run a seeded tenth unless SCDN_TEST_LONG is set."""

from __future__ import annotations

import os
import signal
from pathlib import Path

# Before anything imports NumPy or PyTorch: two workers of one thread beat two of two on two cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

LONG = bool(os.environ.get("SCDN_TEST_LONG"))
ROOT = Path(__file__).resolve().parent.parent

# Workers take whole files, so that fixtures of a file are made once: long files go first, and the
# short ones fill up whichever worker is free. Seconds on one core; what is not here takes less.
SLOW_FILES = {
    "test_federation_processes.py": 130,
    "test_docs.py": 70,
    "test_cli.py": 90,
    "test_learning_round.py": 50,
    "test_federation_learning.py": 45,
    "test_rate_free_laws.py": 50,
    "test_studio_browser.py": 50,
    "test_studio_plan_browser.py": 60,
    "test_studio_runs_browser.py": 40,
    "test_algorithm3.py": 30,
    "test_resume.py": 30,
    "test_equal_terms.py": 30,
    "test_learning_rate_free.py": 30,
    "test_studio_api.py": 25,
    "test_baselines.py": 20,
    "test_federation.py": 20,
    "test_federation_predict.py": 20,
    "test_paper.py": 20,
    "test_data_import.py": 40,
    "test_paper_single_round.py": 15,
    "test_notebooks.py": 15,
    "test_export.py": 30,
    "test_predict.py": 15,
    "test_runs.py": 15,
    "test_simulation.py": 15,
    "test_studio_fuzz.py": 15,
    "test_studio_targets.py": 20,
    "test_targets.py": 15,
}

_quiet = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile(
    "short", max_examples=50, derandomize=True, deadline=None, suppress_health_check=_quiet
)
settings.register_profile("long", max_examples=500, deadline=None, suppress_health_check=_quiet)
settings.load_profile("long" if LONG else "short")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Background processes of a script ignore Ctrl-C, and so would the processes that tests stop.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort test files by how long they take, the longest first."""
    items.sort(key=lambda item: -SLOW_FILES.get(item.path.name, 0))  # stable within a file


@pytest.fixture(scope="session", autouse=True)
def _data_store(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the data sets and models that tests store out of the user's folders."""
    os.environ["SCDN_DATA"] = str(tmp_path_factory.mktemp("data"))
    os.environ["SCDN_STATE"] = str(tmp_path_factory.mktemp("state"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a banner for each kind of test that was skipped."""
    skipped = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    for kind, reason in {"BROWSER": "Chromium is not installed", "GPU": "there is none"}.items():
        if any(f"NO {kind} TESTS" in message for message in skipped):
            terminalreporter.section(f"NO {kind} TESTS: {reason}", "*")


@pytest.fixture(scope="session")
def examples() -> Path:
    return ROOT / "examples"


def many(count: int) -> int:
    """Return how many of `count` seeded trials to run: a tenth, or all in the long run."""
    return count if LONG else max(1, count // 10)


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window."""
    from studio_browser import open_browser  # not needed by most tests

    with open_browser() as chromium:
        yield chromium
