"""What the studio's HTTP interface takes and gives, beside the contract's own forms."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from scdn.control.solve import SOLVERS, Solver
from scdn.studio.settings import MAX_METHODS, MAX_SEEDS

__all__ = ["SOLVERS", "Solver"]

Text = Annotated[str, Field(max_length=4_000_000)]
Status = Literal["running", "paused", "unfinished", "stopped", "done", "diverged"]
JobState = Literal["running", "paused", "stopped", "done", "failed"]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FaultForm(BaseModel):
    """What is wrong: where, what was found, what is allowed."""

    field: str
    found: str
    allowed: str


class Faults(BaseModel):
    """Everything that is wrong with a request."""

    faults: list[FaultForm]


class MethodForm(BaseModel):
    """A method that can be run."""

    name: str
    about: str


class About(BaseModel):
    """What this studio is and knows."""

    version: str
    runs_dir: str
    methods: list[MethodForm]
    datasets: list[str] = Field(description="those that are stored here")
    examples: list[str]


class Example(BaseModel):
    """A file to begin with."""

    name: str
    text: str


class FileForm(_Form):
    """A file as the user has it."""

    name: Annotated[str, Field(max_length=200)] = "file"
    text: Text
    round: Annotated[int, Field(ge=0, le=1_000_000)] = 0


class Opened(BaseModel):
    """A request, complete; of a scenario, the round that was asked for."""

    kind: Literal["request", "scenario"]
    request: dict[str, Any] = Field(description="a plan request with every value")
    scenario: str | None = Field(description="the scenario as TOML, if it is one")
    name: str
    round: int
    rounds: int
    warnings: list[str]


class SaveForm(_Form):
    """A network to write as a scenario; what a request does not have comes from `scenario`."""

    request: dict[str, Any]
    scenario: Text | None = None
    name: Annotated[str, Field(min_length=1, max_length=80)] = "studio"


class Saved(BaseModel):
    """A scenario as TOML."""

    text: str


class Surface(BaseModel):
    """The best objective with the server anywhere at one altitude; null where it may not be."""

    altitude_m: float
    x_m: list[float]
    y_m: list[float]
    objective: list[list[float | None]] = Field(description="a row per y")


class Shell(BaseModel):
    """How far a device is heard at full power, by the elevation at which the server is seen."""

    id: str
    link: Literal["a2g", "a2a"]
    radius_m: list[float | None] = Field(description="null: from anywhere")


class Shells(BaseModel):
    """One shell per device, over the same elevations from −90° or 0° to 90°."""

    elevation_deg: list[float]
    shells: list[Shell]


class StartForm(_Form):
    """What to run: one method with one seed, or several to compare."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,60}$")]
    scenario: Text
    methods: Annotated[list[str], Field(min_length=1, max_length=MAX_METHODS)]
    seeds: Annotated[int, Field(ge=1, le=MAX_SEEDS)] = 1
    rounds: Annotated[int, Field(ge=1, le=100_000)] | None = None


class ActionForm(_Form):
    """What to do with a job."""

    job: Annotated[str, Field(max_length=200)]
    action: Literal["pause", "go-on", "stop", "resume"]


class JobForm(BaseModel):
    """A process that was started here."""

    job: str
    state: JobState
    command: str = Field(description="the same on the command line")
    log: str = Field(description="the end of what it said")


class RunForm(BaseModel):
    """A recorded run, running or not."""

    run: str
    study: str = Field(description="the folder of the comparison that it belongs to")
    name: str
    method: str
    seed: int
    status: Status
    rounds: int
    done: int
    dataset: str | None
    score: str | None = Field(description="the last metric in words")
    job: str | None
    updated: float
    fault: str | None = Field(description="why it cannot be read")


class RunList(BaseModel):
    """All runs below the runs directory, the latest first."""

    runs_dir: str
    runs: list[RunForm]
    jobs: list[JobForm]
    left_out: int


class SpreadForm(BaseModel):
    """Mean and deviation over seeds, and the difference to the reference, paired by seed."""

    method: str
    mean: float
    std: float | None
    seeds: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_t: float | None = None
    p_flip: float | None = None
    verdict: str | None = None


class MeasureForm(BaseModel):
    """Something that methods are compared by."""

    key: str
    label: str
    unit: str
    better: int
    main: bool
    values: list[SpreadForm]


class LineForm(BaseModel):
    """A method's mean over its seeds, with the deviation where there are several."""

    method: str
    x: list[float]
    mean: list[float]
    std: list[float] | None
    future: bool
    step: bool


class LevelForm(BaseModel):
    """Something to compare with, and where its name goes."""

    label: str
    value: float
    name_at: float


class ChartForm(BaseModel):
    """Lines over something."""

    name: str
    title: str
    about: str
    x_label: str
    y_label: str
    low: float
    high: float
    lines: list[LineForm]
    levels: list[LevelForm]


class LedgerForm(BaseModel):
    """Joules per method by term, the mean over seeds."""

    methods: list[str]
    terms: dict[str, list[float]]
    totals: list[SpreadForm]


class StudyForm(BaseModel):
    """Methods side by side."""

    methods: list[str]
    reference: str
    seeds: list[int]
    metric: str
    notes: list[str]
    measures: list[MeasureForm]
    charts: list[ChartForm]
    ledger: LedgerForm
    figures: list[str] = Field(description="names of pictures that /api/study.png draws")
