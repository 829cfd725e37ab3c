"""The report as one self-contained HTML page: its styles, scripts and data are inside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from scdn import __version__
from scdn.file_io import to_json
from scdn.record.run_reader import Run
from scdn.record.run_warnings import recorded_warnings
from scdn.report.charts import budget_chart_names, energy_ledger, study_charts
from scdn.report.final_models import (
    FinalModels,
    final_models,
    plotly_confusion,
    plotly_reliability,
)
from scdn.report.mission_results import mission_results, mission_sentences
from scdn.report.network_history import STATES, NetworkHistory
from scdn.report.number_format import decimals, number, p_value, signed
from scdn.report.pareto import PARETO_COSTS, pareto_chart
from scdn.report.plotly_figures import plotly_chart, plotly_ledger
from scdn.report.plotly_pareto import plotly_pareto
from scdn.report.results import Chart, ParetoChart
from scdn.report.statistics import LEAST_SEEDS
from scdn.report.study import Study
from scdn.report.theme import DARK, LIGHT, method_styles
from scdn.report.verdict import verdicts

_SECTIONS = (
    ("missions", "Missions", ("forecast", "worth")),
    ("learning", "Learning", ("metric", "future")),
    ("effort", "Effort", ("iterations", "processing")),
    ("cost", "Cost", ("energy",)),
)


def report_page(study: Study) -> str:
    """Return the page as HTML."""
    first = _first_run(study)
    styles = method_styles(study.methods)
    charts, ledger, scores = study_charts(study), energy_ledger(study), pareto_chart(study)
    runs = [run for run in study.runs if run.rounds]
    missions, finals = mission_results(runs), final_models(study)
    confused = [of for of in finals if of.confusion.size]
    histories = [NetworkHistory.from_run(run) for run in runs]
    data = {
        "themes": {"light": LIGHT, "dark": DARK},
        "plots": {
            **{chart.name: plotly_chart(chart, styles) for chart in charts},
            **{f"pareto_{cost}": plotly_pareto(scores, cost, styles) for cost in PARETO_COSTS},
            "energy": plotly_ledger(ledger),
            **({"reliability": plotly_reliability(confused, styles)} if confused else {}),
            **{f"confusion{n}": plotly_confusion(of) for n, of in enumerate(confused)},
        },
        "states": STATES,
        "histories": [asdict(history) for history in histories],
    }
    return _template().render(
        study=study,
        title=str(first.scenario.get("name") or first.folder.name or "runs"),
        about=_about(first),
        facts=_facts(study),
        verdicts=verdicts(study),
        light=LIGHT,
        dark=DARK,
        styles=styles,
        measures=study.measures(),
        least_seeds=LEAST_SEEDS,
        seed_counts={method: _seed_count(study, method) for method in study.methods},
        sections=[_pareto_section(scores), *_sections(study, charts)],
        finals=finals,
        final_cards=_final_cards(confused),
        missions=missions,
        mission_sentences=mission_sentences(missions),
        has_batteries=any(history.has_batteries for history in histories),
        runs=runs,
        warned=[(run, texts) for run in study.runs if (texts := recorded_warnings(run))],
        states=STATES,
        versions=_versions(first),
        data=_script_json(data),
        plotly=Markup(get_plotlyjs()),  # noqa: S704
    )


def _template() -> Any:
    environment = Environment(
        loader=PackageLoader("scdn.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "number": number,
        "signed": signed,
        "p_value": p_value,
        "decimals": lambda result: decimals(result.mean or 0.0, result.std),
    }
    return environment.get_template("page.html")


def _script_json(data: Any) -> Markup:
    """Return JSON that cannot end the script element it is in."""
    return Markup(to_json(data, indent=None).replace("<", "\\u003c"))  # noqa: S704


def _first_run(study: Study) -> Run:
    """Return the reference's first run with a round; one that diverged at once has none."""
    return next(run for run in study.runs if run.rounds)


def _about(run: Run) -> str:
    """Return the scenario's own description, or the size of its network."""
    about = str(run.scenario.get("about") or "").strip()
    return about or f"{_devices_at_first(run)} devices in the first round, and a mobile server."


def _devices_at_first(run: Run) -> int:
    return len(run.rounds[0].get("devices") or ())


def _facts(study: Study) -> dict[str, object]:
    first = _first_run(study)
    dataset = (first.start.get("dataset") or {}).get("name")
    region = " × ".join(f"{side:g}" for side in NetworkHistory.from_run(first).region_m)
    lengths = [len(run.rounds) for run in study.runs]
    return {
        "Data": dataset or (first.scenario.get("learning") or {}).get("dataset") or "–",
        "Devices at first": _devices_at_first(first),
        "Rounds": " to ".join(str(n) for n in sorted({min(lengths), max(lengths)})),
        "Seeds": len(study.seeds),
        "Methods": len(study.methods),
        "Region": f"{region} m",
    }


def _seed_count(study: Study, method: str) -> str:
    count = sum(run.method == method for run in study.runs)
    return f"{count} seed{'s' * (count != 1)}"


def _section_charts(study: Study) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the sections with their charts; what a score costs comes first."""
    title = "To the target" if study.targets else "Score by cost"
    return [("target", title, tuple(budget_chart_names(study))), *_SECTIONS]


def _pareto_section(chart: ParetoChart) -> dict[str, Any]:
    """Return the section of final scores by what they cost."""
    about = (
        "Small: a run. Large: the mean of a method. Thick grey: the Pareto front of the means, "
        "which no other method beats in both score and cost."
    )
    cards = [
        {"name": f"pareto_{cost}", "title": f"Final {chart.label} against {cost}",
         "about": " ".join([about, *chart.notes])}
        for cost in PARETO_COSTS
    ]  # fmt: skip
    return {"id": "pareto", "title": "Score against cost", "cards": cards}


def _sections(study: Study, charts: Sequence[Chart]) -> list[dict[str, Any]]:
    by_name = {chart.name: chart for chart in charts}
    sections = []
    for key, title, names in _section_charts(study):
        shown = [by_name[name] for name in names if name in by_name]
        cards: list[dict[str, Any]] = [
            {"name": chart.name, "title": chart.title, "about": chart.about} for chart in shown
        ]
        if "energy" in names:
            about = "Transmission and processing of devices; movement and computing of the server."
            height, wide = 160 + 42 * len(study.methods), len(cards) % 2 == 0
            cards.append({"name": "energy", "title": "Energy by term", "about": about,
                          "height": height, "wide": wide})  # fmt: skip
        sections.append({"id": key, "title": title, "cards": cards})
    return sections


def _final_cards(confused: Sequence[FinalModels]) -> list[dict[str, Any]]:
    """Return the cards on classifiers: calibration, then the confusions of each method."""
    if not confused:
        return []
    cards: list[dict[str, Any]] = [
        {"name": "reliability", "title": "Calibration",
         "about": "Test rows by the probability of their likeliest class, and how often that was "
         "right. On the dotted line a model is as sure as it should be; below, too sure."}
    ]  # fmt: skip
    for n, of in enumerate(confused):
        about = f"Test rows of {of.seeds} seed{'s' * (of.seeds != 1)}: a line per true class."
        cards.append({"name": f"confusion{n}", "title": f"Confusion matrix of {of.method}",
                      "about": about, "height": min(760, 190 + 26 * len(of.classes))})  # fmt: skip
    return cards


def _versions(run: Run) -> str:
    versions = run.start.get("versions")
    text = f"Report by scdn {__version__}."
    if isinstance(versions, dict) and versions:
        text += f" Runs by {', '.join(f'{name} {version}' for name, version in versions.items())}."
    return text
