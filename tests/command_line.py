"""Run `scdn` commands and lines of documentation, without starting Python where it can be avoided.

Most tests ask what a command does, which `scdn.cli.main` answers in this process; importing
PyTorch anew for each of them took most of the suite's time. `scdn_process` starts the real one.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

from scdn.cli import main

SCRIPTS = Path(sys.executable).parent
_SHELL_SYNTAX = re.compile(r"[|&;<>$`*]")


def scdn(*arguments, stdin=None, cwd=None) -> subprocess.CompletedProcess[str]:
    """Run a command in this process; an exception that `main` lets through fails the test."""
    words = [str(argument) for argument in arguments]
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
    with (
        contextlib.chdir(cwd or os.getcwd()),
        contextlib.redirect_stdout(streams[0]),
        contextlib.redirect_stderr(streams[1]),
        _standard_input(stdin or ""),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", DeprecationWarning)  # as a process of its own would
        try:
            code = main(words)
        except SystemExit as ended:  # argparse
            code = ended.code
    output, errors = (stream.buffer.getvalue().decode() for stream in streams)
    return subprocess.CompletedProcess(["scdn", *words], code, output, errors)


@contextlib.contextmanager
def _standard_input(text):
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8")
    try:
        yield
    finally:
        sys.stdin = before


def scdn_process(*arguments, stdin=None, cwd=None, **options) -> subprocess.CompletedProcess[str]:
    """Run the installed console script in a process of its own."""
    return subprocess.run(
        [SCRIPTS / "scdn", *map(str, arguments)],
        input=stdin,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )


def run_line(line, cwd) -> subprocess.CompletedProcess[str]:
    """Run a line as a shell would: here if it is a plain `scdn` command, else in a shell."""
    words = shlex.split(line, comments=True)
    if words[:1] == ["scdn"] and not _SHELL_SYNTAX.search(line.partition("#")[0]):
        return scdn(*words[1:], cwd=cwd)
    environment = {**os.environ, "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-c", line],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def run_python(code, name, cwd) -> None:
    """Run a piece of documentation as a script in a folder; an exception fails the test."""
    with contextlib.chdir(cwd), contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, name, "exec"), {"__name__": "__main__"})  # noqa: S102


def refused(result, lines=None) -> list[str]:
    """Check that wrong input was refused with one line per fault; return the lines."""
    assert result.returncode == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    faults = result.stderr.splitlines()
    assert faults
    assert lines is None or len(faults) == lines
    return faults
