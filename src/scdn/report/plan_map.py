"""A map of a plan: the server's move, who is active, the objective wherever else it could be."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np

from scdn.arrays import IntArray, floats
from scdn.control.exact.position_objective import objective_at
from scdn.control.plan import Plan
from scdn.report.map_scene import DeviceMarkers, HeatMap, MapScene, check_map_format, write_map
from scdn.report.network_map import ground_grid

_FINE, _COARSE = 241, 61
_CROWD = 100


def draw_plan_map(plan: Plan, out: str | Path) -> None:
    """Writes the map as .png, .svg or (interactive, offline) .html."""
    check_map_format(out)
    write_map(make_plan_map(plan), out)


def make_plan_map(plan: Plan) -> MapScene:
    """What the plan looks like."""
    problem, decision = plan.problem, plan.decision
    x, y, z = problem.region_m.tolist()
    active = decision.active
    ground = problem.position_m[:, 2] <= 0
    crowds = [
        _crowd(plan, np.flatnonzero(ground), 0, "on the ground"),
        _crowd(plan, np.flatnonzero(~ground), 1, "in the air"),
    ]
    title = (
        f"{plan.solver}: {active.sum()} of {len(problem)} active, objective {plan.objective:.4g}"
    )
    broken = len(plan.evaluation.violations)
    if broken:
        title += f", NOT FEASIBLE: {broken} limits broken"
    elif plan.gap is not None:
        title += f" (within {100 * max(plan.gap, 0):.2g} % of the optimum)"
    return MapScene(
        title=title,
        region_m=(x, y, z),
        server_m=plan.server_m,
        before_m=problem.server_m,
        crowds=[crowd for crowd in crowds if len(crowd.names)],
        ghosts_m=np.zeros((0, 3)),
        ghost_names=[],
        linked_m=problem.position_m[active],
        keep_out_m=problem.keep_out_m.tolist(),
        candidates_m=floats([] if problem.candidates_m is None else problem.candidates_m).reshape(
            -1, 3
        ),
        discs=[],
        shade=_objective(plan),
    )


def _crowd(plan: Plan, mine: IntArray, look: int, label: str) -> DeviceMarkers:
    problem, decision, reasons = plan.problem, plan.decision, plan.reasons()
    hover = []
    for index in mine:
        reason = reasons[index]
        state = (
            f"{decision.iterations[index]:.4g} iterations, {decision.power_w[index]:.3g} W,"
            f" {decision.cpu_hz[index] / 1e6:.4g} MHz"
            if reason is None
            else f"off: {reason.replace('_', ' ')}"
        )
        place = ", ".join(f"{c:.1f}" for c in problem.position_m[index])
        hover.append(f"<b>{escape(problem.ids[index])}</b><br>{place} m<br>{state}")
    return DeviceMarkers(
        label=label,
        look=look,
        position_m=problem.position_m[mine],
        filled=decision.active[mine],
        names=[
            f"{problem.ids[i]}, {decision.iterations[i]:.3g} it." if reasons[i] is None
            else f"{problem.ids[i]}, {(reasons[i] or '').replace('_', ' ')}"
            for i in mine
        ],
        hover=hover,
        hollow_label="off",
    )  # fmt: skip


def _objective(plan: Plan) -> HeatMap:
    """The best objective with the server anywhere at its altitude; NaN where it may not be."""
    problem = plan.problem
    width, depth, height = problem.region_m.tolist()
    x, y = ground_grid((width, depth, height), _FINE if len(problem) <= _CROWD else _COARSE)
    gx, gy = np.meshgrid(x, y)
    altitude = float(plan.server_m[2])
    places = np.stack([gx, gy, np.full_like(gx, altitude)], axis=-1)
    shown = objective_at(problem, places)
    return HeatMap(x, y, shown, f"objective from here at {altitude:.4g} m", low_is_good=True)
