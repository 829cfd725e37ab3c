"""A run that was stopped, however, goes on as if it had not been."""

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
from contextlib import contextmanager

import numpy as np
import pytest
from command_line import refused, scdn
from conftest import LONG
from test_simulation import SCRIPT, device, one_line, scenario, scripted, timeless

from scdn import npz
from scdn.data import fetch
from scdn.errors import InputError
from scdn.file_io import OutputError
from scdn.record import checkpoint
from scdn.record.run_lock import lock_run_folder
from scdn.record.run_reader import EVENTS, read_run
from scdn.record.run_writer import Recorder
from scdn.rng import generator
from scdn.simulation.runner import REFERENCE_FOLDER, resume, run

ROUNDS = 6


class StoppedError(Exception):
    """What ends a run here in place of a kill."""


def stop_after(round_, act=None):
    """A watch that ends the run, or does something else, when a round is stored."""

    def watch(event, _):
        if event["round"] == round_:
            if act is None:
                raise StoppedError
            act()

    return watch


def stopped(setting, folder, round_=3, **wishes):
    with pytest.raises(StoppedError):
        run(setting, folder, on_round=stop_after(round_), **wishes)
    return folder


def image(folder):
    """Every file below a folder."""
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def same(folder, expected):
    """Whether the run in a folder is, times aside, the one that never stopped."""
    found = read_run(folder)
    assert timeless(found) == timeless(expected)
    summary = json.loads((folder / "summary.json").read_text())
    assert expected.end == {"event": "end", **summary}
    return True


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Runs that were not stopped: scenario, reference, result; two leave and two come in them."""
    fetch("digits")
    folder = tmp_path_factory.mktemp("whole")
    setting = scripted(folder, seed=5, learning={"perturbation": 0.05})
    reference = run(setting, folder / "sc-dn")
    rival = setting.model_copy(update={"method": "vafl"})
    other = run(rival, folder / "vafl", reference=reference.folder)
    zoc = setting.model_copy(update={"method": "zoc"})
    return {
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


def killed(setting, reference, folder, lines, delay_s):
    """Starts a run and kills it some time after it wrote so many lines."""
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
    + [("vafl", n) for n in range(20 if LONG else 1)],
)
def test_killed_at_any_moment(whole, tmp_path, name, trial):
    setting, reference, expected = whole[name]
    draw = generator(trial, f"kill:{name}")
    folder = tmp_path / "run"
    lines, delay_s = int(draw.integers(1, ROUNDS + 1)), float(draw.uniform(0, 0.15))
    killed(setting, reference, folder, lines, delay_s)
    assert (folder / EVENTS).exists()
    resume(folder)
    assert same(folder, expected)


# --- stopped at each place ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sc-dn", "vafl", "zoc"])
@pytest.mark.parametrize("round_", range(ROUNDS - 1) if LONG else (0, 1, 4))
def test_stopped_between_rounds(whole, tmp_path, name, round_):
    setting, reference, expected = whole[name]
    folder = stopped(setting, tmp_path / "run", round_, reference=reference)
    found = resume(folder)
    assert timeless(found) == timeless(expected)
    assert same(folder, expected)


@pytest.mark.parametrize("round_", [0, 1, 4])
@pytest.mark.parametrize("name", ["sc-dn", "vafl"])
def test_stopped_between_an_event_and_its_checkpoint(whole, tmp_path, monkeypatch, name, round_):
    setting, reference, expected = whole[name]
    save, calls = checkpoint.save, []

    def fails(*arguments):
        calls.append(arguments)
        if len(calls) == round_ + 2:  # the first is of the start
            raise StoppedError
        save(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "save", fails)
        with pytest.raises(StoppedError):
            run(setting, tmp_path / "run", reference=reference)
    assert len(read_run(tmp_path / "run").rounds) == round_ + 1
    resume(tmp_path / "run")
    assert same(tmp_path / "run", expected)


@pytest.mark.parametrize("count", range(1, 11) if LONG else (1, 3, 4, 6, 9))
def test_stopped_inside_a_checkpoint(whole, tmp_path, monkeypatch, count):
    """Between the tables of who left and the state."""
    setting, _, expected = whole["sc-dn"]
    write, calls = npz.write_atomic, []

    def fails(*arguments):
        calls.append(arguments)
        if len(calls) == count + 1:
            raise StoppedError
        write(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(npz, "write_atomic", fails)
        try:
            run(setting, tmp_path / "run")
        except StoppedError:
            assert read_run(tmp_path / "run").end is None
    resume(tmp_path / "run")
    assert same(tmp_path / "run", expected)


def test_stopped_before_its_first_line(whole, tmp_path, monkeypatch):
    """Then there is nothing to resume, and it can be started again."""
    setting, _, expected = whole["sc-dn"]

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
    assert same(tmp_path / "run", expected)


@pytest.mark.parametrize("where", ["summary", "end"])
def test_stopped_after_the_last_round(whole, tmp_path, monkeypatch, where):
    setting, _, expected = whole["sc-dn"]
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
    assert same(tmp_path / "run", expected)


TAILS = [b"{", b'{"event": "round", "rou', b'{"id": "\xc3']


@pytest.mark.parametrize("tail", TAILS)
def test_half_a_last_line_is_cut(whole, tmp_path, tail):
    setting, _, expected = whole["sc-dn"]
    folder = stopped(setting, tmp_path / "run")
    with (folder / EVENTS).open("ab") as file:
        file.write(tail)
    resume(folder)
    assert same(folder, expected)


def test_interrupted_by_its_user(whole, tmp_path):
    setting, _, expected = whole["sc-dn"]

    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(setting, tmp_path / "run", on_round=stop_after(2, interrupt))
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["status"], summary["rounds"]) == ("stopped", 3)
    resume(tmp_path / "run")
    assert same(tmp_path / "run", expected)


def test_stopped_again_and_again(whole, tmp_path):
    setting, reference, expected = whole["vafl"]
    folder = stopped(setting, tmp_path / "run", 0, reference=reference)
    for round_ in range(1, ROUNDS - 1):
        with pytest.raises(StoppedError):
            resume(folder, on_round=stop_after(round_))
    resume(folder)
    assert same(folder, expected)


def test_stopped_during_its_reference(whole, tmp_path):
    """The same command goes on with the reference and then runs."""
    setting, _, expected = whole["vafl"]
    folder = tmp_path / "run"
    stopped(setting, folder, 2)
    assert not (folder / EVENTS).exists()
    before = image(folder)
    with pytest.raises(InputError) as error:
        resume(folder)
    assert "start it again" in one_line(error)
    assert image(folder) == before
    run(setting, folder)
    assert same(folder, expected)
    assert read_run(folder / REFERENCE_FOLDER).end["status"] == "done"


# --- what cannot be resumed -----------------------------------------------------------------------


def test_a_finished_run_is_returned_as_it_is(whole):
    for _, _, expected in whole.values():
        before = image(expected.folder)
        found = resume(expected.folder)
        assert (found.rounds, found.end) == (expected.rounds, expected.end)
        assert image(expected.folder) == before


HOLDER = """
import json, sys, time
from scdn.scenario import make_scenario
from scdn.simulation.runner import run
def watch(event, _):
    if event["round"] == 2:
        print("there", flush=True)
        time.sleep(600)
