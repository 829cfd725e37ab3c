"""Import the user's own files of any kind: tables, image arrays, IDX files, folders of pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from scdn.data import store
from scdn.data.alignment import align
from scdn.data.dataset import Dataset, TaskKind
from scdn.data.image_arrays import (
    has_idx_files,
    image_dataset,
    images_from_arrays,
    images_from_idx,
)
from scdn.data.image_folder import import_image_folder
from scdn.data.import_table import MissingCells, PartyColumns, import_table
from scdn.data.split_arrays import Arrays, split_arrays
from scdn.data.store import ShowProgress
from scdn.data.table_files import TABLE_SUFFIXES
from scdn.errors import input_error
from scdn.npz import read_npz

_KINDS = f"{', '.join(TABLE_SUFFIXES)}, IDX files, or a folder with a folder of images per class"


@dataclass(frozen=True)
class ImportRequest:
    """Files to import as a data set, and what their rows mean.

    Attributes
    ----------
    files
        The files or folders; by party where each party has a file of its own.
    test
        The same for the test rows; empty if `files` tell them, or if they are to be drawn.
    """

    name: str
    files: Sequence[Path] | Mapping[str, Path]
    test: Sequence[Path] | Mapping[str, Path] = ()
    label: str = ""
    key: str = ""
    task: TaskKind = "classification"
    classes: int | None = None
    parties: PartyColumns = field(default_factory=dict)
    overlap: bool = False
    missing: MissingCells = "refuse"
    seed: int = 0


def import_files(
    request: ImportRequest,
    message: Callable[[str], None] = lambda _: None,
    progress: ShowProgress = lambda *_: None,
) -> Path:
    """Import and store a data set; return the path of its file.

    The stored file is no larger than the files that were imported, but for some 2 kB.
    """
    store.check_name(request.name)
    dataset, pictures = _read(request, message, progress)
    size = sum(_size(path) for part in (request.files, request.test) for path in _paths(part))
    return store.put(dataset, pictures=pictures, size_limit=size, progress=progress)


def _read(
    request: ImportRequest, message: Callable[[str], None], progress: ShowProgress
) -> tuple[Dataset, Mapping[str, Sequence[bytes]] | None]:
    if isinstance(request.files, Mapping):
        return _aligned(request, request.files, message), None
    first = request.files[0]
    if has_idx_files(first):
        return _from_idx(request), None
    if first.is_dir():
        _refuse_options(request, "a folder of images", "label", "key", "parties", "classes")
        if request.task != "classification":
            raise input_error("scdn", "--task", "got regression", "folders are classes")
        return import_image_folder(
            _only(request.files, "PATH"),
            request.name,
            test=_only(request.test, "--test") if request.test else None,
            seed=request.seed,
            progress=progress,
        )
    if first.suffix.lower() == ".npz":
        arrays = _read_arrays(first)
        if any(array.ndim > 2 for array in arrays.values()):
            return _from_image_arrays(request, arrays), None
    return _table(request), None


def _aligned(
    request: ImportRequest, files: Mapping[str, Path], message: Callable[[str], None]
) -> Dataset:
    _require_label(request)
    if not request.key:
        raise input_error("scdn", "--key", "is missing", "must name the column the files share")
    if request.test and not isinstance(request.test, Mapping):
        raise input_error("scdn", "--test", "has no party", "must be PARTY=PATH for each party")
    _refuse_options(request, "files of parties", "parties")
    aligned = align(files, request.key)
    tested = align(request.test, request.key) if isinstance(request.test, Mapping) else None
    for tables in filter(None, (aligned, tested)):
        for line in tables.report.lines():
            message(line)
    return aligned.to_dataset(
        request.name,
        request.label,
        test=tested,
        task=request.task,
        classes=request.classes,
        missing=request.missing,
        seed=request.seed,
    )


def _table(request: ImportRequest) -> Dataset:
    for path in _paths(request.files):
        if path.suffix.lower() not in TABLE_SUFFIXES:
            fault = "has an unknown type" if path.exists() else "does not exist"
            raise input_error(str(path), "file", fault, f"must be {_KINDS}")
    _require_label(request)
    if len(request.files) != 1:
        fault = f"got {len(request.files)} tables"
        raise input_error("scdn", "PATH", fault, "must be PARTY=PATH for each, and have a --key")
    return import_table(
        _only(request.files, "PATH"),
        request.name,
        request.label,
        test=_only(request.test, "--test") if request.test else None,
        key=request.key,
        task=request.task,
        classes=request.classes,
        parties=request.parties,
        overlap=request.overlap,
        missing=request.missing,
        seed=request.seed,
    )


def _from_idx(request: ImportRequest) -> Dataset:
    _refuse_options(request, "IDX files", "label", "key", "parties")
    train, test = images_from_idx(_paths(request.files))
    if request.test:
        if test is not None:
            raise input_error(train.source, "files", "have test rows", "leave out --test")
        test, further = images_from_idx(_paths(request.test))
        if further is not None:
            raise input_error("scdn", "--test", "has training rows", "must have test rows only")
    return image_dataset(
        request.name,
        train,
        test,
        task=request.task,
        classes=request.classes,
        seed=request.seed,
    )


def _from_image_arrays(request: ImportRequest, arrays: Mapping[str, NDArray[Any]]) -> Dataset:
    _refuse_options(request, "image arrays", "key", "parties")
    path = _only(request.files, "PATH")
    train_arrays, test_arrays = _split(arrays, path)
    test_path = path
    if request.test:
        if test_arrays is not None:
            raise input_error(str(path), "file", "has test rows", "leave out --test")
        test_path = _only(request.test, "--test")
        test_arrays = _read_arrays(test_path)
    train = images_from_arrays(train_arrays, str(path), request.label)
    test = test_arrays and images_from_arrays(test_arrays, str(test_path), request.label)
    return image_dataset(
        request.name,
        train,
        test or None,
        task=request.task,
        classes=request.classes,
        seed=request.seed,
    )


def _split(arrays: Mapping[str, NDArray[Any]], path: Path) -> tuple[Arrays, Arrays | None]:
    try:
        return split_arrays(arrays)
    except ValueError as error:
        raise input_error(str(path), "arrays", str(error), "must fit together") from None


def _read_arrays(path: Path) -> Arrays:
    try:
        return read_npz(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        allowed = "must be a whole npz file without objects"
        raise input_error(str(path), "file", f"cannot be read ({reason})", allowed) from None


def _require_label(request: ImportRequest) -> None:
    if not request.label:
        raise input_error("scdn", "--label", "is missing", "must name the column to predict")


def _refuse_options(request: ImportRequest, kind: str, *options: str) -> None:
    """Refuse options that mean nothing for files of this kind."""
    for option in options:
        if getattr(request, option):
            flag = {"parties": "party"}.get(option, option)
            raise input_error("scdn", f"--{flag}", f"is not for {kind}", "leave it out")


def _paths(files: Sequence[Path] | Mapping[str, Path]) -> Sequence[Path]:
    return list(files.values()) if isinstance(files, Mapping) else files


def _only(files: Sequence[Path] | Mapping[str, Path], option: str) -> Path:
    paths = _paths(files)
    if len(paths) != 1 or isinstance(files, Mapping):
        raise input_error("scdn", option, f"got {len(paths)} paths", "must be one path")
    return paths[0]


def _size(path: Path) -> int:
    """Return the size of a file, or of all files in a folder."""
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size
