"""Predictions of a federation: equal to a simulation's, whoever is missing."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from command_line import refused, scdn
from federation_helpers import (
    THREE,
    InProcessNetwork,
    Killed,
    after,
    device,
    export_features,
    federate,
    small_scenario,
)

from scdn.data import load
from scdn.data.new_rows import read_row_keys
from scdn.federation import collect_embeddings as collecting
from scdn.federation.collect_embeddings import collect_embeddings
from scdn.federation.export_parties import LABELS_FILE
from scdn.federation.federated_model import FederatedModel
from scdn.federation.kept_states import KeptStates
from scdn.federation.messenger import RawReply
from scdn.federation.prediction_request import (
    PredictionRequest,
    has_answer,
    read_answer,
    save_answer,
)
from scdn.federation.row_alignment import read_labels
from scdn.federation.wire_format import Frame, decode, encode
from scdn.file_io import OutputError
from scdn.npz import write_npz
from scdn.record.run_lock import lock_run_folder
from scdn.simulation.runner import run
from scdn.simulation.trained_model import TrainedModel

TEST_ROWS = 359
SETTINGS = ("learning.rounds=2", "learning.unheard=imputed")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The labels and the features of three devices, and the keys of the test rows."""
    folder = export_features(tmp_path_factory.mktemp("parties"), *SETTINGS)
    labels = read_labels(folder / LABELS_FILE)
    keys = np.array(labels.keys)[labels.test]
    pd.DataFrame({"id": keys}).to_csv(folder / "keys.csv", index=False)
    return folder


def kept(files, out, name):
    return KeptStates(files / "states" / out.name / name)


def network(files, out, *names):
    """Return devices of which each keeps its model, as processes started again would have it."""
    transport = InProcessNetwork()
    for node, name in enumerate(names, 1):
        transport.plug(node, device(files, name, kept=kept(files, out, name)))
    return transport


@pytest.fixture(scope="module")
def trained(files):
    """A run in which everybody stays, and one that the second device has left."""
    runs = {}
    for name in ("staying", "leaving"):
        out = files / name
        devices = network(files, out, *THREE)
        leave = after(0, lambda nodes=devices: nodes.unplug(2)) if name == "leaving" else None
        runs[name] = federate(files, out, devices, *SETTINGS, on_round=leave)
    return runs


def predict(files, out, transport, keys="keys.csv", seconds=20.0, log=None):
    """Return the table of predictions, and what devices answered."""
    model, rows = FederatedModel.load(out), read_row_keys(files / keys)
    log = (lambda _: None) if log is None else log.append
    answer = collect_embeddings(model.request(rows, time.time() + seconds), transport, log)
    return model.predict(rows, answer), answer


def scores(table):
    """Return scores as a reader of the table would compute them."""
    truth = load("digits").test_y
    probabilities = table.filter(like="probability_").to_numpy()
    return {
        "top1": 100 * float((table["prediction"].to_numpy().astype(int) == truth).mean()),
        "top3": 100 * float(((-probabilities).argsort(1)[:, :3] == truth[:, None]).any(1).mean()),
    }


# --- equal to the run and to a simulation ---------------------------------------------------------


def test_predictions_of_the_test_rows_have_the_scores_of_the_last_round(files, trained):
    """Devices were restarted: their models are those that they kept."""
    log = []
    devices = network(files, trained["staying"].folder, *THREE)
    table, answer = predict(files, trained["staying"].folder, devices, log=log)
    assert list(table)[:2] == ["id", "prediction"]
    assert set(table["missing"]) == {""}
    metrics = trained["staying"].rounds[-1]["metrics"]
    assert scores(table) == {name: metrics[name] for name in ("top1", "top3")}
    assert {len(sent.rows) for sent in answer.values()} == {TEST_ROWS}
    assert all(client.stopped == "the rows are predicted" for client in devices.devices.values())
    assert [line for line in log if "connected" in line] == [
        f"{name}: connected, 1797 rows" for name in THREE
    ]


