"""Turns a document into a model, reporting every fault at once.

Pydantic checks each value; rules check how values fit together. A rule can only look at values
that exist, so where some are faulty they are taken out (their defaults stand in), the rules see the
rest, and what a rule says about anything that was taken out is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from pydantic import ValidationError

from scdn.errors import Fault, InputError, Path, fault_paths, faults_from_pydantic
from scdn.file_io import Table
from scdn.scenario.field_types import FrozenModel

M = TypeVar("M", bound=FrozenModel)
RuleCheck = Callable[[M], Iterable[Fault]]


def validate_document(model: type[M], document: Table, source: str, rules: RuleCheck[M]) -> M:
    """The model in `document`, or an `InputError` with all faults."""
    try:
        result = model.model_validate(document)
    except ValidationError as error:
        faults = faults_from_pydantic(error, model) + _faults_of_the_rest(
            model, document, error, rules
        )
        raise InputError(source, faults) from None
    except RecursionError:
        deep = Fault("(top level)", "is nested too deeply", "must be plain tables")
        raise InputError(source, [deep]) from None
    faults = _independent(list(rules(result)))
    if faults:
        raise InputError(source, faults)
    return result


def _independent(faults: list[Fault]) -> list[Fault]:
    """Without the faults that only follow from another: a device is outside a broken region."""
    broken = {fault.field.split(".")[0] for fault in faults if not fault.related}
    return [
        fault for fault in faults if not broken & {name.split(".")[0] for name in fault.related}
    ]


def _faults_of_the_rest(
    model: type[M], document: Table, error: ValidationError, rules: RuleCheck[M]
) -> list[Fault]:
    removed: set[Path] = set(fault_paths(error, model))
    for _ in range(6):  # a path has at most that many parts
        if () in removed:
            break
        try:
            rest = model.model_validate(_without(document, (), removed))
        except ValidationError as again:
            found = {_original(path, document, removed) for path in fault_paths(again, model)}
            removed |= {path[:-1] for path in found}  # taking the value out was not enough
            continue
        return [
            fault
            for fault in (_renumbered(fault, document, removed) for fault in rules(rest))
            if not any(_touches(fault, path) for path in removed)
        ]
    return []


def _without(node: Any, here: Path, removed: set[Path]) -> Any:
    """A copy of `node` less everything at the removed paths."""
    if isinstance(node, dict):
        kept = {key: value for key, value in node.items() if (*here, key) not in removed}
        return {key: _without(value, (*here, key), removed) for key, value in kept.items()}
    if isinstance(node, list):
        return [
            _without(value, (*here, index), removed)
            for index, value in enumerate(node)
            if (*here, index) not in removed
        ]
    return node


def _original(path: Path, document: Table, removed: set[Path]) -> Path:
    """`path` in the pruned document as it reads in the whole one."""
    if len(path) < 2 or not isinstance(path[1], int):
        return path
    kept = [i for i in range(len(document[str(path[0])])) if (path[0], i) not in removed]
    return (path[0], kept[path[1]], *path[2:]) if path[1] < len(kept) else path


def _renumbered(fault: Fault, document: Table, removed: set[Path]) -> Fault:
    def whole(field: str) -> str:
        parts: Path = tuple(int(p) if p.isdecimal() else p for p in field.split("."))
        is_entry = len(parts) > 1 and isinstance(document.get(str(parts[0])), list)
        return ".".join(map(str, _original(parts, document, removed) if is_entry else parts))

    return Fault(
        whole(fault.field), fault.found, fault.allowed, tuple(whole(name) for name in fault.related)
    )


def _touches(fault: Fault, path: Path) -> bool:
    """Whether the fault's rule looked at something at, above or below `path`."""
    gone = ".".join(map(str, path)) + "."
    looked_at = [f"{name}." for name in (fault.field, *fault.related)]
    return any(name.startswith(gone) or gone.startswith(name) for name in looked_at)
