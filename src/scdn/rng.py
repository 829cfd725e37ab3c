"""Random generators, one per purpose: the same seed gives the same draws, whatever else is drawn.

Nothing in this package seeds globally. A purpose (`"churn"`, `"fading"`, …) and any indices (a
round, a device) name a stream of its own, so that leaving one draw out never shifts another.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np


def generator(seed: int, purpose: str, *indices: int) -> np.random.Generator:
    """The generator for `purpose` in the run with this `seed`."""
    name = int.from_bytes(blake2b(purpose.encode(), digest_size=8).digest(), "big")
    return np.random.default_rng(np.random.SeedSequence((seed, name, *indices)))
