"""Runs with different settings: what differs, and names that tell the runs of one method apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scdn.errors import format_value
from scdn.record.run_reader import Run

# What does not make a run another one: who it is, and what is asked of it.
_NOT_SETTINGS = ("method", "seed", "name", "about", "targets")
_MOST_IN_A_NAME = 2  # settings; with more, variants are numbered and the table says what they are
ABSENT = "–"

Settings = Mapping[str, str]  # by dotted path, as `--set` takes it


@dataclass(frozen=True)
class SettingDifferences:
    """The settings in which runs differ, and their values in each group of equal runs."""

    groups: Sequence[str]
    values: Mapping[str, Sequence[str]]  # of each setting, one for each group

    @property
    def note(self) -> str:
        """Return one line that names the settings."""
        shown = list(self.values)[:8]
        more = f" and {len(self.values) - len(shown)} others" if len(self.values) > 8 else ""
        return f"The runs' settings differ in {', '.join(shown)}{more}."


def name_variants(runs: Sequence[Run]) -> tuple[list[Run], SettingDifferences | None]:
    """Return the runs, those of one method with different settings renamed, and what differs.

    A variant is called `sc-dn, learning.hidden=16`, by the settings that differ within a method.
    """
    settings = [dict(_flattened(run.scenario)) for run in runs]
    if not (different := _different(settings)):
        return list(runs), None
    names: dict[int, str] = {}
    for method in dict.fromkeys(run.method for run in runs):
        of_method = [n for n, run in enumerate(runs) if run.method == method]
        keys = _different([settings[n] for n in of_method])
        variants = list(dict.fromkeys(_values(settings[n], keys) for n in of_method))
        for n in of_method:
            names[n] = _name(method, keys, variants, _values(settings[n], keys))
    named = [replace(run, method=names[n]) for n, run in enumerate(runs)]
    firsts = {names[n]: settings[n] for n in reversed(range(len(runs)))}
    groups = list(dict.fromkeys(names[n] for n in range(len(runs))))
    values = {key: [firsts[group].get(key, ABSENT) for group in groups] for key in different}
    return named, SettingDifferences(groups, values)


def setting_labels(runs: Sequence[Run]) -> list[str]:
    """Return for each run a name of its settings, the method aside; empty where all are equal.

    It is the scenario's name where that tells the settings apart, else what differs, else a number.
    """
    settings = [dict(_flattened(run.scenario)) for run in runs]
    if not (keys := _different(settings)):
        return [""] * len(runs)
    own = [_values(table, keys) for table in settings]
    groups = list(dict.fromkeys(own))
    names = {
        group: str(run.scenario.get("name") or "") for group, run in zip(own, runs, strict=True)
    }
    if len(set(names.values())) < len(groups) or "" in names.values():
        names = {
            group: f"setting {n}"
            if len(keys) > _MOST_IN_A_NAME
            else ", ".join(f"{key}={value}" for key, value in zip(keys, group, strict=True))
            for n, group in enumerate(groups, 1)
        }
    return [names[group] for group in own]


def _name(
    method: str, keys: Sequence[str], variants: Sequence[tuple[str, ...]], own: tuple[str, ...]
) -> str:
    if not keys:
        return method
    if len(keys) > _MOST_IN_A_NAME:
        return f"{method}, variant {variants.index(own) + 1}"
    return ", ".join([method, *(f"{k}={v}" for k, v in zip(keys, own, strict=True))])


def _values(settings: Settings, keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(settings.get(key, ABSENT) for key in keys)


def _different(settings: Sequence[Settings]) -> list[str]:
    """Return the settings that are not the same in all runs, in their order."""
    keys = dict.fromkeys(key for table in settings for key in table)
    return [key for key in keys if len({table.get(key, ABSENT) for table in settings}) > 1]


def _flattened(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the settings of a scenario with their dotted paths."""
    for key, value in table.items():
        path = f"{prefix}{key}"
        if path in _NOT_SETTINGS:
            continue
        entries = isinstance(value, list) and value and all(isinstance(v, dict) for v in value)
        if isinstance(value, dict):
            yield from _flattened(value, f"{path}.")
        elif entries:
            yield from _flattened(dict(enumerate(value)), f"{path}.")  # type: ignore[arg-type]
        else:
            yield path, format_value(value)
