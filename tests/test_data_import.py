"""Own files become data sets: what was written is read back, wrong files are refused in a line."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import refused, run_line, scdn
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from scdn import npz
from scdn.data import Dataset, dataset_names, load, store
from scdn.data.idx import parse_idx, read_idx
from scdn.data.image_arrays import LabelledImages, image_dataset
from scdn.data.split_arrays import part_of, split_arrays
from scdn.errors import InputError

OCCUPANCY = ROOT.parent / "shared" / "data" / "room-occupancy.csv"
FASHION = Path("/usr/share/datasets/fashion-mnist")  # of Debian's package dataset-fashion-mnist


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("SCDN_DATA", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


def add(line):
    """Run `scdn data add own …`, which must work; return the data set and the stored size."""
    done = run_line(f"scdn data add own {line}", Path.cwd())
    assert done.returncode == 0, done.stderr
    return load("own"), store.stored_files()["own"].stat().st_size


def refuse(line, *fragments, lines=1):
    """Run `scdn data add own …`, which must be refused and leave nothing behind."""
    faults = refused(scdn("data", "add", "own", *line.split()), lines)
    for fragment in fragments:
        assert fragment in "\n".join(faults)
    folder = store.store_folder()
    assert not folder.exists() or not list(folder.iterdir())


def idx_bytes(array, code=0x08):
    return bytes((0, 0, code, array.ndim)) + struct.pack(
        f">{array.ndim}I", *array.shape
    ) + array.astype(array.dtype.newbyteorder(">")).tobytes()  # fmt: skip


def pictures(count, shape=(6, 5), seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (count, *shape), dtype=np.uint8)


# --- IDX ------------------------------------------------------------------------------------------

IDX_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: "i2", 0x0C: "i4", 0x0D: "f4", 0x0E: "f8"}
_shapes = st.one_of(
    st.tuples(st.integers(0, 5)),
    st.tuples(*3 * [st.integers(0, 4)]),
    st.tuples(*4 * [st.integers(0, 3)]),
)


@given(st.data(), st.sampled_from(sorted(IDX_TYPES)), _shapes, st.booleans())
def test_an_idx_file_is_read_as_written(tmp_path, data, code, shape, compressed):
    array = data.draw(hnp.arrays(IDX_TYPES[code], shape))
    raw = idx_bytes(array, code)
    path = tmp_path / "any"
    path.write_bytes(gzip.compress(raw) if compressed else raw)
    result = read_idx(path)
    assert result.dtype == array.dtype
    np.testing.assert_array_equal(result, array)


@given(st.binary(max_size=40))
def test_any_bytes_are_an_idx_array_or_refused(raw):
    try:
        array = parse_idx(io.BytesIO(raw), "any")
    except InputError:
        return
    assert raw == idx_bytes(array, raw[2])


@given(st.data())
def test_a_changed_idx_header_never_crashes(data):
    raw = bytearray(idx_bytes(pictures(3)))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, 15))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(InputError):
        assert parse_idx(io.BytesIO(bytes(raw)), "any").nbytes == 3 * 6 * 5


def test_a_truncated_or_oversized_idx_file_is_refused(monkeypatch):
    raw, labels = idx_bytes(pictures(6)), idx_bytes(np.arange(6, dtype=np.uint8) % 2)
    Path("labels.idx").write_bytes(labels)
    for name, content, fragment in (
        ("images.idx", raw[:-1], "179 bytes, must be 180"),
        ("images.idx", raw + b"x", "more than 180 bytes"),
        ("images.idx", raw[:3], "magic: got 000008"),
        ("images.idx", raw[:9], "sizes: end too early"),
        ("images.idx", b"", "magic: got nothing"),
        ("images.idx", b"\x89PNG\r\n\x1a\n", "magic"),
        ("images.idx", raw[:3] + b"\x02" + raw[4:], "dimensions: got 2"),
        ("images.idx", raw[:4] + b"\xff" * 12, "unpacks to"),
        ("images.idx.gz", gzip.compress(raw)[:-20], "cannot be read"),
        ("images.idx.gz", b"\x1f\x8b rubbish", "cannot be read"),
    ):
        Path(name).write_bytes(content)
        refuse(f"{name} labels.idx", name, fragment)
    Path("images.idx").write_bytes(raw)
    monkeypatch.setattr(npz, "UNPACKED_LIMIT", 100)
    refuse("images.idx labels.idx", "unpacks to", "sizes")
    refuse("nowhere.idx labels.idx", "nowhere.idx", "No such file")


def test_idx_files_in_a_folder_or_one_by_one_give_the_same_data_set():
    train, test = pictures(20), pictures(7, seed=1)
    Path("set").mkdir()
    for part, images in (("train", train), ("t10k", test)):
        labels = (np.arange(len(images)) % 3).astype(np.uint8)
        for kind, array in ((f"images-idx{images.ndim}", images), ("labels-idx1", labels)):
            Path(f"set/{part}-{kind}-ubyte.gz").write_bytes(gzip.compress(idx_bytes(array)))
    data, _ = add("set")
    assert (data.train["image"][..., 0] == train).all()
    assert (data.test["image"][..., 0] == test).all()
    assert data.train["image"].dtype == np.uint8
    assert data.test_y.tolist() == [0, 1, 2, 0, 1, 2, 0]
    files = sorted(map(str, Path("set").iterdir()))
    assert (add(" ".join(files))[0].train_y == data.train_y).all()
    explicit, _ = add(f"{files[2]} {files[3]} --test {files[0]} {files[1]}")
    assert (explicit.test["image"] == data.test["image"]).all()
    drawn, _ = add(f"{files[2]} {files[3]}")
    assert (len(drawn.train_y), len(drawn.test_y)) == (16, 4)


def test_idx_files_that_do_not_belong_together_are_refused():
    Path("images.idx").write_bytes(idx_bytes(pictures(6)))
    Path("labels.idx").write_bytes(idx_bytes(np.zeros(5, np.uint8)))
    refuse("images.idx labels.idx", "labels.idx: labels: 5 rows, must be 6 as in images.idx")
    refuse("images.idx", "got 1", "images and labels")
    refuse("images.idx images.idx", "3 and 3 dimensions")
    Path("labels.idx").write_bytes(idx_bytes(np.arange(6, dtype=np.uint8) % 2))
    Path("empty").mkdir()
    refuse("images.idx labels.idx --test empty", "empty: folder: has no IDX files")
    refuse("images.idx labels.idx --label y", "--label: is not for IDX files")


# --- arrays ---------------------------------------------------------------------------------------

_kinds = st.sampled_from(["u1", "i4", "f4", "f8", "bool"])
_images = _kinds.flatmap(
    lambda kind: hnp.arrays(
        kind,
        st.one_of(
            st.tuples(st.integers(5, 8), st.integers(5, 6), st.integers(5, 7)),
            st.tuples(st.integers(5, 8), st.integers(5, 6), st.integers(5, 7), st.integers(1, 4)),
        ),
        elements=st.integers(0, 1) if kind == "bool" else st.integers(0, 255),
    )
)


@given(_images)
def test_image_arrays_are_stored_as_bytes_and_read_back(images):
    labels = np.arange(len(images)) % 2
    np.savez("own.npz", pictures=images, kind=labels)
    data, _ = add("own.npz --test own.npz")
    expected = images if images.ndim == 4 else images[..., None]
    assert data.train["image"].dtype == np.uint8
    np.testing.assert_array_equal(data.train["image"], expected)
    np.testing.assert_array_equal(data.test_y, labels)


@given(hnp.arrays(np.float32, (6, 5, 5), elements=st.floats(-1, 1, width=32)))
def test_fractions_of_pixels_stay_floats(images):
    images[0, 0, 0] = 0.5
    data = image_dataset("own", LabelledImages(images, np.arange(6) % 2, "y", "x"), None)
    assert data.train["image"].dtype == np.float32
    rows = np.concatenate([data.train["image"], data.test["image"]])[..., 0]
    assert sorted(map(bytes, rows)) == sorted(map(bytes, images))


@pytest.mark.parametrize("kind", ["U", "S"])
def test_labels_may_be_text(kind):
    np.savez("own.npz", x=pictures(6), y=np.array(["no", "yes"] * 3, kind))
    data, _ = add("own.npz --test own.npz")
    assert data.classes == ("no", "yes")
    assert data.train_y.tolist() == [0, 1] * 3


def test_channels_may_come_first():
    images = pictures(6, (3, 8, 9))
    np.savez("own.npz", x=images, y=np.arange(6) % 2)
    data, _ = add("own.npz --test own.npz")
    np.testing.assert_array_equal(data.train["image"], np.moveaxis(images, 1, -1))


def test_the_usual_names_of_arrays_tell_training_and_test_rows():
    parts = {"train": pictures(8), "test": pictures(5, seed=1)}
    labels = {part: np.arange(len(x))[:, None] % 2 for part, x in parts.items()}
    for form, kinds in (("{0}_{1}", ("x", "y")), ("{1}_{0}", ("images", "labels"))):
        arrays = {form.format(kinds[0], part): x for part, x in parts.items()}
        arrays |= {form.format(kinds[1], part): y for part, y in labels.items()}
        np.savez_compressed("own.npz", **arrays)
        data, _ = add("own.npz")
        np.testing.assert_array_equal(data.train["image"][..., 0], parts["train"])
        np.testing.assert_array_equal(data.test_y, labels["test"][:, 0])
    arrays |= {"val_images": pictures(2, seed=2), "val_labels": np.array([[0], [1]])}
    np.savez("own.npz", **arrays)
    assert len(add("own.npz")[0].train_y) == 10  # validation rows train
    refuse_after_removal("own.npz --test own.npz", "has test rows, leave out --test")


def refuse_after_removal(line, *fragments):
    assert scdn("data", "remove", "own").returncode == 0
    refuse(line, *fragments)


def test_tables_in_an_npz_file_have_the_same_names():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(12, 3)), np.arange(12) % 2
    np.savez("own.npz", x_train=x[:8], y_train=y[:8], x_test=x[8:], y_test=y[8:])
    data, _ = add("own.npz --label y")
    assert data.features == ("x0", "x1", "x2")
    np.testing.assert_array_equal(data.test["table"], x[8:])


@pytest.mark.parametrize(
    ("name", "part"),
    [("x_train", "train"), ("t10k-images-idx3-ubyte.gz", "test"), ("test", "test"),
     ("Training", "train"), ("X_Test", "test"), ("val_images", "validation"), ("trains", ""),
     ("contest", ""), ("latest_x", ""), ("x", "")],
)  # fmt: skip
def test_a_name_tells_its_part(name, part):
    assert part_of(name) == part


def test_arrays_without_a_counterpart_are_no_split():
    arrays = {"test_score": np.zeros(3), "train_km": np.zeros(3), "y": np.zeros(3)}
    assert split_arrays(arrays) == (arrays, None)


def _zip_of(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def _npy(shape, kind="|u1"):
    buffer = io.BytesIO()
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue()


def test_wrong_image_arrays_are_refused():
    x, y = pictures(6), np.arange(6) % 2
    nan = np.full((6, 5, 5), 0.5)
    nan[3, 1, 1] = np.nan
    for arrays, options, fragment in (
        ({"x": x, "y": y[:5]}, "", "y: has shape (5,), must be 6 as of images"),
        ({"x": x, "y": np.eye(6)}, "", "y: has shape (6, 6)"),
        ({"x": nan, "y": y}, "", "image 4: is not finite"),
        ({"x": nan * 0 + 1e300, "y": y}, "", "image 1: is not finite, must be finite in 32 bits"),
        ({"x": x}, "", "labels: no array, name the array of labels with --label"),
        ({"x": x, "y": y, "z": y}, "", "labels: one of y, z"),
        ({"x": x, "y": y, "z": y}, "--label q", "--label: got 'q', must be one of y, z"),
        ({"x": x, "y": y, "z": x}, "", "images: 2 arrays of 3 or 4 dimensions"),
        ({"x": x[None, None], "y": y}, "", "images: 0 arrays of 3 or 4 dimensions"),
        ({"x": x[:, :0], "y": y}, "", "must not be empty"),
        ({"x": x.astype("U3"), "y": y}, "", "images: have type <U3"),
        ({"x": x, "y": y * 0}, "", "1 classes"),
        ({"x": x[:4], "y": y[:4]}, "", "rows: 4, needs at least 5"),
        ({"x": x, "y": y / 2}, "", "row 2, column y: got 0.5"),
        ({"x": x, "y": y}, "--key id", "--key: is not for image arrays"),
    ):
        np.savez("own.npz", **arrays)
        refuse(f"own.npz {options}", fragment)
    np.savez("own.npz", x=x, y=y)
    np.savez("test.npz", x=pictures(6, (6, 6)), y=y)
    refuse("own.npz --test test.npz", "test.npz: images: are (6, 6, 1), must be (6, 5, 1)")
    np.savez("test.npz", x=x, y=y + 1)
    refuse("own.npz --test test.npz", 'column y: got "2", must be a class of the training rows')
    refuse("own.npz --test own.npz own.npz", "--test: got 2 paths, must be one")
    np.savez("own.npz", x_train=x, y_train=y, x_test=x, y_test=y, x_val=x[:, 1:], y_val=y)
    refuse("own.npz", "validation rows of x")


def test_hostile_archives_are_refused(monkeypatch):
    label = _npy((6,)) + bytes(6)
    huge = _npy((1 << 20, 1 << 20, 1 << 20))
    for content in (
        _zip_of(x=huge + bytes(9), y=label),  # promises what it does not hold
        _zip_of(x=_npy((6, 5, 5)) + bytes(9), y=label),
        _zip_of(x=b"text", y=label),
        _zip_of(x=b"", y=label),
        b"PK\x03\x04 cut short",
        b"",
    ):
        Path("own.npz").write_bytes(content)
        refuse("own.npz", "own.npz: file: cannot be read")
    np.savez("own.npz", x=np.array([{}] * 3), y=np.arange(3))  # a pickle
    refuse("own.npz", "own.npz", "without objects")
    monkeypatch.setattr(npz, "UNPACKED_LIMIT", 1 << 20)
    np.savez_compressed("own.npz", x=np.zeros((30, 300, 300), np.uint8), y=np.arange(30) % 2)
    assert Path("own.npz").stat().st_size < 1 << 14
    refuse("own.npz", "unpacks to 2 MiB, at most 1 MiB are allowed")


@given(st.data())
def test_a_damaged_archive_never_crashes(data):
    np.savez_compressed("whole.npz", x=pictures(6), y=np.arange(6) % 2)
    raw = bytearray(Path("whole.npz").read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    Path("own.npz").write_bytes(raw)
    done = scdn("data", "add", "own", "own.npz")
    assert done.returncode in (0, 2)
    if done.returncode:
        refused(done, 1)


# --- folders of images ----------------------------------------------------------------------------


def write_folder(folder, images, classes=("cat", "dog"), suffix="png", **options):
    for number, image in enumerate(images):
        path = Path(folder) / classes[number % len(classes)] / f"{number:04d}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(path, **options)


@pytest.mark.parametrize("shape", [(6, 5), (6, 5, 3)])
def test_a_folder_of_images_is_read_back(shape):
    images = pictures(10, shape)
    write_folder("set/train", images)
    write_folder("set/test", images[:3])
    data, _ = add("set")
    assert data.classes == ("cat", "dog")
    order = [*range(0, 10, 2), *range(1, 10, 2)]  # class by class
    np.testing.assert_array_equal(data.train["image"].reshape(10, *shape), images[order])
    assert data.train_y.tolist() == [0] * 5 + [1] * 5
    assert data.test_y.tolist() == [0, 0, 1]
    explicit, _ = add("set/train --test set/test")
    np.testing.assert_array_equal(explicit.test["image"], data.test["image"])
    drawn, _ = add("set/train --seed 3")
    assert (len(drawn.train_y), len(drawn.test_y)) == (8, 2)
    Path("set/test").rename("held-out")
    assert len(add("set --test held-out")[0].test_y) == 3


def test_one_colour_image_makes_all_colour_and_alpha_is_dropped():
    write_folder("set", pictures(6))
    write_folder("set", pictures(1, (6, 5, 4)), suffix="webp", lossless=True)
    data, _ = add("set")
    assert data.train["image"].shape[1:] == (6, 5, 3)


def _smooth(count, side=48):
    """Return images that compress as photographs do."""
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (count, 6, 6, 3), dtype=np.uint8)
    return [np.asarray(Image.fromarray(x).resize((side, side), 3)) for x in coarse]


@pytest.mark.parametrize(
    ("suffix", "options"), [("jpg", {"quality": 75}), ("png", {}), ("webp", {"quality": 60})]
)
def test_stored_pictures_take_no_more_than_their_files(suffix, options):
    write_folder("set", _smooth(60), suffix=suffix, **options)
    data, size = add("set")
    files = sorted(Path("set").rglob(f"*.{suffix}"))
    assert size <= sum(path.stat().st_size for path in files)
    stored = np.concatenate([data.train["image"], data.test["image"]])
    decoded = [np.asarray(Image.open(path).convert("RGB")) for path in files]
    assert sorted(map(bytes, stored)) == sorted(image.tobytes() for image in decoded)


def test_wrong_folders_are_refused(monkeypatch):
    write_folder("set", pictures(6))
    Path("set/cat/notes.txt").write_text("no")
    Path("set/stray.png").write_bytes(Path("set/cat/0000.png").read_bytes())
    Path("set/empty").mkdir()
    refuse("set", "set/cat/notes.txt: is no image", "set/stray.png: is in no class folder",
           "set/empty: has no images", lines=3)  # fmt: skip
    Path("set/cat/notes.txt").unlink()
    Path("set/stray.png").unlink()
    Path("set/empty").rmdir()
    Path("set/.hidden").write_text("ignored")
    write_folder("other", pictures(2, (6, 6)), classes=("cat", "cow"))
    refuse("set --test other", "other/cow: is no known class, must be a class of the training rows")
    Path("other/cow/0001.png").rename("set/dog/wide.png")
    Path("other/cat/0000.png").rename("set/dog/wider.png")
    refuse("set", "set/dog/wide.png: has 6×6 pixels, must have 5×6 as set/cat/0000.png", lines=2)
    Path("set/dog/wide.png").unlink()
    Path("set/dog/wider.png").unlink()
    whole = Path("set/dog/0001.png").read_bytes()
    for content in (whole[:-30], b"", b"rubbish", whole[:20]):
        Path("set/dog/0001.png").write_bytes(content)
        Path("set/cat/0000.png").write_bytes(content)
        refuse("set", "set/cat/0000.png: cannot be decoded", "set/dog/0001.png", lines=2)
    Path("set/dog/0001.png").write_bytes(whole)
    Image.fromarray(np.zeros((6, 5), np.uint16)).save("set/cat/0000.png")
    refuse("set", "has mode I;16, must have 8 bits per channel")
    Image.new("1", (10_000, 10_000)).save("set/cat/0000.png")  # 100 million pixels in 12 kB
    refuse("set", "set/cat/0000.png: cannot be decoded")
    Path("set/cat/0000.png").write_bytes(whole)
    monkeypatch.setattr(npz, "UNPACKED_LIMIT", 100)
    refuse("set", "unpacks to")
    refuse("other", "other/cat: has no images", "other/cow: has no images", lines=2)
    refuse("nowhere --label y", "nowhere: file: does not exist")
    refuse("set/cat/0002.png", "has an unknown type, must be .csv, .parquet, .npz, IDX files, or a")
    refuse("set --label y", "--label: is not for a folder of images")
    refuse("set --task regression", "--task")


# --- tables ---------------------------------------------------------------------------------------


def write_stations():
    """Write the files of two stations with the same columns; the north has the labels too."""
    rows = range(10)
    for number, name in enumerate(("north", "south")):
        frame = pd.DataFrame({"time": [f"{row:02d}" for row in rows]})
        frame = frame.assign(rain=[row % 3 + number / 10 for row in rows], wind=rows)
        if name == "north":
            frame["storm"] = [("no", "yes")[row % 2] for row in rows]
        frame.to_csv(f"{name}.csv", index=False)


def test_stations_may_have_equal_columns():
    write_stations()
    data, _ = add("north=north.csv south=south.csv --key time --label storm")
    assert data.features == ("north.rain", "north.wind", "south.rain", "south.wind")
    assert data.parties["south"] == ("south.rain", "south.wind")
    assert (data.label, data.key) == ("storm", "time")
    np.testing.assert_allclose(data.train["table"][:, 2], data.train["table"][:, 0] + 0.1)


def test_a_label_that_several_stations_have_is_named_with_its_party():
    write_stations()
    frame = pd.read_csv("south.csv", dtype={"time": str})
    frame = frame.assign(storm=pd.read_csv("north.csv")["storm"], level=1.5)
    frame.to_csv("south.csv", index=False)
    files = "north=north.csv south=south.csv --key time"
    refuse_quietly(f"{files} --label storm", "is in the file of north and south", "PARTY.COLUMN")
    data, _ = add(f"{files} --label north.storm")
    assert "south.storm" not in data.features  # it would give the labels away
    assert "south.level" in data.features


def test_test_files_of_parties_are_aligned_too():
    write_stations()
    for name in ("north", "south"):
        frame = pd.read_csv(f"{name}.csv", dtype={"time": str})
        frame[:6].to_csv(f"{name}-train.csv", index=False)
        frame[6:][::-1].to_csv(f"{name}-test.csv", index=False)
    training = "north=north-train.csv south=south-train.csv --key time --label storm"
    data, _ = add(f"{training} --test north=north-test.csv south=south-test.csv")
    assert data.test["table"][:, 1].tolist() == [6, 7, 8, 9]
    assert data.test["table"][:, 3].tolist() == [6, 7, 8, 9]
    assert scdn("data", "remove", "own").returncode == 0
    refuse_quietly(f"{training} --test north=north-test.csv", "south: has no file")
    refuse(f"{training} --test north-test.csv south-test.csv", "--test: has no party")
    frame[6:].drop(columns="wind").to_csv("south-test.csv", index=False)
    refuse_quietly(f"{training} --test north=north-test.csv south=south-test.csv",
                   "south-test.csv: wind: no such column")  # fmt: skip


def refuse_quietly(line, *fragments):
    """As `refuse`, after the lines of the alignment's report."""
    refuse(line, *fragments, lines=None)


