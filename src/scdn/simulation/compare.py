"""Several methods on the same network, over several seeds, in processes of one thread each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from scdn.errors import input_error
from scdn.methods import method
from scdn.record.read import EVENTS, Run, read_run
from scdn.scenario.model import Scenario
from scdn.simulation.baselines import baselines
from scdn.simulation.run import REFERENCE, resume, run

Done = Callable[[Run, int, int], None]


@dataclass(frozen=True)
class Task:
    """One run of a comparison."""

    scenario: Scenario
    folder: Path
    reference: Path | None = None
    with_baselines: bool = False


def tasks(
    scenario: Scenario, methods: Sequence[str], seeds: Sequence[int], out: Path
) -> tuple[list[Task], list[Task]]:
    """What can run at once, and what waits for a reference of the same seed."""
    first, later = [], []
    rivals = [name for name in methods if method(name).rival]
    for seed in seeds:
        for name in methods:
            place = out / _safe(name) / f"seed-{seed}"
            here = scenario.model_copy(update={"seed": seed, "method": name})
            if name in rivals:
                source = out / ("sc-dn" if "sc-dn" in methods else REFERENCE) / f"seed-{seed}"
                later.append(Task(here, place, source, name == methods[0]))
            else:
                first.append(Task(here, place, with_baselines=name == methods[0]))
        if rivals and "sc-dn" not in methods:
            here = scenario.model_copy(update={"seed": seed, "method": "sc-dn"})
            first.append(Task(here, out / REFERENCE / f"seed-{seed}"))
    return first, later


def compare(
    scenario: Scenario,
    methods: Sequence[str],
    seeds: Sequence[int],
    out: str | Path,
    *,
    jobs: int = 1,
    done: Done | None = None,
) -> list[Run]:
    """Runs every method with every seed; what is finished stays, what was begun goes on."""
    first, later = tasks(scenario, methods, seeds, Path(out))
    total, found = len(first) + len(later), []
    for finished in _all(first, later, jobs):
        found.append(finished)
        if done is not None:
            done(finished, len(found), total)
    return found


def carry_out(task: Task) -> Path:
    """One run, begun or taken up; its folder."""
    if (task.folder / EVENTS).exists():
        _check_same(task)
        resume(task.folder)
    else:
        lines: dict[str, Any] = baselines(task.scenario) if task.with_baselines else {}
        run(task.scenario, task.folder, reference=task.reference, baselines=lines)
    return task.folder


def _check_same(task: Task) -> None:
    """Refuses to go on with a run of another scenario."""
    there = read_run(task.folder).scenario
    mine = task.scenario.model_dump(mode="json", by_alias=True)
    differs = [key for key in mine if mine[key] != there.get(key)]
    if differs:
        found = f"has a run that differs in {', '.join(differs)}"
        raise input_error(str(task.folder), "folder", found, "choose another --out")


def _all(first: list[Task], later: list[Task], jobs: int) -> Iterator[Run]:
    if jobs <= 1:
        for task in [*first, *later]:
            yield read_run(carry_out(task))
        return
    with _one_thread_each(), ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running: dict[Future[Path], Task] = {pool.submit(carry_out, t): t for t in first}
        try:
            while running:
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    task = running.pop(future)
                    place = future.result()
                    ready = [t for t in later if t.reference == task.folder]
                    running |= {pool.submit(carry_out, t): t for t in ready}
                    yield read_run(place)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """What processes started meanwhile find in their environment."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _safe(name: str) -> str:
    """A method's name as a folder's."""
    return name.replace(":", "-").replace("/", "-")
