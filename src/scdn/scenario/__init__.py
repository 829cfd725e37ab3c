"""One frozen, typed description of everything a run needs."""

from scdn.scenario.model import (
    AirLink,
    Churn,
    Device,
    Fading,
    Group,
    Learning,
    Link,
    ListedDevice,
    Momentum,
    Movement,
    Proximal,
    Radio,
    RoundLearning,
    Scenario,
    Sgd,
    Shock,
    Weights,
)
from scdn.scenario.read import make_scenario, read_scenario, warnings_of
from scdn.scenario.write import template, to_toml

__all__ = [
    "AirLink",
    "Churn",
    "Device",
    "Fading",
    "Group",
    "Learning",
    "Link",
    "ListedDevice",
    "Momentum",
    "Movement",
    "Proximal",
    "Radio",
    "RoundLearning",
    "Scenario",
    "Sgd",
    "Shock",
    "Weights",
    "make_scenario",
    "read_scenario",
    "template",
    "to_toml",
    "warnings_of",
]
