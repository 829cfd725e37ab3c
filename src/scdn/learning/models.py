"""The parties' models: the paper's, by name, and users' own."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from math import prod
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from scdn.data.dataset import TaskKind
from scdn.errors import format_value, input_error
from scdn.learning.feature_split import FeatureView, Shape
from scdn.learning.user_models import build_user_model

Initialisation = Literal["default", "kaiming"]
HIDDEN = 64  # the paper's hidden neurons

_LAST_LAYER_GAIN = 0.3  # keeps the first embeddings small with Kaiming initialisation


class MaskedLinear(nn.Module):
    """A linear layer with weights for all columns, applied to rows of some columns.

    It equals the full layer on rows that are zero in the other columns. A column may occur twice
    as long as its copies are zero.
    """

    columns: Tensor

    def __init__(self, columns: Tensor, all_columns: int, outputs: int) -> None:
        super().__init__()
        full = nn.Linear(all_columns, outputs)
        self.weight, self.bias = full.weight, full.bias
        self.register_buffer("columns", columns)

    def forward(self, rows: Tensor) -> Tensor:
        """Apply the layer to rows of the selected columns."""
        return functional.linear(rows, self.weight.index_select(1, self.columns), self.bias)


class FlatModel(nn.Sequential):
    """A chain of layers for rows of columns; the first one is linear."""

    def widened(self, inputs: int) -> FlatModel:
        """Return the same function of rows that are padded with zeros at the end."""
        first, *others = self
        weights = first.state_dict()
        outputs, columns = weights["weight"].shape
        with torch.device("meta"):  # draws no weights
            wide = nn.Linear(inputs, outputs)
        weights["weight"] = functional.pad(weights["weight"], (0, inputs - columns))
        wide.load_state_dict(weights, assign=True)
        return FlatModel(wide, *others)


class Mlp(FlatModel):
    """A perceptron with one hidden layer."""

    def __init__(self, inputs: int, width: int, hidden: int = HIDDEN) -> None:
        super().__init__(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, width))


class LinearModel(FlatModel):
    """A linear layer alone, for data on which larger models overfit.

    Its weights are zero at first, as in a logistic regression: columns that tell nothing then
    change nothing, instead of adding noise to rows unlike the trained ones.
    """

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__(nn.Linear(inputs, width))
        for parameter in self.parameters():
            nn.init.zeros_(parameter)


class MaskedMlp(nn.Sequential):
    """The paper's MNIST model: of the same size for all parties, whatever columns they have."""

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
    """A kind of model: `build` takes a row's shape, the embeddings' width and hidden neurons.

    Images must be at least `least_size` high and wide; 0 stands for rows of any shape.
    """

    name: str
    least_size: int
    build: Callable[[Shape, int, int], nn.Module]


ARCHITECTURES = {
    entry.name: entry
    for entry in (
        Architecture("mlp", 0, lambda shape, *sizes: _for_rows(shape, Mlp(prod(shape), *sizes))),
        Architecture(
            "linear", 0, lambda shape, width, _: _for_rows(shape, LinearModel(prod(shape), width))
        ),
        Architecture("cnn", 28, lambda shape, width, _: Cnn(shape, width)),
        Architecture("alexnet", 64, lambda shape, width, _: AlexNet(shape, width)),
    )
}


def architecture(name: str, view: FeatureView, task: TaskKind) -> Architecture:
    """Return the architecture of this name; `"auto"` picks the paper's for a view and a task."""
    if name == "auto":
        image = "cnn" if task == "regression" else "alexnet"
        return ARCHITECTURES["mlp" if len(view.shape) == 1 else image]
    if name in ARCHITECTURES:
        return ARCHITECTURES[name]
    if ":" not in name:
        allowed = f"must be auto, {', '.join(ARCHITECTURES)} or package.module:factory"
        raise input_error("model", "name", f"got {format_value(name)}", allowed)
    return Architecture(name, 0, lambda shape, width, _: build_user_model(name, shape, width))


def build_model(
    chosen: Architecture,
    view: FeatureView,
    width: int,
    *,
    masked_columns: int | None,
    hidden: int,
    initialisation: Initialisation,
) -> nn.Module:
    """Build a party's model, with weights from PyTorch's generator.

    Images must be padded already (`FeatureView.padded_image`). With `masked_columns`, the number of
    all columns, a perceptron has weights for all of them and takes the view's; other models need a
    masked view for that.
    """
    _check_size(chosen, view.shape)
    if chosen.name == "mlp" and masked_columns is not None:
        columns = torch.from_numpy(view.columns)
        module = _for_rows(view.shape, MaskedMlp(columns, masked_columns, width, hidden))
    else:
        module = chosen.build(view.shape, width, hidden)
    if initialisation == "kaiming":
        _initialise_kaiming(module)
    return module


def count_connections(module: nn.Module) -> int:
    """Count weights and biases (the paper's φ_n); a model's payload is 32 bits for each."""
    return sum(parameter.numel() for parameter in module.parameters())


def structure_key(module: nn.Module, shape: Shape) -> Hashable:
    """Return a key that is equal for models with the same layers, tensors and input shape."""
    layers = tuple((name, type(m), m.extra_repr()) for name, m in module.named_modules())
    tensors = (*module.named_parameters(), *module.named_buffers())
    return tuple(shape), layers, tuple((name, tuple(t.shape), t.dtype) for name, t in tensors)


# --- building blocks -----------------------------------------------------------------------------


def _for_rows(shape: Shape, flat: nn.Sequential) -> nn.Module:
    return flat if len(shape) == 1 else nn.Sequential(nn.Flatten(), *flat)


def _outputs(layers: nn.Sequential, shape: Shape) -> int:
    """Return how many numbers `layers` make of a row."""
    with torch.no_grad():
        return layers(torch.zeros(1, *shape)).shape[1]


@torch.no_grad()
def _initialise_kaiming(module: nn.Module) -> None:
    weights = [weight for weight in module.parameters() if weight.dim() >= 2]
    for weight in weights:
        nn.init.kaiming_normal_(weight, nonlinearity="relu")
    for name, parameter in module.named_parameters():
        if name.endswith("bias"):
            parameter.zero_()
    for last in weights[-1:]:
        last.mul_(_LAST_LAYER_GAIN)


def _check_size(chosen: Architecture, shape: Shape) -> None:
    if chosen.least_size == 0:
        return
    if len(shape) != 3:
        allowed = "needs images: split them in strips or patches"
        raise input_error("model", chosen.name, f"rows of {prod(shape)} numbers", allowed)
    if min(shape[1:]) < chosen.least_size:
        got = f"an image of {shape[1]}×{shape[2]} pixels"
        allowed = f"needs {chosen.least_size} each way: pad it"
        raise input_error("model", chosen.name, got, allowed)
