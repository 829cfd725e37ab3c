"""A map of a plan: the server's move, active devices, and the objective at other positions."""

from __future__ import annotations

from html import escape

import numpy as np

from scdn.arrays import Array, IntArray, floats
from scdn.control.exact.position_objective import objective_at
from scdn.control.plan import Plan
from scdn.control.problem import RoundProblem
from scdn.report.flight_path import flight_path
from scdn.report.map_scene import DeviceMarkers, HeatMap, MapScene, ReachOutline
from scdn.report.network_map import ground_grid

_MAX_OUTLINES = 16  # devices whose reach is outlined
_EXACT = 1e-6  # a smaller gap, in percent, is not worth a number


def make_plan_map(plan: Plan) -> MapScene:
    """Return the map of a plan."""
    problem, decision = plan.problem, plan.decision
    x, y, z = problem.region_m.tolist()
    active = decision.active
    on_ground = problem.position_m[:, 2] <= 0
    groups = [
        _markers(plan, np.flatnonzero(on_ground), 0, "on the ground"),
        _markers(plan, np.flatnonzero(~on_ground), 1, "in the air"),
    ]
    title = (
        f"{plan.solver}: {active.sum()} of {len(problem)} active, objective {plan.objective:.4g}"
    )
    violations = len(plan.evaluation.violations)
    if violations:
        title += f", NOT FEASIBLE: {violations} constraints violated"
    elif plan.gap is not None:
        percent = 100 * max(plan.gap, 0)
        within = f"within {percent:.2g} % of the optimum" if percent > _EXACT else "optimal"
        title += f" ({within})"
    candidates = floats([] if problem.candidates_m is None else problem.candidates_m)
    candidates = candidates.reshape(-1, 3)
    heat_map = _objective_map(plan)
    return MapScene(
        title=title,
        region_m=(x, y, z),
        server_m=plan.server_m,
        path_m=flight_path(problem, plan.server_m),
        groups=[group for group in groups if len(group.names)],
        departed_m=np.zeros((0, 3)),
        departed_names=[],
        linked_m=problem.position_m[active],
        keep_out_m=_within_region(problem.keep_out_m, problem.region_m).tolist(),
        candidates_m=candidates,
        candidate_labels=_candidate_labels(problem, candidates),
        shocks=[],
        heat_map=heat_map,
        reach=_reach(plan, heat_map),
    )


def _within_region(boxes: Array, region_m: Array) -> Array:
    """Return boxes that end at the region's faces, where the problem's reach to infinity."""
    corners = boxes.reshape(-1, 2, 3)
    return np.clip(corners, 0.0, region_m).reshape(-1, 6)


def _candidate_labels(problem: RoundProblem, candidates: Array) -> list[str]:
    """Return the altitude of each candidate, and the best objective there."""
    if not len(candidates):
        return []
    values = objective_at(problem, candidates)
    return [
        f"{z:g} m: {value:.4g}" if np.isfinite(value) else f"{z:g} m: not allowed"
        for z, value in zip(candidates[:, 2], values, strict=True)
    ]


def _reach(plan: Plan, heat_map: HeatMap) -> list[ReachOutline]:
    problem = plan.problem
    if len(problem) > _MAX_OUTLINES:
        return []
    gx, gy = np.meshgrid(heat_map.x, heat_map.y)
    grid = np.stack([gx, gy, np.full_like(gx, float(plan.server_m[2]))], axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = problem.least_power(grid) / problem.max_power_w
    active = plan.decision.active
    return [
        ReachOutline(name, share[..., n], bool(active[n])) for n, name in enumerate(problem.ids)
    ]


def _markers(plan: Plan, members: IntArray, style: int, label: str) -> DeviceMarkers:
    problem, decision, reasons = plan.problem, plan.decision, plan.reasons()
    hover = []
    for index in members:
        reason = reasons[index]
        state = (
            f"{decision.iterations[index]:.4g} iterations, {decision.power_w[index]:.3g} W,"
            f" {decision.cpu_hz[index] / 1e6:.4g} MHz"
            if reason is None
            else f"off: {reason.replace('_', ' ')}"
        )
        position = ", ".join(f"{c:.1f}" for c in problem.position_m[index])
        hover.append(f"<b>{escape(problem.ids[index])}</b><br>{position} m<br>{state}")
    return DeviceMarkers(
        label=label,
        style=style,
        position_m=problem.position_m[members],
        filled=decision.active[members],
        names=[
            f"{problem.ids[i]}, {decision.iterations[i]:.3g} it." if reasons[i] is None
            else f"{problem.ids[i]}, {(reasons[i] or '').replace('_', ' ')}"
            for i in members
        ],
        hover=hover,
        unfilled_label="off",
    )  # fmt: skip


def _objective_map(plan: Plan) -> HeatMap:
    """Return the best objective for each position at the server's altitude; NaN if forbidden."""
    problem = plan.problem
    x, y = ground_grid(problem.region_m.tolist(), len(problem), 241)
    gx, gy = np.meshgrid(x, y)
    altitude = float(plan.server_m[2])
    positions = np.stack([gx, gy, np.full_like(gx, altitude)], axis=-1)
    values = objective_at(problem, positions)
    values[~np.isfinite(values)] = np.nan  # where no way leads
    return HeatMap(x, y, values, f"objective from here at {altitude:.4g} m", low_is_better=True)
