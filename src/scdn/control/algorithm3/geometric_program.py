"""The paper's geometric program P′ as a CVXPY problem in DGP form.

The condensed denominators enter as coefficients and exponents. As `cp.Parameter` they let one
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
from scdn.control.algorithm3.gp_model import (
    DEVICE,
    FAINT,
    SERVER,
    ProgramConstants,
    denominators,
    drift,
)
from scdn.control.algorithm3.monomial_approximation import Monomial, Point, condense
from scdn.errors import require_package

require_package("cvxpy", "paper", "the paper's solver")
cp: Any = import_module("cvxpy")  # its annotations do not cover its atoms

# What is tried in turn: shorter steps or more regularisation are slower, but fail less often where
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


class Tangent(NamedTuple):
    """P′ around one iterate, as numbers: monomials c·Π x^e stacked in rows, and ξ's τ² factor."""

    coefficient: Array  # (M,)
    exponents: Array  # (M, V)
    drift: Array  # (N,)

    def usable(self) -> bool:
        """Whether no number went beyond what a float can hold."""
        positive = np.concatenate([self.coefficient, self.drift])
        finite = np.isfinite(positive).all() and np.isfinite(self.exponents).all()
        return bool(finite and (positive > 0).all())


class Layout:
    """Where each variable and each condensed denominator stands in the stacked arrays."""

    def __init__(self, given: ProgramConstants, at: Point) -> None:
        n, row, column = len(given), 0, 0
        self.columns: dict[str, Any] = {}
        for name in (*DEVICE, *SERVER):
            width = n if name in DEVICE else 1
            self.columns[name] = np.arange(column, column + width)
            column += width
        self.rows: dict[str, Any] = {}
        entries = []
        for letter, monomial in _condensed(given, at).items():
            height = len(monomial.coefficient)
            self.rows[letter] = np.arange(row, row + height)
            entries += [self._entries(letter, name) for name in monomial.powers]
            row += height
        self.shape = (row, column)
        self.entries = np.unique(np.concatenate(entries, axis=1), axis=1)

    def _entries(self, letter: str, name: str) -> Any:
        return np.stack(np.broadcast_arrays(self.rows[letter], self.columns[name]))

    def exponents_of(self, name: str, power: Array) -> Array:
        """The rows that raise each device's variable to its own power."""
        exponents = np.zeros((len(power), self.shape[1]))
        exponents[np.arange(len(power)), self.columns[name]] = power
        return exponents

    def tangent(self, given: ProgramConstants, at: Point) -> Tangent:
        """Every condensation at an iterate."""
        coefficient, exponents = np.ones(self.shape[0]), np.zeros(self.shape)
        for letter, monomial in _condensed(given, at).items():
            coefficient[self.rows[letter]] = monomial.coefficient
            for name, power in monomial.powers.items():
                exponents[tuple(self._entries(letter, name))] = power
        return Tangent(coefficient, exponents, drift(given, at))


def _condensed(given: ProgramConstants, at: Point) -> dict[str, Monomial]:
    return {letter: condense(terms, at) for letter, terms in denominators(given, at).items()}


