"""Data sets: download, import of the user's own files, alignment by key, scaling and a local store.

`catalog` lists the known data sets and fetches, adds and loads them by name. `import_table`,
`alignment` and `torch_dataset` make a `Dataset` from the user's own rows. `store` keeps data sets
on disk, checked by their sha256. Nothing is downloaded unless `fetch` is called.
"""

from __future__ import annotations

from scdn.data.catalog import dataset_names, fetch, load
from scdn.data.dataset import Dataset
from scdn.data.scaling import Scaling

__all__ = ["Dataset", "Scaling", "dataset_names", "fetch", "load"]
