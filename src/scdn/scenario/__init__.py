"""One frozen, typed description of everything a run needs; the one place where defaults live."""

from scdn.scenario.definition import Scenario
from scdn.scenario.learning_settings import LearningSettings
from scdn.scenario.mission_settings import Mission
from scdn.scenario.network_settings import (
    DeviceGroup,
    Electronics,
    Fading,
    ListedDevice,
    MobileServer,
    Prices,
    Shock,
)
from scdn.scenario.privacy_settings import Privacy
from scdn.scenario.reader import make_scenario, profile_defaults, read_scenario, scenario_warnings
from scdn.scenario.round_settings import (
    AirLink,
    AnyOptimizer,
    CustomOptimizer,
    DeviceSettings,
    Link,
    Momentum,
    Movement,
    OptimizerKind,
    Proximal,
    Radio,
    RateModel,
    RoundLearningSettings,
    Sgd,
    Weights,
)
from scdn.scenario.toml_writer import scenario_template, to_toml

__all__ = [
    "AirLink",
    "AnyOptimizer",
    "CustomOptimizer",
    "DeviceGroup",
    "DeviceSettings",
    "Electronics",
    "Fading",
    "LearningSettings",
    "Link",
    "ListedDevice",
    "Mission",
    "MobileServer",
    "Momentum",
    "Movement",
    "OptimizerKind",
    "Prices",
    "Privacy",
    "Proximal",
    "Radio",
    "RateModel",
    "RoundLearningSettings",
    "Scenario",
    "Sgd",
    "Shock",
    "Weights",
    "make_scenario",
    "profile_defaults",
    "read_scenario",
    "scenario_template",
    "scenario_warnings",
    "to_toml",
]