class GeometricProgram:
    """P′ of one round; `solve` gives the next iterate.

    `problem` is None until the first `solve` where it is to be rebuilt each time.
    """

    def __init__(self, given: ProgramConstants, at: Point) -> None:
        self.given = given
        self.layout = Layout(given, at)
        self._parameters: tuple[Any, Any, Any] | None = None
        self.variables: dict[str, Any] = {}
        self.problem: Any = None
        self._last = np.inf  # objective of the last iterate
        if not given.settings.rebuild:
            self._parameters = (
                cp.Parameter(self.layout.shape[0], pos=True),
                cp.Parameter(self.layout.shape, sparsity=tuple(self.layout.entries)),
                cp.Parameter(len(given), pos=True),
            )
            self.variables, self.problem = compose(given, self.layout, *self._parameters)

    def solve(self, at: Point) -> tuple[float, Point, str] | None:
        """Objective, iterate and solver's name around `at`; None if every solver failed."""
        with warnings.catch_warnings():
            # CVXPY warns of its own reading of sparse parameters, and of answers judged below
            warnings.simplefilter("ignore")
            return self._solve(at)

    def _solve(self, at: Point) -> tuple[float, Point, str] | None:
        tangent = self.layout.tangent(self.given, at)
        if not tangent.usable():
            return None
        if self._parameters is None:
            self.variables, self.problem = compose(self.given, self.layout, *tangent)
        else:
            for parameter, number in zip(self._parameters, tangent, strict=True):
                parameter.value = number
        for solver in self.given.settings.solvers:
            for options in _ATTEMPTS.get(solver, [{}]):
                found = self._try(solver, options)
                if found is not None:
                    self._last = found[0]
                    return (*found, solver)
        return None

    def _try(self, solver: str, options: dict[str, Any]) -> tuple[float, Point] | None:
        try:
            self.problem.solve(gp=True, solver=solver, **options)
        except (cp.error.SolverError, ArithmeticError, ValueError):
            return None
        if self.problem.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
            return None
        # the last iterate is feasible here, so only a failure can be much worse
        if self.problem.status == cp.OPTIMAL_INACCURATE and self.problem.value > 2 * self._last:
            return None
        lower, upper = self.given.lower, self.given.upper
        point = {
            name: np.clip(v.value, lower[name], upper.get(name, np.inf))
            for name, v in self.variables.items()
        }
        if not all(np.isfinite(v).all() for v in point.values()):
            return None
        return float(self.problem.value), point


def compose(
    given: ProgramConstants, layout: Layout, coefficient: Any, exponents: Any, drift_: Any
) -> tuple[dict[str, Any], Any]:
    """P′ with its condensed denominators: the variables and the problem."""
    n = len(given)
    stacked = cp.Variable(layout.shape[1], pos=True)
    v: dict[str, Any] = {}
    for name, columns in layout.columns.items():
        v[name] = stacked[columns[0] : columns[-1] + 1] if name in DEVICE else stacked[columns[0]]
    every = cp.multiply(coefficient, cp.gmatmul(exponents, stacked))
    hat = {letter: every[rows[0] : rows[-1] + 1] for letter, rows in layout.rows.items()}
    # σ²·η^eff·G and E^Tx once each: their upper bounds are tight wherever they matter
    loss, energy = cp.Variable(n, pos=True), cp.Variable(n, pos=True)
    reach = cp.gmatmul(layout.exponents_of("distance_sq", given.half_exponent), stacked)
    constraints = [
        *_link(given, v, hat, reach, loss, energy),
        *_sight(given, v, hat),
        *_server(given, v, hat),
        *_device(given, v, hat, energy),
        *(v[name] >= bound for name, bound in given.lower.items()),
        *(v[name] <= bound for name, bound in given.upper.items()),
    ]
    terms = _objective(given, v, hat, energy, drift_)
    objective = reduce(add, (cp.sum(term) for term in terms))  # quicker to compile than one sum
    return v, cp.Problem(cp.Minimize(objective), constraints)


def _objective(
    given: ProgramConstants, v: Mapping[str, Any], hat: Mapping[str, Any], energy: Any, drift_: Any
) -> list[Any]:
    """The summands of app_eq:prob_prime."""
    problem, settings = given.problem, given.settings
    weights, movement, learning = problem.weights, problem.movement, problem.learning
    importance = _positive(weights.convergence * problem.importance)
    first = _positive(learning.initial_loss / (learning.rounds * len(given)) * importance)
    joule = _positive(weights.processing * given.cycles * problem.capacitance / 2)
    hover, climb, lateral = (
        float(_positive(weights.movement * rate))
        for rate in (movement.hover_j, movement.climb_j, movement.lateral_j_per_m)
    )
    slack = float(_positive(settings.penalty))
    idle = slack if settings.link_penalty is None else float(_positive(settings.link_penalty))
    slacks = ("distance_sq", "height", "sight_slack", "sight", "no_sight")
    return [
        # app_eq:xi_P'
        cp.multiply(first, hat["A"] ** -1),
        cp.multiply(importance, cp.multiply(drift_, v["iterations"] ** 2 / hat["A"])),
        # the main text's α E^Tx, which app_eq:obj_fxn_1 drops
        float(_positive(weights.transmission)) * cp.multiply(v["active"], energy),
        # app_eq:e_P_n_P'
        cp.multiply(joule, cp.multiply(v["iterations"], v["cpu"] ** 2)),
        # app_eq:e_M_S_P', the altitude divided by its scale
        hover * cp.exp(v["z"] / movement.altitude_scale_m),
        climb * v["climb"],
        lateral * v["lateral_sq"] ** 0.5,
        *(slack * v[name] for name in slacks),
        idle * v["idle"],
        slack * v["lateral_sq"],
        slack * v["climb_slack"],
    ]


