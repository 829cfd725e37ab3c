"""Feature splits: each column has one party, and no party reads another's columns."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scdn.data.dataset import Dataset
from scdn.errors import InputError
from scdn.learning.feature_split import (
    newcomer_view,
    row_shape,
    split_features,
)

HOWS = ("random", "blocks", "strips", "patches", "modality")
KINDS = {"random": "table", "blocks": "image", "strips": "image", "patches": "image"}


def dataset(kind="both", table=7, image=(12, 10, 3), parties=None):
    rows = {}
    if kind in ("table", "both"):
        rows["table"] = np.zeros((2, table))
    if kind in ("image", "both"):
        rows["image"] = np.zeros((2, *image), np.uint8)
    return Dataset(
        name="small",
        train=rows,
        train_y=np.array([0, 1]),
        test=rows,
        test_y=np.array([0, 1]),
        classes=("no", "yes"),
        features=tuple(f"f{n}" for n in range(table)) if "table" in rows else (),
        parties=parties or {},
    )


def named(**parties):
    return dataset("table", parties={name: tuple(columns) for name, columns in parties.items()})


def same(one, other):
    return (
        one.modality == other.modality
        and one.shape == other.shape
        and np.array_equal(one.columns, other.columns)
        and np.array_equal(one.held, other.held)
    )


def is_sound(view, shape):
    """Check what holds for every view."""
    assert view.columns.shape == view.held.shape == (prod(view.shape),)
    assert view.held.any()
    assert set(view.columns) == set(view.held_columns)  # nothing of others is ever read
    assert view.held_columns.min() >= 0
    assert view.held_columns.max() < prod(shape)
    assert (view.columns[~view.held] == view.held_columns[0]).all()
    return True


@st.composite
def cases(draw):
    how = draw(st.sampled_from(HOWS))
    kind = "both" if how == "modality" else KINDS[how]
    if how in ("random", "blocks"):
        kind = draw(st.sampled_from(["table", "image"]))
    table = draw(st.integers(1, 9))
    image = draw(st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 3)))
    return dataset(kind, table, image), how, draw(st.integers(1, 9)), draw(st.integers(0, 99))


def tried(function, *arguments):
    """Return the result, or None where the data set cannot be split this way."""
    try:
        return function(*arguments)
    except InputError:
        assume(False)


@given(cases())
def test_a_split_is_a_partition(case):
    data, how, count, seed = case
    views = tried(split_features, data, how, count, seed)
    assert len(views) == count
    for modality in {view.modality for view in views}:
        shape = row_shape(data, modality)
        of_it = [view for view in views if view.modality == modality]
        together = np.concatenate([view.columns for view in of_it])
        np.testing.assert_array_equal(np.sort(together), np.arange(prod(shape)))
        assert all(is_sound(view, shape) and view.held.all() for view in of_it)
        sizes = [len(view.columns) for view in of_it]
        if how in ("random", "blocks"):
            assert max(sizes) - min(sizes) <= 1
    if how == "modality":
        assert [view.modality for view in views] == (["table", "image"] * count)[:count]


@given(cases())
def test_equal_seeds_give_equal_splits(case):
    data, how, count, seed = case
    first = tried(split_features, data, how, count, seed)
    assert all(map(same, first, split_features(data, how, count, seed)))
    assert same(
        newcomer_view(data, how, count, seed, "n"), newcomer_view(data, how, count, seed, "n")
    )


def test_another_seed_or_name_gives_another_draw():
    data = dataset("image")
    assert not same(
        split_features(data, "random", 2, 0)[0], split_features(data, "random", 2, 1)[0]
    )
    assert not same(
        newcomer_view(data, "random", 2, 0, "a"), newcomer_view(data, "random", 2, 0, "b")
    )
    offsets = {int(newcomer_view(data, "strips", 4, 0, str(n)).held_columns[0]) for n in range(20)}
    assert len(offsets) > 3


@given(cases(), st.integers(0, 9))
def test_a_newcomer_is_as_large_as_a_first_party_and_stays_inside(case, name):
    data, how, count, seed = case
    views = tried(split_features, data, how, count, seed)
    new = newcomer_view(data, how, count, seed, str(name))
    shape = row_shape(data, new.modality)
    assert is_sound(new, shape)
    assert new.held.all()
    assert len(new.held_columns) == len(new.columns)
    assert new.shape == next(view.shape for view in views if view.modality == new.modality)
    if new.modality == "image" and len(new.shape) == 3:  # pixels that lie beside each other
        pixels = np.stack(np.unravel_index(new.columns, shape))
        assert tuple(pixels.max(1) - pixels.min(1) + 1) == new.shape


@given(cases(), st.integers(0, 15))
def test_padding_and_masking_add_only_zeros(case, least):
    data, how, count, seed = case
    for view in tried(split_features, data, how, count, seed):
        shape = row_shape(data, view.modality)
        wide, masked = view.padded_image(least), view.masked(shape)
        for changed in (wide, masked, masked.padded_image(least), wide.masked(shape)):
            assert is_sound(changed, shape)
            np.testing.assert_array_equal(changed.held_columns, view.held_columns)
            assert changed.held.sum() == len(view.columns)
        assert len(masked.columns) == prod(shape)
        assert (masked.columns[masked.held] == np.flatnonzero(masked.held)).all()
        if len(view.shape) == 3:
            assert wide.shape == (shape[0], *(max(side, least) for side in view.shape[1:]))
            assert masked.shape == shape
            assert same(wide.padded_image(least), wide)
        else:
            assert same(wide, view)
            longer = view.padded_columns(len(view.columns) + least)
            assert is_sound(longer, shape)
            np.testing.assert_array_equal(longer.columns[longer.held], view.columns)


def test_image_columns_are_numbered_channel_by_channel():
    top, bottom = split_features(dataset("image", image=(4, 5, 3)), "strips", 2, 0)
    pixels = np.arange(60).reshape(3, 4, 5)
    np.testing.assert_array_equal(top.columns.reshape(top.shape), pixels[:, :2])
    np.testing.assert_array_equal(bottom.columns.reshape(bottom.shape), pixels[:, 2:])


def test_padding_is_centred():
    view = split_features(dataset("image", image=(2, 2, 1)), "strips", 2, 0)[1].padded_image(4)
    assert view.shape == (1, 4, 4)
    held = np.zeros((4, 4), bool)
    held[1, 1:3] = True
    np.testing.assert_array_equal(view.held.reshape(4, 4), held)
    assert (view.columns[~view.held] == 2).all()


@pytest.mark.parametrize(
    ("count", "cell"), [(1, (12, 12)), (4, (6, 6)), (6, (6, 4)), (5, (12, 3)), (12, (4, 3))]
)
def test_patches_form_the_squarest_grid(count, cell):
    views = split_features(dataset("image", image=(12, 12, 1)), "patches", count, 0)
    assert views[0].shape == (1, *cell)


def test_strips_of_mixed_data_use_the_image():
    assert {view.modality for view in split_features(dataset(), "strips", 3, 0)} == {"image"}
    assert {view.modality for view in split_features(dataset(), "patches", 4, 0)} == {"image"}


def test_newcomers_get_either_modality():
    kinds = {newcomer_view(dataset(), "modality", 4, 0, str(n)).modality for n in range(20)}
    assert kinds == {"image", "table"}


def test_a_data_sets_own_map_of_parties_is_followed():
    data = named(bank=["f4", "f1"], shop=["f0", "f1", "f6"])
    bank, shop = split_features(data, "parties", 2, 0)
    assert bank.held_columns.tolist() == [1, 4]
    assert shop.held_columns.tolist() == [0, 1, 6]
    assert same(split_features(data, "parties", 2, 0, ["shop", "bank"])[0], shop)
    assert same(split_features(data, "parties", 2, 0, ["d0", "d1"])[0], bank)
    for n in range(5):
        new = newcomer_view(data, "parties", 2, 0, str(n))
        assert same(new, bank) or same(new, shop)


@pytest.mark.parametrize(
    ("data", "how", "count", "words"),
    [
        (dataset("table"), "random", 8, "8 with split random need 8 columns, there are 7"),
        (dataset("table"), "blocks", 8, "there are 7"),
        (dataset("image"), "strips", 13, "need 13 rows of pixels, there are 12"),
        (dataset("image"), "patches", 11, "need 11 columns of pixels, there are 10"),
        (dataset(), "modality", 16, "need 8 columns, there are 7"),
        (dataset(image=(2, 9, 1)), "modality", 6, "need 3 rows of pixels, there are 2"),
        (dataset(), "modality", 1, "modality with 1 party, needs at least 2"),
        (dataset("table"), "strips", 2, "strips with only table rows, needs images"),
        (dataset("table"), "patches", 2, "needs images"),
        (dataset("image"), "modality", 2, "modality with only image rows, needs images and a"),
        (dataset(), "random", 2, 'use split = "modality"'),
        (dataset(), "blocks", 2, 'use split = "modality"'),
        (dataset("table"), "parties", 2, "the data names no parties"),
        (named(a=["f0"], b=["f1"]), "parties", 3, "got 3, the data names 2: a, b"),
        (named(a=["f0"], b=[]), "parties", 2, "parties.b: no columns"),
        (dataset("table"), "halves", 2, 'got "halves", must be one of random, blocks'),
        (dataset("table"), "random", 0, "got 0, must be at least 1"),
    ],
)
def test_an_impossible_split_is_refused_in_one_line(data, how, count, words):
    for function in (
        lambda: split_features(data, how, count, 0),
        lambda: newcomer_view(data, how, count, 0, ""),
    ):
        with pytest.raises(InputError) as refused:
            function()
        (line,) = refused.value.lines()
        assert line.startswith("small: ")
        assert words in line


def test_partly_matching_names_are_refused():
    data = named(bank=["f1"], shop=["f0"])
    with pytest.raises(InputError, match="devices bank, d1, the data names bank, shop"):
        split_features(data, "parties", 2, 0, ["bank", "d1"])
