"""`scdn schema`: the JSON Schema of what is read and written."""

from __future__ import annotations

import argparse

from scdn.cli.common import Commands, command
from scdn.file_io import to_json


def add_to(commands: Commands) -> None:
    """Declares the command."""
    parser = command(
        commands,
        "schema",
        _schema,
        "Print the JSON Schema of a plan request, a plan, a scenario or a run's events.",
        "scdn schema plan-request",
    )
    parser.add_argument("form", choices=("plan-request", "plan", "scenario", "event"),
                        metavar="FORM", help="plan-request, plan, scenario or event")  # fmt: skip


def _schema(options: argparse.Namespace) -> int:
    from pydantic import BaseModel

    from scdn.control.plan import Answer
    from scdn.control.request import PlanRequest
    from scdn.record.schema import AnyEvent
    from scdn.scenario import Scenario

    forms: dict[str, type[BaseModel]] = {
        "plan-request": PlanRequest,
        "plan": Answer,
        "scenario": Scenario,
        "event": AnyEvent,
    }
    print(to_json(forms[options.form].model_json_schema(by_alias=True)))
    return 0
