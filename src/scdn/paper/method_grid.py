"""The grid of runs of the static and the dynamic tables: blocks, updates, starts, sizes, methods.

Block *published*: Algorithm 3, the Padé rate for plans and links, the paper's delay limit, weights
and learning rates. Block *true*: the exact solver, Shannon's rate, the shipped delay limit. Each
runs with the paper's update (all at once, undamped) and with the steady one (server last, fitted
damping). A block's own update is the first in its spec.

Claims are judged by these two. Further blocks are shown beside them, from the first start only:
VAFL with the server that its text implies, and the product's learning rule with the method mission.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from scdn.paper.artefact import ArtefactSpec, Numbers, Results
from scdn.paper.summaries import Summary, summarise
from scdn.paper.sweep import ArtefactJob
from scdn.paper.training_run import TrainingRecord, training_job
from scdn.paper.value_text import count_runs, plus_minus
from scdn.scenario import Scenario

UPDATES = {
    "paper": ("learning.server_turn=parallel", "learning.step=rate"),
    "steady": ("learning.server_turn=after", "learning.step=fitted"),
    "product": (
        "learning.server_turn=after",
        "learning.step=searched",
        "learning.server_optimizer=adam",
        "learning.server_steps=150",
        "learning.server_rounds=8",
        "learning.smoothness=measured",
    ),
}
MEANS_NOTE = (
    "Joules are for processing, per round; a device that does not take part or is out of "
    "reach is present with 0 J, and is not active. Iterations are means over the devices "
    "present, as executed. Matched J is what the method would spend per device present with "
    "the least power and clock for the same iterations. All J are those of a run: flight, "
    "processing and transmission. Blocks “vafl-server” and “mission” are shown beside the "
    "paper and have no part in verdicts: in the first VAFL's server takes a device's steps at "
    "every arrival, in the second the product's learning rule trains."
)
WORST = {"top3": 0.0, "mse": 1.0}  # scores; targets are between 0 and 1
TRAINS = 1.0  # iterations per device and round below which a method hardly trains

Row = dict[str, Any]  # what is kept of a cell


@dataclass(frozen=True)
class GridCell:
    """One method in one network: what is averaged over seeds."""

    block: str
    update: str
    start: str
    devices: int
    method: str

    def key(self, seed: int) -> str:
        """Return the key of its run with this seed."""
        return f"{self.block}-{self.update}-{self.start}-{self.devices}-{self.method}-{seed}"


def grid_cells(spec: ArtefactSpec) -> Iterator[tuple[int, GridCell]]:
    """Yield every cell and its rank: what is needed first has rank 0.

    That is each judged block with its own update from the first start; then come the other blocks,
    the other starts, and the other updates.
    """
    for block, table in spec.blocks.items():
        judged = block in spec.judged_blocks
        for start_index, start in enumerate(spec.sweep["starts"][: None if judged else 1]):
            for update_index, update in enumerate(table["updates"]):
                rank = 4 * (update_index > 0) + 2 * (start_index > 0) + (not judged)
                for devices in spec.sweep["devices"]:
                    for method in table["methods"]:
                        yield rank, GridCell(block, update, start, devices, method)


def jobs(spec: ArtefactSpec) -> list[ArtefactJob]:
    """Return one simulation per cell and seed, by rank and seed; rivals wait for SC-DN."""
    ranked: dict[GridCell, int] = {}
    for rank, cell in grid_cells(spec):
        ranked[cell] = rank
        ranked.setdefault(_leader(spec, cell), rank)  # of another block, which may not be asked for
    scenarios = {cell: cell_scenario(spec, cell) for cell in ranked}
    return [
        training_job(
            cell.key(seed), scenarios[cell], cell.method, seed, _leader(spec, cell).key(seed)
        )
        for rank in sorted(set(ranked.values()))
        for seed in spec.seeds
        for cell in ranked
        if ranked[cell] == rank
    ]


def _leader(spec: ArtefactSpec, cell: GridCell) -> GridCell:
    """Return the cell whose mean iterations a rival takes: the first method, of a block like it."""
    table = spec.all_blocks[cell.block]
    if table.get("leader") == "like":
        return _leader(spec, replace(cell, block=table["like"]))
    return replace(cell, method=table["methods"][0])


def cell_scenario(spec: ArtefactSpec, cell: GridCell) -> Scenario:
    """Return the scenario of a cell, without method and seed."""
    return spec.scenario(
        [
            *spec.block_settings(cell.block),
            *UPDATES[cell.update],
            f"server.start={cell.start}",
            f"fleet.0.count={cell.devices}",
        ]
    )


def own_settings(spec: ArtefactSpec, block: str) -> list[str]:
    """Return a block's settings with its own update."""
    return [*spec.block_settings(block), *UPDATES[spec.all_blocks[block]["updates"][0]]]


