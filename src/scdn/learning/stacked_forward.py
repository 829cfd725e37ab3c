"""The forward pass of a model with tensors from outside: of one party, or of a stack at once.

Chains of known layers are computed directly: at the size of a step, `functional_call` and `vmap`
take longer than the products. Any other module goes through these two.
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

Forward = Callable[[Tensors, Tensor], Tensor]  # from tensors by name, and inputs
LayerFunction = Callable[..., Tensor]  # from inputs and the layer's tensors, as in _TENSORS

MIN_VALUES_APART = 10_000  # of a party's images, from which parties compute one by one

_TENSORS = {nn.Linear: ("weight", "bias"), MaskedLinear: ("weight", "bias", "columns")}
_COMMON = (nn.Linear, MaskedLinear, nn.Conv2d, nn.MaxPool2d, nn.ReLU, nn.Flatten)
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


@lru_cache(maxsize=256)
def single_forward(module: nn.Module) -> Forward:
    """Return the forward pass of one party, for inputs (rows, …)."""
    return _chain(module, _SINGLE) or partial(_call_single, module)


@lru_cache(maxsize=256)
def stacked_forward(module: nn.Module) -> Forward:
    """Return the forward pass of a stack; tensors and inputs have a first dimension of parties."""
    return _chain(module, _STACKED) or partial(_call_stacked, module)


def forward_rows(module: nn.Module, tensors: Tensors, inputs: Tensor) -> Tensor:
    """Compute one model's outputs for inputs (…, width) with any number of row dimensions."""
    outputs = single_forward(module)(tensors, inputs.flatten(0, -2))
    return outputs.view(*inputs.shape[:-1], outputs.shape[-1])


def unstack(tensors: Tensors) -> Iterator[Tensors]:
    """Yield each party's tensors."""
    for values in zip(*(stack.unbind() for stack in tensors.values()), strict=True):
        yield dict(zip(tensors, values, strict=True))


@lru_cache(maxsize=256)
def has_only_common_layers(module: nn.Module) -> bool:
    """Return whether no layer draws at random or branches on values."""
    return all(type(leaf) in _COMMON and not _is_altered(leaf) for _, leaf in _leaves(module))


# --- any module -----------------------------------------------------------------------------------


def _call(module: nn.Module, tensors: Tensors, inputs: Tensor) -> Tensor:
    return functional_call(module, tensors, (inputs,), tie_weights=False)


def _call_single(module: nn.Module, tensors: Tensors, inputs: Tensor) -> Tensor:
    """Call the module for one party; a CPU is faster with the channels of images last."""
    if inputs.dim() == 4 and inputs.device.type == "cpu" and has_only_common_layers(module):
        inputs = inputs.contiguous(memory_format=torch.channels_last)
    return _call(module, tensors, inputs)


def _call_stacked(module: nn.Module, tensors: Tensors, inputs: Tensor) -> Tensor:
    """Call the module for all parties.

    Grouped convolutions of many values slow a CPU down, and take a GPU more time and memory.
    """
    if inputs.dim() == 5 and inputs[0].numel() >= MIN_VALUES_APART:
        pairs = zip(unstack(tensors), inputs.unbind(), strict=True)
        return torch.stack([_call_single(module, own, rows) for own, rows in pairs])
    return vmap(partial(_call, module), randomness="different")(tensors, inputs)


# --- chains of known layers -----------------------------------------------------------------------


def _chain(module: nn.Module, known: Mapping[type, LayerFunction]) -> Forward | None:
    """Return the module as a chain of known layers, or None if it is anything else."""
    steps: list[tuple[LayerFunction, list[str]]] = []
    for prefix, layer in _leaves(module):
        if type(layer) not in known or _is_altered(layer):
            return None
        names = _TENSORS.get(type(layer), ())
        present = [prefix + name for name in names if getattr(layer, name) is not None]
        steps.append((known[type(layer)], present))
    used = [name for _, names in steps for name in names]
    existing = [name for name, _ in (*module.named_parameters(), *module.named_buffers())]
    # These differ if two layers share a tensor, or if a tensor was added to a layer.
    return partial(_run, steps) if sorted(used) == sorted(existing) else None


def _run(
    steps: Sequence[tuple[LayerFunction, Sequence[str]]], tensors: Tensors, inputs: Tensor
) -> Tensor:
    for layer, names in steps:
        inputs = layer(inputs, *[tensors[name] for name in names])
    return inputs


def _leaves(module: nn.Module, prefix: str = "") -> Iterator[tuple[str, nn.Module]]:
    """Yield layers in the order in which they compute; a layer that is used twice comes twice."""
    if not isinstance(module, nn.Sequential) or _is_altered(module):
        yield prefix, module
        return
    for name, layer in zip(module._modules, module, strict=True):
        yield from _leaves(layer, f"{prefix}{name}.")


def _is_altered(module: nn.Module) -> bool:
    """Return whether a layer may compute anything else than its class does."""
    attributes, kind = vars(module), type(module)
    if "forward" in attributes or any(attributes[hooks] for hooks in _HOOKS):
        return True
    if isinstance(module, nn.Sequential):
        methods = ("__call__", "__iter__", "forward")
        return any(getattr(kind, name) is not getattr(nn.Sequential, name) for name in methods)
    return isinstance(module, nn.Flatten) and (module.start_dim, module.end_dim) != (1, -1)


def _masked_linear(inputs: Tensor, weight: Tensor, bias: Tensor, columns: Tensor) -> Tensor:
    return functional.linear(inputs, weight.index_select(1, columns), bias)


def _stacked_linear(inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    rows = inputs.flatten(1, -2)
    if bias is None:
        outputs = torch.bmm(rows, weight.mT)
    else:
        outputs = torch.baddbmm(bias.unsqueeze(1), rows, weight.mT)
    return outputs.view(*inputs.shape[:-1], outputs.shape[-1])


def _stacked_masked_linear(inputs: Tensor, weight: Tensor, bias: Tensor, columns: Tensor) -> Tensor:
    indices = columns.unsqueeze(1).expand(-1, weight.shape[1], -1)
    return _stacked_linear(inputs, weight.gather(2, indices), bias)


_SINGLE: dict[type, LayerFunction] = {
    nn.Linear: functional.linear,
    MaskedLinear: _masked_linear,
    nn.ReLU: torch.relu,
    nn.Flatten: partial(torch.flatten, start_dim=1),
}
_STACKED: dict[type, LayerFunction] = {
    nn.Linear: _stacked_linear,
    MaskedLinear: _stacked_masked_linear,
    nn.ReLU: torch.relu,
    nn.Flatten: partial(torch.flatten, start_dim=2),
}
