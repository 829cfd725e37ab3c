"""The paper's Algorithm 3: its form, its laws, and what `repair` makes of its answers."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

pytest.importorskip("cvxpy")

from scdn.control.algorithm3.algorithm3 import Algorithm3Settings, repair, solve_algorithm3
from scdn.control.algorithm3.geometric_program import GeometricProgram
from scdn.control.algorithm3.gp_model import (
    DEVICE,
    SERVER,
    denominators,
    feasible_point,
    program_constants,
)
from scdn.control.algorithm3.monomial_approximation import Term, condense, posynomial_value
from scdn.control.plan_request import make_request, problem_of
from scdn.control.problem import Decision, RoundProblem, evaluate
from scdn.world import geometry

QUICK = Algorithm3Settings(iterations=4)
SIZE = 100.0


def make(
    places: list[Any], server: Any = (50.0, 50.0, 50.0), device: dict | None = None, **fields: Any
) -> RoundProblem:
    devices = [
        {"id": f"d{i}", "position_m": [float(c) for c in place], **(device or {})}
        for i, place in enumerate(places)
    ]
    document = {
        "region_m": [SIZE, SIZE, SIZE],
        "server": {"position_m": [float(c) for c in server]},
        "devices": devices,
        **fields,
    }
    return problem_of(make_request(document))


GROUND_AND_AIR = [(10, 20, 0), (80, 70, 0), (30, 80, 60)]
MIXED = [
    {"kind": "sgd"},
    {"kind": "proximal", "mu": 0.4},
    {"kind": "momentum", "rho": 0.25},
]


def mixed_optimizers() -> RoundProblem:
    devices = [
        {"id": kind["kind"], "position_m": list(place), "optimizer": kind}
        for place, kind in zip(GROUND_AND_AIR, MIXED, strict=True)
    ]
    server = {"position_m": [50, 50, 50]}
    return problem_of(make_request({"region_m": [SIZE] * 3, "server": server, "devices": devices}))


# --- the program's form ---------------------------------------------------------------------------


def test_program_is_disciplined_and_parametrised():
    constants = program_constants(make(GROUND_AND_AIR), Algorithm3Settings())
    problem = GeometricProgram(constants, feasible_point(constants)).problem
    assert problem.is_dgp(dpp=True)
    assert len(problem.parameters()) == 3


def test_rebuilt_program_has_no_parameters_and_gives_the_same_answer():
    problem = make(GROUND_AND_AIR)
    built = Algorithm3Settings(iterations=8)
    rebuilt = dataclasses.replace(built, rebuild=True)
    fixed, fresh = program_constants(problem, built), program_constants(problem, rebuilt)
    at = feasible_point(fixed)
    one, other = GeometricProgram(fixed, at), GeometricProgram(fresh, at)
    for _ in range(3):  # around the same points
        here, there = one.solve(at), other.solve(at)
        assert here is not None
        assert there is not None
        assert here[0] == pytest.approx(there[0], rel=1e-4)  # solver tolerance
        at = here[1]
    assert one.problem.parameters()
    assert not other.problem.parameters()
    # and on their own ways, which part a little where the first program leaves variables free
    left, right = solve_algorithm3(problem, built), solve_algorithm3(problem, rebuilt)
    assert left.surrogate[-1] == pytest.approx(right.surrogate[-1], rel=1e-4)
    np.testing.assert_allclose(left.raw.server_m, right.raw.server_m, atol=0.1)
    np.testing.assert_allclose(left.raw.iterations, right.raw.iterations, rtol=1e-3)
    assert left.raw.active.tolist() == right.raw.active.tolist()


# --- condensation ---------------------------------------------------------------------------------

positive = st.floats(1e-3, 1e3)
powers = st.dictionaries(st.sampled_from("abc"), st.floats(-3, 3), max_size=3)
terms = st.lists(st.builds(Term, st.one_of(st.just(0.0), positive), powers), max_size=4)
points = st.fixed_dictionaries(dict.fromkeys("abc", positive))


@given(terms, positive, points, points)
def test_condensation_is_below_its_posynomial_and_touches_it(rest, first, at, elsewhere):
    posynomial = [Term(first, {"a": 1.0}), *rest]
    monomial = condense(posynomial, at)
    np.testing.assert_allclose(monomial.value(at), posynomial_value(posynomial, at), rtol=1e-9)
    assert monomial.value(elsewhere) <= posynomial_value(posynomial, elsewhere) * (1 + 1e-9)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_every_condensation_of_the_appendix_is_below_and_tight(seed):
    draw = np.random.default_rng(seed)
    constants = program_constants(mixed_optimizers(), Algorithm3Settings())
    at = feasible_point(constants)

    def shaken() -> dict[str, Any]:
        return {name: at[name] * np.exp(draw.normal(0, 1, np.shape(at[name]))) for name in at}

    base, other = shaken(), shaken()
    letters = denominators(constants, base)
    assert sorted(letters) == sorted(
        [*"ADTXLO", "D+", "D-", "Q+", "Q-", "R_LoS", "R_NLoS", "E-", "E+"]
    )
    for letter, posynomial in letters.items():
        monomial = condense(posynomial, base)
        there, here = posynomial_value(posynomial, other), posynomial_value(posynomial, base)
        np.testing.assert_allclose(monomial.value(base), here, rtol=1e-9, err_msg=letter)
        assert np.all(monomial.value(other) <= there * (1 + 1e-9)), letter


def test_start_has_a_value_within_bounds_for_every_variable():
    for server in ((0, 0, 0), (100, 100, 100), (50, 50, 50)):
        constants = program_constants(make(GROUND_AND_AIR, server), Algorithm3Settings())
        at = feasible_point(constants)
        assert set(at) == {*DEVICE, *SERVER}
        for name, value in at.items():
            assert np.all(value >= constants.lower[name]), name
            assert np.all(value <= constants.upper.get(name, np.inf)), name


# --- Algorithm 3 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("server", [(50, 50, 50), (0, 0, 0), (100, 100, 100), (100, 0, 100)])
def test_surrogate_never_rises_and_plans_hold_from_any_start(server):
    problem = make(GROUND_AND_AIR, server)
    found = solve_algorithm3(problem)
    assert len(found.surrogate) == len(found.true_objective) == found.iterations > 5
    assert np.all(np.diff(found.surrogate) <= 1e-6 * found.surrogate[:-1])
    assert found.surrogate[-1] < found.surrogate[0] / 5
    value = evaluate(problem, found.repaired)
    assert not value.violations
    assert value.objective == found.true_objective[-1]


def test_surrogate_never_rises_with_optimizers_inside_the_theorem():
    found = solve_algorithm3(mixed_optimizers())
    assert np.all(np.diff(found.surrogate) <= 1e-6 * found.surrogate[:-1])


def test_stops_when_two_solutions_agree():
    problem = make(GROUND_AND_AIR[:2])
    found = solve_algorithm3(problem)
    assert found.converged
    assert 1 < found.iterations < Algorithm3Settings().iterations
    loose = solve_algorithm3(problem, Algorithm3Settings(tolerance=1e-2))
    assert loose.iterations < found.iterations
    assert not solve_algorithm3(problem, QUICK).converged


def test_pade_makes_the_paper_nearly_right_and_the_true_rate_does_not():
    """With the approximant as the channel all links hold, with Shannon's rate none does."""
    places = [(5, 5, 0), (95, 95, 0), (5, 95, 0)]
    for model, kept in (("pade", 3), ("shannon", 0)):
        problem = make(places, radio={"rate_model": model}, max_delay_s=0.02)
        found = solve_algorithm3(problem)
        assert found.raw.active.sum() == 3
        assert found.repaired.active.sum() == kept