# --- from results to rows -------------------------------------------------------------------------


def cell_runs(
    spec: ArtefactSpec, results: Results
) -> Iterator[tuple[GridCell, list[TrainingRecord]]]:
    """Yield each cell's runs, for the seeds that every method of its network has: so they pair.

    A method that has not been run at all is not waited for.
    """
    planned = [cell for _, cell in sorted(grid_cells(spec), key=itemgetter(0))]
    cells = [cell for cell in planned if any(cell.key(seed) in results for seed in spec.seeds)]
    for cell in cells:
        peers = [other for other in cells if replace(other, method=cell.method) == cell]
        paired = [s for s in spec.seeds if all(other.key(s) in results for other in peers)]
        runs = [results[cell.key(seed)] | {"seed": seed} for seed in paired]
        lengths = (len(results[other.key(seed)]["score"]) for other in peers for seed in paired)
        rounds = max([1, *lengths])
        if runs:
            yield cell, [with_worst_end(run, rounds, spec.metric) for run in runs]


def with_worst_end(run: TrainingRecord, rounds: int, metric: str) -> TrainingRecord:
    """Give a run that diverged the worst possible score in the rounds that it did not reach."""
    missing = [WORST[metric]] * (rounds - len(run["score"]))
    return run | {key: [*run[key], *missing] for key in ("score", "later")} if missing else run


def paired_runs(
    spec: ArtefactSpec, results: Results
) -> Iterator[tuple[str, GridCell, list[TrainingRecord]]]:
    """Yield each block's own runs from the first start again, for the seeds of another start.

    Only these show the effect of the start. The name of the other start comes first.
    """
    first, *others = spec.sweep["starts"]
    by_cell = dict(cell_runs(spec, results))
    for cell, runs in by_cell.items():
        if cell.start != first or cell.update != spec.all_blocks[cell.block]["updates"][0]:
            continue
        for start in others:
            seeds = {run["seed"] for run in by_cell.get(replace(cell, start=start), [])}
            if paired := [run for run in runs if run["seed"] in seeds]:
                yield start, cell, paired


def can_show(spec: ArtefactSpec, results: Results) -> bool:
    """Return whether some network has a run of every method."""
    return any(True for _ in cell_runs(spec, results))


def grid_numbers(
    spec: ArtefactSpec, results: Results, columns: Callable[[GridCell, list[TrainingRecord]], Row]
) -> Numbers:
    """Return the artefact's description and its rows: `columns` adds what a row has of its own."""

    def row(cell: GridCell, runs: list[TrainingRecord]) -> Row:
        matched = {}
        if all("matched_j" in run["each"] for run in runs):
            matched = {"matched": summarise(per_device(runs, "matched_j"))}
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
            "energy_active": summarise(per_active_device(runs, "processing_j")),
            "total_j": summarise(_joules(run) for run in runs),
            **matched,
            **columns(cell, runs),
        }

    return {
        "data": spec.data,
        "metric": spec.metric,
        "starts": list(spec.sweep["starts"]),
        "leaders": {block: table["methods"][0] for block, table in spec.all_blocks.items()},
        "updates": {block: list(table["updates"]) for block, table in spec.all_blocks.items()},
        "judged": spec.judged_blocks,
        "rows": [row(cell, runs) for cell, runs in cell_runs(spec, results)],
        "paired": [
            {"beside": start, **row(cell, runs)} for start, cell, runs in paired_runs(spec, results)
        ],
    }


def per_device(runs: Sequence[TrainingRecord], quantity: str) -> Iterator[float]:
    """Yield a quantity for every device, round and run."""
    for run in runs:
        for values in run["each"][quantity]:
            yield from values


