"""The settings that tuning varies, and the values that it tries.

Ranges lie around the scenario's own value. Costs of the network (payload, prices, batteries) stay
as they are: a tuned scenario is the same network, which learns better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scdn.file_io import Table, merge_tables
from scdn.scenario import Scenario, make_scenario

if TYPE_CHECKING:
    from optuna import Trial

HOLDOUT = 0.2  # of the training rows; the scores of trials are on these


@dataclass(frozen=True)
class TunedSetting:
    """A whole number that is drawn from a range, on a logarithmic scale."""

    path: str
    own: int
    low: int
    high: int

    @classmethod
    def around(cls, path: str, own: int, factor: int, least: int = 1) -> TunedSetting:
        """Return the setting from `own / factor`, or `least` if that is more, to `own * factor`."""
        low = min(own, max(least, own // factor))
        return cls(path, own, low, max(least, own) * factor)

    def suggest(self, trial: Trial) -> int:
        """Return a trial's value."""
        return int(trial.suggest_int(self.path, self.low, self.high, log=True))


def search_space(scenario: Scenario) -> tuple[TunedSetting, ...]:
    """Return what is varied for a scenario."""
    learning = scenario.learning
    space = [
        TunedSetting.around("learning.steps_per_iteration", learning.steps_per_iteration, 16),
        TunedSetting.around("learning.batch_size", learning.batch_size, 4, least=8),
        TunedSetting.around("learning.fusion_hidden", learning.fusion_hidden, 4, least=8),
        TunedSetting.around("learning.rounds", learning.rounds, 2, least=2),
    ]
    if learning.model in ("auto", "mlp"):
        space.append(TunedSetting.around("learning.hidden", learning.hidden, 4, least=8))
    if learning.server_optimizer == "adam" and learning.server_steps:
        space.append(TunedSetting.around("learning.server_steps", learning.server_steps, 4))
    return tuple(space)


def own_values(scenario: Scenario) -> dict[str, int]:
    """Return the scenario's own value of everything that is varied."""
    return {setting.path: setting.own for setting in search_space(scenario)}


def with_values(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    """Return the scenario with some settings changed; they are checked together."""
    changed: Table = {}
    for path, value in values.items():
        *tables, key = path.split(".")
        entry: Table = {key: value}
        for table in reversed(tables):
            entry = {table: entry}
        changed = merge_tables(changed, entry)
    document = scenario.model_dump(mode="json", by_alias=True)
    return make_scenario(merge_tables(document, changed))


def changes(scenario: Scenario, values: Mapping[str, Any]) -> list[str]:
    """Return the lines of TOML that differ, removed ones with `-` and new ones with `+`."""
    lines, table = [], None
    own = own_values(scenario)
    for path in sorted(path for path in values if values[path] != own[path]):
        header, _, key = path.rpartition(".")
        if header != table:
            lines.append(f"  [{header}]")
            table = header
        lines += [f"- {key} = {own[path]}", f"+ {key} = {values[path]}"]
    return lines
