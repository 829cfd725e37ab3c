"""Count how often the gradients of real runs change more than Lemma 1 allows.

    python benchmarks/lemma_1.py -o docs/results/lemma-1.json      # measure, write, print
    python benchmarks/lemma_1.py --show docs/results/lemma-1.json  # print an earlier study

The lemma bounds ‖g(θ_q) − g(θ_0)‖², for one mini-batch's gradient g of a party after q steps and
at the start of its round. Three forms of the bound are counted against it:

    q    4·q·(Q² + σ²)·(η·L·w_max)², as in the proof for step q
    τ    the same with the round's steps τ for q, as in the lemma's statement (never smaller)
    q²   the corrected bound, with the factor that Jensen's inequality gives

each with the paper's L (from spectral norms) and with the largest ‖g(θ_q) − g(θ_0)‖/‖θ_q − θ_0‖ of
the round, and with Q² as the package measures it (in the round before) or the largest squared norm
of all gradients of the round's steps or of the lemma's batch. σ² is the package's. With the
measured L and the largest Q², the corrected bound is a theorem.

All steps of a round use one batch, or each step a fresh one; the lemma's batch is then the first.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np
import torch
from bound_study import load_mnist, run_or_read, settings

from scdn.data import Dataset
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.local_optimizers import LocalSteps, halved_rate
from scdn.learning.vertical_model import VerticalModel
from scdn.paper.theory_bounds.theorem1 import (
    HALVE_RATE_EVERY,
    LEARNING_RATE,
    STEPS,
    create_model,
    trace_local_path,
)
from scdn.rng import generator
from scdn.theory import MOMENTUM, PROXIMAL, SGD, lemma_1, step_weights

OPTIMIZERS = {"sgd": (SGD, 0.0), "momentum": (MOMENTUM, 0.25), "proximal": (PROXIMAL, 0.3)}
BATCHES = ("one", "fresh")
FORMS = ("q", "τ", "q²")


# --- one run --------------------------------------------------------------------------------------


def keep_one_batch(model: VerticalModel) -> None:
    """Make every step of a round use the round's first batch."""
    draw = model._draw
    model._draw = lambda rng, steps: draw(rng, 1).repeat(steps, 1)


def measure(
    dataset: Dataset,
    tensors: DatasetTensors,
    parties: int,
    optimizer: str,
    batches: str,
    seed: int,
    rounds: int,
) -> tuple[dict[tuple[str, str, str], np.ndarray], np.ndarray, np.ndarray, float]:
    """Train one run.

    Return ‖g(θ_q) − g(θ_0)‖² / bound for each form of the bound, (rounds · parties, steps), the
    paper's L, the measured L, and the last top-3.
    """
    model = create_model(dataset, tensors, parties, seed)
    if batches == "one":
        keep_one_batch(model)
    kind, optimizer_value = OPTIMIZERS[optimizer]
    ratios: dict[tuple[str, str, str], list[np.ndarray]] = {}
    paper_l, measured_l = [], []
    for round_ in range(rounds):
        rate = halved_rate(LEARNING_RATE, round_, HALVE_RATE_EVERY)
        steps = LocalSteps(STEPS, rate, optimizer, optimizer_value)
        batches_of_round = model.draw(generator(seed, "batches", round_), STEPS)
        smoothness, _ = model.smoothness()
        ends = []
        for stack in model.stacks:
            path = trace_local_path(model, stack, batches_of_round, [steps] * len(stack.names))
            ends.append(path.end)
            stats = [model.gradient_stats[name] for name in stack.names]
            by_l = {
                "paper": np.array([smoothness[name] for name in stack.names]),
                "measured": path.smoothness.numpy(),
            }
            by_q = {
                "package": np.array([s.bound_sq for s in stats]),
                "largest": path.largest_sq.numpy(),
                "largest, first batch": path.largest_first_batch_sq.numpy(),
            }
            variance = np.array([s.variance for s in stats])
            change_sq = path.gradient_change.numpy() ** 2
            for l_name, l_value in by_l.items():
                for q_name, q_value in by_q.items():
                    for form in FORMS:
                        bound = _bound(
                            form, kind, optimizer_value, rate, l_value, q_value, variance
                        )
                        ratios.setdefault((form, l_name, q_name), []).append((change_sq / bound).T)
            paper_l.append(by_l["paper"])
            measured_l.append(by_l["measured"])
        model.train(round_, dict.fromkeys(model.present, steps), LocalSteps(STEPS, rate))
        for stack, end in zip(model.stacks, ends, strict=True):
            for name, value in end.items():  # the traced path is the package's round
                torch.testing.assert_close(stack.parameters[name], value)
    concatenated = {key: np.concatenate(values) for key, values in ratios.items()}
    return (
        concatenated,
        np.concatenate(paper_l),
        np.concatenate(measured_l),
        model.metrics()["top3"],
    )


