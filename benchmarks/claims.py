"""SC-DN against its rivals on MNIST: ten paired seeds, tuned rates, both regimes.

    python benchmarks/claims.py --out out/claims --jobs 2 -o docs/results/methods-mnist.json

Every method's learning rate is tuned first, with the same small budget: the same rates, two seeds
that are not used again, scored on a tenth of the training rows. Then each method runs with ten
seeds on the paper's static network with 2, 4 and 6 devices and on its dynamic one. Runs that are
there are not repeated.

    regime       steps per iteration   update
    few          1                     the product's (server last, fitted)
    few-paper    1                     the paper's (all at once, whole)
    many         20                    the product's
    many-paper   20                    the paper's
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from scdn.cli.progress_bar import ProgressBar
from scdn.file_io import to_json, write_atomic
from scdn.job_pool import PoolJob, run_jobs
from scdn.record.run_reader import read_run
from scdn.report.statistics import paired_difference, spread
from scdn.report.study import make_study
from scdn.scenario import read_scenario
from scdn.simulation.compare import run_or_resume

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
RATES = {  # the same for every method
    "few": (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4),
    "few-paper": (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4),
    "many": (0.2, 0.4, 0.8, 1.6),
    "many-paper": (0.2, 0.4, 0.8, 1.6),
}
TUNING_SEEDS = (1000, 1001)
STATIC = ("sc-dn", "max-vfl", "max-vfl-matched", "gsp", "gsp-matched", "vafl", "vafl-matched")
DYNAMIC = (*STATIC, "zoc", "zoc-greedy")
FEW = {"few", "few-paper"}
PAPER = ("learning.server_turn=parallel", "learning.damping=none")
MANY = ("learning.steps_per_iteration=20", "fleet.0.flops_per_cycle=[0.064, 0.148]")
REGIMES = {"few": (), "few-paper": PAPER, "many": MANY, "many-paper": (*PAPER, *MANY)}
NETWORKS = {
    "static 2": ("paper-static", "fleet.0.count=2"),
    "static 4": ("paper-static", "fleet.0.count=4"),
    "static 6": ("paper-static", "fleet.0.count=6"),
    "dynamic": ("paper-dynamic", "fleet.0.count=6"),
}


def scenario(network: str, regime: str, method: str, seed: int, rate: float, *more: str):
    """The scenario of one run."""
    name, size = NETWORKS[network]
    settings = [
        f"name={network}",
        size,
        *REGIMES[regime],
        f"method={method}",
        f"seed={seed}",
        f"fleet.0.learning_rate={rate}",
        f"learning.server_rate={rate}",
        *more,
    ]
    return read_scenario(EXAMPLES / f"{name}.toml", settings)


def tuning(out: Path, regime: str, methods: list[str], lead: float | None) -> list[PoolJob[Path]]:
    """The runs that rates are chosen by, on the static network of four.

    Rivals take SC-DN's iterations, so theirs come second, when SC-DN's rate `lead` is known.
    """
    here, found = out / regime / "tuning", []
    for method in methods:
        if method.startswith(("gsp", "vafl")) == (lead is None):
            continue
        for rate in RATES[regime]:
            for seed in TUNING_SEEDS:
                chosen = scenario("static 4", regime, method, seed, rate, "learning.holdout=0.1")
                place = here / method / f"rate-{rate}" / f"seed-{seed}"
                source = here / "sc-dn" / f"rate-{lead}" / f"seed-{seed}"
                arguments = (chosen, place, False, None if lead is None else source)
                found.append(PoolJob(str(place), run_or_resume, arguments))
    return found


def best_rates(out: Path, regime: str, methods: list[str]) -> dict[str, float]:
    """Each method's best rate."""
    best = {}
    for method in methods:
        scores = {}
        for rate in RATES[regime]:
            runs = [
                read_run(out / regime / "tuning" / method / f"rate-{rate}" / f"seed-{seed}")
                for seed in TUNING_SEEDS
            ]
            scores[rate] = float(np.mean([_score(run) for run in runs]))
        best[method] = max(scores, key=lambda rate: scores[rate])
    return best


def tuned(out: Path, regime: str, methods: list[str], jobs: int) -> dict[str, float]:
    """Tunes; a memory does not need a rate of its own."""
    ones = _tuned_ones(methods)
    run_all(tuning(out, regime, ones, None), jobs)
    lead = best_rates(out, regime, ["sc-dn"])["sc-dn"]
    run_all(tuning(out, regime, ones, lead), jobs)
    best = best_rates(out, regime, ones)
    return best | {"zoc": best["sc-dn"], "zoc-greedy": best.get("max-vfl", best["sc-dn"])}


def _tuned_ones(methods: list[str]) -> list[str]:
    return [name for name in STATIC if name in methods or name == "sc-dn"]


def _score(run) -> float:
    return run.rounds[-1]["metrics"]["top3"] if run.end["status"] == "done" else 0.0


def taking_part(network: str, methods: list[str]) -> list[str]:
    """Who runs in a network: those who forget the departed only where some depart."""
    return [name for name in (DYNAMIC if network == "dynamic" else STATIC) if name in methods]


