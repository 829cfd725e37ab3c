"""Networks of the Plan page written as scenarios, and what a scenario cannot take over."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from scdn.control.plan_request import SCENARIO_FIELDS, PlanRequest
from scdn.errors import dotted, format_value
from scdn.file_io import Table
from scdn.scenario import DeviceSettings, ListedDevice, Prices, Scenario, Weights, to_toml
from scdn.simulation.request_builder import round_request
from scdn.studio.api_models import SavedScenario, SaveScenarioRequest
from scdn.studio.planner import checked_request
from scdn.studio.uploads import leaves, read_scenario_text
from scdn.world.churn import churn_trace

_MEASURED = "a run measures it; until then it is"
_LONGEST_SCALE = 1e12  # rounds: a device that stays
_SHORTEST_SCALE = 1e-3
_WHY = {
    "importance": _MEASURED,
    "smoothness": _MEASURED,
    "gradient_bound_sq": _MEASURED,
    "gradient_variance": _MEASURED,
    "survival": "follows from lifetimes; in round 0 it is",
    "payload_bits": "a run sends what its protocol needs; in round 0 it is",
    "connections": "follows from the model that a run trains; it is",
    "optimizer": "a run's own optimizer counts as",
}


def save_scenario(form: SaveScenarioRequest) -> SavedScenario:
    """Return the request's network as a scenario in TOML, and what it could not take over."""
    request = checked_request(form.request)
    base = (
        _plain_scenario(form.name) if form.scenario is None else read_scenario_text(form.scenario)
    )
    listed = churn_trace(base).fleet.to_devices() if base.fleet or base.devices else []
    known = {device.id: device for device in listed}
    scenario = base.model_copy(
        update={
            **{name: getattr(request, name) for name in SCENARIO_FIELDS},
            **_weights(base, request.weights),
            "server": base.server.model_copy(update={"position_m": request.server.position_m}),
            "learning": base.learning.model_copy(update=dict(request.learning)),
            "fleet": tuple(group.model_copy(update={"count": 0}) for group in base.fleet),
            "devices": tuple(_listed(device, known.get(device.id)) for device in request.devices),
        }
    )
    text = to_toml(scenario)
    reopened = read_scenario_text(text, form.name)  # model_copy validates nothing
    lost = list(_lost(request, round_request(reopened)))
    if base.prices is not None and reopened.prices is None:
        lost.append(
            "prices: left out, since joules of transmission and processing differ in weight"
        )
    return SavedScenario(text=text, lost=lost)


def _plain_scenario(name: str) -> Scenario:
    """Return a scenario whose reports are as large as a request says."""
    scenario = Scenario(name=name)
    return scenario.model_copy(
        update={"learning": scenario.learning.model_copy(update={"payload": "model"})}
    )


def _weights(base: Scenario, weights: Weights) -> Table:
    """Return the weights as a scenario has them: prices take the place of those of joules."""
    if base.prices is None:
        return {"weights": weights}
    if weights.transmission != weights.processing:
        return {"weights": weights, "prices": None}
    prices = Prices(device=weights.transmission, server=weights.movement)
    return {"weights": base.weights.model_copy(update={"convergence": weights.convergence}),
            "prices": prices}  # fmt: skip


def _listed(device: DeviceSettings, known: ListedDevice | None) -> ListedDevice:
    """Return a device with what a scenario says of it beyond a plan request.

    Of a device that the scenario does not have, the lifetime is that of its survival.
    """
    if known is None:
        return ListedDevice(**dict(device), weibull_scale_rounds=_weibull_scale(device.survival))
    names = ListedDevice.model_fields.keys() - DeviceSettings.model_fields.keys()
    return ListedDevice(**dict(device), **{name: getattr(known, name) for name in names})


def _weibull_scale(survival: float) -> float:
    """Return the scale with which a new device survives its first round with a probability.

    The shape is 1, for which survival does not depend on the age.
    """
    if survival in (0.0, 1.0):
        return _LONGEST_SCALE if survival else _SHORTEST_SCALE
    return min(max(-1 / math.log(survival), _SHORTEST_SCALE), _LONGEST_SCALE)


def _lost(request: PlanRequest, reopened: PlanRequest) -> Iterator[str]:
    """Yield a line for each setting that differs when the scenario is opened again."""
    before, after = _values(request), _values(reopened)
    paths = dict.fromkeys((*before, *after))  # those of nulls are in neither
    changed = [path for path in paths if not _same(before.get(path), after.get(path))]
    devices = [path for path in changed if path[0] == "devices"]
    for path in changed:
        if path[0] != "devices":
            was, becomes = format_value(before.get(path)), format_value(after.get(path))
            yield f"{dotted(path)}: {was} becomes {becomes}"
    for field, count in Counter(path[2] for path in devices).items():
        then = next(after.get(path) for path in devices if path[2] == field)
        why = _WHY.get(str(field), "a scenario has no place for it; it is")
        yield f"{field} of {count} device{'s'[: count != 1]}: {why} {format_value(then)}"


def _values(request: PlanRequest) -> dict[tuple[str | int, ...], object]:
    return dict(leaves(request.model_dump(mode="json", by_alias=True)))


def _same(before: object, after: object) -> bool:
    if isinstance(before, float) and isinstance(after, float):
        return math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-12)
    return before == after
