"""Laws of predictions: they are the run's own scores, and an absent party is one that has left."""

from __future__ import annotations

import gzip
import io
import json
import struct
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from command_line import refused, scdn
from PIL import Image
from run_scenarios import device, scripted

import scdn as package
from scdn.data import Dataset, fetch, load, store
from scdn.data.input_format import InputFormat
from scdn.errors import InputError
from scdn.npz import write_npz
from scdn.record import checkpoint
from scdn.rng import generator
from scdn.simulation.runner import run
from scdn.simulation.trained_model import TrainedModel

PARTIES = {"a": ("a.x", "a.y"), "b": ("b.x",), "c": ("c.x", "c.y")}
FEATURES = tuple(column for columns in PARTIES.values() for column in columns)
DEVICES = [device(name, [30 + 15 * n, 40, 0]) for n, name in enumerate(PARTIES)]
LEAVING = [device("a", [30, 40, 0], exited=1), *DEVICES[1:]]


def table_dataset(name, task):
    draw = generator(1, "test-predict")
    x = draw.normal(5.0, 3.0, (150, len(FEATURES)))
    score = (x - 5) @ draw.normal(size=len(FEATURES))
    y = score if task == "regression" else np.digitize(score, [-3.0, 3.0])
    return Dataset(
        name,
        {"table": x[:100]},
        y[:100],
        {"table": x[100:]},
        y[100:],
        task,
        () if task == "regression" else ("low", "middle", "high"),
        FEATURES,
        PARTIES,
        key="site",
    )


