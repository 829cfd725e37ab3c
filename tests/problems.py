"""Random plan requests of every kind, and an independent model to judge plans by.

Nothing here uses the package: formulas are written out again from the documented model.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

DEFAULTS = json.loads(Path(__file__).with_name("defaults.json").read_text())


def random_request(seed: int, count: int | None = None, **fixed) -> dict:
    """Return a request of a random kind; `fixed` replaces top-level values."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 7)) if count is None else count
    size = [[100, 100, 100], [100, 100, 100], [60, 140, 30], [400, 50, 80]][rng.integers(4)]
    pade = rng.random() < 0.3
    delay = 10 ** (rng.uniform(-6.5, -3.5) if pade else rng.uniform(-1.7, -0.3))
    request = {
        "region_m": size,
        "server": {"position_m": _position(rng, size)},
        "radio": {"rate_model": "pade" if pade else "shannon"},
        "max_delay_s": float(delay),
        "integer_iterations": bool(rng.random() < 0.7),
        "max_iterations": int(rng.choice([5, 5, 5, 1, 12])),
        "learning": {"steps_per_iteration": int(rng.choice([1, 1, 1, 4, 20]))},
        "devices": [_device(rng, index, size) for index in range(count)],
    }
    if rng.random() < 0.3:
        request["radio"]["margin_db"] = float(rng.uniform(0, 6))
    if rng.random() < 0.3:
        request["keep_out_m"] = [_box(rng, size) for _ in range(rng.integers(1, 4))]
    if rng.random() < 0.1:
        request["candidates_m"] = [_position(rng, size, flying=True) for _ in range(5)]
    if rng.random() < 0.2:
        name = str(rng.choice(list(DEFAULTS["weights"])))
        request["weights"] = {name: float(DEFAULTS["weights"][name] * rng.choice([0, 0.01, 100]))}
    if rng.random() < 0.2:
        name = str(rng.choice(["hover_j", "climb_j", "lateral_j_per_m"]))
        request["movement"] = {name: float(rng.choice([0, 50]))}
    return {**request, **fixed}


MOVEMENTS = ["paper", "rotary-wing", "landing", "rover", "mast"]


def random_network_request(seed: int, count: int | None = None) -> dict:
    """Return a request with other links, movements, walls, least powers and duty cycles."""
    rng = np.random.default_rng([seed, 1])
    request = random_request(seed, count, radio={"rate_model": "shannon"})
    radio, size = request["radio"], request["region_m"]
    request["max_delay_s"] = float(10 ** rng.uniform(-1.6, 0.3))
    if rng.random() < 0.2:
        radio["rate_model"] = "pade"
        request["max_delay_s"] = float(10 ** rng.uniform(-5.5, -3.5))
    radio["model"] = str(rng.choice(["air-to-ground", "two-ray", "log-distance"]))
    radio["two_ray"] = {"antenna_m": float(rng.uniform(0.3, 10))}
    radio["log_distance"] = {
        "exponent": float(rng.uniform(2, 4)),
        "reference_m": float(rng.choice([1.0, 5.0])),
    }
    radio |= {"noise_figure_db": float(rng.uniform(0, 9)), "snr_gap_db": float(rng.uniform(0, 6))}
    request["round_s"] = float(rng.uniform(1, 60))
    if rng.random() < 0.3:
        radio["duty_cycle"] = float(rng.uniform(0.005, 0.5))
    for device in request["devices"]:
        if rng.random() < 0.5:
            device["wall_loss_db"] = float(rng.uniform(0, 20))
        if rng.random() < 0.5:
            most = device.get("max_power_w", 0.25)
            device["min_power_w"] = float(most * 10 ** rng.uniform(-7, 0))
    movement = str(rng.choice(MOVEMENTS, p=[0.2, 0.4, 0.15, 0.15, 0.1]))
    request["movement"] = {"model": movement, "min_flight_m": float(rng.choice([0.0, 1.0, 10.0]))}
    if movement == "landing":
        request["movement"]["rotary_wing"] = {"cruise_m": 0.4 * size[2]}
    request["weights"] = {"movement": float(10 ** rng.uniform(-6, -3))}
    if movement in ("landing", "rover") and rng.random() < 0.7:
        request["server"]["position_m"][2] = 0.0
    if movement not in ("landing", "mast"):
        request.pop("candidates_m", None)
    elif rng.random() < 0.4:
        request["candidates_m"] = [_position(rng, size, flying=True) for _ in range(5)]
    return request


