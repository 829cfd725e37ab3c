"""Calls of the code that is checked: whatever it raises becomes a problem."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from scdn.errors import describe_error

Result = TypeVar("Result")


class UserCodeError(Exception):
    """Raised when the checked code fails, so that this part of its check cannot go on."""


def call(situation: str, advice: str, function: Callable[..., Result], *arguments: Any) -> Result:
    """Return what the checked code returns; raise UserCodeError with a sentence if it fails."""
    try:
        return function(*arguments)
    except Exception as error:
        raise UserCodeError(f"{situation} raised {describe_error(error)}; {advice}.") from error


def collect(*checks: Iterable[str]) -> list[str]:
    """Return the problems of all checks, each of which ends early where the checked code fails."""
    return list(dict.fromkeys(problem for check in checks for problem in _until_failure(check)))


def _until_failure(check: Iterable[str]) -> Iterator[str]:
    try:
        yield from check
    except UserCodeError as error:
        yield str(error)
