"""Local optimisers: how parties turn gradients into steps within a round, one file for each.

After q steps, each of the paper's three has moved a party's parameters by −η·Σ w_j·g_j with the
weights w_j of `scdn.theory`. `LocalOptimizer` tells how to add one of your own.
"""

from collections.abc import Iterable

from scdn.learning.local_optimizers.adam import LocalAdam
from scdn.learning.local_optimizers.momentum import LocalMomentum
from scdn.learning.local_optimizers.optimizer_base import (
    NO_STEPS,
    LocalOptimizer,
    LocalSteps,
    halved_rate,
)
from scdn.learning.local_optimizers.proximal import LocalProximal
from scdn.learning.local_optimizers.sgd import LocalSgd
from scdn.registry import Registry

__all__ = ["NO_STEPS", "LocalOptimizer", "LocalSgd", "LocalSteps", "halved_rate"]

LOCAL_OPTIMIZERS: Registry[type[LocalOptimizer]] = Registry(
    "optimizer", LocalOptimizer, of_classes=True
)
register_local_optimizer, local_optimizer = LOCAL_OPTIMIZERS.register, LOCAL_OPTIMIZERS.get

_OF_PAPER = (LocalSgd, LocalProximal, LocalMomentum)
for _optimizer in (*_OF_PAPER, LocalAdam):
    register_local_optimizer(_optimizer)


class _ProximalMomentum(LocalMomentum, LocalProximal):
    """v ← ρ·v + g + μ·(θ − θ₀): equals each of the paper's three where μ = 0 or ρ = 0."""


def batch_key(name: str) -> type[LocalOptimizer]:
    """Return a key that is equal for optimisers that can step in one batch."""
    optimizer = local_optimizer(name)
    return LocalSgd if optimizer in _OF_PAPER else optimizer


def batched_optimizer(names: Iterable[str]) -> type[LocalOptimizer]:
    """Return the class that steps parties with these optimisers, of one batch key, at once.

    The paper's three are special cases of one rule, so a stack that mixes them needs no splitting.
    """
    optimizers = {local_optimizer(name) for name in names}
    for optimizer in _OF_PAPER:
        if optimizers <= {LocalSgd, optimizer}:
            return optimizer
    return _ProximalMomentum if LocalMomentum in optimizers else optimizers.pop()
