"""Random generators, one per purpose, so that one draw never changes another.

Nothing in this package seeds globally. The run's seed, a purpose (`"churn"`, `"fading"`, …) and
indices (of a round, a device) name a stream; the same names give the same draws in every run.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np


def generator(seed: int, purpose: str, *indices: int) -> np.random.Generator:
    """Return the generator for `purpose` in the run with this `seed`."""
    name = int.from_bytes(blake2b(purpose.encode(), digest_size=8).digest(), "big")
    return np.random.default_rng(np.random.SeedSequence((seed, name, *indices)))
