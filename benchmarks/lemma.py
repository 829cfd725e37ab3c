"""Lemma 1 on real runs: how often a round's gradients move further than it allows.

    python benchmarks/lemma.py -o docs/results/lemma-1.json      # measures, writes, prints
    python benchmarks/lemma.py --show docs/results/lemma-1.json  # prints what was measured

The lemma bounds ‖g(θ_q) − g(θ_0)‖², for one mini-batch's gradient g of a party after q steps and
at the start of its round. Three forms of the bound are counted against it:

    q    4·q·(Q² + σ²)·(η·L·w_max)², as the proof has it for step q
    τ    the same with the round's steps τ for q, as the lemma is stated (never smaller)
    q²   the corrected one, with the factor that Jensen's inequality has

each with the paper's L (from spectral norms) and with the largest ‖g(θ_q) − g(θ_0)‖/‖θ_q − θ_0‖ of
the round, and with Q² as the package measures it (the round before) or the largest squared norm of
all gradients that the round's steps or the lemma's batch had. σ² is the package's. With the
measured L and the largest Q² the corrected bound is a theorem.

Either all steps of a round use one batch, or each a fresh one; the lemma's batch is then the first.
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
from scdn.learning.local import Order, halved
from scdn.learning.tensors import Place
from scdn.learning.vertical import VerticalModel
from scdn.paper.theorem import HALVE, LEARNING, RATE, STEPS, begin, walk
from scdn.rng import generator
from scdn.scenario.model import Momentum, Proximal, Sgd
from scdn.theory import MOMENTUM, PROXIMAL, SGD, lemma_1, step_weights

OPTIMIZERS = {
    "sgd": (SGD, 0.0, Sgd()),
    "momentum": (MOMENTUM, 0.25, Momentum(kind="momentum", rho=0.25)),
    "proximal": (PROXIMAL, 0.3, Proximal(kind="proximal", mu=0.3)),
}
BATCHES = ("one", "fresh")
FORMS = ("q", "τ", "q²")


# One run


def keep_one_batch(model: VerticalModel) -> None:
    """From now on every step of a round takes the round's first batch."""
    drawn = model._drawn
    model._drawn = lambda draws, steps: drawn(draws, 1).repeat(steps, 1)


def measure(
    dataset, rows: Rows, parties: int, optimizer: str, batches: str, seed: int, rounds: int
):
    """One run: ‖g(θ_q) − g(θ_0)‖² over each bound, (rounds, parties, steps), and L's two values."""
    model = begin(dataset, rows, parties, seed)
    if batches == "one":
        keep_one_batch(model)
    kind, number, wish = OPTIMIZERS[optimizer]
    over: dict[tuple[str, str, str], list[np.ndarray]] = {}
    paper_l, measured_l = [], []
    for round_ in range(rounds):
        rate = halved(RATE, round_, HALVE)
        order = Order.of(STEPS, rate, wish)
        drawn = model._drawn(generator(seed, "batches", round_), STEPS)
        smooth, _ = model.smoothness()
        ends = []
        for team in model.teams:
            seen = walk(model, team, drawn, [order] * len(team.names))
            ends.append(seen.end)
            sizes = [model.sizes[name] for name in team.names]
            by_l = {
                "paper": np.array([smooth[name] for name in team.names]),
                "measured": seen.smoothness.numpy(),
            }
            by_q = {
                "package": np.array([size.bound_sq for size in sizes]),
                "largest": seen.largest.numpy(),
                "largest, first batch": seen.largest_own.numpy(),
            }
            variance = np.array([size.variance for size in sizes])
            found = seen.changed.numpy() ** 2
            for l_name, l_value in by_l.items():
                for q_name, q_value in by_q.items():
                    for form in FORMS:
                        bound = _bound(form, kind, number, rate, l_value, q_value, variance)
                        over.setdefault((form, l_name, q_name), []).append((found / bound).T)
            paper_l.append(by_l["paper"])
            measured_l.append(by_l["measured"])
        model.train(round_, dict.fromkeys(model.present, order), Order(STEPS, rate))
        for team, end in zip(model.teams, ends, strict=True):
            for name, value in end.items():  # the walk is the round that the package takes
                torch.testing.assert_close(team.parameters[name], value)
    stacked = {key: np.concatenate(values) for key, values in over.items()}
    return stacked, np.concatenate(paper_l), np.concatenate(measured_l), model.metrics()["top3"]


def _bound(form, kind, number, rate, smooth, bound_sq, variance) -> np.ndarray:
    """(steps, parties) values of the lemma's right-hand side."""
    q = np.full((STEPS, 1), STEPS) if form == "τ" else np.arange(1, STEPS + 1)[:, None]
    largest = step_weights(np.array([[kind]]), q, rate, number).largest
    return lemma_1(q, rate, largest, smooth, bound_sq, variance, corrected=form == "q²")


# All runs


