"""What an artefact of the paper is: jobs to run, numbers to keep, things to show, claims to judge.

An artefact is a TOML file in this folder and the module that it names. The module has four
functions:

    jobs(setting)             what has to be computed, as independent jobs
    numbers(setting, found)   what is kept of their results: enough for all that follows
    show(numbers)             tables and drawings, ours beside the published
    claims(numbers)           what the paper says of it, and whether that holds here

One that can show networks of which not all are done has a fifth, `in_part(setting, found)`: whether
any is. Of the others as many runs are shown as have all their jobs.

Long claims have a module of their own beside it, which the artefact's module imports; work that
jobs share may have one too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from scdn.errors import format_value, input_error
from scdn.file_io import apply_settings
from scdn.paper.jobs import Job
from scdn.scenario import Scenario, make_scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Numbers = dict[str, Any]
Found = Mapping[str, Any]  # a job's key → its result
Verdict = Literal["reproduced", "reproduced in this regime", "not reproduced", "not measured"]
VERDICTS: tuple[Verdict, ...] = (
    "not reproduced",
    "reproduced in this regime",
    "reproduced",
    "not measured",
)


@dataclass(frozen=True)
class Claim:
    """Something the paper says, and what our numbers say to it."""

    source: str  # where the paper says so
    text: str
    verdict: Verdict
    reason: str  # with the numbers


@dataclass(frozen=True)
class Table:
    """Rows of text under a head."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Drawing:
    """A picture, and the name of its file."""

    name: str
    title: str
    draw: Callable[[Figure], None]
    size: tuple[float, float] = (9.0, 3.4)  # inches


@dataclass(frozen=True)
class Setting:
    """An artefact's file, and how large it is to be this time."""

    table: dict[str, Any]
    runs: int | None = None
    rounds: int | None = None
    device: str = "cpu"
    only: tuple[str, ...] = ()  # of its blocks, where it has several
    settings: tuple[str, ...] = field(default=())  # the user's, over everything else

    def __post_init__(self) -> None:
        known = self.table.get("blocks", {})
        for name in self.only:
            if name not in known:
                allowed = f"must be of {', '.join(known)}" if known else "it has no blocks"
                raise input_error(self.name, "--only", f"got {format_value(name)}", allowed)

    @property
    def name(self) -> str:
        """The artefact's name."""
        return str(self.table["name"])

    @property
    def seeds(self) -> range:
        """One per independent run."""
        return range(self.runs or int(self.table["runs"]))

    @property
    def sweep(self) -> dict[str, Any]:
        """What is varied."""
        return dict(self.table.get("sweep", {}))

    @property
    def blocks(self) -> dict[str, Any]:
        """Those that are wanted, by name."""
        every = self.table.get("blocks", {})
        return {name: own for name, own in every.items() if not self.only or name in self.only}

    @property
    def asked(self) -> list[str]:
        """What the user wants otherwise than the file has it, as settings."""
        own = [f"learning.device={self.device}"] if self.device != "cpu" else []
        if self.rounds is not None:
            own.append(f"learning.rounds={self.rounds}")
        return [*own, *self.settings]

    def scenario(self, settings: Iterable[str] = ()) -> Scenario:
        """The file's scenario with these settings, then the caller's."""
        document = apply_settings(self.table["scenario"], [*settings, *self.asked])
        return make_scenario(document, f"{self.name}.toml")


class Module(Protocol):
    """The four functions."""

    def jobs(self, setting: Setting) -> list[Job]:
        """What has to be computed."""

    def numbers(self, setting: Setting, found: Found) -> Numbers:
        """What is kept."""

    def show(self, numbers: Numbers) -> list[Table | Drawing]:
        """What is shown."""

    def claims(self, numbers: Numbers) -> list[Claim]:
        """What is judged."""


def names() -> list[str]:
    """All artefacts, in the paper's order."""
    return [str(table["name"]) for table in sorted(_tables(), key=lambda table: table["order"])]


def table_of(name: str) -> dict[str, Any]:
    """An artefact's file; what it does not say is as in the one that it is `like`."""
    for table in _tables():
        if table["name"] == name:
            return table_of(table["like"]) | table if "like" in table else table
    raise input_error(
        "scdn paper",
        "artefact",
        f"got {format_value(name)}",
        f"must be one of {', '.join(names())}",
    )


def module_of(table: Mapping[str, Any]) -> Module:
    """The module that an artefact's file names."""
    return cast(Module, import_module(f"scdn.paper.{table['module']}"))


def _tables() -> list[dict[str, Any]]:
    found = (entry for entry in files("scdn.paper").iterdir() if entry.name.endswith(".toml"))
    return [tomllib.loads(entry.read_text(encoding="utf-8")) for entry in found]
