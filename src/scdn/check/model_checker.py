"""The checker of models: shapes, independent rows, gradients and seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor, nn

from scdn.check.user_code import UserCodeError, call, collect
from scdn.learning.user_models import model_faults

Factory = Callable[[tuple[int, ...], int], nn.Module]

SHAPES = ((12,), (1, 28, 28), (3, 64, 64))  # a row of a table, and images
_ROWS = 4
_ADVICE = "make forward take such rows"


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
            _build(factory, shape, width)
            taken.append(shape)
        except UserCodeError as error:
            failures.append(str(error))
    if not taken:
        return failures
    return collect(*(_model(factory, shape, width) for shape in taken))


def _model(factory: Factory, shape: tuple[int, ...], width: int) -> Iterator[str]:
    situation = f"For rows of shape {shape}, the model"
    module, rows = _build(factory, shape, width), _rows(shape)
    faults = call(situation, _ADVICE, lambda: list(model_faults(module, rows, width)))
    for fault, advice in faults:
        yield f"{situation} {fault}; {advice}."
    if not faults:
        yield from _finite(situation, module, rows)
    yield from _seeds(situation, factory, shape, width)


def _finite(situation: str, module: nn.Module, rows: Tensor) -> Iterator[str]:
    outputs, parameters = module(rows), dict(module.named_parameters())
    if not torch.isfinite(outputs).all():
        yield f"{situation} returned values that are not finite; check its initial weights."
        return
    gradients = torch.autograd.grad(outputs.square().sum(), list(parameters.values()))
    for name, gradient in zip(parameters, gradients, strict=True):
        if not torch.isfinite(gradient).all():
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
        call(f"For rows of shape {shape}, the model", _ADVICE, module.train(), _rows(shape))
    return module


def _rows(shape: tuple[int, ...]) -> Tensor:
    return torch.randn(_ROWS, *shape, generator=torch.Generator().manual_seed(0))