run(make_scenario(json.loads(sys.argv[1])), sys.argv[2], on_round=watch)
"""


def test_a_second_process_is_refused_until_the_first_is_killed(whole, tmp_path):
    setting, _, expected = whole["sc-dn"]
    folder = tmp_path / "run"
    table = json.dumps(setting.model_dump(mode="json", by_alias=True))
    first = [sys.executable, "-c", HOLDER, table, str(folder)]
    second = [sys.executable, "-m", "scdn.cli", "run", "--resume", str(folder)]
    with subprocess.Popen(first, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout.readline() == b"there\n"
            before = image(folder)
            refused = subprocess.run(second, capture_output=True, text=True)
            assert (refused.returncode, refused.stdout) == (2, "")
            assert refused.stderr.count("\n") == 1
            assert "is being written by another process" in refused.stderr
            assert image(folder) == before
        finally:
            child.kill()
    resume(folder)
    assert same(folder, expected)


def test_patience_waits_for_one_that_is_about_to_end(tmp_path):
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


def test_of_two_that_begin_at_once_one_runs(whole, tmp_path):
    setting, _, expected = whole["sc-dn"]
    folder = tmp_path / "run"
    table = json.dumps(setting.model_dump(mode="json", by_alias=True))
    command = [sys.executable, "-c", CHILD, table, str(folder), ""]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    words = [child.communicate()[1] for child in both]
    codes = [child.returncode for child in both]
    assert sorted(codes) == [0, 1]
    last = words[codes.index(1)].splitlines()[-1]
    assert "is being written by another process" in last or "has a run already" in last
    assert same(folder, expected)


def test_a_used_folder_is_refused(whole, tmp_path):
    setting, reference, _ = whole["vafl"]
    folder = stopped(setting, tmp_path / "run", reference=reference)
    before = image(folder)
    for other in (setting, scenario(seed=9)):
        with pytest.raises(InputError) as error:
            run(other, folder, reference=reference)
        assert "has a run already" in one_line(error)
    assert image(folder) == before


def test_nothing_to_resume(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError) as error:
            resume(folder)
        assert "is not there" in one_line(error)
    assert image(tmp_path) == {}


def half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def spoil(path):
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 3] ^= 0xFF
    path.write_bytes(raw)


def as_array(path):
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


def as_directory(path):
    path.unlink()
    path.mkdir()


DAMAGE = [
    pytest.param(os.remove, id="gone"),
    pytest.param(half, id="half"),
    pytest.param(spoil, id="spoilt"),
    pytest.param(lambda path: path.write_text("hello\n"), id="text"),
    pytest.param(as_directory, id="directory"),
    pytest.param(lambda path: path.write_bytes(b""), id="empty"),
    pytest.param(as_array, id="array"),
]


@pytest.fixture(scope="module")
def half_way(whole, tmp_path_factory):
    return stopped(whole["sc-dn"][0], tmp_path_factory.mktemp("half-way") / "run")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # NumPy leaves the
@pytest.mark.parametrize("file", ["state.npz", "fixed-0.npz"])  # file open if it is half
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_checkpoint_is_refused(half_way, tmp_path, damage, file):
    folder = shutil.copytree(half_way, tmp_path / "run")
    damage(folder / checkpoint.FOLDER / file)
    before = image(folder)
    with pytest.raises(InputError) as error:
        resume(folder)
    assert file in one_line(error)
    assert image(folder) == before
    del error
    gc.collect()


def test_tables_of_another_are_refused(half_way, tmp_path):
    folder = shutil.copytree(half_way, tmp_path / "run")
    place = folder / checkpoint.FOLDER
    shutil.copy(place / "fixed-1.npz", place / "fixed-0.npz")
    with pytest.raises(InputError) as error:
        resume(folder)
    assert "fixed-0.npz" in one_line(error)


def test_a_checkpoint_with_a_strange_header(half_way, tmp_path):
    folder = shutil.copytree(half_way, tmp_path / "run")
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
def test_a_checkpoint_of_another_version_is_refused(half_way, tmp_path, change, version):
    folder = shutil.copytree(half_way, tmp_path / "run")
    rewrite_checkpoint(folder, change)
    before = image(folder)
    (line,) = refused(scdn("run", "--resume", folder), 1)
    assert version in line
    assert "start the run again" in line
    assert image(folder) == before


def test_damaged_events_are_refused(half_way, tmp_path):
    folder = shutil.copytree(half_way, tmp_path / "run")
    lines = (folder / EVENTS).read_bytes().split(b"\n")
    for wrong in (
        [b"", *lines[1:]],
        [lines[0], b"{]", *lines[2:]],
        [lines[0], *lines[2:0:-1], b""],
    ):
        (folder / EVENTS).write_bytes(b"\n".join(wrong))
        before = image(folder)
        with pytest.raises(InputError) as error:
            resume(folder)
        assert "events.jsonl: line " in one_line(error)
        assert image(folder) == before


def test_rounds_that_are_missing(half_way, tmp_path):
    folder = shutil.copytree(half_way, tmp_path / "run")
    lines = (folder / EVENTS).read_bytes().splitlines(keepends=True)
    (folder / EVENTS).write_bytes(b"".join(lines[:3]))
    with pytest.raises(InputError):
        resume(folder)


def test_tables_that_an_earlier_run_left(whole, tmp_path):
    """Whoever deletes events.jsonl to start anew gets the old tables of who leaves at his place."""
    setting, _, _ = whole["sc-dn"]
    folder = tmp_path / "run"
    run(setting, folder)
    (folder / EVENTS).unlink()
    learning = setting.learning.model_copy(update={"server_rate": 0.4, "damping": "none"})
    other = setting.model_copy(update={"learning": learning})
    expected = run(other, tmp_path / "clean")
    stopped(other, folder)
    resume(folder)
    assert same(folder, expected)


def test_ids_with_a_slash(tmp_path):
    fetch("digits")
    places = {"a": [20, 20, 0], "a/left": [80, 30, 0], "c": [40, 90, 0]}
    leaves = {"a": 0, "a/left": 1}
    devices = [device(name, place, exited=leaves.get(name)) for name, place in places.items()]
    setting = scripted(tmp_path, devices, rounds=4, method="max-vfl")
    expected = run(setting, tmp_path / "whole")
    folder = stopped(setting, tmp_path / "run", 2)
    resume(folder)
    assert same(folder, expected)


# --- disks ----------------------------------------------------------------------------------------


def cut_short(setting, folder, act, round_=2):
    """A run to which something happens after a round; it must end with one line."""
    with pytest.raises(OutputError) as error:
        run(setting, folder, on_round=stop_after(round_, act))
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
def test_a_full_disk(whole, tmp_path, monkeypatch, count):
    """Whichever write it is that fails, what was stored before can be resumed."""
    setting, _, expected = whole["sc-dn"]
    folder = stopped(setting, tmp_path / "run", 0)
    with failing_writes(monkeypatch, count), pytest.raises(OutputError) as error:
        resume(folder)
    assert "No space left" in one_line(error)
    assert not list(folder.rglob(".*"))  # nothing half-written lies about
    resume(folder)
    assert same(folder, expected)


def test_a_full_disk_at_the_start(whole, tmp_path, monkeypatch):
    setting, _, expected = whole["sc-dn"]
    for count in (0, 1):
        with failing_writes(monkeypatch, count), pytest.raises(OutputError) as error:
            run(setting, tmp_path / "run")
        assert "No space left" in one_line(error)
    run(setting, tmp_path / "run")
    assert same(tmp_path / "run", expected)


@pytest.fixture
def disk(tmp_path):
    """A small disk of one's own, and how to make it read-only; needs root."""
    place = tmp_path / "disk"
    place.mkdir()

    def mount(*words):
        done = subprocess.run(["mount", *words], capture_output=True, check=False)
        return done.returncode == 0

    if not shutil.which("mount") or not mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)):
        pytest.skip("cannot mount a disk here")
    yield place, lambda how: mount("-o", f"remount,{how}", str(place))
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_disk_that_becomes_read_only_during_a_run(whole, tmp_path, monkeypatch):
    setting, _, expected = whole["sc-dn"]
    folder = stopped(setting, tmp_path / "run", 0)
    read_only = failing_writes(monkeypatch, 3, errno.EROFS)
    with read_only, pytest.raises(OutputError, match="Read-only"):
        resume(folder)
    resume(folder)
    assert same(folder, expected)


