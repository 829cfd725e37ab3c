"""An artefact from its jobs to its files: a document of numbers and a picture for each drawing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

from scdn.errors import dotted, input_error
from scdn.file_io import Table, to_json, write_atomic
from scdn.paper.artefact import Drawing, Found, Setting, module_of
from scdn.paper.draw import picture
from scdn.paper.jobs import Done, Job, sweep

CELLS = "cells"
_SEEDS = (("scenario", "seed"), ("seed",))  # where a job has its seed
_WITHIN = {"method", "start", "count"}  # of a scenario: what a case has several of

Keys = tuple[str | int, ...]


def produce(
    setting: Setting,
    out: Path,
    *,
    workers: int = 1,
    ray: str | None = None,
    so_far: bool = False,
    done: Done | None = None,
) -> list[Path]:
    """Runs what is missing and writes the artefact's files; their paths.

    With `so_far` nothing is run: the files show what is there.
    """
    module, planned = module_of(setting.table), module_of(setting.table).jobs(setting)
    kept = out / CELLS / setting.name
    records = sweep(planned, kept, workers=workers, ray=ray, so_far=so_far, done=done)
    found = {key: record["result"] for key, record in records.items()}
    shown = _shown(setting, found)
    if shown is None:
        have = f"has {len(records)} of {len(planned)} results, and no run is whole"
        raise input_error(str(kept), "folder", have, "run it without --so-far")
    jobs = [job for job in module.jobs(shown) if job.key in records]
    records = {job.key: records[job.key] for job in jobs}
    document = {
        "artefact": setting.name,
        "title": setting.table["title"],
        "paper": setting.table["paper"],
        "jobs": {"planned": len(planned), "done": len(records)},
        "only": list(setting.only),
        "settings": setting.asked,
        **made_with(jobs),
        "took": took(records),
        "numbers": module.numbers(shown, found),
    }
    target = out / f"{setting.name}.json"
    write_atomic(target, to_json(document, indent=None) + "\n")
    written = [target]
    for part in module.show(document["numbers"]):
        if isinstance(part, Drawing):
            path = out / f"{part.name}.png"
            write_atomic(path, picture(part))
            written.append(path)
    return written


def _shown(setting: Setting, found: Found) -> Setting | None:
    """The setting with as many runs as are whole, or what a module can show in part, if any."""
    module = module_of(setting.table)
    in_part = getattr(module, "in_part", None)
    if in_part is not None:
        return setting if in_part(setting, found) else None
    fewer = (replace(setting, runs=runs) for runs in range(len(setting.seeds), 0, -1))
    for one in (setting, *fewer):
        if all(job.key in found for job in module.jobs(one)):
            return one
    return None


def made_with(jobs: Sequence[Job]) -> dict[str, Any]:
    """What jobs were given, each thing once.

    `runs`: the fewest and the most seeds of a point. `scenario`: what all scenarios share. `cases`:
    what else a scenario has, under the key of the first job that has it so. `varied`: the values of
    what is varied within cases, and of arguments beside the scenario.
    """
    scenario = _shared([job.arguments["scenario"] for job in jobs if "scenario" in job.arguments])
    shared = _leaves({"scenario": scenario})
    points: dict[str, set[int]] = {}
    cases: dict[str, dict[str, Any]] = {}
    varied: dict[str, list[Any]] = {}
    for job in jobs:
        own = {keys: v for keys, v in _leaves(job.arguments).items() if keys not in shared}
        (seed,) = (own.pop(keys) for keys in _SEEDS if keys in own)
        points.setdefault(str(own), set()).add(seed)
        apart = {}
        for keys, value in own.items():
            if keys[0] == "scenario" and keys[-1] not in _WITHIN:
                apart[dotted(keys[1:])] = value
            elif value not in varied.setdefault(dotted(keys), []):
                varied[dotted(keys)].append(value)
        if "scenario" in job.arguments:
            new = {"first": job.key, "jobs": 0, "seeds": set(), "scenario": apart}
            case = cases.setdefault(str(apart), new)
            case["jobs"] += 1
            case["seeds"].add(seed)
    counts = [len(seeds) for seeds in points.values()]
    return {
        "runs": [min(counts), max(counts)],
        "seeds": sorted(set[int]().union(*points.values())),
        "scenario": scenario,
        "cases": {
            case.pop("first"): {**case, "seeds": sorted(case["seeds"])} for case in cases.values()
        },
        "varied": varied,
    }


def _shared(tables: Sequence[Table]) -> Table:
    """What is the same in all of them, but for the seed."""
    found: Table = deepcopy(tables[0]) if tables else {}
    every = [_leaves(table) for table in tables]
    for keys, value in _leaves(found).items():
        if keys == ("seed",) or not all(keys in one and one[keys] == value for one in every):
            del reduce(getitem, keys[:-1], found)[keys[-1]]  # type: ignore[arg-type]
    return found


def _leaves(node: Any, above: Keys = ()) -> dict[Keys, Any]:
    """Every value under its keys; a list is a value, unless it is of tables."""
    inner: Iterable[tuple[str | int, Any]]
    if isinstance(node, dict):
        inner = node.items()
    elif isinstance(node, list) and node and all(isinstance(entry, dict) for entry in node):
        inner = enumerate(node)
    else:
        return {above: node}
    return {
        keys: value for key, below in inner for keys, value in _leaves(below, (*above, key)).items()
    }


def took(records: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Jobs and their seconds, by what they ran on and with."""
    found: dict[str, dict[str, Any]] = {}
    for record in records.values():
        where, versions = record["where"], record["versions"]
        new = {"where": where, "versions": versions, "jobs": 0, "seconds": 0.0}
        entry = found.setdefault(f"{where} {versions}", new)
        entry["jobs"] += 1
        entry["seconds"] = round(entry["seconds"] + record["seconds"], 1)
    return list(found.values())