def per_active_device(runs: Sequence[TrainingRecord], quantity: str) -> Iterator[float]:
    """Yield a quantity for every active device, round and run."""
    for run in runs:
        for values, active in zip(run["each"][quantity], run["each"]["active"], strict=True):
            yield from (value for value, is_active in zip(values, active, strict=True) if is_active)


def _joules(run: TrainingRecord) -> float:
    """Return all joules of a run: flight, processing and transmission."""
    return float(sum(sum(run[key]) for key in ("server_j", "processing_j", "transmission_j")))


def correlation(runs: Sequence[TrainingRecord], one: str, other: str) -> Summary | None:
    """Summarise over runs the mean correlation of two quantities among the devices of a round.

    It is taken within rounds, so that a trend over rounds does not count.
    """
    means = []
    for run in runs:
        by_round = [
            float(np.corrcoef(a, b)[0, 1])
            for a, b in zip(run["each"][one], run["each"][other], strict=True)
            if len(a) > 2 and np.std(a) > 0 and np.std(b) > 0
        ]
        if by_round:
            means.append(float(np.mean(by_round)))
    return {**summarise(means), "runs": len(means)} if means else None


# --- rows as tables and claims use them -----------------------------------------------------------


class RowGroup(NamedTuple):
    """The rows of one start, block and update."""

    start: str
    block: str
    update: str
    rows: list[Row]


def row_groups(numbers: Numbers) -> Iterator[RowGroup]:
    """Yield the groups that have rows, in the order in which they are shown."""
    for start in numbers["starts"]:
        for block, updates in numbers["updates"].items():
            for update in updates:
                rows = _select(numbers["rows"], start=start, block=block, update=update)
                if rows:
                    yield RowGroup(start, block, update, rows)


def source_label(group: RowGroup, row: Row) -> str:
    """Return block, update and number of runs of a row, and how many runs diverged."""
    diverged = f", {row['diverged']} diverged" if row["diverged"] else ""
    return f"{group.block}, {group.update} update ({count_runs(row['runs'])}{diverged})"


def is_judged(numbers: Numbers, group: RowGroup) -> bool:
    """Return whether verdicts depend on a group's block."""
    return group.block in judged_blocks(numbers)


def judged_blocks(numbers: Numbers) -> Iterable[str]:
    """Return the blocks on which verdicts depend; in earlier results, all."""
    judged: Iterable[str] = numbers.get("judged") or numbers["updates"]
    return judged


def joules_cells(row: Row, quantity: str) -> tuple[str, ...]:
    """Return a row's J per device present, per active device, matched, and all J of a run.

    Earlier results do not have all of them.
    """
    return (
        plus_minus(row[quantity]["mean"], row[quantity]["std"]),
        *(
            f"{row[key]['mean']:.3g}" if key in row else ""
            for key in ("energy_active", "matched", "total_j")
        ),
    )


JOULES_HEADER = ("J per device present", "J per active device", "matched J", "all J")


def own_rows(numbers: Numbers, start: str, paired_with: str | None = None) -> dict[str, list[Row]]:
    """Return each judged block's rows from a start with the block's own update.

    `paired_with` another start: over the seeds that both have.
    """
    rows = numbers["rows"]
    if paired_with is not None:
        rows = _select(numbers["paired"], beside=paired_with)
    updates: dict[str, list[str]] = numbers["updates"]
    return {
        block: _select(rows, start=start, block=block, update=updates[block][0])
        for block in judged_blocks(numbers)
    }


def _select(rows: list[Row], **values: str) -> list[Row]:
    return [row for row in rows if all(row[key] == value for key, value in values.items())]


def score_label(numbers: Numbers) -> str:
    """Return what the score is."""
    return "top-3 (%)" if numbers["metric"] == "top3" else "MSE"


def score_decimals(numbers: Numbers) -> int:
    """Return the decimals that are shown of a score."""
    return 1 if numbers["metric"] == "top3" else 4


def score_sign(numbers: Numbers) -> int:
    """Return +1 where a larger score is better, -1 where a smaller one is."""
    return 1 if numbers["metric"] == "top3" else -1