def test_one_penalty_leaves_iterations_without_a_link():
    """With ψ̂ alone on χ^T, τ(1 − α) ≤ χ^T is no constraint; raised, it is one."""
    place = {"max_delay_s": 1e-7, "radio": {"rate_model": "pade"}}
    single = solve_algorithm3(
        make([(1, 1, 0), (99, 99, 0)], **place), Algorithm3Settings(link_penalty=None)
    )
    raised = solve_algorithm3(make([(1, 1, 0), (99, 99, 0)], **place))
    off = single.relaxed_active < 0.5
    assert off.any()
    assert single.raw.iterations[off].min() > 1
    off = raised.relaxed_active < 0.5
    assert raised.raw.iterations[off].max() < 0.2


def test_failed_solver_keeps_the_last_good_iterate():
    problem = make(GROUND_AND_AIR)
    found = solve_algorithm3(problem, Algorithm3Settings(solvers=("NO_SUCH_SOLVER",)))
    assert (found.converged, found.iterations, found.solver) == (False, 0, "")
    assert not evaluate(problem, found.repaired).violations


def test_second_solver_takes_over():
    settings_ = Algorithm3Settings(iterations=1, solvers=("NO_SUCH_SOLVER", "CLARABEL"))
    assert solve_algorithm3(make(GROUND_AND_AIR), settings_).solver == "CLARABEL"


