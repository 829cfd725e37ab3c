"""Real data sets, cached and checked; nothing is fetched unless it is asked for."""

from __future__ import annotations

from scdn.data.catalog import dataset_names, fetch, load
from scdn.data.dataset import Dataset
from scdn.data.scaling import Scaling

__all__ = ["Dataset", "Scaling", "dataset_names", "fetch", "load"]
