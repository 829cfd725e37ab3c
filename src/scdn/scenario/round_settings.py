"""Settings of one round's problem, which a scenario shares with a plan request.

Field names and defaults are those of a plan request. A field's `reason` says why it has its
default where the paper gives no value.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from scdn.scenario.field_types import (
    Decibels,
    FrozenModel,
    Magnitude,
    NonNegative,
    Positive,
    PositiveWhole,
    Probability,
    Text,
    Vector3,
    required_setting,
    setting,
)

RateModel = Literal["shannon", "pade"]
OptimizerKind = Literal["sgd", "proximal", "momentum"]


class Link(FrozenModel):
    """A kind of link: line-of-sight probability, excess losses and path-loss exponent."""

    los_scale: NonNegative = setting(11.95, "parameter ψ^Tx of the line-of-sight probability")
    los_slope: NonNegative = setting(
        0.14, "parameter β^Tx of the line-of-sight probability, per degree"
    )
    los_loss_db: Decibels = setting(3.0, "excess loss with line of sight, η^LoS")
    nlos_loss_db: Decibels = setting(23.0, "excess loss without line of sight, η^NLoS")
    exponent: float = setting(2.0, "path-loss exponent, α^PL", ge=0, le=100)


class AirLink(Link):
    """A link between a device and a server that are both above the ground."""

    los_scale: NonNegative = setting(10.5, "parameter ψ^Tx of the line-of-sight probability")
    los_slope: NonNegative = setting(
        0.12, "parameter β^Tx of the line-of-sight probability, per degree"
    )
    nlos_loss_db: Decibels = setting(17.0, "excess loss without line of sight, η^NLoS")
    exponent: float = setting(2.2, "path-loss exponent, α^PL", ge=0, le=100)


class Radio(FrozenModel):
    """The radio channel between the devices and the server."""

    carrier_hz: float = setting(2e9, "carrier frequency, f^Tx", gt=0, le=1e15)
    bandwidth_hz: Positive = setting(2e6, "bandwidth of each device's channel")
    noise_dbm_per_hz: Decibels = setting(-174.0, "noise power density, N_0")
    rate_model: RateModel = setting(
        "shannon", 'rate formula: "shannon" (exact), or "pade" (the paper\'s approximation)'
    )
    min_distance_m: float = setting(
        1.0, "smallest distance in the path loss", reason="keeps it finite", ge=1e-6, le=1e8
    )
    margin_db: Decibels = setting(
        0.0,
        "margin that plans add to the path loss",
        reason="off, as the paper plans with the mean",
    )
    a2g: Link = setting(Link(), "link where the server or the device is on the ground")
    a2a: AirLink = setting(AirLink(), "link where both are above the ground")


class Weights(FrozenModel):
    """Weights of the terms in the round's objective."""

    convergence: Magnitude = setting(
        1.0, "weight of the convergence bound, ψ^G", reason="plans then use 1 to 5 iterations"
    )
    transmission: Magnitude = setting(
        10.0, "weight per joule of transmission, ψ^R", reason="makes power and position matter"
    )
    processing: Magnitude = setting(
        0.02, "weight per joule of computing, ψ^P", reason="makes clocks and iterations matter"
    )
    movement: Magnitude = setting(
        1e-3, "weight per joule of flight, ψ^S", reason="lets the server move where that pays"
    )


class Movement(FrozenModel):
    """Energy that the server needs to hover, climb and fly sideways."""

    hover_j: NonNegative = setting(
        1.0, "energy to hover for a round at ground level, K^H", reason="one unit"
    )
    climb_j: NonNegative = setting(
        10.0, "energy factor of the climb's logarithm, K^A", reason="ten units"
    )
    lateral_j_per_m: NonNegative = setting(
        1.0, "energy per metre of horizontal flight, K^L", reason="one unit"
    )
    altitude_scale_m: Positive = setting(
        20.0, "climb that multiplies hovering energy by e", reason="the paper's exp(z) overflows"
    )
    min_flight_m: NonNegative = setting(
        1.0, "lowest altitude of flight; else the server is on the ground", reason="as a real UAV"
    )


