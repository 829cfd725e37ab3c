"""A device's model states in a file, so that it can go on after its process has ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from scdn.file_io import to_json
from scdn.learning.tensors import Tensors
from scdn.npz import read_npz, write_npz


class SavedStates(NamedTuple):
    """The states of a device's model by their numbers, and the run and party they belong to."""

    run: str
    party: str
    states: Mapping[int, Tensors]

    def save(self, path: Path) -> None:
        """Write the states to a file."""
        metadata = to_json({"run": self.run, "party": self.party}, indent=None)
        parameters = {
            f"{number}/{name}": parameter.numpy()
            for number, state in self.states.items()
            for name, parameter in state.items()
        }
        write_npz(path, metadata=np.array(metadata), **parameters)

    @classmethod
    def read(cls, path: Path) -> SavedStates:
        """Read the states that an earlier process saved; raise ValueError if they are damaged."""
        try:
            arrays = read_npz(path)
            metadata = json.loads(str(arrays.pop("metadata")))
            run, party = str(metadata["run"]), str(metadata["party"])
        except (OSError, KeyError, TypeError) as error:
            raise ValueError(str(error)) from None
        states: dict[int, Tensors] = {}
        for key, value in arrays.items():
            number, _, name = key.partition("/")
            states.setdefault(int(number), {})[name] = torch.from_numpy(value)
        return cls(run, party, states)
