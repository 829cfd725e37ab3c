"""`scdn schema`: the JSON Schema of what is read and written."""

from __future__ import annotations

import argparse

from scdn.cli.common import Commands, command
from scdn.documents import to_json


def add_to(commands: Commands) -> None:
    """Declares the command."""
    parser = command(
        commands,
        "schema",
        _schema,
        "Print the JSON Schema of a plan request, a plan or a scenario.",
        "scdn schema plan-request",
    )
    parser.add_argument("form", choices=("plan-request", "plan", "scenario"), metavar="FORM",
                        help="plan-request, plan or scenario")  # fmt: skip


def _schema(options: argparse.Namespace) -> int:
    from scdn.control.plan import Answer
    from scdn.control.request import PlanRequest
    from scdn.scenario import Scenario
    from scdn.scenario.fields import Frozen

    forms: dict[str, type[Frozen]] = {
        "plan-request": PlanRequest,
        "plan": Answer,
        "scenario": Scenario,
    }
    model = forms[options.form]
    print(to_json(model.model_json_schema(by_alias=True)))
    return 0
