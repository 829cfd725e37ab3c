"""Devices of this machine as processes that share their memory.

    python -m scdn.cli.device_processes DEVICES.json

The file lists each device's log and its arguments of `scdn`. This process loads the program once
and forks for each device, so that a device has only what it changes for itself. SIGHUP lets it
start the devices of the file that have ended, SIGTERM stops all of them.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from scdn.federation.processes import PARENT, end_with_parent

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)


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


@dataclass
class DeviceProcesses:
    """The devices of a file, each in a process of its own; `running` has their logs by process."""

    file: Path
    running: dict[int, str] = field(default_factory=dict)

    def start_missing(self) -> None:
        """Fork a process for each device of the file that has none."""
        parent = os.getpid()
        for device in json.loads(self.file.read_text()):
            if device["log"] in self.running.values():
                continue
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
                    code = run_device(device["log"], device["arguments"], parent)
                except Exception:
                    traceback.print_exc()
                finally:
                    sys.stderr.flush()
                    os._exit(code)
            self.running[child] = device["log"]

    def forget_ended(self) -> None:
        """Forget the processes that have ended."""
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG)[0]) != 0:
                self.running.pop(ended, None)

    def stop(self) -> None:
        """Ask all devices to leave."""
        for child in self.running:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)


def main() -> int:
    """Start the devices of a file; stop them with this process, and end when they have ended."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # one is handled at a time
    devices = DeviceProcesses(Path(sys.argv[1]))
    load_program()
    devices.start_missing()
    end_with_parent()
    while devices.running:
        received = signal.sigwait(_SIGNALS)
        devices.forget_ended()
        if received == signal.SIGHUP:
            devices.start_missing()
        elif received == signal.SIGTERM:
            devices.stop()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
