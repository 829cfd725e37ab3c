"""One round's problem P^r as arrays, with the formulas of its model."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike

from scdn import theory
from scdn.arrays import Array, IntArray, Mask, floats
from scdn.control.round_option import RoundOption
from scdn.scenario import Radio, RoundLearningSettings, Weights
from scdn.theory import StepWeights, step_weights
from scdn.world import energy, geometry, transmission
from scdn.world.flight_routes import FlightRoutes
from scdn.world.link_models import LinkModel, link_model, path_loss
from scdn.world.movement_models import MovementJ, MovementModel

TOLERANCE = 1e-9  # relative, on every limit
SMALLEST_OBJECTIVE = 1e-12  # a gap is relative to the objective, or to this


@dataclass(frozen=True, eq=False)
class RoundProblem:
    """What a round's controller is given: region, channel, weights, and N devices as arrays."""

    region_m: Array
    server_m: Array  # the server's position before the round
    radio: Radio
    weights: Weights
    movement: MovementModel
    learning: RoundLearningSettings
    max_delay_s: float  # of a report; the duty cycle is taken into account
    max_iterations: int
    integer_iterations: bool
    keep_out_m: Array  # (K, 6), closed at the region's faces: see `closed_at_faces`
    candidates_m: Array | None  # (C, 3)
    ids: tuple[str, ...]
    position_m: Array  # (N, 3); from here to optimizer_value, one entry per device
    max_power_w: Array
    min_power_w: Array
    wall_loss_db: Array
    payload_bits: Array
    bandwidth_hz: Array
    cpu_min_hz: Array
    cpu_max_hz: Array
    capacitance: Array
    connections: Array
    flops_per_cycle: Array
    importance: Array
    survival: Array
    learning_rate: Array
    smoothness: Array
    gradient_bound_sq: Array
    gradient_variance: Array
    optimizer: IntArray  # SGD, PROXIMAL or MOMENTUM of scdn.theory
    optimizer_value: Array  # mu, rho, or 0
    forgone: Array | None = None  # (N, τ^g + 1): replaces the bound, by number of iterations
    fixed_cost: float = 0.0  # of the objective, whatever is decided, such as the price of time
    iteration_caps: Array | None = None  # of each device, below τ^g
    deadlines_s: Array | None = None  # (N,): replaces the scenario's compute_deadline_s
    network_size: int = -1  # N of Theorem 1's bound; by default the number of devices here
    option: RoundOption | None = None  # duration and bits that this is the problem of, if chosen
    noise_w: Array = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise_w", transmission.noise_w(self.radio, self.bandwidth_hz))
        if self.network_size < 0:
            object.__setattr__(self, "network_size", len(self.ids))

    def take(self, which: IntArray) -> RoundProblem:
        """Return the problem of some of the devices; the bound keeps the network's N."""
        arrays = {name: getattr(self, name)[which] for name in DEVICE_COLUMNS}
        for name in ("forgone", "iteration_caps", "deadlines_s"):
            values = getattr(self, name)
            arrays[name] = None if values is None else values[which]
        return replace(self, ids=tuple(self.ids[i] for i in which), **arrays)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def link(self) -> LinkModel:
        """Return the model of path losses."""
        return link_model(self.radio)

    @property
    def stays(self) -> bool:
        """Return whether the server is a mast, and there is no other to take its place."""
        return not self.movement.moves and self.candidates_m is None

    @property
    def ceiling_m(self) -> float:
        """Return z_max, where the server may only be if it was there before."""
        return float(self.region_m[2])

    def steps(self, iterations: ArrayLike) -> Array:
        """Return the mini-batch steps q of some iterations."""
        return self.learning.steps_per_iteration * floats(iterations)

    def cycles(self, iterations: ArrayLike) -> Array:
        """Return the clock cycles of some iterations."""
        q = self.steps(iterations)
        return energy.cycles(q, self.learning.batch_size, self.connections, self.flops_per_cycle)

    def selected_ids(self, mask: Mask) -> list[str]:
        """Return the ids of the devices for which the mask is true."""
        return [self.ids[n] for n in np.flatnonzero(mask)]

    def iteration_cap(self) -> Array:
        """Return τ^g, or the lower cap of a device."""
        most = np.full(len(self), float(self.max_iterations))
        return most if self.iteration_caps is None else np.minimum(most, self.iteration_caps)

    @property
    def compute_deadline_s(self) -> float | Array:
        """Return the time in which a device must have computed, if need be of each device."""
        own = self.deadlines_s
        return self.learning.compute_deadline_s if own is None else own

    def most_iterations(self) -> Array:
        """Return the most iterations, relaxed, that the fastest clock, τ^g and caps allow."""
        per_iteration = self.cycles(np.ones(len(self)))
        budget = self.cpu_max_hz * self.compute_deadline_s
        limit = self.iteration_cap()
        by_clock = np.divide(budget, per_iteration, out=limit.copy(), where=per_iteration > 0)
        return np.minimum(limit, by_clock)

    def iteration_limit(self) -> Array:
        """Return `most_iterations`, rounded down where iterations must be whole."""
        limit = self.most_iterations()
        # the tiny factor keeps a whole number that rounding error made a little smaller
        return np.floor(limit * (1 + 1e-12)) if self.integer_iterations else limit

    def least_cpu_hz(self, iterations: ArrayLike) -> Array:
        """Return the slowest clock that carries the iterations; it may exceed the fastest."""
        cycles = self.cycles(iterations)
        return energy.least_cpu_hz(cycles, self.compute_deadline_s, self.cpu_min_hz)

    def processing_j(self, iterations: ArrayLike, cpu_hz: ArrayLike) -> Array:
        """Return the energy of computing the iterations at a clock."""
        return energy.processing_j(self.cycles(iterations), self.capacitance, cpu_hz)

    def convergence(self, iterations: ArrayLike) -> Array:
        """Return each device's term of Theorem 1's bound, times its importance γ.

        A plan by worth has the worth of the progress that is forgone instead.
        """
        if self.forgone is not None:
            counts = np.rint(floats(iterations)).astype(np.int64)
            return np.asarray(self.forgone[np.arange(len(self)), counts])
        q = self.steps(iterations)
        weights = self.step_weights(q)
        drift = self.drift(q * self.survival, weights.largest)
        return self.importance * self.bound(drift, self.progress(q))

    def step_weights(self, q: Array) -> StepWeights:
        """Return w̄ and w_max of q steps."""
        return step_weights(self.optimizer, q, self.learning_rate, self.optimizer_value)

    def drift(self, effective_steps: Array, largest_weight: Array) -> Array:
        """Return the bound's Υ."""
        global_smoothness = self.learning.global_smoothness
        return theory.drift(
            effective_steps, self.learning_rate, largest_weight, self.smoothness, global_smoothness
        )

    def progress(self, q: Array) -> Array:
        """Return the bound's denominator 1/υ + ε after q steps."""
        mean, largest = self.step_weights(q)
        effective, epsilon = q * self.survival, self.learning.epsilon
        return theory.progress(effective, self.learning_rate, mean, largest, epsilon)

    def bound(self, drift: Array, progress: Array) -> Array:
        """Return each device's term of Theorem 1's bound, before importance."""
        initial = self.learning.initial_loss / (self.learning.rounds * max(self.network_size, 1))
        return theory.theorem_1(
            initial, self.gradient_bound_sq, self.gradient_variance, drift, progress
        )

    def path_loss(self, server_m: ArrayLike) -> Array:
        """Return the mean path loss of every link to server positions (…, 3): (…, N)."""
        return path_loss(server_m, self.position_m, self.radio, self.wall_loss_db)

    def least_power_per_loss(self) -> Array:
        """Return the least power that meets the delay at a path loss of 1; it is proportional."""
        link = (self.payload_bits, self.bandwidth_hz, self.noise_w, self.max_delay_s)
        return transmission.least_power(np.ones(len(self)), *link, self.radio.rate_model)

    def least_power(self, server_m: ArrayLike) -> Array:
        """Return the least power that reports in time to positions (…, 3); it may exceed P_max.

        It is not below the least power that the device can transmit.
        """
        per_loss = self.least_power_per_loss()
        with np.errstate(over="ignore", invalid="ignore"):
            needed = np.maximum(per_loss * self.path_loss(server_m), self.min_power_w)
            return np.where(per_loss > 0, needed, 0.0)

    def delay_s(self, power_w: ArrayLike, loss: ArrayLike) -> Array:
        """Return the time that each device needs to send its payload."""
        snr = transmission.snr(power_w, loss, self.noise_w)
        rate = transmission.rate(snr, self.bandwidth_hz, self.radio.rate_model)
        return transmission.delay(self.payload_bits, rate)

    @cached_property
    def routes(self) -> FlightRoutes | None:
        """Return the flights around keep-out boxes, where they matter."""
        if not self.movement.goes_around or not len(self.keep_out_m):
            return None
        boxes = self.keep_out_m.copy()
        if not self.movement.flies:
            boxes[:, 5] = np.inf
        return FlightRoutes(
            self.server_m,
            boxes,
            self.region_m,
            self.movement.lateral_j_per_m,
            partial(self.movement.altitude_j, ceiling_m=self.ceiling_m),
            self.movement.cruise_m,
        )

    def movement_j(self, server_m: ArrayLike) -> MovementJ:
        """Return the server's energy of moving to positions (…, 3) and staying there."""
        flights = self._flights(server_m)
        return self.movement.energy_j(self.server_m, server_m, self.ceiling_m, *flights)

    def flight_s(self, server_m: ArrayLike) -> Array:
        """Return the time of the flight to positions (…, 3)."""
        return self.movement.flight_s(self.server_m, server_m, *self._flights(server_m))

    def _flights(self, server_m: ArrayLike) -> tuple[Array, Array] | tuple[()]:
        """Return lengths and altitudes of flights, if they are not straight.

        To positions behind a wall that cannot be passed, which are no plan, they are straight too.
        """
        if self.routes is None:
            return ()
        length, cruise = self.routes.flights(server_m)
        step = floats(server_m)[..., :2] - self.server_m[:2]
        straight = np.hypot(step[..., 0], step[..., 1])
        return np.where(np.isinf(length), straight, length), cruise

    def allowed(self, server_m: ArrayLike) -> Mask:
        """Return whether the server may be at positions (…, 3), candidates and flights aside."""
        p = floats(server_m)
        z = p[..., 2]
        if self.stays:
            return np.asarray((p == self.server_m).all(axis=-1))
        roofs = self.movement.flies or not self.movement.moves  # a rover does not climb
        on_candidates = self.movement.on_ground and roofs and self.candidates_m is not None
        at_height = (z == 0) | (z >= self.movement.min_flight_m) | on_candidates
        below_ceiling = (z < self.ceiling_m) | (self.server_m[2] == self.ceiling_m)
        inside = geometry.in_region(p, self.region_m)
        free = ~geometry.in_keep_out(p, self.keep_out_m)
        return at_height & below_ceiling & inside & free

    def reachable(self, server_m: ArrayLike) -> Mask:
        """Return whether a flight leads to positions (…, 3)."""
        if self.routes:
            return self.routes.reachable(server_m)
        return np.ones(floats(server_m).shape[:-1], dtype=np.bool_)


_FIELDS = [f.name for f in fields(RoundProblem)]
DEVICE_COLUMNS = _FIELDS[_FIELDS.index("position_m") : _FIELDS.index("optimizer_value") + 1]
