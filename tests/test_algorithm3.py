"""The paper's Algorithm 3: the form of its program, its laws, and the repair of its answers."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

pytest.importorskip("cvxpy")

from scdn.control.algorithm3.algorithm3 import Algorithm3Settings, repair, solve_algorithm3
from scdn.control.algorithm3.feasible_point import feasible_point
from scdn.control.algorithm3.geometric_program import GeometricProgram
from scdn.control.algorithm3.monomial_approximation import Term, condense
from scdn.control.algorithm3.posynomials import posynomials
from scdn.control.algorithm3.program_constants import (
    DEVICE_VARIABLES,
    SERVER_VARIABLES,
    program_constants,
)
from scdn.control.evaluation import Decision, evaluate
from scdn.control.plan_request import make_request, problem_of
from scdn.control.problem import RoundProblem
from scdn.world import geometry

QUICK = Algorithm3Settings(iterations=4)
SIZE = 100.0


def make_problem(
    positions: list[Any],
    server: Any = (50.0, 50.0, 50.0),
    device: dict | None = None,
    **fields: Any,
) -> RoundProblem:
    devices = [
        {"id": f"d{i}", "position_m": [float(c) for c in position], **(device or {})}
        for i, position in enumerate(positions)
    ]
    document = {
        "region_m": [SIZE, SIZE, SIZE],
        "server": {"position_m": [float(c) for c in server]},
        "devices": devices,
        **fields,
    }
    return problem_of(make_request(document))


GROUND_AND_AIR = [(10, 20, 0), (80, 70, 0), (30, 80, 60)]
OPTIMIZERS = [
    {"kind": "sgd"},
    {"kind": "proximal", "mu": 0.4},
    {"kind": "momentum", "rho": 0.25},
]


def mixed_optimizers() -> RoundProblem:
    devices = [
        {"id": optimizer["kind"], "position_m": list(position), "optimizer": optimizer}
        for position, optimizer in zip(GROUND_AND_AIR, OPTIMIZERS, strict=True)
    ]
    server = {"position_m": [50, 50, 50]}
    return problem_of(make_request({"region_m": [SIZE] * 3, "server": server, "devices": devices}))


# --- the program's form ---------------------------------------------------------------------------


def test_program_is_a_parametrised_geometric_program():
    constants = program_constants(make_problem(GROUND_AND_AIR), Algorithm3Settings())
    problem = GeometricProgram(constants, feasible_point(constants)).problem
    assert problem.is_dgp(dpp=True)
    assert len(problem.parameters()) == 3


def test_rebuilt_program_has_no_parameters_and_gives_the_same_answer():
    problem = make_problem(GROUND_AND_AIR)
    once, each_time = QUICK, dataclasses.replace(QUICK, rebuild=True)
    constants = program_constants(problem, once)
    at = feasible_point(constants)
    parametrised = GeometricProgram(constants, at)
    rebuilt = GeometricProgram(program_constants(problem, each_time), at)
    for _ in range(3):  # around the same points
        left, right = parametrised.solve(at), rebuilt.solve(at)
        assert left is not None
        assert right is not None
        assert left.objective == pytest.approx(right.objective, rel=1e-4)  # solver tolerance
        at = left.point
    assert parametrised.problem.parameters()
    assert not rebuilt.problem.parameters()
    # each around its own iterates, which differ a little where P′ leaves variables free
    left, right = solve_algorithm3(problem, once), solve_algorithm3(problem, each_time)
    assert left.surrogate[-1] == pytest.approx(right.surrogate[-1], rel=1e-4)
    np.testing.assert_allclose(left.raw.server_m, right.raw.server_m, atol=0.1)
    np.testing.assert_allclose(left.raw.iterations, right.raw.iterations, rtol=1e-3)
    assert left.raw.active.tolist() == right.raw.active.tolist()


# --- monomial approximations ----------------------------------------------------------------------


def monomial_value(monomial, point):
    powers = [point[name] ** np.asarray(power) for name, power in monomial.powers.items()]
    return monomial.coefficient * np.prod(np.broadcast_arrays(1.0, *powers), axis=0)


def posynomial_value(terms, point):
    return sum(monomial_value(term, point) for term in terms)


positive = st.floats(1e-3, 1e3)
powers = st.dictionaries(st.sampled_from("abc"), st.floats(-3, 3), max_size=3)
terms = st.lists(st.builds(Term, st.one_of(st.just(0.0), positive), powers), max_size=4)
points = st.fixed_dictionaries(dict.fromkeys("abc", positive))


@given(terms, positive, points, points)
def test_condensation_is_below_its_posynomial_and_touches_it(rest, first, at, elsewhere):
    posynomial = [Term(first, {"a": 1.0}), *rest]
    monomial = condense(posynomial, at)
    here, there = posynomial_value(posynomial, at), posynomial_value(posynomial, elsewhere)
    np.testing.assert_allclose(monomial_value(monomial, at), here, rtol=1e-9)
    assert monomial_value(monomial, elsewhere) <= there * (1 + 1e-9)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_every_condensation_of_the_appendix_is_below_and_tight(seed):
    draw = np.random.default_rng(seed)
    constants = program_constants(mixed_optimizers(), Algorithm3Settings())
    at = feasible_point(constants)

    def random_point() -> dict[str, Any]:
        return {name: at[name] * np.exp(draw.normal(0, 1, np.shape(at[name]))) for name in at}

    base, other = random_point(), random_point()
    letters = posynomials(constants, base)
    assert sorted(letters) == sorted(
        [*"ADTXLO", "D+", "D-", "Q+", "Q-", "R_LoS", "R_NLoS", "E-", "E+"]
    )
    for letter, posynomial in letters.items():
        monomial = condense(posynomial, base)
        there, here = posynomial_value(posynomial, other), posynomial_value(posynomial, base)
        tight = monomial_value(monomial, base)
        np.testing.assert_allclose(tight, here, rtol=1e-9, err_msg=letter)
        assert np.all(monomial_value(monomial, other) <= there * (1 + 1e-9)), letter


def test_feasible_point_is_within_the_limits_of_every_variable():
    for server in ((0, 0, 0), (100, 100, 100), (50, 50, 50)):
        constants = program_constants(make_problem(GROUND_AND_AIR, server), Algorithm3Settings())
        at = feasible_point(constants)
        assert set(at) == {*DEVICE_VARIABLES, *SERVER_VARIABLES}
        for name, value in at.items():
            assert np.all(value >= constants.lower[name]), name
            assert np.all(value <= constants.upper.get(name, np.inf)), name


# --- Algorithm 3 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("server", [(50, 50, 50), (0, 0, 0), (100, 100, 100), (100, 0, 100)])
def test_surrogate_never_rises_and_repaired_plans_are_feasible_from_any_start(server):
    problem = make_problem(GROUND_AND_AIR, server)
    result = solve_algorithm3(problem)
    assert len(result.surrogate) == len(result.true_objective) == result.iterations > 5
    assert np.all(np.diff(result.surrogate) <= 1e-6 * result.surrogate[:-1])
    assert result.surrogate[-1] < result.surrogate[0] / 5
    value = evaluate(problem, result.repaired)
    assert not value.violations
    assert value.objective == result.true_objective[-1]


def test_surrogate_never_rises_with_optimizers_inside_the_theorem():
    result = solve_algorithm3(mixed_optimizers())
    assert np.all(np.diff(result.surrogate) <= 1e-6 * result.surrogate[:-1])


def test_iterations_stop_when_two_consecutive_solutions_agree():
    problem = make_problem(GROUND_AND_AIR[:2])
    result = solve_algorithm3(problem)
    assert result.converged
    assert 1 < result.iterations < Algorithm3Settings().iterations
    loose = solve_algorithm3(problem, Algorithm3Settings(tolerance=1e-2))
    assert loose.iterations < result.iterations
    assert not solve_algorithm3(problem, QUICK).converged


def test_plans_of_algorithm_3_hold_under_pade_rates_and_not_under_shannon_rates():
    """With the approximant as the channel all links hold, with Shannon's rate none does."""
    positions = [(5, 5, 0), (95, 95, 0), (5, 95, 0)]
    for model, kept in (("pade", 3), ("shannon", 0)):
        problem = make_problem(positions, radio={"rate_model": model}, max_delay_s=0.02)
        result = solve_algorithm3(problem)
        assert result.raw.active.sum() == 3
        assert result.repaired.active.sum() == kept