CASES = {
    "all present": (DEVICES, {}),
    "keep, known": (LEAVING, {}),
    "keep, imputed": (LEAVING, {"learning": {"unheard": "imputed", "payload": "protocol"}}),
    "mean": (LEAVING, {"learning": {"imputation": "mean"}}),
    "zero-out": (LEAVING, {"method": "zoc"}),
    "dropout": (LEAVING, {"method": "sc-dn-dropout"}),
    "mission": (LEAVING, {"method": "mission", "learning": {"unheard": "imputed"}}),
    "noise": (LEAVING, {"learning": {"perturbation": 0.5}}),
    "64 bits": (LEAVING, {"learning": {"precision": "float64"}}),
    "regression": (LEAVING, {"learning": {"dataset": "yield"}}),
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return a function that gives the run of a case, its last simulation and its model."""
    folder, cache = tmp_path_factory.mktemp("predict"), {}
    for name, task in (("stations", "classification"), ("yield", "regression")):
        store.put(table_dataset(name, task))

    def give(case):
        if case not in cache:
            devices, settings = CASES[case]
            learning = {"dataset": "stations", "split": "parties", "input": "own"}
            settings = {**settings, "learning": learning | settings.get("learning", {})}
            last, out = SimpleNamespace(), folder / case.replace(" ", "-")
            scenario = scripted(folder, devices, rounds=3, **settings)

            def observe(event, simulation):
                last.simulation = simulation
                scores = TrainedModel.load(out).test_scores()  # while it runs
                assert scores == {name: event["metrics"][name] for name in scores}

            last.run = run(scenario, out, on_round=observe)
            last.folder, last.model = out, TrainedModel.load(out)
            cache[case] = last
        return cache[case]

    return give


def scores_of(frame, dataset):
    """Return a table's scores as a reader would compute them, without PyTorch."""
    if dataset.task == "regression":
        errors = frame["prediction"].to_numpy(np.float32) - dataset.test_y.astype(np.float32)
        return {"mse": float((errors**2).astype(np.float64).mean())}
    truth = np.array(dataset.classes)[dataset.test_y]
    probabilities = frame.filter(like="probability_").to_numpy()
    places = (-probabilities).argsort(1)[:, :3]
    return {
        "top1": 100 * float((frame["prediction"].to_numpy() == truth).mean()),
        "top3": 100 * float((places == dataset.test_y[:, None]).any(1).mean()),
    }


# --- the run's own scores -------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_predictions_of_the_test_rows_have_the_score_of_the_last_round(case, trained):
    last = trained(case)
    metrics = last.run.rounds[-1]["metrics"]
    scores = last.model.test_scores()
    assert scores
    assert scores == {name: metrics[name] for name in scores}
    printed = scdn("predict", last.folder, "--test")
    frame = pd.read_csv(io.StringIO(printed.stdout), keep_default_na=False)
    assert (frame["missing"] == "").all() or case == "dropout"
    dataset = load(last.model.form.dataset)
    for name, value in scores_of(frame, dataset).items():
        assert value == metrics[name]
        assert f"{name} {value!r}" in printed.stderr


@pytest.mark.parametrize("case", [case for case in CASES if case != "noise"])
def test_the_same_rows_as_new_ones_have_the_score_of_future_rows(case, trained):
    """A party that has left did not embed them."""
    last = trained(case)
    dataset = load(last.model.form.dataset)
    frame = last.model.predict(dataset.test["table"])
    metrics = last.run.rounds[-1]["metrics"]
    expected = metrics.get("future", metrics)
    for name, value in scores_of(frame, dataset).items():
        assert value == expected[name]
    left = case != "all present" and last.simulation.method.memory != "zero-out"
    assert set(frame["missing"]) == {"a" if left else ""}


@pytest.mark.parametrize("case", [case for case in CASES if case != "noise"])
def test_an_absent_party_counts_as_one_that_has_just_left(case, trained):
    """The last simulation is run on: its devices b and c leave."""
    last = trained(case)
    dataset, model = load(last.model.form.dataset), last.simulation.model
    frame = pd.DataFrame(dataset.test["table"], columns=FEATURES)
    frame.loc[:, "b.x"] = np.nan
    without_b = last.model.predict(frame)
    assert all("b" in names.split() for names in without_b["missing"])
    if "b" in model.present:
        model.remove_parties(["b"])
    metrics = model.metrics()
    for name, value in scores_of(without_b, dataset).items():
        assert value == metrics["future"][name]
    assert last.model.predict(frame.drop(columns="b.x")).equals(without_b)


def test_each_row_is_predicted_by_itself(trained):
    last = trained("keep, imputed")
    rows = pd.DataFrame(load("stations").test["table"], columns=FEATURES)
    rows.iloc[::3, 2] = np.nan
    rows.iloc[::4, 4] = np.nan
    rows.iloc[::12, 2:] = rows.iloc[1, 2:]
    together = last.model.predict(rows)
    for row in (0, 1, 3, 4, 20):
        alone = last.model.predict(rows.iloc[[row]])
        assert alone["missing"].tolist() == [together["missing"][row]]
        columns = [name for name in together if name.startswith("probability_")]
        np.testing.assert_allclose(alone[columns], together.loc[[row], columns], atol=1e-5)
    assert set(together["missing"]) == {"a", "a b", "a c"}


def test_the_data_set_is_not_needed(trained, tmp_path, monkeypatch):
    last = trained("keep, imputed")
    rows = load("stations").test["table"]
    before = last.model.predict(rows)
    monkeypatch.setenv("SCDN_DATA", str(tmp_path))
    assert package.load(last.folder).predict(rows).equals(before)
    with pytest.raises(InputError, match="stations"):
        package.load(last.folder).predict_test()


def test_a_changed_data_set_is_not_the_runs(trained, tmp_path, monkeypatch):
    last = trained("all present")
    other = table_dataset("stations", "classification")
    other.train["table"][0, 0] = 99
    monkeypatch.setenv("SCDN_DATA", str(tmp_path))
    store.put(other)
    from scdn.simulation.run_data import _prepared

    _prepared.cache_clear()
    try:
        with pytest.raises(InputError, match="not as it was"):
            last.model.predict_test()
    finally:
        _prepared.cache_clear()


def test_images_are_predicted_from_arrays_idx_files_and_pictures(tmp_path):
    fetch("digits")
    recorded = run(scripted(tmp_path, learning={"dataset": "digits"}, rounds=2), tmp_path / "run")
    digits, model = load("digits"), package.load(tmp_path / "run")
    write_npz(tmp_path / "rows.npz", x=digits.test["image"][..., 0], y=digits.test_y)
    write_npz(tmp_path / "floats.npz", image=digits.test["image"].astype(np.float32))
    frame = model.predict(tmp_path / "rows.npz")
    metrics = recorded.rounds[-1]["metrics"]
    expected = metrics.get("future", metrics)
    assert scores_of(frame, digits) == {name: expected[name] for name in ("top1", "top3")}
    assert model.predict(digits.test["image"]).equals(frame)
    assert model.predict(tmp_path / "floats.npz").equals(frame)
    assert model.predict({"image": digits.test["image"]}).equals(frame)
    (tmp_path / "rows-idx3-ubyte.gz").write_bytes(idx_file(digits.test["image"][..., 0]))
    assert model.predict(tmp_path / "rows-idx3-ubyte.gz").equals(frame)
    for row, pixels in enumerate(digits.test["image"][:20, ..., 0]):
        folder = tmp_path / "pictures" / ("one" if row < 9 else "two")
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).convert("RGB").save(folder / f"{row:02d}.png")
    answer = model.predict(tmp_path / "pictures")
    assert answer["file"].tolist()[8:10] == ["one/08.png", "two/09.png"]
    assert answer.drop(columns="file").equals(frame[:20])
    line = refused(scdn("predict", tmp_path / "run", __file__), 1)[0]
    assert "must be .npz, an IDX file, or a folder of pictures" in line
    Image.new("L", (9, 8)).save(tmp_path / "pictures" / "one" / "wide.png")
    line = refused(scdn("predict", tmp_path / "run", tmp_path / "pictures"), 1)[0]
    assert "wide.png: has 9×8 pixels, must have 8×8 as the data set" in line
    (tmp_path / "pictures" / "one" / "wide.png").write_bytes(b"no picture")
    refused(scdn("predict", tmp_path / "run", tmp_path / "pictures"), 1)
    (tmp_path / "labels-idx1-ubyte").write_bytes(gzip.decompress(idx_file(digits.test_y)))
    line = refused(scdn("predict", tmp_path / "run", tmp_path / "labels-idx1-ubyte"), 1)[0]
    assert "must be the file of images" in line
    (tmp_path / "nothing").mkdir()
    refused(scdn("predict", tmp_path / "run", tmp_path / "nothing"), 1)
    write_npz(tmp_path / "large.npz", image=np.zeros((2, 28, 28)))
    refused(scdn("predict", tmp_path / "run", tmp_path / "large.npz"), 1)