HOLES = "id,a,b,y\n" + "".join(f"k{n},{n},{n * n},{n % 2}\n" for n in range(10))
HOLES = HOLES.replace("k3,3,", "k3,,").replace("k7,7,49", "k7,7,").replace("k8,8,", "k8,NA,")


def test_empty_cells_are_refused_by_row_and_key_of_the_file():
    Path("own.csv").write_text(HOLES)
    refuse("own.csv --label y --key y", "--key: got the label 'y'")
    refuse("own.csv --label y --key id",
           "own.csv: row 4, id k3, column a: got nothing, must be a finite number; --missing",
           "row 8, id k7, column b", "row 9, id k8, column a", lines=3)  # fmt: skip
    # The rows are those of the file, though the alignment sorts and drops some.
    Path("left.csv").write_text("id,c\n" + "".join(f"k{n},1\n" for n in (9, 8, 5, 3, 2, 1, 0)))
    refuse_quietly("r=own.csv l=left.csv --label y --key id", "own.csv: row 4, id k3, column a")
    Path("own.csv").write_text(HOLES.replace("k5,5,25,1", "k5,5,25,"))
    refuse("own.csv --label y --key id --missing mean", "row 6, id k5, column y: is empty")


def test_rows_with_empty_cells_are_dropped():
    Path("own.csv").write_text(HOLES.replace("k5,5,25,1", "k5,5,25,"))
    data, _ = add("own.csv --label y --key id --missing drop")
    rows = np.concatenate([data.train["table"], data.test["table"]])
    assert sorted(rows[:, 0]) == [0, 1, 2, 4, 6, 9]
    assert "without 4 rows with empty cells" in data.provenance
    Path("own.csv").write_text("id,a,y\n1,,0\n2,,1\n")
    refuse_after_removal("own.csv --label y --missing drop", "all have empty cells")


