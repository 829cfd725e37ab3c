"""The mission's bound: no plan buys a run's progress for less."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from conftest import many
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import Model, random_network_request

from scdn.control.plan_request import make_request, problem_of
from scdn.control.solve import solve
from scdn.control.worth import RoundWorth, problem_by_worth
from scdn.errors import InputError
from scdn.mission.bound import MissionBound, billed_round, mission_bound
from scdn.mission.free_round import BoundRound
from scdn.scenario import Fading, Prices
from scdn.simulation.outcome import realise
from scdn.world.fading import draw_channel

seeds = st.integers(0, 2**32 - 1)
PRICES = Prices(device=1.0, server=0.3)
TIGHT = {"tolerance": 1e-7, "max_passes": 60}


# --- missions small enough to enumerate every plan ------------------------------------------------


def small_request(rng, most):
    """Return a request with at most three devices, and a mast or at most three positions."""
    size = [80.0, 60.0, 40.0]
    movement = str(rng.choice(["mast", "landing", "paper"]))

    def position(z):
        return [*(float(x) for x in rng.uniform(0, size[:2])), float(z)]

    devices = [
        {
            "id": f"d{index}",
            "position_m": position(rng.choice([0.0, rng.uniform(0, 30)])),
            "max_power_w": float(rng.choice([0.25, 10 ** rng.uniform(-5, -1)])),
            "min_power_w": float(rng.choice([0.0, 1e-6])),
            "flops_per_cycle": float(rng.uniform(0.0032, 0.0074)),
            "cpu_max_hz": float(rng.choice([2.3e9, 5e8])),
            "wall_loss_db": float(rng.choice([0.0, rng.uniform(0, 20)])),
        }
        for index in range(rng.integers(1, 4))
    ]
    request = {
        "region_m": size,
        "server": {"position_m": position(0.0 if movement == "landing" else 20.0)},
        "movement": {"model": movement},
        "max_delay_s": float(10 ** rng.uniform(-1.5, -0.3)),
        "max_iterations": most,
        "round_s": float(rng.uniform(0.01, 0.5)),
        "devices": devices,
    }
    if movement != "mast" or rng.random() < 0.5:
        request["candidates_m"] = [position(rng.uniform(1, 30)) for _ in range(rng.integers(1, 4))]
    return request


def small_round(rng, most):
    """Return a round for the bound, and the (joules, gain) of every decision, skipping included."""
    request = small_request(rng, most)
    count = len(request["devices"])
    gains = rng.uniform(-0.1, 1, (count, 1)) * np.arange(most + 1) ** rng.uniform(0.2, 1.2)
    base, fixed = float(rng.uniform(-0.2, 0.5)), float(rng.choice([0.0, rng.uniform(0, 1)]))
    entry = BoundRound(problem_of(make_request(request)), gains, base, fixed)
    return entry, decisions(request, gains, base, fixed)


def decisions(request, gains, base, fixed):
    """Return (joules, gain) of every decision by the documented model."""
    model = Model(request)
    points = [(0.0, 0.0)]
    for server in request.get("candidates_m") or [request["server"]["position_m"]]:
        choices = [
            device_choices(model, device, server, gains[n])
            for n, device in enumerate(model.devices)
        ]
        staying = PRICES.server * staying_j(model, server) + fixed
        for chosen in itertools.product(*choices):
            joules, bought = np.sum(chosen, axis=0)
            points.append((staying + joules, base + bought))
    return points


def staying_j(model, server):
    constants = model.movement_constants
    kind = constants["model"]
    if kind == "paper":
        return constants["hover_j"] * math.exp(server[2] / constants["altitude_scale_m"])
    return 5.0 * model.round_s if kind == "landing" else 0.0


def device_choices(model, device, server, gains, prices=PRICES):
    """Return (joules, gain) of a device that rests or trains, as far as it can."""
    choices = [(0.0, float(gains[0]))]
    power = model._least_power_per_loss(device) * model.path_loss(device, server)
    power = max(power, device.get("min_power_w", 0.0))
    if power > device["max_power_w"]:
        return choices
    sending = power * model.delay(device, power, server)
    for iterations in range(1, len(gains)):
        clock = max(model.least_clock(device, iterations), device["cpu_min_hz"])
        if clock <= device["cpu_max_hz"]:
            running = model.processing(device, iterations, clock)
            joules = prices.device * (sending + running)
            choices.append((joules, float(gains[iterations])))
    return choices


def undominated(points):
    """Return points of which none costs more and gains less than another, cheapest first."""
    front, most = [], -math.inf
    for joules, gain in sorted(points, key=lambda point: (point[0], -point[1])):
        if gain > most:
            front.append((joules, gain))
            most = gain
    return front


def all_plans(rounds):
    """Return the undominated (joules, gain) of all plans of a mission."""
    front = [(0.0, 0.0)]
    for points in rounds:
        sums = itertools.product(front, undominated(points))
        front = undominated([(a + c, b + d) for (a, b), (c, d) in sums])
    return front


def on_hull(front, progress):
    """Return the least joules for this gain, if plans could be mixed."""
    least = math.inf
    for (a, b), (c, d) in itertools.product(front, repeat=2):
        if b >= progress:
            least = min(least, a)
        elif d >= progress:
            least = min(least, a + (c - a) * (progress - b) / (d - b))
    return least


def small_mission(seed):
    rng = np.random.default_rng(seed)
    most = int(rng.integers(1, 3))
    entries, points = zip(*(small_round(rng, most) for _ in range(rng.integers(2, 5))), strict=True)
    return rng, list(entries), all_plans(points)


@settings(max_examples=many(2000))
@given(seeds)
def test_bound_is_the_hull_of_all_plans(seed):
    """It is never above the best plan, and equal to it wherever that is on the convex hull."""
    rng, entries, front = small_mission(seed)
    most = front[-1][1]
    before = 0.0
    for progress in sorted([*rng.uniform(0, most, 3), most, *rng.choice([g for _, g in front], 2)]):
        bound = mission_bound(entries, PRICES, float(progress), **TIGHT)
        optimum = min(joules for joules, gain in front if gain >= progress)
        assert bound.joules <= optimum * (1 + 1e-9) + 1e-12
        assert bound.joules == pytest.approx(on_hull(front, progress), rel=1e-6, abs=1e-9)
        assert optimum <= bound.attained_j * (1 + 1e-9)
        assert bound.joules >= before * (1 - 1e-6)  # more progress never costs less
        before = bound.joules


@given(seeds)
def test_progress_beyond_reach_has_no_price(seed):
    _, entries, front = small_mission(seed)
    most = front[-1][1]
    assert mission_bound(entries, PRICES, most + 1e-6).joules == math.inf
    assert mission_bound(entries, PRICES, most + 1e6) == MissionBound(
        math.inf, math.inf, math.inf, 0
    )


@given(seeds, st.sampled_from([0.0, -1.0]))
def test_no_progress_costs_nothing(seed, progress):
    _, entries, _ = small_mission(seed)
    assert mission_bound(entries, PRICES, progress) == MissionBound(0.0, 0.0, 0.0, 0)
    assert mission_bound([], PRICES, progress).joules == 0
    assert mission_bound([], PRICES, 1.0).joules == math.inf


# --- any network ----------------------------------------------------------------------------------


def any_round(rng, seed):
    """Return a random request of any kind with its problem, and random gains."""
    request = random_network_request(seed, count=int(rng.integers(0, 4)))
    request["max_iterations"] = int(rng.integers(1, 5))
    try:
        problem = problem_of(make_request(request))
    except InputError:
        return None
    amounts = rng.uniform(-0.1, 1, (len(problem), 1))
    gains = amounts * np.arange(problem.max_iterations + 1) ** rng.uniform(0.2, 1)
    return request, problem, gains


def any_mission(rng):
    rounds = [any_round(rng, int(rng.integers(2**31))) for _ in range(rng.integers(1, 4))]
    return [entry for entry in rounds if entry is not None]


def random_purchase(rng, request, problem, gains, prices):
    """Return joules and gain of a random decision, by the documented model."""
    model = Model(request)
    positions = rng.uniform(0, request["region_m"], (20, 3)) * [1, 1, 0.5]
    positions[::2, 2] = 0.0
    positions = np.concatenate([positions, problem.server_m[None]])
    positions = problem.candidates_m if problem.candidates_m is not None else positions
    allowed = positions[problem.allowed(positions)]
    if not len(allowed):
        return 0.0, 0.0
    server = model.before = allowed[rng.integers(len(allowed))].tolist()  # flights are free
    joules, gain = prices.server * model.movement(server), 0.0
    for n, device in enumerate(model.devices):
        choices = device_choices(model, device, server, gains[n], prices)
        cost, gained = choices[rng.integers(len(choices))]
        joules, gain = joules + cost, gain + gained
    return joules, gain


@settings(max_examples=many(1500))
@given(seeds, st.sampled_from([1e-3, 0.05, 0.5]))
def test_no_plan_costs_less_than_the_bound(seed, tolerance):
    """The bound holds for any gap of its solves, wherever the server was before."""
    rng = np.random.default_rng(seed)
    prices = Prices(device=1.0, server=float(rng.choice([1e-4, 0.01, 1.0])))
    rounds = any_mission(rng)
    purchases = [random_purchase(rng, *entry, prices) for entry in rounds]
    flown = rng.random(len(rounds)) < 0.8
    spent = sum(joules for (joules, _), flies in zip(purchases, flown, strict=True) if flies)
    gained = sum(gain for (_, gain), flies in zip(purchases, flown, strict=True) if flies)
    entries = [BoundRound(problem, gains) for _, problem, gains in rounds]
    bound = mission_bound(entries, prices, gained, tolerance=tolerance)
    assert bound.joules <= spent * (1 + 1e-8) + 1e-12


@settings(max_examples=many(600))
@given(seeds, st.floats(0.05, 0.9))
def test_a_looser_tolerance_never_gives_a_higher_bound(seed, share):
    rng = np.random.default_rng(seed)
    entries = [BoundRound(problem, abs(gains)) for _, problem, gains in any_mission(rng)]
    progress = share * sum(float(entry.gains[:, -1].sum()) for entry in entries)
    tight = mission_bound(entries, PRICES, progress, tolerance=1e-4, max_passes=40)
    for tolerance in (0.02, 0.2, 1.0):
        loose = mission_bound(entries, PRICES, progress, tolerance=tolerance)
        assert loose.joules <= tight.joules * (1 + 3e-4)
        beyond_reach = math.isinf(tight.joules)
        assert loose.joules >= (math.inf if beyond_reach else tight.joules * (1 - tolerance))


def test_movement_is_free():
    """Neither where the server was matters, nor that no way leads to the other side of a wall."""
    request = {
        "region_m": [100.0, 100.0, 50.0],
        "keep_out_m": [[40.0, 0.0, 0.0, 60.0, 100.0, 50.0]],
        "round_s": 1.0,
        "devices": [{"id": "far", "position_m": [95.0, 95.0, 0.0]}],
    }
    gains = np.array([[0.0, 0.5, 0.8, 0.9, 0.95, 1.0]])
    bounds = []
    for path, x in itertools.product(("around", "straight"), (5.0, 95.0)):
        start = {"movement": {"model": "rotary-wing", "path": path}}
        start["server"] = {"position_m": [x, 5.0, 10.0]}
        problem = problem_of(make_request(request | start))
        bounds.append(mission_bound([BoundRound(problem, gains)], PRICES, 0.9, **TIGHT).joules)
    standing = PRICES.server * 5.0  # on the ground, beside the device
    training = float(problem.processing_j(3, problem.least_cpu_hz(3))[0])
    assert bounds == pytest.approx([standing + training] * 4, rel=1e-3)


def test_a_few_worths_are_enough_for_many_rounds():
    problem = problem_of(make_request(random_network_request(5, count=12)))
    shares = np.sqrt(np.arange(problem.max_iterations + 1) / problem.max_iterations)
    amounts = np.random.default_rng(0).lognormal(-2, 0.7, (12, 12))
    entries = [BoundRound(problem, 0.9**r * amounts[r][:, None] * shares) for r in range(12)]
    bound = mission_bound(entries, PRICES, 0.2 * amounts.sum())
    assert 0 < bound.joules <= bound.attained_j
    assert bound.gap < 0.1
    assert bound.solves <= 5 * len(entries)


# --- rounds of a run ------------------------------------------------------------------------------


@settings(max_examples=many(1000))
@given(seeds, st.sampled_from(["none", "drawn"]))
def test_no_run_falls_below_its_bound(seed, mode):
    """Whatever margin, luck, exits, failed links and divergence make of the bill."""
    rng = np.random.default_rng(seed)
    fading = Fading(mode=mode)
    entries, spent, gained = [], 0.0, 0.0
    for request, _, gains in any_mission(rng):
        request["radio"]["margin_db"] = float(rng.choice([0.0, 6.0]))
        problem = problem_of(make_request(request))
        by_worth = problem_by_worth(problem, RoundWorth(30 * gains, PRICES, 10.0))
        plan = solve(by_worth, gap=1e-2)
        draws = draw_channel(rng, len(problem)) if mode == "drawn" else None
        outcome = realise(plan, rng.random(len(problem)) < 0.2, fading, draws)
        diverged = outcome.trains & (rng.random(len(problem)) < 0.2)
        measured = np.where(diverged[:, None], 0.0, gains)
        sent_j = np.where(diverged, 0.3, 1.0) * outcome.transmission_j
        stay_share = float(rng.choice([1.0, 1.5, 0.1]))  # asynchronous rounds may be shorter
        moved = problem.movement_j(plan.server_m).staying_longer(stay_share)
        fixed = float(rng.uniform(0, 0.1))
        billed = PRICES.device * float((sent_j + outcome.processing_j).sum()) + fixed
        billed += PRICES.server * float(moved.total)
        counts = outcome.executed_iterations.astype(int)
        base = float(rng.uniform(-0.1, 0.3))
        gained += base + measured[np.arange(len(counts)), counts].sum()
        spent += billed
        entry = billed_round(
            plan.problem,
            plan.server_m,
            outcome.executed_iterations,
            outcome.path_loss,
            gains=measured,
            base_gain=base,
            fixed_j=fixed,
            billed_j=billed,
            prices=PRICES,
        )
        assert entry.fixed_j == pytest.approx(fixed) or stay_share < 1
        entries.append(entry)
    bound = mission_bound(entries, PRICES, gained)
    assert bound.joules <= spent * (1 + 1e-9)
