"""Flights keep to laws of shortest paths, agree with a slow search, and are bounded in boxes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference_flights import GridWorld

from scdn.world.flight_routes import FlightRoutes

REGION = np.array([100.0, 80.0, 60.0])


def altitude_cost(up, down):
    """Climbing and sinking cost this much per metre."""

    def cost(z0, cruise, z):
        rises = np.maximum(cruise - z0, 0) + np.maximum(z - cruise, 0)
        sinks = np.maximum(z0 - cruise, 0) + np.maximum(cruise - z, 0)
        return up * rises + down * sinks

    return cost


def paper_altitude_cost(z0, cruise, z):
    """Climbing costs the contract's logarithm, sinking nothing."""
    z0, cruise, z = np.broadcast_arrays(z0, cruise, z)

    def climb(a, b):
        with np.errstate(divide="ignore"):
            return 10 * np.where(b > a, np.log(60 - np.minimum(a, 59.9)) - np.log(60 - b), 0.0)

    return climb(z0, cruise) + climb(cruise, z)


def no_climbing(z0, cruise, z):
    """A vehicle that drives."""
    with np.errstate(invalid="ignore"):
        return np.where((z0 == cruise) & (cruise == z), 0.0, np.inf)


def routes(start, boxes, lateral=1.0, cost=None, region=REGION, **options):
    return FlightRoutes(start, boxes, region, lateral, cost or altitude_cost(2.0, 0.5), **options)


def whole_cost(flights_of, points, lateral, cost):
    """What flights cost more than a direct change of altitude."""
    points = np.asarray(points, dtype=float)
    length, cruise = flights_of.flights(points)
    z0, z = flights_of.start_m[2], points[..., 2]
    with np.errstate(invalid="ignore"):
        extra = np.nan_to_num(cost(z0, cruise, z) - cost(z0, np.maximum(z0, z), z), posinf=np.inf)
    far = np.isinf(length)
    return np.where(far, np.inf, lateral * np.where(far, 0.0, length) + extra)


def straight(a, b):
    return np.hypot(a[0] - b[0], a[1] - b[1])


def random_boxes(draw, count, size=REGION, from_ground=0.7):
    """Boxes of about a quarter of the region, most of them standing on the ground."""
    low = draw.uniform(-0.05, 0.9, (count, 3)) * size
    high = low + draw.uniform(0.05, 0.35, (count, 3)) * size
    low[draw.random(count) < from_ground, 2] = 0.0
    return np.concatenate([low, high], axis=1)


def kept_out(points, boxes, depth=0.0):
    """Are points deeper than this in a box? Faces on the region's boundary are far out."""
    low = np.where(boxes[:, :3] <= 0, -1e3, boxes[:, :3]) + depth
    high = np.where(boxes[:, 3:] >= REGION, 1e3, boxes[:, 3:]) - depth
    p = np.asarray(points)[..., None, :]
    return ((p > low) & (p < high)).all(axis=-1).any(axis=-1)


def free_points(draw, boxes, count):
    points = draw.uniform(0, 1, (count, 3)) * REGION
    return points[~kept_out(points, boxes)]


positions = st.builds(
    lambda a, b, c: np.array([a, b, c]),
    *(st.floats(0, float(size)) for size in REGION - [0, 0, 0.01]),
)
boxes_lists = st.lists(
    st.builds(
        lambda low, width, ground: [*low[:2], 0.0 if ground else low[2], *(low + width)],
        st.tuples(*(st.floats(0, float(size) - 2) for size in REGION)).map(np.array),
        st.tuples(*[st.floats(1, 60)] * 3).map(np.array),
        st.booleans(),
    ),
    max_size=5,
).map(lambda boxes: np.array(boxes).reshape(-1, 6))


# Laws of shortest paths.


@given(positions, positions)
def test_without_boxes_flights_are_straight(start, end):
    free = routes(start, [])
    assert free.flights(end).length_m == pytest.approx(straight(start, end), abs=1e-12)
    assert len(free.waypoints(end)) <= 4


