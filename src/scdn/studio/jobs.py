"""Runs that are started from the page: processes of the `scdn` command, with a note beside each.

A job is a folder in the runs directory with the scenario and a note of the command. Stopping one is
what Ctrl-C does, so it goes on later from its checkpoint, here or on the command line.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread

from scdn.errors import Fault, InputError, format_value, input_error
from scdn.file_io import to_json, write_atomic
from scdn.methods import method
from scdn.record.read import EVENTS
from scdn.studio.files import read_scenario
from scdn.studio.forms import JobForm, JobState, StartForm
from scdn.studio.places import NotThereError, folder_of, name_of
from scdn.studio.settings import MAX_JOBS
from scdn.studio.tail import last_line

NOTE, LOG, SCENARIO = "studio.json", "studio.log", "scenario.toml"
_PATIENCE_S = 10.0  # to end by itself after it was told to stop
_LOG_END = 2_000


class BusyError(Exception):
    """Raised when as many jobs run as may."""


@dataclass
class Job:
    """A process of this server, or the memory of one."""

    folder: Path
    arguments: list[str]  # of scdn
    process: subprocess.Popen[bytes] | None = None
    paused: bool = False
    told_to_stop: bool = False

    @property
    def alive(self) -> bool:
        """Whether the process goes on."""
        return self.process is not None and self.process.poll() is None

    def state(self) -> JobState:
        """What became of it."""
        if self.process is None:
            return "done" if _finished(self) else "stopped"
        code = self.process.poll()
        if code is None:
            return "paused" if self.paused else "running"
        if self.told_to_stop:
            return "stopped"
        return "done" if code == 0 else "failed"


class Jobs:
    """All jobs in a runs directory."""

    def __init__(self, runs: Path) -> None:
        self._runs = runs.resolve()
        self._jobs: dict[str, Job] = {}
        self._lock = Lock()

    def forms(self) -> list[JobForm]:
        """Every job, known from a note or running."""
        self._find_notes()
        with self._lock:
            jobs = list(self._jobs.items())
        return [self._form(name, job) for name, job in jobs if job.folder.is_dir()]

    def _form(self, name: str, job: Job) -> JobForm:
        command = shlex.join(["scdn", *job.arguments])
        return JobForm(job=name, state=job.state(), command=command, log=_end(job.folder / LOG))

    def _find_notes(self) -> None:
        """Jobs of an earlier studio; those that another one still runs are left to it."""
        for note in self._runs.glob(f"*/{NOTE}"):
            name = name_of(self._runs, note.parent)
            if name in self._jobs or note.parent.is_symlink():
                continue
            try:
                told = json.loads(note.read_bytes())
                arguments = [str(word) for word in told["arguments"]]
                if _runs_elsewhere(int(told["pid"]), note.parent) or not _ours(arguments):
                    continue
            except (OSError, ValueError, KeyError, TypeError):
                continue
            with self._lock:
                self._jobs.setdefault(name, Job(note.parent, arguments))

    def start(self, form: StartForm) -> JobForm:
        """Begins a run, or a comparison of several."""
        arguments = self._checked(form)
        folder = self._runs / form.name
        with self._lock:
            self._check_room()
            try:
                folder.mkdir(parents=True)
            except FileExistsError:
                raise input_error(
                    "run", "name", f"got {format_value(form.name)}", "is taken"
                ) from None
            write_atomic(folder / SCENARIO, form.scenario)
            job = Job(folder, arguments)
            self._launch(job)
            self._jobs[form.name] = job
        return self._form(form.name, job)

    def _checked(self, form: StartForm) -> list[str]:
        """The command's arguments, once everything that can be checked is right."""
        from scdn.data import store
        from scdn.data.registry import how_to_get

        scenario = read_scenario(form.scenario, SCENARIO)
        faults = [
            Fault(
                f"methods.{index}", f"got {format_value(name)}", "names code: use the command line"
            )
            for index, name in enumerate(form.methods)
            if ":" in name
        ]
        if len(set(form.methods)) < len(form.methods):
            faults.append(Fault("methods", "has one twice", "must have each once"))
        if scenario.learning.dataset not in store.stored():
            missing = f"{format_value(scenario.learning.dataset)} is not stored here"
            get = f"get it with: {how_to_get(scenario.learning.dataset)}"
            faults.append(Fault("learning.dataset", missing, get))
        if faults:
            raise InputError("run", faults)
        for name in form.methods:
            method(name)
        folder = self._runs / form.name
        rounds = [] if form.rounds is None else ["--set", f"learning.rounds={form.rounds}"]
        place = [*rounds, "--out", str(folder)]
        if len(form.methods) == 1 and form.seeds == 1:
            return ["run", str(folder / SCENARIO), "--method", form.methods[0], *place]
        at_once = min(len(form.methods) * form.seeds, os.cpu_count() or 1)
        return ["compare", str(folder / SCENARIO), "--methods", ",".join(form.methods), "--seeds",
                str(form.seeds), "--jobs", str(at_once), *place]  # fmt: skip

    def _check_room(self) -> None:
        if sum(job.alive for job in self._jobs.values()) >= MAX_JOBS:
            raise BusyError(f"{MAX_JOBS} jobs run already")

    def _launch(self, job: Job) -> None:
        one = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        with (job.folder / LOG).open("ab") as log:
            job.process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", "scdn.cli", *job.arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **one},
                start_new_session=True,  # a group of its own, to pause and stop whole
            )
        job.paused = job.told_to_stop = False
        note = {"arguments": job.arguments, "pid": job.process.pid}
        write_atomic(job.folder / NOTE, to_json(note) + "\n")

    def act(self, name: str, action: str) -> JobForm:
        """Pauses, goes on, stops or resumes a job."""
        folder_of(self._runs, name)
        self._find_notes()
        with self._lock:
            job = self._jobs.get(name)
            if job is None:
                raise NotThereError(name)
            match action:
                case "pause" if job.alive:
                    _signal(job, signal.SIGSTOP)
                    job.paused = True
                case "go-on" if job.alive:
                    _signal(job, signal.SIGCONT)
                    job.paused = False
                case "stop" if job.alive:
                    self._stop(job)
                case "resume" if not job.alive and job.state() != "done":
                    self._check_room()
                    job.arguments = _again(job)
                    self._launch(job)
                case _:
                    found = f"got {format_value(action)} while {job.state()}"
                    raise input_error("job", "action", found, "must fit what the job does")
        return self._form(name, job)

    def _stop(self, job: Job) -> None:
        job.told_to_stop, job.paused = True, False
        _signal(job, signal.SIGINT)
        _signal(job, signal.SIGCONT)
        Thread(target=_insist, args=(job,), daemon=True).start()

    def close(self) -> None:
        """Stops what runs; its checkpoint stays."""
        with self._lock:
            alive = [job for job in self._jobs.values() if job.alive]
            for job in alive:
                self._stop(job)
        for job in alive:
            _insist(job)

    def of_run(self, run: str) -> tuple[str, JobState] | None:
        """The job that a run belongs to, and its state."""
        top = run.split("/")[0]
        job = self._jobs.get(top)
        return None if job is None else (top, job.state())


