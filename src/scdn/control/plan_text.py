"""A plan as text, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from scdn.control.plan import Plan, PlanAnswer

_LISTED = 40  # devices that are worth a line each


def plan_text(plan: Plan) -> str:
    """Describe a plan: position and proof, the objective's terms, devices and violations."""
    answer = plan.answer()
    lines = [*_head_lines(plan, answer), "", *_term_lines(answer), "", *_device_lines(answer)]
    if answer.violations:
        lines += ["", f"{_violation_count(plan)} under the true model:"]
        lines += [
            f"  {v.device or 'server'}: {v.constraint} is {v.value:.6g}, limit {v.limit:.6g}"
            for v in answer.violations[:_LISTED]
        ]
    if plan.repaired is not None:
        lines += ["", "repaired (same position, otherwise the least that suffices):"]
        lines += [f"  {line}" for line in plan_text(plan.repaired).splitlines()]
    return "\n".join(lines)


def _violation_count(plan: Plan) -> str:
    count = len(plan.evaluation.violations)
    return f"{count} violated constraint{'' if count == 1 else 's'}"


def _head_lines(plan: Plan, answer: PlanAnswer) -> Iterator[str]:
    x, y, z = answer.server.position_m
    x0, y0, z0 = plan.problem.server_m
    active = sum(device.active for device in answer.devices)
    yield (
        f"server   ({x0:.1f}, {y0:.1f}, {z0:.1f}) → ({x:.2f}, {y:.2f}, {z:.2f}) m,"
        f" {active} of {len(answer.devices)} devices active"
    )
    flight_s = float(plan.problem.flight_s(plan.server_m))
    if flight_s > 0:
        corners = max(len(answer.server.path_m or ()) - 2, 0)
        corner = "corner" if corners == 1 else "corners"
        yield f"flight   {flight_s:.1f} s" + (f", round {corners} {corner}" if corners else "")
    if answer.violations:
        proof = f"NOT FEASIBLE, {_violation_count(plan)}"
    elif answer.gap is None:
        proof = "not proven"
    else:
        proof = f"proven at most {100 * max(answer.gap, 0.0):.2g} % above the optimum"
        if answer.status == "time_limit":
            proof += " (stopped before the gap was reached)"
    yield (
        f"plan     {answer.solver}, {answer.status}, objective {answer.objective:.6g}; {proof};"
        f" {1000 * answer.solve_seconds:.1f} ms"
    )


def _term_lines(answer: PlanAnswer) -> Iterator[str]:
    terms, weighted = answer.terms, answer.weighted
    yield f"{'term':<14}{'amount':>14}  {'':<2}{'weighted':>12}"
    yield f"{'convergence':<14}{terms.convergence:14.4g}  {'':<2}{weighted.convergence:12.4g}"
    for name in ("transmission", "processing", "movement"):
        joules, cost = getattr(terms, f"{name}_j"), getattr(weighted, name)
        yield f"{name:<14}{joules:14.4g}  J {cost:12.4g}"


def _device_lines(answer: PlanAnswer) -> Iterator[str]:
    yield (
        f"{'device':<16}{'iterations':>11}{'power W':>10}{'clock MHz':>11}{'delay ms':>10}"
        f"{'sends J':>10}{'computes J':>12}  link"
    )
    for device in answer.devices[:_LISTED]:
        if not device.active:
            yield f"{device.id[:15]:<16}{'off: ' + (device.reason or '').replace('_', ' ')}"
            continue
        delay = "-" if device.delay_s is None else f"{1000 * device.delay_s:.4g}"
        yield (
            f"{device.id[:15]:<16}{device.iterations:>11.4g}{device.power_w:>10.3g}"
            f"{device.cpu_hz / 1e6:>11.4g}{delay:>10}{device.transmission_j:>10.3g}"
            f"{device.processing_j:>12.3g}  {device.link}"
        )
    if len(answer.devices) > _LISTED:
        yield f"… and {len(answer.devices) - _LISTED} more"
