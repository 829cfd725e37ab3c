"""A registry: things of one kind by name, and a user's own as `package.module:NAME`."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Generic, TypeVar, cast

from scdn.errors import InputError, describe_error, format_value, input_error

T = TypeVar("T")


class Registry(Generic[T]):
    """Entries of one kind by name.

    Entries are instances of `base`, or subclasses of it where `of_classes` is set. `kind` is the
    word that error messages use ("method", "metric", ...). Registering a name again replaces its
    entry, so that a notebook's cell can be run twice.
    """

    def __init__(self, kind: str, base: type, *, of_classes: bool = False) -> None:
        self.kind = kind
        self._base = base
        self._of_classes = of_classes
        self._entries: dict[str, T] = {}

    def register(self, name: str, entry: T) -> T:
        """Add an entry under a name and return it."""
        if not name or ":" in name:
            fault, allowed = f"got {format_value(name)}", "must be a name without a colon"
            raise input_error("scdn", f"{self.kind} name", fault, allowed)
        if not self._accepts(entry):
            raise input_error("scdn", self.kind, f"{name} is {_describe(entry)}", self._expected())
        self._entries[name] = entry
        return entry

    def get(self, name: str) -> T:
        """Return the entry of this name, or the object that `package.module:NAME` names."""
        if name in self._entries:
            return self._entries[name]
        if ":" not in name:
            raise self._error(f"got {format_value(name)}", self._known(name))
        entry = import_object(name, self.kind)
        if not self._accepts(entry):
            raise self._error(f"{name} is {_describe(entry)}", self._expected())
        return cast(T, entry)

    def names(self) -> tuple[str, ...]:
        """Return the registered names in order of registration."""
        return tuple(self._entries)

    def __iter__(self) -> Iterator[T]:
        return iter(self._entries.values())

    def _accepts(self, entry: object) -> bool:
        if self._of_classes:
            return isinstance(entry, type) and issubclass(entry, self._base)
        return isinstance(entry, self._base)

    def _expected(self) -> str:
        name = self._base.__name__
        return f"must be {'a subclass' if self._of_classes else 'an instance'} of {name}"

    def _known(self, name: str) -> str:
        close = difflib.get_close_matches(name, self._entries, 1)
        hint = f"did you mean {close[0]}? " if close else ""
        return f"{hint}must be one of {', '.join(self._entries)}, or package.module:NAME"

    def _error(self, found: str, allowed: str) -> InputError:
        return input_error("scdn", self.kind, found, allowed)


def _describe(entry: object) -> str:
    return f"the class {entry.__name__}" if isinstance(entry, type) else f"a {type(entry).__name__}"


def import_object(name: str, kind: str) -> object:
    """Return the object that `package.module:NAME` names; `kind` is the field of errors."""
    module_name, _, path = name.partition(":")
    if not module_name or not path:
        raise input_error("scdn", kind, f"got {format_value(name)}", "must be package.module:NAME")
    value: object = _import_module(module_name, name, kind)
    for part in path.split("."):
        try:
            value = getattr(value, part)
        except AttributeError as error:
            close = difflib.get_close_matches(part, dir(value), 1)
            allowed = f"did you mean {close[0]}?" if close else "define it in the module"
            raise input_error("scdn", kind, f"{name}: there is no {part}", allowed) from error
    return value


def _import_module(module_name: str, name: str, kind: str) -> ModuleType:
    try:
        return import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or module_name
        itself = f"{module_name}.".startswith(f"{missing}.")
        allowed = (
            "put its folder on PYTHONPATH" if itself else "install it, or put it on PYTHONPATH"
        )
        fault = f"{name}: there is no module {missing}"
        raise input_error("scdn", kind, fault, allowed) from error
    except (Exception, SystemExit) as error:  # a user's module may fail in any way
        fault = f"{name} fails on import ({describe_error(error)})"
        raise input_error("scdn", kind, fault, "mend the module") from error
