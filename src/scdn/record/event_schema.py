"""The schema of a run's events, for programs that read them; events may have further fields."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

Position = Annotated[list[float], Field(min_length=3, max_length=3)]


class _OpenModel(BaseModel):
    model_config = ConfigDict(extra="allow", populate_by_name=True)


class Scores(_OpenModel):
    """Accuracies in percent and the macro-F1 from 0 to 1, or errors and R² of a regression."""

    test_loss: float
    top1: float | None = None
    top3: float | None = None
    macro_f1: float | None = None
    mse: float | None = None
    mae: float | None = None
    r2: float | None = None


class Metrics(Scores):
    """After an exit, `future` has the scores on rows that departed devices never embedded."""

    train_loss: float
    future: Scores | None = None


class ServerRound(_OpenModel):
    """The server's position, the energy of moving and hovering, its own training and its sending.

    `compute_j` and `compute_s` are 0 where the server's computing is not counted, `transmission_j`
    and `airtime_s` where its sending is not.
    """

    position_m: Position
    movement_j: float
    compute_j: float = 0.0
    compute_s: float = 0.0
    transmission_j: float = 0.0
    airtime_s: float = 0.0
    steps: Annotated[int, Field(ge=0)] | None = None
    battery_j: float | None = Field(None, description="left after the round, if it has a battery")


class DevicePrivacy(_OpenModel):
    """What is guaranteed for a row so far, the most exposed one of the device.

    With probability 1 − `delta`, `features_epsilon` bounds what the server learns of the row's
    features from what was sent of this row, and `label_epsilon` what the device learns of its
    label; null where there is no noise. Neither is there where nothing was shortened. Where labels
    are drawn at random, `label_epsilon` holds with certainty.
    """

    delta: float
    features_epsilon: float | None = None
    features_sendings: int | None = None
    label_epsilon: float | None = None
    label_sendings: int | None = None


class DeviceRound(_OpenModel):
    """What one device did; `delay_s` is null where it sent nothing.

    `delay_s` is the time of its report as planned. `airtime_s` is that of everything it sent and
    received, `receiving_s` its part for receiving.

    `iterations` are planned. `executed_iterations` are those behind the reports that came in time:
    0 where the device left or its link failed, and of several reports in an asynchronous round.
    """

    id: str
    active: bool | None = Field(None, description="whether it takes part, as planned")
    reason: Literal["out_of_reach", "clock_too_slow", "battery", "not_worth_it"] | None = Field(
        None, description="why it rests; null where it takes part"
    )
    iterations: float
    executed_iterations: Annotated[int, Field(ge=0)] | None = None
    power_w: float
    cpu_hz: float
    delay_s: float | None
    transmission_j: float
    processing_j: float
    circuit_j: float = 0.0
    idle_j: float = 0.0
    bits_sent: float | None = None
    bits_received: float | None = None
    airtime_s: float | None = None
    receiving_s: float | None = None
    battery_j: float | None = Field(None, description="left after the round, if it has a battery")
    importance: float
    smoothness: float
    privacy: DevicePrivacy | None = None


class ArrivalRound(_OpenModel):
    """One report of a round in which the server does not wait for all, with what it took.

    `at_s` is in simulated seconds since the run began. `staleness` counts how often the server was
    updated by others since the device's last report, or with the schedule `buffered` since the
    device began to train. A report that is `dropped` took longer than the limit.
    """

    id: str
    at_s: float
    staleness: Annotated[int, Field(ge=0)]
    dropped: bool
    steps: Annotated[int, Field(ge=0)]


class StepRound(_OpenModel):
    """How far parties went along their updates: once, or at each arrival that trained.

    A length of 1 is the whole update. `sendings` counts how often embeddings were sent after each
    step. `outside_theorem_1` lists the devices that went further than
    Theorem 1's condition on proximal SGD allows.
    """

    lengths: list[float]
    shortenings: Annotated[int, Field(ge=0)]
    sendings: list[int] = []
    diverged: list[str]
    outside_theorem_1: list[str]


class ForecastRound(_OpenModel):
    """By how much each party that trained was expected to lower the loss, and by how much it did.

    The loss is that of rows on which nobody trains. `exponent` is that of the iterations, and
    `staleness_exponent` that of late reports, in rounds that do not wait for all.
    """

    expected: dict[str, float]
    measured: dict[str, float]
    exponent: float
    staleness_exponent: float | None = None


class PlanRound(_OpenModel):
    """The plan's true objective; `gap` is null without a proof.

    `status` is `time_limit` where the planner was stopped at its limit of boxes: the plan is the
    best that was found, and `gap` how far it may be above the optimum. `waits_for` has the devices
    whose reports end the round, where a mission goes on without others; else it is left out.
    """

    status: Literal["optimal", "time_limit", "heuristic"] | None = None
    objective: float
    gap: float | None
    solve_seconds: float
    waits_for: list[str] | None = None


class StartEvent(_OpenModel):
    """The first line."""

    event: Literal["start"]
    schema_version: Literal[1] = Field(alias="schema")
    scenario: dict[str, Any]
    method: str
    seed: int
    versions: dict[str, str]


class RoundEvent(_OpenModel):
    """One line per round; lists hold ids of devices."""

    event: Literal["round"]
    round: Annotated[int, Field(ge=0)]
    active: list[str]
    entered: list[str]
    exited: list[str]
    exits_by_battery: list[str] = Field([], description="those of `exited` that are used up")
    link_failed: list[str]
    server: ServerRound
    devices: list[DeviceRound]
    metrics: Metrics
    plan: PlanRound
    step: StepRound | None = None
    arrivals: list[ArrivalRound] | None = None
    forecast: ForecastRound | None = None
    bits_sent: float | None = None
    bits_received: float | None = None
    seconds: float


class TargetResult(_OpenModel):
    """Whether, when and at what cost a run reached a target; null where it did not."""

    metric: str
    value: float
    reached: bool
    round: int | None
    joules: float | None
    seconds: float | None = Field(description="simulated")
    bits: float | None


class UsedAndBound(_OpenModel):
    """Priced joules that were used, and what no plan for the same progress needs less than.

    The plan knows the gain curves that were fitted to the run, and moves the server for free.
    """

    priced_j: float
    bound_j: float | None = Field(description="null if it was not computed")
    attained_j: float | None = Field(description="of a plan for this progress, if one is known")
    worth_j: float | None = Field(
        description="priced joules per unit of progress, at which the bound was proven"
    )


class UsedToTarget(UsedAndBound):
    """As much, up to the round in which a target was reached."""

    target: str


class MissionEnd(UsedAndBound):
    """What a mission was to reach, why it ended, and what it used."""

    goal: Literal["energy", "time", "best"]
    target: str | None
    ended: str | None = Field(description="why the run was over before its last round")
    to_targets: list[UsedToTarget] = []


class ReliabilityBin(_OpenModel):
    """Test rows of similar confidence: its mean, and the share whose label was the likeliest."""

    confidence: Annotated[float, Field(ge=0, le=1)]
    accuracy: Annotated[float, Field(ge=0, le=1)]
    rows: Annotated[int, Field(ge=1)]


class FinalScores(_OpenModel):
    """What the final model is worth on the test rows; the last three are a classifier's.

    `scores` has every metric by its name, also `auc` and `ece`, the expected calibration error; one
    that these rows do not define is null. `confusion` counts the rows of each class (outer list)
    that were taken for each class (inner list).
    """

    rows: Annotated[int, Field(ge=0)]
    scores: dict[str, float | None]
    classes: list[str] = []
    confusion: list[list[int]] = []
    reliability: list[ReliabilityBin] = []


class EndEvent(_OpenModel):
    """The last line of a run that is over."""

    event: Literal["end"]
    status: Literal["done", "diverged"]
    rounds: int
    metrics: Metrics | None
    evaluation: FinalScores | None = None
    energy: dict[str, float]
    privacy: dict[str, DevicePrivacy] = {}
    targets: list[TargetResult] = []
    warnings: list[str] = Field([], description="what went wrong, and which setting changes it")
    rounds_outside_theorem_1: Annotated[int, Field(ge=0)] = 0
    mission: MissionEnd | None = None


class AnyEvent(
    RootModel[Annotated[StartEvent | RoundEvent | EndEvent, Field(discriminator="event")]]
):
    """One line of events.jsonl."""
