"""The variables, limits and constants of the paper's geometric program P′.

Plain names stand for the appendix's symbols:

per device  power P, cpu g, iterations τ, active α, distance_sq χ^D, height χ^z,
            idle_iterations χ^T, los_slack χ^Pr, los_exponential χ̂^Pr, los χ^LoS, nlos χ^NLoS
server      x, y, z for φ_S, lateral_sq χ^L, climb P^A, climb_slack χ^A, climb_factor χ̂^E
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scdn.arrays import Array
from scdn.control.problem import RoundProblem
from scdn.world.decibels import db_to_ratio

DEVICE_VARIABLES = (
    "power", "cpu", "iterations", "active", "distance_sq", "height", "idle_iterations",
    "los_slack", "los_exponential", "los", "nlos",
)  # fmt: skip
SERVER_VARIABLES = ("x", "y", "z", "lateral_sq", "climb", "climb_slack", "climb_factor")

TINY = 1e-9  # the paper's "> 0" of a variable; also what a limit of 0 becomes
FAINT = 1e-30  # stands for a coefficient of 0, which a geometric program cannot have


@dataclass(frozen=True)
class Algorithm3Settings:
    """How Algorithm 3 runs. Where the paper names no value, one that converges was chosen."""

    iterations: int = 30
    tolerance: float = 1e-4  # change of the decision, relative to each variable's range
    penalty: float = 1e-4  # ψ̂
    link_penalty: float | None = 100.0  # of χ^T; None: ψ̂, as the paper has it
    epsilon_los: float = 1e-2  # ε^Pr
    epsilon_climb: float = 1e-2  # ε^M
    active_from: float = 0.5  # an α from here on counts as 1
    start_iterations: float = 1e-6  # τ of [x]^0
    start_margin: float = 0.01  # fraction of the region by which a start at its faces moves inside
    rebuild: bool = False  # make a new CVXPY problem in each iteration
    solvers: tuple[str, ...] = ("CLARABEL", "SCS")  # in the order in which they are tried


@dataclass(frozen=True, eq=False)
class ProgramConstants:
    """A round's constants in the combinations that P′ uses."""

    problem: RoundProblem
    settings: Algorithm3Settings
    los_scale: Array  # ψ^Tx
    los_slope: Array  # 180 β^Tx/π
    los_offset: Array  # β^Tx·ψ^Tx + 1
    los_loss: Array  # σ²·η^LoS·(μ^PL)^α^PL
    nlos_loss: Array  # σ²·η^NLoS·(μ^PL)^α^PL
    half_exponent: Array  # α^PL/2
    cycles: Array  # clock cycles of one iteration
    lower: dict[str, Array]
    upper: dict[str, Array]

    def __len__(self) -> int:
        return len(self.problem)


def program_constants(problem: RoundProblem, settings: Algorithm3Settings) -> ProgramConstants:
    """Compute the constants of a round.

    Which of the two links a device has is fixed beforehand: a geometric program never reaches
    φ_z,S = 0, so a device in the air has an air-to-air link.
    """
    law = problem.link.power_law(problem.server_m, problem.position_m)
    spreading = problem.noise_w * law.coefficient * db_to_ratio(problem.wall_loss_db)
    lower, upper = _limits(problem)
    return ProgramConstants(
        problem=problem,
        settings=settings,
        los_scale=np.maximum(law.los_scale, TINY),
        los_slope=np.maximum(np.degrees(law.los_slope), TINY),
        los_offset=law.los_slope * law.los_scale + 1,
        los_loss=np.maximum(spreading * law.los_loss, FAINT),
        nlos_loss=np.maximum(spreading * law.nlos_loss, FAINT),
        half_exponent=law.exponent / 2,
        cycles=np.maximum(problem.cycles(np.ones(len(problem))), TINY),
        lower=lower,
        upper=upper,
    )


def _limits(problem: RoundProblem) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the lower and upper limits of app_eq:power_limits_P' to app_eq:all_aux_vars_P'.

    α is relaxed to (0, 1]. The limit is on τ, as in the main text, not on τ^eff. A range that is a
    point becomes a thin one, so that the program has an inside.
    """
    ones = np.ones(len(problem))
    lower = dict.fromkeys(DEVICE_VARIABLES, TINY * ones)
    lower |= {name: np.array(TINY) for name in SERVER_VARIABLES}
    lower |= {
        axis: np.array(1e-4 * size) for axis, size in zip("xyz", problem.region_m, strict=True)
    }
    lower["cpu"] = np.maximum(problem.cpu_min_hz, 1.0)
    lower["distance_sq"] = problem.radio.min_distance_m**2 * ones  # in the elevation, too
    upper = {
        "power": problem.max_power_w,
        "cpu": problem.cpu_max_hz,
        "iterations": problem.iteration_cap(),
        "active": ones,
    }
    upper |= {axis: np.array(size) for axis, size in zip("xyz", problem.region_m, strict=True)}
    return lower, {name: np.maximum(upper[name], lower[name] * (1 + 1e-6)) for name in upper}
