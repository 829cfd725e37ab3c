"""The checker of local optimisers: a round's steps, independent parties, selection and merging."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

import torch

from scdn.check.user_code import call, collect
from scdn.learning.local_optimizers import LocalOptimizer, LocalSteps
from scdn.learning.tensors import TensorOptions, Tensors
from scdn.scenario import OptimizerKind

_PARTIES, _STEPS, _RATE = 3, 6, 0.05
_SHAPES = {"weight": (4, 2), "bias": (2,)}


def check_optimizer(optimizer: type[LocalOptimizer]) -> list[str]:
    """Return the problems of a local optimiser: the class takes the steps of a small round."""
    if not isinstance(optimizer, type) or not issubclass(optimizer, LocalOptimizer):
        kind = "an object" if isinstance(optimizer, LocalOptimizer) else "no class"
        return [f"It is {kind}; name a subclass of LocalOptimizer."]
    return collect(_attributes(optimizer), _steps(optimizer), _merging(optimizer))


def _attributes(optimizer: type[LocalOptimizer]) -> Iterator[str]:
    kinds = get_args(OptimizerKind)
    if optimizer.bound_as not in kinds:
        yield f"Its bound_as is {optimizer.bound_as!r}; use one of {', '.join(kinds)}."


def _steps(optimizer: type[LocalOptimizer]) -> Iterator[str]:
    start = _start()
    untouched = _start()
    result = _train(optimizer, start)
    for name, shape in _SHAPES.items():
        value = result.get(name)
        if value is None or tuple(value.shape) != (_PARTIES, *shape):
            yield f"After a step, parameters has no {name} of shape {(_PARTIES, *shape)}; keep it."
            return
        if not torch.isfinite(value).all():
            yield f"After {_STEPS} steps, {name} is not finite; bound the step."
            return
        if not torch.equal(start[name], untouched[name]):
            yield f"step changed the round's first {name} in place; replace parameters[{name!r}]."
    if not _equal(result, _train(optimizer, _start())):
        yield "Two rounds from the same start differ; keep all state in `self.state`."
    if _loss(result) >= _loss(_start()):
        yield f"After {_STEPS} steps on a convex loss it has not fallen; step against the gradient."
    alone = _train(optimizer, _rows(_start(), [1]))
    if not _close(_rows(result, [1]), alone):
        yield "A party's steps depend on the others in its stack; compute each party by itself."


def _merging(optimizer: type[LocalOptimizer]) -> Iterator[str]:
    """Two parties take all steps, one stops half-way: `select` and `merge` must not change that."""
    half, longer = _STEPS // 2, [0, 2]
    stack = _create(optimizer, _start())
    _step(stack, range(half))
    indices = torch.tensor(longer)
    selected = call("select", "it gets the indices of parties", stack.select, indices)
    _step(selected, range(half, _STEPS))
    call("merge", "it gets indices and the optimiser that select returned", stack.merge, indices,
         selected)  # fmt: skip
    finished = _train(optimizer, _start())
    stopped = _create(optimizer, _start())
    _step(stopped, range(half))
    if not _close(_rows(stack.parameters, longer), _rows(finished, longer)):
        yield "Parties that go on after `select` step differently; keep all state in `self.state`."
    if not _close(_rows(stack.parameters, [1]), _rows(stopped.parameters, [1])):
        yield "`merge` changed a party that had stopped; write only the parties it is given."


def _start() -> Tensors:
    draw = torch.Generator().manual_seed(0)
    return {name: torch.randn(_PARTIES, *shape, generator=draw) for name, shape in _SHAPES.items()}


def _create(optimizer: type[LocalOptimizer], start: Tensors) -> LocalOptimizer:
    name = optimizer.name or "sgd"
    local_steps = [LocalSteps(_STEPS, _RATE, name, 0.1) for _ in range(len(start["bias"]))]
    advice = "it gets parameters, local steps and tensor options"
    return call("Creation", advice, optimizer, start, local_steps, TensorOptions())


def _train(optimizer: type[LocalOptimizer], start: Tensors) -> Tensors:
    created = _create(optimizer, start)
    _step(created, range(_STEPS))
    return created.parameters


def _step(optimizer: LocalOptimizer, indices: range) -> None:
    """Step on the loss ½·‖θ‖², whose gradient is θ."""
    for index in indices:
        gradients = {name: tensor.clone() for name, tensor in optimizer.parameters.items()}
        advice = "it gets gradients by name and the index of the step"
        call("step", advice, optimizer.step, gradients, index)


def _loss(tensors: Tensors) -> float:
    return float(sum(tensor.square().sum() for tensor in tensors.values()))


def _rows(tensors: Tensors, parties: Sequence[int]) -> Tensors:
    return {name: tensor[list(parties)] for name, tensor in tensors.items()}


def _equal(one: Tensors, other: Tensors) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


def _close(one: Tensors, other: Tensors) -> bool:
    return all(torch.allclose(one[name], other[name], rtol=1e-5, atol=1e-7) for name in one)
