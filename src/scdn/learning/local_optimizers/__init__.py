"""Local optimisers: how parties turn gradients into steps within a round, one file for each.

After q steps, each of the paper's three has moved a party's parameters by −η·Σ w_j·g_j with the
weights w_j of `scdn.theory`. `LocalOptimizer` tells how to add one of your own.
"""

from scdn.learning.local_optimizers.local_steps import NO_STEPS, LocalSteps, halved_rate
from scdn.learning.local_optimizers.momentum import LocalMomentum
from scdn.learning.local_optimizers.optimizer_base import LocalOptimizer
from scdn.learning.local_optimizers.optimizer_registry import (
    LOCAL_OPTIMIZERS,
    batch_key,
    batched_optimizer,
    local_optimizer,
    register_local_optimizer,
)
from scdn.learning.local_optimizers.proximal import LocalProximal
from scdn.learning.local_optimizers.sgd import LocalSgd

__all__ = [
    "LOCAL_OPTIMIZERS",
    "NO_STEPS",
    "LocalMomentum",
    "LocalOptimizer",
    "LocalProximal",
    "LocalSgd",
    "LocalSteps",
    "batch_key",
    "batched_optimizer",
    "halved_rate",
    "local_optimizer",
    "register_local_optimizer",
]
