"""Worker processes for everything in the package that runs jobs side by side.

`run_jobs` yields results as they come and lets a job wait for another one's result; `map_ordered`
yields the results of one function in order. Both run in this process when there is one worker.
An error in a job, Ctrl-C or the death of a worker drops all other jobs.
`BackgroundProcess` keeps one process for calls that would block a server.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from threading import Lock
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# Two processes of one thread are faster than one process of two.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
_GRACE_S = 1.0


class WorkerDiedError(Exception):
    """Raised when a worker process ended without a result: killed, or out of memory."""

    def __init__(self) -> None:
        super().__init__(
            "a worker process ended before its job was done (killed, or out of memory): "
            "run fewer at once, or start again to go on"
        )


@dataclass(frozen=True)
class PoolJob(Generic[Result]):
    """A call of a module's function with arguments that can be pickled.

    `after` names a job that must end first; its result is then passed as the last argument.
    """

    key: str
    function: Callable[..., Result]
    arguments: tuple[Any, ...]
    after: str | None = None


def run_jobs(
    jobs: Sequence[PoolJob[Result]],
    *,
    workers: int = 1,
    known: Mapping[str, Result] | None = None,
    executor: Executor | None = None,
) -> Iterator[tuple[str, Result]]:
    """Yield the key and the result of each job as it ends.

    Jobs begin in the order given, each as soon as the one it waits for has ended: what is done when
    a long list is interrupted is the list's beginning. `known` has results of jobs that ended
    earlier and that others may wait for. `executor` replaces the processes of this machine, for
    instance by a cluster, and is given every job that is ready; it is shut down at the end.
    """
    results = dict(known or {})
    _check_dependencies(jobs, results)
    waiting = list(jobs)
    if workers <= 1 and executor is None:
        while (job := _take_ready(waiting, results)) is not None:
            results[job.key] = job.function(*_arguments(job, results))
            yield job.key, results[job.key]
        return
    at_once = workers if executor is None else len(jobs)
    with _closing(executor) if executor is not None else process_pool(workers) as pool:
        running: dict[Future[Result], PoolJob[Result]] = {}
        while waiting or running:
            _submit_ready(pool, waiting, running, results, at_once)
            ended, _ = wait(running, return_when=FIRST_COMPLETED)
            keys = {future: running.pop(future).key for future in ended}
            failed = [future for future in ended if future.exception() is not None]
            finished = {keys[future]: future.result() for future in ended if future not in failed}
            results |= finished
            if not failed:  # the caller may take its time
                _submit_ready(pool, waiting, running, results, at_once)
            yield from finished.items()
            for future in failed:
                future.result()


def map_ordered(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int = 1,
    chunk_size: int = 1,
    start_method: str | None = "spawn",
) -> Iterator[Result]:
    """Yield `function(item)` for each item, in order, `chunk_size` items per message."""
    if workers <= 1:
        yield from map(function, items)
        return
    with process_pool(workers, start_method) as pool:
        yield from pool.map(function, items, chunksize=chunk_size)


@contextmanager
def process_pool(workers: int, start_method: str | None = "spawn") -> Iterator[Executor]:
    """Hold a pool of processes of one thread each.

    Leaving it waits for running jobs; after an error or Ctrl-C their processes are ended.
    """
    pool = ProcessPoolExecutor(workers, mp_context=get_context(start_method))
    with _environment(ONE_THREAD), _closing(pool):
        yield pool


class BackgroundProcess:
    """A process that runs one call after another; it is started by the first call.

    If it dies, the call raises WorkerDiedError, and the next one starts another process.
    """

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._lock = Lock()

    def call(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Return `function(*arguments)`; may be called from several threads."""
        with self._lock:
            if self._pool is None:
                self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
            pool = self._pool
        try:
            return pool.submit(function, *arguments).result()
        except BrokenProcessPool:
            with self._lock:
                if self._pool is pool:
                    self._pool = None
            raise WorkerDiedError from None

    def close(self) -> None:
        """End the process; calls that have not returned raise WorkerDiedError."""
        if self._pool is not None:
            _abort(self._pool)


@contextmanager
def _closing(pool: Executor) -> Iterator[Executor]:
    with pool:
        try:
            yield pool
        except BrokenProcessPool:
            raise WorkerDiedError from None
        except BaseException:
            _abort(pool)
            raise


def _abort(pool: Executor) -> None:
    """Drop all jobs, and end the workers, which would still run the jobs that they have fetched.

    On Ctrl-C workers are interrupted too, and have a moment to save their state.
    """
    processes: list[BaseProcess] = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    deadline = time.monotonic() + _GRACE_S
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
    for process in processes:
        process.terminate()


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables, which processes that are started meanwhile inherit."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _submit_ready(
    pool: Executor,
    waiting: list[PoolJob[Result]],
    running: dict[Future[Result], PoolJob[Result]],
    results: Mapping[str, Result],
    at_once: int,
) -> None:
    """Submit jobs that wait for nothing until so many run."""
    while len(running) < at_once and (job := _take_ready(waiting, results)) is not None:
        running[pool.submit(job.function, *_arguments(job, results))] = job


def _take_ready(
    waiting: list[PoolJob[Result]], results: Mapping[str, Result]
) -> PoolJob[Result] | None:
    """Remove and return the first job that waits for nothing; None if there is none."""
    for index, job in enumerate(waiting):
        if job.after is None or job.after in results:
            return waiting.pop(index)
    return None


def _arguments(job: PoolJob[Result], results: Mapping[str, Result]) -> tuple[Any, ...]:
    return job.arguments if job.after is None else (*job.arguments, results[job.after])


def _check_dependencies(jobs: Sequence[PoolJob[Result]], known: Mapping[str, Result]) -> None:
    keys = [job.key for job in jobs]
    if len(set(keys)) != len(keys):
        raise ValueError("two jobs have the same key")
    first = {job.key for job in jobs if job.after is None} | set(known)
    for job in jobs:
        if job.after is not None and job.after not in first:
            raise ValueError(f"{job.key} waits for {job.after}, which is no job that can run first")
        first.add(job.key)  # later ones may wait for it