def idx_file(array):
    header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return gzip.compress(header + array.astype(np.uint8).tobytes())


# --- forms of rows --------------------------------------------------------------------------------


def test_every_form_of_the_same_rows_gives_the_same_answer(trained, tmp_path):
    last = trained("keep, known")
    table = load("stations").test["table"]
    frame = pd.DataFrame(table, columns=FEATURES)
    keyed = frame.assign(site=[f"{n:03d}" for n in range(len(frame))], note="x")
    keyed.to_csv(tmp_path / "rows.csv", index=False)
    keyed.to_parquet(tmp_path / "rows.parquet")
    write_npz(tmp_path / "rows.npz", **{name: frame[name].to_numpy() for name in frame})
    for party, columns in PARTIES.items():
        own = keyed[["site", *columns]]
        own.columns = [name.split(".")[-1] for name in own]
        own.sample(frac=1, random_state=1).to_csv(tmp_path / f"{party}.csv", index=False)
    answer = last.model.predict(frame)
    assert list(answer) == [
        "prediction", "probability_low", "probability_middle", "probability_high", "missing"
    ]  # fmt: skip
    assert last.model.predict(tmp_path / "rows.npz").equals(answer)
    assert last.model.predict(table).equals(answer)
    with_key = last.model.predict(keyed)
    assert next(iter(with_key)) == "site"
    assert with_key.drop(columns="site").equals(answer)
    for name in ("rows.csv", "rows.parquet"):
        assert last.model.predict(tmp_path / name).astype(object).equals(with_key.astype(object))
    files = {party: tmp_path / f"{party}.csv" for party in PARTIES}
    joined = last.model.predict(files).set_index("site").sort_index()
    expected = with_key.set_index("site")
    assert joined["prediction"].tolist() == expected["prediction"].tolist()
    np.testing.assert_allclose(joined.filter(like="prob"), expected.filter(like="prob"), atol=1e-6)


def test_parties_files_may_be_missing_and_have_other_keys(trained, tmp_path):
    last = trained("all present")
    (tmp_path / "a.csv").write_text("site,x,y\n001,1,2\n002,3,4\n")
    (tmp_path / "c.csv").write_text("site,x,y\n002,5,6\n003,7,\n004,1,1\n")
    out = tmp_path / "out.csv"
    parties = [f"{party}={tmp_path / party}.csv" for party in "ac"]
    line = refused(scdn("predict", last.folder, *parties, "-o", out), 1)[0]
    assert line == "rows: row 3: has no party's values, needs those of one of a, b, c"
    assert not out.exists()
    (tmp_path / "c.csv").write_text("site,x,y\n002,5,6\n003,7,1\n")
    done = scdn("predict", last.folder, *parties, "-o", out)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"wrote {out}\n")
    answer = pd.read_csv(out, dtype=str)
    assert answer["site"].tolist() == ["001", "002", "003"]
    assert answer["missing"].tolist() == ["b c", "b", "a b"]
    other = scdn("predict", last.folder, *parties, "--key", "x")
    assert "001" not in other.stdout


# --- wrong input ----------------------------------------------------------------------------------

