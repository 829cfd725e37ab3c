"""The scenario: everything a run needs, in one frozen description, and the two profiles of defaults."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Strict

from scdn.scenario.field_types import (
    Box,
    FiniteNumber,
    FrozenModel,
    SchemaVersion,
    Vector3,
    WholeNumber,
    setting,
)
from scdn.scenario.learning_settings import LearningSettings
from scdn.scenario.network_settings import Churn, DeviceGroup, Fading, ListedDevice, ServerStart
from scdn.scenario.round_settings import Movement, Radio, Weights


class Scenario(FrozenModel):
    """A whole run."""

    schema_version: SchemaVersion = setting(1, "form of this file", alias="schema")
    name: str = setting("scenario", "for titles", min_length=1)
    about: str = setting("", "a sentence for people")
    profile: Literal["product", "paper"] = setting("product", "whose defaults absent values take")
    seed: WholeNumber = setting(0, "of every random draw", ge=0)
    method: str = setting(
        "sc-dn", "who decides, what is remembered, when parties train", min_length=1
    )
    region_m: Vector3 = setting((100.0, 100.0, 100.0), "the server's limits")
    keep_out_m: Annotated[tuple[Box, ...], Strict(False)] = setting(
        (), "boxes x0, y0, z0, x1, y1, z1 the server must not be in"
    )
    candidates_m: Annotated[tuple[Vector3, ...], Strict(False)] | None = setting(
        None, "if given, the only places for the server"
    )
    max_delay_s: float = setting(
        0.06,
        "T^max, a report's time limit",
        chosen="true rates from the centre leave some devices out of reach",
        gt=0,
    )
    max_iterations: WholeNumber = setting(
        5, "τ^g, most local iterations per round", ge=0, le=100_000
    )
    integer_iterations: bool = setting(True, "whole iterations", chosen="devices run whole ones")
    server: ServerStart = setting(ServerStart(), "the one that moves")
    radio: Radio = setting(Radio(), "the channel")
    fading: Fading = setting(Fading(), "the channel as drawn")
    weights: Weights = setting(Weights(), "of the objective's terms")
    movement: Movement = setting(Movement(), "the server's energy")
    learning: LearningSettings = setting(LearningSettings(), "how parties learn")
    churn: Churn = setting(Churn(), "who comes and goes")
    devices_csv: str | None = setting(None, "devices from a CSV beside this file")
    origin_deg: Annotated[tuple[FiniteNumber, FiniteNumber], Strict(False)] | None = setting(
        None, "lat, lon of (0, 0); absent: the south-west corner of the CSV's devices"
    )
    fleet: Annotated[tuple[DeviceGroup, ...], Strict(False)] = setting(
        (), "groups of drawn devices"
    )
    devices: Annotated[tuple[ListedDevice, ...], Strict(False)] = setting(
        (), "devices, written out"
    )


# --- the two profiles ----------------------------------------------------------------------------

PROFILES: dict[str, dict[str, Any]] = {
    "product": {},
    "paper": {
        "max_delay_s": 1e-3,
        "weights": {
            "convergence": 1e-3,
            "transmission": 1e3,
            "processing": 1e-9,
            "movement": 1e-4,
        },
        "radio": {"rate_model": "pade"},
        "learning": {"server_turn": "parallel", "damping": "none", "input": "masked"},
    },
}
