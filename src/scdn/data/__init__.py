"""Real data sets, cached and checked; nothing is fetched unless it is asked for."""

from __future__ import annotations

from scdn.data.dataset import Dataset
from scdn.data.registry import fetch, load, names
from scdn.data.scaling import Scaling

__all__ = ["Dataset", "Scaling", "fetch", "load", "names"]
