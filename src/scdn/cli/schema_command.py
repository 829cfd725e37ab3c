"""`scdn schema`: print the JSON Schema of a format."""

from __future__ import annotations

import argparse

from scdn.cli.command_parser import Subparsers, add_command
from scdn.file_io import to_json


def add_to(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = add_command(
        subparsers,
        "schema",
        _schema,
        "Print the JSON Schema of a plan request, a plan, a scenario or a run's events.",
        "scdn schema plan-request",
    )
    parser.add_argument("form", choices=("plan-request", "plan", "scenario", "event"),
                        metavar="FORM", help="plan-request, plan, scenario or event")  # fmt: skip


def _schema(options: argparse.Namespace) -> int:
    from pydantic import BaseModel

    from scdn.control.plan import PlanAnswer
    from scdn.control.plan_request import PlanRequest
    from scdn.record.event_schema import AnyEvent
    from scdn.scenario import Scenario

    forms: dict[str, type[BaseModel]] = {
        "plan-request": PlanRequest,
        "plan": PlanAnswer,
        "scenario": Scenario,
        "event": AnyEvent,
    }
    print(to_json(forms[options.form].model_json_schema(by_alias=True)))
    return 0
