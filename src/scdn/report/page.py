"""The report as one page: everything inside it, nothing fetched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from plotly.offline import get_plotlyjs

from scdn import __version__
from scdn.file_io import to_json
from scdn.report.curves import Bars, Chart, bars, charts
from scdn.report.journey import STATES, journey
from scdn.report.plots import bar_plot, curve_plot
from scdn.report.study import Study
from scdn.report.tables import detail_table, main_table
from scdn.report.theme import DARK, LIGHT, Look, looks

_SECTIONS = (
    ("learning", "Learning", ("metric", "future")),
    ("effort", "Effort", ("iterations", "processing")),
    ("cost", "Cost", ("joules", "seconds", "energy")),
)


def page(study: Study) -> str:
    """The whole page."""
    seen = looks(study.methods)
    found, spent = charts(study), bars(study)
    plots = {chart.name: curve_plot(chart, seen) for chart in found} | {"energy": bar_plot(spent)}
    data = {
        "themes": {"light": LIGHT, "dark": DARK},
        "plots": plots,
        "states": {letter: list(state) for letter, state in STATES.items()},
        "journeys": [asdict(journey(run)) for run in _in_order(study)],
    }
    return Template(_part("page.html")).substitute(
        title=escape(_name(study)),
        style=_variables() + _part("page.css"),
        lead=escape(_lead(study)),
        facts=_facts(study),
        notes=_notes(study.notes),
        legend="".join(_chip(method, look) for method, look in seen.items()),
        reading=_reading(study),
        results=main_table(study),
        details=detail_table(study),
        sections="".join(
            _section(key, name, parts, found, spent) for key, name, parts in _SECTIONS
        ),
        choices="".join(
            f'<option value="{n}">{escape(run.method)}, seed {run.seed}</option>'
            for n, run in enumerate(_in_order(study))
        ),
        states="".join(
            f'<span><i style="background:var(--{token})"></i>{label}</span>'
            for token, label in STATES.values()
        ),
        versions=escape(_versions(study)),
        data=_inline(data),
        plotly=get_plotlyjs(),
        script=_part("page.js"),
    )


def _part(name: str) -> str:
    return files("scdn.report").joinpath(name).read_text(encoding="utf-8")


def _inline(data: Any) -> str:
    """JSON that cannot end its script element."""
    return to_json(data, indent=None).replace("<", "\\u003c")


def _variables() -> str:
    light, dark = (
        "".join(f"--{name}:{colour};" for name, colour in theme.items()) for theme in (LIGHT, DARK)
    )
    return f":root{{{light}color-scheme:light}}:root[data-theme=dark]{{{dark}color-scheme:dark}}\n"


def _in_order(study: Study) -> list[Any]:
    return sorted(study.runs, key=lambda run: (study.methods.index(run.method), run.seed))


def _name(study: Study) -> str:
    return str(study.runs[0].scenario.get("name") or study.runs[0].folder.name or "runs")


def _lead(study: Study) -> str:
    """The scenario in a sentence."""
    first = study.runs[0]
    about = str(first.scenario.get("about") or "").strip()
    devices = len(first.rounds[0].get("devices") or ())
    return about or f"{devices} devices at first and a server that moves."


def _facts(study: Study) -> str:
    first = study.runs[0]
    data = first.start.get("dataset") or {}
    learning = first.scenario.get("learning") or {}
    region = " × ".join(f"{side:g}" for side in journey(first).region_m)
    lengths = {len(run.rounds) for run in study.runs}
    facts = {
        "Data": data.get("name") or learning.get("dataset") or "–",
        "Devices at first": len(first.rounds[0].get("devices") or ()),
        "Rounds": " to ".join(str(n) for n in sorted({min(lengths), max(lengths)})),
        "Seeds": len(study.seeds),
        "Methods": len(study.methods),
        "Region": f"{region} m",
    }
    return "".join(f"<div><dt>{k}</dt><dd>{escape(str(v))}</dd></div>" for k, v in facts.items())


def _notes(notes: Sequence[str]) -> str:
    if not notes:
        return ""
    return f'<ul class="notes">{"".join(f"<li>{escape(note)}</li>" for note in notes)}</ul>'


def _chip(method: str, look: Look) -> str:
    style = f"border-top:3px {'dotted' if look.matched else 'solid'} var(--{look.colour})"
    return (
        f'<button type="button" class="chip" data-method="{escape(method)}" aria-pressed="true">'
        f'<i style="{style}"></i>{escape(method)}</button>'
    )


def _reading(study: Study) -> str:
    if len(study.methods) == 1:
        return "One method: there is nothing to compare it with."
    text = f"Below each value: the difference to {escape(study.reference)}, paired by seed"
    if len(study.seeds) == 1:
        return f"{text}. With one seed, nothing can be said about chance."
    return (
        f"{text}, and the p of a two-sided paired t-test. ▲ better, ▼ worse at the 5\u00a0% level; "
        "not corrected for the number of comparisons."
    )


def _section(
    key: str, title: str, names: Sequence[str], found: Sequence[Chart], spent: Bars
) -> str:
    by_name = {chart.name: chart for chart in found}
    shown = [_card(chart.name, chart.title, chart.about) for name in names
             if (chart := by_name.get(name))]  # fmt: skip
    if "energy" in names:
        tall = 160 + 42 * len(spent.methods)
        about = "Transmission and processing of the devices, and the server's movement."
        shown.append(_card("energy", "Energy by term", about, tall, wide=len(shown) % 2 == 0))
    if not shown:
        return ""
    alone = " alone" if len(shown) == 1 else ""
    return (
        f'<section id="{key}"><h2>{title}</h2><div class="cards{alone}">{"".join(shown)}</div>'
        "</section>"
    )


def _card(name: str, title: str, about: str, tall: int = 350, wide: bool = False) -> str:
    return (
        f'<figure class="card{" wide" if wide else ""}"><figcaption><h3>{escape(title)}</h3>'
        f"<p>{escape(about)}</p></figcaption>"
        f'<div class="plot" data-plot="{name}" style="height:{tall}px"></div></figure>'
    )


def _versions(study: Study) -> str:
    made = study.runs[0].start.get("versions")
    known = ", ".join(f"{k} {v}" for k, v in made.items()) if isinstance(made, dict) else ""
    return f"Report by scdn {__version__}." + (f" Runs by {known}." if known else "")