def test_without_devices_the_server_lands():
    problem = make([], (20, 30, 40))
    found = solve_algorithm3(problem)
    assert found.converged
    assert found.repaired.server_m.tolist() == [20, 30, 0]
    assert not evaluate(problem, found.repaired).violations


SMALL_THINGS = {
    "no payload": {"device": {"payload_bits": 0}},
    "no power": {"device": {"max_power_w": 0}},
    "no clock": {"device": {"cpu_min_hz": 0, "cpu_max_hz": 0}},
    "one clock": {"device": {"cpu_min_hz": 1e9, "cpu_max_hz": 1e9}},
    "no work": {"device": {"connections": 0, "capacitance": 0}},
    "no survival, no importance": {"device": {"survival": 0, "importance": 0}},
    "no iterations": {"max_iterations": 0},
    "no weights": {
        "weights": {"convergence": 0, "transmission": 0, "processing": 0, "movement": 0}
    },
    "flat channel": {"radio": {"a2g": {"los_scale": 0, "los_slope": 0, "exponent": 0}}},
    "hopeless delay": {"max_delay_s": 1e-12},
    "endless delay": {"max_delay_s": 1e6},
    "relaxed iterations": {"integer_iterations": False},
    "steep hover": {"movement": {"altitude_scale_m": 1}},
}


@pytest.mark.parametrize("name", SMALL_THINGS)
def test_limits_of_every_kind_are_survived(name):
    problem = make([(10, 20, 0), (40, 70, 30)], **SMALL_THINGS[name])
    found = solve_algorithm3(problem, QUICK)
    assert found.iterations > 0
    assert not evaluate(problem, found.repaired).violations


FAR_OUT = {
    "loud": {"radio": {"margin_db": 1000, "a2g": {"nlos_loss_db": 1000}}},
    "silent": {"radio": {"noise_dbm_per_hz": -1000}},
    "heavy": {"device": {"payload_bits": 1e300}},
    "wild": {"device": {"learning_rate": 1e9, "smoothness": 1e200}},
    "thin": {"learning": {"epsilon": 1e-12}},
    "short": {"max_delay_s": 1e-300},
}


@pytest.mark.parametrize("name", FAR_OUT)
def test_numbers_far_out_end_in_a_plan(name):
    problem = make([(10, 20, 0), (40, 70, 30)], **FAR_OUT[name])
    with np.errstate(all="ignore"):
        found = solve_algorithm3(problem, QUICK)
        assert not evaluate(problem, found.repaired).violations


@pytest.mark.parametrize(
    "places",
    [[(50, 50, 50)], [(20, 20, 0)] * 3, [(0, 0, 0)], [(100, 100, 100)]],
    ids=["at the server", "one upon another", "at the origin", "at the far corner"],
)
def test_places_of_every_kind_are_survived(places):
    problem = make(places)
    found = solve_algorithm3(problem, QUICK)
    assert found.iterations > 0
    assert not evaluate(problem, found.repaired).violations


# --- repair ---------------------------------------------------------------------------------------

coordinate = st.one_of(st.sampled_from([0.0, 0.3, 0.7, SIZE]), st.floats(0, SIZE))
place = st.tuples(coordinate, coordinate, coordinate)


@st.composite
def boxes(draw: Any) -> list[list[float]]:
    found = []
    for _ in range(draw(st.integers(0, 3))):
        low = [draw(st.floats(-10, 80)) for _ in range(3)]
        found.append([*low, *(a + draw(st.floats(1, 60)) for a in low)])
    return found


