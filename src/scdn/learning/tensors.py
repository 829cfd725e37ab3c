"""Where and in what precision tensors live, and the same numbers on any count of threads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import torch
from numpy.typing import NDArray
from torch import Tensor

from scdn.errors import format_value, input_error
from scdn.rng import generator

Precision = Literal["float32", "float64", "bfloat16"]
Tensors = dict[str, Tensor]
Value = TypeVar("Value")


@dataclass(frozen=True)
class Place:
    """A device and a precision. In bfloat16 weights stay in 32 bits; models compute in 16."""

    device: str = "cpu"
    precision: Precision = "float32"

    def __post_init__(self) -> None:
        if self.device.split(":")[0] not in ("cpu", "cuda"):
            raise input_error(
                "learning", "device", f"got {format_value(self.device)}", "must be cpu or cuda"
            )
        if self.device.startswith("cuda") and not torch.cuda.is_available():
            raise input_error(
                "learning", "device", "no GPU that PyTorch can use", "must be cpu here"
            )

    @property
    def dtype(self) -> torch.dtype:
        """Of weights and embeddings."""
        return torch.float64 if self.precision == "float64" else torch.float32

    def tensor(self, numbers: NDArray[Any]) -> Tensor:
        """An array as a tensor here; whole numbers stay whole."""
        found = torch.from_numpy(numbers)
        return found.to(self.device, self.dtype if found.is_floating_point() else torch.int64)

    def computing(self) -> AbstractContextManager[Any]:
        """What models run in."""
        if self.precision != "bfloat16":
            return nullcontext()
        return torch.autocast(self.device.split(":")[0], torch.bfloat16)


def under(values: Mapping[str, Value], prefix: str) -> dict[str, Value]:
    """Those whose names begin so, by the rest of their names."""
    return {n[len(prefix) :]: value for n, value in values.items() if n.startswith(prefix)}


@contextmanager
def one_thread() -> Iterator[None]:
    """Sums in one order: results do not hang on how many cores there are.

    It is also the fastest: parties' matrices are small, and two runs of one thread beat one of two.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def seeded(seed: int, purpose: str) -> Iterator[None]:
    """PyTorch's own draws (of a module's first weights) from a named stream; none leak out."""
    with torch.random.fork_rng(devices=[]):
        # Not torch.manual_seed: it would seed accelerators as well, for good.
        torch.default_generator.manual_seed(int(generator(seed, purpose).integers(2**63)))
        yield
