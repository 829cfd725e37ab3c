"""A run that was stopped in any way resumes to the same events as one that was not."""

from __future__ import annotations

import errno
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from contextlib import contextmanager

import numpy as np
import pytest
from command_line import refused, scdn
from conftest import LONG
from filelock import FileLock
from run_scenarios import SCRIPT, device, one_line, scenario, scripted, without_times

from scdn import npz
from scdn.data import fetch
from scdn.errors import InputError
from scdn.file_io import OutputError, merge_tables
from scdn.record import checkpoint
from scdn.record.run_lock import lock_run_folder
from scdn.record.run_reader import EVENTS, read_run
from scdn.record.run_writer import Recorder
from scdn.rng import generator
from scdn.scenario import make_scenario
from scdn.simulation.runner import REFERENCE_FOLDER, resume, run

ROUNDS = 6


class StoppedError(Exception):
    """Ends a run in place of a kill."""


def stop_after(round_index, act=None):
    """Return a callback that ends the run, or calls `act`, after a round is recorded."""

    def on_round(event, _):
        if event["round"] == round_index:
            if act is None:
                raise StoppedError
            act()

    return on_round


def stopped(setting, folder, round_index=3, **settings):
    with pytest.raises(StoppedError):
        run(setting, folder, on_round=stop_after(round_index), **settings)
    return folder


def file_contents(folder):
    """Return the content of every file below a folder."""
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def assert_same_run(folder, expected):
    """Check that a folder holds the run that never stopped, apart from the seconds it took."""
    assert without_times(read_run(folder)) == without_times(expected)
    summary = json.loads((folder / "summary.json").read_text())
    assert expected.end == {"event": "end", **summary}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """Runs that were not stopped, with exits and entries: scenario, reference, recorded run."""
    fetch("digits")
    folder = tmp_path_factory.mktemp("uninterrupted")
    counted = {"cpu_hz": 1e5}  # so slow that the server's seconds matter
    learning = {"perturbation": 0.05, "step": "searched", "server_optimizer": "adam"}
    setting = scripted(folder, seed=5, server=counted, learning=learning)
    reference = run(setting, folder / "sc-dn")
    rival = setting.model_copy(update={"method": "vafl"})
    other = run(rival, folder / "vafl", reference=reference.folder)
    zoc = setting.model_copy(update={"method": "zoc"})
    # The first device to report ends a round, so that cycles go on in the next.
    table = setting.model_dump(mode="json", by_alias=True) | {"method": "max-vfl-buffered"}
    buffered = make_scenario(merge_tables(table, {"learning": {"buffer_reports": 1}}))
    late = run(buffered, folder / "buffered")
    assert any(a["staleness"] for event in late.rounds for a in event["arrivals"])
    return {
        "max-vfl-buffered": (buffered, None, late),
        "sc-dn": (setting, None, reference),
        "vafl": (rival, reference.folder, other),
        "zoc": (zoc, None, run(zoc, folder / "zoc")),
    }


# --- killed ---------------------------------------------------------------------------------------

CHILD = """
import json, sys
from scdn.scenario import make_scenario
from scdn.simulation.runner import run
run(make_scenario(json.loads(sys.argv[1])), sys.argv[2], reference=sys.argv[3] or None)
"""


def run_and_kill(setting, reference, folder, lines, delay_s):
    """Start a run, and kill it some time after it has written so many lines."""
    table = json.dumps(setting.model_dump(mode="json", by_alias=True))
    command = [sys.executable, "-c", CHILD, table, str(folder), str(reference or "")]
    child = subprocess.Popen(command, start_new_session=True)
    try:
        deadline = time.monotonic() + 120
        while child.poll() is None and time.monotonic() < deadline:
            events = folder / EVENTS
            if events.exists() and events.read_bytes().count(b"\n") >= lines:
                break
            time.sleep(0.001)
        time.sleep(delay_s)
    finally:
        child.send_signal(signal.SIGKILL)
        code = child.wait()
    assert code in (0, -signal.SIGKILL)  # killed, or done before; it did not fail by itself


