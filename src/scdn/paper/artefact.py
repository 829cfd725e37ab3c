"""Artefacts as their folders describe them: specs, and what an artefact shows and claims."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.resources import files
from itertools import zip_longest
from typing import Any, Literal, NamedTuple, Protocol, cast, get_args

from scdn.errors import format_value, input_error
from scdn.file_io import apply_settings
from scdn.paper.sweep import ArtefactJob
from scdn.scenario import Scenario, make_scenario, profile_defaults

Numbers = dict[str, Any]  # an artefact's results as its file holds them
Results = Mapping[str, Any]  # a job's key → its result
NoAnswer = Literal["regime not reached", "not enough runs", "not recomputed"]
Verdict = Literal[
    "not reproduced",
    "reproduced in this regime",
    "reproduced",
    "regime not reached",
    "not enough runs",
    "not recomputed",
    "not measured",
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
BEYOND_PAPER = "beyond the paper"  # the source of statements that are not the paper's


class Finding(NamedTuple):
    """Whether a statement holds in one block or group of cases, or why that cannot be said."""

    answer: bool | NoAnswer
    evidence: str


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, and our verdict on it."""

    source: str  # where the paper says so
    text: str
    verdict: Verdict
    reason: str  # with the numbers
    findings: Mapping[str, Finding] = field(default_factory=dict)  # by block or group

    @property
    def beyond_paper(self) -> bool:
        """Whether the statement is ours; such statements are listed apart."""
        return self.source.startswith(BEYOND_PAPER)


@dataclass(frozen=True)
class ResultTable:
    """A table of text cells."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Drawing:
    """A picture: the name of its file, and the function that draws it on a Matplotlib figure."""

    name: str
    title: str
    draw: Callable[[Any], None]
    size: tuple[float, float] = (9.0, 3.4)  # inches


Part = ResultTable | Drawing  # what an artefact shows


@dataclass(frozen=True)
class ArtefactSpec:
    """An artefact as its spec.toml describes it, and what the user wants to be different."""

    name: str
    title: str
    paper: str  # the tables and figures of the paper that it reproduces
    order: int  # on the page
    folder: str
    default_runs: int
    base_scenario: dict[str, Any]
    sweep: dict[str, Any]  # what is varied
    all_blocks: dict[str, Any]
    data: str = ""
    metric: str = ""
    takes_only: bool = True  # whether some of the blocks can be run alone
    runs: int | None = None
    rounds: int | None = None
    device: str = "cpu"
    only: tuple[str, ...] = ()  # blocks to run; empty: all
    overrides: tuple[str, ...] = ()  # the user's settings, applied last

    def __post_init__(self) -> None:
        for block in self.only:
            if block not in self.all_blocks or not self.takes_only:
                names = ", ".join(self.all_blocks if self.takes_only else ())
                allowed = f"must be one of {names}" if names else "the artefact has no blocks"
                raise input_error(self.name, "--only", f"got {format_value(block)}", allowed)

    @property
    def seeds(self) -> range:
        """One seed per independent run."""
        return range(self.runs or self.default_runs)

    @property
    def blocks(self) -> dict[str, Any]:
        """The blocks to run, by name."""
        return {k: v for k, v in self.all_blocks.items() if not self.only or k in self.only}

    @property
    def judged_blocks(self) -> list[str]:
        """The blocks to run by which claims are judged; the others are shown beside them."""
        return [name for name, table in self.blocks.items() if table.get("judged", True)]

    def block_settings(self, block: str) -> list[str]:
        """Return a block's settings, after those of the block that it is like."""
        table = self.all_blocks[block]
        inherited = self.block_settings(table["like"]) if "like" in table else []
        return [*inherited, *table.get("settings", [])]

    @property
    def user_settings(self) -> list[str]:
        """Everything that the user wants to be different, as settings of the scenario."""
        device = [f"learning.device={self.device}"] if self.device != "cpu" else []
        rounds = [f"learning.rounds={self.rounds}"] if self.rounds is not None else []
        return [*device, *rounds, *self.overrides]

    def scenario(self, settings: Iterable[str] = ()) -> Scenario:
        """Return the spec's scenario with these settings, then the user's."""
        document = apply_settings(self.base_scenario, [*settings, *self.user_settings])
        defaults = _merge(artefact_defaults(), profile_defaults(document))
        if document.get("profile") == "paper":
            defaults = _merge(defaults, paper_reading())
        return make_scenario(_merge(defaults, document), f"{self.name}.toml")

    @property
    def job_module(self) -> JobModule:
        """The artefact's jobs.py."""
        return cast(JobModule, import_module(f"scdn.paper.{self.folder}.jobs"))

    @property
    def claim_module(self) -> ClaimModule:
        """The artefact's claims.py."""
        return cast(ClaimModule, import_module(f"scdn.paper.{self.folder}.claims"))


