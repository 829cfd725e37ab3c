"""The digits that ship with scikit-learn: a data set for trials that needs no network."""

from __future__ import annotations

import numpy as np

from scdn.data.dataset import Dataset, train_test_rows
from scdn.data.download import ProgressCallback

WARNING = "digits are 1,797 small images (8×8), not MNIST: good for a trial, not for a result"


def fetch(progress: ProgressCallback) -> Dataset:
    """Return the digits from the installed scikit-learn."""
    from sklearn.datasets import load_digits  # type: ignore[import-untyped]

    progress(f"warning: {WARNING}")
    bunch = load_digits()
    images = bunch.images.astype(np.uint8)[..., None]
    labels = bunch.target.astype(np.int64)
    train, test = train_test_rows(len(labels), "digits-split")
    return Dataset(
        name="digits",
        train={"image": images[train]},
        train_y=labels[train],
        test={"image": images[test]},
        test_y=labels[test],
        classes=tuple("0123456789"),
        provenance=f"scikit-learn's digits (UCI, Alpaydin and Kaynak), split 80/20; {WARNING}",
    )
