"""Plan requests and scenarios that the page opens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scdn.control.plan_request import request_warnings
from scdn.errors import Fault, InputError, dotted, format_value, input_error
from scdn.file_io import Table, parse_document
from scdn.scenario import DeviceSettings, Scenario, make_scenario, scenario_warnings, to_toml
from scdn.scenario.device_csv import parse_device_csv
from scdn.simulation.request_builder import round_request
from scdn.studio.api_models import (
    OpenDevicesRequest,
    OpenedDevices,
    OpenedFile,
    OpenFileRequest,
)
from scdn.studio.planner import checked_request

_SCENARIO_KEYS = {"fleet", "churn", "method", "profile", "seed", "fading", "name", "devices_csv"}
_FILE_FIELDS = ("devices_csv", "churn.trace")
_CODE_FIELDS = {"method", "model", "fusion_head", "metrics", "memory"}


def open_file(file: OpenFileRequest) -> OpenedFile:
    """Read a plan request as it is, or make one from a round of a scenario."""
    document = parse_document(file.text, file.name)
    if "server" in document and not _SCENARIO_KEYS & set(document):
        return _open_request(file, document)
    scenario = read_scenario_text(file.text, file.name)
    if file.round > scenario.learning.rounds:
        allowed = f"must be at most learning.rounds = {scenario.learning.rounds}"
        raise input_error(file.name, "round", f"got {file.round}", allowed)
    request = checked_request(
        round_request(scenario, file.round).model_dump(mode="json", by_alias=True)
    )
    return OpenedFile(
        kind="scenario",
        request=request.model_dump(mode="json", by_alias=True),
        scenario=to_toml(scenario),
        name=scenario.name,
        round=file.round,
        rounds=scenario.learning.rounds,
        warnings=scenario_warnings(scenario),
    )


def _open_request(file: OpenFileRequest, document: Table) -> OpenedFile:
    request = checked_request(document)
    return OpenedFile(
        kind="request",
        request=request.model_dump(mode="json", by_alias=True),
        scenario=None,
        name=Path(file.name).stem,
        round=0,
        rounds=0,
        warnings=request_warnings(request),
    )


def replace_devices(form: OpenDevicesRequest) -> OpenedDevices:
    """Return a request with the devices of a CSV instead of its own."""
    rows, _ = parse_device_csv(form.text, form.name)
    kept = DeviceSettings.model_fields.keys()  # a request has no batteries and lifetimes
    devices = [{key: value for key, value in row.items() if key in kept} for row in rows]
    request = checked_request({**form.request, "devices": devices})
    return OpenedDevices(request=request.model_dump(mode="json", by_alias=True))


def read_scenario_text(text: str, name: str = "scenario") -> Scenario:
    """Read a scenario that came over the network; refuse one that names files or code."""
    document = parse_document(text, name)
    faults = list(_files_and_code(document))
    if faults:
        raise InputError(name, faults)
    return make_scenario(document, name)


def _files_and_code(document: Table) -> Iterator[Fault]:
    """Yield the values that would make this machine read files or import code."""
    for path, value in leaves(document):
        names = [part for part in path if isinstance(part, str)]
        if dotted(names) in _FILE_FIELDS:
            allowed = "names a file: use the command line"
        elif ":" in str(value) and (names[-1] in _CODE_FIELDS or "optimizer" in names):
            allowed = "names code: use the command line"
        else:
            continue
        yield Fault(dotted(path), f"got {format_value(value)}", allowed)


def leaves(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Yield every value of nested tables and lists that is neither, with its path."""
    if isinstance(node, dict | list):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(value, (*path, key))
    elif node is not None:
        yield path, node
