"""The kinds of values a scenario is made of, and how a default carries its explanation."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict
from pydantic.config import JsonDict


class FrozenModel(BaseModel):
    """Base of everything read from outside: strict types, no unknown keys, no NaN, no changes."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, validate_by_name=True
    )


def setting(default: Any, about: str, *, chosen: str | None = None, **limits: Any) -> Any:
    """A field: its default, what it means, why it was `chosen` where the paper is silent."""
    extra: JsonDict | None = {"chosen": chosen} if chosen else None
    return Field(default, description=about, json_schema_extra=extra, **limits)


def required_setting(about: str, **limits: Any) -> Any:
    """A field without a default."""
    return Field(description=about, **limits)


def _whole(number: Any) -> Any:
    is_whole = isinstance(number, float) and number.is_integer()
    return int(number) if is_whole else number


def _pair(number: Any) -> Any:
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    return (number, number) if is_number else number


FiniteNumber = Annotated[float, Strict()]
WholeNumber = Annotated[int, BeforeValidator(_whole), Field(le=2**53)]  # exact in any JSON reader
SchemaVersion = Annotated[int, Field(ge=1, le=1)]
Vector3 = Annotated[tuple[FiniteNumber, FiniteNumber, FiniteNumber], Strict(False)]
Box = Annotated[
    tuple[FiniteNumber, FiniteNumber, FiniteNumber, FiniteNumber, FiniteNumber, FiniteNumber],
    Strict(False),
]
Rectangle = Annotated[tuple[FiniteNumber, FiniteNumber, FiniteNumber, FiniteNumber], Strict(False)]
NumberRange = Annotated[tuple[FiniteNumber, FiniteNumber], Strict(False), BeforeValidator(_pair)]
