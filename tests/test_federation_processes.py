"""A federation of real processes on this machine, with TLS and keys: slow, so few and shared."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import numpy as np
import pytest

from scdn.data import fetch
from scdn.federation import flower
from scdn.federation.hub import free_port
from scdn.federation.keys import make_keys
from scdn.federation.server import federated
from scdn.federation.share import LABELS, share_out
from scdn.record.read import EVENTS, read_run
from scdn.scenario import read_scenario
from scdn.simulation.run import run
from scdn.world.churn import churn_trace

SETTINGS = (
    'learning.precision="float64"',
    "learning.sample_rows=256",
    "learning.steps_per_iteration=2",
    "fleet.0.count=3",
    "churn.entry_rate=0",
)
UNTOLD = ("seconds", "solve_seconds", "measured", "federation")  # of clocks and cables


def scenario_of(*more):
    fetch("digits")
    return federated(read_scenario("examples/quick.toml", (*SETTINGS, *more)))


def command(*words):
    return [sys.executable, "-m", "scdn.cli", "federate", *map(str, words)]


@contextmanager
def running(log, *words):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with log.open("ab") as output:
        child = subprocess.Popen(command(*words), stdout=output, stderr=output, env=environment)
    try:
        yield child
    finally:
        if child.poll() is None:
            child.terminate()
        child.wait(30)


def wait_for(what, child, seconds=90.0):
    """Until `what()` is true, or its process has ended."""
    deadline = time.monotonic() + seconds
    while not what():
        assert child.poll() is None, "the server has ended"
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.1)


def rounds(out):
    path = out / EVENTS
    return read_run(out).rounds if path.exists() else []


def differences(one, other, where=""):
    """Where two events differ: by how much, relatively, for numbers."""
    if isinstance(one, dict):
        assert {*one, *UNTOLD} == {*other, *UNTOLD}, where
        for key in one.keys() - set(UNTOLD):
            yield from differences(one[key], other[key], f"{where}/{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for place, (mine, its) in enumerate(zip(one, other, strict=True)):
            yield from differences(mine, its, f"{where}/{place}")
    elif isinstance(one, float):
        yield abs(one - other) / max(1.0, abs(one)), where
    else:
        assert one == other, where


# --- the same events ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """One scenario with a scripted trace, simulated and federated."""
    folder = tmp_path_factory.mktemp("same")
    scenario = scenario_of("learning.rounds=5", "churn.entry_rate=0.4")
    trace = churn_trace(scenario)
    trace = trace.only(np.arange(len(trace.fleet)) < 4)
    trace = replace(trace, entered=np.array([-1, -1, -1, 1]))
    exits = np.full(4, np.iinfo(np.int64).max)
    exits[1] = 2
    replace(trace, exited=exits).save(folder / "trace.json")
    told = f'churn.trace="{folder / "trace.json"}"'
    scenario = scenario_of("learning.rounds=5", told)
    simulated = run(scenario, folder / "simulated")
    out = folder / "federated"
    sets = [word for text in (*SETTINGS, "learning.rounds=5", told) for word in ("--set", text)]
    words = ("local", "examples/quick.toml", "--with-keys", "--out", out, *sets)
    done = subprocess.run(command(*words), capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return simulated, read_run(out), done.stderr


def test_simulated_and_federated_give_the_same_events(pair):
    simulated, real, _ = pair
    assert len(simulated.rounds) == len(real.rounds) == 5
    assert [event["entered"] for event in real.rounds].count([]) == 4
    assert [event["exited"] for event in real.rounds].count([]) == 4
    found = list(differences(simulated.rounds, real.rounds))
    assert len(found) > 300
    assert max(found)[0] < 1e-5, max(found)
    assert max(differences(simulated.end, real.end))[0] < 1e-5


def test_what_was_measured_stands_beside_what_was_modelled(pair):
    _, real, said = pair
    for event in real.rounds:
        assert event["federation"]["missed"] == []
        for device in event["devices"]:
            if device["active"] and device["iterations"] and device["id"] not in event["exited"]:
                measured = device["measured"]
                assert measured["seconds"] > 0
                assert measured["waited_s"] >= measured["seconds"]
                assert measured["bytes_up"] > 8 * 10 * 1000  # embeddings of over 1,000 rows
    assert "rows are with the server and every device" in said


# --- killed, entered, killed, resumed -------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Files of four devices and a server, and keys for all of them."""
    folder = tmp_path_factory.mktemp("site")
    four = scenario_of("fleet.0.count=4")
    share_out(four, churn_trace(four), folder)
    names = [f"device-{n}" for n in range(1, 5)]
    make_keys(folder / "keys", names, [])
    make_keys(folder / "keys", ["old"], [], days=-1)
    make_keys(folder / "other", ["device-4"], [])
    return folder


def device_words(site, port, name, ca=None, key=None):
    return (
        *("device", "--features", site / f"{name}.npz", "--server", f"127.0.0.1:{port}"),
        *("--ca", ca or site / "keys/ca.crt", "--name", name, "--state", site / f"{name}.state"),
        *("--private-key", key or site / f"keys/devices/{name}.key"),
    )


def server_words(site, port, *more):
    return (
        *("server", "--labels", site / LABELS, "--port", port, "--keys", site / "keys"),
        *("--timeout", "6", "--wait", "60", *more),
    )


