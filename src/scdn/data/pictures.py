"""Decode picture files: PNG, JPEG, WebP, BMP, GIF, TIFF, PGM and PPM."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from scdn.errors import Fault, InputError, first_faults, input_error

if TYPE_CHECKING:
    from PIL import Image

SUFFIXES = (
    *(".png", ".jpg", ".jpeg", ".webp", ".bmp"),
    *(".gif", ".tif", ".tiff", ".pgm", ".ppm"),
)
_FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF", "PPM")
_GREY = ("1", "L", "LA")
_COLOUR = ("P", "PA", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr")

_Result = TypeVar("_Result")
Shape = tuple[int, int, int]  # height, width, channels


@contextmanager
def open_picture(raw: bytes, name: str) -> Iterator[Image.Image]:
    """Open a picture; refuse one that cannot be decoded, now or inside the block."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about oddities that do not matter here
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(raw), formats=_FORMATS) as picture:
                yield picture
    except (
        *(OSError, SyntaxError, ValueError, EOFError),
        *(Image.DecompressionBombError, Image.DecompressionBombWarning),
    ):
        allowed = "must be a complete picture"
        raise input_error("images", name, "cannot be decoded", allowed) from None


def common_shape(
    files: Sequence[bytes], names: Sequence[str], wanted: Shape | None = None
) -> Shape:
    """Return the shape of all pictures: their size must be equal, one in colour makes all so.

    `wanted` is the shape of the data set that they are for, if there is one.
    """
    shapes = _each(_shape, files, names)
    height, width, _ = wanted or shapes[0]
    like = "the data set" if wanted else names[0]
    faults = [
        Fault(name, f"has {shape[1]}×{shape[0]} pixels", f"must have {width}×{height} as {like}")
        for name, shape in zip(names, shapes, strict=True)
        if shape[:2] != (height, width)
    ]
    if faults:
        raise InputError("images", first_faults(faults, len(faults)))
    return height, width, max(shape[2] for shape in shapes)


def _shape(raw: bytes, name: str) -> Shape:
    """Return the height, width and channels (1 if it is grey, else 3) that the header tells."""
    with open_picture(raw, name) as picture:
        mode, (width, height) = picture.mode, picture.size
    if mode not in (*_GREY, *_COLOUR):
        raise input_error("images", name, f"has mode {mode}", "must have 8 bits per channel")
    return height, width, 1 if mode in _GREY else 3


def decode_pictures(
    files: Sequence[bytes],
    shape: Shape,
    names: Sequence[str],
    progress: Callable[[int], None] = lambda _: None,
) -> NDArray[Any]:
    """Return pictures of one shape as an array; alpha is dropped, grey may become colour.

    `names` are those of the pictures, for errors; `progress` gets how many are decoded.
    """
    mode = "L" if shape[2] == 1 else "RGB"
    count = 0

    def decode(raw: bytes, name: str) -> NDArray[Any]:
        nonlocal count
        with open_picture(raw, name) as picture:
            pixels = np.asarray(picture.convert(mode)).reshape(shape)
        count += 1
        progress(count)
        return pixels

    return np.stack(_each(decode, files, names))


def _each(
    function: Callable[[bytes, str], _Result], files: Sequence[bytes], names: Sequence[str]
) -> list[_Result]:
    """Return what `function` returns for each picture; report the faults of all together."""
    results: list[_Result] = []
    faults: list[Fault] = []
    for raw, name in zip(files, names, strict=True):
        try:
            results.append(function(raw, name))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError("images", first_faults(faults, len(faults)))
    return results
