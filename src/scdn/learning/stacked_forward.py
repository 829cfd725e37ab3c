"""What a model computes from tensors that are not its own: of one party, or of many at once.

Chains of layers known here are computed directly: at the size of a step, `functional_call` and
`vmap` take longer than the products. Any other module goes through these two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn import functional

from scdn.learning.models import MaskedLinear
from scdn.learning.tensors import Tensors

Computation = Callable[[Tensors, Tensor], Tensor]  # from tensors by name, and inputs
Layer = Callable[..., Tensor]  # from inputs and the layer's tensors, in the order of _TENSORS

LARGE = 10_000  # values of a party's images from which on a CPU takes party after party

_TENSORS = {nn.Linear: ("weight", "bias"), MaskedLinear: ("weight", "bias", "columns")}
_PLAIN = (nn.Linear, MaskedLinear, nn.Conv2d, nn.MaxPool2d, nn.ReLU, nn.Flatten)
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


@lru_cache(maxsize=256)
def single_forward(module: nn.Module) -> Computation:
    """One party's: inputs are (rows, …)."""
    return _chain(module, _ONE) or partial(_call, module)


@lru_cache(maxsize=256)
def stacked_forward(module: nn.Module) -> Computation:
    """Of parties of one structure: tensors have a first dimension of parties, inputs too."""
    return _chain(module, _MANY) or partial(_call_all, module)


def forward_rows(module: nn.Module, tensors: Tensors, inputs: Tensor) -> Tensor:
    """One model's for any number of dimensions of rows: (…, width) to (…, width)."""
    found = single_forward(module)(tensors, inputs.flatten(0, -2))
    return found.view(*inputs.shape[:-1], found.shape[-1])


def unstack(tensors: Tensors) -> Iterator[Tensors]:
    """Each party's own."""
    for own in zip(*(stack.unbind() for stack in tensors.values()), strict=True):
        yield dict(zip(tensors, own, strict=True))


@lru_cache(maxsize=256)
def has_only_common_layers(module: nn.Module) -> bool:
    """Whether it has none but common layers: no draws, nothing that hangs on values."""
    return all(type(leaf) in _PLAIN and not _altered(leaf) for _, leaf in _leaves(module))


# Any module


def _call(module: nn.Module, tensors: Tensors, inputs: Tensor) -> Tensor:
    return functional_call(module, tensors, (inputs,), tie_weights=False)


def _call_all(module: nn.Module, tensors: Tensors, inputs: Tensor) -> Tensor:
    """Images that are not tiny, party by party on a CPU: its convolutions in groups are slower."""
    images = inputs.dim() == 5 and inputs.device.type == "cpu"
    if images and inputs[0].numel() >= LARGE:
        pairs = zip(unstack(tensors), inputs.unbind(), strict=True)
        return torch.stack([_call(module, own, seen) for own, seen in pairs])
    return vmap(partial(_call, module), randomness="different")(tensors, inputs)


# Layers known here


def _chain(module: nn.Module, known: Mapping[type, Layer]) -> Computation | None:
    """The module as a chain of known layers, if it is nothing else."""
    steps: list[tuple[Layer, list[str]]] = []
    for prefix, layer in _leaves(module):
        if type(layer) not in known or _altered(layer):
            return None
        names = _TENSORS.get(type(layer), ())
        own = [prefix + name for name in names if getattr(layer, name) is not None]
        steps.append((known[type(layer)], own))
    used = [name for _, names in steps for name in names]
    there = [name for name, _ in (*module.named_parameters(), *module.named_buffers())]
    # A tensor that two layers share has one name only, one that was added has a name too many.
    return partial(_run, steps) if sorted(used) == sorted(there) else None


def _run(steps: Sequence[tuple[Layer, Sequence[str]]], tensors: Tensors, inputs: Tensor) -> Tensor:
    for layer, names in steps:
        inputs = layer(inputs, *[tensors[name] for name in names])
    return inputs


def _leaves(module: nn.Module, prefix: str = "") -> Iterator[tuple[str, nn.Module]]:
    """Layers in the order in which they compute; one that stands there twice comes twice."""
    if not isinstance(module, nn.Sequential) or _altered(module):
        yield prefix, module
        return
    for name, layer in zip(module._modules, module, strict=True):
        yield from _leaves(layer, f"{prefix}{name}.")


def _altered(module: nn.Module) -> bool:
    """Whether it may do something else than layers of its kind do."""
    own, kind = vars(module), type(module)
    if "forward" in own or any(own[hooks] for hooks in _HOOKS):
        return True
    if isinstance(module, nn.Sequential):
        ways = ("__call__", "__iter__", "forward")
        return any(getattr(kind, way) is not getattr(nn.Sequential, way) for way in ways)
    return isinstance(module, nn.Flatten) and (module.start_dim, module.end_dim) != (1, -1)


def _masked(inputs: Tensor, weight: Tensor, bias: Tensor, columns: Tensor) -> Tensor:
    return functional.linear(inputs, weight.index_select(1, columns), bias)


def _linears(inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    rows = inputs.flatten(1, -2)
    if bias is None:
        found = torch.bmm(rows, weight.mT)
    else:
        found = torch.baddbmm(bias.unsqueeze(1), rows, weight.mT)
    return found.view(*inputs.shape[:-1], found.shape[-1])


def _masked_all(inputs: Tensor, weight: Tensor, bias: Tensor, columns: Tensor) -> Tensor:
    where = columns.unsqueeze(1).expand(-1, weight.shape[1], -1)
    return _linears(inputs, weight.gather(2, where), bias)


_ONE: dict[type, Layer] = {
    nn.Linear: functional.linear,
    MaskedLinear: _masked,
    nn.ReLU: torch.relu,
    nn.Flatten: partial(torch.flatten, start_dim=1),
}
_MANY: dict[type, Layer] = {
    nn.Linear: _linears,
    MaskedLinear: _masked_all,
    nn.ReLU: torch.relu,
    nn.Flatten: partial(torch.flatten, start_dim=2),
}