@pytest.mark.parametrize(
    ("name", "trial"),
    [("sc-dn", n) for n in range(20 if LONG else 2)]
    + [(name, n) for name in ("vafl", "max-vfl-buffered") for n in range(20 if LONG else 1)],
)
def test_a_run_killed_at_any_moment_resumes(uninterrupted, tmp_path, name, trial):
    setting, reference, expected = uninterrupted[name]
    draw = generator(trial, f"kill:{name}")
    folder = tmp_path / "run"
    lines, delay_s = int(draw.integers(1, ROUNDS + 1)), float(draw.uniform(0, 0.15))
    run_and_kill(setting, reference, folder, lines, delay_s)
    assert (folder / EVENTS).exists()
    resume(folder)
    assert_same_run(folder, expected)


# --- stopped at a known point ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sc-dn", "vafl", "zoc", "max-vfl-buffered"])
@pytest.mark.parametrize("round_index", range(ROUNDS - 1) if LONG else (0, 1, 4))
def test_a_run_stopped_between_rounds_resumes(uninterrupted, tmp_path, name, round_index):
    setting, reference, expected = uninterrupted[name]
    folder = stopped(setting, tmp_path / "run", round_index, reference=reference)
    recorded = resume(folder)
    assert without_times(recorded) == without_times(expected)
    assert_same_run(folder, expected)


@pytest.mark.parametrize("round_index", [0, 1, 4])
@pytest.mark.parametrize("name", ["sc-dn", "vafl", "max-vfl-buffered"])
def test_a_run_stopped_before_a_checkpoint_resumes(
    uninterrupted, tmp_path, monkeypatch, name, round_index
):
    setting, reference, expected = uninterrupted[name]
    save, calls = checkpoint.save, []

    def fails(*arguments):
        calls.append(arguments)
        if len(calls) == round_index + 2:  # the first is of the start
            raise StoppedError
        save(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "save", fails)
        with pytest.raises(StoppedError):
            run(setting, tmp_path / "run", reference=reference)
    assert len(read_run(tmp_path / "run").rounds) == round_index + 1
    resume(tmp_path / "run")
    assert_same_run(tmp_path / "run", expected)


@pytest.mark.parametrize("count", range(1, 11) if LONG else (1, 3, 4, 6, 9))
def test_a_run_stopped_inside_a_checkpoint_resumes(uninterrupted, tmp_path, monkeypatch, count):
    """It is stopped between the arrays of departed devices and the state."""
    setting, _, expected = uninterrupted["sc-dn"]
    write, calls = npz.write_atomic, []

    def fails(*arguments):
        calls.append(arguments)
        if len(calls) == count + 1:
            raise StoppedError
        write(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(npz, "write_atomic", fails)
        with pytest.raises(StoppedError):
            run(setting, tmp_path / "run")
    assert read_run(tmp_path / "run").end is None
    resume(tmp_path / "run")
    assert_same_run(tmp_path / "run", expected)


def test_a_run_stopped_before_its_first_event_can_start_again(uninterrupted, tmp_path, monkeypatch):
    setting, _, expected = uninterrupted["sc-dn"]

    def fails(*_):
        raise StoppedError

    with monkeypatch.context() as patch:
        patch.setattr(Recorder, "create", fails)
        with pytest.raises(StoppedError):
            run(setting, tmp_path / "run")
    with pytest.raises(InputError) as error:
        resume(tmp_path / "run")
    assert "is not there" in one_line(error)
    run(setting, tmp_path / "run")
    assert_same_run(tmp_path / "run", expected)


@pytest.mark.parametrize("where", ["summary", "end"])
def test_a_run_stopped_after_its_last_round_resumes(uninterrupted, tmp_path, monkeypatch, where):
    setting, _, expected = uninterrupted["sc-dn"]
    add = Recorder.append

    def fails(recorder, event):
        if where == "summary" or event["event"] == "end":
            raise StoppedError
        add(recorder, event)

    with monkeypatch.context() as patch:
        patch.setattr(Recorder, "write_summary" if where == "summary" else "append", fails)
        with pytest.raises(StoppedError):
            run(setting, tmp_path / "run")
    resume(tmp_path / "run")
    assert_same_run(tmp_path / "run", expected)


TAILS = [b"{", b'{"event": "round", "rou', b'{"id": "\xc3']


@pytest.mark.parametrize("tail", TAILS)
def test_an_incomplete_last_line_is_cut(uninterrupted, tmp_path, tail):
    setting, _, expected = uninterrupted["sc-dn"]
    folder = stopped(setting, tmp_path / "run")
    with (folder / EVENTS).open("ab") as file:
        file.write(tail)
    resume(folder)
    assert_same_run(folder, expected)


def test_a_run_interrupted_by_ctrl_c_resumes(uninterrupted, tmp_path):
    setting, _, expected = uninterrupted["sc-dn"]

    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(setting, tmp_path / "run", on_round=stop_after(2, interrupt))
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["status"], summary["rounds"]) == ("stopped", 3)
    resume(tmp_path / "run")
    assert_same_run(tmp_path / "run", expected)


