"""The constants, start and condensations of the paper's geometric program P′.

Plain names stand for the appendix's symbols:

per device  power P, cpu g, iterations τ, active α, distance_sq χ^D, height χ^z, idle χ^T,
            sight_slack χ^Pr, blocked χ̂^Pr, sight χ^LoS, no_sight χ^NLoS
server      x, y, z for φ_S, lateral_sq χ^L, climb P^A, climb_slack χ^A, climb_factor χ̂^E
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scdn.arrays import Array
from scdn.control.algorithm3.monomial_approximation import Point, Term
from scdn.control.problem import RoundProblem
from scdn.theory.optimizer_weights import step_weights
from scdn.world.path_loss import LIGHT_M_PER_S, db_to_ratio

DEVICE = (
    "power",
    "cpu",
    "iterations",
    "active",
    "distance_sq",
    "height",
    "idle",
    "sight_slack",
    "blocked",
    "sight",
    "no_sight",
)
SERVER = ("x", "y", "z", "lateral_sq", "climb", "climb_slack", "climb_factor")

TINY = 1e-9  # the paper's "> 0" of a variable; also what a limit of 0 becomes
FAINT = 1e-30  # stands for a coefficient of 0, which a geometric program cannot have


@dataclass(frozen=True)
class Algorithm3Settings:
    """How Algorithm 3 runs. Where the paper names no value, one that converges was chosen."""

    iterations: int = 30
    tolerance: float = 1e-4  # change of the decision, relative to each variable's range
    penalty: float = 1e-4  # ψ̂
    link_penalty: float | None = 100.0  # of χ^T; None: ψ̂, as the paper has it
    epsilon_sight: float = 1e-2  # ε^Pr
    epsilon_climb: float = 1e-2  # ε^M
    active_from: float = 0.5  # an α from here on counts as 1
    start_iterations: float = 1e-6  # τ of [x]^0
    start_margin: float = 0.01  # share of the region by which a start at its faces moves inside
    rebuild: bool = False  # a new CVXPY problem in each iteration
    solvers: tuple[str, ...] = ("CLARABEL", "SCS")  # in the order in which they are tried


@dataclass(frozen=True, eq=False)
class ProgramConstants:
    """A round's constants in the combinations that P′ uses."""

    problem: RoundProblem
    settings: Algorithm3Settings
    scale: Array  # ψ^Tx
    slope: Array  # 180 β^Tx/π
    knee: Array  # β^Tx·ψ^Tx + 1
    los: Array  # σ²·η^LoS·(μ^PL)^α^PL
    nlos: Array  # σ²·η^NLoS·(μ^PL)^α^PL
    half_exponent: Array  # α^PL/2
    cycles: Array  # clock cycles of one iteration
    lower: dict[str, Array]
    upper: dict[str, Array]

    def __len__(self) -> int:
        return len(self.problem)


def program_constants(problem: RoundProblem, settings: Algorithm3Settings) -> ProgramConstants:
    """The constants of a round.

    Which of the two links a device has is fixed beforehand: a geometric program never reaches
    φ_z,S = 0, so a device in the air has an air-to-air link.
    """
    radio = problem.radio
    airborne = problem.position_m[:, 2] > 0

    def pick(name: str) -> Array:
        return np.where(airborne, getattr(radio.a2a, name), getattr(radio.a2g, name))

    scale, slope, exponent = pick("los_scale"), pick("los_slope"), pick("exponent")
    wavenumber = 4 * np.pi * radio.carrier_hz / LIGHT_M_PER_S  # μ^PL
    spread = problem.noise_w * wavenumber**exponent * db_to_ratio(radio.margin_db)
    lower, upper = _bounds(problem)
    return ProgramConstants(
        problem=problem,
        settings=settings,
        scale=np.maximum(scale, TINY),
        slope=np.maximum(np.degrees(slope), TINY),
        knee=slope * scale + 1,
        los=np.maximum(spread * 10 ** (pick("los_loss_db") / 10), FAINT),
        nlos=np.maximum(spread * 10 ** (pick("nlos_loss_db") / 10), FAINT),
        half_exponent=exponent / 2,
        cycles=np.maximum(problem.cycles(np.ones(len(problem))), TINY),
        lower=lower,
        upper=upper,
    )


