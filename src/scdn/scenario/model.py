"""Everything a run needs, in one frozen description. All defaults of the project live here.

The parts that describe one round's problem (`Radio`, `Weights`, `Movement`, `RoundLearning`,
`Device`) have the names and defaults of a plan request; a scenario adds where devices come from,
how the network changes and how the parties learn. A field's `chosen` text says why it has its
value where the paper gives none.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, Strict

from scdn.scenario.fields import (
    Box,
    Frozen,
    Number,
    Range,
    Rectangle,
    Vector,
    Version,
    Whole,
    required,
    value,
)

RateModel = Literal["shannon", "pade"]
Start = Literal["centre", "random", "origin", "max", "random-edge"]
Memory = Literal["keep", "zero-out", "dropout"]  # what stays of departed devices
OptimizerKind = Literal["sgd", "proximal", "momentum"]


# --- one round's problem -------------------------------------------------------------------------


class Link(Frozen):
    """One kind of link: line-of-sight probability, excess losses and path-loss exponent."""

    los_scale: float = value(11.95, "ψ^Tx of the line-of-sight probability", ge=0)
    los_slope: float = value(0.14, "β^Tx of the line-of-sight probability, per degree", ge=0)
    los_loss_db: float = value(3.0, "excess loss in line of sight, η^LoS", ge=-1000, le=1000)
    nlos_loss_db: float = value(23.0, "excess loss out of sight, η^NLoS", ge=-1000, le=1000)
    exponent: float = value(2.0, "path-loss exponent, α^PL", ge=0, le=100)


class AirLink(Link):
    """The same between two that are both in the air."""

    los_scale: float = value(10.5, "ψ^Tx of the line-of-sight probability", ge=0)
    los_slope: float = value(0.12, "β^Tx of the line-of-sight probability, per degree", ge=0)
    nlos_loss_db: float = value(17.0, "excess loss out of sight, η^NLoS", ge=-1000, le=1000)
    exponent: float = value(2.2, "path-loss exponent, α^PL", ge=0, le=100)


class Radio(Frozen):
    """The channel between devices and the server."""

    carrier_hz: float = value(2e9, "carrier frequency, f^Tx", gt=0, le=1e15)
    bandwidth_hz: float = value(2e6, "bandwidth of each device's channel", gt=0)
    noise_dbm_per_hz: float = value(-174.0, "noise density, N_0", ge=-1000, le=1000)
    rate_model: RateModel = value("shannon", 'true rates, or "pade": the paper\'s approximant')
    min_distance_m: float = value(
        1.0, "shorter distances count as this", chosen="keeps path loss finite", ge=1e-6, le=1e8
    )
    margin_db: float = value(
        0.0,
        "added to the mean path loss when planning",
        chosen="the paper plans on the mean",
        ge=-1000,
        le=1000,
    )
    a2g: Link = value(Link(), "air to ground: the server or the device is on the ground")
    a2a: AirLink = value(AirLink(), "air to air: both are above the ground")


class Weights(Frozen):
    """How much each term counts in the round's objective."""

    convergence: float = value(
        1.0,
        "ψ^G, on the convergence bound",
        chosen="makes iterations spread over 1 to 5",
        ge=0,
        le=1e15,
    )
    transmission: float = value(
        10.0, "ψ^R, per joule sent", chosen="makes power and position matter", ge=0, le=1e15
    )
    processing: float = value(
        0.02, "ψ^P, per joule computed", chosen="makes clocks and iterations matter", ge=0, le=1e15
    )
    movement: float = value(
        1e-3,
        "ψ^S, per joule flown",
        chosen="makes the server move, but not for nothing",
        ge=0,
        le=1e15,
    )


class Movement(Frozen):
    """What it costs the server to hover, climb and fly sideways."""

    hover_j: float = value(1.0, "K^H, hovering a round at the ground", chosen="a unit", ge=0)
    climb_j: float = value(10.0, "K^A, on the logarithm of the climb", chosen="ten units", ge=0)
    lateral_j_per_m: float = value(1.0, "K^L, per metre sideways", chosen="a unit", ge=0)
    altitude_scale_m: float = value(
        20.0,
        "altitude over which hovering costs e times more",
        chosen="the paper's e^z overflows at 100 m",
        gt=0,
    )
    min_flight_m: float = value(
        1.0, "the server is on the ground or at least this high", chosen="a real UAV", ge=0
    )