def test_a_run_stopped_in_every_round_resumes(uninterrupted, tmp_path):
    setting, reference, expected = uninterrupted["vafl"]
    folder = stopped(setting, tmp_path / "run", 0, reference=reference)
    for round_index in range(1, ROUNDS - 1):
        with pytest.raises(StoppedError):
            resume(folder, on_round=stop_after(round_index))
    resume(folder)
    assert_same_run(folder, expected)


def test_a_run_stopped_during_its_reference_can_be_started_again(uninterrupted, tmp_path):
    """The same command resumes the reference and then runs."""
    setting, _, expected = uninterrupted["vafl"]
    folder = tmp_path / "run"
    stopped(setting, folder, 2)
    assert not (folder / EVENTS).exists()
    before = file_contents(folder)
    with pytest.raises(InputError) as error:
        resume(folder)
    assert "start it again" in one_line(error)
    assert file_contents(folder) == before
    run(setting, folder)
    assert_same_run(folder, expected)
    assert read_run(folder / REFERENCE_FOLDER).end["status"] == "done"


# --- what cannot be resumed -----------------------------------------------------------------------


def test_resuming_a_finished_run_changes_nothing(uninterrupted):
    for _, _, expected in uninterrupted.values():
        before = file_contents(expected.folder)
        recorded = resume(expected.folder)
        assert (recorded.rounds, recorded.end) == (expected.rounds, expected.end)
        assert file_contents(expected.folder) == before


HOLDER = """
import json, sys, time
from scdn.scenario import make_scenario
from scdn.simulation.runner import run
def on_round(event, _):
    if event["round"] == 2:
        print("there", flush=True)
        time.sleep(600)
run(make_scenario(json.loads(sys.argv[1])), sys.argv[2], on_round=on_round)
"""