def test_a_disk_that_fills_up(whole, disk):
    setting, _, expected = whole["sc-dn"]
    place, _ = disk
    folder, filler = place / "run", place / "filler"

    def fill():
        with filler.open("wb") as file:
            free = os.statvfs(place).f_bavail * os.statvfs(place).f_bsize
            file.write(bytes(free))

    cut_short(setting, folder, fill)
    before = image(folder)
    with pytest.raises(OutputError):
        resume(folder)
    assert image(folder) == before
    filler.unlink()
    resume(folder)
    assert same(folder, expected)


def test_a_read_only_disk(whole, disk):
    setting, _, expected = whole["sc-dn"]
    place, remount = disk
    folder = place / "run"
    stopped(setting, folder)
    assert remount("ro")
    before = image(folder)
    for start in (lambda: resume(folder), lambda: run(setting, place / "other")):
        with pytest.raises(OutputError) as error:
            start()
        assert "Read-only" in one_line(error)
    assert image(folder) == before
    remount("rw")
    resume(folder)
    assert same(folder, expected)


def test_a_folder_that_cannot_be(whole, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError) as error:
        run(whole["sc-dn"][0], tmp_path / "file" / "run")
    one_line(error)


def test_a_folder_that_vanishes(whole, tmp_path):
    folder = tmp_path / "run"
    cut_short(whole["sc-dn"][0], folder, lambda: shutil.rmtree(folder))


@pytest.mark.parametrize("when", ["after", "between"])
def test_events_that_vanish(whole, tmp_path, monkeypatch, when):
    """Alone, or with the folder between an event and its checkpoint."""
    folder, save = tmp_path / "run", checkpoint.save

    def vanish(*arguments):
        if (folder / EVENTS).exists() and len(read_run(folder).rounds) == 2:
            shutil.rmtree(folder)
        save(*arguments)

    if when == "between":
        monkeypatch.setattr(checkpoint, "save", vanish)
    watch = stop_after(2, (folder / EVENTS).unlink) if when == "after" else None
    with pytest.raises(OutputError):
        run(whole["sc-dn"][0], folder, on_round=watch)


def test_the_script_has_what_is_needed(whole):
    """The runs above have exits, entries, an empty round and newcomers."""
    _, _, found = whole["sc-dn"]
    assert len(found.rounds) == ROUNDS
    for what in ("entered", "exited"):
        listed = [entry["id"] for entry in SCRIPT if entry[what] is not None]
        assert sorted(name for e in found.rounds for name in e[what]) == sorted(listed)