def _bound(form, kind, optimizer_value, rate, smoothness, bound_sq, variance) -> np.ndarray:
    """Return the lemma's right-hand side, (steps, parties)."""
    q = np.full((STEPS, 1), STEPS) if form == "τ" else np.arange(1, STEPS + 1)[:, None]
    largest = step_weights(np.array([[kind]]), q, rate, optimizer_value).largest
    return lemma_1(q, rate, largest, smoothness, bound_sq, variance, corrected=form == "q²")


# --- all runs -------------------------------------------------------------------------------------


def study(parties: Sequence[int], seeds: int, rounds: int) -> dict:
    """Run every case; return the study as plain numbers."""
    dataset, tensors = load_mnist()
    cases = []
    for count in parties:
        for batches in BATCHES:
            for optimizer in OPTIMIZERS:
                start = time.perf_counter()
                runs = [
                    measure(dataset, tensors, count, optimizer, batches, seed, rounds)
                    for seed in range(seeds)
                ]
                cases.append(_summary(count, batches, optimizer, runs))
                seconds = time.perf_counter() - start
                print(f"N = {count}, {batches} batch, {optimizer}: {seconds:.0f} s", flush=True)
    return {
        "what": "steps (party, round, q) at which Lemma 1's bound is exceeded, MNIST",
        "settings": settings(rounds)
        | {"rho": OPTIMIZERS["momentum"][1], "mu": OPTIMIZERS["proximal"][1]},
        "seeds": list(range(seeds)),
        "cases": cases,
    }


def _summary(parties: int, batches: str, optimizer: str, runs: list) -> dict:
    bounds = []
    for form, l_name, q_name in runs[0][0]:
        ratio = np.stack([run[0][form, l_name, q_name] for run in runs])
        exceeded = ratio > 1
        bounds.append(
            {
                "form": form,
                "smoothness": l_name,
                "gradient_bound": q_name,
                "over": int(exceeded.sum()),
                "over_by_q": exceeded.sum((0, 1)).tolist(),
                "median_ratio": _four_digits(np.median(ratio)),
                "largest_ratio": _four_digits(ratio.max()),
            }
        )
    paper, measured = (np.concatenate([run[k] for run in runs]) for k in (1, 2))
    return {
        "parties": parties,
        "batches": batches,
        "optimizer": optimizer,
        "steps": int(runs[0][0]["q", "paper", "package"].size * len(runs)),
        "top3": [round(run[3], 2) for run in runs],
        "paper_smoothness": [_four_digits(x) for x in np.quantile(paper, (0, 0.5, 1))],
        "measured_smoothness": [_four_digits(x) for x in np.quantile(measured, (0, 0.5, 1))],
        "bounds": bounds,
    }


def _four_digits(number: float) -> float:
    return float(f"{number:.4g}")


# --- tables ---------------------------------------------------------------------------------------


def tables(results: dict) -> str:
    """Return Markdown tables: steps over each bound for both L, and the sizes of L."""
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
        for case in results["cases"]:
            cells = [_exceeded(case, key) for key in columns]
            lines.append(f"{_head(case)} {case['steps']:,} | " + " | ".join(cells) + " |")
        lines.append("")
    lines += [
        "L, median (range), and ‖g(θ_q) − g(θ_0)‖² over the bound (paper's L, package Q², q)",
        "",
        "| N | batches | optimiser | paper's L | measured L | median ratio | largest |",
        "|---:|---|---|---:|---:|---:|---:|",
    ]
    for case in results["cases"]:
        default = _bound_results(case, ("q", "paper", "package"))
        ranges = (
            f"{mid:.2f} ({low:.2f} to {high:.2f})"
            for low, mid, high in (case["paper_smoothness"], case["measured_smoothness"])
        )
        ratios = f"{default['median_ratio']:.3g} | {default['largest_ratio']:,.0f} |"
        lines.append(f"{_head(case)} " + " | ".join(ranges) + f" | {ratios}")
    return "\n".join(lines)


def _head(case: dict) -> str:
    return f"| {case['parties']} | {case['batches']} | {case['optimizer']} |"


def _bound_results(case: dict, key: tuple[str, str, str]) -> dict:
    names = ("form", "smoothness", "gradient_bound")
    return next(b for b in case["bounds"] if tuple(b[name] for name in names) == key)


def _exceeded(case: dict, key: tuple[str, str, str]) -> str:
    """Return the steps over a bound in percent, or their number where they are few."""
    over, steps = _bound_results(case, key)["over"], case["steps"]
    return f"{100 * over / steps:.1f} %" if over >= 0.01 * steps else str(over)


def main() -> None:
    """Run the study, or read an earlier one, and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    _, results = run_or_read(parser, study, indent=1)
    print(tables(results))


if __name__ == "__main__":
    main()
