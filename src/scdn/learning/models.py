"""The parties' models: the paper's, by name, and users' own."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from importlib import import_module
from math import prod
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from scdn.data.dataset import TaskKind
from scdn.errors import InputError, format_value, input_error
from scdn.learning.feature_split import FeatureView, Shape

Initialisation = Literal["default", "kaiming"]
HIDDEN = 64  # the paper's hidden neurons

_LAST_GAIN = 0.3  # with Kaiming's weights, keeps the first embeddings small


class MaskedLinear(nn.Module):
    """A linear layer with weights for all columns that takes only some of them.

    It equals the full layer on rows that are zero elsewhere. A column that stands twice is
    harmless as long as its copies come with zeros.
    """

    columns: Tensor

    def __init__(self, columns: Tensor, all_columns: int, outputs: int) -> None:
        super().__init__()
        full = nn.Linear(all_columns, outputs)
        self.weight, self.bias = full.weight, full.bias
        self.register_buffer("columns", columns)

    def forward(self, own: Tensor) -> Tensor:
        """The layer on rows of the own columns."""
        return functional.linear(own, self.weight.index_select(1, self.columns), self.bias)


class Mlp(nn.Sequential):
    """One hidden layer."""

    def __init__(self, inputs: int, width: int, hidden: int = HIDDEN) -> None:
        super().__init__(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, width))

    def widened(self, inputs: int) -> Mlp:
        """The same function of rows with zeros at their end."""
        weights = self.state_dict()
        hidden, columns = weights["0.weight"].shape
        with torch.device("meta"):  # where nothing is drawn
            wide = Mlp(inputs, len(weights["2.weight"]), hidden)
        weights["0.weight"] = functional.pad(weights["0.weight"], (0, inputs - columns))
        wide.load_state_dict(weights, assign=True)
        return wide


class MaskedMlp(nn.Sequential):
    """The paper's MNIST model: equal in size for all parties, whatever columns they have."""

    def __init__(self, columns: Tensor, all_columns: int, width: int, hidden: int = HIDDEN) -> None:
        first = MaskedLinear(columns, all_columns, hidden)
        super().__init__(first, nn.ReLU(), nn.Linear(hidden, width))


class Cnn(nn.Sequential):
    """The paper's Pawpularity model: two convolutions and a linear layer."""

    def __init__(self, shape: Shape, width: int) -> None:
        super().__init__(
            nn.Conv2d(shape[0], 16, 5), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 5), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(),
        )  # fmt: skip
        self.append(nn.Linear(_outputs(self, shape), width))


class AlexNet(nn.Sequential):
    """The paper's CIFAR-10 model: AlexNet's convolutions, then 1024, 512 and `width` neurons."""

    def __init__(self, shape: Shape, width: int) -> None:
        super().__init__(
            nn.Conv2d(shape[0], 64, 11, stride=4, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2),
            nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2),
            nn.Conv2d(192, 384, 3, padding=1), nn.ReLU(),
            nn.Conv2d(384, 256, 3, padding=1), nn.ReLU(),
            nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2),
            nn.Flatten(),
        )  # fmt: skip
        for layer in (
            nn.Linear(_outputs(self, shape), 1024), nn.ReLU(),
            nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, width),
        ):  # fmt: skip
            self.append(layer)


@dataclass(frozen=True)
class Architecture:
    """A model by name; `build` takes the shape of a row, the embeddings' width, hidden neurons.

    Images must be at least `least_size` high and wide; 0 takes rows of any shape.
    """

    name: str
    least_size: int
    build: Callable[[Shape, int, int], nn.Module]


_OWN = {
    entry.name: entry
    for entry in (
        Architecture("mlp", 0, lambda shape, width, hidden: _mlp(shape, width, hidden)),
        Architecture("cnn", 28, lambda shape, width, _: Cnn(shape, width)),
        Architecture("alexnet", 64, lambda shape, width, _: AlexNet(shape, width)),
    )
}


def architecture(
    name: str, view: FeatureView | None = None, task: TaskKind | None = None
) -> Architecture:
    """The model called `name`; `"auto"` picks one by `view` and `task`, as the paper does."""
    if name == "auto":
        if view is None or task is None:
            raise input_error("model", "name", "got auto", "needs a view and a task to pick by")
        image = "cnn" if task == "regression" else "alexnet"
        return _OWN["mlp" if len(view.shape) == 1 else image]
    if name in _OWN:
        return _OWN[name]
    if ":" not in name:
        allowed = f"must be auto, {', '.join(_OWN)} or package.module:factory"
        raise input_error("model", "name", f"got {format_value(name)}", allowed)
    factory = _load(name)
    return Architecture(name, 0, lambda shape, width, _: factory(shape, width))


def build_model(
    name: str,
    view: FeatureView,
    width: int,
    *,
    task: TaskKind,
    masked_columns: int | None,
    hidden: int = HIDDEN,
    initialisation: Initialisation = "default",
    seed: int,
) -> nn.Module:
    """A party's model with its initial weights, drawn from `seed` alone.

    Images come padded (`View.padded`). With `masked_columns`, the number of all columns, an MLP
    has weights for all of them and takes the view's; other models need a masked view for that.
    """
    chosen = architecture(name, view, task)
    _check_size(chosen, view.shape)
    with torch.random.fork_rng(devices=[]):
        # Not torch.manual_seed: it would seed accelerators as well, for good.
        torch.default_generator.manual_seed(seed)
        if chosen.name == "mlp" and masked_columns is not None:
            module = _masked_mlp(view, masked_columns, width, hidden)
        elif chosen.name in _OWN:
            module = chosen.build(view.shape, width, hidden)
        else:
            module = _built(chosen, view.shape, width)
        return _initialise(module, initialisation)


