"""Request and response bodies of the studio's HTTP API, beside the plan request and the plan."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from scdn.control.least_changes import ChangedSetting
from scdn.control.plan import Reason
from scdn.record.event_schema import TargetResult
from scdn.report.results import Chart, EnergyLedger, Measure, ParetoChart, Verdict
from scdn.scenario.field_types import Positive, TargetText
from scdn.scenario.mission_settings import Goal
from scdn.studio.run_folders import View
from scdn.studio.settings import MAX_METHODS, MAX_NOTE, MAX_SEEDS

Text = Annotated[str, Field(max_length=4_000_000)]
RunStatus = Literal["running", "paused", "unfinished", "stopped", "done", "diverged"]
JobState = Literal["running", "paused", "stopped", "done", "failed"]


class _RequestBody(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FaultInfo(BaseModel):
    """One mistake in a request: the field, what was found there, and what is allowed."""

    field: str
    found: str
    allowed: str


class Faults(BaseModel):
    """Every mistake in a request."""

    faults: list[FaultInfo]


class MethodInfo(BaseModel):
    """A method that can be run."""

    name: str
    about: str


class About(BaseModel):
    """The studio's version, its runs directory, and what runs can be made of."""

    version: str
    runs_dir: str = Field(description="the folder that names of runs are relative to")
    new_runs_dir: str = Field(description="the folder that new runs are recorded in")
    view: View = Field(description="what the page shows first")
    opened: str | None = Field(description="the run or the study that the studio was opened on")
    methods: list[MethodInfo]
    datasets: list[str] = Field(description="data sets stored on this machine")
    examples: list[str]


class Example(BaseModel):
    """An example file that comes with the studio."""

    name: str
    text: str


class OpenFileRequest(_RequestBody):
    """A file from the user's machine, and which round to plan if it is a scenario."""

    name: Annotated[str, Field(max_length=200)] = "file"
    text: Text
    round: Annotated[int, Field(ge=0, le=1_000_000)] = 0


class OpenedFile(BaseModel):
    """A complete plan request, read from a request or made from a round of a scenario."""

    kind: Literal["request", "scenario"]
    request: dict[str, Any] = Field(description="a plan request with every value")
    scenario: str | None = Field(description="the scenario as TOML, if the file is one")
    name: str
    round: int
    rounds: int
    warnings: list[str]


class OpenDevicesRequest(_RequestBody):
    """A CSV of devices, and the plan request in which they replace the others."""

    name: Annotated[str, Field(max_length=200)] = "devices.csv"
    text: Text
    request: dict[str, Any]


class OpenedDevices(BaseModel):
    """A plan request with the devices of a CSV."""

    request: dict[str, Any]


class SaveScenarioRequest(_RequestBody):
    """A network to write as a scenario; `scenario` supplies what a plan request does not have."""

    request: dict[str, Any]
    scenario: Text | None = None
    name: Annotated[str, Field(min_length=1, max_length=80)] = "studio"


class SavedScenario(BaseModel):
    """A scenario as TOML, and what of the network it could not take over."""

    text: str
    lost: list[str] = Field(description="a line for each setting that a scenario does not keep")


class ObjectiveSurface(BaseModel):
    """The least objective for each server position at one altitude; null where it may not be."""

    altitude_m: float
    x_m: list[float]
    y_m: list[float]
    objective: list[list[float | None]] = Field(description="a row per y")


class ReachShell(BaseModel):
    """The largest distance to the server at full power, by the server's elevation."""

    id: str
    link: Literal["a2g", "a2a"]
    radius_m: list[float | None] = Field(description="null: no limit")


class ReachShells(BaseModel):
    """One shell per device, over the same elevations from 0° to 90°."""

    elevation_deg: list[float]
    shells: list[ReachShell]


class LeastChangeInfo(BaseModel):
    """A setting's least change that ends a device's reason to rest."""

    setting: ChangedSetting
    now: float
    value: float
    then: Reason | None = Field(description="why it would still rest; null: it would take part")


class RestingDeviceInfo(BaseModel):
    """A device that rests, why, and the changes that would each end this reason."""

    id: str
    reason: Reason
    changes: list[LeastChangeInfo]


