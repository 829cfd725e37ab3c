"""What the command asks the server's process to collect from devices, and what it got: two files.

Flower runs the part of the server that talks to devices in a process of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scdn.arrays import IntArray
from scdn.file_io import to_json
from scdn.npz import read_npz, write_npz

_REQUEST, _ANSWER = "request.npz", "answer.npz"
_VALUES = ("run", "salt", "devices", "states", "width", "deadline")


@dataclass(frozen=True, eq=False)
class PredictionRequest:
    """Rows of which devices are asked for embeddings.

    Attributes
    ----------
    run, salt, devices
        As the run's checkpoint has them: `devices` by party.
    states
        By party that is present and was heard: the number of the model state to use.
    width
        The numbers of an embedding.
    deadline
        When the answer is due, in seconds since 1970.
    keys
        The rows' hashed keys.
    """

    run: str
    salt: str
    devices: Mapping[str, str]
    states: Mapping[str, int]
    width: int
    deadline: float
    keys: NDArray[np.uint8]

    def save(self, folder: Path) -> None:
        """Write the request to a folder."""
        values = to_json({name: getattr(self, name) for name in _VALUES}, indent=None)
        write_npz(folder / _REQUEST, values=np.array(values), keys=self.keys)

    @classmethod
    def read(cls, folder: Path) -> PredictionRequest:
        """Read the request that `save` wrote."""
        arrays = read_npz(folder / _REQUEST)
        return cls(keys=arrays["keys"], **json.loads(str(arrays["values"])))


class EmbeddedRows(NamedTuple):
    """The rows that a device has sent embeddings of: their numbers, and (rows, width) values."""

    rows: IntArray
    values: NDArray[Any]


def save_answer(folder: Path, answer: Mapping[str, EmbeddedRows]) -> None:
    """Write the embeddings by party."""
    arrays = {
        f"{kind}/{name}": array
        for name, sent in answer.items()
        for kind, array in sent._asdict().items()
    }
    write_npz(folder / _ANSWER, parties=np.array(list(answer), str), **arrays)


def has_answer(folder: Path) -> bool:
    """Return whether the answer is there; it is then complete."""
    return (folder / _ANSWER).exists()


def read_answer(folder: Path) -> dict[str, EmbeddedRows]:
    """Read what `save_answer` wrote."""
    arrays = read_npz(folder / _ANSWER)
    return {
        str(name): EmbeddedRows(arrays[f"rows/{name}"], arrays[f"values/{name}"])
        for name in arrays["parties"]
    }
