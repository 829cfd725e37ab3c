"""Types of scenario fields, and fields whose defaults carry an explanation."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict
from pydantic.config import JsonDict


class FrozenModel(BaseModel):
    """Base of models that are read from files: strict types, no unknown keys, no NaN, frozen."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, validate_by_name=True
    )


def setting(default: Any, description: str, *, reason: str | None = None, **limits: Any) -> Any:
    """Declare a field; `reason` justifies the default where the paper gives no value."""
    extra: JsonDict | None = {"chosen": reason} if reason else None
    return Field(default, description=description, json_schema_extra=extra, **limits)


def required_setting(description: str, **limits: Any) -> Any:
    """Declare a field without a default."""
    return Field(description=description, **limits)


def _integral_float_to_int(number: Any) -> Any:
    is_integral = isinstance(number, float) and number.is_integer()
    return int(number) if is_integral else number


def _number_to_pair(number: Any) -> Any:
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    return (number, number) if is_number else number


FiniteNumber = Annotated[float, Strict()]
WholeNumber = Annotated[
    int, BeforeValidator(_integral_float_to_int), Field(le=2**53)
]  # exact in any JSON reader
SchemaVersion = Annotated[int, Field(ge=1, le=1)]
Vector3 = Annotated[tuple[FiniteNumber, FiniteNumber, FiniteNumber], Strict(False)]
Box = Annotated[
    tuple[FiniteNumber, FiniteNumber, FiniteNumber, FiniteNumber, FiniteNumber, FiniteNumber],
    Strict(False),
]
Rectangle = Annotated[tuple[FiniteNumber, FiniteNumber, FiniteNumber, FiniteNumber], Strict(False)]
NumberRange = Annotated[
    tuple[FiniteNumber, FiniteNumber], Strict(False), BeforeValidator(_number_to_pair)
]
