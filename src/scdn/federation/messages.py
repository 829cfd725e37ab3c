"""What server and devices say to one another: every message has a form, checked before use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from scdn.data.dataset import Task
from scdn.errors import faults_from_pydantic, format_value, input_error
from scdn.federation.wire import Arrays, Frame, WireError

DIGEST = 16  # bytes of a hashed key
VERSION = 2  # of these forms

Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
Count = Annotated[int, Field(ge=0, le=1 << 40)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Shape = tuple[int | str, ...]  # a text stands for any size, the same wherever it stands


class Message(BaseModel):
    """The words of a message. `arrays` names what comes with it; a `?` makes one optional."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    arrays: ClassVar[Mapping[str, tuple[str, Shape]]] = {}

    run: Annotated[str, Field(max_length=64)]
    nonce: Annotated[str, Field(max_length=64)]


# --- what a server asks ---------------------------------------------------------------------------


class Hello(Message):
    """Who are you, and which rows do you have? `salt` keys the hash of rows' keys."""

    version: Literal[2]
    salt: Annotated[str, Field(max_length=64)]


class Start(Message):
    """Take part: these rows in this order, these wishes for your model."""

    arrays = {"train": ("u", ("n", DIGEST)), "test": ("u", ("m", DIGEST)), "sample": ("i", ("s",))}

    name: Annotated[str, Field(min_length=1, max_length=80)]
    seed: Count
    task: Task
    width: Annotated[int, Field(ge=1, le=10_000)]
    learning: dict[str, Any]


class Probe(Message):
    """Measure your gradients at these batches."""

    arrays = {
        "batches": ("i", ("t", "b")),
        "slopes": ("f", ("t", "b", "w")),
        "sample_slopes": ("f", ("s", "w")),
    }

    base: Count


class Refresh(Message):
    """Of which rows embeddings are wanted; all training rows where `rows` is absent."""

    arrays = {"rows?": ("i", ("r",))}

    base: Count


class Apply(Refresh):
    """Go the part `share` of your way from state `base`; that is state `state`."""

    state: Count
    share: Annotated[float, Field(ge=0, le=1)]


class Train(Message):
    """Your part of the round's plan, and what to train on.

    With `share` the update is applied at once, and embeddings come with the answer.
    """

    arrays = {
        "batches": ("i", ("t", "b")),
        "slopes": ("f", ("t", "b", "w")),
        "sample_slopes?": ("f", ("s", "w")),
        "rows?": ("i", ("r",)),
    }

    round: Count
    base: Count
    state: Count
    share: Annotated[float, Field(ge=0, le=1)] | None
    steps: Count
    rate: Positive
    mu: Positive
    rho: Positive
    iterations: Positive
    power_w: Positive
    cpu_hz: Positive


class Bye(Message):
    """You have left; thank you."""

    reason: Annotated[str, Field(max_length=400)]


# --- what a device answers ------------------------------------------------------------------------


class HelloBack(Message):
    """A device's name, its hashed keys, and the states it holds as a party of this run."""

    arrays = {"keys": ("u", ("n", DIGEST))}

    name: Name
    columns: Count
    party: Annotated[str, Field(max_length=80)]
    states: Annotated[list[Count], Field(max_length=8)]
    position_m: Annotated[list[Finite], Field(min_length=3, max_length=3)] | None


class Embedded(Message):
    """Embeddings as the model stands."""

    arrays = {"table": ("f", ("r", "w")), "tests": ("f", ("m", "w"))}

    smoothness: Annotated[float, Field(ge=0)] | None  # null: not finite, or not of norms
    seconds: Positive


class Started(Embedded):
    """The same of a new party."""

    connections: Annotated[int, Field(ge=1, le=1 << 40)]


class Measured(Message):
    """Figures of gradients."""

    bound_sq: Positive
    variance: Positive
    turning: Positive | None = None  # L_n, where it is measured
    seconds: Positive


class Trained(Message):
    """What training gave: embeddings of the batches at the end of the way."""

    arrays = {
        "trained": ("f", ("t", "b", "w")),
        "table?": ("f", ("r", "w")),
        "tests?": ("f", ("m", "w")),
    }

    bound_sq: Positive | None
    variance: Positive | None
    turning: Positive | None = None
    smoothness: Annotated[float, Field(ge=0)] | None = None
    seconds: Positive


class Gone(Message):
    """Understood."""


class Refused(Message):
    """A device will not, or cannot."""

    reason: Annotated[str, Field(max_length=400)]


ASKED: dict[str, type[Message]] = {
    "hello": Hello,
    "start": Start,
    "probe": Probe,
    "embed": Refresh,
    "train": Train,
    "apply": Apply,
    "bye": Bye,
}
ANSWERED: dict[str, type[Message]] = {
    "hello": HelloBack,
    "start": Started,
    "probe": Measured,
    "embed": Embedded,
    "train": Trained,
    "apply": Embedded,
    "bye": Gone,
}

M = TypeVar("M", bound=Message)


def read(form: type[M], frame: Frame, sizes: Mapping[str, int] | None = None) -> M:
    """A message's words, checked with its arrays; `sizes` are those that are known."""
    try:
        words = form.model_validate(frame.words)
    except ValidationError as error:
        raise WireError("; ".join(map(str, faults_from_pydantic(error, form)[:3]))) from None
    _check_arrays(form, frame.arrays, dict(sizes or {}))
    return words


def _check_arrays(form: type[Message], arrays: Arrays, sizes: dict[str, int]) -> None:
    known = {name.rstrip("?"): name.endswith("?") for name in form.arrays}
    for name in arrays.keys() - known.keys():
        raise WireError(f"an array {name!r} that nobody asked for")
    for told, (kind, shape) in form.arrays.items():
        name = told.rstrip("?")
        if name not in arrays:
            if not known[name]:
                raise WireError(f"no {name}")
            continue
        _check_array(name, arrays[name], kind, shape, sizes)


def _check_array(
    name: str, array: NDArray[Any], kind: str, shape: Shape, sizes: dict[str, int]
) -> None:
    if array.dtype.kind != kind or array.ndim != len(shape):
        raise WireError(f"{name} is of another form")
    for found, wanted in zip(array.shape, shape, strict=True):
        right = wanted if isinstance(wanted, int) else sizes.setdefault(wanted, found)
        if found != right:
            raise WireError(f"{name} has shape {array.shape}, {found} must be {right}")


def check_name(name: str) -> str:
    """A device's name, refused where it could not be sent."""
    try:
        return TypeAdapter(Name).validate_python(name)
    except ValidationError:
        allowed = "must be up to 64 letters, digits, _ . and -, a letter or digit first"
        raise input_error("scdn", "--name", f"got {format_value(name)}", allowed) from None


def row_numbers(name: str, array: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Row numbers, refused where one is not there."""
    if array.size and not (array.min() >= 0 and array.max() < count):
        raise WireError(f"{name} has rows that are not there")
    return array.astype(np.int64)