def study(parties: Sequence[int], seeds: int, rounds: int) -> dict:
    """Every case, as plain numbers."""
    dataset = load("mnist").scaled("standard", np.float64)
    rows = Rows.of(dataset, Place("cpu", "float64"))
    cases = []
    for count in parties:
        for batches in BATCHES:
            for optimizer in OPTIMIZERS:
                began = time.perf_counter()
                runs = [
                    measure(dataset, rows, count, optimizer, batches, seed, rounds)
                    for seed in range(seeds)
                ]
                cases.append(_summary(count, batches, optimizer, runs))
                seconds = time.perf_counter() - began
                print(f"N = {count}, {batches} batch, {optimizer}: {seconds:.0f} s", flush=True)
    return {
        "what": "steps (party, round, q) at which Lemma 1's bound is exceeded, MNIST",
        "settings": LEARNING
        | {"rate": RATE, "halve_rate_every": HALVE, "steps": STEPS, "rounds": rounds}
        | {"rho": OPTIMIZERS["momentum"][1], "mu": OPTIMIZERS["proximal"][1]},
        "seeds": list(range(seeds)),
        "cases": cases,
    }


def _summary(parties: int, batches: str, optimizer: str, runs: list) -> dict:
    bounds = []
    for form, l_name, q_name in runs[0][0]:
        ratio = np.stack([run[0][form, l_name, q_name] for run in runs])
        above = ratio > 1
        bounds.append(
            {
                "form": form,
                "smoothness": l_name,
                "gradient_bound": q_name,
                "over": int(above.sum()),
                "over_by_q": above.sum((0, 1)).tolist(),
                "median_ratio": _short(np.median(ratio)),
                "largest_ratio": _short(ratio.max()),
            }
        )
    paper, measured = (np.concatenate([run[k] for run in runs]) for k in (1, 2))
    return {
        "parties": parties,
        "batches": batches,
        "optimizer": optimizer,
        "steps": int(runs[0][0]["q", "paper", "package"].size * len(runs)),
        "top3": [round(run[3], 2) for run in runs],
        "paper_smoothness": [_short(x) for x in np.quantile(paper, (0, 0.5, 1))],
        "measured_smoothness": [_short(x) for x in np.quantile(measured, (0, 0.5, 1))],
        "bounds": bounds,
    }


def _short(number: float) -> float:
    return float(f"{number:.4g}")


# What people read


def tables(found: dict) -> str:
    """Markdown: steps over each bound for both L, and how large L is."""
    lines = []
    for l_name, title in (("paper", "The paper's L"), ("measured", "Measured L")):
        columns = [(form, l_name, q_name) for q_name in ("package", "largest") for form in FORMS]
        heads = [f"{q_name} Q², {form}" for form, _, q_name in columns]
        lines += [
            f"{title}: steps over the bound, in percent, or counted where they are few",
            "",
            "| N | batches | optimiser | steps | " + " | ".join(heads) + " |",
            "|---:|---|---|---:|" + "---:|" * len(columns),
        ]
        for case in found["cases"]:
            cells = [_share(case, key) for key in columns]
            lines.append(f"{_head(case)} {case['steps']:,} | " + " | ".join(cells) + " |")
        lines.append("")
    lines += [
        "L, median (range), and ‖g(θ_q) − g(θ_0)‖² over the bound (paper's L, package Q², q)",
        "",
        "| N | batches | optimiser | paper's L | measured L | median ratio | largest |",
        "|---:|---|---|---:|---:|---:|---:|",
    ]
    for case in found["cases"]:
        usual = _of(case, ("q", "paper", "package"))
        spans = (
            f"{mid:.2f} ({low:.2f} to {high:.2f})"
            for low, mid, high in (case["paper_smoothness"], case["measured_smoothness"])
        )
        ratios = f"{usual['median_ratio']:.3g} | {usual['largest_ratio']:,.0f} |"
        lines.append(f"{_head(case)} " + " | ".join(spans) + f" | {ratios}")
    return "\n".join(lines)


def _head(case: dict) -> str:
    return f"| {case['parties']} | {case['batches']} | {case['optimizer']} |"


def _of(case: dict, key: tuple[str, str, str]) -> dict:
    names = ("form", "smoothness", "gradient_bound")
    return next(b for b in case["bounds"] if tuple(b[name] for name in names) == key)


def _share(case: dict, key: tuple[str, str, str]) -> str:
    """In percent, or a count where they are few."""
    over, steps = _of(case, key)["over"], case["steps"]
    return f"{100 * over / steps:.1f} %" if over >= 0.01 * steps else str(over)


def main() -> None:
    """Parses, runs, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parties", default="2,4")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--show", type=Path, help="print the tables of an earlier run")
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    if args.show:
        found = json.loads(args.show.read_text())
    else:
        torch.set_num_threads(1)
        found = study([int(n) for n in args.parties.split(",")], args.seeds, args.rounds)
        if args.output:
            args.output.parent.mkdir(parents=True, exist_ok=True)
            args.output.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    print(tables(found))


if __name__ == "__main__":
    main()
