"""Predictions as a table: the key, the prediction, probabilities, and who was missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from scdn.arrays import IntArray, Mask
from scdn.data.input_format import InputFormat
from scdn.errors import Fault, InputError, input_error
from scdn.learning.inference import FusionInference
from scdn.learning.metrics import MAX_TOP

if TYPE_CHECKING:
    import pandas as pd

PREDICTION, MISSING = "prediction", "missing"
PROBABILITY = "probability_"  # of a class, before its name
_LISTED = 5  # faulty rows that are listed; the others are only counted


def prediction_table(
    outputs: Tensor,
    absent: Mapping[str, Mask],
    never: Sequence[str],
    form: InputFormat,
    inference: FusionInference,
    keys: Mapping[str, NDArray[Any]],
) -> pd.DataFrame:
    """Return predictions from outputs of the fusion model.

    `absent` says by party for which rows it was imputed, `never` who was for all of them; `keys`
    is the key column by its name, if there is one.
    """
    import pandas as pd

    columns: dict[str, object] = dict(keys)
    outputs = outputs.cpu()
    if form.task == "classification":
        classes = np.array(form.classes, object)
        likeliest = outputs.topk(min(MAX_TOP, outputs.shape[1]), dim=1).indices[:, 0]
        probabilities = outputs.double().softmax(1).numpy()
        columns[PREDICTION] = classes[likeliest.numpy()]
        columns |= {
            f"{PROBABILITY}{name}": probabilities[:, number]
            for number, name in enumerate(form.classes)
        }
    else:
        columns[PREDICTION] = outputs[:, 0].numpy()
    members = inference.server.fusion.members
    away = np.zeros((len(outputs), len(members)), bool)
    for number, name in enumerate(members):
        away[:, number] = True if name in never else absent.get(name, False)
    kinds, kind_of_row = np.unique(away, axis=0, return_inverse=True)
    texts = [
        " ".join(name for name, is_away in zip(members, kind, strict=True) if is_away)
        for kind in kinds
    ]
    columns[MISSING] = np.array(texts, object)[kind_of_row]
    return pd.DataFrame(columns)


def check_key_name(key: str, source: str) -> None:
    """Refuse a key column that is called like one of the table's."""
    if key in (PREDICTION, MISSING) or key.startswith(PROBABILITY):
        raise input_error(source, key, "is a column of the answer", "rename it")


def check_outputs(outputs: Tensor, source: str) -> None:
    """Refuse rows whose outputs are not finite."""
    too_large = np.flatnonzero(~outputs.isfinite().all(1).cpu().numpy())
    refuse_rows(too_large, source, "has values that are too large", "must be as measured")


def refuse_rows(numbers: IntArray, source: str, fault: str, allowed: str) -> None:
    """Refuse rows, if there are any, with a line for each of the first."""
    faults = [Fault(f"row {row + 1}", fault, allowed) for row in numbers[:_LISTED]]
    if len(numbers) > _LISTED:
        faults.append(Fault("rows", f"{len(numbers) - _LISTED} more like these", allowed))
    if faults:
        raise InputError(source, faults)