@given(positions, positions, boxes_lists)
def test_flights_are_no_shorter_than_straight_lines_and_straight_above_everything(
    start, end, boxes
):
    flights = routes(start, boxes).flights([end, [*end[:2], 59.5]])
    assert flights.length_m[0] >= straight(start, end) - 1e-9
    high = np.append(boxes[:, 5], 0.0).max() < 59.5
    if high and start[2] <= 59.5 and not routes(start, boxes).ignored.any():
        beneath = kept_out([*start[:2], 59.5], np.concatenate([boxes[:, :5], boxes[:, 5:] + 60], 1))
        if not beneath:
            assert flights.length_m[1] == pytest.approx(straight(start, end), abs=1e-9)


@given(positions, positions, boxes_lists)
def test_flights_never_pass_through_a_box(start, end, boxes):
    around = routes(start, boxes)
    counted = boxes[~around.ignored]
    way = around.waypoints(end)
    length, cruise = around.flights(end)
    if not len(way):
        assert length == np.inf
        return
    assert way[0] == pytest.approx(start)
    assert way[-1] == pytest.approx(end)
    assert np.all((way >= -1e-9) & (way <= REGION + 1e-9))
    steps = np.diff(way, axis=0)
    assert np.hypot(steps[:, 0], steps[:, 1]).sum() == pytest.approx(length, abs=1e-9)
    level = np.any(steps[:, :2] != 0, axis=1)
    assert np.all(steps[level, 2] == 0)  # horizontal or vertical, never both
    assert np.all(way[:-1][level, 2] == cruise)
    along = way[:-1, None] + np.linspace(0, 1, 201)[:, None] * steps[:, None]
    assert not kept_out(along, counted, depth=1e-7).any()


@given(positions, positions, boxes_lists)
def test_the_way_back_is_as_long(start, end, boxes):
    """With equal prices of climbing and sinking, at least."""
    cost = altitude_cost(1.0, 1.0)
    there, back = routes(start, boxes, cost=cost), routes(end, boxes, cost=cost)
    assume(not there.ignored.any() and not back.ignored.any())
    a, b = (
        whole_cost(there, end, 1.0, cost) + cost(start[2], max(start[2], end[2]), end[2]),
        whole_cost(back, start, 1.0, cost) + cost(end[2], max(start[2], end[2]), start[2]),
    )
    assert a == b or a == pytest.approx(b, abs=1e-8)


@given(positions, positions, positions)
def test_a_detour_over_a_third_position_is_no_shorter(start, middle, end):
    """On one floor of walls that leave no way over them: the triangle inequality."""
    walls = np.array([[20, 0, 0, 22, 60, 60], [40, 30, 0, 60, 45, 60], [70, 10, 0, 72, 80, 60]])
    start, middle, end = ([*p[:2], 0.0] for p in (start, middle, end))
    assume(not kept_out([start, middle, end], walls).any())
    first, second = routes(start, walls), routes(middle, walls)
    direct = first.flights(end).length_m
    assert direct <= first.flights(middle).length_m + second.flights(end).length_m + 1e-9


@given(positions, positions, boxes_lists, boxes_lists)
def test_another_box_never_makes_a_flight_cheaper(start, end, boxes, more):
    cost = altitude_cost(2.0, 0.5)
    both = routes(start, np.concatenate([boxes, more]))
    assume(not both.ignored.any())
    before = whole_cost(routes(start, boxes), end, 1.0, cost)
    assert whole_cost(both, end, 1.0, cost) >= before - 1e-8


@given(positions, positions, boxes_lists)
def test_a_box_cut_into_touching_pieces_is_the_same_obstacle(start, end, boxes):
    """Pieces leave no gap, whichever way they are cut."""
    pieces = []
    for box in boxes:
        cut = np.linspace(box[:3], box[3:], 3)
        pieces += [
            [*cut[at, range(3)], *cut[np.add(at, 1), range(3)]] for at in np.ndindex(2, 2, 2)
        ]
    one, cut_up = routes(start, boxes), routes(start, np.reshape(pieces, (-1, 6)))
    assume(not one.ignored.any() and not cut_up.ignored.any())
    assume(not kept_out(end, boxes))
    a, b = one.flights(end), cut_up.flights(end)
    assert a.length_m == b.length_m or a.length_m == pytest.approx(b.length_m, abs=1e-8)
    centres = np.minimum((boxes[:, :3] + boxes[:, 3:]) / 2, REGION)
    assert not cut_up.reachable(centres).any()


