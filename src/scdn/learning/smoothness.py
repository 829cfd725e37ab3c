"""Smoothness of the parties' losses as the paper estimates it: from spectral norms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from math import ceil, prod, sqrt

import torch
from torch import Tensor, nn
from torch.func import vjp
from torch.nn import functional

from scdn.data.dataset import TaskKind
from scdn.errors import input_error
from scdn.learning.feature_split import Shape
from scdn.learning.models import MaskedLinear
from scdn.rng import generator

Operator = Callable[[Tensor], Tensor]

LANCZOS_STEPS = 32  # at most 0.4 % too low on untrained AlexNets (24 steps: 1 %)


def loss_curvature(task: TaskKind) -> float:
    """Return c, a bound on the loss's second derivative in the model's outputs.

    Cross-entropy has the Hessian diag(p) − ppᵀ, whose rows have absolute sums 2p(1 − p) ≤ ½. Half
    the squared error has 1: the paper's bound for "mean squared error", though without the half
    it would be 2.
    """
    return 0.5 if task == "classification" else 1.0


def party_smoothness(
    module: nn.Module, parameters: Mapping[str, Tensor], shape: Shape, c: float
) -> Tensor:
    """Return each party's L_n = c·(product of its layers' spectral norms)², in 64-bit floats.

    `parameters` are stacked, of parties with the structure of `module`; `shape` is that of a row.
    Layers without parameters count as 1, except pooling that overlaps. The result is infinite for
    a party whose weights are no longer finite.
    """
    names = {id(parameter): name for name, parameter in module.named_parameters()}
    finite = torch.stack([p.isfinite().flatten(1).all(dim=1) for p in parameters.values()]).all(0)
    product = torch.ones(len(finite), dtype=torch.float64, device=finite.device)
    for layer, input_shape, output_shape in _calls(module, shape):
        if isinstance(layer, nn.MaxPool2d):
            product = product * _pool_norm(layer, output_shape)
        elif isinstance(layer, nn.Linear | MaskedLinear | nn.Conv2d):
            weights = parameters[names[id(layer.weight)]].detach().nan_to_num(0, 0, 0)
            if isinstance(layer, nn.Conv2d):
                product = product * _conv_norms(layer, weights, input_shape)
            else:
                product = product * _matrix_norms(weights)
    return torch.where(finite, c * product**2, torch.inf)


def global_smoothness(fusion_norm_product: float, by_party: Tensor) -> float:
    """Return L: the squared product of the fusion model's norms times the largest L_n."""
    return fusion_norm_product**2 * float(by_party.max())


# --- layers ---------------------------------------------------------------------------------------


