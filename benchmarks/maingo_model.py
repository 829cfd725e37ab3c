"""One round's problem as a model of MAiNGO, a general global solver with McCormick relaxations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from scdn.control.exact.closed_form import DeviceCosts
from scdn.control.problem import RoundProblem
from scdn.scenario import Link
from scdn.world.decibels import db_to_ratio
from scdn.world.link_models.link_model import LIGHT_M_PER_S


def maingo_model_class(mg: Any) -> Any:
    """Return the class of models; its base class is known only once MAiNGO is imported.

    A device out of reach is a step function of its transmission cost. Binary activity variables
    with reach as a constraint gave the same optima, one and a half to three times slower.
    """

    class RoundModel(mg.MAiNGOmodel):  # type: ignore[misc]
        """Minimise Σ min(off, on + price·loss) + movement over the server's position."""

        def __init__(self, problem: RoundProblem, costs: DeviceCosts, on_ground: bool) -> None:
            super().__init__()
            self.problem, self.costs, self.on_ground = problem, costs, on_ground

        def get_variables(self) -> list[Any]:
            x, y, z = (float(side) for side in self.problem.region_m)
            limits = [("x", 0.0, x), ("y", 0.0, y)]
            if not self.on_ground:
                limits.append(("z", self.problem.movement.min_flight_m, z * (1 - 1e-9)))
            return [
                mg.OptimizationVariable(mg.Bounds(low, high), mg.VT_CONTINUOUS, name)
                for name, low, high in limits
            ]

        def get_initial_point(self) -> list[float]:
            return [float(c) for c in self.problem.server_m][: 2 if self.on_ground else 3]

        def evaluate(self, position: Sequence[Any]) -> Any:
            x, y = position[0], position[1]
            z = 0.0 if self.on_ground else position[2]
            total = self._movement(x, y, z)
            for device in range(len(self.problem)):
                total = total + self._device_cost(device, x, y, z)
            result = mg.EvaluationContainer()
            result.objective = total
            return result

        def _device_cost(self, device: int, x: Any, y: Any, z: Any) -> Any:
            problem, costs = self.problem, self.costs
            off, gain = float(costs.off[device]), float(costs.gain[device])
            if gain <= 0:
                return off
            px, py, pz = (float(c) for c in problem.position_m[device])
            link = problem.radio.a2a if pz > 0 and not self.on_ground else problem.radio.a2g
            horizontal_sq = mg.sqr(x - px) + mg.sqr(y - py)
            cost = float(costs.price[device]) * self._path_loss(link, horizontal_sq, z - pz)
            saving = mg.min(cost - gain, 0.0)
            limit = float(costs.price[device] * costs.reach[device])
            return off + (saving * mg.fstep(limit - cost) if limit < gain else saving)

        def _path_loss(self, link: Link, horizontal_sq: Any, rise: Any) -> Any:
            radio = self.problem.radio
            floor, wavenumber = radio.min_distance_m, 4 * math.pi * radio.carrier_hz / LIGHT_M_PER_S
            horizontal = mg.sqrt(mg.max(horizontal_sq, 1e-12))  # its relaxation must stay positive
            rise_sq, height = (
                (rise**2, abs(rise)) if self.on_ground else (mg.sqr(rise), mg.fabs(rise))
            )
            distance = mg.sqrt(mg.max(horizontal_sq + rise_sq, floor**2))
            elevation = mg.atan(height / horizontal)
            angle = math.degrees(1.0) * elevation - link.los_scale
            los_probability = 1.0 / (1.0 + link.los_scale * mg.exp(-link.los_slope * angle))
            los, nlos = db_to_ratio(link.los_loss_db), db_to_ratio(link.nlos_loss_db)
            spread = mg.sqr(distance) if link.exponent == 2 else mg.pow(distance, link.exponent)
            scale = wavenumber**link.exponent * db_to_ratio(radio.margin_db)
            return scale * spread * (nlos - (nlos - los) * los_probability)

        def _movement(self, x: Any, y: Any, z: Any) -> Any:
            problem, move = self.problem, self.problem.movement
            x0, y0, z0 = (float(c) for c in problem.server_m)
            cost = move.lateral_j_per_m * mg.euclidean_norm_2d(x - x0, y - y0)
            if self.on_ground:
                return problem.weights.movement * (cost + move.hover_j)
            climb = mg.log((problem.ceiling_m - z0) / (problem.ceiling_m - z))
            cost = cost + move.hover_j * mg.exp(z / move.altitude_scale_m)
            return problem.weights.movement * (cost + move.climb_j * mg.max(climb, 0.0))

    return RoundModel