class RoundLearning(Frozen):
    """The constants of learning that the round's problem sees."""

    rounds: Whole = value(30, "global rounds, R", gt=0)
    initial_loss: float = value(
        2.303,
        "loss before training, F(Θ^0)",
        chosen="ln 10: ten classes, nothing learned",
        ge=0,
        le=1e15,
    )
    global_smoothness: float = value(
        1.0, "L of the whole model", chosen="until it is measured", ge=0
    )
    epsilon: float = value(
        1e-3, "ε^G, keeps the bound finite at zero iterations", chosen="small", ge=1e-12
    )
    batch_size: Whole = value(64, "samples per step, B", chosen="usual for MNIST", gt=0)
    steps_per_iteration: Whole = value(
        1, "mini-batch steps in one iteration", chosen="the paper does not say", gt=0
    )
    compute_deadline_s: float = value(4.0, "time to compute a round's iterations", gt=0)


class Sgd(Frozen):
    """Standard stochastic gradient descent."""

    kind: Literal["sgd"] = "sgd"


class Proximal(Frozen):
    """Proximal SGD: each step is also pulled to the round's start."""

    kind: Literal["proximal"]
    mu: float = required("proximal parameter, μ", gt=0, lt=1)


class Momentum(Frozen):
    """SGD with momentum, its buffer reset each round."""

    kind: Literal["momentum"]
    rho: float = required("momentum parameter, ρ", gt=0, lt=1)


Optimizer = Annotated[Sgd | Proximal | Momentum, Field(discriminator="kind")]


class Device(Frozen):
    """A device as one round's problem sees it."""

    id: str = required("its name, unique", min_length=1)
    position_m: Vector = required("x, y, z")
    max_power_w: float = value(0.25, "transmit limit (the paper: 23 to 25 dBm)", ge=0)
    payload_bits: float = value(
        1628480.0, "what it sends per round, M_n", chosen="32 bits for each of 50,890 weights", ge=0
    )
    bandwidth_hz: float | None = value(None, "in place of the radio's", gt=0)
    cpu_min_hz: float = value(1e7, "slowest clock", chosen="10 MHz, a small node asleep", ge=0)
    cpu_max_hz: float = value(2.3e9, "fastest clock", chosen="2.3 GHz", ge=0)
    capacitance: float = value(2e-28, "effective capacitance, a_n", chosen="usual", ge=0)
    connections: float = value(
        50890.0, "connections of its model, φ_n", chosen="784-64-10 perceptron", ge=0
    )
    flops_per_cycle: float = value(
        0.0066,
        "effective FLOPs per clock cycle",
        chosen="15 MFLOP/s at 2.3 GHz; five iterations need 1.85 GHz",
        gt=0,
    )
    importance: float = value(1.0, "relative importance, γ", ge=0, le=1e15)
    survival: float = value(1.0, "chance to last the coming round, p", ge=0, le=1)
    learning_rate: float = value(0.1, "η (the paper's for MNIST)", gt=0, le=1e9)
    smoothness: float = value(0.5, "L_n", chosen="until it is measured", ge=0)
    gradient_bound_sq: float = value(0.02, "Q², mean squared", chosen="until measured", ge=0)
    gradient_variance: float = value(0.01, "σ²", chosen="until measured", ge=0)
    optimizer: Optimizer = value(Sgd(), "sgd, proximal with mu, or momentum with rho")


# --- where devices come from, and how the network changes ----------------------------------------


class Lifetime(Frozen):
    """How long a device lasts: Weibull in rounds since it entered."""

    weibull_shape: float = value(1.0, "below 1 early failures, above 1 wear", gt=0)
    weibull_scale_rounds: float = value(
        60.0, "λ_w in rounds", chosen="the paper's 1 would empty the network at once", gt=0
    )


class ListedDevice(Device, Lifetime):
    """A device written out in a scenario or read from a CSV."""

    kind: str = value("device", "what it is, for pictures and tables", min_length=1)


