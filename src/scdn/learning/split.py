"""Who holds which features: views of a data set that share it out among parties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt, prod
from typing import Literal, get_args

import numpy as np

from scdn.arrays import Mask, Whole
from scdn.data.dataset import Dataset
from scdn.errors import Fault, InputError, format_value, input_error
from scdn.rng import generator

How = Literal["random", "blocks", "strips", "patches", "modality", "parties"]
Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class View:
    """What one party holds of a data set.

    Attributes
    ----------
    modality
        `"image"` or `"table"`.
    columns
        Positions in the modality's flattened rows; images flatten as channel, row, column.
    held
        False where the model sees a zero; there `columns` repeats one that the party does hold,
        so that what belongs to others is never even read.
    shape
        A row as a model takes it: (columns,) or (channels, height, width).
    """

    modality: str
    columns: Whole
    held: Mask
    shape: Shape

    @property
    def own(self) -> Whole:
        """The columns really held, in order."""
        return np.unique(self.columns[self.held])

    def padded(self, least: int) -> View:
        """An image with zeros around it, so that it is at least `least` high and wide."""
        if len(self.shape) != 3:
            return self
        channels, height, width = self.shape
        tall, wide = max(height, least), max(width, least)
        top, left = (tall - height) // 2, (wide - width) // 2
        columns = np.full((channels, tall, wide), self.own[0])
        held = np.zeros(columns.shape, bool)
        here = np.s_[:, top : top + height, left : left + width]
        columns[here] = self.columns.reshape(self.shape)
        held[here] = self.held.reshape(self.shape)
        return View(self.modality, columns.ravel(), held.ravel(), columns.shape)

    def longer(self, size: int) -> View:
        """Flat columns with zeros at their end."""
        more = size - len(self.columns)
        columns = np.pad(self.columns, (0, more), constant_values=self.own[0])
        return View(self.modality, columns, np.pad(self.held, (0, more)), columns.shape)

    def masked(self, whole_shape: Shape) -> View:
        """All columns of the modality, those of others zero; flat if the view is flat."""
        everything = np.arange(prod(whole_shape))
        held = np.isin(everything, self.own)
        columns = np.where(held, everything, self.own[0])
        shape = whole_shape if len(self.shape) == 3 else everything.shape
        return View(self.modality, columns, held, shape)


def whole_shape(dataset: Dataset, modality: str) -> Shape:
    """A row of the modality as a model takes it: (columns,) or (channels, height, width)."""
    if modality == "table":
        return (dataset.train["table"].shape[1],)
    _, height, width, channels = dataset.train["image"].shape
    return channels, height, width


def split(
    dataset: Dataset, how: str, count: int, seed: int, ids: Sequence[str] | None = None
) -> tuple[View, ...]:
    """The views of the first `count` parties; together they hold each column exactly once.

    `"parties"` follows the data set's own map instead: by name if `ids` are its names, else in
    its order.
    """
    _check(dataset, how, count)
    match how:
        case "random":
            shape = whole_shape(dataset, _only(dataset))
            order = generator(seed, "split").permutation(prod(shape))
            return tuple(_flat(_only(dataset), run) for run in np.array_split(order, count))
        case "blocks":
            return _blocks(_only(dataset), whole_shape(dataset, _only(dataset)), count)
        case "strips":
            return _cells(whole_shape(dataset, "image"), count, 1)
        case "patches":
            return _cells(whole_shape(dataset, "image"), *_grid(count))
        case "modality":
            return _alternating(dataset, count)
        case _:
            return _named(dataset, ids)


def entering(dataset: Dataset, how: str, count: int, seed: int, name: str) -> View:
    """The view of a device that comes later: as large as the first of `count` first parties.

    Its place is drawn, and may overlap what others hold.
    """
    _check(dataset, how, count)
    draw = generator(seed, f"split:{name}")
    if how == "parties":
        views = _named(dataset, None)
        return views[draw.integers(len(views))]
    first = split(dataset, how, count, seed)
    like = first[draw.integers(2)] if how == "modality" else first[0]
    whole = whole_shape(dataset, like.modality)
    size = len(like.columns)
    if how == "random":
        return _flat(like.modality, draw.choice(prod(whole), size, replace=False))
    if like.modality == "table" or how == "blocks":
        start = draw.integers(prod(whole) - size + 1)
        return _flat(like.modality, np.arange(start, start + size))
    _, height, width = like.shape
    top = int(draw.integers(whole[1] - height + 1))
    left = int(draw.integers(whole[2] - width + 1))
    return _cell(whole, top, left, height, width)


def check_disjoint(views: Sequence[View], names: Sequence[str], source: str) -> None:
    """Refuses columns that are given to more than one party, a line for each."""
    holders: dict[tuple[str, int], list[str]] = {}
    for view, name in zip(views, names, strict=True):
        for column in view.own.tolist():
            holders.setdefault((view.modality, column), []).append(name)
    faults = [
        Fault(f"{modality} column {column}", f"given to {' and '.join(who)}", "one party only")
        for (modality, column), who in sorted(holders.items())
        if len(who) > 1
    ]
    if faults:
        raise InputError(source, faults)


# What cannot be split


def _check(dataset: Dataset, how: str, count: int) -> None:
    """Refuses a split that the data set cannot have."""
    if how not in get_args(How):
        allowed = f"must be one of {', '.join(get_args(How))}"
        raise input_error(dataset.name, "split", f"got {format_value(how)}", allowed)
    if count < 1:
        raise input_error(dataset.name, "parties", f"got {count}", "must be at least 1")
    modalities = sorted(dataset.train)
    found = f"{how} with only {modalities[0]} rows" if len(modalities) == 1 else f"{how} with both"
    if how in ("strips", "patches") and "image" not in modalities:
        raise input_error(dataset.name, "split", found, "needs images")
    if how == "modality":
        if len(modalities) < 2:
            raise input_error(dataset.name, "split", found, "needs images and a table")
        if count < 2:
            raise input_error(dataset.name, "parties", "modality with 1 party", "needs at least 2")
    if how in ("random", "blocks") and len(modalities) > 1:
        allowed = 'a party holds one kind of rows: use split = "modality"'
        raise input_error(dataset.name, "split", f"{found} images and a table", allowed)
    if how == "parties":
        _check_map(dataset, count)
    else:
        _check_room(dataset, how, count)


def _check_map(dataset: Dataset, count: int) -> None:
    if not dataset.parties:
        raise input_error(
            dataset.name, "split", "the data names no parties", "choose another split"
        )
    if count != len(dataset.parties):
        allowed = f"the data names {len(dataset.parties)}: {', '.join(dataset.parties)}"
        raise input_error(dataset.name, "parties", f"got {count}", allowed)
    for party, columns in dataset.parties.items():
        if not columns:
            raise input_error(dataset.name, f"parties.{party}", "no columns", "needs at least 1")


def _check_room(dataset: Dataset, how: str, count: int) -> None:
    """Refuses more parties than there are pieces."""
    rows, across = _grid(count)
    match how:
        case "random" | "blocks":
            columns = prod(whole_shape(dataset, _only(dataset)))
            wanted = [(count, columns, "columns")]
        case "strips":
            wanted = [(count, whole_shape(dataset, "image")[1], "rows of pixels")]
        case "patches":
            _, height, width = whole_shape(dataset, "image")
            wanted = [(rows, height, "rows of pixels"), (across, width, "columns of pixels")]
        case _:
            wanted = [
                (count - count // 2, whole_shape(dataset, "table")[0], "columns"),
                (count // 2, whole_shape(dataset, "image")[1], "rows of pixels"),
            ]
    for needed, there, what in wanted:
        if needed > there:
            found = f"{count} with split {how} need {needed} {what}"
            raise input_error(dataset.name, "parties", found, f"there are {there}")


# Pieces


def _only(dataset: Dataset) -> str:
    """The data set's one modality."""
    (modality,) = dataset.train
    return modality


