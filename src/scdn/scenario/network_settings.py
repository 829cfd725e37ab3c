"""Settings of the network: devices, the server's start, and how the network changes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Strict

from scdn.scenario.field_types import (
    FrozenModel,
    Magnitude,
    NonNegative,
    Number,
    NumberRange,
    Positive,
    Probability,
    Rectangle,
    Text,
    Vector3,
    WholeNumber,
    required_setting,
    setting,
)
from scdn.scenario.round_settings import AnyOptimizer, DeviceSettings, OptimizerKind, Sgd

StartPosition = Literal["centre", "random", "origin", "max", "random-edge"]


class Lifetime(FrozenModel):
    """Lifetime of a device: Weibull-distributed, in rounds since it entered."""

    weibull_shape: Positive = setting(1.0, "Weibull shape: below 1 early failures, above 1 wear")
    weibull_scale_rounds: Positive = setting(
        60.0, "Weibull scale λ_w in rounds", reason="the paper's 1 would empty the network at once"
    )


class ListedDevice(DeviceSettings, Lifetime):
    """A device that is listed in a scenario or read from a CSV file."""

    kind: Text = setting("device", "kind of device, for maps and tables")
    battery_j: Magnitude | None = setting(
        None, "energy in its battery when it enters; by default it does not run out"
    )
    optimizer: AnyOptimizer = setting(  # type: ignore[assignment]  # a request has no custom one
        Sgd(), "local optimizer: sgd, proximal with mu, momentum with rho, or custom with name"
    )


class DeviceGroup(FrozenModel):
    """A group of randomly drawn devices: their number, positions and hardware."""

    kind: Text = setting("device", "kind of device; ids are kind-1, kind-2, …")
    count: WholeNumber = setting(0, "number of devices at the start", ge=0, le=1_000_000)
    entry_share: NonNegative = setting(
        1.0, "weight of this group among the devices that enter later"
    )
    area_m: Rectangle | None = setting(
        None, "rectangle x0, y0, x1, y1 of their positions; by default the whole region"
    )
    altitude_m: NumberRange = setting(
        (0.0, 0.0), "altitude, uniform in [low, high]; 0 is on the ground"
    )
    max_power_dbm: NumberRange = setting(
        (23.0, 25.0), "transmit power limit, uniform in [low, high]"
    )
    min_power_dbm: float | None = setting(
        None, "least power at which they can transmit", ge=-300, le=100
    )
    wall_loss_db: NumberRange = setting(
        (0.0, 0.0), "loss of walls around each device, uniform in [low, high]", reason="none"
    )
    bandwidth_hz: float | None = setting(
        None, "bandwidth of these devices instead of the radio's", gt=0
    )
    payload_bits: NonNegative = setting(
        1628480.0, "bits sent per round in plans without a model", reason="as for a listed device"
    )
    connections: NonNegative = setting(
        50890.0, "connections in plans without a model", reason="as for a listed device"
    )
    cpu_min_hz: NonNegative = setting(1e7, "lowest clock frequency", reason="10 MHz")
    cpu_max_hz: NumberRange = setting(
        (2.3e9, 2.3e9), "highest clock frequency, uniform in [low, high]", reason="2.3 GHz"
    )
    capacitance: NumberRange = setting(
        (2e-28, 2e-28), "effective capacitance, uniform in [low, high]", reason="a usual value"
    )
    flops_per_cycle: NumberRange = setting(
        (0.0032, 0.0074),
        "effective FLOPs per cycle, uniform in [low, high]",
        reason="clocks then limit iterations",
    )
    battery_j: NumberRange | None = setting(
        None,
        "energy in their batteries when they enter, uniform in [low, high]; by default unlimited",
    )
    learning_rate: Positive = setting(0.1, "learning rate η")
    optimizers: Annotated[tuple[OptimizerKind, ...], Strict(False)] = setting(
        ("sgd",), "local optimizers, of which each device draws one", min_length=1
    )
    mu: NumberRange = setting(
        (0.1, 0.5), "proximal μ, uniform in [low, high]", reason="inside Theorem 1's conditions"
    )
    rho: NumberRange = setting(
        (0.1, 0.28), "momentum ρ, uniform in [low, high]", reason="inside Theorem 1's conditions"
    )
    weibull_shapes: Annotated[tuple[Number, ...], Strict(False)] = setting(
        (0.7, 1.0, 3.0),
        "Weibull shapes, of which each device draws one",
        reason="one below, at and above 1",
        min_length=1,
    )
    weibull_scale_rounds: Positive = setting(
        60.0, "Weibull scale λ_w in rounds", reason="the paper's 1 would empty the network at once"
    )


class Shock(FrozenModel):
    """An event in which the devices within a disc leave together, such as a surge or a fire."""

    round: WholeNumber = required_setting("round in which it happens, counted from 0", ge=0)
    centre_m: Annotated[tuple[Number, Number], Strict(False)] = required_setting("centre x, y")
    radius_m: Positive = required_setting("radius of the disc")
    exit_probability: Probability = setting(1.0, "probability that a device within the disc leaves")


class Churn(FrozenModel):
    """How devices leave and enter."""

    exits: bool = setting(True, "whether devices leave at the end of their Weibull lifetimes")
    entry_rate: float = setting(
        0.5, "mean number of devices that enter per round (Poisson)", ge=0, le=1000
    )
    quiet_rounds: WholeNumber = setting(
        0, "number of first rounds in which no device leaves or ages", reason="off", ge=0
    )
    shocks: Annotated[tuple[Shock, ...], Strict(False)] = setting(
        (), "events in which devices leave together", reason="off"
    )
    trace: str | None = setting(
        None, "file with a saved churn trace to replay instead of drawing one"
    )
    arrivals: str | None = setting(
        None,
        "folder of a run whose reports arrive in the same order again, where the server does not "
        "wait for all",
    )


class Fading(FrozenModel):
    """Random deviations of the channel from the mean that plans use."""

    mode: Literal["none", "drawn"] = setting(
        "none", '"drawn": line of sight and shadowing are random'
    )
    los_shadow_db: float = setting(
        2.0, "deviation of shadowing with line of sight", reason="measured: 1 to 4 dB", ge=0, le=30
    )
    nlos_shadow_db: float = setting(
        6.0,
        "deviation of shadowing without line of sight",
        reason="measured: 4 to 10 dB",
        ge=0,
        le=30,
    )


class MobileServer(FrozenModel):
    """The server: its position before round 0, and its processor."""

    start: StartPosition = setting("centre", "one of the paper's five starting positions")
    position_m: Vector3 | None = setting(None, "position x, y, z to use instead of `start`")
    cpu_hz: Magnitude = setting(
        1.5e9,
        "clock of the server's processor; 0: its computing is not counted",
        reason="a small computer on board",
    )
    flops_per_cycle: float = setting(
        4.0, "effective FLOPs per cycle of the server", reason="one vector unit", ge=1e-9, le=1e9
    )
    capacitance: Magnitude = setting(
        2e-28, "effective capacitance of the server's processor", reason="as for a device"
    )
    transmit_w: Magnitude = setting(
        1.0,
        "power at which the server sends to each device; 0: its sending is not counted",
        reason="30 dBm, a usual access point",
    )
    battery_j: Magnitude | None = setting(
        None, "energy in the server's battery when the run begins; by default it does not run out"
    )


class Electronics(FrozenModel):
    """What a device draws beside its processor and the power that it transmits."""

    circuit_w: Magnitude = setting(
        0.0, "power of a device's radio while it sends or receives", reason="off, as in the paper"
    )
    idle_w: Magnitude = setting(
        0.0, "power of a device at any time of a round", reason="off, as in the paper"
    )


class Prices(FrozenModel):
    """What a joule costs, by who spends it, in the objective's unit."""

    device: Magnitude = setting(1.0, "price of a device's joule", reason="the unit")
    server: Magnitude = setting(
        0.01, "price of the server's joule", reason="a UAV recharges, a sensor does not"
    )
