"""Which party holds which features: a data set's columns split among parties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt, prod
from typing import Literal, get_args

import numpy as np

from scdn.arrays import IntArray, Mask
from scdn.data.dataset import Dataset
from scdn.errors import format_value, input_error
from scdn.rng import generator

SplitKind = Literal["random", "blocks", "strips", "patches", "modality", "parties"]
Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class FeatureView:
    """The columns of a data set that one party holds.

    Attributes
    ----------
    modality
        `"image"` or `"table"`.
    columns
        Positions in the modality's flattened rows; images flatten as channel, row, column.
    held
        False where the model sees a zero; there `columns` repeats one that the party does hold,
        so that other parties' columns are never read.
    shape
        The shape of a row as a model takes it: (columns,) or (channels, height, width).
    """

    modality: str
    columns: IntArray
    held: Mask
    shape: Shape

    @property
    def held_columns(self) -> IntArray:
        """Return the columns that the party holds, in order and without repetitions."""
        return np.unique(self.columns[self.held])

    def padded_image(self, least_size: int) -> FeatureView:
        """Pad an image with zeros to a least height and width; return flat views unchanged."""
        if len(self.shape) != 3:
            return self
        channels, height, width = self.shape
        tall, wide = max(height, least_size), max(width, least_size)
        top, left = (tall - height) // 2, (wide - width) // 2
        columns = np.full((channels, tall, wide), self.held_columns[0])
        held = np.zeros(columns.shape, bool)
        inside = np.s_[:, top : top + height, left : left + width]
        columns[inside] = self.columns.reshape(self.shape)
        held[inside] = self.held.reshape(self.shape)
        return FeatureView(self.modality, columns.ravel(), held.ravel(), columns.shape)

    def padded_columns(self, size: int) -> FeatureView:
        """Pad flat columns with zeros at the end."""
        padding = size - len(self.columns)
        columns = np.pad(self.columns, (0, padding), constant_values=self.held_columns[0])
        return FeatureView(self.modality, columns, np.pad(self.held, (0, padding)), columns.shape)

    def masked(self, shape: Shape) -> FeatureView:
        """Extend the view to all columns of the modality, with zeros for other parties' columns.

        `shape` is that of a whole row; a flat view stays flat.
        """
        all_columns = np.arange(prod(shape))
        held = np.isin(all_columns, self.held_columns)
        columns = np.where(held, all_columns, self.held_columns[0])
        view_shape = shape if len(self.shape) == 3 else all_columns.shape
        return FeatureView(self.modality, columns, held, view_shape)


def row_shape(dataset: Dataset, modality: str) -> Shape:
    """Return a row's shape as a model takes it: (columns,) or (channels, height, width)."""
    return model_shape(dataset.train[modality].shape[1:])


def model_shape(shape: Shape) -> Shape:
    """Return the shape of a stored row as a model takes it: an image's channels come first."""
    return (shape[-1], *shape[:-1])


def split_features(
    dataset: Dataset, how: str, count: int, seed: int, ids: Sequence[str] | None = None
) -> tuple[FeatureView, ...]:
    """Return the views of the first `count` parties, which hold each column exactly once.

    `"parties"` follows the data set's own map of columns to parties instead: by name if `ids` are
    among its names, and the others are then absent; else in its order.
    """
    _check(dataset, how, count)
    match how:
        case "random" | "blocks":
            (modality,) = dataset.train
            columns = np.arange(prod(row_shape(dataset, modality)))
            if how == "random":
                columns = generator(seed, "split").permutation(len(columns))
            return _flat_views(modality, columns, count)
        case "strips":
            return _grid_cells(row_shape(dataset, "image"), count, 1)
        case "patches":
            return _grid_cells(row_shape(dataset, "image"), *_grid(count))
        case "modality":
            return _alternating(dataset, count)
        case _:
            return _mapped(dataset, count, ids)


def newcomer_view(dataset: Dataset, how: str, count: int, seed: int, name: str) -> FeatureView:
    """Draw the view of a device that joins later, as large as that of a first party.

    Its columns may overlap those of others. `count` is the number of first parties. With
    `"parties"` it has the columns of the party of its name, or of one that is drawn.
    """
    _check(dataset, how, count)
    draw = generator(seed, f"split:{name}")
    if how == "parties":
        drawn = list(dataset.parties)[draw.integers(len(dataset.parties))]
        return _of_party(dataset, name if name in dataset.parties else drawn)
    first_views = split_features(dataset, how, count, seed)
    like = first_views[draw.integers(2)] if how == "modality" else first_views[0]
    shape = row_shape(dataset, like.modality)
    size = len(like.columns)
    if how == "random":
        return _flat_view(like.modality, draw.choice(prod(shape), size, replace=False))
    if like.modality == "table" or how == "blocks":
        start = draw.integers(prod(shape) - size + 1)
        return _flat_view(like.modality, np.arange(start, start + size))
    _, height, width = like.shape
    top = int(draw.integers(shape[1] - height + 1))
    left = int(draw.integers(shape[2] - width + 1))
    return _cell(shape, top, left, height, width)


# --- checks ---------------------------------------------------------------------------------------


