"""Settings that one round's problem shares with a plan request: radio, weights, movement, devices."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from scdn.scenario.field_types import FrozenModel, Vector3, WholeNumber, required_setting, setting

RateModel = Literal["shannon", "pade"]
OptimizerKind = Literal["sgd", "proximal", "momentum"]


class Link(FrozenModel):
    """One kind of link: line-of-sight probability, excess losses and path-loss exponent."""

    los_scale: float = setting(11.95, "ψ^Tx of the line-of-sight probability", ge=0)
    los_slope: float = setting(0.14, "β^Tx of the line-of-sight probability, per degree", ge=0)
    los_loss_db: float = setting(3.0, "excess loss in line of sight, η^LoS", ge=-1000, le=1000)
    nlos_loss_db: float = setting(23.0, "excess loss out of sight, η^NLoS", ge=-1000, le=1000)
    exponent: float = setting(2.0, "path-loss exponent, α^PL", ge=0, le=100)


class AirLink(Link):
    """The same between two that are both in the air."""

    los_scale: float = setting(10.5, "ψ^Tx of the line-of-sight probability", ge=0)
    los_slope: float = setting(0.12, "β^Tx of the line-of-sight probability, per degree", ge=0)
    nlos_loss_db: float = setting(17.0, "excess loss out of sight, η^NLoS", ge=-1000, le=1000)
    exponent: float = setting(2.2, "path-loss exponent, α^PL", ge=0, le=100)


class Radio(FrozenModel):
    """The channel between devices and the server."""

    carrier_hz: float = setting(2e9, "carrier frequency, f^Tx", gt=0, le=1e15)
    bandwidth_hz: float = setting(2e6, "bandwidth of each device's channel", gt=0)
    noise_dbm_per_hz: float = setting(-174.0, "noise density, N_0", ge=-1000, le=1000)
    rate_model: RateModel = setting("shannon", 'true rates, or "pade": the paper\'s approximant')
    min_distance_m: float = setting(
        1.0, "shorter distances count as this", chosen="keeps path loss finite", ge=1e-6, le=1e8
    )
    margin_db: float = setting(
        0.0,
        "added to the mean path loss when planning",
        chosen="the paper plans on the mean",
        ge=-1000,
        le=1000,
    )
    a2g: Link = setting(Link(), "air to ground: the server or the device is on the ground")
    a2a: AirLink = setting(AirLink(), "air to air: both are above the ground")


class Weights(FrozenModel):
    """How much each term counts in the round's objective."""

    convergence: float = setting(
        1.0,
        "ψ^G, on the convergence bound",
        chosen="makes iterations spread over 1 to 5",
        ge=0,
        le=1e15,
    )
    transmission: float = setting(
        10.0, "ψ^R, per joule sent", chosen="makes power and position matter", ge=0, le=1e15
    )
    processing: float = setting(
        0.02, "ψ^P, per joule computed", chosen="makes clocks and iterations matter", ge=0, le=1e15
    )
    movement: float = setting(
        1e-3,
        "ψ^S, per joule flown",
        chosen="makes the server move, but not for nothing",
        ge=0,
        le=1e15,
    )


class Movement(FrozenModel):
    """What it costs the server to hover, climb and fly sideways."""

    hover_j: float = setting(1.0, "K^H, hovering a round at the ground", chosen="a unit", ge=0)
    climb_j: float = setting(10.0, "K^A, on the logarithm of the climb", chosen="ten units", ge=0)
    lateral_j_per_m: float = setting(1.0, "K^L, per metre sideways", chosen="a unit", ge=0)
    altitude_scale_m: float = setting(
        20.0,
        "altitude over which hovering costs e times more",
        chosen="the paper's e^z overflows at 100 m",
        gt=0,
    )
    min_flight_m: float = setting(
        1.0, "the server is on the ground or at least this high", chosen="a real UAV", ge=0
    )


class RoundLearningSettings(FrozenModel):
    """The constants of learning that the round's problem sees."""

    rounds: WholeNumber = setting(30, "global rounds, R", gt=0)
    initial_loss: float = setting(
        2.303,
        "loss before training, F(Θ^0)",
        chosen="ln 10: ten classes, nothing learned",
        ge=0,
        le=1e15,
    )
    global_smoothness: float = setting(
        1.0, "L of the whole model", chosen="until it is measured", ge=0
    )
    epsilon: float = setting(
        1e-3, "ε^G, keeps the bound finite at zero iterations", chosen="small", ge=1e-12
    )
    batch_size: WholeNumber = setting(64, "samples per step, B", chosen="usual for MNIST", gt=0)
    steps_per_iteration: WholeNumber = setting(
        1, "mini-batch steps in one iteration", chosen="the paper does not say", gt=0
    )
    compute_deadline_s: float = setting(4.0, "time to compute a round's iterations", gt=0)


class Sgd(FrozenModel):
    """Standard stochastic gradient descent."""

    kind: Literal["sgd"] = "sgd"


class Proximal(FrozenModel):
    """Proximal SGD: each step is also pulled to the round's start."""

    kind: Literal["proximal"]
    mu: float = required_setting("proximal parameter, μ", gt=0, lt=1)


class Momentum(FrozenModel):
    """SGD with momentum, its buffer reset each round."""

    kind: Literal["momentum"]
    rho: float = required_setting("momentum parameter, ρ", gt=0, lt=1)


Optimizer = Annotated[Sgd | Proximal | Momentum, Field(discriminator="kind")]


class DeviceSettings(FrozenModel):
    """A device as one round's problem sees it."""

    id: str = required_setting("its name, unique", min_length=1)
    position_m: Vector3 = required_setting("x, y, z")
    max_power_w: float = setting(0.25, "transmit limit (the paper: 23 to 25 dBm)", ge=0)
    payload_bits: float = setting(
        1628480.0, "what it sends per round, M_n", chosen="32 bits for each of 50,890 weights", ge=0
    )
    bandwidth_hz: float | None = setting(None, "in place of the radio's", gt=0)
    cpu_min_hz: float = setting(1e7, "slowest clock", chosen="10 MHz, a small node asleep", ge=0)
    cpu_max_hz: float = setting(2.3e9, "fastest clock", chosen="2.3 GHz", ge=0)
    capacitance: float = setting(2e-28, "effective capacitance, a_n", chosen="usual", ge=0)
    connections: float = setting(
        50890.0, "connections of its model, φ_n", chosen="784-64-10 perceptron", ge=0
    )
    flops_per_cycle: float = setting(
        0.0066,
        "effective FLOPs per clock cycle",
        chosen="15 MFLOP/s at 2.3 GHz; five iterations need 1.85 GHz",
        gt=0,
    )
    importance: float = setting(1.0, "relative importance, γ", ge=0, le=1e15)
    survival: float = setting(1.0, "chance to last the coming round, p", ge=0, le=1)
    learning_rate: float = setting(0.1, "η (the paper's for MNIST)", gt=0, le=1e9)
    smoothness: float = setting(0.5, "L_n", chosen="until it is measured", ge=0)
    gradient_bound_sq: float = setting(0.02, "Q², mean squared", chosen="until measured", ge=0)
    gradient_variance: float = setting(0.01, "σ²", chosen="until measured", ge=0)
    optimizer: Optimizer = setting(Sgd(), "sgd, proximal with mu, or momentum with rho")
