"""The paper's coefficients, conditions and bounds as functions. Depends on nothing."""

from scdn.theory.conditions import MOMENTUM_LIMIT, learning_rate_limit
from scdn.theory.optimizers import (
    MOMENTUM,
    PROXIMAL,
    SGD,
    StepWeights,
    momentum,
    proximal,
    sgd,
    step_weights,
)

__all__ = [
    "MOMENTUM",
    "MOMENTUM_LIMIT",
    "PROXIMAL",
    "SGD",
    "StepWeights",
    "learning_rate_limit",
    "momentum",
    "proximal",
    "sgd",
    "step_weights",
]
