"""The settings that tuning varies, and the values that it tries.

Ranges lie around the scenario's own value. Costs of the network (payload, prices, batteries) stay
as they are: a tuned scenario is the same network, which learns better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from scdn.file_io import Table, merge_tables, to_json
from scdn.scenario import LearningSettings, Scenario, make_scenario

if TYPE_CHECKING:
    from optuna import Trial

Value: TypeAlias = "float | str"  # of a setting

HOLDOUT = 0.2  # of the training rows; the scores of trials are on these
LONGEST = 16.0  # times the scenario's own deadline of computing
DIGITS = 3  # significant ones, of numbers that are not whole


@dataclass(frozen=True)
class TunedSetting:
    """A number that is drawn from a range, on a logarithmic scale; whole where its own value is."""

    path: str
    own: float
    low: float
    high: float

    @classmethod
    def around(cls, path: str, own: int, factor: int, least: int = 1) -> TunedSetting:
        """Return the setting from `own / factor`, or `least` if that is more, to `own * factor`."""
        low = min(own, max(least, own // factor))
        return cls(path, own, low, max(least, own) * factor)

    def suggest(self, trial: Trial) -> float:
        """Return the number that a trial draws."""
        if isinstance(self.own, int):
            return trial.suggest_int(self.path, int(self.low), int(self.high), log=True)
        return trial.suggest_float(self.path, self.low, self.high, log=True)

    def value(self, drawn: Any) -> float:
        """Return the value that a drawn number stands for."""
        if isinstance(self.own, int):
            return int(drawn)
        return self.own if drawn == self.own else float(f"{drawn:.{DIGITS}g}")


@dataclass(frozen=True)
class TunedChoice:
    """A setting with a few values to choose from."""

    path: str
    own: str
    choices: tuple[str, ...]

    def suggest(self, trial: Trial) -> str:
        """Return a trial's value."""
        return trial.suggest_categorical(self.path, self.choices)

    def value(self, drawn: Any) -> str:
        """Return the value, which is what was drawn."""
        return str(drawn)


def search_space(scenario: Scenario) -> tuple[TunedSetting | TunedChoice, ...]:
    """Return what is varied for a scenario."""
    learning = scenario.learning
    space: list[TunedSetting | TunedChoice] = [
        TunedSetting.around("learning.steps_per_iteration", learning.steps_per_iteration, 16),
        TunedSetting.around("learning.batch_size", learning.batch_size, 4, least=8),
        TunedSetting.around("learning.fusion_hidden", learning.fusion_hidden, 4, least=8),
        TunedSetting.around("learning.rounds", learning.rounds, 2, least=2),
    ]
    if learning.model in ("auto", "mlp"):
        space.append(TunedSetting.around("learning.hidden", learning.hidden, 4, least=8))
    if learning.server_optimizer == "adam" and learning.server_steps:
        space.append(TunedSetting.around("learning.server_steps", learning.server_steps, 4))
    if scenario.round_s is None and scenario.mission.deadline_s is None:  # nobody is in a hurry
        own_s = float(learning.compute_deadline_s)
        path = "learning.compute_deadline_s"
        space.append(TunedSetting(path, own_s, own_s, LONGEST * own_s))
    optimizers = get_args(LearningSettings.model_fields["local_optimizer"].annotation)
    path = "learning.local_optimizer"
    return (*space, TunedChoice(path, learning.local_optimizer, optimizers))


def own_values(scenario: Scenario) -> dict[str, Value]:
    """Return the scenario's own value of everything that is varied."""
    return {setting.path: setting.own for setting in search_space(scenario)}


def changed_values(scenario: Scenario, drawn: Mapping[str, Value]) -> dict[str, Value]:
    """Return the settings of the trial with these numbers: those drawn, and what all have."""
    if drawn == own_values(scenario):
        return dict(drawn)
    values: dict[str, Value] = {}
    for entry in search_space(scenario):
        values[entry.path] = entry.value(drawn[entry.path])
    return values | settings_for_score(scenario)


def generous_values(scenario: Scenario) -> dict[str, Value]:
    """Return values with which far more is trained in a round, by Adam, as a second guess."""
    generous: dict[str, Value] = {
        "learning.local_optimizer": "adam",
        "learning.server_steps": 2 * scenario.learning.server_steps,
        "learning.steps_per_iteration": 8 * scenario.learning.steps_per_iteration,
        "learning.batch_size": 4 * scenario.learning.batch_size,
        "learning.compute_deadline_s": LONGEST * scenario.learning.compute_deadline_s,
    }
    return {path: generous.get(path, own) for path, own in own_values(scenario).items()}


def settings_for_score(scenario: Scenario) -> dict[str, Value]:
    """Return what is changed in every trial but the first: what counts is the score.

    A mission without a target or a budget would weigh energy against progress.
    """
    mission = scenario.mission
    open_ended = not (mission.target or scenario.targets or mission.budget_j or mission.worth_j)
    if scenario.method == "mission" and open_ended and mission.goal != "best":
        return {"mission.goal": "best"}
    return {}


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
    document = scenario.model_dump(mode="json", by_alias=True)
    for path in sorted(values):
        header, _, key = path.rpartition(".")
        own = document[header][key]
        if values[path] == own:
            continue
        if header != table:
            lines.append(f"  [{header}]")
            table = header
        lines += [f"- {key} = {to_json(own, None)}", f"+ {key} = {to_json(values[path], None)}"]
    return lines