def study(
    out: Path,
    regime: str,
    rates: dict[str, float],
    seeds: int,
    networks: list[str],
    methods: list[str],
) -> list[PoolJob[Path]]:
    """The runs that count."""
    found = []
    for network in networks:
        for method in taking_part(network, methods):
            for seed in range(seeds):
                place = out / regime / network / method / f"seed-{seed}"
                source = out / regime / network / "sc-dn" / f"seed-{seed}"
                rival = method.startswith(("gsp", "vafl"))
                chosen = scenario(network, regime, method, seed, rates[method])
                after = str(source) if rival else None
                found.append(PoolJob(str(place), run_or_resume, (chosen, place, False), after))
    return found


def run_all(jobs: list[PoolJob[Path]], workers: int) -> None:
    """Run the jobs; rivals wait for the run whose iterations they take."""
    bar = ProgressBar(lines=20)
    for count, (_, folder) in enumerate(run_jobs(jobs, workers=workers), 1):
        bar.show(count, len(jobs), "/".join(folder.parts[-3:]))


def summary(
    out: Path,
    regime: str,
    rates: dict[str, float],
    seeds: int,
    networks: list[str],
    chosen: list[str],
) -> dict:
    """Means, deviations and paired differences to SC-DN, for each network."""
    result: dict = {"rates": rates, "networks": {}}
    for network in networks:
        methods = taking_part(network, chosen)
        runs = [
            read_run(out / regime / network / method / f"seed-{seed}")
            for method in methods
            for seed in range(seeds)
        ]
        found = make_study(runs, "sc-dn")
        table: dict = {method: {} for method in methods}
        for measure in found.measures():
            for method in methods:
                values = measure.values.get(method, {})
                mean = spread(values.values())
                if mean is None:
                    continue
                cell = {"mean": mean.mean, "std": mean.std}
                paired = paired_difference(values, measure.values.get("sc-dn", {}))
                if method != "sc-dn" and paired is not None:
                    cell |= {
                        "difference": paired.difference,
                        "low": paired.low,
                        "high": paired.high,
                        "p": paired.p_t,
                    }
                table[method][measure.metric.key] = cell
        statuses = [run.end["status"] for run in runs]
        shares = [
            sum(e["plan"]["solve_seconds"] for e in r.rounds) / sum(e["seconds"] for e in r.rounds)
            for r in runs
            if r.method == "sc-dn"
        ]
        result["networks"][network] = {
            "methods": table,
            "diverged": statuses.count("diverged"),
            "control_share": float(np.median(shares)),
        }
    return result


SHOWN = {
    "top3": "top-3 (%)",
    "future_top3": "later samples (%)",
    "joules": "at equal joules (%)",
    "seconds": "at equal seconds (%)",
    "per_device": "processing per device and round (J)",
    "j": "all energy (J)",
    "iterations": "iterations",
}


def tables(found: dict) -> str:
    """Markdown, one table per regime and network; differences are to SC-DN, with 95 % intervals."""
    lines = []
    for regime, study_ in found.items():
        rates = ", ".join(f"{name} {rate:g}" for name, rate in study_["rates"].items())
        lines += [f"### {regime}", "", f"{study_['seeds']} seeds; tuned rates: {rates}.", ""]
        for network, result in study_["networks"].items():
            methods = result["methods"]
            shown = [key for key in SHOWN if any(key in row for row in methods.values())]
            lines += [
                f"**{network}** (planning takes {100 * result['control_share']:.1f} % of SC-DN's"
                f" time; {result['diverged']} runs diverged)",
                "",
                "| method | " + " | ".join(SHOWN[key] for key in shown) + " |",
                "|---|" + "---|" * len(shown),
            ]
            for method, row in methods.items():
                cells = [_cell(row.get(key)) for key in shown]
                lines.append(f"| {method} | " + " | ".join(cells) + " |")
            lines.append("")
    return "\n".join(lines)


def _cell(found: dict | None) -> str:
    if found is None:
        return ""
    text = f"{found['mean']:.4g}"
    if found["std"] is not None:
        text += f" ± {found['std']:.2g}"
    if found.get("low") is not None:
        text += f" ({found['low']:+.3g} … {found['high']:+.3g})"
    return text


def main() -> None:
    """Parses, runs, writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="where runs are kept; without it, print tables")
    parser.add_argument("--regimes", default="few,few-paper,many,many-paper")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--methods", default=",".join(DYNAMIC))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, required=True, help="a JSON file")
    args = parser.parse_args()
    found = json.loads(args.output.read_text()) if args.output.exists() else {}
    if args.out is None:
        print(tables(found))
        return
    networks, methods = args.networks.split(","), args.methods.split(",")
    for regime in args.regimes.split(","):
        rates = tuned(args.out, regime, methods, args.jobs)
        print(f"{regime}: rates {rates}")
        setup = (args.out, regime, rates, args.seeds, networks, methods)
        run_all(study(*setup), args.jobs)
        found[regime] = {"seeds": args.seeds, **summary(*setup)}
        write_atomic(args.output, to_json(found) + "\n")


if __name__ == "__main__":
    main()