def test_empty_cells_take_the_mean_of_the_training_rows():
    Path("own.csv").write_text(HOLES)
    Path("test.csv").write_text("id,a,b,y\nz,,1,0\n")
    data, _ = add("own.csv --label y --key id --missing mean --test test.csv")
    mean = np.mean([0, 1, 2, 4, 5, 6, 7, 9])
    assert data.train["table"][[3, 8], 0].tolist() == [mean, mean]
    assert data.test["table"][0].tolist() == [mean, 1]
    assert "4 empty cells filled" in data.provenance
    Path("own.csv").write_text("id,a,y\n1,,0\n2,,1\n3,,1\n4,,0\n5,,0\n")
    refuse_after_removal("own.csv --label y --missing mean", "column a: has no value")
    Path("own.csv").write_text(HOLES.replace("k3,,", "k3,three,"))
    refuse("own.csv --label y --key id --missing mean", 'row 4, id k3, column a: got "three"')


_cells = st.one_of(st.floats(-1e300, 1e300), st.floats(-(2.0**90), 2.0**90, width=32))


@given(hnp.arrays(np.float64, (6, 3), elements=_cells))
def test_a_stored_table_is_read_back_to_the_last_bit(table):
    y = np.arange(6) % 2
    rows = {"train": {"table": table}, "test": {"table": table[:2]}}
    store.put(
        Dataset("own", **rows, train_y=y, test_y=y[:2], classes=("a", "b"), features=tuple("abc"))
    )
    data = load("own")
    assert data.train["table"].tobytes() == table.tobytes()
    assert data.test["table"].tobytes() == table[:2].tobytes()
    assert data.train_y.dtype == np.int64


