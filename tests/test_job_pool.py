"""Jobs on worker processes: results, order, dependencies, errors, the death of a worker."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor, wait
from multiprocessing import active_children

import pytest

from scdn.errors import InputError, input_error
from scdn.job_pool import BackgroundProcess, PoolJob, WorkerDiedError, map_ordered, run_jobs


def add(*numbers):
    return sum(numbers)


def refuse(name):
    raise input_error("job", name, "is wrong", "must be right")


def die(_=None):
    os.kill(os.getpid(), signal.SIGKILL)


def note(folder, name):
    time.sleep(0.2)
    (folder / name).touch()


def threads(_):
    return os.environ["OMP_NUM_THREADS"], os.environ["NUMBA_NUM_THREADS"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_gets_the_result_that_it_waits_for(workers):
    jobs = [
        PoolJob("sum", add, (1,), after="first"),
        PoolJob("first", add, (10, 20)),
        PoolJob("more", add, (2,), after="earlier"),
    ]
    results = dict(run_jobs(jobs, workers=workers, known={"earlier": 100}))
    assert results == {"first": 30, "sum": 31, "more": 102}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_that_waits_is_not_left_to_the_end(workers):
    jobs = []
    for seed in range(6):
        jobs += [PoolJob(f"leader {seed}", add, (seed,))]
        jobs += [PoolJob(f"rival {seed}", add, (1,), after=f"leader {seed}")]
    done = [key for key, _ in run_jobs(jobs, workers=workers)]
    assert sorted(done) == sorted(job.key for job in jobs)
    last_leader = max(done.index(f"leader {seed}") for seed in range(6))
    assert sum(key.startswith("rival") for key in done[:last_leader]) >= 5 - workers


@pytest.mark.parametrize("workers", [1, 2])
def test_jobs_may_wait_for_one_another_in_a_row(workers):
    jobs = [PoolJob("0", add, (1,))]
    jobs += [PoolJob(str(n), add, (1,), after=str(n - 1)) for n in range(1, 6)]
    assert list(run_jobs(jobs, workers=workers)) == [(str(n), n + 1) for n in range(6)]


@pytest.mark.parametrize("workers", [1, 2])
def test_map_keeps_the_order(workers):
    assert list(map_ordered(abs, range(-9, 0), workers=workers, chunk_size=2)) == [*range(9, 0, -1)]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_s_own_error_comes_back(workers):
    with pytest.raises(InputError, match="job: b: is wrong, must be right"):
        list(run_jobs([PoolJob("b", refuse, ("b",))], workers=workers))


def test_an_error_drops_what_has_not_begun(tmp_path):
    jobs = [PoolJob("bad", refuse, ("bad",))]
    jobs += [PoolJob(str(n), note, (tmp_path, str(n))) for n in range(40)]
    with pytest.raises(InputError):
        list(run_jobs(jobs, workers=2))
    assert len(list(tmp_path.iterdir())) < 20


def test_an_error_loses_nothing_that_ended_with_it(monkeypatch):
    """Of two jobs that end at once, the result of the good one is yielded first."""
    jobs = [PoolJob("bad", refuse, ("bad",)), PoolJob("good", add, (1, 2))]
    monkeypatch.setattr("scdn.job_pool.wait", lambda futures, **_: wait(futures))
    done = []
    with pytest.raises(InputError):
        done.extend(run_jobs(jobs, workers=2, executor=ThreadPoolExecutor(2)))
    assert done == [("good", 3)]


def test_a_consumer_that_stops_drops_what_has_not_begun(tmp_path):
    results = run_jobs([PoolJob(str(n), note, (tmp_path, str(n))) for n in range(40)], workers=2)
    next(results)
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt)
    assert len(list(tmp_path.iterdir())) < 20


def test_an_interrupt_ends_the_workers():
    jobs = [PoolJob("quick", add, (1,))]
    jobs += [PoolJob(str(n), time.sleep, (600,)) for n in range(4)]
    results = run_jobs(jobs, workers=2)
    assert next(results) == ("quick", 1)
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt)
    while active_children():  # not for 600 seconds
        time.sleep(0.1)


def test_the_death_of_a_worker_is_one_clear_error():
    with pytest.raises(WorkerDiedError, match="a worker process ended before its job was done"):
        list(run_jobs([PoolJob("a", die, ())], workers=2))
    with pytest.raises(WorkerDiedError):
        list(map_ordered(die, [1, 2], workers=2))


def test_workers_have_one_thread_and_this_process_keeps_its_own(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    assert list(map_ordered(threads, [0], workers=2)) == [("1", "1")]
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "NUMBA_NUM_THREADS" not in os.environ


def test_another_executor_takes_the_jobs():
    jobs = [PoolJob("a", add, (1,)), PoolJob("b", add, (2,), after="a")]
    assert dict(run_jobs(jobs, executor=ThreadPoolExecutor(1))) == {"a": 1, "b": 3}


def test_jobs_that_could_never_run_are_refused():
    with pytest.raises(ValueError, match="same key"):
        list(run_jobs([PoolJob("a", add, ()), PoolJob("a", add, ())]))
    with pytest.raises(ValueError, match="b waits for a"):
        list(run_jobs([PoolJob("b", add, (), after="a")]))
    with pytest.raises(ValueError, match="a waits for b"):
        list(run_jobs([PoolJob("a", add, (), after="b"), PoolJob("b", add, (), after="a")]))


def test_a_background_process_that_dies_is_replaced():
    process = BackgroundProcess()
    try:
        assert process.call(add, 1, 2) == 3
        first = process.call(os.getpid)
        assert process.call(os.getpid) == first != os.getpid()
        with pytest.raises(WorkerDiedError):
            process.call(die)
        assert process.call(os.getpid) != first
        with pytest.raises(InputError):
            process.call(refuse, "b")
    finally:
        process.close()
