"""Draw score against what can be inferred, for each strength of noise.

python benchmarks/privacy_figure.py docs/results/privacy.jsonl docs/pictures/privacy.png
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from privacy import (
    DEFENDED,
    EMBEDDING_NOISE,
    GRADIENT_NOISE,
    NO_DEFENCE,
    device_means,
    select,
)
from result_file import Record, read

PANELS = (  # noise, what is inferred, as much without messages, and the unit
    (
        GRADIENT_NOISE,
        "known_labels",
        "known_labels_features",
        100,
        "labels that a device finds (%)",
    ),
    (EMBEDDING_NOISE, "ridge", "ridge_without", 1, "R² of features that the server finds"),
)


def draw(records: Sequence[Record]) -> Figure:
    """Return a panel for each kind of noise, with a line for each network."""
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    panels = zip(figure.subplots(1, 2, sharey=True), PANELS, strict=True)
    for axes, (noises, key, without, unit, title) in panels:
        for number, network in enumerate(DEFENDED):
            _draw_network(axes, records, network, f"C{number}", noises, key, without, unit)
        axes.set_xlabel(title)
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(fontsize=8)
    figure.axes[0].set_ylabel("top-1 accuracy (%)")
    figure.axes[0].set_title("noise on gradients")
    figure.axes[1].set_title("noise on embeddings")
    return figure


def _draw_network(
    axes: Axes,
    records: Sequence[Record],
    network: str,
    colour: str,
    noises: Mapping[str, float],
    key: str,
    without: str,
    unit: float,
) -> None:
    """Draw a network's points, and a dotted line at what is inferred without messages."""
    points = []
    for defence, noise in {NO_DEFENCE: 0.0, **noises}.items():
        for record in select(records, network, defence)[:1]:
            if inferred := device_means([record], key, unit):
                points.append((inferred[0], record["top1"], noise))
                own = device_means([record], without, unit)[0]
    if len(points) < 2:
        return
    axes.plot(*zip(*[p[:2] for p in points], strict=True), "o-", ms=4, color=colour, label=network)
    axes.axvline(own, color=colour, ls=":", lw=1)
    for x, y, noise in points:
        axes.annotate(f"{noise:g}", (x, y), (3, 3), textcoords="offset points", fontsize=7)


def main() -> None:
    """Read the results and write the picture."""
    source, target = map(Path, sys.argv[1:3])
    draw(read(source)).savefig(target, dpi=150)


if __name__ == "__main__":
    main()