@pytest.mark.parametrize("kind", ["csv", "parquet", "npz"])
def test_a_stored_table_takes_no_more_than_its_file(kind):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(3000, 6)).round(3), columns=list("abcdef"))
    frame["y"] = rng.integers(0, 3, len(frame))
    path = Path(f"own.{kind}")
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.astype(dict.fromkeys("abcdef", "float32")).to_parquet(path)
    else:
        np.savez_compressed(path, **{key: frame[key].to_numpy() for key in frame})
    _, size = add(f"own.{kind} --label y")
    assert size <= path.stat().st_size


# --- the store and the commands -------------------------------------------------------------------


def test_data_sets_that_earlier_versions_stored_are_read(cache):
    x, y = pictures(8, (3, 4, 1)), np.arange(8) % 2
    table = np.random.default_rng(0).normal(size=(8, 2))
    words = {
        "name": "old", "task": "classification", "classes": ["a", "b"], "features": ["p", "q"],
        "parties": {"one": ["p"], "two": ["q"]}, "provenance": "drawn",
    }  # fmt: skip
    buffer = io.BytesIO()
    np.savez(buffer, **{
        "train_y": y, "test_y": y, "train.image": x, "test.image": x, "train.table": table,
        "test.table": table, "words": np.array(json.dumps(words)),
    })  # fmt: skip
    cache.mkdir()
    digest = hashlib.sha256(buffer.getvalue()).hexdigest()
    (cache / f"old.{digest}.npz").write_bytes(buffer.getvalue())
    data = load("old")
    assert isinstance(data, Dataset)
    np.testing.assert_array_equal(data.train["image"], x)
    np.testing.assert_array_equal(data.test["table"], table)
    assert data.parties == {"one": ("p",), "two": ("q",)}
    assert data.label == ""


