"""Groups of runs whose methods are compared with each other: those with equal settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scdn.record.run_reader import Run
from scdn.report.study import Study


@dataclass(frozen=True, eq=False)
class ComparisonGroup:
    """Methods that are compared with each other, in the study's order, and their runs."""

    setting: str  # empty where the study is one group
    methods: Sequence[str]  # names within the group
    names: Sequence[str]  # the same methods as the study calls them
    runs: Sequence[tuple[str, Run]]  # with the name of the method within the group


def comparison_groups(study: Study) -> list[ComparisonGroup]:
    """Return the groups of a study.

    Runs of several networks, each with several methods, are compared within their network. Where a
    setting was used with one method only, settings are what is compared: all runs are one group.
    """
    labels = list(dict.fromkeys(study.settings))
    pairs = list(zip(study.settings, study.runs, strict=True))
    of = {label: [run for own, run in pairs if own == label] for label in labels}
    if len(labels) == 1 or any(len({run.method for run in runs}) == 1 for runs in of.values()):
        runs = [(run.method, run) for run in study.runs]
        return [ComparisonGroup("", study.methods, study.methods, runs)]
    return [_group(label, runs, study.methods) for label, runs in of.items()]


def _group(label: str, runs: Sequence[Run], order: Sequence[str]) -> ComparisonGroup:
    names = [name for name in order if any(run.method == name for run in runs)]
    short = {name: name.partition(", ")[0] for name in names}
    if len(set(short.values())) < len(names):
        short = {name: name for name in names}
    named = [(short[run.method], run) for run in runs]
    return ComparisonGroup(label, [short[name] for name in names], names, named)