def _check(dataset: Dataset, how: str, count: int) -> None:
    if how not in get_args(SplitKind):
        allowed = f"must be one of {', '.join(get_args(SplitKind))}"
        raise input_error(dataset.name, "split", f"got {format_value(how)}", allowed)
    if count < 1:
        raise input_error(dataset.name, "parties", f"got {count}", "must be at least 1")
    modalities = sorted(dataset.train)
    got = f"{how} with only {modalities[0]} rows" if len(modalities) == 1 else f"{how} with both"
    if how in ("strips", "patches") and "image" not in modalities:
        raise input_error(dataset.name, "split", got, "needs images")
    if how == "modality":
        if len(modalities) < 2:
            raise input_error(dataset.name, "split", got, "needs images and a table")
        if count < 2:
            raise input_error(dataset.name, "parties", "modality with 1 party", "needs at least 2")
    if how in ("random", "blocks") and len(modalities) > 1:
        allowed = 'a party holds one kind of rows: use split = "modality"'
        raise input_error(dataset.name, "split", f"{got} images and a table", allowed)
    if how == "parties":
        _check_map(dataset, count)
    else:
        _check_size(dataset, how, count)


def _check_map(dataset: Dataset, count: int) -> None:
    if not dataset.parties:
        got = "the data names no parties"
        raise input_error(dataset.name, "split", got, "choose another split")
    if count > len(dataset.parties):
        allowed = f"the data names {len(dataset.parties)}: {', '.join(dataset.parties)}"
        raise input_error(dataset.name, "parties", f"got {count}", allowed)
    for party, columns in dataset.parties.items():
        if not columns:
            raise input_error(dataset.name, f"parties.{party}", "no columns", "needs at least 1")


def _check_size(dataset: Dataset, how: str, count: int) -> None:
    rows, across = _grid(count)
    match how:
        case "random" | "blocks":
            (modality,) = dataset.train
            limits = [(count, prod(row_shape(dataset, modality)), "columns")]
        case "strips":
            limits = [(count, row_shape(dataset, "image")[1], "rows of pixels")]
        case "patches":
            _, height, width = row_shape(dataset, "image")
            limits = [(rows, height, "rows of pixels"), (across, width, "columns of pixels")]
        case _:
            limits = [
                (count - count // 2, row_shape(dataset, "table")[0], "columns"),
                (count // 2, row_shape(dataset, "image")[1], "rows of pixels"),
            ]
    for needed, available, unit in limits:
        if needed > available:
            got = f"{count} with split {how} need {needed} {unit}"
            raise input_error(dataset.name, "parties", got, f"there are {available}")


# --- pieces ---------------------------------------------------------------------------------------


def _grid(count: int) -> tuple[int, int]:
    """Return rows and columns of the squarest grid with `count` cells."""
    rows = max(number for number in range(1, isqrt(count) + 1) if count % number == 0)
    return rows, count // rows


def _flat_view(modality: str, columns: IntArray) -> FeatureView:
    return FeatureView(modality, np.sort(columns), np.ones(len(columns), bool), (len(columns),))


def _flat_views(modality: str, columns: IntArray, count: int) -> tuple[FeatureView, ...]:
    return tuple(_flat_view(modality, part) for part in np.array_split(columns, count))


def _grid_cells(shape: Shape, down: int, across: int) -> tuple[FeatureView, ...]:
    """Cut an image into the cells of a grid, row by row."""
    return tuple(
        _cell(shape, rows[0], columns[0], len(rows), len(columns))
        for rows in np.array_split(np.arange(shape[1]), down)
        for columns in np.array_split(np.arange(shape[2]), across)
    )


def _cell(shape: Shape, top: int, left: int, height: int, width: int) -> FeatureView:
    pixels = np.arange(prod(shape)).reshape(shape)
    columns = pixels[:, top : top + height, left : left + width]
    return FeatureView("image", columns.ravel(), np.ones(columns.size, bool), columns.shape)


def _alternating(dataset: Dataset, count: int) -> tuple[FeatureView, ...]:
    """Alternate between blocks of the table's columns and strips of the image."""
    columns = np.arange(*row_shape(dataset, "table"))
    tables = _flat_views("table", columns, count - count // 2)
    strips = _grid_cells(row_shape(dataset, "image"), count // 2, 1)
    return tuple((strips if party % 2 else tables)[party // 2] for party in range(count))


def _mapped(dataset: Dataset, count: int, ids: Sequence[str] | None) -> tuple[FeatureView, ...]:
    """Follow the data set's own map of columns to parties."""
    order, names = list(dataset.parties), ", ".join(dataset.parties)
    if ids is not None and set(ids) & set(order):
        if not set(ids) <= set(order):  # by order a party might get another's columns
            allowed = f"the data names {names}: name all devices so, or none"
            raise input_error(dataset.name, "parties", f"devices {', '.join(ids)}", allowed)
        order = list(ids)
    elif count < len(order):
        allowed = f"the data names {len(order)}: {names}; name devices so where some are absent"
        raise input_error(dataset.name, "parties", f"got {count}", allowed)
    return tuple(_of_party(dataset, party) for party in order)


def _of_party(dataset: Dataset, party: str) -> FeatureView:
    positions = {name: column for column, name in enumerate(dataset.features)}
    columns = sorted({positions[name] for name in dataset.parties[party]})
    return _flat_view("table", np.array(columns))
