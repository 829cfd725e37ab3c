"""The card of a trained model: its data, parties, rounds, scores and energy, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from scdn.record.headline_metric import headline
from scdn.record.round_totals import TERMS, cumulative_totals, energy_terms
from scdn.simulation.trained_model import TrainedModel


def model_card(model: TrainedModel, files: Sequence[str]) -> str:
    """Return the card; the scores are those of the run's own test rows."""
    start, form = model.run.start, model.form
    dataset = start.get("dataset", {})
    kind = f"{len(form.classes)} classes: {', '.join(form.classes)}" if form.classes else form.task
    rounds = f"{model.rounds} of {model.scenario.learning.rounds}"
    return "\n".join(
        [
            f"# {model.scenario.name}",
            "",
            f"{_score(model)}, after {rounds} rounds of {model.run.method}, seed {model.run.seed}.",
            "",
            "## Data",
            "",
            f"- Data set `{form.dataset}`: {dataset.get('provenance') or 'no source recorded'}",
            f"- {form.train_rows} training rows, {kind}",
            f"- Inputs are raw values; they are scaled (`{model.scenario.learning.scaling}`) "
            "inside the models",
            "",
            "## Parties",
            "",
            *_party_table(model),
            "",
            "## Scores",
            "",
            "Scores are on the run's test rows. The first line is what the run recorded; in the "
            "others the rows count as new, so that nothing a departed party sent of them is used.",
            "",
            *_score_table(model),
            "",
            "## Energy",
            "",
            *_energy_table(model),
            "",
            "## Files",
            "",
            *(f"- `{name}`" for name in files),
            "",
        ]
    )


def _score(model: TrainedModel) -> str:
    metrics = model.run.rounds[model.rounds - 1]["metrics"]
    chosen = headline(model.run.start, metrics)
    return f"Test rows: {chosen.format(metrics[chosen.metric])}"


def _party_table(model: TrainedModel) -> list[str]:
    inference, form = model.inference, model.form
    departed = inference.server.memory.departed
    lines = ["| party | inputs | state |", "|---|---|---|"]
    members = (*inference.server.fusion.members, *departed)
    for name in dict.fromkeys(members):
        view = inference.parties.views.get(name)
        if view is None:
            inputs = ", ".join(form.parties.get(name, ())) or "–"
        elif view.modality == "table":
            inputs = ", ".join(form.features[column] for column in view.held_columns)
        else:
            inputs = f"{len(view.held_columns)} values of an image"
        state = "present" if name in inference.sent_in else "never heard"
        lines.append(f"| {name} | {inputs} | {'has left' if name in departed else state} |")
    return lines


def _score_table(model: TrainedModel) -> list[str]:
    scores = model.scores_without_each_party()
    names = list(next(iter(scores.values())))
    recorded = model.run.rounds[model.rounds - 1]["metrics"]
    rows = {"as recorded": recorded} | {
        f"without {absent}" if absent else "all that are present": values
        for absent, values in scores.items()
    }
    lines = [f"| parties | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    for label, values in rows.items():
        lines.append(f"| {label} | {' | '.join(f'{values[name]:.6g}' for name in names)} |")
    return lines


def _energy_table(model: TrainedModel) -> list[str]:
    events = model.run.rounds[: model.rounds]
    total = cumulative_totals(events)[-1]
    sums = {term: sum(energy_terms(event)[term] for event in events) for term in TERMS}
    return [
        "| what | joules |",
        "|---|---|",
        *(f"| {term.removesuffix('_j').replace('_', ' ')} | {sums[term]:.6g} |" for term in TERMS),
        f"| all | {total.joules:.6g} |",
        "",
        f"{total.seconds:.6g} simulated seconds, {total.bits:.6g} bits in both directions.",
    ]
