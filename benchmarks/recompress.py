"""CIFAR-10 as the results on it have it: compressed once more, as WebP of quality 82.

    scdn data fetch cifar10
    python benchmarks/recompress.py      # then: --set learning.dataset=cifar10-webp82

All 60,000 images are 20 MB so, instead of 139, and went to a GPU that way. Ten thousand make one
picture of 100 × 100; that is how they were compressed.
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
SIDE, SIZE = 100, 32
SHA256 = "d4abb1ac97311438852f2ffeb50f9456e12471d4d11d4a3cc88465f4675e824b"  # what results are of


def compressed(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The images as they come back."""
    grid = images.reshape(SIDE, SIDE, SIZE, SIZE, 3).transpose(0, 2, 1, 3, 4)
    file = io.BytesIO()
    Image.fromarray(grid.reshape(SIDE * SIZE, SIDE * SIZE, 3)).save(file, "WEBP", quality=QUALITY)
    back = np.asarray(Image.open(file).convert("RGB")).reshape(SIDE, SIZE, SIDE, SIZE, 3)
    return back.transpose(0, 2, 1, 3, 4).reshape(images.shape)


def main() -> None:
    """Writes it beside the others, and says whether it is what the results are of."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    whole = load("cifar10")
    parts = {}
    for name, images in (("train", whole.train["image"]), ("test", whole.test["image"])):
        sheets = [compressed(images[n : n + SIDE**2]) for n in range(0, len(images), SIDE**2)]
        parts[name] = np.concatenate(sheets)
        error = np.mean((parts[name].astype(float) - images) ** 2)
        print(f"{name}: {len(images):,} images, {10 * np.log10(255**2 / error):.1f} dB")
    path = put(
        Dataset(
            NAME,
            {"image": parts["train"]},
            whole.train_y.astype(np.int64),
            {"image": parts["test"]},
            whole.test_y.astype(np.int64),
            classes=tuple(str(n) for n in range(10)),
            provenance="CIFAR-10 re-encoded as WebP of quality 82",
        )
    )
    print(f"wrote {path}")
    same = SHA256 in path.name
    print("the results' own, to the last bit" if same else "not the results' own: another libwebp?")


if __name__ == "__main__":
    main()