def _calls(module: nn.Module, shape: Shape) -> list[tuple[nn.Module, Shape, Shape]]:
    """Return the layers that a row passes, in order, with the shapes of input and output."""
    check_layers(module)
    copy = deepcopy(module).eval()
    origin = dict(zip(copy.modules(), module.modules(), strict=True))
    calls: list[tuple[nn.Module, Shape, Shape]] = []

    def record(layer: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        calls.append((origin[layer], inputs[0].shape[1:], output.shape[1:]))

    for layer in copy.modules():
        if isinstance(layer, nn.Linear | MaskedLinear | nn.Conv2d | nn.MaxPool2d):
            layer.register_forward_hook(record)
    like = next(copy.parameters())
    with torch.no_grad():
        copy(torch.zeros(1, *shape, dtype=like.dtype, device=like.device))
    return calls


def check_layers(module: nn.Module) -> None:
    """Raise an error for a layer whose spectral norm is not implemented."""
    for name, layer in module.named_modules():
        known = isinstance(layer, nn.Linear | MaskedLinear) or (
            isinstance(layer, nn.Conv2d) and layer.padding_mode == "zeros"
        )
        if not known and any(True for _ in layer.parameters(recurse=False)):
            got = f"a {type(layer).__name__}, whose spectral norm is not known"
            allowed = (
                "must be made of Linear and Conv2d (with zero padding), "
                'or learning.smoothness be "measured"'
            )
            raise input_error("model", f"layer {name or '(top)'}", got, allowed)


def _matrix_norms(weights: Tensor) -> Tensor:
    """Return the largest singular value of each matrix, from the smaller Gram matrix.

    It is infinite where the Gram matrix is.
    """
    matrix = weights.double()
    if matrix.shape[1] > matrix.shape[2]:
        matrix = matrix.mT
    gram = matrix @ matrix.mT
    finite = gram.isfinite().flatten(1).all(dim=1)
    largest = torch.linalg.eigvalsh(gram.nan_to_num(0, 0, 0))[:, -1]
    return torch.where(finite, largest.clamp(min=0).sqrt(), torch.inf)


def _pool_norm(layer: nn.MaxPool2d, output_shape: Shape) -> float:
    """Return a bound on how much overlapping windows can stretch a difference.

    An entry that is the largest of k windows occurs k times in the output, so the bound is √k;
    it is 1 where windows do not overlap.
    """
    kernels, strides = _pair(layer.kernel_size), _pair(layer.stride)
    reaches = [d * (k - 1) + 1 for d, k in zip(_pair(layer.dilation), kernels, strict=True)]
    axes = zip(reaches, strides, kernels, output_shape[-2:], strict=True)
    return sqrt(prod(min(ceil(r / s), k, windows) for r, s, k, windows in axes))


def _pair(size: int | tuple[int, ...]) -> tuple[int, ...]:
    return (size, size) if isinstance(size, int) else size


def _conv_norms(layer: nn.Conv2d, weights: Tensor, input_shape: Shape) -> Tensor:
    """Return the norm of each party's convolution, as a linear map of images of their true size."""
    parties = len(weights)

    def forward(images: Tensor) -> Tensor:
        """Apply all parties' convolutions at once: each is a group of channels."""
        outputs = functional.conv2d(
            images.reshape(1, -1, *input_shape[-2:]),
            weights.flatten(0, 1),
            None,
            layer.stride,
            layer.padding,
            layer.dilation,
            layer.groups * parties,
        )
        return outputs.reshape(parties, -1)

    drawn = torch.from_numpy(generator(0, "smoothness").normal(size=prod(input_shape)))
    start = drawn.to(weights).expand(parties, -1)
    outputs, adjoint = vjp(forward, start)[:2]  # a linear map has the same adjoint at any point
    return _largest_singular_values(forward, lambda rows: adjoint(rows)[0], start, outputs.shape[1])


def _largest_singular_values(
    forward: Operator, adjoint: Operator, start: Tensor, outputs: int
) -> Tensor:
    """Return lower bounds on the norms of linear maps, one per row of `start`.

    Golub and Kahan's bidiagonalisation: in the bases `rights` and `lefts` the map is a small
    matrix with two diagonals, whose norm approaches the map's within a few steps.
    """
    parties, inputs = start.shape
    rights = start.new_zeros(parties, LANCZOS_STEPS, inputs)
    lefts = start.new_zeros(parties, LANCZOS_STEPS, outputs)
    diagonal, above = start.new_zeros(2, parties, LANCZOS_STEPS)
    scale = start.new_zeros(parties)
    right, _ = _orthonormalised(start, rights[:, :0], scale)
    for step in range(LANCZOS_STEPS):
        rights[:, step] = right
        left, diagonal[:, step] = _orthonormalised(forward(right), lefts[:, :step], scale)
        lefts[:, step] = left
        scale = torch.maximum(scale, diagonal[:, step])
        right, above[:, step] = _orthonormalised(adjoint(left), rights[:, : step + 1], scale)
    small = torch.diag_embed(diagonal) + torch.diag_embed(above[:, :-1], offset=1)
    return torch.linalg.svdvals(small.double())[:, 0]


def _orthonormalised(vectors: Tensor, before: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    """Orthogonalise vectors against `before`; return unit vectors and lengths.

    Both are zero where only rounding errors remain.
    """
    for _ in range(2):  # a single pass would leave rounding errors
        projections = before @ vectors[..., None]
        vectors = vectors - (before.mT @ projections)[..., 0]
    lengths = torch.linalg.vector_norm(vectors, dim=1)
    rounding = 100 * torch.finfo(vectors.dtype).eps * scale
    lengths = torch.where(lengths > rounding, lengths, 0)
    return torch.where(lengths[:, None] > 0, vectors / lengths[:, None], 0), lengths