def test_a_single_penalty_leaves_iterations_without_a_link():
    """With ψ̂ alone on χ^T, τ(1 − α) ≤ χ^T is no constraint; raised, it is one."""
    fields = {"max_delay_s": 1e-7, "radio": {"rate_model": "pade"}}
    single = solve_algorithm3(
        make_problem([(1, 1, 0), (99, 99, 0)], **fields), Algorithm3Settings(link_penalty=None)
    )
    raised = solve_algorithm3(make_problem([(1, 1, 0), (99, 99, 0)], **fields))
    off = single.relaxed_active < 0.5
    assert off.any()
    assert single.raw.iterations[off].min() > 1
    off = raised.relaxed_active < 0.5
    assert raised.raw.iterations[off].max() < 0.2


def test_failed_solver_keeps_the_last_good_iterate():
    problem = make_problem(GROUND_AND_AIR)
    result = solve_algorithm3(problem, Algorithm3Settings(solvers=("NO_SUCH_SOLVER",)))
    assert (result.converged, result.iterations, result.solver) == (False, 0, "")
    assert not evaluate(problem, result.repaired).violations


def test_second_solver_is_used_when_the_first_fails():
    settings_ = Algorithm3Settings(iterations=1, solvers=("NO_SUCH_SOLVER", "CLARABEL"))
    assert solve_algorithm3(make_problem(GROUND_AND_AIR), settings_).solver == "CLARABEL"


