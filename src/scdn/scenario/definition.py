"""The scenario: everything a run needs, in one frozen description. All defaults live here.

A scenario has the settings of one round's problem (`round_settings`), of the network and how it
changes (`network_settings`) and of learning (`learning_settings`).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Strict

from scdn.scenario.field_types import (
    Box,
    FrozenModel,
    Number,
    Positive,
    SchemaVersion,
    TargetText,
    Text,
    Vector3,
    WholeNumber,
    setting,
)
from scdn.scenario.learning_settings import LearningSettings
from scdn.scenario.mission_settings import Mission
from scdn.scenario.network_settings import (
    Churn,
    DeviceGroup,
    Electronics,
    Fading,
    ListedDevice,
    MobileServer,
    Prices,
)
from scdn.scenario.round_settings import Movement, Radio, Weights, report_limit_s


class Scenario(FrozenModel):
    """Everything that a run needs."""

    schema_version: SchemaVersion = setting(1, "version of this file's format", alias="schema")
    name: Text = setting("scenario", "name, for titles")
    about: str = setting("", "description in one sentence")
    profile: Literal["product", "paper"] = setting(
        "product", "where defaults come from: this product, or the paper"
    )
    seed: WholeNumber = setting(0, "seed of every random draw", ge=0)
    method: Text = setting(
        "mission", "method: its controller, its memory of departed devices and its schedule"
    )
    targets: Annotated[tuple[TargetText, ...], Strict(False)] = setting(
        (), "values to reach, such as top3=95: what it cost is reported, and training is the same"
    )
    region_m: Vector3 = setting((100.0, 100.0, 100.0), "size of the region in x, y and z")
    keep_out_m: Annotated[tuple[Box, ...], Strict(False)] = setting(
        (), "boxes x0, y0, z0, x1, y1, z1 that the server must not be in, such as rocks and walls"
    )
    candidates_m: Annotated[tuple[Vector3, ...], Strict(False)] | None = setting(
        None, "if given, the only positions that the server may take"
    )
    max_delay_s: Positive = setting(
        0.06, "time limit of a device's report, T^max", reason="leaves some devices out of reach"
    )
    round_s: float | None = setting(
        None,
        "time that the server stays at its position in a round, after its flight there",
        gt=0,
        le=1e9,
    )
    max_iterations: WholeNumber = setting(
        5, "largest number of local iterations per round, τ^g", ge=0, le=100_000
    )
    integer_iterations: bool = setting(
        True, "whether iterations are whole numbers", reason="devices run whole iterations"
    )
    server: MobileServer = setting(MobileServer(), "the mobile server")
    radio: Radio = setting(Radio(), "the radio channel")
    fading: Fading = setting(Fading(), "random deviations of the channel")
    weights: Weights = setting(Weights(), "weights of the objective's terms")
    prices: Prices | None = setting(
        None, "prices of joules, in place of the weights of transmission, processing and movement"
    )
    mission: Mission = setting(Mission(), "what the method mission is to reach, and with what")
    movement: Movement = setting(Movement(), "how the server moves, and its energy")
    electronics: Electronics = setting(Electronics(), "power of devices beside their antenna's")
    learning: LearningSettings = setting(LearningSettings(), "how parties and server learn")
    churn: Churn = setting(Churn(), "how devices leave and enter")
    devices_csv: str | None = setting(None, "CSV file of devices, relative to this file")
    origin_deg: Annotated[tuple[Number, Number], Strict(False)] | None = setting(
        None,
        "latitude and longitude of (0, 0); by default the south-west corner of the CSV's devices",
    )
    fleet: Annotated[tuple[DeviceGroup, ...], Strict(False)] = setting(
        (), "groups of randomly drawn devices"
    )
    devices: Annotated[tuple[ListedDevice, ...], Strict(False)] = setting(
        (), "devices, listed one by one"
    )

    @property
    def objective_weights(self) -> Weights:
        """Return the weights of the objective: as given, or by the prices of joules."""
        if self.prices is None:
            return self.weights
        device, server = self.prices.device, self.prices.server
        joules = {"transmission": device, "processing": device, "movement": server}
        return self.weights.model_copy(update=joules)

    @property
    def mission_prices(self) -> Prices:
        """Return the prices of joules in a mission; by default all joules are alike."""
        return self.prices or Prices(device=1.0, server=1.0)

    @property
    def round_bits(self) -> tuple[int, ...]:
        """Return the bits per number that a mission may choose from in a round.

        By default 4 and 8, if the scenario has more, and the scenario's; where numbers are not
        rounded, only these.
        """
        learning = self.learning
        rounds = learning.payload == "protocol" and learning.unheard == "imputed"
        fewer = tuple(bits for bits in (4, 8) if rounds and bits < learning.number_bits)
        return self.mission.bits or (*fewer, learning.number_bits)

    @property
    def report_limit_s(self) -> float:
        """Return the time limit of a report, which the duty cycle may shorten."""
        return report_limit_s(self.max_delay_s, self.radio, self.round_s)


# Defaults of each profile, where they differ from those of the fields above.
PROFILES: dict[str, dict[str, Any]] = {
    "product": {},
    "paper": {
        "method": "sc-dn",
        "max_delay_s": 1e-3,
        "weights": {"convergence": 1e-3, "transmission": 1e3, "processing": 1e-9, "movement": 1e-4},
        "radio": {"rate_model": "pade"},
        "server": {"cpu_hz": 0.0, "transmit_w": 0.0},
        "learning": {
            "step": "rate",
            "damping": "none",
            "server_optimizer": "sgd",
            "server_turn": "parallel",
            "server_rate": 0.1,
            "halve_rate_every": 5,
            "input": "masked",
            "labels": "shared",
            "payload": "model",
            "number_bits": 32,
            "unheard": "known",
            "table_rounds": 0,
            "smoothness": "norms",
            "importance_max": 5.0,
        },
    },
}
