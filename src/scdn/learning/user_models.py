"""Users' own models and fusion heads: `package.module:factory`, built and tried on two rows."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from scdn.errors import InputError, input_error
from scdn.learning.feature_split import Shape
from scdn.registry import import_object


def build_user_model(name: str, shape: Shape, width: int) -> nn.Module:
    """Build a user's model for rows of a shape, and raise an error if training cannot use it."""
    factory = import_object(name, "model")
    if not callable(factory):
        raise _error(name, f"is a {type(factory).__name__}", "must be a factory(shape, width)")
    try:
        module = factory(shape, width)
    except Exception as error:
        raise _error(name, _one_line(error), f"must take {(shape, width)}") from error
    if not isinstance(module, nn.Module):
        got = f"returned a {type(module).__name__}"
        raise _error(name, got, "must return a torch.nn.Module")
    try:
        with torch.no_grad():
            module.train()(torch.zeros(2, *shape))  # also fills in lazy layers
        buffers = [buffer.clone() for buffer in module.buffers()]
        rows = torch.randn(2, *shape)
        outputs, repeated = module(rows), module(rows)
        other_row = module(torch.stack([rows[0], rows[1] + 1]))
    except Exception as error:
        raise _error(name, _one_line(error), f"must take rows of {shape}") from error
    output_shape = tuple(outputs.shape) if isinstance(outputs, Tensor) else type(outputs).__name__
    if output_shape != (2, width):
        raise _error(name, f"made {output_shape} of 2 rows", f"must make {(2, width)}")
    for (key, buffer), before in zip(module.named_buffers(), buffers, strict=True):
        if not torch.equal(buffer, before):
            allowed = "must keep no running statistics (such as BatchNorm's)"
            raise _error(name, f"{key} changes in training", allowed)
    if not list(module.parameters()):
        raise _error(name, "has no parameters", "must have some to train")
    if not torch.equal(outputs, repeated):
        raise _error(name, "draws at random", "must give a row the same result twice")
    if not torch.allclose(outputs[0], other_row[0], rtol=1e-4, atol=1e-5):
        got = "a row's result changes with the other rows"
        raise _error(name, got, "must take each row by itself")
    gradients = torch.autograd.grad(outputs.sum(), list(module.parameters()), allow_unused=True)
    for (key, _), gradient in zip(module.named_parameters(), gradients, strict=True):
        if gradient is None:
            raise _error(name, f"{key} is not used", "must use all it would train")
    return module


def _error(name: str, got: str, allowed: str) -> InputError:
    return input_error("model", name, got, allowed)


def _one_line(error: Exception) -> str:
    """Describe an error of a user's code in one line."""
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
