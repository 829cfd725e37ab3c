"""Numbers as text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np


def listed(values: Collection[float]) -> str:
    """Return values separated by commas."""
    return ", ".join(f"{value:g}" for value in values)


def slashed(values: Collection[float]) -> str:
    """Return values separated by slashes, with three digits."""
    return " / ".join(f"{value:.3g}" for value in values)


def value_range(values: Collection[float], form: str = ".3g") -> str:
    """Return the smallest and the largest value."""
    return f"{min(values):{form}} to {max(values):{form}}"


def labelled_medians(groups: Mapping[str, list[float]], form: str = ".3g") -> str:
    """Return the median of every group that has values, with the group's name."""
    return ", ".join(f"{np.median(v):{form}} ({name})" for name, v in groups.items() if v)


def plus_minus(mean: float, std: float, decimals: int | None = None, runs: int = 2) -> str:
    """Return mean and standard deviation with fixed decimals, or with three and two digits.

    A single run has no deviation.
    """
    text = f"{mean:.3g}" if decimals is None else f"{mean:.{decimals}f}"
    if runs == 1:
        return text
    return f"{text} ± {std:.2g}" if decimals is None else f"{text} ± {std:.{decimals}f}"


def count_runs(count: int) -> str:
    """Return `1 run`, `2 runs` and so on."""
    return f"{count} run{'' if count == 1 else 's'}"


def without_repeats(rows: Iterable[tuple[str, ...]], columns: int) -> tuple[tuple[str, ...], ...]:
    """Blank the leading cells that are the same as in the row above, in the first columns."""
    shown, above = [], ("",) * columns
    for row in rows:
        same = next((k for k in range(columns) if row[k] != above[k]), columns)
        shown.append(("",) * same + row[same:])
        above = row[:columns]
    return tuple(shown)
