"""Many small jobs: in processes of this machine or on a Ray cluster, each result kept as it comes.

A job's result is a file of its own. A sweep that is interrupted and started again runs what is
missing; a job whose arguments have changed runs anew.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from scdn import __version__
from scdn.errors import require_package
from scdn.file_io import make_folder, to_json, write_atomic

Result = dict[str, Any]
Done = Callable[[int, int, str], None]

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Job:
    """A call of `module:function` with plain arguments; `after` names a job whose result it needs.

    The function takes the arguments and the earlier result, and returns a plain table.
    """

    key: str
    work: str
    arguments: dict[str, Any]
    after: str | None = None


def sweep(
    jobs: Sequence[Job],
    folder: Path,
    *,
    workers: int = 1,
    ray: str | None = None,
    so_far: bool = False,
    done: Done | None = None,
) -> dict[str, Result]:
    """Every job's record: its `result`, the `seconds` it took, `where`, and with which `versions`.

    With `so_far` nothing is run; only what is there comes back.
    """
    if ray is not None:
        require_package("ray", "sweep", "--ray")
    make_folder(folder)
    known = {job.key: job for job in jobs}
    if len(known) != len(jobs):
        raise ValueError("two jobs have one key")
    found = {key: kept for key, job in known.items() if (kept := _kept(folder, job)) is not None}
    missing = () if so_far else _run(jobs, found, workers, ray)
    for number, (key, record) in enumerate(missing, len(found) + 1):
        record["arguments"] = known[key].arguments
        write_atomic(_file(folder, key), to_json(record, indent=None) + "\n")
        found[key] = record
        if done is not None:
            done(number, len(jobs), key)
    return {job.key: found[job.key] for job in jobs if job.key in found}


def _run(
    jobs: Sequence[Job], found: Mapping[str, Result], workers: int, ray: str | None
) -> Iterator[tuple[str, Result]]:
    """The jobs that are missing, as they end; those that wait for another start after it."""
    results = {key: record["result"] for key, record in found.items()}
    todo = [job for job in jobs if job.key not in results]
    if ray is None and any(_on_gpu(job.arguments) for job in todo):
        _need_gpu()
    if workers <= 1 and ray is None:
        for job in sorted(todo, key=lambda job: job.after is not None):
            record = carry_out(job.work, job.arguments, results.get(job.after or ""))
            results[job.key] = record["result"]
            yield job.key, record
        return
    with _pool(workers, ray) as pool:
        running: dict[Future[Result], Job] = {}
        try:
            while todo or running:
                ready = [job for job in todo if job.after is None or job.after in results]
                todo = [job for job in todo if job not in ready]
                for job in ready:
                    before = results.get(job.after or "")
                    running[pool.submit(carry_out, job.work, job.arguments, before)] = job
                if not running:
                    raise ValueError(f"{todo[0].key} waits for {todo[0].after}, which is no job")
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    job = running.pop(future)
                    record = future.result()
                    results[job.key] = record["result"]
                    yield job.key, record
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def carry_out(work: str, arguments: dict[str, Any], before: Result | None) -> Result:
    """One job, here."""
    home, _, name = work.partition(":")
    on_gpu = _on_gpu(arguments)
    if on_gpu:
        _need_gpu()
    began = time.perf_counter()
    result = getattr(import_module(home), name)(arguments, before)
    seconds = round(time.perf_counter() - began, 3)
    if on_gpu:
        _give_back()
    where = _gpu() if on_gpu else _cpu()
    return {"result": result, "seconds": seconds, "where": where, "versions": _versions()}


def _on_gpu(arguments: Mapping[str, Any]) -> bool:
    device = arguments.get("scenario", {}).get("learning", {}).get("device")
    return bool(device == "cuda")


def _need_gpu() -> None:
    """Refuses to go on where there is none."""
    from scdn.learning.tensors import Place

    Place("cuda")


def _give_back() -> None:
    """Memory that a job no longer needs belongs to the other processes on the same GPU."""
    import torch

    from scdn.learning.replay import forget

    forget()
    torch.cuda.empty_cache()


@cache
def _cpu() -> str:
    return f"one core of {os.cpu_count()} ({platform.machine()})"


@cache
def _gpu() -> str:
    import torch

    return str(torch.cuda.get_device_name())


@cache
def _versions() -> dict[str, str]:
    """Of what the numbers hang on."""
    import numpy as np
    import torch

    return {
        "scdn": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": torch.__version__,
    }


def _pool(workers: int, ray: str | None) -> Any:
    if ray is not None:
        return _ray_pool(ray)
    return ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=one_thread_each
    )


def one_thread_each() -> None:
    """A worker has one thread: two processes of one are faster than one of two."""
    os.environ.update(_ONE_THREAD)


def _ray_pool(address: str) -> Any:
    from scdn.paper.cluster import RayPool

    return RayPool(address)


def _kept(folder: Path, job: Job) -> Result | None:
    """A result that is there already, if it is of the same arguments."""
    try:
        record: Result = json.loads(_file(folder, job.key).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    same = record.get("arguments") == json.loads(to_json(job.arguments))
    return record if same and "versions" in record else None


def _file(folder: Path, key: str) -> Path:
    return folder / f"{key.replace('/', '_').replace(':', '-')}.json"