def _grid(count: int) -> tuple[int, int]:
    """Rows and columns of a grid with `count` cells, as square as can be."""
    rows = max(number for number in range(1, isqrt(count) + 1) if count % number == 0)
    return rows, count // rows


def _flat(modality: str, columns: Whole) -> View:
    return View(modality, np.sort(columns), np.ones(len(columns), bool), (len(columns),))


def _blocks(modality: str, whole: Shape, count: int) -> tuple[View, ...]:
    return tuple(_flat(modality, run) for run in np.array_split(np.arange(prod(whole)), count))


def _cells(whole: Shape, down: int, across: int) -> tuple[View, ...]:
    """The image cut into a grid, row by row."""
    return tuple(
        _cell(whole, rows[0], columns[0], len(rows), len(columns))
        for rows in np.array_split(np.arange(whole[1]), down)
        for columns in np.array_split(np.arange(whole[2]), across)
    )


def _cell(whole: Shape, top: int, left: int, height: int, width: int) -> View:
    pixels = np.arange(prod(whole)).reshape(whole)
    columns = pixels[:, top : top + height, left : left + width]
    return View("image", columns.ravel(), np.ones(columns.size, bool), columns.shape)


def _alternating(dataset: Dataset, count: int) -> tuple[View, ...]:
    """Table, image, table, …: blocks of the table's columns, strips of the image."""
    tables = _blocks("table", whole_shape(dataset, "table"), count - count // 2)
    strips = _cells(whole_shape(dataset, "image"), count // 2, 1)
    return tuple((strips if party % 2 else tables)[party // 2] for party in range(count))


def _named(dataset: Dataset, ids: Sequence[str] | None) -> tuple[View, ...]:
    """The data set's own map."""
    order = list(dataset.parties)
    if ids is not None and set(ids) & set(order):
        if sorted(ids) != sorted(order):  # by order a party might get what is another's
            found = f"devices {', '.join(ids)}"
            allowed = f"the data names {', '.join(order)}: name all devices so, or none"
            raise input_error(dataset.name, "parties", found, allowed)
        order = list(ids)
    place = {name: column for column, name in enumerate(dataset.features)}
    return tuple(
        _flat("table", np.array(sorted({place[name] for name in dataset.parties[party]})))
        for party in order
    )