def load_head(name: str, hidden: int, width: int) -> nn.Module:
    """A user's head for the fusion model: from `hidden` numbers to `width`."""
    return _built(architecture(name), (hidden,), width)


def count_connections(module: nn.Module) -> int:
    """Weights and biases (the paper's φ_n); a model's payload is 32 bits for each."""
    return sum(parameter.numel() for parameter in module.parameters())


def structure_key(module: nn.Module, shape: Shape) -> Hashable:
    """A key that is equal for models that may be stacked: layers, tensors and input alike."""
    layers = tuple((name, type(m), m.extra_repr()) for name, m in module.named_modules())
    tensors = (*module.named_parameters(), *module.named_buffers())
    return tuple(shape), layers, tuple((name, tuple(t.shape), t.dtype) for name, t in tensors)


# Inside


def _mlp(shape: Shape, width: int, hidden: int) -> nn.Module:
    flat = Mlp(prod(shape), width, hidden)
    return flat if len(shape) == 1 else nn.Sequential(nn.Flatten(), *flat)


def _masked_mlp(view: FeatureView, all_columns: int, width: int, hidden: int) -> nn.Module:
    flat = MaskedMlp(torch.from_numpy(view.columns), all_columns, width, hidden)
    return flat if len(view.shape) == 1 else nn.Sequential(nn.Flatten(), *flat)


def _outputs(layers: nn.Sequential, shape: Shape) -> int:
    """How many numbers `layers` make of a row."""
    with torch.no_grad():
        return layers(torch.zeros(1, *shape)).shape[1]


def _initialise(module: nn.Module, how: Initialisation) -> nn.Module:
    """The module with its initial weights as asked for."""
    if how == "default":
        return module
    weights = [weight for weight in module.parameters() if weight.dim() >= 2]
    with torch.no_grad():
        for weight in weights:
            nn.init.kaiming_normal_(weight, nonlinearity="relu")
        for name, parameter in module.named_parameters():
            if name.endswith("bias"):
                parameter.zero_()
        for last in weights[-1:]:
            last.mul_(_LAST_GAIN)
    return module


def _check_size(chosen: Architecture, shape: Shape) -> None:
    """Refuses rows that the model cannot take."""
    if chosen.least_size == 0:
        return
    if len(shape) != 3:
        allowed = "needs images: split them in strips or patches"
        raise _refuse(chosen.name, f"rows of {prod(shape)} numbers", allowed)
    if min(shape[1:]) < chosen.least_size:
        found = f"an image of {shape[1]}×{shape[2]} pixels"
        raise _refuse(chosen.name, found, f"needs {chosen.least_size} each way: pad it")


# Users' own


def _load(name: str) -> Callable[[Shape, int], nn.Module]:
    """The factory that `package.module:factory` names."""
    module, _, path = name.partition(":")
    try:
        factory = import_module(module)
        for part in path.split("."):
            factory = getattr(factory, part)
    except Exception as error:  # a user's module may fail in any way
        raise _refuse(name, _say(error), "must name a factory(shape, width)") from error
    if not callable(factory):
        found = f"is a {type(factory).__name__}"
        raise _refuse(name, found, "must be a factory(shape, width)")
    return factory


def _built(chosen: Architecture, shape: Shape, width: int) -> nn.Module:
    """A user's model, tried on two rows."""
    try:
        module = chosen.build(shape, width, HIDDEN)
    except Exception as error:
        raise _refuse(chosen.name, _say(error), f"must take {(shape, width)}") from error
    if not isinstance(module, nn.Module):
        found = f"returned a {type(module).__name__}"
        raise _refuse(chosen.name, found, "must return a torch.nn.Module")
    try:
        with torch.no_grad():
            module.train()(torch.zeros(2, *shape))  # also fills in lazy layers
        before = [buffer.clone() for buffer in module.buffers()]
        rows = torch.randn(2, *shape)
        result, again = module(rows), module(rows)
        other = module(torch.stack([rows[0], rows[1] + 1]))
    except Exception as error:
        raise _refuse(chosen.name, _say(error), f"must take rows of {shape}") from error
    found_shape = tuple(result.shape) if isinstance(result, Tensor) else type(result).__name__
    if found_shape != (2, width):
        raise _refuse(chosen.name, f"made {found_shape} of 2 rows", f"must make {(2, width)}")
    for (name, buffer), old in zip(module.named_buffers(), before, strict=True):
        if not torch.equal(buffer, old):
            allowed = "must keep no running statistics (such as BatchNorm's)"
            raise _refuse(chosen.name, f"{name} changes in training", allowed)
    if count_connections(module) == 0:
        raise _refuse(chosen.name, "has no parameters", "must have some to train")
    if not torch.equal(result, again):
        raise _refuse(chosen.name, "draws at random", "must give a row the same result twice")
    if not torch.allclose(result[0], other[0], rtol=1e-4, atol=1e-5):
        found = "a row's result changes with the other rows"
        raise _refuse(chosen.name, found, "must take each row by itself")
    slopes = torch.autograd.grad(result.sum(), list(module.parameters()), allow_unused=True)
    for (name, _), slope in zip(module.named_parameters(), slopes, strict=True):
        if slope is None:
            raise _refuse(chosen.name, f"{name} is not used", "must use all it would train")
    return module


def _refuse(name: str, found: str, allowed: str) -> InputError:
    return input_error("model", name, found, allowed)


def _say(error: Exception) -> str:
    """An error of someone else's code, in one line."""
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
