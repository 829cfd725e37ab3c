"""Theorem 1 on real runs: its bound on the summed squared gradients, and what they summed to.

    python benchmarks/theorem.py -o docs/results/theorem-1.json --draw docs/pictures/theorem-1.png
    python benchmarks/theorem.py --show docs/results/theorem-1.json --draw theorem-1.png

Measured is ‖∇_n F‖², the gradient over the sample of 2,048 rows at a round's start, summed over
parties and rounds. The bound is accumulated as plans use it (`scdn.theory`, nobody leaves), with
Q² and σ² as the package measures them, and

    paper     L_n and L from spectral norms
    measured  L_n: the largest ‖g(θ_q) − g(θ_0)‖/‖θ_q − θ_0‖ on the round's first batch; L: the
              largest ‖∇F(Θ) − ∇F(Θ_0)‖/‖Θ − Θ_0‖ over four points of the way that parties and
              server went together in the round

Learning rates halve every five rounds, as elsewhere, or stay as they are.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from scdn.data import load
from scdn.learning.features import Rows
from scdn.learning.tensors import Place
from scdn.paper.theorem import (
    HALVE,
    LEARNING,
    RATE,
    SMOOTHNESS,
    STEPS,
    bounds,
    measure,
    shorter,
    summary,
)

# All runs


def study(parties: Sequence[int], seeds: int, rounds: int) -> dict:
    """Every case, as plain numbers."""
    dataset = load("mnist").scaled("standard", np.float64)
    rows = Rows.of(dataset, Place("cpu", "float64"))
    cases = []
    for halves, every in ((True, HALVE), (False, rounds)):
        for count in parties:
            began = time.perf_counter()
            for seed in range(seeds):
                run = measure(dataset, rows, count, seed, rounds, every)
                what = {"parties": count, "seed": seed, "rate_halves": halves}
                cases.append(what | run | summary(run))
            print(f"N = {count}: {time.perf_counter() - began:.0f} s", flush=True)
    return {
        "what": "Theorem 1's bound and the summed squared gradients, MNIST, all present",
        "settings": LEARNING
        | {"rate": RATE, "halve_rate_every": HALVE, "steps": STEPS, "rounds": rounds},
        "seeds": list(range(seeds)),
        "cases": [shorter(case) for case in cases],
    }


# What people read


def table(found: dict) -> str:
    """Markdown: final sums and ratios, and rounds at which a bound is below."""
    lines = [
        "| rate | N | seed | Σ‖∇_n F‖² | bound, paper's L | ratio | bound, measured L | ratio | "
        "of which start loss | rounds below so far (paper, measured) | "
        "single terms below (paper, measured) | top-3 |",
        "|---|" + "---:|" * 11,
    ]
    for case in found["cases"]:
        total, paper, own = (case[key] for key in ("sum", "paper_bound", "measured_bound"))
        lines.append(
            f"| {_rate(case)} | {case['parties']} | {case['seed']} | {total:.3g} | {paper:.4g} | "
            f"{paper / total:.3g} | {own:.4g} | {own / total:.3g} | "
            f"{case['paper_bound_start']:.3g} | "
            f"{case['paper_below_so_far']}, {case['measured_below_so_far']} | "
            f"{case['paper_below_single']}, {case['measured_below_single']} | "
            f"{case['top3']:.1f} % |"
        )
    lines += [
        "",
        "| rate | N | paper's L_n, first to last round | paper's L | measured L_n | measured L |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for rate, parties in dict.fromkeys((_rate(case), case["parties"]) for case in found["cases"]):
        cases = [c for c in found["cases"] if (_rate(c), c["parties"]) == (rate, parties)]
        ends = {
            key: [np.mean([np.mean(case[key][end]) for case in cases]) for end in (0, -1)]
            for key in SMOOTHNESS
        }
        cells = [f"{first:.2f} to {last:.2f}" for first, last in ends.values()]
        lines.append(f"| {rate} | {parties} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _rate(case: dict) -> str:
    return "halves" if case["rate_halves"] else "stays"


def draw(found: dict, path: Path) -> None:
    """The sums so far against rounds; a line is the mean of the seeds, a band their range."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from scdn.pictures.palette import GRID, INK, KINDS, PAPER, SERVER

    looks = {
        "bound, measured L": ("measured", KINDS[1], "--"),
        "bound, paper’s L": ("paper", SERVER, "-."),
        "Σ‖∇F‖² itself": (None, KINDS[0], "-"),
    }
    shown = [case for case in found["cases"] if case["rate_halves"]]
    counts = list(dict.fromkeys(case["parties"] for case in shown))
    seeds = len(found["seeds"])
    with mpl.rc_context({"text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK}):
        figure = Figure(figsize=(9, 4), dpi=150, layout="constrained", facecolor=PAPER)
        axes = figure.subplots(1, len(counts), sharey=True, squeeze=False)[0]
        for ax, parties in zip(axes, counts, strict=True):
            cases = [case for case in shown if case["parties"] == parties]
            for label, (which, colour, dash) in looks.items():
                lines = np.array([_so_far(case, which) for case in cases])
                rounds = np.arange(1, lines.shape[1] + 1)
                ax.fill_between(rounds, lines.min(0), lines.max(0), color=colour, alpha=0.2, lw=0)
                ax.plot(rounds, lines.mean(0), dash, color=colour, lw=2, label=label)
            ax.set(title=f"{parties} parties", xlabel="rounds", yscale="log")
            ax.set_xlim(1, lines.shape[1])
            ax.grid(color=GRID, lw=0.8)
            ax.set_axisbelow(True)
            ax.spines[["top", "right"]].set_visible(False)
            ax.tick_params(colors=INK)
        axes[0].set_ylabel("sum so far over parties and rounds")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        figure.suptitle(
            f"Theorem 1 on MNIST: the bound and what it bounds ({seeds} seeds: mean and range)",
            fontsize=11,
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path)


def _so_far(case: dict, which: str | None) -> np.ndarray:
    each = np.array(case["squares"])
    if which:
        each = bounds(case, which, len(each))
    return each.sum(1).cumsum()


def main() -> None:
    """Parses, runs, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parties", default="2,4")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--show", type=Path, help="print the table of an earlier run")
    parser.add_argument("--draw", type=Path, help="write the picture")
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    if args.show:
        found = json.loads(args.show.read_text())
    else:
        torch.set_num_threads(1)
        found = study([int(n) for n in args.parties.split(",")], args.seeds, args.rounds)
        if args.output:
            args.output.parent.mkdir(parents=True, exist_ok=True)
            args.output.write_text(json.dumps(found, ensure_ascii=False) + "\n")
    if args.draw:
        draw(found, args.draw)
    print(table(found))


if __name__ == "__main__":
    main()
