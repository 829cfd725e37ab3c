"""A registry: things of one kind by name, and a user's own as `package.module:NAME`."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from importlib import import_module
from inspect import isabstract
from types import ModuleType
from typing import Generic, TypeVar, cast

from scdn.errors import describe_error, format_value, input_error

T = TypeVar("T")


class Registry(Generic[T]):
    """Entries of one kind by name.

    Entries have a `name`; they are instances of `base`, or subclasses of it where `of_classes` is
    set. `kind` is the word that error messages use ("method", "metric", ...).
    """

    def __init__(self, kind: str, base: type, *, of_classes: bool = False) -> None:
        self.kind = kind
        self._base = base
        self._of_classes = of_classes
        self._entries: dict[str, T] = {}

    def register(self, entry: T) -> T:
        """Add an entry under its `name` and return it, so that this may decorate a class.

        Registering a name again replaces its entry, so that a notebook's cell can be run twice.
        """
        name = getattr(entry, "name", "")
        self._check(name, entry)
        if not name or ":" in name:
            fault, allowed = f"got {format_value(name)}", "must be a name without a colon"
            raise input_error("scdn", f"{self.kind} name", fault, allowed)
        self._entries[name] = entry
        return entry

    def get(self, name: str) -> T:
        """Return the entry of this name, or the object that `package.module:NAME` names."""
        if name in self._entries:
            return self._entries[name]
        if ":" not in name:
            close = difflib.get_close_matches(name, self._entries, 1)
            hint = f"did you mean {close[0]}? " if close else ""
            allowed = f"{hint}must be one of {', '.join(self._entries)}, or package.module:NAME"
            raise input_error("scdn", self.kind, f"got {format_value(name)}", allowed)
        entry = import_object(name, self.kind)
        self._check(name, entry)
        return cast(T, entry)

    def names(self) -> tuple[str, ...]:
        """Return the registered names in order of registration."""
        return tuple(self._entries)

    def __iter__(self) -> Iterator[T]:
        return iter(self._entries.values())

    def _check(self, name: str, entry: object) -> None:
        is_class, cls = isinstance(entry, type), entry if isinstance(entry, type) else type(entry)
        if is_class != self._of_classes or not issubclass(cls, self._base):
            fault = f"{name} is {'the class' if is_class else 'a'} {cls.__name__}"
            expected = "a subclass" if self._of_classes else "an instance"
            allowed = f"must be {expected} of {self._base.__name__}"
            raise input_error("scdn", self.kind, fault, allowed)
        if is_class and isabstract(cls):
            missing = ", ".join(sorted(getattr(cls, "__abstractmethods__", ())))
            fault = f"{name} lacks {missing}"
            raise input_error("scdn", self.kind, fault, "define every abstract method")


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
            "run scdn in its folder, or put that on PYTHONPATH"
            if itself
            else "install it, or put it on PYTHONPATH"
        )
        fault = f"{name}: there is no module {missing}"
        raise input_error("scdn", kind, fault, allowed) from error
    except (Exception, SystemExit) as error:  # a user's module may fail in any way
        fault = f"{name} fails on import ({describe_error(error)})"
        raise input_error("scdn", kind, fault, "mend the module") from error
