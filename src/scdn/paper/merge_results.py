"""Two results of an artefact as one: of each network, those of the file that has more of it.

A sweep may be divided between machines. Where their cells cannot be put into one folder, their
results can still be put together. A block that was made with other settings than today's is left
out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scdn.errors import InputError, faults_from_pydantic, input_error
from scdn.file_io import read_document, to_json, write_atomic
from scdn.paper.artefact import ArtefactSpec, artefact_names, read_spec
from scdn.paper.method_grid import GridCell, Row, grid_cells
from scdn.paper.provenance import compute_time, job_settings
from scdn.paper.stale_results import changes_text, stale_blocks

Document = dict[str, Any]
Log = Callable[[str], None]


class Network(NamedTuple):
    """What methods are compared in; its rows are always of one file."""

    block: str
    update: str
    start: str
    devices: int


class _Form(BaseModel):
    """What merging relies on in a result; it may have anything else."""

    model_config = ConfigDict(strict=True)


class _Row(_Form):
    block: str
    update: str
    start: str
    method: str
    devices: int | None = None
    runs: int
    seeds: list[int] = Field(min_length=1)


class _Numbers(_Form):
    rows: list[_Row] = Field(min_length=1)
    paired: list[_Row]


class _Case(_Form):
    scenario: dict[str, Any]


class _Spent(_Form):
    where: str
    versions: dict[str, str]
    jobs: int
    seconds: float


class _Result(_Form):
    settings: list[str]
    seeds: list[int] = Field(min_length=1)
    scenario: dict[str, Any]
    cases: dict[str, _Case]
    took: list[_Spent]
    numbers: _Numbers


def merge_files(first: Path, second: Path, out: Path, log: Log) -> None:
    """Write the results of two files as one file; `log` is told what is left out."""
    documents = [read_document(first), read_document(second)]
    for path, document in zip((first, second), documents, strict=True):
        _refuse_other_files(path, document)
    for key in ("artefact", "settings"):
        mine, other = (document.get(key) for document in documents)
        if mine != other:
            raise input_error(str(second), key, f"is {other}", f"must be {mine}, as in {first}")
    runs = 1 + max(seed for document in documents for seed in document["seeds"])
    settings = tuple(documents[0]["settings"])
    spec = read_spec(documents[0]["artefact"], overrides=settings, runs=runs)
    one = _without_stale(first, documents[0], spec, log)
    other = _without_stale(second, documents[1], spec, log)
    if not (one["numbers"]["rows"] or other["numbers"]["rows"]):
        raise input_error(
            str(second), "rows", "are all of other settings or networks", "run it again"
        )
    write_atomic(out, to_json(merge_documents(one, other, spec), indent=None) + "\n")


def _without_stale(path: Path, document: Document, spec: ArtefactSpec, log: Log) -> Document:
    """Return a document without what was made with other settings, or is not in the plan."""
    stale = stale_blocks(document, spec)
    for block, changes in stale.items():
        log(f"{path}: left out {block}: {changes_text(changes)}")
    numbers, planned = document["numbers"], _networks(spec)
    for network in dict.fromkeys(_network(row, spec) for row in numbers["rows"]):
        if network.block not in stale and network not in planned:
            log(f"{path}: left out {' '.join(map(str, network))}: not in the plan of {spec.name}")
    kept = {
        part: [
            row
            for row in numbers[part]
            if row["block"] not in stale and _network(row, spec) in planned
        ]
        for part in ("rows", "paired")
    }
    return {**document, "numbers": {**numbers, **kept}}


def _refuse_other_files(path: Path, document: Document) -> None:
    numbers = document.get("numbers")
    rows = numbers.get("rows") if isinstance(numbers, dict) else None
    row = rows[0] if isinstance(rows, list) and rows else None
    by_network = isinstance(row, dict) and {"block", "update", "start", "seeds"} <= row.keys()
    if document.get("artefact") not in artefact_names() or not by_network:
        allowed = "must be a result of static or dynamic networks"
        raise input_error(str(path), "file", "has no rows by network", allowed)
    try:
        _Result.model_validate(document)
    except ValidationError as error:
        raise InputError(str(path), faults_from_pydantic(error, _Result)[:1]) from None


def merge_documents(first: Document, second: Document, spec: ArtefactSpec) -> Document:
    """Return each network's rows from the document with more methods, or more runs, of it.

    Where both have as many, the second document's.

    The time that was spent on rows which are replaced stays in `took`.
    """
    sources = [_by_network(document["numbers"]["rows"], spec) for document in (first, second)]
    chosen = {
        network: max((s[network] for s in reversed(sources) if network in s), key=_size)
        for network in _networks(spec)
        if any(network in source for source in sources)
    }
    done = {
        GridCell(*network, row["method"]).key(seed)
        for network, rows in chosen.items()
        for row in rows
        for seed in row["seeds"]
    }
    planned = spec.job_module.jobs(spec)
    jobs = [job for job in planned if job.key in done]
    return {
        **second,
        "jobs": {"planned": len(planned), "done": len(jobs)},
        "only": [],
        **job_settings(jobs),
        "took": compute_time([*first["took"], *second["took"]]),
        "numbers": {
            **second["numbers"],
            "rows": list(chain.from_iterable(chosen.values())),
            "paired": list(_paired(chosen, (second, first), spec)),
        },
    }


def _networks(spec: ArtefactSpec) -> list[Network]:
    """Return the networks of the whole grid in the order in which they are shown."""
    cells = [cell for _, cell in sorted(grid_cells(spec), key=lambda ranked: ranked[0])]
    return list(dict.fromkeys(Network(c.block, c.update, c.start, c.devices) for c in cells))


def _network(row: Row, spec: ArtefactSpec) -> Network:
    """Return the network of a row; it has a number of devices if the artefact has several."""
    devices = row.get("devices", spec.sweep["devices"][0])
    return Network(row["block"], row["update"], row["start"], devices)


def _by_network(rows: Sequence[Row], spec: ArtefactSpec) -> dict[Network, list[Row]]:
    networks: dict[Network, list[Row]] = {}
    for row in rows:
        networks.setdefault(_network(row, spec), []).append(row)
    return networks


def _size(rows: Sequence[Row]) -> tuple[int, int]:
    """Return the number of methods of a network, and the fewest runs of one."""
    return len(rows), min(row["runs"] for row in rows)


def _paired(
    chosen: Mapping[Network, list[Row]], documents: Sequence[Document], spec: ArtefactSpec
) -> Iterator[Row]:
    """Yield the rows of the first start again, for the seeds of another start.

    If both starts have the same seeds, these are the rows themselves; else a document has them.
    """
    first, *others = spec.sweep["starts"]
    for network, rows in chosen.items():
        if network.start != first or network.update != spec.all_blocks[network.block]["updates"][0]:
            continue
        for start in others:
            beside = chosen.get(network._replace(start=start), [])
            shared = set(rows[0]["seeds"]) & {seed for row in beside for seed in row["seeds"]}
            if shared == set(rows[0]["seeds"]):
                yield from ({"beside": start, **row} for row in rows)
            elif shared:
                yield from _known_pairs(network, start, shared, documents, spec)


def _known_pairs(
    network: Network, start: str, seeds: set[int], documents: Sequence[Document], spec: ArtefactSpec
) -> list[Row]:
    for document in documents:
        paired = [row for row in document["numbers"]["paired"] if row["beside"] == start]
        rows = _by_network(paired, spec).get(network, [])
        if rows and set(rows[0]["seeds"]) == seeds:
            return rows
    fault = f"starts {network.start} and {start} have different seeds"
    raise input_error(spec.name, network.block, fault, "run the one that has fewer again")