GOOD = "site,a.x,a.y,b.x,c.x,c.y\n7,1,2,3,4,5\n"
WRONG = {
    "text": (GOOD + "8,1,two,3,4,5\n", 'row 2, column a.y: got "two"'),
    "infinite": (GOOD + "8,1,2,3,inf,5\n", "row 2, column c.x"),
    "nothing at all": (GOOD + "8,,,,,\n", "row 2: has no party's values"),
    "not a number anywhere": (GOOD + "8,nan,nan,nan,nan,nan\n", "row 2: has no party's values"),
    "more cells than names": (GOOD + "8,1,2,3,4,5,6,7\n", "cannot be parsed"),
    "half of a party": ("a.x,b.x\n1,2\n", "a.y: no such column, a needs it"),
    "no feature": ("u,v\n1,2\n", "columns: none is of stations"),
    "twice the same": ("a.x,a.y,b.x,b.x\n1,2,3,4\n", "b.x"),
    "header alone": ("a.x,a.y\n", "has no rows"),
    "too large": (GOOD + "8,1e300,2,3,4,5\n", "row 2: has values that are too large"),
    "empty": ("", "is empty"),
    "bytes": ("\x00\x01\x02", ""),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_rows_are_refused_in_one_line(case, trained, tmp_path):
    text, fault = WRONG[case]
    path, out = tmp_path / "rows.csv", tmp_path / "out.csv"
    path.write_text(text)
    line = refused(scdn("predict", trained("all present").folder, path, "-o", out), 1)[0]
    assert fault in line
    assert sorted(tmp_path.iterdir()) == [path]


def test_wrong_files_and_options_are_refused(trained, tmp_path, monkeypatch):
    last = trained("all present")
    path = tmp_path / "rows.csv"
    path.write_text(GOOD)
    for arguments in (
        [tmp_path / "nowhere.csv"],
        [tmp_path],
        [],
        [path, "--test"],
        ["--test", "--key", "site"],
        [path, "--key", "nothing"],
        [f"a={path}", path],
        [f"z={path}"],
        [path, "--key", "prediction"],
        [f"a={path}", "--key", "nothing"],
    ):
        refused(scdn("predict", last.folder, *arguments), 1)
    (tmp_path / "a.csv").write_text("site,x,y\n1,1,2\n1,3,4\n")
    assert "1 is there twice" in refused(scdn("predict", last.folder, f"a={tmp_path}/a.csv"), 1)[0]
    (tmp_path / "a.csv").write_text("site,x,y\n1,1,2\n,3,4\n")
    assert "row 2" in refused(scdn("predict", last.folder, f"a={tmp_path}/a.csv"), 1)[0]
    write_npz(tmp_path / "short.npz", image=np.zeros((2, 5, 5)))
    refused(scdn("predict", last.folder, tmp_path / "short.npz"), 1)
    monkeypatch.setattr("scdn.data.new_rows.MAX_BYTES", 10)
    assert "at most" in refused(scdn("predict", last.folder, path), 1)[0]


def test_folders_without_a_model_are_refused(trained, tmp_path):
    last = trained("all present")
    rows = tmp_path / "rows.csv"
    rows.write_text(GOOD)
    assert "folder of a run" in refused(scdn("predict", tmp_path, rows), 1)[0]
    assert "folder of a run" in refused(scdn("predict", rows, rows), 1)[0]
    copied = tmp_path / "run"
    copied.mkdir()
    (copied / "events.jsonl").write_bytes((last.folder / "events.jsonl").read_bytes())
    assert "checkpoint: is not there" in refused(scdn("predict", copied, rows), 1)[0]
    (copied / "checkpoint").mkdir()
    state = (last.folder / "checkpoint" / "state.npz").read_bytes()
    (copied / "checkpoint" / "state.npz").write_bytes(state[:1000])
    assert "damaged" in refused(scdn("predict", copied, rows), 1)[0]
    (copied / "checkpoint" / "state.npz").write_bytes(state)
    changed = {"round": 0}, {"input_format": None}
    for values in changed:
        arrays, before, _ = checkpoint.load(last.folder)
        checkpoint.save(copied, arrays, before | values, {})
        refused(scdn("predict", copied, rows), 1)


def test_reading_a_run_changes_no_file_of_it(trained):
    """Another process may be writing: its temporary files stay."""
    last = trained("keep, known")
    temporary = last.folder / "checkpoint" / ".state.npz.abc"
    temporary.write_text("half")
    before = {path: path.stat().st_mtime_ns for path in last.folder.rglob("*")}
    package.load(last.folder).predict(load("stations").test["table"])
    assert {path: path.stat().st_mtime_ns for path in last.folder.rglob("*")} == before
    temporary.unlink()


def test_the_form_of_rows_survives_its_file():
    form = InputFormat.from_dataset(table_dataset("stations", "classification"), "standard")
    again = InputFormat.from_state_dict(json.loads(json.dumps(form.state_dict())))
    assert again.state_dict() == form.state_dict()
    x = table_dataset("stations", "classification").test
    assert np.array_equal(again.scaled(x, "float32")["table"], form.scaled(x, "float32")["table"])
