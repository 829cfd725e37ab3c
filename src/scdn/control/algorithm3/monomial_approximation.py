"""Monomial approximations of posynomials: condensation by the AM-GM inequality.

A geometric program may not divide by a sum. The paper replaces every such sum by the monomial that
equals it at the previous iterate and is below it everywhere else (Lemma `thm:am-gm`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, floats

Point = Mapping[str, Array]  # a value for every variable: one number, or one per device


class Term(NamedTuple):
    """One monomial u_m of a posynomial, in one row per device: coefficient · Π variable^power."""

    coefficient: ArrayLike
    powers: Mapping[str, ArrayLike]


class Monomial(NamedTuple):
    """A condensed posynomial; coefficient and powers have one entry per row."""

    coefficient: Array
    powers: dict[str, Array]


def condense(terms: Sequence[Term], point: Point) -> Monomial:
    """Return ĥ = Π (u_m/γ_m)^γ_m with γ_m = u_m/h at `point`: ĥ ≤ h, with equality at `point`."""
    logs = _logs(terms, point)
    log_total = np.logaddexp.reduce(logs, axis=0)
    fractions = np.exp(logs - log_total)  # γ_m; 0 where a coefficient is 0, whose term drops out
    # log of Π (c_m/γ_m)^γ_m, where the variables are in γ_m = c_m Π x^p / h
    constant = log_total.copy()
    powers: dict[str, Array] = {}
    for term, fraction in zip(terms, fractions, strict=True):
        for name, power in term.powers.items():
            exponent = fraction * floats(power)
            powers[name] = powers.get(name, np.zeros_like(fraction)) + exponent
            constant = constant - exponent * np.log(point[name])
    return Monomial(np.exp(constant), powers)


def _logs(terms: Sequence[Term], point: Point) -> Array:
    """Return log u_m at a point, (terms, rows); −∞ for a coefficient of 0."""
    rows = []
    with np.errstate(divide="ignore"):
        for term in terms:
            log = np.log(floats(term.coefficient))
            for name, power in term.powers.items():
                log = log + np.asarray(power) * np.log(point[name])
            rows.append(np.atleast_1d(log))
    return np.stack(np.broadcast_arrays(*rows))
