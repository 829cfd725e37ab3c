"""Runs that are started from the page: processes of the `scdn` command.

A job is a folder in the runs directory with the scenario and a record of the command. Stopping a
job interrupts it as Ctrl-C does, so it can be resumed from its checkpoint, here or on the command
line. A job that outlives its studio can be paused and stopped from another one.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread

from scdn.errors import Fault, InputError, format_value, input_error
from scdn.file_io import to_json, write_atomic, writing
from scdn.methods import method
from scdn.record.file_tail import last_line
from scdn.record.run_reader import EVENTS
from scdn.studio.api_models import JobInfo, JobState, StartRequest
from scdn.studio.job_process import LOG, JobProcess
from scdn.studio.run_folders import NotFoundError, RunsFolder
from scdn.studio.settings import MAX_JOBS
from scdn.studio.uploads import read_scenario_text

JOB_RECORD, SCENARIO = "studio.json", "scenario.toml"
_LOG_BYTES, _LOG_LINES = 2_000, 12  # of the end of a log that the page shows


class TooManyError(Exception):
    """Raised when the allowed number of jobs or live views is reached."""


@dataclass
class RunJob:
    """A job of this studio, or the record of one that another studio started."""

    folder: Path
    arguments: list[str]  # of scdn
    process: JobProcess | None = None
    paused: bool = False
    stop_requested: bool = False

    @property
    def alive(self) -> bool:
        """Whether the process is running or paused."""
        return self.process is not None and self.process.alive

    def state(self) -> JobState:
        """Return what the process is doing, or how it ended."""
        if self.alive:
            return "paused" if self.paused else "running"
        outcome = None if self.process is None else self.process.outcome()
        if outcome is None:
            return "done" if _finished(self) else "stopped"
        return "stopped" if self.stop_requested else outcome

    def launch(self) -> None:
        """Start the process; its number is recorded for other studios."""
        self.paused = self.stop_requested = False
        self.process = None
        self.record()  # an earlier number must not stay beside the lock of a new process
        self.process = JobProcess.launch(self.folder, self.arguments)
        self.record()

    def record(self) -> None:
        """Write what another studio needs to know."""
        pid = None if self.process is None else self.process.pid
        state = {"paused": self.paused, "stop_requested": self.stop_requested}
        record = {"arguments": self.arguments, "pid": pid, **state}
        write_atomic(self.folder / JOB_RECORD, to_json(record) + "\n")

    @classmethod
    def from_record(cls, folder: Path) -> RunJob | None:
        """Read a record; None if it is not one."""
        try:
            record = json.loads((folder / JOB_RECORD).read_bytes())
            arguments = [str(argument) for argument in record["arguments"]]
            pid = record["pid"]
            if arguments[0] not in ("run", "compare"):
                return None
            process = JobProcess(folder, pid, None) if isinstance(pid, int) and pid > 1 else None
            flags = (record.get(key) is True for key in ("paused", "stop_requested"))
            return cls(folder, arguments, process, *flags)
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return None


class RunJobs:
    """The jobs in a runs directory."""

    def __init__(self, runs: RunsFolder) -> None:
        self._runs = runs
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
        """Read the jobs that other studios have started; they may have started them again."""
        paths = [
            path
            for folder in self._runs.listed
            for pattern in ("", "*/", "*-runs/*/")
            for path in folder.glob(f"{pattern}{JOB_RECORD}")
        ]
        for folder in (path.parent for path in paths):
            with self._lock:
                job = None if folder.is_symlink() else RunJob.from_record(folder)
                name = self._runs.name(folder)
                if job is not None:
                    self._jobs[name] = self._with_own_process(name, job)

    def _with_own_process(self, name: str, job: RunJob) -> RunJob:
        """Return a recorded job with its process, if this studio started that."""
        own = self._jobs[name].process if name in self._jobs else None
        if own is not None and job.process is not None and own.pid == job.process.pid:
            job.process = own
        return job

    def start(self, form: StartRequest) -> JobInfo:
        """Start a run, or a comparison of several."""
        _check(form)
        folder = self._runs.new / form.name
        name = self._runs.name(folder)
        with self._lock:
            self._check_capacity()
            with writing(self._runs.new):
                self._runs.new.mkdir(parents=True, exist_ok=True)
            try:
                folder.mkdir()
            except FileExistsError:
                got = f"got {format_value(form.name)}"
                raise input_error("run", "name", got, "already exists") from None
            write_atomic(folder / SCENARIO, form.scenario)
            job = RunJob(folder, _arguments(form, folder))
            job.launch()
            self._jobs[name] = job
        return self._info(name, job)

    def _check_capacity(self) -> None:
        if sum(job.alive for job in self._jobs.values()) >= MAX_JOBS:
            raise TooManyError(f"{MAX_JOBS} jobs are already running")

    def act(self, name: str, action: str) -> JobInfo:
        """Pause, continue, stop or resume a job."""
        self._runs.resolve_folder(name)  # refuses a name outside the runs directory
        self._read_records()
        with self._lock:
            job = self._jobs.get(name)
            if job is None:
                raise NotFoundError(name)
            process = job.process if job.alive else None
            match action:
                case "pause" if process is not None:
                    process.send(signal.SIGSTOP)
                    job.paused = True
                    job.record()
                case "go-on" if process is not None:
                    process.send(signal.SIGCONT)
                    job.paused = False
                    job.record()
                case "stop" if process is not None:
                    self._stop(job, process)
                case "resume" if process is None and job.state() != "done":
                    self._check_capacity()
                    job.arguments = _resume_arguments(job)
                    job.launch()
                case _:
                    allowed = f"not possible while the job is {job.state()}"
                    raise input_error("job", "action", f"got {format_value(action)}", allowed)
        return self._info(name, job)

    def _stop(self, job: RunJob, process: JobProcess) -> None:
        job.stop_requested, job.paused = True, False
        job.record()
        process.send(signal.SIGINT, signal.SIGCONT)
        Thread(target=process.wait_or_kill, daemon=True).start()

    def close(self) -> None:
        """Stop the running jobs of this studio; they can be resumed from their checkpoints."""
        own = []
        with self._lock:
            for job in self._jobs.values():
                if job.process is not None and job.process.is_child and job.process.alive:
                    self._stop(job, job.process)
                    own.append(job.process)
        for process in own:
            process.wait_or_kill()

    @contextmanager
    def idle_below(self, folder: Path) -> Iterator[None]:
        """Let no job begin while a folder is deleted; refuse one that a running job writes to."""
        self._read_records()
        with self._lock:
            for name, job in self._jobs.items():
                related = folder.is_relative_to(job.folder) or job.folder.is_relative_to(folder)
                if related and job.alive:
                    fault = f"belongs to the job {name}, which is {job.state()}"
                    raise input_error("runs", "run", fault, "stop it first")
            yield
            for name, job in list(self._jobs.items()):
                if job.folder.is_relative_to(folder):
                    del self._jobs[name]

    def of_run(self, run: str) -> tuple[str, JobState] | None:
        """Return the name and state of the job that a run belongs to."""
        for name, job in list(self._jobs.items()):
            if run == name or run.startswith(f"{name}/"):
                return name, job.state()
        return None


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