def test_a_party_that_has_left_is_missing_and_the_scores_are_those_of_future_rows(files, trained):
    table, _ = predict(
        files, trained["leaving"].folder, network(files, trained["leaving"].folder, *THREE[::2])
    )
    assert set(table["missing"]) == {"device-2"}
    metrics = trained["leaving"].rounds[-1]["metrics"]["future"]
    assert scores(table) == {name: metrics[name] for name in ("top1", "top3")}


@pytest.mark.parametrize("present", [THREE, THREE[:2]])
def test_predictions_are_those_of_a_simulation(files, trained, present):
    """To 1e-9 in 64 bits, also of a party that is imputed."""
    folder = files / "simulated"
    if not folder.exists():
        run(small_scenario(*SETTINGS), folder)
    model = TrainedModel.load(folder)
    images = load("digits").test["image"].astype(float)
    columns = model.inference.parties.views["device-3"].held_columns
    if "device-3" not in present:
        images.reshape(len(images), -1)[:, columns] = np.nan
    expected = model.predict(images)
    devices = network(files, trained["staying"].folder, *present)
    table, _ = predict(files, trained["staying"].folder, devices, seconds=4.0)
    assert table["missing"].tolist() == expected["missing"].tolist()
    assert table["prediction"].tolist() == expected["prediction"].tolist()
    difference = table.filter(like="prob") - expected.filter(like="prob")
    assert difference.abs().to_numpy().max() < 1e-9


def test_rows_that_a_device_lacks_are_imputed_alone(files, trained, monkeypatch):
    """Also if the rows are asked for in several messages."""
    out = trained["staying"].folder
    whole, _ = predict(files, out, network(files, out, *THREE))
    monkeypatch.setattr(collecting, "_MESSAGE_BYTES", 8 * 10 * 50)
    devices, log = network(files, out, *THREE), []
    client = devices.devices[2]
    held = [n for n, key in enumerate(client.features.keys) if not key.endswith("7")]
    client.features = replace(
        client.features,
        keys=[client.features.keys[n] for n in held],
        values=client.features.values[held],
    )
    table, answer = predict(files, out, devices, log=log)
    lacking = table["id"].str.endswith("7")
    assert table["missing"].tolist() == ["device-2" if lacks else "" for lacks in lacking]
    assert len(answer["device-2"].rows) == (~lacking).sum()
    assert f"device-2: lacks {lacking.sum()} of {TEST_ROWS} rows" in log
    pd.testing.assert_frame_equal(table[~lacking], whole[~lacking], atol=1e-12)
    assert not table[lacking].equals(whole[lacking])


def test_a_run_that_was_stopped_predicts_as_after_its_last_recorded_round(files, tmp_path):
    """Two devices have trained on since: the server's round decides which state they use."""
    out = tmp_path / "stopped"
    devices, recorded = network(files, out, *THREE), []
    push = devices.push

    def killed_in_round_1(node, raw, lasts_s):
        if node == 3 and recorded and decode(raw).kind == "apply":
            raise Killed
        return push(node, raw, lasts_s)

    devices.push = killed_in_round_1
    with pytest.raises(Killed):
        federate(files, out, devices, *SETTINGS, on_round=lambda event, _: recorded.append(event))
    table, _ = predict(files, out, network(files, out, *THREE))
    assert set(table["missing"]) == {""}
    assert scores(table) == {name: recorded[0]["metrics"][name] for name in ("top1", "top3")}
    states = [
        kept(files, out, name).read(FederatedModel.load(out).federation["run"]) for name in THREE
    ]
    newest = [max(read[1]) for read in states]
    assert newest[0] == newest[1] > newest[2]


# --- devices that do not answer -------------------------------------------------------------------


def silent(*_):
    return []


def silent_to_predict(message_id, raw, reply):
    return [] if decode(raw).kind == "predict" else [RawReply(message_id, 3, reply)]


def malformed(change):
    def tamper(message_id, raw, reply):
        if decode(raw).kind != "predict":
            return [RawReply(message_id, 3, reply)]
        return [RawReply(message_id, 3, change(reply))]

    return tamper


