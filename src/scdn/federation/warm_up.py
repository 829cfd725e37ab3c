"""Load what a device's first training needs, so that the server does not wait for it."""

from __future__ import annotations

import numpy as np

from scdn.federation.device_client import DeviceClient
from scdn.federation.row_alignment import KeyedFeatures, hash_keys
from scdn.federation.wire_format import Arrays, Frame, encode
from scdn.learning.feature_split import FeatureView
from scdn.rng import generator


def warm_up() -> None:
    """Let a device with a few rows answer the requests of one round."""
    draw = generator(0, "warm-up")
    keys = [str(n) for n in range(8)]
    view = FeatureView("table", np.arange(2), np.ones(2, bool), (2,))
    features = KeyedFeatures(keys, draw.normal(size=(8, 2)), view, (2,), False)
    device = DeviceClient("warm-up", features)
    ids = {"run": "0", "nonce": ""}
    rows, sample = hash_keys(keys, ""), np.arange(4)
    party = {"name": "warm-up", "seed": 0, "task": "classification", "width": 2}
    fields = {**ids, **party, "steps": 1, "label": "", "learning": {"hidden": 2}}
    join: Arrays = {"train": rows[:6], "test": rows[6:], "sample": sample}
    device.answer(encode(Frame("join", fields, join)))
    device.answer(encode(Frame("embed", {**ids, "round": 0, "base": 0, "number_bits": 32})))
    plan = {"steps": 1, "rate": 0.1, "optimizer": "sgd", "optimizer_value": 0.0}
    plan |= {"iterations": 1.0, "power_w": 0.0, "cpu_hz": 0.0}
    round_ = {"round": 0, "base": 0, "state": 1, "step_length": 1.0, "table_part": None}
    gradients = {"gradients": np.zeros((5, 2)), "sample_gradients": np.zeros((4, 2))}
    device.answer(encode(Frame("train", {**ids, **round_, **plan}, gradients)))