def test_show_and_remove():
    write_stations()
    add("north=north.csv south=south.csv --key time --label storm")
    shown = scdn("data", "show", "own")
    for text in (
        *("8 training rows, 2 test rows", "party south: south.rain, south.wind"),
        *("label: storm, key: time", "2 classes (and their training rows): no ("),
        *('dataset = "own"', 'split = "parties"', str(store.stored_files()["own"])),
    ):
        assert text in shown.stdout
    assert scdn("data", "remove", "own").returncode == 0
    assert "own" not in dataset_names()
    assert "is not in" in refused(scdn("data", "remove", "own"), 1)[0]
    assert "is part of scdn" in refused(scdn("data", "remove", "occupancy"), 1)[0]
    assert "is unknown" in refused(scdn("data", "show", "own"), 1)[0]
    assert "part of scdn" in scdn("data", "show", "occupancy").stdout


def test_a_name_that_cannot_be_stored_is_refused_before_anything_is_read():
    faults = refused(scdn("data", "add", "../away", "nowhere.csv", "--label", "y"), 1)
    assert "lower-case letters" in faults[0]


def test_long_work_is_shown_and_short_work_is_not():
    images = np.zeros((1200, 4, 4), np.uint8)
    write_folder("set", images)
    done = scdn("data", "add", "own", "set")
    assert "1200/1200  images decoded" in done.stderr
    write_folder("few", images[:20])
    assert scdn("data", "add", "own", "few").stderr == ""
    np.savez("large.npz", x=np.zeros((300, 256, 256), np.uint8), y=np.arange(300) % 2)
    assert "18/18  MiB compressed" in scdn("data", "add", "own", "large.npz").stderr