# Walls.

WALL = [[40.0, 0.0, 0.0, 42.0, 80.0, 30.0]]


def test_flights_go_over_a_wall_from_face_to_face():
    length, cruise = routes([10, 40, 5], WALL).flights([90, 40, 5])
    assert length == 80
    assert cruise == 30
    way = routes([10, 40, 5], WALL).waypoints([90, 40, 5])
    assert way.tolist() == [[10, 40, 5], [10, 40, 30], [90, 40, 30], [90, 40, 5]]


def test_a_wall_up_to_the_ceiling_cannot_be_passed():
    wall = [[40, 0, 0, 42, 80, 60]]
    cut_off = routes([10, 40, 5], wall)
    ends = [[90, 40, 5], [42, 0, 60], [40, 10, 3]]
    assert cut_off.reachable(ends).tolist() == [False, False, True]
    assert cut_off.waypoints([90, 40, 5]).shape == (0, 3)
    allowed = [[[0, 0, 0], [40, 80, 60]], [[42, 0, 0], [100, 80, 60]], [[42, 0, 0], [100, 80, 0]]]
    assert cut_off.unreachable(allowed).tolist() == [False, True, True]


def test_a_wall_of_boxes_that_touch_in_a_face_or_along_an_edge_has_no_gap():
    faces = [[40, 0, 0, 42, 30, 60], [40, 30, 0, 42, 50, 60], [40, 50, 0, 42, 80, 60]]
    bricks = [[40, 0, 0, 42, 30, 40], [40, 30, 0, 42, 80, 40], [40, 0, 40, 42, 45, 60],
              [40, 45, 40, 42, 80, 60]]  # fmt: skip
    stairs = [[30, 0, 0, 40, 20, 60], [40, 20, 0, 50, 40, 60], [50, 40, 0, 60, 60, 60],
              [60, 60, 0, 70, 80, 60]]  # fmt: skip
    for wall in (faces, bricks, stairs):
        walled = routes([10, 70, 5], wall)
        assert not walled.reachable([[90, 5, 5], [90, 5, 40], [90, 5, 59], [80, 20, 0]]).any()
        assert walled.reachable([[10, 5, 5], [30, 80, 50]]).all()
    seams = routes([10, 70, 5], faces).flights([[41, 30, 5], [40, 30, 5], [42, 30, 5]])
    assert np.isfinite(seams.length_m).tolist() == [False, True, False]


def test_a_passage_that_is_open_is_used():
    doors = [[40, 0, 0, 42, 30, 60], [40, 30.5, 0, 42, 80, 60]]
    length, _ = routes([10, 40, 5], doors).flights([90, 40, 5])
    to_door, beyond = np.hypot(30, 9.5), np.hypot(48, 9.5)
    assert length == pytest.approx(to_door + 2 + beyond)


def test_faces_on_the_regions_boundary_are_closed_and_others_are_open():
    on_ground = routes([10, 40, 0], [[40, 20, 0, 60, 50, 30]], cost=no_climbing)
    assert not on_ground.reachable([50, 30, 0])
    assert on_ground.reachable([[60, 30, 0], [50, 50, 0]]).all()
    around = min(np.hypot(30, 20) * 2 + 20, np.hypot(30, 10) * 2 + 20)
    assert on_ground.flights([90, 40, 0]).length_m == pytest.approx(around)
    at_edge = routes([10, 40, 0], [[40, 20, 0, 60, 80, 30]], cost=no_climbing)
    assert at_edge.flights([90, 40, 0]).length_m == pytest.approx(np.hypot(30, 20) * 2 + 20)


def test_flights_pass_under_a_box_that_hangs():
    hanging = [[40, 0, 10, 42, 80, 60]]
    length, cruise = routes([10, 40, 30], hanging).flights([90, 40, 30])
    assert (length, cruise) == (80, 10)
    assert routes([10, 40, 30], hanging, cost=no_climbing).flights([90, 40, 30]).length_m == np.inf