@st.composite
def problems(draw: Any) -> RoundProblem:
    ground = st.tuples(coordinate, coordinate, st.just(0.0))
    places = draw(st.lists(st.one_of(place, ground), max_size=4))
    fields: dict[str, Any] = {
        "keep_out_m": draw(boxes()),
        "max_delay_s": 10 ** draw(st.floats(-8, 2)),
        "integer_iterations": draw(st.booleans()),
        "radio": {"rate_model": draw(st.sampled_from(["shannon", "pade"]))},
    }
    if draw(st.booleans()):
        # one that is allowed, among others that may not be
        assume(not geometry.in_keep_out((0.0, 0.0, 0.0), fields["keep_out_m"]))
        fields["candidates_m"] = [(0.0, 0.0, 0.0), *draw(st.lists(place, max_size=4))]
    device = {
        "flops_per_cycle": draw(st.sampled_from([0.001, 0.0066, 1.0])),
        "payload_bits": draw(st.sampled_from([0, 1, 1628480])),
    }
    return make(places, draw(place), device, **fields)


@given(problems(), st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_repair_of_any_decision_violates_nothing(problem, data):
    n = len(problem)

    def column(low: float, high: float) -> np.ndarray:
        return np.array([data.draw(st.floats(low, high)) for _ in range(n)])

    active = np.array([data.draw(st.booleans()) for _ in range(n)], dtype=bool)
    spot = np.array(data.draw(place))
    wild = Decision(spot, active, column(-1, 9), column(-1, 9), column(0, 1e10))
    mended = repair(problem, wild)
    assert not evaluate(problem, mended).violations
    assert not np.any(mended.active & ~active)
    if problem.candidates_m is None and problem.allowed(spot):
        assert mended.server_m.tolist() == spot.tolist()
    again = repair(problem, mended)
    for once, twice in zip(mended, again, strict=True):
        np.testing.assert_array_equal(once, twice)


@given(problems())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_repaired_plans_of_random_problems_violate_nothing(problem):
    found = solve_algorithm3(problem, dataclasses.replace(QUICK, iterations=3))
    assert not evaluate(problem, found.repaired).violations
    assert len(problem) == 0 or found.iterations > 0


@given(boxes(), place, st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_repair_moves_to_the_nearest_allowed_place(keep_out, spot, seed):
    problem = make([], (0, 0, 0), keep_out_m=keep_out)
    none = np.zeros(0)
    decision = Decision(np.array(spot), none.astype(bool), none, none, none)
    moved = np.linalg.norm(repair(problem, decision).server_m - spot)
    others = np.random.default_rng(seed).uniform(0, SIZE, (2000, 3))
    others[::3, 2] = 0.0
    near = np.linalg.norm(others[problem.allowed(others)] - spot, axis=1)
    assert moved <= near.min(initial=np.inf) + 1e-3  # the ceiling is stepped back from


def test_repair_rounds_lowers_and_switches_off():
    problem = make([(50, 50, 0), (50, 52, 0), (50, 48, 0), (0, 0, 0)], max_delay_s=0.05)
    wanted = Decision(
        np.array([50.0, 50.0, 0.4]),
        np.array([True, True, False, True]),
        np.array([2.5, 0.3, 4.0, 5.0]),
        np.full(4, 0.25),
        np.full(4, 2.3e9),
    )
    mended = repair(problem, wanted)
    assert mended.server_m.tolist() == [50, 50, 0]
    assert mended.active.tolist() == [True, False, False, False]  # sends; nothing to; was off; far
    assert mended.iterations.tolist() == [3, 0, 0, 0]
    assert mended.cpu_hz[1:].tolist() == [1e7] * 3
    assert mended.power_w[1:].tolist() == [0] * 3
    delay = evaluate(problem, mended).delay_s[0]
    assert delay == pytest.approx(problem.max_delay_s, rel=1e-9)


def test_repair_lowers_iterations_to_what_the_clock_carries():
    problem = make([(50, 50, 0)], device={"flops_per_cycle": 0.0032})
    wanted = Decision(
        np.array([50.0, 50, 10]), np.array([True]), np.array([5.0]), np.zeros(1), np.ones(1)
    )
    mended = repair(problem, wanted)
    assert mended.iterations.tolist() == [3]
    assert mended.cpu_hz[0] == problem.least_cpu_hz(np.array([3.0]))[0]
