"""scdn: vertical federated learning in networks that change."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scdn.api import run
    from scdn.control.plan import Plan
    from scdn.control.plan_request import make_request, problem_of, read_request
    from scdn.control.problem import RoundProblem
    from scdn.control.solve import solve, solve_many
    from scdn.scenario import Scenario, read_scenario

__version__ = "0.1.0"

_HOMES = {
    "Plan": "scdn.control.plan",
    "RoundProblem": "scdn.control.problem",
    "Scenario": "scdn.scenario",
    "make_request": "scdn.control.plan_request",
    "problem_of": "scdn.control.plan_request",
    "read_request": "scdn.control.plan_request",
    "read_scenario": "scdn.scenario",
    "run": "scdn.api",
    "solve": "scdn.control.solve",
    "solve_many": "scdn.control.solve",
}

__all__ = [
    "Plan",
    "RoundProblem",
    "Scenario",
    "make_request",
    "problem_of",
    "read_request",
    "read_scenario",
    "run",
    "solve",
    "solve_many",
]


def __getattr__(name: str) -> Any:
    """Loads a public name when it is first used: importing the package stays light."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'scdn' has no attribute {name!r}")
