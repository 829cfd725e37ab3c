"""The registry of local optimisers, and which of them can step in one batch."""

from __future__ import annotations

from collections.abc import Iterable

from scdn.learning.local_optimizers.momentum import LocalMomentum
from scdn.learning.local_optimizers.optimizer_base import LocalOptimizer
from scdn.learning.local_optimizers.proximal import LocalProximal
from scdn.learning.local_optimizers.sgd import LocalSgd
from scdn.registry import Registry

LOCAL_OPTIMIZERS: Registry[type[LocalOptimizer]] = Registry(
    "optimizer", LocalOptimizer, of_classes=True
)


def register_local_optimizer(optimizer: type[LocalOptimizer]) -> type[LocalOptimizer]:
    """Register an optimiser under its `name`; may decorate the class."""
    return LOCAL_OPTIMIZERS.register(optimizer.name, optimizer)


def local_optimizer(name: str) -> type[LocalOptimizer]:
    """Return the optimiser of this name, or the class that `package.module:NAME` names."""
    return LOCAL_OPTIMIZERS.get(name)


for _built_in in (LocalSgd, LocalProximal, LocalMomentum):
    register_local_optimizer(_built_in)


class _ProximalMomentum(LocalMomentum, LocalProximal):
    """v ← ρ·v + g + μ·(θ − θ₀): equals each of the paper's three where μ = 0 or ρ = 0."""


def batch_key(name: str) -> type[LocalOptimizer]:
    """Return a key that is equal for optimisers that can step in one batch."""
    optimizer = local_optimizer(name)
    return LocalSgd if optimizer in (LocalSgd, LocalProximal, LocalMomentum) else optimizer


def batched_optimizer(names: Iterable[str]) -> type[LocalOptimizer]:
    """Return the class that steps parties with these optimisers, of one batch key, at once.

    The paper's three are special cases of one rule, so a stack that mixes them needs no splitting.
    """
    optimizers = {local_optimizer(name) for name in names}
    for optimizer in (LocalSgd, LocalProximal, LocalMomentum):
        if optimizers <= {LocalSgd, optimizer}:
            return optimizer
    return _ProximalMomentum if LocalMomentum in optimizers else optimizers.pop()
