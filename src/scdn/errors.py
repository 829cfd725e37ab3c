"""Errors about input: one line per fault, and all faults of an input at once."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from typing import Any

from pydantic import BaseModel, ValidationError

Path = tuple[str | int, ...]

_LISTED = 5  # faults of one kind that are listed; the others are only counted
_SHOWN = 60  # characters of a faulty value that are printed


@dataclass(frozen=True)
class Fault:
    """One fault: its field, what was found and what is allowed; `related` fields it depends on.

    `owner` is the id of the device that has the field.
    """

    field: str
    found: str
    allowed: str
    related: tuple[str, ...] = ()
    owner: str = ""

    def __str__(self) -> str:
        field = f"{self.field} ({self.owner})" if self.owner else self.field
        return f"{field}: {self.found}, {self.allowed}"


class InputError(Exception):
    """Raised for wrong input; has every fault that was found in `source`."""

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        self.source = source
        self.faults = tuple(faults)
        super().__init__("\n".join(self.lines()))

    def __reduce__(self) -> tuple[type[InputError], tuple[str, tuple[Fault, ...]]]:
        return InputError, (self.source, self.faults)  # for results of other processes

    def lines(self) -> list[str]:
        """Return one line per fault; each begins with the source."""
        return [printable(f"{self.source}: {fault}") for fault in self.faults]


def input_error(source: str, field: str, found: str, allowed: str) -> InputError:
    """Return an `InputError` with a single fault."""
    return InputError(source, [Fault(field, found, allowed)])


def first_faults(faults: Iterable[Fault], count: int) -> list[Fault]:
    """Return the first of `count` faults of one kind, and how many more there are."""
    listed = list(islice(faults, _LISTED))
    if count > _LISTED:
        more = f"{count - _LISTED} more like these"
        listed.append(Fault("and", more, "all must be corrected"))
    return listed


def require_package(package: str, extra: str, feature: str) -> None:
    """Raise an error that names the extra to install if a package is missing."""
    if find_spec(package) is None:
        fault, remedy = f"{package} is not installed", f"pip install 'scdn[{extra}]'"
        raise input_error("scdn", feature, fault, remedy)


def printable(line: str) -> str:
    """Escape characters that would break a line in two or control a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)


def describe_error(error: BaseException) -> str:
    """Return the type and the first line of an error that other code raised."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def format_value(value: Any) -> str:
    """Return a value in few characters, on one line."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple) and len(value) > 8:
        return f"a list of {len(value)}"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, list | tuple) and all(isinstance(entry, int | float) for entry in value):
        return f"[{', '.join(map(format_value, value))}]"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**30:
        return "a huge integer"
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = str(value) if not isinstance(value, list | tuple) else f"a list of {len(value)}"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def faults_from_pydantic(error: ValidationError, model: type[BaseModel]) -> list[Fault]:
    """Return pydantic's faults in the words of this package."""
    faults = [_fault(entry, model) for entry in error.errors(include_url=False)]
    return list(dict.fromkeys(faults))  # a list that lacks three numbers is one fault


def fault_paths(error: ValidationError, model: type[BaseModel]) -> list[Path]:
    """Return the paths of pydantic's faults: keys and list indices."""
    return [_locate(entry["loc"], model)[0] for entry in error.errors(include_url=False)]


def dotted(path: Iterable[str | int]) -> str:
    """Join a path as in `devices.0.id`, which `--set` takes too."""
    return ".".join(str(part) for part in path) or "(top level)"


_TYPES = {
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "finite_number": "must be finite",
    "union_tag_not_found": "needs a kind",
}


def _fault(entry: Any, model: type[BaseModel]) -> Fault:
    kind, context = entry["type"], entry.get("ctx", {})
    path, owner = _locate(entry["loc"], model)
    got = f"got {format_value(entry['input'])}"
    match kind:
        case "missing" if isinstance(path[-1], int):
            return Fault(dotted(path[:-1]), got, "has too few entries")
        case "missing":
            return Fault(dotted(path), "missing", "it is required")
        case "extra_forbidden":
            return Fault(dotted(path), "unknown key", _nearest(str(path[-1]), owner))
        case "greater_than":
            allowed = f"must be > {context['gt']:g}"
        case "greater_than_equal":
            allowed = f"must be ≥ {context['ge']:g}"
        case "less_than":
            allowed = f"must be < {context['lt']:g}"
        case "less_than_equal":
            allowed = f"must be ≤ {context['le']:g}"
        case "literal_error":
            allowed = f"must be one of {context['expected']}"
        case "union_tag_invalid":
            got = f"got kind {format_value(context['tag'])}"
            allowed = f"kind must be one of {context['expected_tags']}"
        case "too_short":
            allowed = f"needs at least {context['min_length']} entries"
        case "too_long":
            allowed = f"takes at most {context['max_length']} entries"
        case "string_too_short":
            allowed = "must not be empty"
        case "value_error":
            allowed = str(context["error"])
        case _:
            allowed = _TYPES.get(kind, entry["msg"])
    return Fault(dotted(path), got, allowed)


def _locate(loc: Path, model: type[BaseModel]) -> tuple[Path, type[BaseModel] | None]:
    """Return the path without pydantic's union tags, and the model that has its last key."""
    path: Path = ()
    owner: type[BaseModel] | None = model
    options: dict[str, type[BaseModel]] = {}
    for position, part in enumerate(loc):
        if isinstance(part, str) and part in options:  # the tag of a union, not a key
            owner, options = options[part], {}
            continue
        path = (*path, part)
        if isinstance(part, int) or position == len(loc) - 1 or owner is None:
            continue
        owner, options = _child(owner, part)
    return path, owner


def _child(
    model: type[BaseModel], key: str
) -> tuple[type[BaseModel] | None, dict[str, type[BaseModel]]]:
    """Return the model of a field, or the models by tag where it is a union."""
    for name, field in model.model_fields.items():
        if key in (name, field.alias):
            models = list(nested_models(field.annotation))
            if len(models) <= 1:
                return (models[0] if models else None), {}
            return None, {m.model_fields["kind"].annotation.__args__[0]: m for m in models}  # type: ignore[union-attr]
    return None, {}


def nested_models(annotation: Any) -> Iterable[type[BaseModel]]:
    """Yield the models that an annotation names, at any depth."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in getattr(annotation, "__args__", ()):
        yield from nested_models(inner)


def _nearest(key: str, owner: type[BaseModel] | None) -> str:
    known = [field.alias or name for name, field in owner.model_fields.items()] if owner else []
    close = difflib.get_close_matches(key, known, 1)
    return f"did you mean {close[0]}?" if close else f"known: {', '.join(known) or 'none'}"
