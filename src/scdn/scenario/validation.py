"""Validate a document against a model, and report every fault at once.

Pydantic checks each value; rules check how values fit together. Rules need a complete model, so
faulty values are removed first (their defaults replace them), the rules check the rest, and faults
that involve a removed value are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import ValidationError

from scdn.errors import (
    Fault,
    InputError,
    Path,
    fault_paths,
    faults_from_pydantic,
    format_value,
)
from scdn.file_io import Table
from scdn.scenario.field_types import FrozenModel

M = TypeVar("M", bound=FrozenModel)
RuleCheck = Callable[[M], Iterable[Fault]]


def validate_document(model: type[M], document: Table, source: str, rules: RuleCheck[M]) -> M:
    """Return the model in `document`, or raise an `InputError` with all faults."""
    try:
        result = model.model_validate(document)
    except ValidationError as error:
        faults = faults_from_pydantic(error, model) + _rule_faults_of_valid_values(
            model, document, error, rules
        )
        raise InputError(source, _with_owners(faults, document)) from None
    except RecursionError:
        fault = Fault("(top level)", "is nested too deeply", "must be plain tables")
        raise InputError(source, [fault]) from None
    faults = _independent(list(rules(result)))
    if faults:
        raise InputError(source, _with_owners(faults, document))
    return result


def _with_owners(faults: Iterable[Fault], document: Table) -> list[Fault]:
    """Add the id of the device to every fault in a list of devices."""
    return [replace(fault, owner=_owner(fault.field, document)) for fault in faults]


def _owner(field: str, document: Table) -> str:
    name, _, rest = field.partition(".")
    index, _, key = rest.partition(".")
    devices = document.get(name)
    if name != "devices" or not index.isdecimal() or not isinstance(devices, list):
        return ""
    entry = devices[int(index)] if int(index) < len(devices) else None
    owner = entry.get("id") if isinstance(entry, dict) and key != "id" else None
    return format_value(owner) if isinstance(owner, str) else ""


def _independent(faults: list[Fault]) -> list[Fault]:
    """Drop faults that only follow from another, such as a device outside a wrong region."""
    faulty = {fault.field.split(".")[0] for fault in faults if not fault.related}
    return [
        fault for fault in faults if not faulty & {name.split(".")[0] for name in fault.related}
    ]


def _rule_faults_of_valid_values(
    model: type[M], document: Table, error: ValidationError, rules: RuleCheck[M]
) -> list[Fault]:
    removed: set[Path] = set(fault_paths(error, model))
    for _ in range(6):  # a path has at most that many parts
        if () in removed:
            break
        try:
            valid = model.model_validate(_without(document, (), removed))
        except ValidationError as again:
            paths = {_original_path(path, document, removed) for path in fault_paths(again, model)}
            removed |= {path[:-1] for path in paths}  # removing the value alone was not enough
            continue
        return [
            fault
            for fault in (_with_original_paths(fault, document, removed) for fault in rules(valid))
            if not any(_touches(fault, path) for path in removed)
        ]
    return []


def _without(node: Any, path: Path, removed: set[Path]) -> Any:
    """Return a copy of `node` without the values at the removed paths."""
    if isinstance(node, dict):
        kept = {key: value for key, value in node.items() if (*path, key) not in removed}
        return {key: _without(value, (*path, key), removed) for key, value in kept.items()}
    if isinstance(node, list):
        return [
            _without(value, (*path, index), removed)
            for index, value in enumerate(node)
            if (*path, index) not in removed
        ]
    return node


def _original_path(path: Path, document: Table, removed: set[Path]) -> Path:
    """Return the path in the original document of a path in the reduced one."""
    if len(path) < 2 or not isinstance(path[1], int):
        return path
    kept = [i for i in range(len(document[str(path[0])])) if (path[0], i) not in removed]
    return (path[0], kept[path[1]], *path[2:]) if path[1] < len(kept) else path


def _with_original_paths(fault: Fault, document: Table, removed: set[Path]) -> Fault:
    def original(field: str) -> str:
        parts: Path = tuple(int(p) if p.isdecimal() else p for p in field.split("."))
        is_entry = len(parts) > 1 and isinstance(document.get(str(parts[0])), list)
        return ".".join(map(str, _original_path(parts, document, removed) if is_entry else parts))

    return replace(fault, field=original(fault.field), related=tuple(map(original, fault.related)))


def _touches(fault: Fault, path: Path) -> bool:
    """Return whether the fault's rule used a value at, above or below `path`."""
    removed = ".".join(map(str, path)) + "."
    fields = [f"{name}." for name in (fault.field, *fault.related)]
    return any(name.startswith(removed) or removed.startswith(name) for name in fields)
