"""Laws of exported models: from raw values they answer as the library does."""

from __future__ import annotations

import json

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import torch
from command_line import refused, scdn
from run_scenarios import scripted
from test_predict import DEVICES, FEATURES, LEAVING, PARTIES, table_dataset

import scdn as package
from scdn.data import fetch, load, store
from scdn.export import model_files
from scdn.simulation.runner import run

TABLE = {"split": "parties", "input": "own"}
CASES = {
    "departed": (LEAVING, {"dataset": "stations", **TABLE}),
    "regression": (DEVICES, {"dataset": "yield", "fusion_head": "linear", **TABLE}),
    "images": (DEVICES[:2], {"dataset": "digits", "split": "strips", "model": "cnn"}),
}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Return a function that gives the run of a case and its exported files."""
    folder, cache = tmp_path_factory.mktemp("export"), {}
    fetch("digits")
    for name, task in (("stations", "classification"), ("yield", "regression")):
        store.put(table_dataset(name, task))

    def give(case):
        if case not in cache:
            devices, learning = CASES[case]
            out = folder / case
            run(scripted(folder, devices, rounds=3, learning=learning), out / "run")
            done = scdn("export", out / "run", "--out", out / "model")
            assert (done.returncode, done.stderr) == (0, "")
            assert sorted(done.stdout.split()[1::2]) == sorted(map(str, (out / "model").iterdir()))
            cache[case] = package.load(out / "run"), out / "model"
        return cache[case]

    return give


def answers(folder, values):
    """Return the server's answer to raw values by party, and the sessions of ONNX Runtime."""
    sessions = {
        path.stem: onnxruntime.InferenceSession(path) for path in sorted(folder.glob("*.onnx"))
    }
    embeddings = {
        name: sessions[f"party-{name}"].run(None, {"values": rows})[0]
        for name, rows in values.items()
    }
    server = sessions["server"]
    names = [entry.name for entry in server.get_inputs()]
    return server.run(None, {name: embeddings[name] for name in names})[0], sessions


def programs(folder, values):
    """Return the server's answer by PyTorch's programs."""
    server = torch.export.load(folder / "server.pt2").module()
    return server(
        *(
            torch.export.load(folder / f"party-{name}.pt2").module()(torch.from_numpy(rows))
            for name, rows in values.items()
        )
    ).numpy()


def raw_values(model, test):
    table = pd.DataFrame(test, columns=FEATURES)
    return {name: np.array(table[list(PARTIES[name])]) for name in model.inference.sent_in}


def test_a_server_without_a_departed_party_imputes_it(exported):
    model, folder = exported("departed")
    assert not (folder / "party-a.onnx").exists()
    test = load("stations").test["table"]
    expected = model.predict(test).filter(like="probability_").to_numpy()
    values = raw_values(model, test)
    probabilities, sessions = answers(folder, values)
    np.testing.assert_allclose(probabilities, expected, atol=1e-5)
    np.testing.assert_allclose(programs(folder, values), expected, atol=1e-5)
    metadata = sessions["party-b"].get_modelmeta().custom_metadata_map
    assert json.loads(metadata["columns"]) == ["b.x"]
    assert json.loads(metadata["classes"]) == ["low", "middle", "high"]
    scaling = model.form.scalings["table"]
    assert json.loads(metadata["shift"]) == [scaling.shift[2]]
    assert json.loads(metadata["scale"]) == [scaling.scale[2]]
    assert [entry.shape[0] for entry in sessions["server"].get_inputs()] == ["rows", "rows"]
    saved = {"metadata.json": ""}
    torch.export.load(folder / "party-b.pt2", extra_files=saved)
    assert json.loads(saved["metadata.json"])["columns"] == ["b.x"]


def test_a_regression_is_in_its_own_units(exported):
    model, folder = exported("regression")
    test = load("yield").test["table"]
    numbers, _ = answers(folder, raw_values(model, test))
    expected = model.predict(test)["prediction"].to_numpy()
    np.testing.assert_allclose(numbers[:, 0], expected, rtol=1e-5, atol=1e-5)


def test_images_are_cut_as_the_parties_hold_them(exported):
    """The model wants larger images: the padding is inside."""
    model, folder = exported("images")
    test = load("digits").test["image"]
    pixels = test.transpose(0, 3, 1, 2).astype(np.float64)
    values = {name: pixels[:, :, 4 * n : 4 * n + 4] for n, name in enumerate("ab")}
    probabilities, _ = answers(folder, values)
    expected = model.predict(test).filter(like="probability_").to_numpy()
    np.testing.assert_allclose(probabilities, expected, atol=1e-5)


def test_the_card_has_the_scores_of_the_run(exported):
    model, folder = exported("departed")
    card = (folder / "card.md").read_text()
    metrics = model.run.rounds[-1]["metrics"]
    assert f"| as recorded | {metrics['test_loss']:.6g} | {metrics['top1']:.6g} |" in card
    future = metrics["future"]
    assert f"| all that are present | {future['test_loss']:.6g} | {future['top1']:.6g} |" in card
    for name in "bc":
        assert f"| without {name} |" in card
    assert "| a | a.x, a.y | has left |" in card
    assert f"| all | {model.run.end['energy']['total_j']:.6g} |" in card
    assert "stations" in card


def test_nothing_is_written_unless_models_agree(exported, tmp_path, monkeypatch):
    model, _ = exported("regression")
    monkeypatch.setattr(model_files, "TOLERANCE", -1.0)
    failed = scdn("export", model.run.folder, "--out", tmp_path / "model")
    assert failed.returncode == 1
    assert "differs from the library" in failed.stderr
    assert len(failed.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
    refused(scdn("export", tmp_path, "--out", tmp_path / "model"), 1)
    refused(scdn("export", model.run.folder), 1)