def test_vertical_legs_do_not_pass_through_boxes():
    roof = [[30, 30, 20, 50, 50, 25]]
    below = routes([40, 40, 0], roof)
    length, cruise = below.flights([40, 40, 40])
    assert length == np.inf  # up beside the roof and back would need two altitudes
    length, cruise = below.flights([70, 40, 40])
    assert length == 30
    assert cruise <= 20
    above = routes([70, 40, 40], roof)
    assert above.flights([40, 40, 0]).cruise_m <= 20


def test_a_start_in_a_box_or_in_a_seam_leaves_it():
    inside = routes([50, 40, 10], [[40, 30, 0, 60, 50, 30], [70, 0, 0, 72, 80, 60]])
    assert inside.ignored.tolist() == [True, False]
    assert inside.flights([10, 40, 10]).length_m == 40
    assert inside.flights([90, 40, 10]).length_m == np.inf
    seam = routes([50, 40, 10], [[40, 30, 0, 50, 50, 30], [50, 30, 0, 60, 50, 30]])
    assert seam.ignored.tolist() == [True, True]
    assert not routes([50, 40, 10], [[40, 30, 0, 50, 50, 30]]).ignored.any()


def test_boxes_without_an_inside_do_not_count():
    flat = [[40, 0, 0, 40, 80, 60], [40, 0, 0, 50, 80, 0], [40, 90, 0, 50, 80, 60]]
    assert routes([10, 40, 5], flat).flights([90, 40, 5]).length_m == 80


def test_rounding_errors_open_no_gap_and_close_no_face():
    third = 0.1 + 0.2  # is not 0.3
    wall = [[40, 0, 0, 42, 0.3, 60], [40, third, 0, 42, 80, 60]]
    assert not routes([10, 40, 5], wall).reachable([90, 40, 5])
    box = routes([10, 40, 5], [[40, 10, 0, 60, 20, 30]])
    assert box.reachable([50, np.nextafter(20, 0), 5])  # on the face, but for the last bit
    assert not box.reachable([50, 19.99, 5])


def test_the_least_cruise_altitude_is_kept():
    length, cruise = routes([10, 40, 0], WALL, min_cruise_m=20).flights([[30, 40, 0], [90, 40, 0]])
    assert length.tolist() == [20, 80]
    assert cruise.tolist() == [20, 30]
    assert routes([10, 40, 0], WALL, min_cruise_m=20).flights([10, 40, 0]).cruise_m == 0


def test_equally_cheap_flights_go_down_at_their_end():
    assert routes([10, 40, 35], WALL).flights([90, 40, 5]).cruise_m == 35
    assert routes([10, 40, 5], WALL).flights([90, 40, 35]).cruise_m == 35
    assert routes([10, 40, 35], []).flights([90, 40, 0]).cruise_m == 35


def test_a_ceiling_that_costs_infinitely_much_is_left_alone():
    top = routes([10, 40, 60], WALL, cost=paper_altitude_cost)
    assert top.flights([90, 40, 60]) == (80, 60)
    low = routes([10, 40, 5], WALL, cost=paper_altitude_cost)
    assert low.flights([90, 40, 60]).length_m == 80


# The slow search.