def test_a_second_process_is_refused_until_the_first_is_killed(uninterrupted, tmp_path):
    setting, _, expected = uninterrupted["sc-dn"]
    folder = tmp_path / "run"
    table = json.dumps(setting.model_dump(mode="json", by_alias=True))
    first = [sys.executable, "-c", HOLDER, table, str(folder)]
    second = [sys.executable, "-m", "scdn.cli", "run", "--resume", str(folder)]
    with subprocess.Popen(first, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout.readline() == b"there\n"
            before = file_contents(folder)
            refused = subprocess.run(second, capture_output=True, text=True)
            assert (refused.returncode, refused.stdout) == (2, "")
            assert refused.stderr.count("\n") == 1
            assert "is being written by another process" in refused.stderr
            assert file_contents(folder) == before
        finally:
            child.kill()
    resume(folder)
    assert_same_run(folder, expected)


def test_a_lock_is_waited_for(tmp_path):
    held, done = threading.Event(), threading.Event()

    def first():
        with lock_run_folder(tmp_path):
            held.set()
            done.wait(30)

    other = threading.Thread(target=first)
    other.start()
    held.wait(30)
    with pytest.raises(InputError, match="another process"), lock_run_folder(tmp_path, 0.3):
        pass
    threading.Timer(0.3, done.set).start()
    with lock_run_folder(tmp_path, 30):
        assert done.is_set()
    other.join()


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_holds_a_run(tmp_path, monkeypatch, code):
    def acquire(*_, **__):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(FileLock, "acquire", acquire)
    with lock_run_folder(tmp_path / "run"):
        assert (tmp_path / "run").is_dir()


def test_of_two_processes_that_start_one_run_one_succeeds(uninterrupted, tmp_path):
    setting, _, expected = uninterrupted["sc-dn"]
    folder = tmp_path / "run"
    table = json.dumps(setting.model_dump(mode="json", by_alias=True))
    command = [sys.executable, "-c", CHILD, table, str(folder), ""]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    errors = [child.communicate()[1] for child in both]
    codes = [child.returncode for child in both]
    assert sorted(codes) == [0, 1]
    last = errors[codes.index(1)].splitlines()[-1]
    assert "is being written by another process" in last or "has a run already" in last
    assert_same_run(folder, expected)


def test_a_used_folder_is_refused(uninterrupted, tmp_path):
    setting, reference, _ = uninterrupted["vafl"]
    folder = stopped(setting, tmp_path / "run", reference=reference)
    before = file_contents(folder)
    for other in (setting, scenario(seed=9)):
        with pytest.raises(InputError) as error:
            run(other, folder, reference=reference)
        assert "has a run already" in one_line(error)
    assert file_contents(folder) == before


def test_a_folder_without_a_run_cannot_be_resumed(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError) as error:
            resume(folder)
        assert "is not there" in one_line(error)
    assert file_contents(tmp_path) == {}


def cut_in_half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip_a_byte(path):
    """Change a byte of the largest array: some of those between arrays mean nothing."""
    raw = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        largest = max(archive.infolist(), key=lambda member: member.compress_size)
    raw[largest.header_offset + 30 + len(largest.filename) + largest.compress_size // 2] ^= 0xFF
    path.write_bytes(raw)


def as_array(path):
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


def as_directory(path):
    path.unlink()
    path.mkdir()


DAMAGE = [
    pytest.param(os.remove, id="gone"),
    pytest.param(cut_in_half, id="half"),
    pytest.param(flip_a_byte, id="flipped"),
    pytest.param(lambda path: path.write_text("hello\n"), id="text"),
    pytest.param(as_directory, id="directory"),
    pytest.param(lambda path: path.write_bytes(b""), id="empty"),
    pytest.param(as_array, id="array"),
]


@pytest.fixture(scope="module")
def stopped_run(uninterrupted, tmp_path_factory):
    return stopped(uninterrupted["sc-dn"][0], tmp_path_factory.mktemp("stopped") / "run")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # NumPy leaves the
@pytest.mark.parametrize("file", ["state.npz", "fixed-0.npz"])  # file open if it is half
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_checkpoint_is_refused(stopped_run, tmp_path, damage, file):
    folder = shutil.copytree(stopped_run, tmp_path / "run")
    damage(folder / checkpoint.FOLDER / file)
    before = file_contents(folder)
    with pytest.raises(InputError) as error:
        resume(folder)
    assert file in one_line(error)
    assert file_contents(folder) == before
    del error
    gc.collect()


def test_a_checkpoint_with_arrays_of_another_device_is_refused(stopped_run, tmp_path):
    folder = shutil.copytree(stopped_run, tmp_path / "run")
    place = folder / checkpoint.FOLDER
    shutil.copy(place / "fixed-1.npz", place / "fixed-0.npz")
    with pytest.raises(InputError) as error:
        resume(folder)
    assert "fixed-0.npz" in one_line(error)


def test_a_checkpoint_with_an_unknown_compression_is_refused(stopped_run, tmp_path):
    folder = shutil.copytree(stopped_run, tmp_path / "run")
    path = folder / checkpoint.FOLDER / "state.npz"
    raw = bytearray(path.read_bytes())
    raw[raw.rindex(b"PK\x01\x02") + 8] |= 0x20  # of the last entry: "compressed patched data"
    path.write_bytes(raw)
    with pytest.raises(InputError):
        resume(folder)


def rewrite_checkpoint(folder, change):
    """Change the arrays of a run's checkpoint."""
    path = folder / checkpoint.FOLDER / "state.npz"
    arrays = npz.read_npz(path)
    change(arrays)
    npz.write_npz(path, **arrays)


def of_the_first_format(arrays):
    arrays["words"] = arrays.pop("values")


def of_a_later_version(arrays):
    values = json.loads(str(arrays["values"]))
    arrays["values"] = np.array(json.dumps({**values, "format": 99, "scdn": "9.1"}))


@pytest.mark.parametrize(
    ("change", "version"),
    [
        (of_the_first_format, "format 1, written by an earlier version of scdn"),
        (of_a_later_version, "format 99, written by scdn 9.1"),
    ],
)
def test_a_checkpoint_of_another_version_is_refused(stopped_run, tmp_path, change, version):
    folder = shutil.copytree(stopped_run, tmp_path / "run")
    rewrite_checkpoint(folder, change)
    before = file_contents(folder)
    (line,) = refused(scdn("run", "--resume", folder), 1)
    assert version in line
    assert "start the run again" in line
    assert file_contents(folder) == before


def test_damaged_events_are_refused(stopped_run, tmp_path):
    folder = shutil.copytree(stopped_run, tmp_path / "run")
    lines = (folder / EVENTS).read_bytes().split(b"\n")
    for wrong in (
        [b"", *lines[1:]],
        [lines[0], b"{]", *lines[2:]],
        [lines[0], *lines[2:0:-1], b""],
    ):
        (folder / EVENTS).write_bytes(b"\n".join(wrong))
        before = file_contents(folder)
        with pytest.raises(InputError) as error:
            resume(folder)
        assert "events.jsonl: line " in one_line(error)
        assert file_contents(folder) == before


def test_events_with_missing_rounds_are_refused(stopped_run, tmp_path):
    folder = shutil.copytree(stopped_run, tmp_path / "run")
    lines = (folder / EVENTS).read_bytes().splitlines(keepends=True)
    (folder / EVENTS).write_bytes(b"".join(lines[:3]))
    with pytest.raises(InputError):
        resume(folder)


def test_arrays_of_an_earlier_run_are_not_used(uninterrupted, tmp_path):
    """Deleting events.jsonl starts a new run, though the checkpoint of the old one is there."""
    setting, _, _ = uninterrupted["sc-dn"]
    folder = tmp_path / "run"
    run(setting, folder)
    (folder / EVENTS).unlink()
    learning = setting.learning.model_copy(update={"server_rate": 0.4, "damping": "none"})
    other = setting.model_copy(update={"learning": learning})
    expected = run(other, tmp_path / "clean")
    stopped(other, folder)
    resume(folder)
    assert_same_run(folder, expected)


def test_device_ids_may_have_a_slash(tmp_path):
    fetch("digits")
    places = {"a": [20, 20, 0], "a/left": [80, 30, 0], "c": [40, 90, 0]}
    leaves = {"a": 0, "a/left": 1}
    devices = [device(name, place, exited=leaves.get(name)) for name, place in places.items()]
    setting = scripted(tmp_path, devices, rounds=4, method="max-vfl")
    expected = run(setting, tmp_path / "uninterrupted")
    folder = stopped(setting, tmp_path / "run", 2)
    resume(folder)
    assert_same_run(folder, expected)


# --- disks ----------------------------------------------------------------------------------------


def cut_short(setting, folder, act, round_index=2):
    """Run, and do something to the disk after a round; the run must end with one line."""
    with pytest.raises(OutputError) as error:
        run(setting, folder, on_round=stop_after(round_index, act))
    assert "cannot be" in one_line(error)


@contextmanager
def failing_writes(monkeypatch, count=0, error=errno.ENOSPC):
    """Let every write but the next `count` fail."""
    fsync, calls = os.fsync, []

    def fails(handle):
        calls.append(handle)
        if len(calls) > count:
            raise OSError(error, os.strerror(error))
        fsync(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fails)
        yield


@pytest.mark.parametrize("count", range(10) if LONG else (0, 1, 2, 5, 8))
def test_a_run_stopped_by_a_full_disk_resumes(uninterrupted, tmp_path, monkeypatch, count):
    """Whichever write fails, what was written before can be resumed."""
    setting, _, expected = uninterrupted["sc-dn"]
    folder = stopped(setting, tmp_path / "run", 0)
    with failing_writes(monkeypatch, count), pytest.raises(OutputError) as error:
        resume(folder)
    assert "No space left" in one_line(error)
    assert not list(folder.rglob(".*"))  # no incomplete file is left
    resume(folder)
    assert_same_run(folder, expected)


def test_a_run_that_a_full_disk_kept_from_starting_can_start(uninterrupted, tmp_path, monkeypatch):
    setting, _, expected = uninterrupted["sc-dn"]
    for count in (0, 1):
        with failing_writes(monkeypatch, count), pytest.raises(OutputError) as error:
            run(setting, tmp_path / "run")
        assert "No space left" in one_line(error)
    run(setting, tmp_path / "run")
    assert_same_run(tmp_path / "run", expected)


@pytest.fixture
def disk(tmp_path):
    """A small disk, and a function that remounts it; needs root."""
    place = tmp_path / "disk"
    place.mkdir()

    def mount(*arguments):
        done = subprocess.run(["mount", *arguments], capture_output=True, check=False)
        return done.returncode == 0

    if not shutil.which("mount") or not mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)):
        pytest.skip("cannot mount a disk here")
    yield place, lambda how: mount("-o", f"remount,{how}", str(place))
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_run_stopped_by_a_read_only_disk_resumes(uninterrupted, tmp_path, monkeypatch):
    setting, _, expected = uninterrupted["sc-dn"]
    folder = stopped(setting, tmp_path / "run", 0)
    read_only = failing_writes(monkeypatch, 3, errno.EROFS)
    with read_only, pytest.raises(OutputError, match="Read-only"):
        resume(folder)
    resume(folder)
    assert_same_run(folder, expected)


