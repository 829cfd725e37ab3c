"""A map of a plan: the server's move, active devices, and the objective at other positions."""

from __future__ import annotations

from html import escape

import numpy as np

from scdn.arrays import IntArray, floats
from scdn.control.exact.position_objective import objective_at
from scdn.control.plan import Plan
from scdn.report.map_scene import DeviceMarkers, HeatMap, MapScene
from scdn.report.network_map import ground_grid


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
        title += f" (within {100 * max(plan.gap, 0):.2g} % of the optimum)"
    return MapScene(
        title=title,
        region_m=(x, y, z),
        server_m=plan.server_m,
        previous_server_m=problem.server_m,
        groups=[group for group in groups if len(group.names)],
        departed_m=np.zeros((0, 3)),
        departed_names=[],
        linked_m=problem.position_m[active],
        keep_out_m=problem.keep_out_m.tolist(),
        candidates_m=floats([] if problem.candidates_m is None else problem.candidates_m).reshape(
            -1, 3
        ),
        shocks=[],
        heat_map=_objective_map(plan),
    )


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
    return HeatMap(x, y, values, f"objective from here at {altitude:.4g} m", low_is_better=True)
