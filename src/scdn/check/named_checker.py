"""The checker for a thing by its name: registered, or `package.module:NAME`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, cast, get_args

from torch import nn

from scdn.check.dataset_checker import check_dataset
from scdn.check.memory_checker import check_memory
from scdn.check.method_checker import check_method
from scdn.check.metric_checker import check_metric
from scdn.check.model_checker import Factory, check_model
from scdn.check.optimizer_checker import check_optimizer
from scdn.data import Dataset, dataset_names, load
from scdn.errors import format_value, input_error
from scdn.learning.local_optimizers import LOCAL_OPTIMIZERS, LocalOptimizer
from scdn.learning.memories import MEMORIES, Memory
from scdn.learning.metrics import METRICS, Metric
from scdn.learning.models import ARCHITECTURES, HIDDEN
from scdn.methods import METHODS, Method
from scdn.registry import import_object

Kind = Literal["method", "model", "metric", "dataset", "memory", "optimizer"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_CHECKERS: dict[Kind, Callable[[Any], list[str]]] = {
    "method": check_method,
    "model": check_model,
    "metric": check_metric,
    "dataset": check_dataset,
    "memory": check_memory,
    "optimizer": check_optimizer,
}


def check_named(name: str, kind: Kind | None = None) -> tuple[Kind, list[str]]:
    """Return the kind of what a name stands for, and its problems."""
    if ":" in name:
        entry = import_object(name, "NAME")
        kind = kind or _kind_of(name, entry)
    else:
        kind = kind or _kind_of_registered(name)
        entry = _registered(name, kind)
    return kind, _CHECKERS[kind](entry)


def _kind_of(name: str, entry: object) -> Kind:
    """Detect the kind of an object; a function is taken for a model's factory."""
    bases: dict[type, Kind] = {
        Method: "method",
        Metric: "metric",
        Dataset: "dataset",
        Memory: "memory",
        LocalOptimizer: "optimizer",
        nn.Module: "model",
    }
    for base, kind in bases.items():
        if isinstance(entry, base) or (isinstance(entry, type) and issubclass(entry, base)):
            return kind
    if callable(entry):
        return "model"
    fault = f"{name} is a {type(entry).__name__}"
    raise input_error("scdn check", "NAME", fault, f"--kind must say which of {', '.join(KINDS)}")


def _kind_of_registered(name: str) -> Kind:
    kinds = [kind for kind in KINDS if name in _registered_names(kind)]
    if len(kinds) == 1:
        return kinds[0]
    if kinds:
        fault = f"{name} is the name of a {' and of a '.join(kinds)}"
        raise input_error("scdn check", "NAME", fault, "--kind must say which")
    allowed = "must be a registered name, or package.module:NAME"
    raise input_error("scdn check", "NAME", f"got {format_value(name)}", allowed)


def _registered_names(kind: Kind) -> tuple[str, ...]:
    match kind:
        case "method":
            return METHODS.names()
        case "model":
            return tuple(ARCHITECTURES)
        case "metric":
            return METRICS.names()
        case "dataset":
            return tuple(dataset_names())
        case "memory":
            return MEMORIES.names()
    return LOCAL_OPTIMIZERS.names()


def _registered(name: str, kind: Kind) -> object:
    if name not in _registered_names(kind):
        allowed = f"must be one of {', '.join(_registered_names(kind))}, or package.module:NAME"
        raise input_error("scdn check", kind, f"got {format_value(name)}", allowed)
    match kind:
        case "method":
            return METHODS.get(name)
        case "model":
            build = ARCHITECTURES[name].build
            return cast(Factory, lambda shape, width: build(shape, width, HIDDEN))
        case "metric":
            return METRICS.get(name)
        case "dataset":
            return load(name)
        case "memory":
            return MEMORIES.get(name)
    return LOCAL_OPTIMIZERS.get(name)