def _again(job: Job) -> list[str]:
    """How to go on: a comparison as it began, a run from its checkpoint if it has begun."""
    if job.arguments[0] == "run" and (job.folder / EVENTS).exists():
        return ["run", "--resume", str(job.folder)]
    return job.arguments


def _finished(job: Job) -> bool:
    """Whether a job of an earlier studio has come to its end."""
    if job.arguments[0] == "compare":
        return (job.folder / "report.html").exists()  # written last
    try:
        return b'"event": "end"' in last_line(job.folder / EVENTS)[:40]
    except OSError:
        return False


def _ours(arguments: list[str]) -> bool:
    return arguments[:1] in (["run"], ["compare"])


def _signal(job: Job, kind: signal.Signals) -> None:
    assert job.process is not None  # noqa: S101
    try:
        os.killpg(job.process.pid, kind)
    except ProcessLookupError:
        return


def _insist(job: Job) -> None:
    """Waits for a job to end; ends it if it does not."""
    assert job.process is not None  # noqa: S101
    try:
        job.process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        _signal(job, signal.SIGKILL)
        job.process.wait()


def _runs_elsewhere(pid: int, folder: Path) -> bool:
    """Whether the process of a note still runs: one of that number that names the folder."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return os.fsencode(folder) in words


def _end(path: Path) -> str:
    """The end of a log, what was overwritten on a terminal left out."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG_END))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    lines = [line.rsplit("\r", 1)[-1] for line in text.splitlines()]
    return "\n".join(lines[-12:])