def _position(rng, size, flying=False) -> list[float]:
    kind = rng.integers(6)
    if kind == 0:
        return [float(x) for x in size] if not flying else [float(size[0]), 0.0, 0.0]
    position = [float(rng.uniform(0, x)) for x in size]
    if kind == 1 or (flying and position[2] < 1):
        position[2] = 0.0
    return position if kind != 2 else [0.0, 0.0, 0.0]


def _box(rng, size) -> list[float]:
    ends = [sorted(float(x) for x in rng.uniform(-0.1 * s, 1.1 * s, 2)) for s in size]
    if rng.random() < 0.5:
        ends[2][0] = 0.0
    return [low for low, _ in ends] + [high + 0.1 for _, high in ends]


def _device(rng, index, size) -> dict:
    device = {
        "id": f"d{index}",
        "position_m": _position(rng, size),
        "max_power_w": float(rng.uniform(0.2, 0.32)),
        "flops_per_cycle": float(rng.uniform(0.0032, 0.0074)),
        "importance": float(rng.uniform(1, 5)),
        "survival": float(rng.uniform(0.7, 1)),
        "smoothness": float(rng.uniform(0.1, 1)),
        "gradient_bound_sq": float(rng.uniform(0.005, 0.06)),
    }
    optimizer = rng.integers(4)
    if optimizer == 1:
        device["optimizer"] = {"kind": "proximal", "mu": float(rng.uniform(0.05, 0.4))}
        device["learning_rate"] = 0.02
    if optimizer == 2:
        device["optimizer"] = {"kind": "momentum", "rho": float(rng.uniform(0.05, 0.6))}
    unusual = [{"payload_bits": 0}, {"bandwidth_hz": 4e6}, {"connections": 0}, {"max_power_w": 0}]
    kind = rng.integers(12)
    return device | (unusual[kind] if kind < len(unusual) else {})