def _bounds(problem: RoundProblem) -> tuple[dict[str, Array], dict[str, Array]]:
    """app_eq:power_limits_P' to app_eq:all_aux_vars_P', with α relaxed to (0, 1].

    The limit is on τ, as in the main text, not on τ^eff. A range that is a point becomes a thin
    one, so that the program has an inside.
    """
    ones = np.ones(len(problem))
    lower = dict.fromkeys(DEVICE, TINY * ones) | {name: np.array(TINY) for name in SERVER}
    lower |= {
        axis: np.array(1e-4 * size) for axis, size in zip("xyz", problem.region_m, strict=True)
    }
    lower["cpu"] = np.maximum(problem.cpu_min_hz, 1.0)
    lower["distance_sq"] = problem.radio.min_distance_m**2 * ones  # in the elevation, too
    upper = {
        "power": problem.max_power_w,
        "cpu": problem.cpu_max_hz,
        "iterations": problem.max_iterations * ones,
        "active": ones,
    }
    upper |= {axis: np.array(size) for axis, size in zip("xyz", problem.region_m, strict=True)}
    return lower, {name: np.maximum(upper[name], lower[name] * (1 + 1e-6)) for name in upper}


def feasible_point(given: ProgramConstants) -> Point:
    """[x]^0: no iterations, full power, the server where it stood, auxiliaries as defined.

    At a face of the region the server starts a little inside: a coordinate of 0 has no logarithm,
    and one near 0 next to no slope. χ^L and P^A start above their definitions (a tenth of the
    region, a climb of a tenth); condensed at 0 they would hold the server where it is.
    """
    problem, lower, upper = given.problem, given.lower, given.upper
    size, before = problem.region_m, problem.server_m
    margin = given.settings.start_margin * size
    place = np.clip(before, margin, size - margin)
    distance_sq = np.maximum(((place - problem.position_m) ** 2).sum(axis=1), lower["distance_sq"])
    height = np.maximum(np.abs(place[2] - problem.position_m[:, 2]), TINY)
    sine = height / np.sqrt(distance_sq)
    angle = given.slope * (sine + sine**3 / 6)
    blocked = np.maximum(given.knee - angle, 1e-6)
    sight = 1 / (1 + given.scale * blocked)
    power = 0.999 * upper["power"]
    loss = (given.los * sight + given.nlos * (1 - sight)) * distance_sq**given.half_exponent
    delay = _surrogate_delay(problem, power, loss)
    active = np.minimum(1.0, 0.99 * problem.max_delay_s / np.maximum(delay, FAINT))
    iterations = np.minimum(given.settings.start_iterations, upper["iterations"])
    climb = max((size[2] - before[2]) / (size[2] - place[2]) - 1, 0.1)
    lateral = max(np.hypot(*(place - before)[:2]), 0.1 * size[:2].min())
    point: dict[str, Array] = {
        "power": power,
        "cpu": np.minimum(np.sqrt(lower["cpu"] * upper["cpu"]), 2 * lower["cpu"]),
        "iterations": iterations,
        "active": active,
        "distance_sq": distance_sq,
        "height": height,
        "idle": iterations * (1 - active),
        "sight_slack": np.maximum(angle + blocked - given.knee, 1e-6),
        "blocked": blocked,
        "sight": sight,
        "no_sight": 1 - sight,
        "x": place[0],
        "y": place[1],
        "z": place[2],
        "lateral_sq": np.array(lateral**2),
        "climb": np.array(climb),
        "climb_slack": np.array(1e-3),
        "climb_factor": np.array(1 + climb),
    }
    return {name: np.maximum(point[name], lower[name]) for name in point}


def _surrogate_delay(problem: RoundProblem, power: Array, loss: Array) -> Array:
    """E^Tx/P of app_eq:post_pade_energy_tx."""
    bits = 2 * problem.payload_bits * np.log(2.0) / problem.bandwidth_hz
    return bits * loss * (3 * loss + 2 * power) / (power * (6 * loss + power))


