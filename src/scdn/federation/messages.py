"""The messages between server and devices, and their version.

The server sends requests and each device answers every request with one reply of the same kind, or
with `refused`. A message's fields and arrays are checked against its schema before they are used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from scdn.data.dataset import TaskKind
from scdn.errors import faults_from_pydantic, format_value, input_error
from scdn.federation.table_format import table_arrays
from scdn.federation.wire_format import Arrays, Frame, WireError
from scdn.learning.gradient_stats import GradientStats
from scdn.scenario.field_types import NumberBits

VERSION = 9  # of these schemas; a device with another version refuses the server's hello
DIGEST_BYTES = 16  # of a hashed key
MAX_STEP_LENGTH = 4096.0  # along a device's update
MAX_FIGURE = 1e18  # of a statistic: its square, times any other, is finite in 64 bits
MAX_SECONDS = 1e9  # that a device says it computed

Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
Count = Annotated[int, Field(ge=0, le=1 << 40)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Figure = Annotated[float, Field(ge=0, le=MAX_FIGURE)]
Seconds = Annotated[float, Field(ge=0, le=MAX_SECONDS)]
StepLength = Annotated[float, Field(ge=0, le=MAX_STEP_LENGTH)]
Smoothness = Figure | None  # None: not finite, or not from spectral norms
RunId = Annotated[str, Field(max_length=64, pattern=r"^[A-Za-z0-9]*$")]  # also a folder's name
ArrayShape = tuple[int | str, ...]  # a letter is any size, the same size wherever it occurs


class Message(BaseModel):
    """The fields of every message.

    `arrays` gives the kind (NumPy's `dtype.kind`) and shape of each array; `?` marks optional ones.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    arrays: ClassVar[Mapping[str, tuple[str, ArrayShape]]] = {}

    run: RunId
    nonce: Annotated[str, Field(max_length=64)]  # a reply repeats its request's


# --- requests of the server -----------------------------------------------------------------------


class HelloRequest(Message):
    """Ask a device for its name and rows; `salt` keys the hash of the rows' keys."""

    version: Literal[9]
    salt: Annotated[str, Field(max_length=64)]


class JoinRequest(Message):
    """Ask a device to join with a new model: for these rows in this order, with these settings.

    A device draws the rows of a round by itself: from the seed, a batch for each of `steps`. A
    column with the name of the server's `label` is no feature.
    """

    arrays = {
        "train": ("u", ("n", DIGEST_BYTES)),
        "test": ("u", ("m", DIGEST_BYTES)),
        "sample": ("i", ("s",)),
    }

    run: Annotated[RunId, Field(min_length=1)]
    name: Annotated[str, Field(min_length=1, max_length=80)]
    seed: Count
    task: TaskKind
    width: Annotated[int, Field(ge=1, le=10_000)]
    steps: Annotated[int, Field(ge=0, le=1 << 20)]
    label: Annotated[str, Field(max_length=1000)]
    learning: dict[str, Any]


class EmbedRequest(Message):
    """Ask for embeddings of a round's rows.

    In phase `begin` the device is about to train, and an update that it has not applied is over.
    With `late` it has trained before, and has not applied its update; with `trained` that counts in
    full, and the rows are those on which the step is chosen. All tables of the round, in both
    directions, have `number_bits` per number.
    """

    round: Count
    arrival: Count = 0
    base: Count
    number_bits: NumberBits
    phase: Literal["begin", "late", "trained"] = "begin"


class ReportRequest(Message):
    """Ask for embeddings of the sample and the test rows."""

    round: Count
    base: Count
    number_bits: NumberBits


class ApplyRequest(Message):
    """Ask a device to go so far along its update of state `base`, which gives state `state`.

    Where a step was too long, a further request of the same round starts from `base` again and
    gives a state with another number. A device that trained ahead is told the `round` of its
    report, and the part of the table that it sends with it.
    """

    base: Count
    state: Count
    step_length: StepLength
    round: Count | None = None
    arrival: Count = 0
    table_part: Count | None = None


class TrainRequest(Message):
    """Give a device its part of the round's plan, and the loss's gradients at its embeddings.

    With `step_length` the update is applied at once, and the reply has the new embeddings.
    `table_part` is the part of the table of all training rows that it sends after its update.
    Where a device trains `ahead`, the reply says only that it is ready to report.
    """

    arrays = {**table_arrays("gradients"), **table_arrays("sample_gradients")}

    round: Count
    arrival: Count = 0
    ahead: bool = False
    base: Count
    state: Count
    step_length: StepLength | None
    table_part: Count | None
    steps: Count
    rate: NonNegative
    optimizer: Annotated[str, Field(max_length=64)]
    optimizer_value: NonNegative
    iterations: NonNegative
    power_w: NonNegative
    cpu_hz: NonNegative


class PredictRequest(Message):
    """Ask for embeddings of rows with these hashed keys, by the model in state `base`."""

    arrays = {"keys": ("u", ("n", DIGEST_BYTES))}

    base: Count


class GoodbyeRequest(Message):
    """Tell a device that it no longer takes part, and why."""

    reason: Annotated[str, Field(max_length=400)]


# --- replies of a device --------------------------------------------------------------------------


class HelloReply(Message):
    """A device's name, its hashed keys, and the model states it holds as a party of this run."""

    arrays = {"keys": ("u", ("n", DIGEST_BYTES))}

    name: Name
    party: Annotated[str, Field(max_length=80)]
    states: Annotated[list[Count], Field(max_length=8)]
    position_m: Annotated[list[Finite], Field(min_length=3, max_length=3)] | None


class JoinReply(Message):
    """The number of connections of a device's model, and its smoothness."""

    connections: Annotated[int, Field(ge=1, le=1 << 40)]
    smoothness: Smoothness
    seconds: Seconds


class EmbedReply(Message):
    """Embeddings of the round's rows: those to train on, and those held out.

    There are none where the update that counts has `diverged`.
    """

    arrays = {**table_arrays("drawn"), **table_arrays("held_out")}

    diverged: bool = False
    seconds: Seconds


class ReportReply(Message):
    """Embeddings of the sample and of the test rows, which are measurement."""

    arrays = {**table_arrays("sample"), "test": ("f", ("test", "w"))}

    smoothness: Smoothness
    seconds: Seconds


class ApplyReply(Message):
    """Embeddings of the updated model, and its smoothness.

    `diverged` says that numbers are no longer finite: there are no embeddings, and the device stays
    in state `base`.
    """

    arrays = {
        **EmbedReply.arrays,
        **table_arrays("sample"),
        **table_arrays("table"),
        "test?": ("f", ("test", "w")),
    }

    diverged: bool = False
    smoothness: Smoothness = None
    seconds: Seconds


class TrainReply(ApplyReply):
    """Embeddings of the rows on which the step is chosen, and statistics of the gradients.

    If the update was applied at once, they are those of `ApplyReply`.
    """

    bound_sq: Figure | None
    variance: Figure | None
    measured_smoothness: Figure | None = None  # L_n, where it is measured


class PredictReply(Message):
    """Embeddings of the rows, in the order of their keys."""

    arrays = {"embeddings": ("f", ("rows", "w"))}

    seconds: Seconds


class GoodbyeReply(Message):
    """Confirm that the device stops."""


class RefusedReply(Message):
    """Say why a device does not answer a request."""

    reason: Annotated[str, Field(max_length=400)]


SCHEMAS: dict[str, tuple[type[Message], type[Message]]] = {  # request and reply, by kind
    "hello": (HelloRequest, HelloReply),
    "join": (JoinRequest, JoinReply),
    "embed": (EmbedRequest, EmbedReply),
    "train": (TrainRequest, TrainReply),
    "apply": (ApplyRequest, ApplyReply),
    "report": (ReportRequest, ReportReply),
    "predict": (PredictRequest, PredictReply),
    "goodbye": (GoodbyeRequest, GoodbyeReply),
}
REFUSED = "refused"
ROUND_MESSAGES = ("embed", "train", "apply", "report")  # the others are about joining and leaving


# --- checks ---------------------------------------------------------------------------------------

M = TypeVar("M", bound=Message)


def check_message(schema: type[M], frame: Frame, sizes: Mapping[str, int] | None = None) -> M:
    """Return a message's fields, checked with its arrays; `sizes` are the sizes known before."""
    try:
        message = schema.model_validate(frame.fields)
    except ValidationError as error:
        raise WireError("; ".join(map(str, faults_from_pydantic(error, schema)[:3]))) from None
    _check_arrays(schema, frame.arrays, dict(sizes or {}))
    return message


def _check_arrays(schema: type[Message], arrays: Arrays, sizes: dict[str, int]) -> None:
    expected = {name.rstrip("?"): name for name in schema.arrays}
    for name in arrays.keys() - expected.keys():
        raise WireError(f"unexpected array {name!r}")
    for name, entry in expected.items():
        if name in arrays:
            _check_array(name, arrays[name], *schema.arrays[entry], sizes)
        elif not entry.endswith("?"):
            raise WireError(f"array {name!r} is missing")


def _check_array(
    name: str, array: NDArray[Any], kind: str, shape: ArrayShape, sizes: dict[str, int]
) -> None:
    if array.dtype.kind != kind or array.ndim != len(shape):
        raise WireError(f"{name} has the wrong type or number of dimensions")
    for size, expected in zip(array.shape, shape, strict=True):
        right = expected if isinstance(expected, int) else sizes.setdefault(expected, size)
        if size != right:
            raise WireError(f"{name} has shape {array.shape}, {size} must be {right}")


def check_name(name: str) -> str:
    """Return a device's name, or raise an error where it cannot be sent."""
    try:
        return TypeAdapter(Name).validate_python(name)
    except ValidationError:
        allowed = "must be up to 64 letters, digits, _ . and -, a letter or digit first"
        raise input_error("scdn", "--name", f"got {format_value(name)}", allowed) from None


def check_row_numbers(name: str, array: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Return row numbers, or raise an error where one is not below `count`."""
    if array.size and not (array.min() >= 0 and array.max() < count):
        raise WireError(f"{name} has row numbers outside 0..{count - 1}")
    return array.astype(np.int64)


def statistics_fields(stats: GradientStats | None) -> dict[str, float | None]:
    """Return statistics as fields of a reply; there are none if they are not finite."""
    if stats is None or not stats.is_finite or max(stats.bound_sq, stats.variance) > MAX_FIGURE:
        return {"bound_sq": None, "variance": None}
    return {
        "bound_sq": stats.bound_sq,
        "variance": stats.variance,
        "measured_smoothness": stats.smoothness,
    }
