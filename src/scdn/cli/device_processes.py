"""Devices of this machine as processes that share their memory.

    python -m scdn.cli.device_processes DEVICES.json

The file lists each device's log and its arguments of `scdn`. This process loads the program once
and forks for each device, so that a device has only what it changes for itself.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from scdn.federation.processes import PARENT, end_with_parent


def load_program() -> None:
    """Import what devices use, without starting a thread; pages are then shared."""
    import scdn.cli
    import scdn.federation.flower.supernode
    import scdn.federation.kept_states
    import scdn.federation.row_alignment
    import scdn.federation.unix_socket
    import scdn.federation.warm_up  # noqa: F401

    gc.collect()
    gc.freeze()  # the collector then leaves these pages as they are


def run_device(log: str, arguments: Sequence[str], parent: int) -> int:
    """Run a device in a process that was forked for it; return its exit code."""
    from scdn.cli import main

    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.environ[PARENT] = str(parent)
    return main(list(arguments))


def start(devices: Sequence[dict[str, Any]]) -> list[int]:
    """Fork a process for each device; return their ids."""
    parent, children = os.getpid(), []
    for device in devices:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = run_device(device["log"], device["arguments"], parent)
            finally:
                sys.stderr.flush()
                os._exit(code)
        children.append(child)
    return children


def main() -> int:
    """Start the devices of a file; stop them with this process, and end when they have ended."""
    devices = json.loads(Path(sys.argv[1]).read_text())
    load_program()
    children = start(devices)
    end_with_parent()

    def stop(*_: object) -> None:
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)

    signal.signal(signal.SIGTERM, stop)
    for child in list(children):
        os.waitpid(child, 0)
        children.remove(child)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