class Group(Frozen):
    """Devices that are drawn: how many at the start, where, and with what hardware."""

    kind: str = value("device", "what they are; ids are kind-1, kind-2, …", min_length=1)
    count: Whole = value(0, "how many there are at the start", ge=0, le=1_000_000)
    entry_share: float = value(1.0, "share of the devices that enter later", ge=0)
    area_m: Rectangle | None = value(None, "x0, y0, x1, y1; absent: the whole region")
    altitude_m: Range = value((0.0, 0.0), "0 is on the ground; [lo, hi] is drawn uniformly")
    max_power_dbm: Range = value((23.0, 25.0), "transmit limit")
    bandwidth_hz: float | None = value(None, "in place of the radio's", gt=0)
    payload_bits: float = value(
        1628480.0, "sent per round, until a model is there to count", chosen="as for a device", ge=0
    )
    connections: float = value(50890.0, "until a model is there to count", chosen="as above", ge=0)
    cpu_min_hz: float = value(1e7, "slowest clock", chosen="10 MHz", ge=0)
    cpu_max_hz: Range = value((2.3e9, 2.3e9), "fastest clock", chosen="2.3 GHz")
    capacitance: Range = value((2e-28, 2e-28), "effective capacitance", chosen="usual")
    flops_per_cycle: Range = value(
        (0.0032, 0.0074),
        "effective FLOPs per clock cycle",
        chosen="the clock limit binds between 3 and 5 iterations on the slower half",
    )
    learning_rate: float = value(0.1, "η", gt=0)
    optimizers: Annotated[tuple[OptimizerKind, ...], Strict(False)] = value(
        ("sgd",), "each device draws one of these", min_length=1
    )
    mu: Range = value((0.1, 0.5), "proximal parameter", chosen="inside Theorem 1's conditions")
    rho: Range = value((0.1, 0.28), "momentum", chosen="inside Theorem 1's conditions")
    weibull_shapes: Annotated[tuple[Number, ...], Strict(False)] = value(
        (0.7, 1.0, 3.0), "each device draws one", chosen="one of each regime", min_length=1
    )
    weibull_scale_rounds: float = value(
        60.0, "λ_w in rounds", chosen="the paper's 1 would empty the network at once", gt=0
    )


class Shock(Frozen):
    """A moment at which devices in a disc leave together: a surge, a fire front."""

    round: Whole = required("during which it strikes", ge=0)
    centre_m: Annotated[tuple[Number, Number], Strict(False)] = required("x, y")
    radius_m: float = required("how far it reaches", gt=0)
    exit_probability: float = value(1.0, "for each device in reach", ge=0, le=1)


class Churn(Frozen):
    """Who leaves and who comes."""

    exits: bool = value(True, "devices leave by their Weibull lifetimes")
    entry_rate: float = value(0.5, "devices that enter per round, Poisson", ge=0, le=1000)
    quiet_rounds: Whole = value(
        0, "first rounds in which nobody leaves or ages", chosen="off", ge=0
    )
    shocks: Annotated[tuple[Shock, ...], Strict(False)] = value((), "local disasters", chosen="off")
    trace: str | None = value(None, "a saved churn trace to replay; then nothing is drawn")


class Fading(Frozen):
    """The channel as it turns out, around the mean that plans use."""

    mode: Literal["none", "drawn"] = value("none", '"drawn": sight and shadow by chance')
    los_shadow_db: float = value(
        2.0, "log-normal σ in line of sight", chosen="measured ranges are 1 to 4 dB", ge=0, le=30
    )
    nlos_shadow_db: float = value(
        6.0, "σ without line of sight", chosen="measured ranges are 4 to 10 dB", ge=0, le=30
    )


# --- learning and the whole ----------------------------------------------------------------------


def _damping(choice: Any) -> Any:
    is_number = isinstance(choice, int | float) and not isinstance(choice, bool)
    if choice in ("none", "active", "fitted") or (is_number and 0 < choice <= 1):
        return choice
    raise ValueError('must be "none", "active", "fitted" or a number in (0, 1]')


