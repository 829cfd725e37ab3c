"""The checker of models: shapes, independent rows, gradients and seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from scdn.check.user_code import UserCodeError, call, collect

Factory = Callable[[tuple[int, ...], int], nn.Module]

SHAPES = ((12,), (1, 28, 28), (3, 64, 64))  # a row of a table, and images
_ROWS = 4


def check_model(
    factory: Factory, shapes: Sequence[tuple[int, ...]] = SHAPES, width: int = 3
) -> list[str]:
    """Return the problems of a model's `factory(shape, width)`.

    A model may take tables or images only: it must work for one of `shapes`, the shapes of a row.
    """
    if not callable(factory):
        return [f"It is a {type(factory).__name__}; make it a function factory(shape, width)."]
    failures, taken = [], []
    for shape in shapes:
        try:
            _outputs(_build(factory, shape, width), shape)
            taken.append(shape)
        except UserCodeError as error:
            failures.append(str(error))
    if not taken:
        return failures
    return collect(*(_model(factory, shape, width) for shape in taken))


def _model(factory: Factory, shape: tuple[int, ...], width: int) -> Iterator[str]:
    situation = f"For rows of shape {shape}, the model"
    module = _build(factory, shape, width)
    rows = _rows(shape)
    buffers = [buffer.clone() for buffer in module.buffers()]
    outputs = _outputs(module, shape, rows)
    if not isinstance(outputs, Tensor) or tuple(outputs.shape) != (_ROWS, width):
        returned = tuple(outputs.shape) if isinstance(outputs, Tensor) else type(outputs).__name__
        yield f"{situation} returned {returned} for {_ROWS} rows; return {(_ROWS, width)}."
        return
    if not torch.isfinite(outputs).all():
        yield f"{situation} returned values that are not finite; check its initial weights."
    if not torch.equal(outputs, _outputs(module, shape, rows)):
        yield f"{situation} gave different outputs for the same rows; remove random layers."
    if any(not torch.equal(old, new) for old, new in zip(buffers, module.buffers(), strict=True)):
        yield f"{situation} keeps running statistics; use a layer without them (no BatchNorm)."
    changed = torch.cat([rows[:1], rows[1:] + 1])
    if not torch.allclose(outputs[0], _outputs(module, shape, changed)[0], rtol=1e-4, atol=1e-5):
        yield f"{situation} mixes the rows of a batch; compute each row by itself (no BatchNorm)."
    yield from _gradients(situation, module, outputs)
    yield from _seeds(situation, factory, shape, width)


def _gradients(situation: str, module: nn.Module, outputs: Tensor) -> Iterator[str]:
    named = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
    if not named:
        yield f"{situation} has no parameters to train; add a layer."
        return
    if not outputs.requires_grad:
        yield f"{situation} cuts the gradient; remove detach() and no_grad() from forward."
        return
    parameters = [parameter for _, parameter in named]
    gradients = torch.autograd.grad(outputs.square().sum(), parameters, allow_unused=True)
    for (name, _), gradient in zip(named, gradients, strict=True):
        if gradient is None:
            yield f"{situation} does not use its parameter {name}; use it or remove it."
        elif not torch.isfinite(gradient).all():
            yield f"{situation} has a gradient of {name} that is not finite; check forward."


def _seeds(situation: str, factory: Factory, shape: tuple[int, ...], width: int) -> Iterator[str]:
    one, other = (_build(factory, shape, width).state_dict() for _ in range(2))
    if one.keys() != other.keys() or any(not torch.equal(one[key], other[key]) for key in one):
        yield f"{situation} has other initial weights for the same seed; draw them with PyTorch."
    if one and any(tensor.is_floating_point() for tensor in one.values()):
        third = _build(factory, shape, width, seed=2).state_dict()
        if all(torch.equal(one[key], third[key]) for key in one):
            yield f"{situation} has the same initial weights for all seeds; draw them with PyTorch."


def _build(factory: Factory, shape: tuple[int, ...], width: int, seed: int = 1) -> nn.Module:
    situation = f"For rows of shape {shape}, the factory"
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        advice = f"it must take the shape of a row and a width, here {shape} and {width}"
        module = call(situation, advice, factory, shape, width)
    if not isinstance(module, nn.Module):
        raise UserCodeError(
            f"{situation} returned a {type(module).__name__}; return a torch.nn.Module."
        )
    with torch.no_grad():  # also fills in lazy layers
        _outputs(module.train(), shape)
    return module


def _rows(shape: tuple[int, ...]) -> Tensor:
    return torch.randn(_ROWS, *shape, generator=torch.Generator().manual_seed(0))


def _outputs(module: nn.Module, shape: tuple[int, ...], rows: Tensor | None = None) -> Any:
    situation, advice = f"For rows of shape {shape}, the model", "make forward take such rows"
    return call(situation, advice, module, _rows(shape) if rows is None else rows)
