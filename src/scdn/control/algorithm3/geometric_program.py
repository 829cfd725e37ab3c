"""The paper's geometric program P′ as a CVXPY problem in DGP form.

The monomial approximations enter as coefficients and exponents. As `cp.Parameter` they let one
compiled problem serve every iteration (DPP); as constants they make a problem for one iteration.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import reduce
from importlib import import_module
from operator import add
from typing import Any, NamedTuple

import numpy as np

from scdn.arrays import Array
from scdn.control.algorithm3.monomial_approximation import Monomial, Point, condense
from scdn.control.algorithm3.posynomials import drift_factor, posynomials
from scdn.control.algorithm3.program_constants import (
    DEVICE_VARIABLES,
    FAINT,
    SERVER_VARIABLES,
    ProgramConstants,
)
from scdn.errors import require_package

require_package("cvxpy", "paper", "the paper's solver")
cp: Any = import_module("cvxpy")  # its annotations do not cover its atoms

# Options tried in turn: shorter steps or more regularisation are slower, but fail less often where
# slacks are nearly degenerate. A fallback for one iteration need not take seconds.
_LOOSE = {"tol_gap_abs": 1e-7, "tol_gap_rel": 1e-7, "tol_feas": 1e-7}
_ATTEMPTS: dict[str, list[dict[str, Any]]] = {
    "CLARABEL": [
        {},
        {"max_step_fraction": 0.8, **_LOOSE},
        {"max_step_fraction": 0.6, **_LOOSE},
        {"max_step_fraction": 0.9, "static_regularization_constant": 1e-7, **_LOOSE},
    ],
    "SCS": [{"max_iters": 2_500}],
}


class ProgramNumbers(NamedTuple):
    """P′ around one iterate: monomials c·Π x^e stacked in rows, and the factor of τ² in ξ."""

    coefficient: Array  # (M,)
    exponents: Array  # (M, V)
    drift: Array  # (N,)

    def usable(self) -> bool:
        """Return whether all numbers are finite, and positive where they must be."""
        positive = np.concatenate([self.coefficient, self.drift])
        finite = np.isfinite(positive).all() and np.isfinite(self.exponents).all()
        return bool(finite and (positive > 0).all())


class ProgramSolution(NamedTuple):
    """The solution of one P′."""

    objective: float
    point: Point
    solver: str


class Layout:
    """The columns of each variable and the rows of each monomial in the stacked arrays."""

    def __init__(self, constants: ProgramConstants, at: Point) -> None:
        n, row, column = len(constants), 0, 0
        self.columns: dict[str, Any] = {}
        for name in (*DEVICE_VARIABLES, *SERVER_VARIABLES):
            width = n if name in DEVICE_VARIABLES else 1
            self.columns[name] = np.arange(column, column + width)
            column += width
        self.rows: dict[str, Any] = {}
        entries = []
        for letter, monomial in _monomials(constants, at).items():
            height = len(monomial.coefficient)
            self.rows[letter] = np.arange(row, row + height)
            entries += [self._entries(letter, name) for name in monomial.powers]
            row += height
        self.shape = (row, column)
        self.entries = np.unique(np.concatenate(entries, axis=1), axis=1)

    def _entries(self, letter: str, name: str) -> Any:
        return np.stack(np.broadcast_arrays(self.rows[letter], self.columns[name]))

    def exponents_of(self, name: str, power: Array) -> Array:
        """Return the rows that raise each device's variable to its own power."""
        exponents = np.zeros((len(power), self.shape[1]))
        exponents[np.arange(len(power)), self.columns[name]] = power
        return exponents

    def numbers(self, constants: ProgramConstants, at: Point) -> ProgramNumbers:
        """Approximate every posynomial around an iterate."""
        coefficient, exponents = np.ones(self.shape[0]), np.zeros(self.shape)
        for letter, monomial in _monomials(constants, at).items():
            coefficient[self.rows[letter]] = monomial.coefficient
            for name, power in monomial.powers.items():
                exponents[tuple(self._entries(letter, name))] = power
        return ProgramNumbers(coefficient, exponents, drift_factor(constants, at))


def _monomials(constants: ProgramConstants, at: Point) -> dict[str, Monomial]:
    return {letter: condense(terms, at) for letter, terms in posynomials(constants, at).items()}


