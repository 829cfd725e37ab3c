"""The checker for a thing by its name: registered, or `package.module:NAME`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Literal, NamedTuple, get_args

from torch import nn

from scdn.check.dataset_checker import check_dataset
from scdn.check.memory_checker import check_memory
from scdn.check.method_checker import check_method
from scdn.check.metric_checker import check_metric
from scdn.check.model_checker import Factory, check_model
from scdn.check.optimizer_checker import check_optimizer
from scdn.check.schedule_checker import check_schedule
from scdn.data import Dataset, dataset_names, load
from scdn.errors import format_value, input_error
from scdn.learning.local_optimizers import LOCAL_OPTIMIZERS, LocalOptimizer
from scdn.learning.memories import MEMORIES, Memory
from scdn.learning.metrics import METRICS, Metric
from scdn.learning.models import ARCHITECTURES, HIDDEN
from scdn.learning.schedules import SCHEDULES, Schedule
from scdn.methods import METHODS, Method
from scdn.registry import import_object

Kind = Literal["method", "model", "metric", "dataset", "memory", "schedule", "optimizer"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class _Checkable(NamedTuple):
    """A kind of thing: its checker, its base class, and what is registered."""

    check: Callable[[Any], list[str]]
    base: type
    names: Callable[[], Collection[str]]
    get: Callable[[str], object]


_KINDS: dict[Kind, _Checkable] = {
    "method": _Checkable(check_method, Method, METHODS.names, METHODS.get),
    "model": _Checkable(check_model, nn.Module, ARCHITECTURES.keys, lambda name: _factory(name)),
    "metric": _Checkable(check_metric, Metric, METRICS.names, METRICS.get),
    "dataset": _Checkable(check_dataset, Dataset, dataset_names, load),
    "memory": _Checkable(check_memory, Memory, MEMORIES.names, MEMORIES.get),
    "schedule": _Checkable(check_schedule, Schedule, SCHEDULES.names, SCHEDULES.get),
    "optimizer": _Checkable(
        check_optimizer, LocalOptimizer, LOCAL_OPTIMIZERS.names, LOCAL_OPTIMIZERS.get
    ),
}


def check_named(name: str, kind: Kind | None = None) -> tuple[Kind, list[str]]:
    """Return the kind of what a name stands for, and its problems."""
    if ":" in name:
        entry = import_object(name, "NAME")
        kind = kind or _kind_of(name, entry)
    else:
        kind = kind or _kind_of_registered(name)
        entry = _registered(name, kind)
    return kind, _KINDS[kind].check(entry)


def _kind_of(name: str, entry: object) -> Kind:
    """Detect the kind of an object; a function is taken for a model's factory."""
    for kind, known in _KINDS.items():
        if issubclass(entry if isinstance(entry, type) else type(entry), known.base):
            return kind
    if callable(entry):
        return "model"
    fault = f"{name} is a {type(entry).__name__}"
    raise input_error("scdn check", "NAME", fault, f"--kind must say which of {', '.join(KINDS)}")


def _kind_of_registered(name: str) -> Kind:
    kinds = [kind for kind, known in _KINDS.items() if name in known.names()]
    if len(kinds) == 1:
        return kinds[0]
    if kinds:
        fault = f"{name} is the name of a {' and of a '.join(kinds)}"
        raise input_error("scdn check", "NAME", fault, "--kind must say which")
    allowed = "must be a registered name, or package.module:NAME"
    raise input_error("scdn check", "NAME", f"got {format_value(name)}", allowed)


def _registered(name: str, kind: Kind) -> object:
    names = _KINDS[kind].names()
    if name not in names:
        allowed = f"must be one of {', '.join(names)}, or package.module:NAME"
        raise input_error("scdn check", kind, f"got {format_value(name)}", allowed)
    return _KINDS[kind].get(name)


def _factory(name: str) -> Factory:
    return lambda shape, width: ARCHITECTURES[name].build(shape, width, HIDDEN)