def denominators(given: ProgramConstants, at: Point) -> dict[str, Sequence[Term]]:
    """Every posynomial that the appendix condenses, under its letter.

    w̄ and w_max depend on τ for proximal SGD and momentum; they are held at the previous iterate.
    """
    problem, settings = given.problem, given.settings
    mean, largest = _weights(given, at)
    effective = problem.learning.steps_per_iteration * problem.survival  # τ^eff/τ
    progress = np.maximum(effective * problem.learning_rate * (mean - largest / 2), 0.0)
    (xn, yn, zn), (x0, y0, z0) = problem.position_m.T, problem.server_m
    ceiling, bandwidth = problem.ceiling_m, problem.bandwidth_hz
    ones = np.ones(len(given))
    reach = {"distance_sq": given.half_exponent}
    blocked_sight = {"blocked": 1.0, "sight": 1.0}
    blocked_no_sight = {"blocked": 1.0, "no_sight": 1.0}
    return {
        "A": [  # app_eq:approx_term_a
            Term(progress, {"iterations": 1.0}),
            Term(problem.learning.epsilon * ones, {}),
        ],
        "D": [  # app_eq:approx_euclid2
            Term(ones, {"distance_sq": 1.0}),
            Term(2 * xn, {"x": 1.0}),
            Term(2 * yn, {"y": 1.0}),
            Term(2 * zn, {"z": 1.0}),
        ],
        "D+": [Term(zn, {}), Term(ones, {"height": 1.0})],  # app_eq:in_arcsin2
        "D-": [Term(ones, {"z": 1.0}), Term(ones, {"height": 1.0})],  # app_eq:in_arcsin3
        "Q+": [  # app_eq:pr_eq_con_pos2
            Term(ones, {"blocked": 1.0}),
            Term(given.slope, {"height": 1.0, "distance_sq": -0.5}),
            Term(given.slope / 6, {"height": 3.0, "distance_sq": -1.5}),
            Term(settings.epsilon_sight * ones, {}),
        ],
        "Q-": [  # app_eq:pr_eq_con_neg2
            Term(ones, {"sight_slack": 1.0}),
            Term(given.knee + settings.epsilon_sight, {}),
        ],
        "R_LoS": [Term(ones, {"sight": 1.0}), Term(given.scale, blocked_sight)],  # app_eq:prob_los2
        "R_NLoS": [  # app_eq:prob_los5
            Term(ones, {"no_sight": 1.0}),
            Term(given.scale, blocked_no_sight),
        ],
        "T": [  # app_eq:denom_post_pade_tx2
            Term(6 * bandwidth * given.los, {"sight": 1.0, **reach}),
            Term(6 * bandwidth * given.nlos, {"no_sight": 1.0, **reach}),
            Term(bandwidth, {"power": 1.0}),
        ],
        "X": [  # app_eq:binary_switch_posy
            Term(ones, {"idle": 1.0}),
            Term(ones, {"iterations": 1.0, "active": 1.0}),
        ],
        "L": [  # app_eq:chi_xy_L2
            Term(1.0, {"lateral_sq": 1.0}),
            Term(2 * x0, {"x": 1.0}),
            Term(2 * y0, {"y": 1.0}),
        ],
        "E-": [  # app_eq:chi_hat_neg2
            Term(1.0, {"climb_factor": 1.0}),
            Term(settings.epsilon_climb, {}),
        ],
        "E+": [  # app_eq:chi_hat_pos2
            Term(1.0, {"climb_slack": 1.0}),
            Term(settings.epsilon_climb + 1, {}),
            Term(1.0, {"climb": 1.0}),
        ],
        "O": [Term(ceiling, {"climb_factor": 1.0}), Term(z0, {})],  # app_eq:diff_log_con_posy
    }


def drift(given: ProgramConstants, at: Point) -> Array:
    """What multiplies τ² in ξ's bracket, app_eq:xi_P', with w_max of the previous iterate."""
    problem = given.problem
    _, largest = _weights(given, at)
    effective = problem.learning.steps_per_iteration * problem.survival
    rate = problem.learning_rate * largest
    noise = 2 * (problem.gradient_bound_sq + problem.gradient_variance)
    smooth = problem.smoothness**2 * rate**3 + problem.learning.global_smoothness * rate**2
    return np.maximum(noise * effective**2 * smooth, FAINT)


def _weights(given: ProgramConstants, at: Point) -> tuple[Array, Array]:
    """w̄ and w_max at an iterate, from one step on: below, momentum's closed form means nothing."""
    problem = given.problem
    q = np.maximum(problem.steps(at["iterations"]), 1.0)
    return step_weights(problem.optimizer, q, problem.learning_rate, problem.optimizer_value)
