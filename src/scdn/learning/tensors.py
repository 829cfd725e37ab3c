"""Device and precision of tensors, states as plain arrays, and reproducible draws and sums."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scdn.errors import format_value, input_error
from scdn.rng import generator

Precision = Literal["float32", "float64", "bfloat16"]
Tensors = dict[str, Tensor]
Arrays = dict[str, NDArray[Any]]
Value = TypeVar("Value")


class StateDict(NamedTuple):
    """A saved state: arrays by name, and values that JSON can hold."""

    arrays: Arrays
    values: dict[str, Any]


@dataclass(frozen=True)
class TensorOptions:
    """Device and precision. With bfloat16, weights stay in 32 bits and models compute in 16."""

    device: str = "cpu"
    precision: Precision = "float32"

    def __post_init__(self) -> None:
        if self.device.split(":")[0] not in ("cpu", "cuda"):
            got = f"got {format_value(self.device)}"
            raise input_error("learning", "device", got, "must be cpu or cuda")
        if self.device.startswith("cuda") and not torch.cuda.is_available():
            got = "PyTorch finds no usable GPU"
            raise input_error("learning", "device", got, "must be cpu on this machine")

    @property
    def dtype(self) -> torch.dtype:
        """Return the type of weights and embeddings."""
        return torch.float64 if self.precision == "float64" else torch.float32

    @property
    def array_type(self) -> str:
        """Return the type of arrays that become tensors."""
        return "float64" if self.precision == "float64" else "float32"

    def tensor(self, array: NDArray[Any]) -> Tensor:
        """Return an array as a tensor on the device; integers and booleans become int64."""
        tensor = torch.from_numpy(array)
        return tensor.to(self.device, self.dtype if tensor.is_floating_point() else torch.int64)

    def convert(self, tensors: Mapping[str, Tensor]) -> Tensors:
        """Return tensors on the device; floating-point ones get the type of weights."""
        return {
            name: t.detach().to(self.device, self.dtype if t.is_floating_point() else None)
            for name, t in tensors.items()
        }

    def autocast(self) -> AbstractContextManager[Any]:
        """Return the context in which models compute."""
        if self.precision != "bfloat16":
            return nullcontext()
        return torch.autocast(self.device.split(":")[0], torch.bfloat16)


def strip_prefix(values: Mapping[str, Value], prefix: str) -> dict[str, Value]:
    """Select the entries whose names start with a prefix, and strip it from their names."""
    return {
        name.removeprefix(prefix): value
        for name, value in values.items()
        if name.startswith(prefix)
    }


def add_prefix(tensors: Mapping[str, Tensor], prefix: str) -> Tensors:
    """Return tensors with a prefix to their names."""
    return {prefix + name: tensor for name, tensor in tensors.items()}


def select_rows(tensors: Mapping[str, Tensor], indices: Tensor) -> Tensors:
    """Return the rows with these indices of each tensor."""
    return {name: tensor[indices] for name, tensor in tensors.items()}


def to_arrays(tensors: Mapping[str, Tensor], prefix: str) -> Arrays:
    """Convert tensors to arrays named `prefix/name`."""
    return {f"{prefix}/{name}": np.asarray(tensor.cpu()) for name, tensor in tensors.items()}


@contextmanager
def single_threaded() -> Iterator[None]:
    """Compute on one thread, so that results do not depend on the number of cores.

    It is also the fastest: parties' matrices are small, and two runs with one thread each finish
    before two runs with two threads.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def seeded_init(seed: int, purpose: str) -> Iterator[None]:
    """Let PyTorch draw a module's initial weights from a named generator, and restore its own."""
    with torch.random.fork_rng(devices=[]):
        # torch.manual_seed would also reseed accelerators, which fork_rng does not restore here.
        torch.default_generator.manual_seed(int(generator(seed, purpose).integers(2**63)))
        yield