def test_without_devices_the_server_lands():
    problem = make_problem([], (20, 30, 40))
    result = solve_algorithm3(problem)
    assert result.converged
    assert result.repaired.server_m.tolist() == [20, 30, 0]
    assert not evaluate(problem, result.repaired).violations


EXTREMES = {
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


@pytest.mark.parametrize("name", EXTREMES)
def test_zero_and_extreme_limits_give_a_feasible_plan(name):
    problem = make_problem([(10, 20, 0), (40, 70, 30)], **EXTREMES[name])
    result = solve_algorithm3(problem, QUICK)
    assert result.iterations > 0
    assert not evaluate(problem, result.repaired).violations


OVERFLOWS = {
    "loud": {"radio": {"margin_db": 1000, "a2g": {"nlos_loss_db": 1000}}},
    "silent": {"radio": {"noise_dbm_per_hz": -1000}},
    "heavy": {"device": {"payload_bits": 1e300}},
    "wild": {"device": {"learning_rate": 1e9, "smoothness": 1e200}},
    "thin": {"learning": {"epsilon": 1e-12}},
    "short": {"max_delay_s": 1e-300},
}


@pytest.mark.parametrize("name", OVERFLOWS)
def test_numbers_beyond_all_measure_give_a_feasible_plan(name):
    problem = make_problem([(10, 20, 0), (40, 70, 30)], **OVERFLOWS[name])
    with np.errstate(all="ignore"):
        result = solve_algorithm3(problem, QUICK)
        assert not evaluate(problem, result.repaired).violations


@pytest.mark.parametrize(
    "positions",
    [[(50, 50, 50)], [(20, 20, 0)] * 3, [(0, 0, 0)], [(100, 100, 100)]],
    ids=["at the server", "one upon another", "at the origin", "at the far corner"],
)
def test_degenerate_positions_give_a_feasible_plan(positions):
    problem = make_problem(positions)
    result = solve_algorithm3(problem, QUICK)
    assert result.iterations > 0
    assert not evaluate(problem, result.repaired).violations


# --- repair ---------------------------------------------------------------------------------------

coordinate = st.one_of(st.sampled_from([0.0, 0.3, 0.7, SIZE]), st.floats(0, SIZE))
position = st.tuples(coordinate, coordinate, coordinate)


@st.composite
def boxes(draw: Any) -> list[list[float]]:
    keep_out = []
    for _ in range(draw(st.integers(0, 3))):
        low = [draw(st.floats(-10, 80)) for _ in range(3)]
        keep_out.append([*low, *(x + draw(st.floats(1, 60)) for x in low)])
    return keep_out


@st.composite
def problems(draw: Any) -> RoundProblem:
    ground = st.tuples(coordinate, coordinate, st.just(0.0))
    positions = draw(st.lists(st.one_of(position, ground), max_size=4))
    fields: dict[str, Any] = {
        "keep_out_m": draw(boxes()),
        "max_delay_s": 10 ** draw(st.floats(-8, 2)),
        "integer_iterations": draw(st.booleans()),
        "radio": {"rate_model": draw(st.sampled_from(["shannon", "pade"]))},
    }
    if draw(st.booleans()):
        # one candidate that is allowed, among others that may not be
        closed = geometry.closed_at_faces(fields["keep_out_m"], [SIZE] * 3)
        assume(not geometry.in_keep_out((0.0, 0.0, 0.0), closed))
        fields["candidates_m"] = [(0.0, 0.0, 0.0), *draw(st.lists(position, max_size=4))]
    device = {
        "flops_per_cycle": draw(st.sampled_from([0.001, 0.0066, 1.0])),
        "payload_bits": draw(st.sampled_from([0, 1, 1628480])),
    }
    return make_problem(positions, draw(position), device, **fields)


@given(problems(), st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_repair_of_any_decision_violates_nothing(problem, data):
    n = len(problem)

    def column(low: float, high: float) -> np.ndarray:
        return np.array([data.draw(st.floats(low, high)) for _ in range(n)])

    active = np.array([data.draw(st.booleans()) for _ in range(n)], dtype=bool)
    server = np.array(data.draw(position))
    decision = Decision(server, active, column(-1, 9), column(-1, 9), column(0, 1e10))
    repaired = repair(problem, decision)
    assert not evaluate(problem, repaired).violations
    assert not np.any(repaired.active & ~active)
    if problem.candidates_m is None and problem.allowed(server):
        assert repaired.server_m.tolist() == server.tolist()
    for once, twice in zip(repaired, repair(problem, repaired), strict=True):
        np.testing.assert_array_equal(once, twice)


@given(problems())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_repaired_plans_of_random_problems_violate_nothing(problem):
    result = solve_algorithm3(problem, dataclasses.replace(QUICK, iterations=3))
    assert not evaluate(problem, result.repaired).violations
    assert len(problem) == 0 or result.iterations > 0


@given(boxes(), position, st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_repair_moves_to_the_nearest_allowed_position(keep_out, server, seed):
    problem = make_problem([], (0, 0, 0), keep_out_m=keep_out)
    none = np.zeros(0)
    decision = Decision(np.array(server), none.astype(bool), none, none, none)
    moved = np.linalg.norm(repair(problem, decision).server_m - server)
    others = np.random.default_rng(seed).uniform(0, SIZE, (2000, 3))
    others[::3, 2] = 0.0
    distances = np.linalg.norm(others[problem.allowed(others)] - server, axis=1)
    assert moved <= distances.min(initial=np.inf) + 1e-3  # repair stays a little below the ceiling


def test_repair_rounds_iterations_lowers_power_and_switches_devices_off():
    problem = make_problem([(50, 50, 0), (50, 52, 0), (50, 48, 0), (0, 0, 0)], max_delay_s=0.05)
    decision = Decision(
        np.array([50.0, 50.0, 0.4]),
        np.array([True, True, False, True]),
        np.array([2.5, 0.3, 4.0, 5.0]),
        np.full(4, 0.25),
        np.full(4, 2.3e9),
    )
    repaired = repair(problem, decision)
    assert repaired.server_m.tolist() == [50, 50, 0]
    assert repaired.active.tolist() == [True, False, False, False]  # sends; no work; was off; far
    assert repaired.iterations.tolist() == [3, 0, 0, 0]
    assert repaired.cpu_hz[1:].tolist() == [1e7] * 3
    assert repaired.power_w[1:].tolist() == [0] * 3
    delay = evaluate(problem, repaired).delay_s[0]
    assert delay == pytest.approx(problem.max_delay_s, rel=1e-9)


def test_repair_lowers_iterations_to_what_the_clock_carries():
    problem = make_problem([(50, 50, 0)], device={"flops_per_cycle": 0.0032})
    decision = Decision(
        np.array([50.0, 50, 10]), np.array([True]), np.array([5.0]), np.zeros(1), np.ones(1)
    )
    repaired = repair(problem, decision)
    assert repaired.iterations.tolist() == [3]
    assert repaired.cpu_hz[0] == problem.least_cpu_hz(np.array([3.0]))[0]
