"""Real data sets, cached and checked; nothing is fetched unless it is asked for."""

from __future__ import annotations

from scdn.learning.data.dataset import Dataset
from scdn.learning.data.registry import fetch, load, names
from scdn.learning.data.scaling import Scaling

__all__ = ["Dataset", "Scaling", "fetch", "load", "names"]
