"""Settings of the network: where devices and the server start, and how the network changes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Strict

from scdn.scenario.field_types import (
    FiniteNumber,
    FrozenModel,
    NumberRange,
    Rectangle,
    Vector3,
    WholeNumber,
    required_setting,
    setting,
)
from scdn.scenario.round_settings import DeviceSettings, OptimizerKind

StartPosition = Literal["centre", "random", "origin", "max", "random-edge"]


class Lifetime(FrozenModel):
    """How long a device lasts: Weibull in rounds since it entered."""

    weibull_shape: float = setting(1.0, "below 1 early failures, above 1 wear", gt=0)
    weibull_scale_rounds: float = setting(
        60.0, "λ_w in rounds", chosen="the paper's 1 would empty the network at once", gt=0
    )


class ListedDevice(DeviceSettings, Lifetime):
    """A device written out in a scenario or read from a CSV."""

    kind: str = setting("device", "what it is, for pictures and tables", min_length=1)


class DeviceGroup(FrozenModel):
    """Devices that are drawn: how many at the start, where, and with what hardware."""

    kind: str = setting("device", "what they are; ids are kind-1, kind-2, …", min_length=1)
    count: WholeNumber = setting(0, "how many there are at the start", ge=0, le=1_000_000)
    entry_share: float = setting(1.0, "share of the devices that enter later", ge=0)
    area_m: Rectangle | None = setting(None, "x0, y0, x1, y1; absent: the whole region")
    altitude_m: NumberRange = setting((0.0, 0.0), "0 is on the ground; [lo, hi] is drawn uniformly")
    max_power_dbm: NumberRange = setting((23.0, 25.0), "transmit limit")
    bandwidth_hz: float | None = setting(None, "in place of the radio's", gt=0)
    payload_bits: float = setting(
        1628480.0, "sent per round, until a model is there to count", chosen="as for a device", ge=0
    )
    connections: float = setting(
        50890.0, "until a model is there to count", chosen="as above", ge=0
    )
    cpu_min_hz: float = setting(1e7, "slowest clock", chosen="10 MHz", ge=0)
    cpu_max_hz: NumberRange = setting((2.3e9, 2.3e9), "fastest clock", chosen="2.3 GHz")
    capacitance: NumberRange = setting((2e-28, 2e-28), "effective capacitance", chosen="usual")
    flops_per_cycle: NumberRange = setting(
        (0.0032, 0.0074),
        "effective FLOPs per clock cycle",
        chosen="the clock limit binds between 3 and 5 iterations on the slower half",
    )
    learning_rate: float = setting(0.1, "η", gt=0)
    optimizers: Annotated[tuple[OptimizerKind, ...], Strict(False)] = setting(
        ("sgd",), "each device draws one of these", min_length=1
    )
    mu: NumberRange = setting(
        (0.1, 0.5), "proximal parameter", chosen="inside Theorem 1's conditions"
    )
    rho: NumberRange = setting((0.1, 0.28), "momentum", chosen="inside Theorem 1's conditions")
    weibull_shapes: Annotated[tuple[FiniteNumber, ...], Strict(False)] = setting(
        (0.7, 1.0, 3.0), "each device draws one", chosen="one of each regime", min_length=1
    )
    weibull_scale_rounds: float = setting(
        60.0, "λ_w in rounds", chosen="the paper's 1 would empty the network at once", gt=0
    )


class Shock(FrozenModel):
    """A moment at which devices in a disc leave together: a surge, a fire front."""

    round: WholeNumber = required_setting("during which it strikes", ge=0)
    centre_m: Annotated[tuple[FiniteNumber, FiniteNumber], Strict(False)] = required_setting("x, y")
    radius_m: float = required_setting("how far it reaches", gt=0)
    exit_probability: float = setting(1.0, "for each device in reach", ge=0, le=1)


class Churn(FrozenModel):
    """Who leaves and who comes."""

    exits: bool = setting(True, "devices leave by their Weibull lifetimes")
    entry_rate: float = setting(0.5, "devices that enter per round, Poisson", ge=0, le=1000)
    quiet_rounds: WholeNumber = setting(
        0, "first rounds in which nobody leaves or ages", chosen="off", ge=0
    )
    shocks: Annotated[tuple[Shock, ...], Strict(False)] = setting(
        (), "local disasters", chosen="off"
    )
    trace: str | None = setting(None, "a saved churn trace to replay; then nothing is drawn")


class Fading(FrozenModel):
    """The channel as it turns out, around the mean that plans use."""

    mode: Literal["none", "drawn"] = setting("none", '"drawn": sight and shadow by chance')
    los_shadow_db: float = setting(
        2.0, "log-normal σ in line of sight", chosen="measured ranges are 1 to 4 dB", ge=0, le=30
    )
    nlos_shadow_db: float = setting(
        6.0, "σ without line of sight", chosen="measured ranges are 4 to 10 dB", ge=0, le=30
    )


class ServerStart(FrozenModel):
    """Where the server stands before round 0."""

    start: StartPosition = setting("centre", "one of the paper's five starts")
    position_m: Vector3 | None = setting(None, "a place of your own; overrides start")