def _link(
    given: ProgramConstants,
    v: Mapping[str, Any],
    hat: Mapping[str, Any],
    reach: Any,
    loss: Any,
    energy: Any,
) -> list[Any]:
    """Distance, path loss and transmission energy of every device."""
    problem = given.problem
    own = _positive((problem.position_m**2).sum(axis=1))
    excess = cp.multiply(given.los, v["sight"]) + cp.multiply(given.nlos, v["no_sight"])
    bits = _positive(2 * problem.payload_bits * np.log(2.0))
    sent = cp.multiply(loss, 3 * loss + 2 * v["power"])
    return [
        # app_eq:chi_D_con_P'
        (v["x"] ** 2 + v["y"] ** 2 + v["z"] ** 2 + own) / hat["D"] <= 1,
        cp.multiply(excess, reach) / loss <= 1,
        # app_eq:final_E_r_Tx
        cp.multiply(bits, sent) / cp.multiply(hat["T"], energy) <= 1,
    ]


def _sight(given: ProgramConstants, v: Mapping[str, Any], hat: Mapping[str, Any]) -> list[Any]:
    """Elevation and probability of line of sight of every device."""
    sine = v["height"] / v["distance_sq"] ** 0.5
    angle = cp.multiply(given.slope, sine) + cp.multiply(given.slope / 6, sine**3)
    return [
        v["z"] / hat["D+"] <= 1,  # app_eq:abs_arcsin_pos_con_P'
        _positive(given.problem.position_m[:, 2]) / hat["D-"] <= 1,  # app_eq:abs_arcsin_neg_con_P'
        (v["sight_slack"] + given.knee) / hat["Q+"] <= 1,  # app_eq:LoS_prob_internal_con_P'
        (v["blocked"] + angle) / hat["Q-"] <= 1,  # app_eq:NLoS_prob_internal_con_P'
        hat["R_LoS"] >= 1,  # app_eq:LoS_prob_ovr_con_P'
        cp.multiply(given.scale, v["blocked"]) / hat["R_NLoS"] <= 1,  # app_eq:NLoS_prob_ovr_con_P'
    ]


def _server(given: ProgramConstants, v: Mapping[str, Any], hat: Mapping[str, Any]) -> list[Any]:
    """The server's move."""
    before, ceiling = given.problem.server_m, given.problem.ceiling_m
    origin = float(_positive(before[0] ** 2 + before[1] ** 2))
    return [
        (origin + v["x"] ** 2 + v["y"] ** 2) / hat["L"] <= 1,  # app_eq:chi_L_con_P'
        (v["climb_slack"] + v["climb"] + 1) / hat["E-"] <= 1,  # app_eq:chi_A_con_P'
        v["climb_factor"] / hat["E+"] <= 1,  # app_eq:chi_E_con_P'
        (ceiling + v["climb_factor"] * v["z"]) / hat["O"] <= 1,  # app_eq:chi_E_con_P'2
    ]


def _device(
    given: ProgramConstants, v: Mapping[str, Any], hat: Mapping[str, Any], energy: Any
) -> list[Any]:
    """Who is active, and what the clock must carry."""
    problem = given.problem
    load = given.cycles / problem.learning.compute_deadline_s
    return [
        v["iterations"] / hat["X"] <= 1,  # app_eq:tilde_X_con_P'
        # app_eq:time_con1_P'
        cp.multiply(v["active"], energy) / v["power"] <= problem.max_delay_s,
        cp.multiply(load, v["iterations"]) / v["cpu"] <= 1,  # app_eq:dev_process_P'
    ]


def _positive(value: Any) -> Any:
    return np.maximum(value, FAINT)