@pytest.mark.parametrize("split", ["strips", "patches", "random", "blocks"])
def test_an_imported_image_set_trains(split):
    assert scdn("data", "new", "-o", "sample").returncode == 0
    add("sample/shapes")
    settings = ["learning.rounds=2", "learning.dataset=own", f"learning.split={split}"]
    words = [word for setting in settings for word in ("--set", setting)]
    done = scdn("run", ROOT / "examples" / "quick.toml", *words, "--out", "run")
    assert done.returncode == 0, done.stderr
    assert json.loads(Path("run/summary.json").read_text())["metrics"]["top1"] > 0


# --- for real -------------------------------------------------------------------------------------


@pytest.mark.skipif(not FASHION.exists(), reason="dataset-fashion-mnist is NOT installed or tested")
def test_fashion_mnist_is_imported_whole():
    data, size = add(str(FASHION))
    assert data.train["image"].shape == (60_000, 28, 28, 1)
    assert np.bincount(data.test_y).tolist() == [1000] * 10
    assert size <= sum(path.stat().st_size for path in FASHION.iterdir())


@pytest.mark.skipif(
    not OCCUPANCY.exists(), reason=f"{OCCUPANCY.name} is absent: NOT tested for real"
)
def test_room_occupancy_by_node_files():
    rows = pd.read_csv(OCCUPANCY)
    rows["when"] = rows["Date"] + " " + rows["Time"]
    test = rows["Date"].isin(["2017-12-23", "2018-01-10"])
    for part, some in (("train", rows[~test]), ("test", rows[test])):
        for node in ("S1", "S2", "S5"):
            own = some[["when", *(name for name in rows if name.startswith(f"{node}_"))]]
            own = own.rename(columns=lambda name, node=node: name.removeprefix(f"{node}_"))
            own.to_csv(f"{node}-{part}.csv", index=False)
        some[["when", "Room_Occupancy_Count"]].to_csv(f"count-{part}.csv", index=False)
    parties = ("S1", "S2", "S5", "count")
    files, tests = (
        " ".join(f"{party}={party}-{part}.csv" for party in parties) for part in ("train", "test")
    )
    data, size = add(f"{files} --key when --label Room_Occupancy_Count --test {tests}")
    assert (len(data.train_y), len(data.test_y)) == (6353, 3776)
    assert data.parties["S2"] == ("S2.Temp", "S2.Light", "S2.Sound")
    assert data.classes == ("0", "1", "2", "3")
    assert size <= sum(Path(f"{party}-train.csv").stat().st_size for party in parties)
