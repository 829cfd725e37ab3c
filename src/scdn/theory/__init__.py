"""The paper's coefficients, conditions and bounds as functions; imports no other package."""

from scdn.theory.bounds import drift, lemma_1, progress, proposition_1_log, theorem_1
from scdn.theory.step_weights import (
    MOMENTUM,
    PROXIMAL,
    SGD,
    StepWeights,
    momentum,
    proximal,
    sgd,
    step_weights,
)
from scdn.theory.theorem_1_conditions import MOMENTUM_LIMIT, learning_rate_limit

__all__ = [
    "MOMENTUM",
    "MOMENTUM_LIMIT",
    "PROXIMAL",
    "SGD",
    "StepWeights",
    "drift",
    "learning_rate_limit",
    "lemma_1",
    "momentum",
    "progress",
    "proposition_1_log",
    "proximal",
    "sgd",
    "step_weights",
    "theorem_1",
]
