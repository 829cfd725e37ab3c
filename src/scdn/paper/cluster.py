"""A Ray cluster as a pool of workers: one job is one task."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from concurrent.futures import Future
from importlib import import_module
from typing import Any

from scdn.errors import input_error

ray: Any = import_module("ray")  # an extra: it may be absent where types are checked


class RayPool:
    """As much of an executor as a sweep needs."""

    def __init__(self, address: str) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anyone
        try:
            _knock(address)
            ray.init(address=address, ignore_reinit_error=True, log_to_driver=False)
        except (OSError, RuntimeError, ValueError) as error:
            reason = str(error).splitlines()[0]
            allowed = "must be the address of a cluster; ray start --head begins one"
            raise input_error("scdn paper", "--ray", f"{address}: {reason}", allowed) from None

    def __enter__(self) -> RayPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Starts a task; its reference can be waited for like any future."""
        task = ray.remote(num_cpus=1)(_alone(function))
        future: Future[Any] = task.remote(*arguments).future()
        return future

    def shutdown(self, **_: bool) -> None:
        """Leaves the cluster; tasks that were not begun are dropped with it."""
        ray.shutdown()


def _knock(address: str) -> None:
    """Fails at once where nobody listens; Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=5).close()


def _alone(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: Any) -> Any:
        from scdn.paper.jobs import one_thread_each

        one_thread_each()
        return function(*arguments)

    return run