class GeometricProgram:
    """P′ of one round; `solve` gives the next iterate.

    With `settings.rebuild` the CVXPY `problem` is made anew in every `solve`, and None before.
    """

    def __init__(self, constants: ProgramConstants, at: Point) -> None:
        self.constants = constants
        self.layout = Layout(constants, at)
        self._parameters: tuple[Any, Any, Any] | None = None
        self.variables: dict[str, Any] = {}
        self.problem: Any = None
        self._last_objective = np.inf
        if not constants.settings.rebuild:
            self._parameters = (
                cp.Parameter(self.layout.shape[0], pos=True),
                cp.Parameter(self.layout.shape, sparsity=tuple(self.layout.entries)),
                cp.Parameter(len(constants), pos=True),
            )
            self.variables, self.problem = _compose(constants, self.layout, *self._parameters)

    def solve(self, at: Point) -> ProgramSolution | None:
        """Solve P′ around the iterate `at`; return None if every solver failed."""
        with warnings.catch_warnings():
            # CVXPY warns about sparse parameters, and about inaccurate solutions (judged below)
            warnings.simplefilter("ignore")
            return self._solve(at)

    def _solve(self, at: Point) -> ProgramSolution | None:
        numbers = self.layout.numbers(self.constants, at)
        if not numbers.usable():
            return None
        if self._parameters is None:
            self.variables, self.problem = _compose(self.constants, self.layout, *numbers)
        else:
            for parameter, value in zip(self._parameters, numbers, strict=True):
                parameter.value = value
        for solver in self.constants.settings.solvers:
            for options in _ATTEMPTS.get(solver, [{}]):
                solution = self._attempt(solver, options)
                if solution is not None:
                    self._last_objective = solution.objective
                    return solution
        return None

    def _attempt(self, solver: str, options: dict[str, Any]) -> ProgramSolution | None:
        try:
            self.problem.solve(gp=True, solver=solver, **options)
        except (cp.error.SolverError, ArithmeticError, ValueError):
            return None
        status, objective = self.problem.status, self.problem.value
        if status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
            return None
        # the last iterate is feasible here, so only a failure can be much worse
        if status == cp.OPTIMAL_INACCURATE and objective > 2 * self._last_objective:
            return None
        lower, upper = self.constants.lower, self.constants.upper
        point = {
            name: np.clip(v.value, lower[name], upper.get(name, np.inf))
            for name, v in self.variables.items()
        }
        if not all(np.isfinite(v).all() for v in point.values()):
            return None
        return ProgramSolution(float(objective), point, solver)


# In what follows `v` holds the variables and `hat` the monomial approximations, by name.
Expressions = Mapping[str, Any]


def _compose(
    constants: ProgramConstants, layout: Layout, coefficient: Any, exponents: Any, drift: Any
) -> tuple[dict[str, Any], Any]:
    n = len(constants)
    stacked = cp.Variable(layout.shape[1], pos=True)
    v: dict[str, Any] = {}
    for name, columns in layout.columns.items():
        per_device = name in DEVICE_VARIABLES
        v[name] = stacked[columns[0] : columns[-1] + 1] if per_device else stacked[columns[0]]
    monomials = cp.multiply(coefficient, cp.gmatmul(exponents, stacked))
    hat = {letter: monomials[rows[0] : rows[-1] + 1] for letter, rows in layout.rows.items()}
    # σ²·η^eff·G and E^Tx once each: their upper bounds are tight wherever they matter
    loss, energy = cp.Variable(n, pos=True), cp.Variable(n, pos=True)
    spreading = cp.gmatmul(layout.exponents_of("distance_sq", constants.half_exponent), stacked)
    constraints = [
        *_link_constraints(constants, v, hat, spreading, loss, energy),
        *_los_constraints(constants, v, hat),
        *_server_constraints(constants, v, hat),
        *_device_constraints(constants, v, hat, energy),
        *(v[name] >= bound for name, bound in constants.lower.items()),
        *(v[name] <= bound for name, bound in constants.upper.items()),
    ]
    terms = _objective_terms(constants, v, hat, energy, drift)
    objective = reduce(add, (cp.sum(term) for term in terms))  # quicker to compile than one sum
    return v, cp.Problem(cp.Minimize(objective), constraints)


