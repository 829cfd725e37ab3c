"""An artefact's jobs, run in processes of this machine or on a Ray cluster.

Each result is a file of its own: a sweep that was interrupted runs only the jobs that are missing,
and a job whose arguments have changed runs again.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from scdn import __version__
from scdn.errors import require_package
from scdn.file_io import make_folder, to_json, write_atomic
from scdn.job_pool import PoolJob, run_jobs

Record = dict[str, Any]  # a job's result, and how it was computed
OnJobDone = Callable[[int, int, str], None]  # number of jobs done, of all, key of the last


@dataclass(frozen=True)
class ArtefactJob:
    """A call of a module's function with plain arguments, which returns a plain table.

    `after` names a job that must run first; its result is then passed as the second argument.
    """

    key: str
    function: Callable[..., Record]
    arguments: dict[str, Any]
    after: str | None = None


def run_sweep(
    jobs: Sequence[ArtefactJob],
    folder: Path,
    *,
    workers: int = 1,
    ray: str | None = None,
    so_far: bool = False,
    on_job_done: OnJobDone | None = None,
) -> dict[str, Record]:
    """Run the jobs that have no result in `folder`; return every job's record by key.

    A record has the job's `result`, the `seconds` it took, `where`, and the `versions` used.
    With `so_far` nothing is run, and only the jobs that are done are returned.
    """
    if ray is not None:
        require_package("ray", "sweep", "--ray")
    make_folder(folder)
    by_key = {job.key: job for job in jobs}
    if len(by_key) != len(jobs):
        raise ValueError("two jobs have the same key")
    records = {key: record for key, job in by_key.items() if (record := _read(folder, job))}
    missing = [] if so_far else [job for job in jobs if job.key not in records]
    for key, record in _run(missing, records, workers, ray):
        record["arguments"] = by_key[key].arguments
        write_atomic(_path(folder, key), to_json(record, indent=None) + "\n")
        records[key] = record
        if on_job_done is not None:
            on_job_done(len(records), len(jobs), key)
    return {key: records[key] for key in by_key if key in records}


def _run(
    jobs: Sequence[ArtefactJob], done: Mapping[str, Record], workers: int, ray: str | None
) -> Iterator[tuple[str, Record]]:
    executor = None
    if ray is not None and jobs:
        from scdn.paper.ray_executor import RayExecutor

        executor = RayExecutor(ray)
    elif any(_needs_gpu(job.arguments) for job in jobs):
        _require_gpu()  # before a process is started
    pool_jobs = [PoolJob(j.key, run_job, (j.function, j.arguments), j.after) for j in jobs]
    return run_jobs(pool_jobs, workers=workers, known=dict(done), executor=executor)


def run_job(
    function: Callable[..., Record], arguments: dict[str, Any], earlier: Record | None = None
) -> Record:
    """Call a job's function; `earlier` is the record of the job that had to run first."""
    on_gpu = _needs_gpu(arguments)
    if on_gpu:
        _require_gpu()
    began = time.perf_counter()
    result = function(arguments, *([] if earlier is None else [earlier["result"]]))
    seconds = round(time.perf_counter() - began, 3)
    if on_gpu:
        _release_gpu_memory()
    where = _gpu_name() if on_gpu else f"one core of {os.cpu_count()} ({platform.machine()})"
    return {"result": result, "seconds": seconds, "where": where, "versions": _versions()}


def _needs_gpu(arguments: Mapping[str, Any]) -> bool:
    return bool(arguments.get("scenario", {}).get("learning", {}).get("device") == "cuda")


def _require_gpu() -> None:
    from scdn.learning.tensors import TensorOptions

    TensorOptions("cuda")


def _release_gpu_memory() -> None:
    """Free memory of a finished job for the other processes on the same GPU."""
    import torch

    from scdn.learning.cuda_graphs import release_graphs

    release_graphs()
    torch.cuda.empty_cache()


def _gpu_name() -> str:
    import torch

    return str(torch.cuda.get_device_name())


def _versions() -> dict[str, str]:
    packages = {name: version(name) for name in ("numpy", "torch")}
    return {"scdn": __version__, "python": platform.python_version(), **packages}


def _read(folder: Path, job: ArtefactJob) -> Record | None:
    """Return the job's record if there is one for the same arguments."""
    try:
        record: Record = json.loads(_path(folder, job.key).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    same = record.get("arguments") == json.loads(to_json(job.arguments))
    return record if same and "versions" in record else None


def _path(folder: Path, key: str) -> Path:
    return folder / f"{key.replace('/', '_').replace(':', '-')}.json"
