"""One process forks the devices of a file, starts again those that have ended, and stops all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = """
import os, time
from scdn.cli import device_processes

def run_device(log, arguments, parent):
    assert os.getppid() == parent
    with open(log, "a") as file:
        file.write(f"{os.getpid()} {' '.join(arguments)}\\n")
    if arguments == ["fails"]:
        raise ValueError("a device's own error")
    if arguments != ["ends"]:
        time.sleep(1e6)
    return 0

device_processes.load_program = lambda: None
device_processes.run_device = run_device
raise SystemExit(device_processes.main())
"""


@pytest.fixture
def start(tmp_path):
    """A function that starts devices with these arguments; all processes end with the test."""
    started = []

    def begin(**arguments):
        devices = [
            {"log": str(tmp_path / f"{name}.log"), "arguments": [argument]}
            for name, argument in arguments.items()
        ]
        file = tmp_path / "devices.json"
        file.write_text(json.dumps(devices))
        command = [sys.executable, "-c", PROGRAM, str(file)]
        started.append(
            subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True)
        )
        return started[-1]

    yield begin
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stderr.close()


def starts_of(folder, name, count, meanwhile=lambda: None):
    """Wait until a device has been started so often; return the ids of its processes."""
    deadline, lines = time.monotonic() + 60, []
    while len(lines) < count and time.monotonic() < deadline:
        meanwhile()
        time.sleep(0.02)
        log = folder / f"{name}.log"
        lines = log.read_text().splitlines() if log.exists() else []
    return [int(line.split()[0]) for line in lines]


def test_a_device_that_was_killed_is_started_again_and_the_others_go_on(start, tmp_path):
    process = start(a="goes on", b="goes on")
    (a,), (b,) = (starts_of(tmp_path, name, 1) for name in "ab")
    os.kill(a, signal.SIGKILL)
    again = starts_of(tmp_path, "a", 2, lambda: process.send_signal(signal.SIGHUP))
    assert len(again) == 2
    assert again[1] != a
    assert starts_of(tmp_path, "b", 1) == [b]
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    for pid in (again[1], b):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_it_ends_when_all_devices_have_ended(start):
    assert start(a="ends", b="ends").wait(60) == 0


def test_an_error_of_a_device_is_told(start):
    process = start(a="fails", b="ends")
    assert "ValueError: a device's own error" in process.communicate(timeout=60)[1]
    assert process.returncode == 0