def _objective_terms(
    constants: ProgramConstants, v: Expressions, hat: Expressions, energy: Any, drift: Any
) -> list[Any]:
    """Return the summands of app_eq:prob_prime."""
    problem, settings = constants.problem, constants.settings
    weights, movement, learning = problem.weights, problem.movement, problem.learning
    importance = _positive(weights.convergence * problem.importance)
    initial = _positive(learning.initial_loss / (learning.rounds * len(constants)) * importance)
    joule = _positive(weights.processing * constants.cycles * problem.capacitance / 2)
    hover, climb, lateral = (
        float(_positive(weights.movement * rate))
        for rate in (movement.hover_j, movement.climb_j, movement.lateral_j_per_m)
    )
    height_matters = np.isfinite(movement.altitude_scale_m)
    climbs_by_metre = weights.movement * movement.rise_j_per_m > 0
    slack = float(_positive(settings.penalty))
    idle = slack if settings.link_penalty is None else float(_positive(settings.link_penalty))
    slacks = ("distance_sq", "height", "los_slack", "los", "nlos")
    return [
        # app_eq:xi_P'
        cp.multiply(initial, hat["A"] ** -1),
        cp.multiply(importance, cp.multiply(drift, v["iterations"] ** 2 / hat["A"])),
        # the main text's α E^Tx, which app_eq:obj_fxn_1 drops
        float(_positive(weights.transmission)) * cp.multiply(v["active"], energy),
        # app_eq:e_P_n_P'
        cp.multiply(joule, cp.multiply(v["iterations"], v["cpu"] ** 2)),
        # app_eq:e_M_S_P', the altitude divided by its scale
        hover * cp.exp(v["z"] / movement.altitude_scale_m) if height_matters else hover,
        climb * v["climb"],
        lateral * v["lateral_sq"] ** 0.5,
        *(slack * v[name] for name in slacks),
        idle * v["idle_iterations"],
        slack * v["lateral_sq"],
        slack * v["climb_slack"],
        *([weights.movement * movement.rise_j_per_m * v["z"]] if climbs_by_metre else []),
    ]


def _link_constraints(
    constants: ProgramConstants,
    v: Expressions,
    hat: Expressions,
    spreading: Any,
    loss: Any,
    energy: Any,
) -> list[Any]:
    problem = constants.problem
    origin_sq = _positive((problem.position_m**2).sum(axis=1))
    los_loss, nlos_loss = constants.los_loss, constants.nlos_loss
    excess = cp.multiply(los_loss, v["los"]) + cp.multiply(nlos_loss, v["nlos"])
    bits = _positive(2 * problem.payload_bits * np.log(2.0))
    numerator = cp.multiply(loss, 3 * loss + 2 * v["power"])
    return [
        # app_eq:chi_D_con_P'
        (v["x"] ** 2 + v["y"] ** 2 + v["z"] ** 2 + origin_sq) / hat["D"] <= 1,
        cp.multiply(excess, spreading) / loss <= 1,
        # app_eq:final_E_r_Tx
        cp.multiply(bits, numerator) / cp.multiply(hat["T"], energy) <= 1,
    ]


def _los_constraints(constants: ProgramConstants, v: Expressions, hat: Expressions) -> list[Any]:
    sine = v["height"] / v["distance_sq"] ** 0.5
    slope, scale = constants.los_slope, constants.los_scale
    angle = cp.multiply(slope, sine) + cp.multiply(slope / 6, sine**3)
    heights = _positive(constants.problem.position_m[:, 2])
    return [
        v["z"] / hat["D+"] <= 1,  # app_eq:abs_arcsin_pos_con_P'
        heights / hat["D-"] <= 1,  # app_eq:abs_arcsin_neg_con_P'
        (v["los_slack"] + constants.los_offset) / hat["Q+"] <= 1,  # app_eq:LoS_prob_internal_con_P'
        (v["los_exponential"] + angle) / hat["Q-"] <= 1,  # app_eq:NLoS_prob_internal_con_P'
        hat["R_LoS"] >= 1,  # app_eq:LoS_prob_ovr_con_P'
        # app_eq:NLoS_prob_ovr_con_P'
        cp.multiply(scale, v["los_exponential"]) / hat["R_NLoS"] <= 1,
    ]


def _server_constraints(constants: ProgramConstants, v: Expressions, hat: Expressions) -> list[Any]:
    before, ceiling = constants.problem.server_m, constants.problem.ceiling_m
    origin_sq = float(_positive(before[0] ** 2 + before[1] ** 2))
    return [
        (origin_sq + v["x"] ** 2 + v["y"] ** 2) / hat["L"] <= 1,  # app_eq:chi_L_con_P'
        (v["climb_slack"] + v["climb"] + 1) / hat["E-"] <= 1,  # app_eq:chi_A_con_P'
        v["climb_factor"] / hat["E+"] <= 1,  # app_eq:chi_E_con_P'
        (ceiling + v["climb_factor"] * v["z"]) / hat["O"] <= 1,  # app_eq:chi_E_con_P'2
    ]


def _device_constraints(
    constants: ProgramConstants, v: Expressions, hat: Expressions, energy: Any
) -> list[Any]:
    problem = constants.problem
    load = constants.cycles / problem.learning.compute_deadline_s
    return [
        v["iterations"] / hat["X"] <= 1,  # app_eq:tilde_X_con_P'
        # app_eq:time_con1_P'
        cp.multiply(v["active"], energy) / v["power"] <= problem.max_delay_s,
        cp.multiply(load, v["iterations"]) / v["cpu"] <= 1,  # app_eq:dev_process_P'
    ]


def _positive(value: Any) -> Any:
    return np.maximum(value, FAINT)
