"""Requests and scenarios that come and go as text, and the examples to begin with."""

from __future__ import annotations

from pathlib import Path

from scdn.control.request import warnings_of as request_warnings
from scdn.errors import Fault, InputError, format_value, input_error
from scdn.file_io import Table, parse_document
from scdn.scenario.model import Device, ListedDevice, RoundLearning, Scenario
from scdn.scenario.read import make_scenario, warnings_of
from scdn.scenario.write import to_toml
from scdn.simulation.request import round_request
from scdn.studio.forms import Example, FileForm, Opened, SaveForm
from scdn.studio.planning import checked

_EXAMPLES = Path(__file__).parent / "examples"
_OF_A_SCENARIO = {"fleet", "churn", "method", "profile", "seed", "fading", "name", "devices_csv"}


def examples() -> list[Example]:
    """The files that ship with the studio."""
    files = sorted(_EXAMPLES.iterdir(), key=lambda path: (path.suffix != ".json", path.name))
    return [Example(name=path.name, text=path.read_text()) for path in files]


def opened(file: FileForm) -> Opened:
    """What is in a file: a request as it is, or a round of a scenario."""
    document = parse_document(file.text, file.name)
    if "server" in document and not _OF_A_SCENARIO & set(document):
        return _opened_request(file, document)
    scenario = read_scenario(file.text, file.name)
    if file.round > scenario.learning.rounds:
        allowed = f"must be at most learning.rounds = {scenario.learning.rounds}"
        raise input_error(file.name, "round", f"got {file.round}", allowed)
    request = checked(round_request(scenario, file.round).model_dump(mode="json", by_alias=True))
    return Opened(
        kind="scenario",
        request=request.model_dump(mode="json", by_alias=True),
        scenario=to_toml(scenario),
        name=scenario.name,
        round=file.round,
        rounds=scenario.learning.rounds,
        warnings=warnings_of(scenario),
    )


def _opened_request(file: FileForm, document: Table) -> Opened:
    request = checked(document)
    return Opened(
        kind="request",
        request=request.model_dump(mode="json", by_alias=True),
        scenario=None,
        name=Path(file.name).stem,
        round=0,
        rounds=0,
        warnings=request_warnings(request),
    )


def read_scenario(text: str, name: str = "scenario") -> Scenario:
    """The scenario in a text that came over the network: it cannot name files or code."""
    document = parse_document(text, name)
    faults = list(_beyond(document))
    if faults:
        raise InputError(name, faults)
    return make_scenario(document, name)


def _beyond(document: Table) -> list[Fault]:
    """Values that would make this machine read files or load code of somebody else's choice."""
    learning, churn = (_table(document, key) for key in ("learning", "churn"))
    places = [("devices_csv", document.get("devices_csv")), ("churn.trace", churn.get("trace"))]
    code = [
        ("method", document.get("method")),
        ("learning.model", learning.get("model")),
        ("learning.fusion_head", learning.get("fusion_head")),
    ]
    no_file, no_code = "names a file: use the command line", "names code: use the command line"
    return [
        *(Fault(key, f"got {format_value(v)}", no_file) for key, v in places if v is not None),
        *(Fault(key, f"got {format_value(v)}", no_code) for key, v in code if ":" in str(v)),
    ]


def _table(document: Table, key: str) -> Table:
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def saved(form: SaveForm) -> str:
    """The network of a request as a scenario; the rest from the scenario it came from."""
    request = checked(form.request)
    base = Scenario(name=form.name) if form.scenario is None else read_scenario(form.scenario)
    lives = {device.id: device for device in _known(base)}
    devices = tuple(
        ListedDevice(
            **{name: getattr(device, name) for name in type(device).model_fields},
            **_life(lives.get(device.id)),
        )
        for device in request.devices
    )
    constants = {name: getattr(request.learning, name) for name in RoundLearning.model_fields}
    same = ("region_m", "keep_out_m", "candidates_m", "max_delay_s", "max_iterations",
            "integer_iterations", "radio", "weights", "movement")  # fmt: skip
    scenario = base.model_copy(
        update={
            **{name: getattr(request, name) for name in same},
            "server": base.server.model_copy(update={"position_m": request.server.position_m}),
            "learning": base.learning.model_copy(update=constants),
            "fleet": tuple(group.model_copy(update={"count": 0}) for group in base.fleet),
            "devices": devices,
        }
    )
    text = to_toml(scenario)
    read_scenario(text, form.name)  # refuses what the whole does not allow
    return text


def _known(base: Scenario) -> list[ListedDevice]:
    from scdn.world.churn import churn_trace

    return churn_trace(base).fleet.listed() if base.fleet or base.devices else []


def _life(device: ListedDevice | None) -> Table:
    if device is None:
        return {}
    own = ListedDevice.model_fields.keys() - Device.model_fields.keys()
    return {name: getattr(device, name) for name in own}