class LeastChanges(BaseModel):
    """What would help the first devices that rest, with the server at one position."""

    devices: list[RestingDeviceInfo]


class MissionRequest(_RequestBody):
    """What a mission is to reach, in place of what the scenario says."""

    model_config = ConfigDict(allow_inf_nan=False)

    goal: Goal | None = None
    target: TargetText | None = None
    budget_j: Positive | None = None
    deadline_s: Positive | None = None


class StartRequest(_RequestBody):
    """What to run: one method with one seed, or several to compare."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,60}$")]
    scenario: Text
    methods: Annotated[list[str], Field(min_length=1, max_length=MAX_METHODS)]
    seeds: Annotated[int, Field(ge=1, le=MAX_SEEDS)] = 1
    rounds: Annotated[int, Field(ge=1, le=100_000)] | None = None
    mission: MissionRequest | None = None


class JobActionRequest(_RequestBody):
    """An action on a job."""

    job: Annotated[str, Field(max_length=200)]
    action: Literal["pause", "go-on", "stop", "resume"]


class JobInfo(BaseModel):
    """A process that the studio started."""

    job: str
    state: JobState
    command: str = Field(description="the equivalent command line")
    log: str = Field(description="the last lines of its output")


class ComparedRun(BaseModel):
    """One run of a comparison, with its final metrics and its costs."""

    method: str
    seed: int
    status: str
    rounds: int
    metrics: dict[str, Any]
    joules: float
    seconds: float = Field(description="simulated")
    bits: float
    targets: list[TargetResult]


class RunTarget(TargetResult):
    """A target of a recorded run, with its name for people."""

    label: str = Field(description="such as 95 % top-3")


class RunInfo(BaseModel):
    """A recorded run, finished or not."""

    run: str
    study: str = Field(description="the folder of the comparison that it belongs to")
    name: str
    method: str
    seed: int
    status: RunStatus
    rounds: int
    done: int
    dataset: str | None
    score: str | None = Field(description="the last headline score, as text")
    targets: list[RunTarget] = Field(description="of the scenario, once the run has ended")
    job: str | None
    updated: float
    note: str = Field(description="what a person has written about it")
    fault: str | None = Field(description="why it cannot be read")


class NoteRequest(_RequestBody):
    """A text about a run; an empty one removes it."""

    run: Annotated[str, Field(max_length=1000, description="as in /api/runs")]
    note: Annotated[str, Field(max_length=MAX_NOTE)]


class RunNote(BaseModel):
    """A note as it is stored."""

    run: str
    note: str


class DeletedRuns(BaseModel):
    """The names of the runs that were deleted."""

    deleted: list[str]


class SettingDifference(BaseModel):
    """A setting in which two runs differ, by its dotted key; values are JSON."""

    setting: str
    first: str | None = Field(description="null where the run does not have the setting")
    second: str | None


class SettingsDiff(BaseModel):
    """The settings in which two runs differ."""

    differences: list[SettingDifference]
    left_out: int


class RunList(BaseModel):
    """All runs below the runs directory, the latest first."""

    runs_dir: str
    runs: list[RunInfo]
    jobs: list[JobInfo]
    opened: str | None = Field(description="the run or the study that the studio was opened on")
    left_out: int


class StudySummary(BaseModel):
    """Methods compared over seeds: measures, charts, and energy by term."""

    methods: list[str]
    reference: str
    seeds: list[int]
    metric: str
    targets: list[str] = Field(description="such as top3=95")
    runs: list[ComparedRun]
    notes: list[str]
    missions: list[str] = Field(description="what missions used, and what no plan needs less than")
    measures: list[Measure]
    charts: list[Chart]
    ledger: EnergyLedger
    verdicts: list[Verdict] = Field(description="which method to choose, in numbers and words")
    pareto: ParetoChart = Field(description="final scores against joules and seconds")
    run_names: list[str] = Field(description="names of `runs` in this API, in the same order")
    figures: list[str] = Field(description="figures that /api/study.png and .svg draw")
    tables: list[str] = Field(description="tables that /api/study.csv writes")
