"""The posynomials of P′ that Algorithm 3 approximates by monomials, named as in the appendix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scdn.arrays import Array
from scdn.control.algorithm3.monomial_approximation import Point, Term
from scdn.control.algorithm3.program_constants import FAINT, ProgramConstants
from scdn.theory import StepWeights


def posynomials(constants: ProgramConstants, at: Point) -> dict[str, Sequence[Term]]:
    """Return every posynomial that the appendix condenses, under its letter.

    w̄ and w_max depend on τ for proximal SGD and momentum; they are held at the previous iterate.
    """
    problem, settings = constants.problem, constants.settings
    mean, largest = _step_weights(constants, at)
    effective = problem.learning.steps_per_iteration * problem.survival  # τ^eff/τ
    progress = np.maximum(effective * problem.learning_rate * (mean - largest / 2), 0.0)
    (xn, yn, zn), (x0, y0, z0) = problem.position_m.T, problem.server_m
    bandwidth, ones = problem.bandwidth_hz, np.ones(len(constants))
    spreading = {"distance_sq": constants.half_exponent}
    los_scale, los_slope = constants.los_scale, constants.los_slope
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
            Term(ones, {"los_exponential": 1.0}),
            Term(los_slope, {"height": 1.0, "distance_sq": -0.5}),
            Term(los_slope / 6, {"height": 3.0, "distance_sq": -1.5}),
            Term(settings.epsilon_los * ones, {}),
        ],
        "Q-": [  # app_eq:pr_eq_con_neg2
            Term(ones, {"los_slack": 1.0}),
            Term(constants.los_offset + settings.epsilon_los, {}),
        ],
        "R_LoS": [  # app_eq:prob_los2
            Term(ones, {"los": 1.0}),
            Term(los_scale, {"los_exponential": 1.0, "los": 1.0}),
        ],
        "R_NLoS": [  # app_eq:prob_los5
            Term(ones, {"nlos": 1.0}),
            Term(los_scale, {"los_exponential": 1.0, "nlos": 1.0}),
        ],
        "T": [  # app_eq:denom_post_pade_tx2
            Term(6 * bandwidth * constants.los_loss, {"los": 1.0, **spreading}),
            Term(6 * bandwidth * constants.nlos_loss, {"nlos": 1.0, **spreading}),
            Term(bandwidth, {"power": 1.0}),
        ],
        "X": [  # app_eq:binary_switch_posy
            Term(ones, {"idle_iterations": 1.0}),
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
        "O": [  # app_eq:diff_log_con_posy
            Term(problem.ceiling_m, {"climb_factor": 1.0}),
            Term(z0, {}),
        ],
    }


def drift_factor(constants: ProgramConstants, at: Point) -> Array:
    """Return the factor of τ² in the bracket of ξ, app_eq:xi_P', with the last iterate's w_max."""
    problem = constants.problem
    _, largest = _step_weights(constants, at)
    effective = problem.learning.steps_per_iteration * problem.survival
    rate = problem.learning_rate * largest
    noise = 2 * (problem.gradient_bound_sq + problem.gradient_variance)
    smooth = problem.smoothness**2 * rate**3 + problem.learning.global_smoothness * rate**2
    return np.maximum(noise * effective**2 * smooth, FAINT)


def _step_weights(constants: ProgramConstants, at: Point) -> StepWeights:
    """Return w̄ and w_max at an iterate, from one step on: momentum's closed form needs that."""
    steps = constants.problem.steps(at["iterations"])
    return constants.problem.step_weights(np.maximum(steps, 1.0))