class Learning(RoundLearning):
    """How the parties learn."""

    dataset: str = value("mnist", "which data", min_length=1)
    scaling: Literal["unit", "standard", "none"] = value(
        "standard", "of the inputs", chosen="matters more than the batch size"
    )
    holdout: float = value(
        0.0, "part of the training rows that stand in for the test rows, to tune on", ge=0, le=0.9
    )
    split: Literal["random", "blocks", "strips", "patches", "modality", "parties"] = value(
        "random", 'of the features among parties; "parties": as the data itself says'
    )
    model: str = value(
        "auto", "of parties: auto, mlp, cnn, alexnet or package.module:factory", min_length=1
    )
    hidden: Whole = value(64, "hidden neurons of a perceptron", gt=0)
    initialisation: Literal["default", "kaiming"] = value(
        "default", "of parties' weights", chosen="PyTorch's; deep networks need kaiming"
    )
    fusion_hidden: Whole = value(64, "hidden neurons of the fusion model", gt=0)
    fusion_head: str = value(
        "mlp", "what follows its first layer: mlp or package.module:factory", min_length=1
    )
    input: Literal["own", "masked"] = value(
        "own", '"masked": all columns, others zero', chosen="a party needs only its own"
    )
    labels: Literal["shared", "server"] = value("shared", "who has the labels")
    payload: Literal["model", "embeddings"] = value("model", "what is sent, M_n")
    server_turn: Literal["parallel", "after"] = value(
        "after", "when the server trains", chosen="fresh embeddings keep large steps stable"
    )
    damping: Annotated[Any, BeforeValidator(_damping)] = value(
        "fitted",
        "part of an update that is applied: none, active (1/parties), fitted, or a number",
        chosen="together parties overshoot; this was best where any was needed",
    )
    server_rate: float = value(0.1, "the server's learning rate", chosen="as devices", gt=0)
    halve_rate_every: Whole = value(5, "rounds after which learning rates halve", gt=0)
    importance_max: float = value(5.0, "γ^max", chosen="the paper names no value", ge=1)
    sample_rows: Whole = value(
        2048, "training rows for importance and losses", chosen="enough for stable ranks", gt=0
    )
    smoothness: Literal["norms", "measured"] = value(
        "norms",
        'how L_n is found: the paper\'s spectral norms, or "measured" on the way that parties go',
    )
    imputation: Literal["zero", "mean", "learned"] = value(
        "learned",
        "embeddings a departed party never made",
        chosen="fits them to those who are present",
    )
    dropout: float = value(
        0.2, "chance to be left out of a step, with a memory that trains for exits", ge=0, lt=1
    )
    perturbation: float = value(
        0.0, "deviation of noise on embeddings as they are sent", chosen="off", ge=0
    )
    refresh: Whole = value(
        1, "rounds after which devices send all rows' embeddings, where they are real", gt=0
    )
    device: Literal["cpu", "cuda"] = value("cpu", "what computes")
    precision: Literal["float32", "float64", "bfloat16"] = value(
        "float32", "of the models; bfloat16 keeps weights in 32 bits"
    )
    redraw_optimizers: bool = value(False, "draw the optimiser anew each round")


class Server(Frozen):
    """Where the server stands before round 0."""

    start: Start = value("centre", "one of the paper's five starts")
    position_m: Vector | None = value(None, "a place of your own; overrides start")


class Scenario(Frozen):
    """A whole run."""

    schema_version: Version = value(1, "form of this file", alias="schema")
    name: str = value("scenario", "for titles", min_length=1)
    about: str = value("", "a sentence for people")
    profile: Literal["product", "paper"] = value("product", "whose defaults absent values take")
    seed: Whole = value(0, "of every random draw", ge=0)
    method: str = value(
        "sc-dn", "who decides, what is remembered, when parties train", min_length=1
    )
    region_m: Vector = value((100.0, 100.0, 100.0), "the server's limits")
    keep_out_m: Annotated[tuple[Box, ...], Strict(False)] = value(
        (), "boxes x0, y0, z0, x1, y1, z1 the server must not be in"
    )
    candidates_m: Annotated[tuple[Vector, ...], Strict(False)] | None = value(
        None, "if given, the only places for the server"
    )
    max_delay_s: float = value(
        0.06,
        "T^max, a report's time limit",
        chosen="true rates from the centre leave some devices out of reach",
        gt=0,
    )
    max_iterations: Whole = value(5, "τ^g, most local iterations per round", ge=0, le=100_000)
    integer_iterations: bool = value(True, "whole iterations", chosen="devices run whole ones")
    server: Server = value(Server(), "the one that moves")
    radio: Radio = value(Radio(), "the channel")
    fading: Fading = value(Fading(), "the channel as drawn")
    weights: Weights = value(Weights(), "of the objective's terms")
    movement: Movement = value(Movement(), "the server's energy")
    learning: Learning = value(Learning(), "how parties learn")
    churn: Churn = value(Churn(), "who comes and goes")
    devices_csv: str | None = value(None, "devices from a CSV beside this file")
    origin_deg: Annotated[tuple[Number, Number], Strict(False)] | None = value(
        None, "lat, lon of (0, 0); absent: the south-west corner of the CSV's devices"
    )
    fleet: Annotated[tuple[Group, ...], Strict(False)] = value((), "groups of drawn devices")
    devices: Annotated[tuple[ListedDevice, ...], Strict(False)] = value((), "devices, written out")


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
