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
from lemma import HALVE, LEARNING, RATE, STEPS, begin, norms, walk

from scdn.draws import generator
from scdn.learning.data import load
from scdn.learning.features import Rows
from scdn.learning.local import Order, halved
from scdn.learning.losses import row_losses
from scdn.learning.tensors import Place, Tensors, one_thread
from scdn.learning.vertical import VerticalModel
from scdn.theory import drift, progress, sgd, theorem_1

WAY = (0.25, 0.5, 0.75, 1.0)  # points at which the whole gradient is compared
FIGURES = ("rate", "squares", "bound_sq", "variance")
SMOOTHNESS = ("paper_party", "paper_whole", "measured_party", "measured_whole")


# One run


def weights(model: VerticalModel) -> list[Tensors]:
    """Everything that learns: each team's parameters, then the fusion model's."""
    return [*(dict(team.parameters) for team in model.teams), dict(model.server.fusion.parameters)]


def whole_gradient(model: VerticalModel, at: list[Tensors]) -> list[Tensors]:
    """The gradient over the sample in all of `weights`."""
    with one_thread():
        free = [{name: p.detach().requires_grad_() for name, p in part.items()} for part in at]
        sent: Tensors = {}
        for team, own in zip(model.teams, free[:-1], strict=True):
            inputs = team.sight.take(model.rows, "train", model.server.sample)
            each = team.forward(own, team.buffers, inputs)
            sent |= dict(zip(team.names, each, strict=True))
        fusion = model.server.fusion
        table = torch.stack([sent[name] for name in fusion.members])
        outputs = fusion.outputs(table, parameters=free[-1])
        targets = model.server.targets[model.server.sample]
        loss = row_losses(outputs, targets, model.server.task).mean()
        found = iter(torch.autograd.grad(loss, [p for part in free for p in part.values()]))
        return [{name: next(found) for name in part} for part in free]


def length(of: list[Tensors], minus: list[Tensors]) -> float:
    """The Euclidean norm of a difference of all weights."""
    pairs = zip(of, minus, strict=True)
    return sum(float((a[n] - b[n]).square().sum()) for a, b in pairs for n in a) ** 0.5


def way_smoothness(model: VerticalModel, before: list[Tensors], slope: list[Tensors]) -> float:
    """L along the way from `before`, where the gradient was `slope`, to the model as it stands."""
    after = weights(model)
    found = []
    for share in WAY:
        at = [
            {name: torch.lerp(a[name], b[name], share) for name in a}
            for a, b in zip(before, after, strict=True)
        ]
        found.append(length(whole_gradient(model, at), slope) / length(at, before))
    return max(found)


def measure(dataset, rows: Rows, parties: int, seed: int, rounds: int, every: int) -> dict:
    """One run's squared gradients, smoothness and gradient figures, round by round.

    Rates halve after each `every` rounds.
    """
    model = begin(dataset, rows, parties, seed)
    found: dict[str, list] = {key: [] for key in (*FIGURES, *SMOOTHNESS)}
    start_loss = model.metrics()["train_loss"]
    for round_ in range(rounds):
        rate = halved(RATE, round_, every)
        order = Order(STEPS, rate)
        drawn = model._drawn(generator(seed, "batches", round_), STEPS)
        before = weights(model)
        slope = whole_gradient(model, before)
        squares, measured = {}, {}
        for team, own in zip(model.teams, slope[:-1], strict=True):
            for name, value in model.sample_gradients(team).items():
                torch.testing.assert_close(own[name], value)
            squares |= dict(zip(team.names, (norms(own) ** 2).tolist(), strict=True))
            seen = walk(model, team, drawn, [order] * len(team.names))
            measured |= dict(zip(team.names, seen.smoothness.tolist(), strict=True))
        smooth, whole = model.smoothness()
        names = model.present
        found["rate"].append(rate)
        found["squares"].append([squares[name] for name in names])
        found["bound_sq"].append([model.sizes[name].bound_sq for name in names])
        found["variance"].append([model.sizes[name].variance for name in names])
        found["paper_party"].append([smooth[name] for name in names])
        found["paper_whole"].append(whole)
        found["measured_party"].append([measured[name] for name in names])
        model.train(round_, dict.fromkeys(names, order), order)
        found["measured_whole"].append(way_smoothness(model, before, slope))
    top3 = model.metrics()["top3"]
    return {"start_loss": start_loss, "top3": round(top3, 2)} | found


def bounds(run: dict, which: str, rounds: int) -> np.ndarray:
    """Theorem 1's right-hand side, (rounds, parties), for a run of so many rounds."""
    rate = np.array(run["rate"])[:rounds, None]
    weight = sgd(STEPS)
    gain = progress(STEPS, rate, weight.mean, weight.largest)
    whole = np.array(run[f"{which}_whole"])[:rounds, None]
    party = np.array(run[f"{which}_party"])[:rounds]
    drifts = drift(STEPS, rate, weight.largest, party, whole)
    figures = (np.array(run[key])[:rounds] for key in ("bound_sq", "variance"))
    return theorem_1(run["start_loss"] / party.size, *figures, drifts, gain)


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
        "cases": [_shorter(case) for case in cases],
    }


def summary(run: dict) -> dict:
    """Sums over parties and rounds, and where a bound is below what it bounds."""
    squares = np.array(run["squares"])
    rounds = len(squares)
    found: dict = {"sum": squares.sum()}
    so_far = squares.sum(1).cumsum()
    for which in ("paper", "measured"):
        each = bounds(run, which, rounds)
        ended = np.array([bounds(run, which, r).sum() for r in range(1, rounds + 1)])
        found |= {
            f"{which}_bound": each.sum(),
            f"{which}_bound_start": (run["start_loss"] / squares.size / gains(run)).sum(),
            f"{which}_below_so_far": int((each.sum(1).cumsum() < so_far).sum()),
            f"{which}_below_if_ended": int((ended < so_far).sum()),
            f"{which}_below_single": int((each < squares).sum()),
        }
    return found


def gains(run: dict) -> np.ndarray:
    """1/υ of each round and party."""
    weight = sgd(STEPS)
    rate = np.array(run["rate"])[:, None]
    each = progress(STEPS, rate, weight.mean, weight.largest)
    return np.broadcast_to(each, np.array(run["squares"]).shape)


def _shorter(value):
    """Numbers with six digits, in any nesting."""
    if isinstance(value, dict):
        return {key: _shorter(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shorter(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float | np.floating) else value


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