class RoundLearningSettings(FrozenModel):
    """Constants of learning that enter the round's problem."""

    rounds: PositiveWhole = setting(30, "number of global rounds, R")
    initial_loss: Magnitude = setting(
        2.303, "loss before training, F(Θ^0)", reason="ln 10, guessing among ten classes"
    )
    global_smoothness: NonNegative = setting(
        1.0, "smoothness L of the whole model", reason="used until it is measured"
    )
    epsilon: float = setting(
        1e-3, "ε^G, keeps the bound finite at zero iterations", reason="small", ge=1e-12
    )
    batch_size: PositiveWhole = setting(64, "rows per mini-batch, B", reason="usual for MNIST")
    steps_per_iteration: PositiveWhole = setting(
        1, "mini-batch steps per local iteration", reason="the simplest reading"
    )
    compute_deadline_s: Positive = setting(4.0, "time limit for the local iterations of a round")


class Sgd(FrozenModel):
    """Plain stochastic gradient descent."""

    kind: Literal["sgd"] = "sgd"


class Proximal(FrozenModel):
    """Proximal SGD, which pulls each step towards the parameters at the start of the round."""

    kind: Literal["proximal"]
    mu: float = required_setting("proximal parameter, μ", gt=0, lt=1)


class Momentum(FrozenModel):
    """SGD with momentum, whose buffer is reset every round."""

    kind: Literal["momentum"]
    rho: float = required_setting("momentum parameter, ρ", gt=0, lt=1)


class CustomOptimizer(FrozenModel):
    """A user's subclass of `scdn.learning.local_optimizers.LocalOptimizer`."""

    kind: Literal["custom"]
    name: Text = required_setting("registered name, or package.module:NAME")


Optimizer = Annotated[Sgd | Proximal | Momentum, Field(discriminator="kind")]
AnyOptimizer = Annotated[Sgd | Proximal | Momentum | CustomOptimizer, Field(discriminator="kind")]


class DeviceSettings(FrozenModel):
    """A device in one round's problem."""

    id: Text = required_setting("unique name of the device")
    position_m: Vector3 = required_setting("position x, y, z")
    max_power_w: NonNegative = setting(0.25, "transmit power limit (the paper: 23 to 25 dBm)")
    payload_bits: NonNegative = setting(
        1628480.0, "bits sent per round, M_n", reason="32 bits for each of 50,890 weights"
    )
    bandwidth_hz: float | None = setting(
        None, "bandwidth of this device instead of the radio's", gt=0
    )
    cpu_min_hz: NonNegative = setting(
        1e7, "lowest clock frequency", reason="10 MHz, an idle sensor node"
    )
    cpu_max_hz: NonNegative = setting(2.3e9, "highest clock frequency", reason="2.3 GHz")
    capacitance: NonNegative = setting(
        2e-28, "effective capacitance of the processor, a_n", reason="a usual value"
    )
    connections: NonNegative = setting(
        50890.0, "number of connections in its model, φ_n", reason="a 784-64-10 perceptron"
    )
    flops_per_cycle: Positive = setting(
        0.0066, "effective FLOPs per cycle", reason="15 MFLOP/s at 2.3 GHz, as a sensor node"
    )
    importance: Magnitude = setting(1.0, "relative importance, γ")
    survival: Probability = setting(1.0, "probability to stay for the coming round, p")
    learning_rate: float = setting(0.1, "learning rate η (the paper's for MNIST)", gt=0, le=1e9)
    smoothness: NonNegative = setting(
        0.5, "smoothness of the device's loss, L_n", reason="used until it is measured"
    )
    gradient_bound_sq: NonNegative = setting(
        0.02, "bound Q² on the mean squared gradient norm", reason="used until it is measured"
    )
    gradient_variance: NonNegative = setting(
        0.01, "variance σ² of mini-batch gradients", reason="used until it is measured"
    )
    optimizer: Optimizer = setting(
        Sgd(), "local optimizer: sgd, proximal with mu, or momentum with rho"
    )
