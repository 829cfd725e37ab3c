"""Compare Theorem 1's bound on the summed squared gradients with the gradients of real runs.

    python benchmarks/theorem_1.py -o docs/results/theorem-1.json --draw docs/pictures/theorem-1.png
    python benchmarks/theorem_1.py --show docs/results/theorem-1.json --draw theorem-1.png

‖∇_n F‖² is measured over the sample of 2,048 rows at the start of a round and summed over parties
and rounds. The bound is accumulated as plans use it (`scdn.theory`, no party leaves), with Q² and
σ² as the package measures them, and two estimates of smoothness:

    paper     L_n and L from spectral norms
    measured  L_n: the largest ‖g(θ_q) − g(θ_0)‖/‖θ_q − θ_0‖ on the round's first batch; L: the
              largest ‖∇F(Θ) − ∇F(Θ_0)‖/‖Θ − Θ_0‖ at four points of the round's joint update of
              parties and server

Learning rates are halved every five rounds, or are constant.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from bound_study import load_mnist, run_or_read, settings

from scdn.paper.theory_bounds.theorem1 import (
    HALVE_RATE_EVERY,
    SMOOTHNESS,
    measure,
    rounded_values,
    summary,
    theorem_bounds,
)


def study(parties: Sequence[int], seeds: int, rounds: int) -> dict:
    """Run every case; return the study as plain numbers."""
    dataset, tensors = load_mnist()
    cases = []
    for halves, every in ((True, HALVE_RATE_EVERY), (False, rounds)):
        for count in parties:
            start = time.perf_counter()
            for seed in range(seeds):
                run = measure(dataset, tensors, count, seed, rounds, every)
                case = {"parties": count, "seed": seed, "rate_halves": halves}
                cases.append(case | run | summary(run))
            print(f"N = {count}: {time.perf_counter() - start:.0f} s", flush=True)
    return {
        "what": "Theorem 1's bound and the summed squared gradients, MNIST, all present",
        "settings": settings(rounds),
        "seeds": list(range(seeds)),
        "cases": [rounded_values(case) for case in cases],
    }


def table(results: dict) -> str:
    """Return Markdown tables: final sums and ratios, and rounds in which a bound is violated."""
    lines = [
        "| rate | N | seed | Σ‖∇_n F‖² | bound, paper's L | ratio | bound, measured L | ratio | "
        "of which start loss | rounds below so far (paper, measured) | "
        "single terms below (paper, measured) | top-3 |",
        "|---|" + "---:|" * 11,
    ]
    for case in results["cases"]:
        total, paper, measured = (case[key] for key in ("sum", "paper_bound", "measured_bound"))
        lines.append(
            f"| {_rate(case)} | {case['parties']} | {case['seed']} | {total:.3g} | {paper:.4g} | "
            f"{paper / total:.3g} | {measured:.4g} | {measured / total:.3g} | "
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
    for rate, parties in dict.fromkeys((_rate(case), case["parties"]) for case in results["cases"]):
        cases = [c for c in results["cases"] if (_rate(c), c["parties"]) == (rate, parties)]
        ends = {
            key: [np.mean([np.mean(case[key][end]) for case in cases]) for end in (0, -1)]
            for key in SMOOTHNESS
        }
        cells = [f"{first:.2f} to {last:.2f}" for first, last in ends.values()]
        lines.append(f"| {rate} | {parties} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _rate(case: dict) -> str:
    return "halves" if case["rate_halves"] else "stays"


def draw(results: dict, path: Path) -> None:
    """Plot the cumulative sums against rounds: the mean of the seeds and their range."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from scdn.report.palette import GRID, INK, KINDS, PAPER, SERVER

    styles = {
        "bound, measured L": ("measured", KINDS[1], "--"),
        "bound, paper’s L": ("paper", SERVER, "-."),
        "Σ‖∇F‖² itself": (None, KINDS[0], "-"),
    }
    halving = [case for case in results["cases"] if case["rate_halves"]]
    counts = list(dict.fromkeys(case["parties"] for case in halving))
    seeds = len(results["seeds"])
    with mpl.rc_context({"text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK}):
        figure = Figure(figsize=(9, 4), dpi=150, layout="constrained", facecolor=PAPER)
        axes = figure.subplots(1, len(counts), sharey=True, squeeze=False)[0]
        for ax, parties in zip(axes, counts, strict=True):
            cases = [case for case in halving if case["parties"] == parties]
            for label, (estimate, colour, dash) in styles.items():
                lines = np.array([_cumulative_sum(case, estimate) for case in cases])
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


def _cumulative_sum(case: dict, estimate: str | None) -> np.ndarray:
    terms = np.array(case["squares"])
    if estimate:
        terms = theorem_bounds(case, estimate, len(terms))
    return terms.sum(1).cumsum()


def main() -> None:
    """Run the study, or read an earlier one; print its tables and draw its figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draw", type=Path, help="write the figure")
    args, results = run_or_read(parser, study)
    if args.draw:
        draw(results, args.draw)
    print(table(results))


if __name__ == "__main__":
    main()
