"""The known data sets by name: how to get each of them, and how to load what is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from scdn.data import cifar, digits, mnist, occupancy, pawpularity, store
from scdn.data.dataset import Dataset
from scdn.data.download import ProgressCallback
from scdn.errors import input_error


@dataclass(frozen=True)
class CatalogEntry:
    """A known data set: its description, and how it is downloaded, read from files or loaded.

    Attributes
    ----------
    shipped
        Loads a data set that is part of the package: it is not fetched, added or stored.
    metric
        Name of the metric by which its models are judged, if not the task's first one.
    """

    about: str
    fetch: Callable[[ProgressCallback], Dataset] | None = None
    add: Callable[[Path, ProgressCallback], Dataset] | None = None
    shipped: Callable[[], Dataset] | None = None
    metric: str | None = None


CATALOG = {
    "mnist": CatalogEntry("70,000 digits, 28×28, 10 classes", mnist.fetch, mnist.from_package),
    "cifar10": CatalogEntry(
        "60,000 colour images, 32×32, 10 classes", cifar.fetch, cifar.from_package
    ),
    "pawpularity": CatalogEntry(
        "9,912 pets, image + 12 flags, regression", add=pawpularity.from_path
    ),
    "digits": CatalogEntry("1,797 digits, 8×8, 10 classes; needs no network", digits.fetch),
    "occupancy": CatalogEntry(
        "10,129 rows of seven sensor nodes in a room, 4 classes",
        shipped=occupancy.load,
        metric="macro_f1",
    ),
}


def dataset_names() -> list[str]:
    """Return the names of the known data sets, then of those that users added."""
    return [*CATALOG, *(name for name in store.stored_files() if name not in CATALOG)]


def loadable_names() -> list[str]:
    """Return the names of the data sets that `load` returns now: stored ones and shipped ones."""
    stored = store.stored_files()
    return [name for name in dataset_names() if name in stored or is_shipped(name)]


def is_shipped(name: str) -> bool:
    """Return whether a data set is part of the package."""
    entry = CATALOG.get(name)
    return entry is not None and entry.shipped is not None


def own_metric(name: str) -> str | None:
    """Return the name of the metric by which models of this data set are judged, if it has one."""
    entry = CATALOG.get(name)
    return entry.metric if entry else None


def how_to_get(name: str) -> str:
    """Return the command that gets the data set `name`."""
    entry = CATALOG.get(name)
    if entry and entry.fetch:
        return f"scdn data fetch {name}"
    return f"scdn data add {name} PATH" + ("" if entry else " --label COLUMN")


def load(name: str) -> Dataset:
    """Return a stored or shipped data set after checking its sha256; never download it."""
    if name not in dataset_names():
        known = f"known: {', '.join(dataset_names())}"
        raise input_error(
            "data set", name, "is unknown", f"{known}; to add your own: {how_to_get(name)}"
        )
    entry = CATALOG.get(name)
    if entry is None or entry.shipped is None:
        return store.get(name, how_to_get(name))
    if name in store.stored_files():  # from before this name was taken
        fault = f"is also in {store.stored_files()[name]}"
        raise input_error("data set", name, fault, "add yours by another name, and remove the file")
    return entry.shipped()


def fetch(name: str, progress: ProgressCallback = lambda _: None) -> Path:
    """Download a known data set, store it and return the path of its file."""
    entry = CATALOG.get(name)
    if is_shipped(name):
        raise input_error("data set", name, "is part of scdn", "use it as it is")
    if entry is None or entry.fetch is None:
        fetchable = ", ".join(key for key, entry in CATALOG.items() if entry.fetch)
        allowed = f"must be one of {fetchable}; otherwise use {how_to_get(name)}"
        raise input_error("data set", name, "cannot be fetched", allowed)
    return store.put(entry.fetch(progress))


def add(name: str, path: Path, progress: ProgressCallback = lambda _: None) -> Path:
    """Store a known data set from files that the user has; return the path of its file."""
    entry = CATALOG.get(name)
    if is_shipped(name):
        raise input_error("data set", name, "is part of scdn", "choose another name for yours")
    if entry is None or entry.add is None:
        addable = ", ".join(key for key, entry in CATALOG.items() if entry.add)
        raise input_error("data set", name, "cannot be added", f"must be one of {addable}")
    return store.put(entry.add(path, progress))


def remove(name: str) -> Path:
    """Remove a stored data set; return the path that its file had."""
    if is_shipped(name) and name not in store.stored_files():
        raise input_error("data set", name, "is part of scdn", "it cannot be removed")
    return store.remove(name)
