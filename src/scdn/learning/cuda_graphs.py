"""Repeated computations on a GPU, captured as a CUDA graph and replayed with a single launch.

A step of small models is dozens of kernel launches, and a GPU finishes each before the next
arrives.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, Literal

import torch
from torch import Tensor

from scdn.learning.stacked_forward import has_only_common_layers
from scdn.learning.tensors import Tensors

Function = Callable[[Tensors], Tensors]

MAX_GRAPHS = 16  # the least recently used one is dropped


def graphed_call(key: tuple[Hashable, ...], function: Function, inputs: Tensors) -> Tensors:
    """Return `function(inputs)`, replayed from a CUDA graph where possible.

    The function must depend on `key` and on the tensors in `inputs` alone. On a GPU it is captured
    when it is called a second time with tensors of the same shapes, provided that the modules in
    `key` consist of common layers.
    """
    if not _on_first_gpu(inputs) or not _is_capturable(key):
        return function(inputs)
    shapes = ((name, t.shape, t.dtype, t.device) for name, t in inputs.items())
    full_key = (*key, *shapes)
    graph = _graphs.pop(full_key, None)
    if graph is None:
        graph = "called once"
    elif graph == "called once":
        graph = _capture(function, inputs)
    _graphs[full_key] = graph
    if len(_graphs) > MAX_GRAPHS:
        _graphs.popitem(last=False)
    return graph.replay(inputs) if isinstance(graph, CapturedGraph) else function(inputs)


def release_graphs() -> None:
    """Drop all captured graphs, and their memory."""
    _graphs.clear()


class CapturedGraph:
    """A CUDA graph of a function of tensors with fixed shapes, and the memory it works in."""

    def __init__(self, function: Function, inputs: Tensors) -> None:
        self.inputs = {name: tensor.detach().clone() for name, tensor in inputs.items()}
        current, (warm_up, capture) = torch.cuda.current_stream(), _streams()
        warm_up.wait_stream(current)
        with torch.cuda.stream(warm_up):
            function(self.inputs)  # libraries initialise themselves, which cannot be captured
        current.wait_stream(warm_up)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, pool=_memory_pool(), stream=capture):
            self.outputs = function(self.inputs)

    def replay(self, inputs: Tensors) -> Tensors:
        """Return the function's value for other tensors of the same shapes."""
        for targets, sources in _by_dtype(self.inputs, inputs):
            torch._foreach_copy_(targets, sources)
        self.graph.replay()
        return {name: tensor.clone() for name, tensor in self.outputs.items()}


_GraphState = CapturedGraph | Literal["called once", "not captured"]
_graphs: OrderedDict[Hashable, _GraphState] = OrderedDict()


def _capture(function: Function, inputs: Tensors) -> _GraphState:
    try:
        return CapturedGraph(function, inputs)
    except RuntimeError as error:  # for example, no memory left for it
        warnings.warn(f"a step runs without a CUDA graph: {error}", stacklevel=4)
        return "not captured"


@cache
def _streams() -> tuple[Any, Any]:
    """Return one stream to warm up on and one to capture on, for all graphs.

    Libraries keep memory for each stream, so there are no more than these.
    """
    return torch.cuda.Stream(), torch.cuda.Stream()


def _memory_pool() -> Any:
    """Return the memory that graphs share, which they can because they run one at a time."""
    graphs = (graph for graph in _graphs.values() if isinstance(graph, CapturedGraph))
    return next((graph.graph.pool() for graph in graphs), None)


def _by_dtype(targets: Tensors, sources: Tensors) -> list[tuple[list[Tensor], list[Tensor]]]:
    """Group pairs of tensors by type, so that each group is copied with one launch."""
    groups: dict[torch.dtype, tuple[list[Tensor], list[Tensor]]] = {}
    for name, target in targets.items():
        group = groups.setdefault(target.dtype, ([], []))
        group[0].append(target)
        group[1].append(sources[name])
    return list(groups.values())


def _on_first_gpu(inputs: Tensors) -> bool:
    """Return whether tensors are on the first GPU, to which streams and memory belong."""
    first = next(iter(inputs.values()))
    return first.is_cuda and first.get_device() == torch.cuda.current_device() == 0


def _is_capturable(key: tuple[Hashable, ...]) -> bool:
    return all(has_only_common_layers(part) for part in key if isinstance(part, torch.nn.Module))