def with_embeddings(change):
    def changed(raw):
        frame = decode(raw)
        return encode(Frame(frame.kind, frame.fields, change(frame.arrays["embeddings"])))

    return malformed(changed)


def not_finite(raw):
    return raw[:-8] + np.float64("nan").tobytes()


WRONG = {
    "silent": silent,
    "silent to predict": silent_to_predict,
    "cut": malformed(lambda raw: raw[:-3]),
    "NaN": malformed(not_finite),
    "a row less": with_embeddings(lambda table: {"embeddings": table[:-1]}),
    "a column less": with_embeddings(lambda table: {"embeddings": table[:, :-1]}),
    "nothing": with_embeddings(lambda _: {}),
    "more": with_embeddings(lambda table: {"embeddings": table, "more": table}),
    "too large": with_embeddings(lambda table: {"embeddings": np.full(table.shape, 1e300)}),
}


@pytest.mark.parametrize("how", WRONG)
def test_a_device_that_does_not_answer_well_is_imputed_by_the_deadline(files, trained, how):
    devices = network(files, trained["staying"].folder, *THREE)
    devices.tamper[3] = WRONG[how]
    began, log = time.monotonic(), []
    table, answer = predict(files, trained["staying"].folder, devices, seconds=4.0, log=log)
    assert time.monotonic() - began < 5.0
    assert set(table["missing"]) == {"device-3"}
    assert answer.keys() == {"device-1", "device-2"}
    assert any("device-3" in line or "node 3" in line for line in log)


def test_a_device_without_the_model_of_the_last_round_is_imputed(files, trained, tmp_path):
    """It lost its files, or they are of another round: the server does not take another model."""
    out, log = trained["staying"].folder, []
    devices = network(files, out, *THREE)
    devices.plug(2, device(files, "device-2", kept=KeptStates(tmp_path / "empty")))
    old = tmp_path / "old"
    shutil.copytree(kept(files, out, "device-3").folder, old)
    last = max(old.rglob("state-*.npz"), key=lambda path: int(path.stem.removeprefix("state-")))
    last.unlink()
    devices.plug(3, device(files, "device-3", kept=KeptStates(old)))
    table, _ = predict(files, out, devices, seconds=4.0, log=log)
    assert set(table["missing"]) == {"device-2 device-3"}
    for name in ("device-2", "device-3"):
        assert f"{name}: has no model of the run's last recorded round" in log


def test_a_row_needs_a_device(files, trained, tmp_path):
    out = trained["staying"].folder
    pd.DataFrame({"id": ["row-0000001", "nowhere"]}).to_csv(tmp_path / "keys.csv", index=False)
    model, rows = FederatedModel.load(out), read_row_keys(tmp_path / "keys.csv")
    devices = network(files, out, *THREE)
    answer = collect_embeddings(model.request(rows, time.time() + 20), devices, lambda _: None)
    with pytest.raises(Exception, match="row 2: is in no device's file, needs one of device-1"):
        model.predict(rows, answer)
    del answer["device-2"]
    with pytest.raises(OutputError, match="1 of 2 rows have no device that answered; device-2"):
        model.predict(rows, answer)
    answer = collect_embeddings(
        model.request(rows, time.time() + 1), InProcessNetwork(), lambda _: None
    )
    assert answer == {}
    with pytest.raises(OutputError, match="device-1, device-2, device-3 did not"):
        model.predict(rows, answer)


def test_request_and_answer_survive_their_files(files, trained, tmp_path):
    model, rows = FederatedModel.load(trained["staying"].folder), read_row_keys(files / "keys.csv")
    request = model.request(rows, 12.5)
    request.save(tmp_path)
    again = PredictionRequest.read(tmp_path)
    for name, value in vars(request).items():
        assert np.array_equal(getattr(again, name), value), name
    assert not has_answer(tmp_path)
    _, answer = predict(
        files, trained["staying"].folder, network(files, trained["staying"].folder, *THREE)
    )
    save_answer(tmp_path, answer)
    read = read_answer(tmp_path)
    assert read.keys() == answer.keys()
    for name, sent in answer.items():
        assert np.array_equal(read[name].rows, sent.rows)
        assert np.array_equal(read[name].values, sent.values)


