"""An artefact from its jobs to its files: a document of numbers and a picture for each drawing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scdn.documents import to_json, write_atomic
from scdn.faults import refuse
from scdn.paper.artefact import Drawing, Setting, module_of
from scdn.paper.draw import picture
from scdn.paper.jobs import Done, sweep

CELLS = "cells"


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
    module, jobs = module_of(setting.table), module_of(setting.table).jobs(setting)
    kept = out / CELLS / setting.name
    records = sweep(jobs, kept, workers=workers, ray=ray, so_far=so_far, done=done)
    if not records:
        raise refuse(str(kept), "folder", "has no results yet", "run it without --so-far")
    found = {key: record["result"] for key, record in records.items()}
    document = {
        "artefact": setting.name,
        "title": setting.table["title"],
        "paper": setting.table["paper"],
        "runs": len(setting.seeds),
        "jobs": {"planned": len(jobs), "done": len(records)},
        "scenario": setting.table.get("scenario"),
        "took": took(records),
        "numbers": module.numbers(setting, found),
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
