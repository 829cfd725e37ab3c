"""Runs that are started from the page: processes of the `scdn` command.

A job is a folder in the runs directory with the scenario and a record of the command. Stopping a
job interrupts it as Ctrl-C does, so it can be resumed from its checkpoint, here or on the command
line.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread

from scdn.errors import Fault, InputError, format_value, input_error
from scdn.file_io import to_json, write_atomic
from scdn.methods import method
from scdn.record.file_tail import last_line
from scdn.record.run_reader import EVENTS
from scdn.studio.api_models import JobInfo, JobState, StartRequest
from scdn.studio.run_folders import NotFoundError, relative_name, resolve_folder
from scdn.studio.settings import MAX_JOBS
from scdn.studio.uploads import read_scenario_text

JOB_RECORD, LOG, SCENARIO = "studio.json", "studio.log", "scenario.toml"
_STOP_TIMEOUT_S = 10.0  # a job that has not stopped by then is killed
_LOG_BYTES, _LOG_LINES = 2_000, 12  # of the end of a log that the page shows


class TooManyError(Exception):
    """Raised when the allowed number of jobs or live views is reached."""


@dataclass
class RunJob:
    """A process that this studio started, or the record of one from an earlier studio."""

    folder: Path
    arguments: list[str]  # of scdn
    process: subprocess.Popen[bytes] | None = None
    paused: bool = False
    stop_requested: bool = False

    @property
    def alive(self) -> bool:
        """Whether the process is running or paused."""
        return self.process is not None and self.process.poll() is None

    def state(self) -> JobState:
        """Return what the process is doing, or how it ended."""
        if self.process is None:
            return "done" if _finished(self) else "stopped"
        code = self.process.poll()
        if code is None:
            return "paused" if self.paused else "running"
        if self.stop_requested:
            return "stopped"
        return "done" if code == 0 else "failed"


class RunJobs:
    """The jobs in a runs directory."""

    def __init__(self, runs: Path) -> None:
        self._runs = runs.resolve()
        self._jobs: dict[str, RunJob] = {}
        self._lock = Lock()

    def infos(self) -> list[JobInfo]:
        """Return every job, running or recorded."""
        self._read_records()
        with self._lock:
            jobs = list(self._jobs.items())
        return [self._info(name, job) for name, job in jobs if job.folder.is_dir()]

    def _info(self, name: str, job: RunJob) -> JobInfo:
        command = shlex.join(["scdn", *job.arguments])
        return JobInfo(job=name, state=job.state(), command=command, log=_log_end(job.folder / LOG))

    def _read_records(self) -> None:
        """Add the jobs of an earlier studio, except those that another studio still runs."""
        for path in self._runs.glob(f"*/{JOB_RECORD}"):
            folder = path.parent
            name = relative_name(self._runs, folder)
            if name in self._jobs or folder.is_symlink():
                continue
            try:
                record = json.loads(path.read_bytes())
                arguments = [str(argument) for argument in record["arguments"]]
                if arguments[0] not in ("run", "compare") or _is_running(record["pid"], folder):
                    continue
            except (OSError, ValueError, LookupError, TypeError):
                continue
            with self._lock:
                self._jobs.setdefault(name, RunJob(folder, arguments))

    def start(self, form: StartRequest) -> JobInfo:
        """Start a run, or a comparison of several."""
        _check(form)
        folder = self._runs / form.name
        with self._lock:
            self._check_capacity()
            try:
                folder.mkdir(parents=True)
            except FileExistsError:
                got = f"got {format_value(form.name)}"
                raise input_error("run", "name", got, "already exists") from None
            write_atomic(folder / SCENARIO, form.scenario)
            job = RunJob(folder, _arguments(form, folder))
            self._launch(job)
            self._jobs[form.name] = job
        return self._info(form.name, job)

    def _check_capacity(self) -> None:
        if sum(job.alive for job in self._jobs.values()) >= MAX_JOBS:
            raise TooManyError(f"{MAX_JOBS} jobs are already running")

    def _launch(self, job: RunJob) -> None:
        single_threaded = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        with (job.folder / LOG).open("ab") as log:
            job.process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", "scdn.cli", *job.arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **single_threaded},
                start_new_session=True,  # its own process group, to signal its workers too
            )
        job.paused = job.stop_requested = False
        record = {"arguments": job.arguments, "pid": job.process.pid}
        write_atomic(job.folder / JOB_RECORD, to_json(record) + "\n")

    def act(self, name: str, action: str) -> JobInfo:
        """Pause, continue, stop or resume a job."""
        resolve_folder(self._runs, name)  # refuses a name outside the runs directory
        self._read_records()
        with self._lock:
            job = self._jobs.get(name)
            if job is None:
                raise NotFoundError(name)
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
                    self._check_capacity()
                    job.arguments = _resume_arguments(job)
                    self._launch(job)
                case _:
                    allowed = f"not possible while the job is {job.state()}"
                    raise input_error("job", "action", f"got {format_value(action)}", allowed)
        return self._info(name, job)

    def _stop(self, job: RunJob) -> None:
        job.stop_requested, job.paused = True, False
        _signal(job, signal.SIGINT)
        _signal(job, signal.SIGCONT)
        Thread(target=_wait_or_kill, args=(job,), daemon=True).start()

    def close(self) -> None:
        """Stop the running jobs; they can be resumed from their checkpoints."""
        with self._lock:
            alive = [job for job in self._jobs.values() if job.alive]
            for job in alive:
                self._stop(job)
        for job in alive:
            _wait_or_kill(job)

    def of_run(self, run: str) -> tuple[str, JobState] | None:
        """Return the name and state of the job that a run belongs to."""
        name = run.split("/")[0]
        job = self._jobs.get(name)
        return None if job is None else (name, job.state())


def _check(form: StartRequest) -> None:
    """Refuse what would make the job fail."""
    from scdn.data.catalog import how_to_get, loadable_names

    dataset = read_scenario_text(form.scenario, SCENARIO).learning.dataset
    faults = [
        Fault(f"methods.{index}", f"got {format_value(name)}", "names code: use the command line")
        for index, name in enumerate(form.methods)
        if ":" in name
    ]
    if len(set(form.methods)) < len(form.methods):
        faults.append(Fault("methods", "has duplicates", "must name each method once"))
    if dataset not in loadable_names():
        missing = f"{format_value(dataset)} is not stored on this machine"
        faults.append(Fault("learning.dataset", missing, f"get it with: {how_to_get(dataset)}"))
    if faults:
        raise InputError("run", faults)
    for name in form.methods:
        method(name)  # refuses an unknown name


def _arguments(form: StartRequest, folder: Path) -> list[str]:
    scenario, rest = str(folder / SCENARIO), ["--out", str(folder)]
    if form.rounds is not None:
        rest = ["--set", f"learning.rounds={form.rounds}", *rest]
    rest = [*_mission_arguments(form), *rest]
    if len(form.methods) == 1 and form.seeds == 1:
        return ["run", scenario, "--method", form.methods[0], *rest]
    parallel = min(len(form.methods) * form.seeds, os.cpu_count() or 1)
    return ["compare", scenario, "--methods", ",".join(form.methods), "--seeds", str(form.seeds),
            "--jobs", str(parallel), *rest]  # fmt: skip


def _mission_arguments(form: StartRequest) -> list[str]:
    """Return the options for a mission; its target is a question to the other methods, too."""
    if form.mission is None:
        return []
    settings = form.mission.model_dump(exclude_none=True)
    options = [] if "target" not in settings else ["--target", settings["target"]]
    for key, value in settings.items():
        options += ["--set", f"mission.{key}={to_json(value)}"]
    return options


def _resume_arguments(job: RunJob) -> list[str]:
    """Return how to resume: a run from its checkpoint; a comparison skips its finished runs."""
    if job.arguments[0] == "run" and (job.folder / EVENTS).exists():
        return ["run", "--resume", str(job.folder)]
    return job.arguments


def _finished(job: RunJob) -> bool:
    """Return whether a job of an earlier studio was completed."""
    if job.arguments[0] == "compare":
        return (job.folder / "report.html").exists()  # written last
    try:
        return b'"event": "end"' in last_line(job.folder / EVENTS)[:40]
    except OSError:
        return False


def _signal(job: RunJob, kind: signal.Signals) -> None:
    assert job.process is not None  # noqa: S101
    with suppress(ProcessLookupError):
        os.killpg(job.process.pid, kind)


def _wait_or_kill(job: RunJob) -> None:
    assert job.process is not None  # noqa: S101
    try:
        job.process.wait(_STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        _signal(job, signal.SIGKILL)
        job.process.wait()


def _is_running(pid: int, folder: Path) -> bool:
    """Return whether the recorded process still runs, and is not another one with its number."""
    try:
        command_line = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return os.fsencode(folder) in command_line


def _log_end(path: Path) -> str:
    """Return the last lines of a log, without what a progress bar has overwritten."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    lines = [line.rsplit("\r", 1)[-1] for line in text.splitlines()]
    return "\n".join(lines[-_LOG_LINES:])
