"""What a GPU computes over and over: recorded once, then played again with a single launch.

A step of small models is dozens of launches, and a GPU is done with each before the next arrives.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any

import torch
from torch import Tensor

from scdn.learning.stacked_forward import has_only_common_layers
from scdn.learning.tensors import Tensors

Function = Callable[[Tensors], Tensors]

MAX_GRAPHS = 16  # recordings that are kept; the one that was not played for longest goes


def graphed_call(what: tuple[Hashable, ...], compute: Function, given: Tensors) -> Tensors:
    """`compute(given)`, which must depend on `what` and on tensors in `given` alone.

    On a GPU a computation that comes a second time with tensors of the same shapes is recorded,
    if the modules in `what` have none but layers that can be.
    """
    if not _on_gpu(given) or not _can_be(what):
        return compute(given)
    key = (*what, *((name, t.shape, t.dtype, t.device) for name, t in given.items()))
    known = _known.pop(key, "new")
    if known == "new":
        known = "seen"
    elif known == "seen":
        known = _recorded(compute, given)
    _known[key] = known
    if len(_known) > MAX_GRAPHS:
        _known.popitem(last=False)
    return known.play(given) if isinstance(known, CapturedGraph) else compute(given)


def release_graphs() -> None:
    """Lets all recordings go, and their memory."""
    _known.clear()


class CapturedGraph:
    """A computation of tensors of fixed shapes, which are kept until it goes."""

    def __init__(self, compute: Function, given: Tensors) -> None:
        self.given = {name: tensor.detach().clone() for name, tensor in given.items()}
        now, (aside, recording) = torch.cuda.current_stream(), _streams()
        aside.wait_stream(now)
        with torch.cuda.stream(aside):
            compute(self.given)  # libraries set themselves up, which no recording may contain
        now.wait_stream(aside)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, pool=_shared(), stream=recording):
            self.found = compute(self.given)

    def play(self, given: Tensors) -> Tensors:
        """The same of other tensors."""
        for inside, outside in _alike(self.given, given):
            torch._foreach_copy_(inside, outside)
        self.graph.replay()
        return {name: tensor.clone() for name, tensor in self.found.items()}


_known: OrderedDict[Hashable, CapturedGraph | str] = (
    OrderedDict()
)  # or "seen" once, or "never" again


def _recorded(compute: Function, given: Tensors) -> CapturedGraph | str:
    try:
        return CapturedGraph(compute, given)
    except RuntimeError as error:  # no memory left for it, say
        warnings.warn(f"a step is not recorded but computed each time: {error}", stacklevel=4)
        return "never"


@cache
def _streams() -> tuple[Any, Any]:
    """One to warm up on and one to record on, the same for all: libraries keep memory for each."""
    return torch.cuda.Stream(), torch.cuda.Stream()


def _shared() -> Any:
    """The memory of those that there are: one uses it while it plays, and one plays at a time."""
    there = (known for known in _known.values() if isinstance(known, CapturedGraph))
    return next((known.graph.pool() for known in there), None)


def _alike(inside: Tensors, outside: Tensors) -> list[tuple[list[Tensor], list[Tensor]]]:
    """Pairs of tensors, those of one type together: they are copied in one launch."""
    types: dict[torch.dtype, tuple[list[Tensor], list[Tensor]]] = {}
    for name, tensor in inside.items():
        pair = types.setdefault(tensor.dtype, ([], []))
        pair[0].append(tensor)
        pair[1].append(outside[name])
    return list(types.values())


def _on_gpu(given: Tensors) -> bool:
    """On the first, where there are several: streams and memory are that one's."""
    some = next(iter(given.values()))
    return some.is_cuda and some.get_device() == torch.cuda.current_device() == 0


def _can_be(what: tuple[Hashable, ...]) -> bool:
    return all(has_only_common_layers(part) for part in what if isinstance(part, torch.nn.Module))
