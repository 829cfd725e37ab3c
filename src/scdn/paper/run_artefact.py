"""An artefact from its jobs to its files: a document of numbers and a picture per drawing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from scdn.errors import input_error
from scdn.file_io import to_json, write_atomic
from scdn.paper.artefact import ArtefactSpec, Drawing, Results
from scdn.paper.plotting import draw_png
from scdn.paper.provenance import compute_time, job_settings
from scdn.paper.sweep import OnJobDone, run_sweep


def run_artefact(
    spec: ArtefactSpec,
    out: Path,
    *,
    workers: int = 1,
    ray: str | None = None,
    so_far: bool = False,
    on_job_done: OnJobDone | None = None,
) -> list[Path]:
    """Run the jobs that are missing, write the artefact's files and return their paths.

    With `so_far` nothing is run, and the files show the results that are there.
    """
    module = spec.job_module
    planned, folder = module.jobs(spec), out / "cells" / spec.name
    records = run_sweep(
        planned, folder, workers=workers, ray=ray, so_far=so_far, on_job_done=on_job_done
    )
    results = {key: record["result"] for key, record in records.items()}
    shown = _showable(spec, results)
    if shown is None:
        have = f"has {len(records)} of {len(planned)} results, and no run is complete"
        raise input_error(str(folder), "folder", have, "run it without --so-far")
    jobs = [job for job in module.jobs(shown) if job.key in records]
    document = {
        "artefact": spec.name,
        "title": spec.title,
        "paper": spec.paper,
        "jobs": {"planned": len(planned), "done": len(jobs)},
        "only": list(spec.only),
        "settings": spec.user_settings,
        **job_settings(jobs),
        "took": compute_time([records[job.key] for job in jobs]),
        "numbers": module.numbers(shown, results),
    }
    written = [out / f"{spec.name}.json"]
    write_atomic(written[0], to_json(document, indent=None) + "\n")
    for part in module.show(document["numbers"]):
        if isinstance(part, Drawing):
            written.append(out / f"{part.name}.png")
            write_atomic(written[-1], draw_png(part))
    return written


def _showable(spec: ArtefactSpec, results: Results) -> ArtefactSpec | None:
    """Return the spec with as many runs as are complete; None if there are none.

    A module with `can_show` shows incomplete runs too.
    """
    module = spec.job_module
    can_show = getattr(module, "can_show", None)
    if can_show is not None:
        return spec if can_show(spec, results) else None
    fewer = (replace(spec, runs=runs) for runs in range(len(spec.seeds), 0, -1))
    complete = (s for s in (spec, *fewer) if all(job.key in results for job in module.jobs(s)))
    return next(complete, None)
