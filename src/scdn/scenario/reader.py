"""Read a scenario from a file; apply its profile, overrides and CSV of devices."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from scdn.errors import InputError
from scdn.file_io import MEBIBYTE, Table, apply_settings, merge_tables, read_document
from scdn.scenario.definition import PROFILES, Scenario
from scdn.scenario.device_csv import read_device_csv
from scdn.scenario.learning_settings import complete_learning_table
from scdn.scenario.rules import scenario_faults, scenario_theorem_faults, site_warnings
from scdn.scenario.validation import validate_document

_SIZE_LIMIT = 16 * MEBIBYTE


def read_scenario(
    source: str | Path, settings: Iterable[str] = (), *, strict: bool = False
) -> Scenario:
    """Return the scenario in a TOML or JSON file (`-`: standard input).

    Parameters
    ----------
    source
        The file. Paths of a CSV or a trace in it are relative to its folder.
    settings
        Overrides, each `key.path=value`.
    strict
        Refuse devices outside Theorem 1's conditions; otherwise see `scenario_warnings`.

    Raises
    ------
    InputError
        With one line per fault: the field, its value and what is allowed.
    """
    document = apply_settings(read_document(source, _SIZE_LIMIT), settings)
    folder = Path() if str(source) == "-" else Path(source).parent
    return make_scenario(document, str(source), folder, strict=strict)


def make_scenario(
    document: Table, source: str = "scenario", folder: Path | None = None, *, strict: bool = False
) -> Scenario:
    """Return the scenario in a document; paths of files in it are relative to `folder`."""
    folder = folder or Path()
    if "learning" in document:  # before the profile's settings are added to what the file says
        document = {**document, "learning": complete_learning_table(document["learning"])}
    document = merge_tables(profile_defaults(document), document)
    scenario = validate_document(Scenario, document, source, scenario_faults)
    if scenario.devices_csv is not None:
        listed, origin = read_device_csv(folder / scenario.devices_csv, scenario.origin_deg)
        document = {**document, "devices": [*document.get("devices", []), *listed]}
        del document["devices_csv"]
        if origin is not None:
            document["origin_deg"] = list(origin)
        scenario = validate_document(
            Scenario, document, f"{source} with {scenario.devices_csv}", scenario_faults
        )
    if scenario.churn.trace is not None:
        trace = (folder / scenario.churn.trace).resolve()
        churn = scenario.churn.model_copy(update={"trace": str(trace)})
        scenario = scenario.model_copy(update={"churn": churn})
    if strict and (faults := list(scenario_theorem_faults(scenario))):
        raise InputError(source, faults)
    return scenario


def profile_defaults(document: Table) -> Table:
    """Return the defaults of a document's profile, where they differ from the fields' own."""
    profile = document.get("profile", "product")
    return PROFILES.get(profile, {}) if isinstance(profile, str) else {}


def scenario_warnings(scenario: Scenario) -> list[str]:
    """Return one line for each position that cannot be used, or device outside Theorem 1."""
    faults = site_warnings(
        scenario.region_m,
        scenario.keep_out_m,
        scenario.candidates_m,
        scenario.movement,
        scenario.server.position_m,
    )
    return [str(fault) for fault in (*faults, *scenario_theorem_faults(scenario))]
