"""What an artefact's numbers were made with: seeds, scenarios, machines, versions, time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from functools import reduce
from operator import getitem
from typing import Any

from scdn.errors import dotted
from scdn.paper.sweep import ArtefactJob

_SEEDS = (("scenario", "seed"), ("seed",))  # where a job's arguments have its seed
_WITHIN_CASE = {"method", "start", "count"}  # fields of a scenario that vary within a case

Keys = tuple[str | int, ...]


def job_settings(jobs: Sequence[ArtefactJob]) -> dict[str, Any]:
    """Return the jobs' arguments without repetition.

    `runs`: the fewest and the most seeds of a point. `scenario`: what all scenarios share. `cases`:
    the other fields of a scenario, under the key of the first job that has them. `varied`: all
    values of what varies within cases, and of arguments beside the scenario.
    """
    scenario = _common([job.arguments["scenario"] for job in jobs if "scenario" in job.arguments])
    common = leaves({"scenario": scenario})
    seeds_by_point: dict[str, set[int]] = {}
    cases: dict[str, dict[str, Any]] = {}
    varied: dict[str, list[Any]] = {}
    for job in jobs:
        varying = {keys: v for keys, v in leaves(job.arguments).items() if keys not in common}
        (seed,) = (varying.pop(keys) for keys in _SEEDS if keys in varying)
        seeds_by_point.setdefault(str(varying), set()).add(seed)
        fields = {}
        for keys, value in varying.items():
            if keys[0] == "scenario" and keys[-1] not in _WITHIN_CASE:
                fields[dotted(keys[1:])] = value
            elif value not in varied.setdefault(dotted(keys), []):
                varied[dotted(keys)].append(value)
        if "scenario" in job.arguments:
            new = {"first": job.key, "jobs": 0, "seeds": set(), "scenario": fields}
            case = cases.setdefault(str(fields), new)
            case["jobs"] += 1
            case["seeds"].add(seed)
    counts = [len(seeds) for seeds in seeds_by_point.values()]
    return {
        "runs": [min(counts), max(counts)],
        "seeds": sorted(set[int]().union(*seeds_by_point.values())),
        "scenario": scenario,
        "cases": {
            case.pop("first"): {**case, "seeds": sorted(case["seeds"])} for case in cases.values()
        },
        "varied": varied,
    }


def _common(tables: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what is the same in all tables, except for the seed."""
    common: dict[str, Any] = deepcopy(tables[0]) if tables else {}
    by_table = [leaves(table) for table in tables]
    for keys, value in leaves(common).items():
        if keys == ("seed",) or not all(keys in one and one[keys] == value for one in by_table):
            del reduce(getitem, keys[:-1], common)[keys[-1]]  # type: ignore[arg-type]
    return common


def leaves(node: Any, above: Keys = ()) -> dict[Keys, Any]:
    """Return every value by its keys; a list is a value, unless it is a list of tables."""
    entries: Iterable[tuple[str | int, Any]]
    if isinstance(node, dict):
        entries = node.items()
    elif isinstance(node, list) and node and all(isinstance(entry, dict) for entry in node):
        entries = enumerate(node)
    else:
        return {above: node}
    return {
        keys: value
        for key, child in entries
        for keys, value in leaves(child, (*above, key)).items()
    }


def compute_time(records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return jobs and seconds by machine and versions, of records or of such totals."""
    totals: dict[str, dict[str, Any]] = {}
    for record in records:
        where, versions = record["where"], record["versions"]
        new = {"where": where, "versions": versions, "jobs": 0, "seconds": 0.0}
        total = totals.setdefault(f"{where} {versions}", new)
        total["jobs"] += record.get("jobs", 1)
        total["seconds"] = round(total["seconds"] + record["seconds"], 1)
    return list(totals.values())
