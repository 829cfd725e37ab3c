"""Laws of the reader of new rows, against cells that are parsed one by one."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from scdn.data.dataset import Dataset
from scdn.data.input_format import InputFormat
from scdn.data.new_rows import read_new_rows
from scdn.errors import InputError

FEATURES = ("u", "v", "w")
TABLE = np.arange(15.0).reshape(5, 3)
FORM = InputFormat.from_dataset(
    Dataset(
        "small",
        {"table": TABLE},
        np.zeros(5, int),
        {"table": TABLE},
        np.zeros(5, int),
        classes=("x", "y"),
        features=FEATURES,
        parties={"p": ("u", "v"), "q": ("w",)},
        key="id",
    ),
    "standard",
)

NUMBERS = st.floats(-1e6, 1e6).map(lambda value: repr(value))
CELLS = st.one_of(NUMBERS, st.just(""), st.sampled_from(["inf", "-inf", "two", "1e999", "NA", "0"]))
COLUMNS = st.lists(
    st.sampled_from([*FEATURES, "id", "label", "other"]), min_size=1, max_size=6, unique=True
)


def parsed(text):
    """Return a cell's number, NaN where it is empty, or None where it is neither."""
    if text in ("", "NA"):
        return math.nan
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def read_or_refuse(rows):
    try:
        return read_new_rows(rows, FORM), []
    except InputError as error:
        return None, error.lines()


@given(st.data(), COLUMNS, st.integers(0, 4))
def test_a_file_is_read_cell_by_cell_or_refused_in_lines(tmp_path_factory, data, columns, count):
    rows = [[data.draw(CELLS) for _ in columns] for _ in range(count)]
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    lines = [",".join(cells) for cells in (columns, *rows)]
    path.write_text("\n".join(lines) + "\n")
    given_columns = [name for name in FEATURES if name in columns]
    features = [[parsed(row[columns.index(name)]) for name in given_columns] for row in rows]
    blank_line = len(columns) == 1 and [""] in rows  # which is no row of a CSV file
    new, lines = read_or_refuse(path)
    if blank_line:
        return
    if new is None:
        assert all("\n" not in line and str(path) in line for line in lines)
        assert any(value is None for row in features for value in row) or not (
            rows and given_columns
        )
        return
    assert new.count == count > 0
    assert new.columns.tolist() == [name in columns for name in FEATURES]
    expected = np.full((count, len(FEATURES)), np.nan)
    expected[:, new.columns] = features
    np.testing.assert_allclose(new.inputs["table"], expected, rtol=1e-15)
    assert (new.key == "id") == ("id" in columns)


@given(
    st.lists(st.integers(0, 9), unique=True, min_size=1),
    st.lists(st.integers(0, 9), unique=True, min_size=1),
)
def test_parties_rows_are_joined_by_their_keys(of_p, of_q):
    p = pd.DataFrame({"id": of_p, "u": [10.0 * k for k in of_p], "v": [20.0 * k for k in of_p]})
    q = pd.DataFrame({"id": [float(k) for k in of_q], "w": [30.0 * k for k in of_q]})
    new = read_new_rows({"p": p, "q": q}, FORM)
    assert set(new.keys) == {str(key) for key in {*of_p, *of_q}}
    for key, row in zip(new.keys, new.inputs["table"], strict=True):
        number = int(key)
        assert np.isnan(row[:2]).all() if number not in of_p else row[0] == 10 * number
        assert np.isnan(row[2]) if number not in of_q else row[2] == 30 * number


@given(st.integers(0, 3), st.integers(0, 4), st.booleans())
def test_an_array_needs_the_shape_of_the_data_set(count, width, infinite):
    array = np.ones((count, width))
    if infinite and array.size:
        array[-1, -1] = np.inf
    new, lines = read_or_refuse(array)
    if new is None:
        assert len(lines) == 1
        assert width != 3 or count == 0 or infinite
        return
    assert (new.count, new.columns.all(), width) == (count, True, 3)
    assert np.array_equal(new.inputs["table"], array)
