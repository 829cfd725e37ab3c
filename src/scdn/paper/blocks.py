"""What the static and the dynamic tables share: who runs in them, and their rows.

*published*: Algorithm 3, the Padé rate for plans and links, the paper's delay limit, weights and
rates. *true*: the exact solver, Shannon's rate, the shipped delay limit. Each runs with the paper's
update (all at once, whole) and with the steady one (server last, fitted); a block's own update is
the first that its file names, the other and further starts may have fewer runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from scdn.paper.artefact import Found, Numbers, Setting
from scdn.paper.digits import rounded
from scdn.paper.jobs import Job
from scdn.paper.learning import Record, job

UPDATES = {
    "paper": ("learning.server_turn=parallel", "learning.damping=none"),
    "steady": ("learning.server_turn=after", "learning.damping=fitted"),
}
LABELS = {
    "sc-dn": "SC-DN",
    "sc-dn-paper": "SC-DN",
    "sc-dn-greedy": "SC-DN w/o P^r",
    "max-vfl": "Max VFL",
    "gsp": "GSP",
    "vafl": "VAFL",
    "vafl-matched": "VAFL matched",
    "zoc": "ZOC",
    "zoc-paper": "ZOC",
    "zoc-greedy": "ZOC w/o P^r",
}
PUBLISHED_STARTS = {"centre": "center", "random": "random"}
MEANS = (
    "Joules and iterations are over devices present: who takes no part, or is out of reach, has 0. "
    "Matched J: what the method would spend with the least power and clock for the same iterations."
)
TRAINS = 1.0  # mean iterations per device and round of a method that trains

Row = dict[str, Any]  # what is kept of a cell


@dataclass(frozen=True)
class Cell:
    """One method in one network: what is averaged over seeds."""

    block: str
    update: str
    start: str
    devices: int
    method: str

    def key(self, seed: int) -> str:
        """Of its run with this seed."""
        return f"{self.block}-{self.update}-{self.start}-{self.devices}-{self.method}-{seed}"


def cells(setting: Setting) -> Iterator[tuple[Cell, range]]:
    """Every cell and its seeds, the most important first."""
    sweep = setting.sweep
    blocks = {
        k: v for k, v in setting.table["blocks"].items() if not setting.only or k in setting.only
    }
    ranked = []
    for block, table in blocks.items():
        for place, start in enumerate(sweep["starts"]):
            for turn, update in enumerate(table["updates"]):
                rank = 2 * (place > 0) + (turn > 0)
                seeds = setting.seeds
                if rank and setting.runs is None:
                    seeds = range(min(len(seeds), int(sweep["fewer_runs"])))
                ranked += [
                    (rank, Cell(block, update, start, devices, method), seeds)
                    for devices in sweep["devices"]
                    for method in table["methods"]
                ]
    for _, cell, seeds in sorted(ranked, key=lambda entry: entry[0]):
        yield cell, seeds


def jobs(setting: Setting) -> list[Job]:
    """One simulation each; a block's first method leads its rivals."""
    found = []
    for cell, seeds in cells(setting):
        table = setting.table["blocks"][cell.block]
        settings = [
            *table["settings"],
            *UPDATES[cell.update],
            f"server.start={cell.start}",
            f"fleet.0.count={cell.devices}",
        ]
        scenario = setting.scenario(settings)
        leader = Cell(cell.block, cell.update, cell.start, cell.devices, table["methods"][0])
        found += [
            job(cell.key(seed), scenario, cell.method, seed, leader.key(seed)) for seed in seeds
        ]
    return found


def own_settings(setting: Setting, block: str) -> list[str]:
    """A block's settings, with its own update."""
    table = setting.table["blocks"][block]
    return [*table["settings"], *UPDATES[table["updates"][0]]]


def records(setting: Setting, found: Found) -> Iterator[tuple[Cell, list[Record]]]:
    """Each cell's runs: those of seeds that every method of its network has, so that they pair."""
    every = list(cells(setting))
    for cell, seeds in every:
        peers = [other for other, _ in every if replace(other, method=cell.method) == cell]
        paired = [s for s in seeds if all(other.key(s) in found for other in peers)]
        runs = [found[cell.key(seed)] | {"seed": seed} for seed in paired]
        lengths = (len(found[other.key(seed)]["score"]) for other in peers for seed in paired)
        rounds = max([1, *lengths])
        if runs:
            yield cell, [_settled(run, rounds) for run in runs]