def test_a_run_stopped_by_a_disk_that_fills_up_resumes(uninterrupted, disk):
    setting, _, expected = uninterrupted["sc-dn"]
    place, _ = disk
    folder, filler = place / "run", place / "filler"

    def fill():
        with filler.open("wb") as file:
            free = os.statvfs(place).f_bavail * os.statvfs(place).f_bsize
            file.write(bytes(free))

    cut_short(setting, folder, fill)
    before = file_contents(folder)
    with pytest.raises(OutputError):
        resume(folder)
    assert file_contents(folder) == before
    filler.unlink()
    resume(folder)
    assert_same_run(folder, expected)


def test_a_read_only_disk_is_refused(uninterrupted, disk):
    setting, _, expected = uninterrupted["sc-dn"]
    place, remount = disk
    folder = place / "run"
    stopped(setting, folder)
    assert remount("ro")
    before = file_contents(folder)
    for start in (lambda: resume(folder), lambda: run(setting, place / "other")):
        with pytest.raises(OutputError) as error:
            start()
        assert "Read-only" in one_line(error)
    assert file_contents(folder) == before
    remount("rw")
    resume(folder)
    assert_same_run(folder, expected)


def test_a_folder_that_cannot_be_created_is_refused(uninterrupted, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError) as error:
        run(uninterrupted["sc-dn"][0], tmp_path / "file" / "run")
    one_line(error)