class JobModule(Protocol):
    """An artefact's jobs.py.

    It may also have `can_show(spec, results)`, which says whether the results so far are enough to
    show something. Without it the artefact is shown once all jobs of a number of runs are done.
    """

    def jobs(self, spec: ArtefactSpec) -> list[ArtefactJob]:
        """Return what has to be computed."""

    def numbers(self, spec: ArtefactSpec, results: Results) -> Numbers:
        """Return what is kept of the jobs' results: enough for `show` and `claims`."""

    def show(self, numbers: Numbers) -> list[Part]:
        """Return tables and drawings."""


class ClaimModule(Protocol):
    """An artefact's claims.py."""

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Judge what the paper says by the numbers."""


def artefact_names() -> list[str]:
    """Return all artefacts in the order of the page."""
    return sorted(_tables(), key=lambda name: _tables()[name]["order"])


def read_spec(name: str, **options: Any) -> ArtefactSpec:
    """Return an artefact's spec; options are the user's fields of `ArtefactSpec`."""
    if name not in _tables():
        allowed = f"must be one of {', '.join(artefact_names())}"
        raise input_error("scdn paper", "artefact", f"got {format_value(name)}", allowed)
    table = _with_inherited(name)
    return ArtefactSpec(
        name=name,
        title=table["title"],
        paper=table["paper"],
        order=table["order"],
        folder=table["folder"],
        default_runs=table["runs"],
        base_scenario=table["scenario"],
        sweep=table["sweep"],
        all_blocks=table.get("blocks", {}),
        data=table.get("data", ""),
        metric=table.get("metric", ""),
        takes_only=table.get("takes_only", True),
        **options,
    )


@cache
def artefact_defaults() -> dict[str, Any]:
    """Return what every artefact's scenario has below its profile; do not change it."""
    return _read_toml("defaults.toml")


@cache
def paper_reading() -> dict[str, Any]:
    """Return what scenarios with the profile `paper` have in all artefacts; do not change it."""
    return _read_toml("reading.toml")


def _read_toml(name: str) -> dict[str, Any]:
    return tomllib.loads(files("scdn.paper").joinpath(name).read_text(encoding="utf-8"))


@cache
def _tables() -> dict[str, dict[str, Any]]:
    """Return every artefact's own part of its spec, by name."""
    tables: dict[str, dict[str, Any]] = {}
    for folder in files("scdn.paper").iterdir():
        spec = folder.joinpath("spec.toml")
        if spec.is_file():
            shared = tomllib.loads(spec.read_text(encoding="utf-8")) | {"folder": folder.name}
            members = shared.pop("artefacts", None) or {shared["name"]: {}}
            tables |= {name: _merge(shared, member) for name, member in members.items()}
    return tables


def _with_inherited(name: str) -> dict[str, Any]:
    table = _tables()[name]
    return _merge(_with_inherited(table["like"]), table) if "like" in table else table


def _merge(base: Any, changes: Any) -> Any:
    """Return `base` with changes: tables key by key, lists of tables entry by entry."""
    if isinstance(base, dict) and isinstance(changes, dict):
        return base | {key: _merge(base.get(key), value) for key, value in changes.items()}
    if _is_list_of_tables(base) and _is_list_of_tables(changes):
        empty: Any = {}
        return [_merge(old, new) for old, new in zip_longest(base, changes, fillvalue=empty)]
    return changes


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)