def paired(setting: Setting, found: Found) -> Iterator[tuple[str, Cell, list[Record]]]:
    """Each block's own runs from the first start again, of the seeds that another start has too.

    Only such runs say what the start does; which start that is comes first.
    """
    first, *others = setting.sweep["starts"]
    every = dict(records(setting, found))
    for cell, runs in every.items():
        own = setting.table["blocks"][cell.block]["updates"][0]
        if cell.start != first or cell.update != own:
            continue
        for start in others:
            seeds = {run["seed"] for run in every.get(replace(cell, start=start), [])}
            if both := [run for run in runs if run["seed"] in seeds]:
                yield start, cell, both


def in_part(setting: Setting, found: Found) -> bool:
    """Whether there is something to show: a run of every method of some network."""
    return any(True for _ in records(setting, found))


def _settled(run: Record, rounds: int) -> Record:
    """A run that ran away counts as the trivial predictor from then on."""
    lost = [run["trivial"]] * (rounds - len(run["score"]))
    return run | {what: [*run[what], *lost] for what in ("score", "later")} if lost else run


def about(setting: Setting) -> Numbers:
    """What numbers say of the artefact that they are of."""
    blocks = setting.table["blocks"]
    return {
        "data": setting.table["data"],
        "metric": setting.table["metric"],
        "starts": list(setting.sweep["starts"]),
        "leaders": {block: table["methods"][0] for block, table in blocks.items()},
        "updates": {block: list(table["updates"]) for block, table in blocks.items()},
    }


def row_of(cell: Cell, runs: Sequence[Record]) -> Row:
    """A row's beginning: whose it is, and how its runs went."""
    return {
        "block": cell.block,
        "update": cell.update,
        "start": cell.start,
        "method": cell.method,
        "runs": len(runs),
        "seeds": [run["seed"] for run in runs],
        "diverged": sum(run["status"] != "done" for run in runs),
        "failed": sum(sum(run["failed"]) for run in runs),
        "trivial": runs[0]["trivial"],
    }


class Group(NamedTuple):
    """The rows of one start, block and update."""

    start: str
    block: str
    update: str
    rows: list[Row]


def groups_of(numbers: Numbers) -> Iterator[Group]:
    """Those that have any, in the order in which they are shown."""
    for start in numbers["starts"]:
        for block, updates in numbers["updates"].items():
            for update in updates:
                rows = _rows(numbers["rows"], start=start, block=block, update=update)
                if rows:
                    yield Group(start, block, update, rows)


def own_rows(numbers: Numbers, start: str, beside: str | None = None) -> dict[str, list[Row]]:
    """Of each block's own network from this start: with its own update.

    `beside` another start: over the seeds of both.
    """
    if beside is None:
        return {
            block: _rows(numbers["rows"], start=start, block=block, update=updates[0])
            for block, updates in numbers["updates"].items()
        }
    return {
        block: _rows(numbers["paired"], start=start, block=block, beside=beside)
        for block in numbers["updates"]
    }


def _rows(rows: list[Row], **which: str) -> list[Row]:
    return [row for row in rows if which.items() <= row.items()]


def metric(numbers: Numbers) -> str:
    """What the score is."""
    return "top-3 (%)" if numbers["metric"] == "top3" else "MSE"


def decimals(numbers: Numbers) -> int:
    """Of a score."""
    return 1 if numbers["metric"] == "top3" else 4


def sign(numbers: Numbers) -> int:
    """+1 where a larger score is better, -1 where a smaller one is."""
    return 1 if numbers["metric"] == "top3" else -1


def spread(values: Iterable[float]) -> dict[str, float]:
    """Mean, least, most and standard deviation."""
    every = np.fromiter(values, dtype=float)
    if not len(every):
        return {"mean": 0.0, "min": 0.0, "max": 0.0, "std": 0.0}
    parts = {
        "mean": every.mean(),
        "min": every.min(),
        "max": every.max(),
        "std": every.std(ddof=1) if len(every) > 1 else 0.0,
    }
    return {name: rounded(value) for name, value in parts.items()}


def flat(records_: Sequence[Record], what: str) -> Iterator[float]:
    """A quantity over devices, rounds and runs."""
    for record in records_:
        for values in record["each"][what]:
            yield from values


def correlation(records_: Sequence[Record], one: str, other: str) -> dict[str, float] | None:
    """Of two quantities among the devices of a round: mean over runs of each run's mean.

    Within a round, so that what changes from round to round does not count.
    """
    means = []
    for record in records_:
        found = []
        for a, b in zip(record["each"][one], record["each"][other], strict=True):
            if len(a) > 2 and np.std(a) > 0 and np.std(b) > 0:
                found.append(float(np.corrcoef(a, b)[0, 1]))
        if found:
            means.append(float(np.mean(found)))
    return {**spread(means), "runs": len(means)} if means else None
