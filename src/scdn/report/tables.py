"""The report's tables: what each method reached, and how sure the differences are."""

from __future__ import annotations

from html import escape

from scdn.report.statistics import Paired, Spread, compare, spread
from scdn.report.study import Measure, Metric, Study
from scdn.report.theme import looks
from scdn.report.words import decimals, number, signed


def main_table(study: Study) -> str:
    """A row per method: mean ± standard deviation, and below it the difference."""
    shown = [measure for measure in study.measures() if measure.main]
    seen = looks(study.methods)
    heads = "".join(
        f'<th scope="col">{escape(m.metric.label)}{_unit(m.metric)}</th>' for m in shown
    )
    body = []
    for method in study.methods:
        swatch = f'<i class="dot" style="background:var(--{seen[method].colour})"></i>'
        tag = "<small>reference</small>" if method == study.reference else _seeds(study, method)
        cells = "".join(_cell(study, measure, method) for measure in shown)
        body.append(f'<tr><th scope="row">{swatch}{escape(method)}{tag}</th>{cells}</tr>')
    return (
        f'<div class="scroll"><table class="main"><thead><tr><th scope="col">Method</th>{heads}'
        f"</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _seeds(study: Study, method: str) -> str:
    count = sum(run.method == method for run in study.runs)
    return f"<small>{count} seed{'s' * (count != 1)}</small>"


def _unit(metric: Metric) -> str:
    return f" <span>({metric.unit})</span>" if metric.unit else ""


def _cell(study: Study, measure: Measure, method: str) -> str:
    found = spread(measure.values.get(method, {}).values())
    if found is None:
        return '<td><b class="none">–</b></td>'
    if method == study.reference:
        return f"<td><b>{_value(found)}</b></td>"
    paired = compare(measure.values[method], measure.values.get(study.reference, {}))
    return f"<td><b>{_value(found)}</b>{_difference(paired, measure.metric, found)}</td>"


def _value(found: Spread) -> str:
    if found.std is None:
        return number(found.mean)
    places = decimals(found)
    return f"{number(found.mean, places)} <span>± {number(found.std, places)}</span>"


def _difference(paired: Paired | None, metric: Metric, found: Spread) -> str:
    if paired is None:
        return ""
    said = verdict(paired, metric)
    mark = {"better": "▲ ", "worse": "▼ "}.get(said, "")
    p = "one seed" if paired.p_t is None else f"p {_chance(paired.p_t)}"
    style, places = said if mark else "same", decimals(found)
    change = f"{mark}{signed(paired.difference, places)}"
    return f'<small class="{style}">{change}<i> · </i><em>{p}</em></small>'


def verdict(paired: Paired, metric: Metric) -> str:
    """What the t-test says of a difference."""
    if paired.p_t is None:
        return "one seed: no verdict"
    if not paired.clear:
        return "no clear difference"
    if metric.better == 0:
        return "different"
    return "better" if paired.difference * metric.better > 0 else "worse"


def detail_table(study: Study) -> str:
    """A row per measure and method, with interval and both tests."""
    groups = []
    for measure in study.measures():
        theirs = measure.values.get(study.reference, {})
        rows = []
        for method in study.methods:
            found = spread(measure.values.get(method, {}).values())
            if found is None:
                continue
            paired = None if method == study.reference else compare(measure.values[method], theirs)
            rows.append(
                f'<tr><th scope="row">{escape(method)}</th><td>{_value(found)}</td>'
                f"<td>{found.count}</td>{_tests(paired, measure.metric, found)}</tr>"
            )
        title = f"{escape(measure.metric.label)}{_unit(measure.metric)}"
        groups.append(
            f'<tbody><tr class="group"><th colspan="8" scope="rowgroup">{title}</th></tr>'
            f"{''.join(rows)}</tbody>"
        )
    heads = "".join(
        f'<th scope="col">{head}</th>'
        for head in ("Method", "Mean ± std", "Seeds", f"Less {escape(study.reference)}",
                     "95 % interval", "p, t-test", "p, sign flips", "Verdict")
    )  # fmt: skip
    return (
        f'<div class="scroll"><table class="detail"><thead><tr>{heads}</tr></thead>'
        f"{''.join(groups)}</table></div>"
    )


def _tests(paired: Paired | None, metric: Metric, found: Spread) -> str:
    if paired is None:
        return "<td></td>" * 5
    places = decimals(found)
    interval = (
        "–"
        if paired.low is None or paired.high is None
        else f"{signed(paired.low, places)} … {signed(paired.high, places)}"
    )
    said = verdict(paired, metric)
    return (
        f"<td>{signed(paired.difference, places)}</td><td>{interval}</td>"
        f"<td>{_chance(paired.p_t)}</td><td>{_chance(paired.p_flip)}</td>"
        f'<td class="{said.split()[0]}">{said}</td>'
    )


def _chance(p: float | None) -> str:
    if p is None:
        return "–"
    return "&lt; 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
