"""Types of scenario fields, and fields whose defaults carry an explanation."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Strict
from pydantic.config import JsonDict

from scdn.targets import parse_target


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


Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
Magnitude = Annotated[float, Field(ge=0, le=1e15)]
Probability = Annotated[float, Field(ge=0, le=1)]
Decibels = Annotated[float, Field(ge=-1000, le=1000)]
Text = Annotated[str, Field(min_length=1)]
_WHOLE = BeforeValidator(_integral_float_to_int), Field(le=2**53)  # exact in any JSON reader
WholeNumber = Annotated[int, *_WHOLE]
PositiveWhole = Annotated[int, Field(gt=0), *_WHOLE]
SchemaVersion = Annotated[int, Field(ge=1, le=1)]
TargetText = Annotated[str, AfterValidator(lambda text: str(parse_target(text)))]
Number = Annotated[float, Strict()]
NumberBits = Literal[2, 4, 8, 16, 32]  # of a number in a table that is sent
Vector3 = Annotated[tuple[Number, Number, Number], Strict(False)]
Box = Annotated[tuple[Number, Number, Number, Number, Number, Number], Strict(False)]
Rectangle = Annotated[tuple[Number, Number, Number, Number], Strict(False)]
NumberRange = Annotated[tuple[Number, Number], Strict(False), BeforeValidator(_number_to_pair)]
