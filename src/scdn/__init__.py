"""scdn: vertical federated learning in networks that change."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scdn.api import compare, load, plan, run
    from scdn.control.plan import Plan
    from scdn.control.plan_request import make_request, problem_of, read_request
    from scdn.control.problem import RoundProblem
    from scdn.control.solve import solve, solve_many
    from scdn.methods import Method, register_method
    from scdn.scenario import Scenario, make_scenario, read_scenario

__version__ = "0.1.0"

__all__ = [
    "Method",
    "Plan",
    "RoundProblem",
    "Scenario",
    "compare",
    "load",
    "make_request",
    "make_scenario",
    "plan",
    "problem_of",
    "read_request",
    "read_scenario",
    "register_method",
    "run",
    "solve",
    "solve_many",
]

_MODULES = {
    "scdn.api": ("compare", "load", "plan", "run"),
    "scdn.control.plan": ("Plan",),
    "scdn.control.plan_request": ("make_request", "problem_of", "read_request"),
    "scdn.control.problem": ("RoundProblem",),
    "scdn.control.solve": ("solve", "solve_many"),
    "scdn.methods": ("Method", "register_method"),
    "scdn.scenario": ("Scenario", "make_scenario", "read_scenario"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package is fast."""
    if name in _MODULE_OF:
        return getattr(import_module(_MODULE_OF[name]), name)
    raise AttributeError(f"module 'scdn' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, for completion in a shell."""
    return [*__all__, "__version__"]