REFUSALS = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from scdn.federation import flower
flower.quiet()
from scdn.federation.flower.node import Connection, RefusedByServerError

def reason(told):
    authority, key = (Path(path) if path else None for path in told)
    try:
        Connection(sys.argv[1], authority, key, 60.0).serve(lambda raw: raw, lambda: False)
    except RefusedByServerError as error:
        return str(error)

tries = json.loads(sys.argv[2])
with ThreadPoolExecutor() as pool:
    print(json.dumps(dict(zip(tries, pool.map(reason, tries.values())))))
"""


def strangers(site, port):
    """A process that tries to get in as those who should not, and says why it could not."""
    other, keys = site / "other", site / "keys"
    tries = {
        "wrong key": (keys / "ca.crt", other / "devices/device-4.key"),
        "expired": (keys / "ca.crt", keys / "devices/old.key"),
        "other authority": (other / "ca.crt", keys / "devices/device-4.key"),
        "no key": (keys / "ca.crt", ""),
    }
    told = json.dumps({how: [str(path) for path in paths] for how, paths in tries.items()})
    words = [sys.executable, "-c", REFUSALS, f"127.0.0.1:{port}", told]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def survived(site):
    """A device is killed in a round, another enters; the server is killed and goes on."""
    out, port = site / "run", free_port()
    sets = [word for text in (*SETTINGS, "learning.rounds=10") for word in ("--set", text)]
    log = site / "server.log"
    found = {}
    with ExitStack() as stack:
        children = {}

        def device(name, *words):
            words = words or device_words(site, port, name)
            children[name] = stack.enter_context(running(site / f"{name}.log", *words))

        begin = server_words(site, port, "examples/quick.toml", "--out", out, *sets)
        with running(log, *begin) as server:
            for name in ("device-1", "device-2", "device-3"):
                device(name)
            wait_for(lambda: len(rounds(out)) >= 1, server)
            children["device-2"].send_signal(signal.SIGKILL)
            device("device-4")
            refused = strangers(site, port)
            wait_for(lambda: any(event["entered"] for event in rounds(out)), server)
            found["refused"] = json.loads(refused.communicate(timeout=60)[0])
            server.send_signal(signal.SIGKILL)
            server.wait(10)
        before = len(rounds(out))
        found["before"] = (out / EVENTS).read_text().splitlines()[: before + 1]
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not _free(port):
            time.sleep(0.2)  # its processes end with it
        again = server_words(site, port, "--resume", out)
        with running(log, *again) as server:
            wait_for(lambda: len(rounds(out)) >= before + 1, server)
            found["status"] = server.wait(120)
        for child in children.values():
            child.wait(30)
    found["run"], found["children"] = read_run(out), children
    found["log"] = (out / "federation.log").read_text()
    return found


def _free(port):
    import socket

    with socket.socket() as door:
        return door.connect_ex(("127.0.0.1", port)) != 0


def test_the_run_ends_with_every_round_recorded(survived):
    assert survived["status"] == 0
    found = survived["run"]
    assert [event["round"] for event in found.rounds] == list(range(10))
    assert found.end["status"] == "done"
    kept = [json.loads(line) for line in survived["before"][:-1]]
    assert kept == [found.start, *found.rounds[: len(kept) - 1]]


def test_a_killed_device_fails_three_rounds_and_has_then_left(survived):
    events = survived["run"].rounds
    (left,) = [event["round"] for event in events if "device-2" in event["exited"]]
    missed = [event["round"] for event in events if "device-2" in event["federation"]["missed"]]
    assert missed == [left - 2, left - 1, left]
    for event in events[left - 2 : left]:
        assert "device-2" in event["link_failed"]
    assert all("device-2" not in [d["id"] for d in e["devices"]] for e in events[left + 1 :])


def test_a_newcomer_enters_the_same_run(survived):
    events = survived["run"].rounds
    (came,) = [event["round"] for event in events if "device-4" in event["entered"]]
    assert all("device-4" in [d["id"] for d in e["devices"]] for e in events[came + 1 :])


def test_the_model_still_predicts_with_what_the_departed_sent(survived):
    last = survived["run"].rounds[-1]["metrics"]
    assert "future" in last
    assert math.isfinite(last["test_loss"])
    assert last["top3"] > 60  # chance: 30
    with np.load(survived["run"].folder / "checkpoint" / "fixed-0.npz") as kept:
        assert kept["left"].shape == (1438, 10)
        assert np.abs(kept["left"]).max() > 0


def test_devices_come_back_to_a_server_that_was_killed(survived):
    assert survived["log"].count("is back") >= 3
    ended = {name: child.returncode for name, child in survived["children"].items()}
    assert ended == {"device-1": 0, "device-2": -9, "device-3": 0, "device-4": 0}


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("wrong key", "does not let this key in"),
        ("expired", "does not let this key in"),
        ("other authority", "its certificate is not trusted"),
        ("no key", "does not let this key in"),
    ],
)
def test_who_has_no_good_key_is_refused(survived, how, why):
    assert why in survived["refused"][how]


def test_nothing_called_the_internet_or_was_installed():
    found = flower.environment()
    assert found["FLWR_TELEMETRY_ENABLED"] == "0"
    assert found["FLWR_DISABLE_UPDATE_CHECK"] == "1"
    assert found["FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION"] == "1"