class Model:
    """The documented model of a request, in plain Python."""

    def __init__(self, request: dict) -> None:
        def section(name: str) -> dict:
            return {**DEFAULTS[name], **request.get(name, {})}

        self.request, self.radio, self.learning = request, section("radio"), section("learning")
        self.weights, self.movement_constants = section("weights"), section("movement")
        links = DEFAULTS["radio"]
        self.links = {name: {**links[name], **self.radio[name]} for name in ("a2g", "a2a")}
        self.max_delay = request.get("max_delay_s", DEFAULTS["max_delay_s"])
        self.round_s = request.get("round_s") or 0.0
        if self.round_s:
            share = self.radio.get("duty_cycle", 1.0)
            self.max_delay = min(self.max_delay, share * self.round_s)
        self.max_iterations = request.get("max_iterations", DEFAULTS["max_iterations"])
        self.integer_iterations = request.get("integer_iterations", True)
        self.devices = [{**DEFAULTS["devices"][0], **device} for device in request["devices"]]
        self.before = request["server"]["position_m"]

    def bandwidth(self, device) -> float:
        return device.get("bandwidth_hz") or self.radio["bandwidth_hz"]

    def noise(self, device) -> float:
        beyond = self.radio.get("noise_figure_db", 0) + self.radio.get("snr_gap_db", 0)
        density = 10 ** ((self.radio["noise_dbm_per_hz"] + beyond) / 10) * 1e-3
        return density * self.bandwidth(device)

    def path_loss(self, device, server) -> float:
        walls = 10 ** (device.get("wall_loss_db", 0) / 10)
        model = self.radio.get("model", "air-to-ground")
        if model == "air-to-ground":
            return walls * self._air_to_ground(device, server)
        margin = 10 ** (self.radio["margin_db"] / 10)
        distance = max(math.dist(device["position_m"], server), self.radio["min_distance_m"])
        free_space = 4 * math.pi * self.radio["carrier_hz"] / 299792458
        if model == "two-ray":
            antenna = self.radio["two_ray"]["antenna_m"]
            heights = (server[2] + antenna) * (device["position_m"][2] + antenna)
            crossover = free_space * heights
            if distance < crossover:
                return walls * margin * (free_space * distance) ** 2
            return walls * margin * distance**4 / heights**2
        law = self.radio["log_distance"]
        distance = max(distance, law["reference_m"])
        decibels = 20 * math.log10(free_space * law["reference_m"])
        decibels += 10 * law["exponent"] * math.log10(distance / law["reference_m"])
        return walls * margin * 10 ** (decibels / 10)

    def _air_to_ground(self, device, server) -> float:
        position = device["position_m"]
        link = self.links["a2a" if position[2] > 0 and server[2] > 0 else "a2g"]
        distance = max(math.dist(position, server), self.radio["min_distance_m"])
        run = math.dist(position[:2], server[:2])
        theta = math.degrees(math.atan2(abs(position[2] - server[2]), run))
        scale, slope = link["los_scale"], link["los_slope"]
        p = 1 / (1 + scale * math.exp(-slope * (theta - scale)))
        spreading = 4 * math.pi * self.radio["carrier_hz"] * distance / 299792458
        los, nlos = 10 ** (link["los_loss_db"] / 10), 10 ** (link["nlos_loss_db"] / 10)
        margin = 10 ** (self.radio["margin_db"] / 10)
        return spreading ** link["exponent"] * (p * los + (1 - p) * nlos) * margin

    def delay(self, device, power, server) -> float:
        if device["payload_bits"] == 0:
            return 0.0
        if power == 0:
            return math.inf
        x = power / (self.noise(device) * self.path_loss(device, server))
        nats = math.log1p(x) if self.radio["rate_model"] == "shannon" else x * (6 + x) / (6 + 4 * x)
        return device["payload_bits"] / (self.bandwidth(device) * nats / math.log(2))

    def convergence(self, device, iterations) -> float:
        learning, lr = self.learning, device["learning_rate"]
        q = learning["steps_per_iteration"] * iterations
        mean = largest = 1.0
        kind = device["optimizer"]["kind"]
        if q > 0 and kind == "proximal":
            x = lr * device["optimizer"]["mu"]
            mean = (1 - (1 - x) ** q) / (x * q)
        if q > 0 and kind == "momentum":
            rho = device["optimizer"]["rho"]
            mean = 1 / (1 - rho) + (rho ** (q + 1) - rho) / (q * (1 - rho) ** 2)
            largest = (1 - rho**q) / (1 - rho)
        e = q * device["survival"]
        u = (e * device["smoothness"]) ** 2 * (lr * largest) ** 3
        u += learning["global_smoothness"] * (e * lr * largest) ** 2
        first = learning["initial_loss"] / (learning["rounds"] * len(self.devices))
        second = 2 * (device["gradient_bound_sq"] + device["gradient_variance"]) * u
        below = e * lr * (mean - largest / 2) + learning["epsilon"]
        return device["importance"] * (first + second) / below

    def least_clock(self, device, iterations) -> float:
        q = self.learning["steps_per_iteration"] * iterations
        work = q * 3 * self.learning["batch_size"] * device["connections"]
        return work / (self.learning["compute_deadline_s"] * device["flops_per_cycle"])

    def processing(self, device, iterations, clock) -> float:
        q = self.learning["steps_per_iteration"] * iterations
        work = q * 3 * device["connections"] * device["capacitance"] * self.learning["batch_size"]
        return work / (2 * device["flops_per_cycle"]) * clock**2

    def movement(self, server) -> float:
        m, top = self.movement_constants, self.request["region_m"][2]
        model = m.get("model", "paper")
        if model == "mast":
            return 0.0
        if model == "rover":
            return 5 * self.round_s + 30 * math.dist(server[:2], self.before[:2])
        if model != "paper":
            return self._rotary_wing(server, model)
        energy = m["hover_j"] * math.exp(server[2] / m["altitude_scale_m"])
        if server[2] > self.before[2]:
            energy += m["climb_j"] * math.log((top - self.before[2]) / (top - server[2]))
        return energy + m["lateral_j_per_m"] * math.dist(server[:2], self.before[:2])

    def _rotary_wing(self, server, model) -> float:
        """Return watts times seconds, with the constants of Zeng, Xu and Zhang (2019)."""
        v, v0 = 18.3, 4.03
        level = 79.86 * (1 + 3 * v**2 / 120**2) + 0.5 * 0.6 * 1.225 * 0.05 * 0.503 * v**3
        level += 88.63 * math.sqrt(math.sqrt(1 + v**4 / (4 * v0**4)) - v**2 / (2 * v0**2))
        climb = 79.86 + 88.63 * (1.5 + math.sqrt(1.5**2 + v0**2)) / v0
        sink = 79.86 + 88.63 * (-1 + math.sqrt(1 + v0**2)) / v0
        before, after = self.before[2], server[2]
        cruise = max(before, after)
        if model == "landing" and list(server) != list(self.before):
            cruise = max(cruise, self.movement_constants["rotary_wing"]["cruise_m"])
        energy = climb * (cruise - before) / 3 + sink * (cruise - after) / 2
        energy += level * math.dist(server[:2], self.before[:2]) / v
        hovers = model == "rotary-wing" and after > 0
        return energy + (79.86 + 88.63 if hovers else 5.0) * self.round_s

    def objective(self, answer: dict) -> float:
        """Return the objective of a plan's JSON, after checking delays and clocks."""
        server, w = answer["server"]["position_m"], self.weights
        total = w["movement"] * self.movement(server)
        for device, plan in zip(self.devices, answer["devices"], strict=True):
            assert device["id"] == plan["id"]
            total += w["convergence"] * self.convergence(device, plan["iterations"])
            clock = plan["cpu_hz"]
            total += w["processing"] * self.processing(device, plan["iterations"], clock)
            if plan["active"]:
                delay = self.delay(device, plan["power_w"], server)
                assert delay <= self.max_delay * (1 + 1e-9)
                total += w["transmission"] * plan["power_w"] * delay
                assert plan["delay_s"] == close(delay)
                sends = device["payload_bits"] > 0
                assert not sends or plan["power_w"] >= device.get("min_power_w", 0) * (1 - 1e-12)
            assert clock >= self.least_clock(device, plan["iterations"]) * (1 - 1e-9)
        return total

    def allowed(self, server) -> bool:
        size, z = self.request["region_m"], server[2]
        inside = all(0 <= x <= s for x, s in zip(server, size, strict=True))
        model = self.movement_constants.get("model", "paper")
        if model == "mast" and not self.request.get("candidates_m"):
            return list(server) == list(self.before)
        at_flight_height = z == 0 or z >= self.movement_constants["min_flight_m"]
        if model in ("landing", "rover", "mast"):
            at_flight_height = z == 0 or bool(self.request.get("candidates_m"))
        below_ceiling = z < size[2] or self.before[2] == size[2]
        boxes = self.request.get("keep_out_m", [])
        free = not any(self._is_in_box(server, box) for box in boxes)
        return inside and at_flight_height and below_ceiling and free

    def _is_in_box(self, server, box) -> bool:
        """Return whether a position is inside a box, which is closed at the region's faces."""
        for i, size in enumerate(self.request["region_m"]):
            low, high = box[i], box[i + 3]
            at_face = (server[i] == low == 0) or (server[i] == high == size)
            if not (low < high and (low < server[i] < high or at_face)):
                return False
        return True

    def device_costs(self) -> list[tuple[float, float, float, float]]:
        """Return, per device, its cost when off and when on (without sending), P/loss and P_max."""
        return [
            (
                self.weights["convergence"] * self.convergence(device, 0),
                self._running_cost(device),
                self._least_power_per_loss(device),
                device["max_power_w"],
            )
            for device in self.devices
        ]

    def _running_cost(self, device) -> float:
        tries = range(self.max_iterations + 1)
        if not self.integer_iterations:
            tries = np.linspace(0, self.max_iterations, 400 * max(1, self.max_iterations) + 1)
        best = math.inf
        for iterations in tries:
            clock = self.least_clock(device, iterations)
            if clock <= device["cpu_max_hz"]:
                cost = self.weights["convergence"] * self.convergence(device, iterations)
                clock = max(clock, device["cpu_min_hz"])
                cost += self.weights["processing"] * self.processing(device, iterations, clock)
                best = min(best, cost)
        return best

    def _least_power_per_loss(self, device) -> float:
        nats = device["payload_bits"] * math.log(2) / (self.bandwidth(device) * self.max_delay)
        if self.radio["rate_model"] == "shannon":
            snr = math.expm1(nats) if nats < 700 else math.inf
        else:
            snr = (4 * nats - 6 + math.sqrt((4 * nats - 6) ** 2 + 24 * nats)) / 2
        return self.noise(device) * snr

    def best_at(self, server, costs) -> float:
        """Return the best objective with the server at a position."""
        total = self.weights["movement"] * self.movement(server)
        for device, (off, on, per_loss, limit) in zip(self.devices, costs, strict=True):
            power, delay = per_loss * self.path_loss(device, server) if per_loss else 0.0, 0.0
            if power:
                floored = power < device.get("min_power_w", 0)
                power = max(power, device.get("min_power_w", 0))
                delay = self.delay(device, power, server) if floored else self.max_delay
            cost = on + self.weights["transmission"] * power * delay
            total += min(off, cost) if power <= limit else off
        return total

    def search(self, seed: int, starts: int = 300, steps: int = 400) -> float:
        """Return the best objective that a random multi-start search with refinement finds."""
        rng, size = np.random.default_rng(seed), np.array(self.request["region_m"], dtype=float)
        costs = self.device_costs()
        if self.request.get("candidates_m"):
            candidates = filter(self.allowed, self.request["candidates_m"])
            return min(self.best_at(position, costs) for position in candidates)
        positions = [list(rng.uniform(0, 1, 3) * size) for _ in range(starts)]
        positions += [[x, y, 0.0] for x, y, _ in positions[::3]] + [list(self.before)]
        for device in self.devices:
            x, y, z = device["position_m"]
            positions += [[x, y, h] for h in (0.0, z, z + 1.5, 1.0, 0.3 * size[2], 0.7 * size[2])]
        allowed = filter(self.allowed, positions)
        best = sorted((self.best_at(position, costs), position) for position in allowed)[:3]
        return min(self._refine(rng, value, start, size, costs, steps) for value, start in best)

    def _refine(self, rng, value, position, size, costs, steps) -> float:
        """Return the best objective on a random walk that only accepts improvements."""
        stride, limits = 0.1 * float(size.max()), size.tolist()
        stays_low = (rng.random(steps) < 0.7).tolist()
        for move, low in zip(rng.normal(0, 1, (steps, 3)).tolist(), stays_low, strict=True):
            axes = zip(position, move, limits, strict=True)
            trial = [min(max(x + stride * step, 0.0), limit) for x, step, limit in axes]
            if position[2] == 0 and low:
                trial[2] = 0.0
            if self.allowed(trial):
                trial_value = self.best_at(trial, costs)
                if trial_value < value:
                    value, position = trial_value, trial
                    continue
            stride = max(0.97 * stride, 1e-4)
        return value


def close(number: float, rel: float = 1e-9):
    import pytest

    return pytest.approx(number, rel=rel, abs=1e-300)
