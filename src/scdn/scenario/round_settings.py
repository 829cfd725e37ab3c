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

Physical = Annotated[float, Field(ge=1e-9, le=1e9)]  # powers, speeds and the like, however odd
PhysicalOrZero = Annotated[float, Field(ge=0, le=1e9)]
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


class TwoRay(FrozenModel):
    """A ray along the line of sight, and one that the ground reflects."""

    antenna_m: float = setting(
        1.0,
        "height of each antenna above its device or server",
        reason="on a short pole",
        ge=1e-3,
        le=1e3,
    )


class LogDistance(FrozenModel):
    """A loss that grows with a power of the distance, as indoors."""

    exponent: float = setting(
        3.0, "path-loss exponent", reason="ITU-R P.1238: 30 dB per decade in offices", ge=0, le=100
    )
    reference_m: float = setting(
        1.0, "distance at which the loss is that of free space", ge=1e-6, le=1e8
    )


class Radio(FrozenModel):
    """The radio channel between the devices and the server."""

    model: Text = setting(
        "air-to-ground",
        "link model: air-to-ground (the paper's), two-ray, log-distance, or package.module:NAME",
    )
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
    noise_figure_db: Decibels = setting(
        0.0, "noise that the receiver adds to the thermal noise", reason="off, as in the paper"
    )
    snr_gap_db: Decibels = setting(
        0.0,
        "power beyond Shannon's limit that real codes need for a rate",
        reason="off, as in the paper",
    )
    duty_cycle: float = setting(
        1.0, "share of a round in which a device may send", reason="no limit", gt=0, le=1
    )
    a2g: Link = setting(Link(), "link where the server or the device is on the ground")
    a2a: AirLink = setting(AirLink(), "link where both are above the ground")
    two_ray: TwoRay | None = setting(None, "settings of the model two-ray")
    log_distance: LogDistance | None = setting(None, "settings of the model log-distance")
    options: dict[str, float] | None = setting(None, "numbers for a model of your own")


_LONGEST_REPORT_S = 1e30


def report_limit_s(max_delay_s: float, radio: Radio, round_s: float | None) -> float:
    """Return the time limit of a report: T^max, or less where the duty cycle allows less.

    A limit that no report can miss is cut, since the power that it allows would underflow to 0.
    """
    limit_s = max_delay_s if round_s is None else min(max_delay_s, radio.duty_cycle * round_s)
    return min(limit_s, _LONGEST_REPORT_S)


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


MovementKind = Literal["paper", "rotary-wing", "landing", "rover", "mast"]


class RotaryWing(FrozenModel):
    """A UAV with rotors, by the power model of Zeng, Xu and Zhang (2019), and how it flies.

    The defaults are their Table I: an aircraft of 2 kg that hovers with 168 W.
    """

    blade_w: Physical = setting(79.86, "blade profile power in hover, P_0")
    induced_w: Physical = setting(88.63, "induced power in hover, P_i")
    tip_speed_m_per_s: Physical = setting(120.0, "speed of the rotor blades' tips, U_tip")
    induced_speed_m_per_s: Physical = setting(4.03, "mean speed of the air below, v_0")
    drag_ratio: PhysicalOrZero = setting(0.6, "drag of the fuselage, d_0")
    solidity: PhysicalOrZero = setting(0.05, "rotor solidity, s")
    disc_m2: Physical = setting(0.503, "area of the rotor disc, A")
    air_kg_per_m3: Physical = setting(1.225, "density of the air, ρ", reason="at sea level")
    speed_m_per_s: Physical = setting(18.3, "speed of horizontal flight", reason="longest range")
    climb_m_per_s: Physical = setting(3.0, "speed of a climb", reason="usual for small UAVs")
    sink_m_per_s: Physical = setting(
        2.0, "speed of a descent", reason="faster ones fall into their own downwash"
    )
    standby_w: PhysicalOrZero = setting(
        5.0, "power while it stands on the ground", reason="a computer and its radio"
    )
    cruise_m: PhysicalOrZero = setting(
        30.0, "altitude of flights between landings", reason="above trees and houses"
    )


class Rover(FrozenModel):
    """A robot that drives on the ground."""

    drive_j_per_m: PhysicalOrZero = setting(
        30.0, "energy per metre", reason="a small robot: 9 W at 0.3 m/s"
    )
    speed_m_per_s: Physical = setting(0.3, "speed", reason="walking pace or less, indoors")
    standby_w: PhysicalOrZero = setting(
        5.0, "power while it stands", reason="a computer and its radio"
    )


class Movement(FrozenModel):
    """How the server moves, and the energy that it needs for that.

    The paper's model has the constants below; the others have tables of their own, and hover or
    stand for `round_s`.
    """

    model: MovementKind = setting(
        "paper",
        "how the server moves: paper, rotary-wing (it hovers), landing (it flies, then stands on "
        "the ground), rover (it drives) or mast (it stays, or one of candidates_m takes its place)",
    )
    path: Literal["straight", "around"] = setting(
        "straight", "around: it goes round keep-out boxes, or over them"
    )
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
    rotary_wing: RotaryWing | None = setting(None, "settings of rotary-wing and landing")
    rover: Rover | None = setting(None, "settings of rover")


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
    min_power_w: NonNegative = setting(
        0.0, "least power at which it can transmit", reason="no limit, as in the paper"
    )
    wall_loss_db: Decibels = setting(
        0.0, "loss of walls between this device and any server", reason="none"
    )
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