def grid_worlds(seed, count):
    """Small worlds of whole-numbered boxes, most of which touch others or the region's faces."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        region = [int(n) for n in draw.integers([3, 3, 2], [6, 6, 5])]
        low = draw.integers(0, region, (draw.integers(1, 6), 3))
        high = np.minimum(low + draw.choice([1, 1, 2, 3], low.shape), region)
        low[draw.random(len(low)) < 0.6, 2] = 0
        world = GridWorld(np.hstack([low, high]).tolist(), region)
        points = draw.integers(0, 4 * np.array(region) + 1, (40, 3))
        points -= points % draw.choice([1, 2, 4], (40, 1))
        points = [tuple(Fraction(int(c), 4) for c in p) for p in points]
        points = [p for p in points if not world.inside(p)]
        if len(points) >= 3:
            yield draw, world, points


def test_flights_cost_what_a_slow_search_finds():
    for draw, world, points in grid_worlds(1, 40):
        lateral, least = float(draw.choice([0.3, 1.0, 3.0])), float(draw.choice([0, 0, 1]))
        cost = altitude_cost(float(draw.choice([0.1, 1.0, 5.0])), float(draw.choice([0.0, 0.5])))
        start, *ends = ([float(c) for c in point] for point in points[:3])
        around = routes(start, world.boxes, lateral, cost, world.region, min_cruise_m=least)
        for end, exact in zip(ends, points[1:], strict=False):
            length, cruise = around.flights(end)
            expected, _ = world.cost(points[0], exact, lateral, cost, least)
            actual = lateral * length + cost(start[2], cruise, end[2])
            if end != start:
                assert actual == expected or actual == pytest.approx(expected, abs=1e-9), (
                    world.boxes, start, end,
                )  # fmt: skip


# Bounds in boxes.

PRICES = {
    "climbing is dear": altitude_cost(2.0, 0.5),
    "climbing is cheap": altitude_cost(0.1, 0.0),
    "as in the paper": paper_altitude_cost,
    "on the ground": no_climbing,
}


def destination_boxes(draw, keep_out, count, widest=15.0, flat=0.2):
    """Boxes in the region that contain nothing of the inside of a keep-out box."""
    half = draw.uniform(0, 1, (count, 3)) ** 2 * widest
    half[draw.random((count, 3)) < flat] = 0.0
    centre = draw.uniform(0, 1, (count, 3)) * REGION
    faces = keep_out[draw.integers(len(keep_out), size=count)] if len(keep_out) else None
    if faces is not None:  # every fourth touches a keep-out box
        axis = draw.integers(0, 3, count)
        side = draw.integers(0, 2, count)
        touch = draw.random(count) < 0.25
        rows = np.arange(count)
        on_face = faces[rows, axis + 3 * side] + np.where(side, 1, -1) * half[rows, axis]
        centre[rows[touch], axis[touch]] = on_face[touch]
    low, high = centre - half, centre + half
    inside = ((low >= 0) & (high <= REGION - [0, 0, 1e-3])).all(axis=1)
    box_low = np.where(keep_out[:, :3] <= 0, -1e3, keep_out[:, :3])
    box_high = np.where(keep_out[:, 3:] >= REGION, 1e3, keep_out[:, 3:])
    overlap = (np.minimum(high[:, None], box_high) > np.maximum(low[:, None], box_low) + 1e-9) | (
        (low == high)[:, None] & (low[:, None] > box_low + 1e-9) & (low[:, None] < box_high - 1e-9)
    )
    ok = inside & ~overlap.all(axis=-1).any(axis=-1)
    return centre[ok], half[ok]


@pytest.mark.parametrize("prices", PRICES)
@pytest.mark.parametrize("lateral", [1.0, 0.2, 0.0])
def test_bounds_hold_in_boxes(prices, lateral):
    cost, draw = PRICES[prices], np.random.default_rng(len(prices) + int(10 * lateral))
    checked, sloped = 0, 0
    for trial in range(12):
        keep_out = random_boxes(draw, int(draw.integers(0, 8)))
        if trial % 3 == 0:  # in whole tens, so that boxes touch
            keep_out = np.round(keep_out, -1)
        start = free_points(draw, keep_out, 50)[0]
        if prices == "on the ground":
            start = np.array([*start[:2], 0.0])
        around = routes(start, keep_out, lateral, cost)
        centre, half = destination_boxes(draw, keep_out, 400)
        if prices == "on the ground":
            centre[::2, 2] = half[::2, 2] = 0.0
            ground = ~kept_out(centre, keep_out)
            centre, half = centre[ground], half[ground]
        source, offset, slope = around.in_box(centre, half)
        steps = draw.uniform(-1.2, 1.2, (len(centre), 24, 3)).clip(-1, 1)
        points = centre[:, None] + steps * half[:, None]
        away = points[..., :2] - source[:, None]
        bound = offset[:, None] + slope[:, None] * np.hypot(away[..., 0], away[..., 1])
        true = whole_cost(around, points, lateral, cost)
        assert np.all(bound <= true + 1e-9)
        checked, sloped = checked + len(centre), sloped + (slope > 0).sum()
    assert checked > 1000
    assert lateral == 0 or sloped > checked / 3


def test_bounds_hold_where_ways_over_and_around_a_wall_cost_alike():
    """The dearest position of a box is then reached over the wall, the cheapest around it."""
    wall, draw = [[40, 20, 0, 42, 60, 30]], np.random.default_rng(9)
    for up in np.linspace(0.05, 1.5, 60):
        cost = altitude_cost(up, 0.0)
        around = routes([10, 40, 5], wall, cost=cost)
        half = draw.uniform(0.2, 8, (200, 3)) * [1, 1, 0.5]
        centre = np.array([42.0, 40.0, 5.0]) + [1, 0, 0] * half
        centre += draw.uniform(-1, 1, (200, 3)) * [0, 20, 0.5]
        source, offset, slope = around.in_box(centre, half)
        points = centre[:, None] + draw.choice([-1.0, 0.0, 1.0], (200, 30, 3)) * half[:, None]
        away = points[..., :2] - source[:, None]
        bound = offset[:, None] + slope[:, None] * np.hypot(away[..., 0], away[..., 1])
        assert np.all(bound <= whole_cost(around, points, 1.0, cost) + 1e-9)


@pytest.mark.parametrize("prices", PRICES)
def test_bounds_of_single_positions_are_exact(prices):
    cost, draw = PRICES[prices], np.random.default_rng(5)
    for trial in range(12):
        keep_out = random_boxes(draw, int(draw.integers(0, 8)))
        if trial % 3 == 0:
            keep_out = np.round(keep_out, -1)
        start = free_points(draw, keep_out, 50)[0]
        around = routes(start, keep_out, 0.7, cost)
        points = free_points(draw, keep_out, 500)
        source, offset, slope = around.in_box(points, np.zeros_like(points))
        true = whole_cost(around, points, 0.7, cost)
        bound = offset + slope * np.hypot(*(points[:, :2] - source).T)
        assert np.isfinite(true).tolist() == np.isfinite(bound).tolist()
        assert bound[np.isfinite(true)] == pytest.approx(true[np.isfinite(true)], abs=1e-9)


def test_bounds_approach_the_cost_as_boxes_shrink():
    """In the first order everywhere, and they are exact but on thin curves."""
    cost, draw = PRICES["climbing is dear"], np.random.default_rng(6)
    for _ in range(6):
        keep_out = random_boxes(draw, 6)
        around = routes(free_points(draw, keep_out, 50)[0], keep_out)
        points = free_points(draw, keep_out, 500)
        true = whole_cost(around, points, 1.0, cost)
        points, true = points[np.isfinite(true)], true[np.isfinite(true)]
        shares = []
        for width in (1.0, 1e-2, 1e-4):
            source, offset, slope = around.in_box(points, np.full_like(points, width))
            bound = offset + slope * np.hypot(*(points[:, :2] - source).T)
            shares.append(np.mean(true - bound < 1e-9))
            if width == 1e-4:
                assert np.all(true - bound < 10 * width)
        assert shares[-1] > 0.98


def test_a_box_that_is_cut_off_has_an_infinite_bound():
    walled = routes([10, 40, 5], [[40, 0, 0, 42, 80, 60]])
    bounds = walled.in_box([[70, 40, 30], [20, 40, 30]], [[20, 30, 20], [10, 30, 20]])
    assert bounds.offset_cost.tolist() == [np.inf, 0]
    assert bounds.lateral_cost.tolist() == [0, 1]


def test_many_boxes_are_handled():
    draw = np.random.default_rng(8)
    keep_out = random_boxes(draw, 100)
    keep_out[:, 3:] = keep_out[:, :3] + 0.2 * (keep_out[:, 3:] - keep_out[:, :3])
    start = free_points(draw, keep_out, 50)[0]
    around, ends = routes(start, keep_out), free_points(draw, keep_out, 300)
    lengths = around.flights(ends).length_m
    assert np.isfinite(lengths).mean() > 0.9
    assert np.all(lengths >= np.hypot(*(ends - start)[:, :2].T) - 1e-9)
    assert around.flights(np.zeros((0, 3))).length_m.shape == (0,)
    assert around.flights(ends.reshape(2, -1, 3)[:, :10]).length_m.shape == (2, 10)
