"""The numbers that the paper published, by table."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

PUBLISHED_STARTS = {"centre": "center", "random": "random"}  # our name of a start → the tables'


@cache
def published_tables() -> dict[str, Any]:
    """Return all published tables by name."""
    text = files("scdn.paper").joinpath("published_tables.json").read_text(encoding="utf-8")
    tables: dict[str, Any] = json.loads(text)
    return tables
