"""Recompress CIFAR-10 as WebP of quality 82: the data set that the committed results used.

    scdn data fetch cifar10
    python benchmarks/recompress.py      # then: --set learning.dataset=cifar10-webp82

All 60,000 images then take 20 MB instead of 139, small enough to send to a remote GPU. They are
compressed in pictures of 100 × 100 images.
"""

from __future__ import annotations

import argparse
import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from scdn.data import load
from scdn.data.dataset import Dataset
from scdn.data.store import put

NAME, QUALITY = "cifar10-webp82", 82
GRID, SIDE = 100, 32  # images along a picture's side, pixels along an image's side
# Of the latest results' data set.
SHA256 = "5f14a2655ee9edb5176c6a8dd0bcffd8ea9db0bb6442e252acf1554c806003d1"


def recompress(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the images after compression and decompression."""
    grid = images.reshape(GRID, GRID, SIDE, SIDE, 3).transpose(0, 2, 1, 3, 4)
    file = io.BytesIO()
    Image.fromarray(grid.reshape(GRID * SIDE, GRID * SIDE, 3)).save(file, "WEBP", quality=QUALITY)
    decoded = np.asarray(Image.open(file).convert("RGB")).reshape(GRID, SIDE, GRID, SIDE, 3)
    return decoded.transpose(0, 2, 1, 3, 4).reshape(images.shape)


def main() -> None:
    """Store the data set and print whether it equals the one of the results."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    original = load("cifar10")
    parts = {}
    for name, images in (("train", original.train["image"]), ("test", original.test["image"])):
        sheets = [recompress(images[n : n + GRID**2]) for n in range(0, len(images), GRID**2)]
        parts[name] = np.concatenate(sheets)
        error = np.mean((parts[name].astype(float) - images) ** 2)
        print(f"{name}: {len(images):,} images, {10 * np.log10(255**2 / error):.1f} dB")
    path = put(
        Dataset(
            NAME,
            {"image": parts["train"]},
            original.train_y.astype(np.int64),
            {"image": parts["test"]},
            original.test_y.astype(np.int64),
            classes=tuple(str(n) for n in range(10)),
            provenance="CIFAR-10 re-encoded as WebP of quality 82",
        )
    )
    print(f"wrote {path}")
    equal = SHA256 in path.name
    print("equal to the results' data set" if equal else "NOT equal to it: another libwebp?")


if __name__ == "__main__":
    main()
