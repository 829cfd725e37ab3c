"""Import a folder of pictures that has a folder for each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

from scdn.data.dataset import Dataset, train_test_rows
from scdn.data.image_arrays import SPLIT, LabelledImages, image_dataset
from scdn.data.pictures import SUFFIXES, common_shape, decode_pictures
from scdn.data.split_arrays import folder_entries, part_of
from scdn.data.store import ShowProgress
from scdn.errors import Fault, InputError, first_faults, format_value, input_error
from scdn.npz import check_unpacked_size

_SHOWN_IMAGES = 1000  # fewer are decoded in a moment


@dataclass(frozen=True)
class PictureFiles:
    """Pictures of one part: their names, their classes and their content."""

    names: Sequence[str]
    classes: Sequence[str]
    content: Sequence[bytes]


def import_image_folder(
    folder: Path,
    name: str,
    *,
    test: Path | None = None,
    seed: int = 0,
    progress: ShowProgress = lambda *_: None,
) -> tuple[Dataset, Mapping[str, Sequence[bytes]]]:
    """Return a data set, and the files of its training and test rows.

    Test rows are those of the folder `test`, or of `folder/test` next to `folder/train`; else
    they are drawn.
    """
    train_folders, test_folders = [folder], [test] if test else []
    if parts := _parts(folder):
        if test and parts["test"]:
            raise input_error(str(folder), "folder", "has test rows", "leave out --test")
        train_folders, test_folders = parts["train"], parts["test"] or test_folders
    train_paths = _pictures(train_folders)
    test_paths = _pictures(test_folders)
    _refuse_unknown_classes(train_paths, test_paths)
    train, tested = read_pictures(train_paths), read_pictures(test_paths)
    shape = common_shape([*train.content, *tested.content], [*train.names, *tested.names])
    total = len(train.names) + len(tested.names)
    try:
        check_unpacked_size(total * prod(shape))
    except ValueError as error:
        raise input_error(str(folder), f"{total} images", str(error), "add fewer") from None

    def decode(part: PictureFiles, before: int, source: Path) -> LabelledImages:
        def show(count: int) -> None:
            progress(before + count, total, "images decoded")

        pixels = decode_pictures(
            part.content,
            shape,
            part.names,
            show if total >= _SHOWN_IMAGES else lambda _: None,
        )
        return LabelledImages(pixels, np.array(part.classes), "class", str(source))

    images = decode(train, 0, folder)
    if tested.names:
        test_images = decode(tested, len(train.names), test or folder)
        dataset = image_dataset(name, images, test_images, seed=seed)
        return dataset, {"train": train.content, "test": tested.content}
    dataset = image_dataset(name, images, None, seed=seed)
    rows = dict(zip(("train", "test"), train_test_rows(total, SPLIT, seed), strict=True))
    return dataset, {part: [train.content[row] for row in rows[part]] for part in rows}


def _parts(folder: Path) -> dict[str, list[Path]]:
    """Return the folders of training and test rows, if there is nothing else in `folder`.

    Validation rows count as training rows. There may be no test rows.
    """
    parts: dict[str, list[Path]] = {"train": [], "test": []}
    for path in folder_entries(folder):
        part = part_of(path.name)
        if not part or not path.is_dir():
            return {}
        parts["test" if part == "test" else "train"].append(path)
    return parts if parts["train"] else {}


def _pictures(folders: Sequence[Path]) -> list[Path]:
    """Return the pictures in class folders; refuse all else."""
    pictures: list[Path] = []
    faults: list[Fault] = []
    for folder in folders:
        classes = folder_entries(folder)
        if not classes:
            faults.append(Fault(str(folder), "is empty", "needs a folder for each class"))
        for path in classes:
            if not path.is_dir():
                faults.append(Fault(str(path), "is in no class folder", "must be in one"))
                continue
            files = folder_entries(path)
            if not files:
                faults.append(Fault(str(path), "has no images", "needs at least one"))
            for file in files:
                if file.suffix.lower() in SUFFIXES and file.is_file():
                    pictures.append(file)
                else:
                    allowed = f"must be {', '.join(SUFFIXES)}"
                    faults.append(Fault(str(file), "is no image", allowed))
    if faults:
        raise InputError("images", first_faults(faults, len(faults)))
    return pictures


def _refuse_unknown_classes(train: Sequence[Path], test: Sequence[Path]) -> None:
    known = {path.parent.name for path in train}
    unknown = sorted({path.parent for path in test if path.parent.name not in known})
    if unknown:
        allowed = f"must be a class of the training rows, {format_value(', '.join(sorted(known)))}"
        faults = (Fault(str(path), "is no known class", allowed) for path in unknown)
        raise InputError("images", first_faults(faults, len(unknown)))


def read_pictures(paths: Sequence[Path]) -> PictureFiles:
    """Return the pictures with these paths, not decoded; the class is the name of the folder."""
    content: list[bytes] = []
    size = 0
    for path in paths:
        try:
            size += path.stat().st_size
            check_unpacked_size(size)
            content.append(path.read_bytes())
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            fault = f"cannot be read ({reason})"
            raise input_error(str(path), "file", fault, "must be readable") from None
    return PictureFiles(
        [str(path) for path in paths], [path.parent.name for path in paths], content
    )
