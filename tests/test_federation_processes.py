"""A federation of real processes with TLS and keys. It is slow: one run serves all tests."""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import LONG
from federation_helpers import (
    SETTINGS,
    InProcessNetwork,
    device,
    differences,
    largest_difference,
    scripted_scenario,
    small_scenario,
)

from scdn.data.new_rows import read_row_keys
from scdn.federation.certificates import make_keys
from scdn.federation.collect_embeddings import collect_embeddings
from scdn.federation.export_parties import LABELS_FILE, export_parties
from scdn.federation.federated_model import FederatedModel
from scdn.federation.kept_states import KeptStates
from scdn.federation.processes import free_port
from scdn.federation.row_alignment import read_labels
from scdn.record.run_reader import EVENTS, read_run
from scdn.simulation.runner import run
from scdn.world.churn import ALWAYS, churn_trace

TOLERANCE = 1e-5  # between machines or processes, in float64
TRAINING = ("fleet.0.count=2", "learning.rounds=8")


def command(*arguments):
    return [sys.executable, "-m", "scdn.cli", "federate", *map(str, arguments)]


def set_options(*settings):
    return [word for setting in (*SETTINGS, *settings) for word in ("--set", setting)]


@contextmanager
def running(log, *arguments):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with log.open("ab") as output:
        child = subprocess.Popen(command(*arguments), stdout=output, stderr=output, env=environment)
    try:
        yield child
    finally:
        if child.poll() is None:
            child.terminate()
        child.wait(30)


def wait_until(condition, child, seconds=90.0):
    """Wait until a condition holds; fail if the process ends before."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert child.poll() is None, "the server has ended"
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.1)


def rounds(out):
    return read_run(out).rounds if (out / EVENTS).exists() else []


def is_free(port):
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) != 0


# --- one run: a device is killed, another joins, the server is killed and resumed -----------------


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Files of a server, two devices and one that joins later, with keys for all of them."""
    folder = tmp_path_factory.mktemp("site")
    scenario = small_scenario("fleet.0.count=3")
    trace = replace(churn_trace(scenario), entered=np.array([ALWAYS, ALWAYS, 1]))
    names = export_parties(scenario, trace, folder)
    make_keys(folder / "keys", names, [])
    make_keys(folder / "keys", ["old"], [], days=-1)
    make_keys(folder / "other", ["device-3"], [])
    return folder


def device_arguments(site, port, name):
    return (
        *("device", "--features", site / f"{name}.npz", "--server", f"127.0.0.1:{port}"),
        "--weights-from-seed",  # as in a simulation
        *("--ca", site / "keys/ca.crt", "--name", name, "--state", site / "states"),
        *("--private-key", site / f"keys/devices/{name}.key"),
    )


def server_arguments(site, port, *arguments):
    return (
        *("server", "--labels", site / LABELS_FILE, "--port", port, "--keys", site / "keys"),
        *("--timeout", "5", "--wait", "60", "--patience", "0", *arguments),
    )


CONNECT = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from scdn.federation import flower
flower.disable_internet_calls()
from scdn.federation.flower.supernode import RefusedByServerError, SuperNodeConnection

def refusal(paths):
    ca, key = (Path(path) if path else None for path in paths)
    try:
        SuperNodeConnection(sys.argv[1], ca, key, 60.0).serve(lambda raw: raw, lambda: False)
    except RefusedByServerError as error:
        return str(error)

attempts = json.loads(sys.argv[2])
with ThreadPoolExecutor() as pool:
    print(json.dumps(dict(zip(attempts, pool.map(refusal, attempts.values())))))
