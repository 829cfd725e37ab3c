"""Users' own models and fusion heads: `package.module:factory`, built and tried on two rows."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from scdn.errors import describe_error, input_error
from scdn.learning.feature_split import Shape
from scdn.registry import import_object


def build_user_model(name: str, shape: Shape, width: int) -> nn.Module:
    """Build a user's model for rows of a shape, and raise an error if training cannot use it."""
    factory = import_object(name, "model")
    if not callable(factory):
        got = f"is a {type(factory).__name__}"
        raise input_error("model", name, got, "must be a factory(shape, width)")
    try:
        module = factory(shape, width)
    except Exception as error:
        allowed = f"must take {(shape, width)}"
        raise input_error("model", name, describe_error(error), allowed) from error
    if not isinstance(module, nn.Module):
        got = f"returned a {type(module).__name__}"
        raise input_error("model", name, got, "must return a torch.nn.Module")
    try:
        with torch.no_grad():
            module.train()(torch.zeros(2, *shape))  # also fills in lazy layers
        fault = next(model_faults(module, torch.randn(2, *shape), width), None)
    except Exception as error:
        allowed = f"must take rows of {shape}"
        raise input_error("model", name, describe_error(error), allowed) from error
    if fault is not None:
        raise input_error("model", name, fault[0], f"must {fault[1]}")
    return module


def model_faults(module: nn.Module, rows: Tensor, width: int) -> Iterator[tuple[str, str]]:
    """Yield what keeps training from using a model: what it does, and what to do instead."""
    buffers = [buffer.clone() for buffer in module.buffers()]
    outputs, repeated = module(rows), module(rows)
    shape = tuple(outputs.shape) if isinstance(outputs, Tensor) else type(outputs).__name__
    if shape != (len(rows), width):
        yield f"returned {shape} for {len(rows)} rows", f"return {(len(rows), width)}"
        return
    if not torch.equal(outputs, repeated):
        yield "gave different outputs for the same rows", "draw nothing at random"
    if any(not torch.equal(old, new) for old, new in zip(buffers, module.buffers(), strict=True)):
        yield "keeps running statistics", "use layers without them (no BatchNorm)"
    other_rows = torch.cat([rows[:1], rows[1:] + 1])
    if not torch.allclose(outputs[0], module(other_rows)[0], rtol=1e-4, atol=1e-5):
        yield "mixes the rows of a batch", "compute each row by itself (no BatchNorm)"
    parameters = dict(module.named_parameters())
    if not parameters:
        yield "has no parameters to train", "have at least one layer with some"
    elif not outputs.requires_grad:
        yield "cuts the gradient", "do without detach() and no_grad() in forward"
    else:
        gradients = torch.autograd.grad(outputs.sum(), list(parameters.values()), allow_unused=True)
        for name, gradient in zip(parameters, gradients, strict=True):
            if gradient is None:
                yield f"does not use its parameter {name}", "use it or remove it"