def test_a_run_whose_folder_vanishes_ends_with_one_line(uninterrupted, tmp_path):
    folder = tmp_path / "run"
    cut_short(uninterrupted["sc-dn"][0], folder, lambda: shutil.rmtree(folder))


@pytest.mark.parametrize("when", ["after", "between"])
def test_a_run_whose_events_vanish_ends_with_one_line(uninterrupted, tmp_path, monkeypatch, when):
    """They vanish alone, or with the folder between an event and its checkpoint."""
    folder, save = tmp_path / "run", checkpoint.save

    def vanish(*arguments):
        if (folder / EVENTS).exists() and len(read_run(folder).rounds) == 2:
            shutil.rmtree(folder)
        save(*arguments)

    if when == "between":
        monkeypatch.setattr(checkpoint, "save", vanish)
    on_round = stop_after(2, (folder / EVENTS).unlink) if when == "after" else None
    with pytest.raises(OutputError):
        run(uninterrupted["sc-dn"][0], folder, on_round=on_round)


def test_the_uninterrupted_runs_have_exits_and_entries(uninterrupted):
    _, _, recorded = uninterrupted["sc-dn"]
    assert len(recorded.rounds) == ROUNDS
    for change in ("entered", "exited"):
        listed = [entry["id"] for entry in SCRIPT if entry[change] is not None]
        assert sorted(name for e in recorded.rounds for name in e[change]) == sorted(listed)
