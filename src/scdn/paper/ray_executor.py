"""A Ray cluster as an executor for `scdn.job_pool`: one job is one task."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from concurrent.futures import Executor, Future
from importlib import import_module
from typing import Any

from scdn.errors import input_error
from scdn.job_pool import ONE_THREAD

ray: Any = import_module("ray")  # an optional package, unknown to the type checker


class RayExecutor(Executor):
    """The part of an executor that a job pool needs."""

    def __init__(self, address: str) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            _check_port(address)
            ray.init(address=address, ignore_reinit_error=True, log_to_driver=False)
        except (OSError, RuntimeError, ValueError) as error:
            reason = str(error).splitlines()[0]
            allowed = "must be the address of a Ray cluster; ray start --head starts one"
            raise input_error("scdn paper", "--ray", f"{address}: {reason}", allowed) from None

    def submit(  # type: ignore[override]
        self, function: Callable[..., Any], /, *arguments: Any
    ) -> Future[Any]:
        """Start a task and return its future."""
        task = ray.remote(num_cpus=1)(_with_one_thread(function))
        future: Future[Any] = task.remote(*arguments).future()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Leave the cluster, which drops the tasks that have not begun."""
        ray.shutdown()


def _check_port(address: str) -> None:
    """Fail at once where nothing listens; Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=5).close()


def _with_one_thread(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: Any) -> Any:
        os.environ.update(ONE_THREAD)
        return function(*arguments)

    return run