# --- wrong input ----------------------------------------------------------------------------------

KEYS = {
    "empty": ("", "is empty"),
    "header alone": ("id\n", "has no rows"),
    "no key": ("id,x\n1,2\n,3\n", "row 2, column id: is empty"),
    "twice": ("id\nrow-1\nrow-1\n", "row-1 is there twice"),
    "column twice": ("id,id\n1,2\n", "duplicate column"),
    "another column": ("name\n1\n", "no such column"),
    "more cells than names": ("id\n1,2,3\n4\n", "cannot be parsed"),
    "a column of the answer": ("prediction\n1\n", "is a column of the answer"),
    "bytes": ("\x00\x01", ""),
}


@pytest.mark.parametrize("case", KEYS)
def test_wrong_keys_are_refused_in_one_line_before_anything_starts(trained, tmp_path, case):
    text, fault = KEYS[case]
    path, out = tmp_path / "keys.csv", tmp_path / "out.csv"
    path.write_text(text)
    key = "prediction" if case.startswith("a column") else "id"
    before = sorted((trained["staying"].folder).rglob("*"))
    arguments = ("federate", "predict", trained["staying"].folder, path, "--insecure", "--key", key)
    assert fault in refused(scdn(*arguments, "-o", out), 1)[0]
    assert sorted(tmp_path.iterdir()) == [path]
    assert sorted((trained["staying"].folder).rglob("*")) == before


def test_wrong_files_and_options_are_refused(files, trained, tmp_path, monkeypatch):
    predicting = ("federate", "predict", trained["staying"].folder)
    keys = files / "keys.csv"
    two = tmp_path / "two.csv"
    two.write_text("a,b\n1,2\n")
    write_npz(tmp_path / "array.npz", other=np.arange(3), square=np.zeros((2, 2)))
    for arguments in (
        [*predicting, keys],
        [*predicting, keys, "--insecure", "--host", "0.0.0.0"],  # noqa: S104
        [*predicting, keys, "--insecure", "--local"],
        [*predicting, keys, "--local"],
        [*predicting, keys, "--keys", tmp_path],
        [*predicting, keys, "--insecure", "--timeout", "0"],
        [*predicting, two, "--insecure"],
        [*predicting, tmp_path, "--insecure"],
        [*predicting, tmp_path / "nowhere.csv", "--insecure"],
        [*predicting, tmp_path / "array.npz", "--insecure"],
        [*predicting, tmp_path / "array.npz", "--insecure", "--key", "square"],
        ["federate", "predict", tmp_path, keys, "--insecure"],
    ):
        refused(scdn(*arguments), 1)
    with lock_run_folder(trained["staying"].folder):
        line = refused(scdn(*predicting, keys, "--insecure"), 1)[0]
    assert "is being written by another process" in line
    monkeypatch.setattr("scdn.data.new_rows.MAX_BYTES", 10)
    assert "at most" in refused(scdn(*predicting, keys, "--insecure"), 1)[0]


def test_simulated_and_federated_runs_name_the_other_command(files, trained):
    keys = files / "keys.csv"
    folder = files / "simulated"
    if not folder.exists():
        run(small_scenario(*SETTINGS), folder)
    line = refused(scdn("federate", "predict", folder, keys, "--insecure"), 1)[0]
    assert "use scdn predict" in line
    line = refused(scdn("predict", trained["staying"].folder, keys), 1)[0]
    assert "use scdn federate predict" in line


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_keys_are_read_from_every_kind_of_file(tmp_path, suffix):
    path = tmp_path / f"keys{suffix}"
    frame = pd.DataFrame({"key": ["007", " 8 "]})
    match suffix:
        case ".csv":
            frame.to_csv(path, index=False)
        case ".parquet":
            frame.to_parquet(path)
        case ".npz":
            write_npz(path, key=frame["key"].to_numpy().astype(str))
    rows = read_row_keys(path)
    assert (rows.name, rows.keys) == ("key", ["007", "8"])