"""


def connect_without_valid_keys(site, port):
    """Start a process that tries to connect and prints why it was refused."""
    other, keys = site / "other", site / "keys"
    attempts = {
        "wrong key": (keys / "ca.crt", other / "devices/device-3.key"),
        "expired": (keys / "ca.crt", keys / "devices/old.key"),
        "other authority": (other / "ca.crt", keys / "devices/device-3.key"),
        "no key": (keys / "ca.crt", ""),
    }
    texts = json.dumps({how: [str(path) for path in paths] for how, paths in attempts.items()})
    arguments = [sys.executable, "-c", CONNECT, f"127.0.0.1:{port}", texts]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def disturbed(site):
    """The run, and what was seen of its processes."""
    out, port, log = site / "run", free_port(), site / "server.log"
    seen = {}
    with ExitStack() as stack:
        devices = {}

        def start_device(name):
            arguments = device_arguments(site, port, name)
            devices[name] = stack.enter_context(running(site / f"{name}.log", *arguments))

        start = ("examples/quick.toml", "--out", out, *set_options(*TRAINING))
        with running(log, *server_arguments(site, port, *start)) as server:
            start_device("device-1")
            start_device("device-2")
            wait_until(lambda: len(rounds(out)) >= 1, server)
            devices["device-2"].send_signal(signal.SIGKILL)
            start_device("device-3")
            refused = connect_without_valid_keys(site, port)
            wait_until(lambda: any(event["entered"] for event in rounds(out)), server)
            seen["refused"] = json.loads(refused.communicate(timeout=60)[0])
            server.send_signal(signal.SIGKILL)
            server.wait(10)
        recorded = len(rounds(out))
        seen["before"] = (out / EVENTS).read_text().splitlines()[: recorded + 1]
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not is_free(port):
            time.sleep(0.2)  # the server's processes end with it
        with running(log, *server_arguments(site, port, "--resume", out)) as server:
            wait_until(lambda: len(rounds(out)) >= recorded + 1, server)
            seen["status"] = server.wait(120)
        seen["devices"] = {name: child.wait(30) for name, child in devices.items()}
    return {**seen, "run": read_run(out), "log": (out / "federation.log").read_text()}


def test_every_round_is_recorded_once(disturbed):
    assert disturbed["status"] == 0
    result = disturbed["run"]
    assert [event["round"] for event in result.rounds] == list(range(8))
    assert result.end["status"] == "done"
    kept = [json.loads(line) for line in disturbed["before"][:-1]]
    assert kept == [result.start, *result.rounds[: len(kept) - 1]]


def test_an_undisturbed_round_has_the_events_of_a_simulation(disturbed, tmp_path):
    simulated = run(small_scenario(*TRAINING), tmp_path / "simulated").rounds[0]
    federated = disturbed["run"].rounds[0]
    assert len(list(differences(simulated, federated))) > 30
    assert largest_difference(simulated, federated) < TOLERANCE


def test_measured_times_and_bytes_are_recorded_beside_the_modelled_ones(disturbed):
    for entry in disturbed["run"].rounds[0]["devices"]:
        assert entry["active"]
        assert entry["iterations"]
        measured = entry["measured"]
        assert measured["seconds"] > 0
        assert measured["waited_s"] >= measured["seconds"]
        assert 0 < 8 * measured["payload_down"] <= 2 * entry["bits_received"]  # in 64 bits
        assert measured["bytes_up"] > measured["payload_up"] + measured["measurement_up"] > 0
    assert "rows are shared by the server and every device" in disturbed["log"]


def test_a_killed_device_fails_three_rounds_and_has_then_left(disturbed):
    events = disturbed["run"].rounds
    (left,) = [event["round"] for event in events if "device-2" in event["exited"]]
    missed = [event["round"] for event in events if "device-2" in event["federation"]["missed"]]
    assert missed == [left - 2, left - 1, left]
    for event in events[left - 2 : left]:
        assert "device-2" in event["link_failed"]
    assert all("device-2" not in [d["id"] for d in e["devices"]] for e in events[left + 1 :])


def test_a_device_that_connects_during_the_run_joins_it(disturbed):
    events = disturbed["run"].rounds
    (joined,) = [event["round"] for event in events if "device-3" in event["entered"]]
    assert all("device-3" in [d["id"] for d in e["devices"]] for e in events[joined + 1 :])


def test_the_model_still_uses_what_the_departed_device_sent(disturbed):
    metrics = disturbed["run"].rounds[-1]["metrics"]
    assert "future" in metrics
    assert math.isfinite(metrics["test_loss"])
    assert metrics["top3"] > 60  # chance: 30
    tables = []
    for path in (disturbed["run"].folder / "checkpoint").glob("*.npz"):
        with np.load(path) as kept:
            tables += [kept[name] for name in kept.files if "heard/" in name and "/values" in name]
    assert len(tables) == 3  # rows of every device that took part
    assert all(np.abs(table).max() > 0 for table in tables)


def test_devices_reconnect_to_a_server_that_was_killed(disturbed):
    assert disturbed["log"].count("is back") >= 2
    assert disturbed["devices"] == {"device-1": 0, "device-2": -signal.SIGKILL, "device-3": 0}


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("wrong key", "does not admit this device's key"),
        ("expired", "does not admit this device's key"),
        ("other authority", "certificate is not trusted"),
        ("no key", "does not admit this device's key"),
    ],
)
def test_a_device_without_a_valid_key_is_refused(disturbed, how, why):
    assert why in disturbed["refused"][how]


# --- predictions after the run: devices are started again, and one of them is killed --------------

PREDICT_S = 60.0  # from the start of the command to its end


@pytest.fixture(scope="module")
def predicted(site, disturbed):
    """The answer of `scdn federate predict`, and what was seen of the processes."""
    port, rows, answer = free_port(), site / "rows.csv", site / "answer.csv"
    labels = read_labels(site / LABELS_FILE)
    rows.write_text("id\n" + "\n".join(np.array(labels.keys)[labels.test]) + "\n")
    log, killed = site / "predict.log", site / "device-3-again.log"
    with ExitStack() as stack:
        devices = {
            name: stack.enter_context(
                running(site / f"{name}-again.log", *device_arguments(site, port, name))
            )
            for name in ("device-1", "device-3")
        }
        arguments = ("predict", disturbed["run"].folder, rows, "--port", port, "-o", answer)
        arguments += ("--keys", site / "keys", "--timeout", PREDICT_S)
        began = time.monotonic()
        server = stack.enter_context(running(log, *arguments))
        wait_until(lambda: "connected to" in killed.read_text(), server)
        devices["device-3"].send_signal(signal.SIGKILL)
        status = server.wait(2 * PREDICT_S)
        seconds = time.monotonic() - began
        ended = devices["device-1"].wait(30)
    return {
        "status": (status, ended),
        "seconds": seconds,
        "log": log.read_text(),
        "rows": rows,
        "table": pd.read_csv(answer, dtype={"prediction": str}, keep_default_na=False),
    }


def test_an_answer_is_there_by_its_deadline_and_names_a_device_that_was_killed(predicted):
    assert predicted["status"] == (0, 0), predicted["log"]
    assert predicted["seconds"] < PREDICT_S
    assert set(predicted["table"]["missing"]) == {"device-2 device-3"}  # one has left the run
    assert "no answer from device-3" in predicted["log"]


def test_predictions_of_processes_are_those_of_one_process(predicted, disturbed, site):
    """The device reads the model that another process of it has kept."""
    model = FederatedModel.load(disturbed["run"].folder)
    rows, network = read_row_keys(predicted["rows"]), InProcessNetwork()
    network.plug(1, device(site, "device-1", kept=KeptStates(site / "states" / "device-1")))
    request = model.request(rows, time.time() + 3.0)
    table = model.predict(rows, collect_embeddings(request, network, lambda _: None))
    assert predicted["table"]["id"].tolist() == rows.keys
    assert predicted["table"]["prediction"].tolist() == table["prediction"].tolist()
    probabilities = predicted["table"].filter(like="probability_").to_numpy()
    np.testing.assert_allclose(probabilities, table.filter(like="probability_"), atol=TOLERANCE)


# --- everything started by one command ------------------------------------------------------------


@pytest.mark.skipif(not LONG, reason="the same in one process: test_federation.py")
def test_a_local_federation_with_keys_has_the_events_of_a_simulation(tmp_path):
    scenario, settings = scripted_scenario(tmp_path)
    simulated = run(scenario, tmp_path / "simulated")
    out = tmp_path / "federated"
    arguments = ("local", "examples/quick.toml", "--with-keys", "--out", out)
    done = subprocess.run(
        command(*arguments, *set_options(*settings)), capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    federated = read_run(out)
    assert all(event["federation"]["missed"] == [] for event in federated.rounds)
    assert largest_difference(simulated.rounds, federated.rounds) < TOLERANCE
    assert largest_difference(simulated.end, federated.end) < TOLERANCE
