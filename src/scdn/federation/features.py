"""A device's own features: read here, aligned by key, never sent."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scdn.data.alignment import texts
from scdn.data.frames import need_columns, numbers, read_frame
from scdn.data.scaling import How, Scaling
from scdn.errors import InputError, input_error
from scdn.federation.messages import DIGEST
from scdn.federation.wire import WireError
from scdn.learning.features import Rows
from scdn.learning.split import Shape, View
from scdn.learning.tensors import Place
from scdn.npz import read_npz

SHARED = "columns"  # an array that only files of `share_out` have


def digests(keys: list[str], salt: str) -> NDArray[np.uint8]:
    """Keys hashed with a run's salt: equal keys meet, others say nothing to who lacks them."""
    secret = salt.encode()[:64]
    raw = b"".join(blake2b(k.encode(), digest_size=DIGEST, key=secret).digest() for k in keys)
    return np.frombuffer(raw, np.uint8).reshape(-1, DIGEST)


@dataclass(frozen=True, eq=False)
class Features:
    """A device's rows: a key and the values of each, and what the columns are."""

    source: str
    keys: list[str]
    values: NDArray[Any]  # (rows, columns)
    view: View  # which columns of the whole these are; a device of its own has its own whole
    whole: Shape
    scaled: bool
    left_out: tuple[str, ...] = ()  # lines about rows that cannot be used

    def rows(
        self, train: NDArray[np.uint8], test: NDArray[np.uint8], salt: str, how: How, place: Place
    ) -> Rows:
        """The rows with these hashed keys, in their order, scaled by the training rows."""
        place_of = {row.tobytes(): n for n, row in enumerate(digests(self.keys, salt))}
        try:
            parts = [[place_of[key.tobytes()] for key in keys] for keys in (train, test)]
        except KeyError:
            raise WireError("asked for rows that are not here") from None
        first, second = (self.values[order] for order in parts)
        dtype = np.float64 if place.precision == "float64" else np.float32
        if not self.scaled:
            scaling = Scaling.fit(first, how)
            first, second = scaling.apply(first, dtype), scaling.apply(second, dtype)
        modality = self.view.modality
        return Rows(
            {
                "train": {modality: place.tensor(first.astype(dtype))},
                "test": {modality: place.tensor(second.astype(dtype))},
            },
            {},
        )


def read_features(path: Path, key: str | None) -> Features:
    """The features in a `.csv`, `.parquet` or `.npz` file; `key` names the column of keys."""
    if path.suffix.lower() == ".npz":
        try:
            arrays = read_npz(path)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise input_error(
                str(path), "file", f"cannot be read ({reason})", "must be whole"
            ) from None
        if SHARED in arrays:
            return _shared(path, arrays)
    if key is None:
        raise input_error(
            "scdn", "--key", "is missing", "must name the column that all files share"
        )
    frame = read_frame(path, text=[key])
    need_columns(frame, [key], str(path))
    keys = texts(frame[key])
    clear = (keys.notna() & ~keys.duplicated(keep=False)).to_numpy()
    columns = [column for column in frame.columns if column != key]
    if not columns or not clear.any():
        raise input_error(str(path), "file", "has no features with a clear key", "needs some")
    values = numbers(frame, columns, str(path))[clear]
    lines = []
    if not clear.all():
        lines.append(f"{(~clear).sum()} rows without a key, or with one that stands twice")
    width = len(columns)
    view = View("table", np.arange(width), np.ones(width, bool), (width,))
    found = keys[clear].astype(str).tolist()
    return Features(str(path), found, values, view, (width,), False, tuple(lines))


def _shared(path: Path, arrays: dict[str, NDArray[Any]]) -> Features:
    """A file that `share_out` made."""
    try:
        columns, shape = arrays["columns"], tuple(int(n) for n in arrays["shape"])
        view = View(str(arrays["modality"]), columns, np.ones(len(columns), bool), shape)
        whole = tuple(int(n) for n in arrays["whole"])
        values = arrays["values"]
        if values.ndim != 2 or values.shape[1] != len(columns) or not np.isfinite(values).all():
            raise ValueError("values")
        keys = [str(key) for key in arrays["key"]]
        return Features(str(path), keys, values, view, whole, True)
    except (KeyError, ValueError, InputError) as error:
        raise input_error(
            str(path), "file", f"is damaged ({error})", "must be as it was made"
        ) from None
