"""Compare SC-DN with its rivals on MNIST: ten paired seeds, tuned learning rates, four regimes.

    python benchmarks/compare_methods.py --out out/methods -o docs/results/methods-mnist.json

Every method's learning rate is tuned first with the same small budget: the same rates and two seeds
that are not used again, scored on a tenth of the training rows. Then each method runs with ten
seeds on the paper's static network with 2, 4 and 6 devices and on its dynamic one. Runs that exist
in the output folder are not repeated. Without `--out`, the tables of an earlier study are printed.

    regime       steps per iteration   update
    few          1                     the steady one (server last, fitted)
    few-paper    1                     the paper's (all in parallel, undamped)
    many         20                    the steady one
    many-paper   20                    the paper's
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fixed_networks import planning_time

from scdn.cli.progress_bar import ProgressBar
from scdn.file_io import (
    MEBIBYTE,
    apply_settings,
    merge_tables,
    read_document,
    to_json,
    write_atomic,
)
from scdn.job_pool import PoolJob, run_jobs
from scdn.paper.artefact import artefact_defaults
from scdn.record.run_reader import Run, read_run
from scdn.report.study import Study
from scdn.scenario import Scenario, make_scenario
from scdn.simulation.compare import run_or_resume

RATES = {  # the same for every method
    "few": (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4),
    "few-paper": (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4),
    "many": (0.2, 0.4, 0.8, 1.6),
    "many-paper": (0.2, 0.4, 0.8, 1.6),
}
FOLDER = Path(__file__).parent / "networks"
TUNING_SEEDS = (1000, 1001)
STATIC = ("sc-dn", "max-vfl", "max-vfl-matched", "gsp", "gsp-matched", "vafl", "vafl-matched")
DYNAMIC = (*STATIC, "zoc", "zoc-greedy")
RIVALS = ("gsp", "vafl")  # they take SC-DN's mean iterations of the same seed
PAPER = ("learning.server_turn=parallel", "learning.step=rate")
STEADY = ("learning.server_turn=after", "learning.step=fitted")
MANY = ("learning.steps_per_iteration=20", "fleet.0.flops_per_cycle=[0.064, 0.148]")
REGIMES = {
    "few": STEADY,
    "few-paper": PAPER,
    "many": (*STEADY, *MANY),
    "many-paper": (*PAPER, *MANY),
}
NETWORKS = {
    "static 2": ("paper-static", "fleet.0.count=2"),
    "static 4": ("paper-static", "fleet.0.count=4"),
    "static 6": ("paper-static", "fleet.0.count=6"),
    "dynamic": ("paper-dynamic", "fleet.0.count=6"),
}


def scenario_for(
    network: str, regime: str, method: str, seed: int, rate: float, *more: str
) -> Scenario:
    """Return the scenario of one run; it has the defaults of the paper's artefacts."""
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
    network_table = read_document(FOLDER / f"{name}.toml", MEBIBYTE)
    document = merge_tables(artefact_defaults(), network_table)
    return make_scenario(apply_settings(document, settings), name)


def run_all(jobs: list[PoolJob[Path]], workers: int) -> None:
    """Run the jobs; rivals wait for the run whose iterations they take."""
    bar = ProgressBar(lines=20)
    for count, (_, folder) in enumerate(run_jobs(jobs, workers=workers), 1):
        bar.show(count, len(jobs), "/".join(folder.parts[-3:]))


# --- learning rates -------------------------------------------------------------------------------


def tune(out: Path, regime: str, methods: list[str], workers: int) -> dict[str, float]:
    """Return each method's best learning rate on the static network of four devices."""
    tuned = [name for name in STATIC if name in methods or name == "sc-dn"]
    rivals = [name for name in tuned if name.startswith(RIVALS)]
    run_all(_tuning_jobs(out, regime, [n for n in tuned if n not in rivals], None), workers)
    sc_dn_rate = _best_rate(out, regime, "sc-dn")
    run_all(_tuning_jobs(out, regime, rivals, sc_dn_rate), workers)
    best = {name: _best_rate(out, regime, name) for name in tuned}
    # A memory needs no rate of its own.
    return best | {"zoc": best["sc-dn"], "zoc-greedy": best.get("max-vfl", best["sc-dn"])}


def _tuning_folder(out: Path, regime: str, method: str, rate: float, seed: int) -> Path:
    return out / regime / "tuning" / method / f"rate-{rate}" / f"seed-{seed}"


def _tuning_jobs(
    out: Path, regime: str, methods: list[str], sc_dn_rate: float | None
) -> list[PoolJob[Path]]:
    jobs = []
    for method in methods:
        for rate in RATES[regime]:
            for seed in TUNING_SEEDS:
                holdout = "learning.holdout=0.1"
                scenario = scenario_for("static 4", regime, method, seed, rate, holdout)
                folder = _tuning_folder(out, regime, method, rate, seed)
                reference = sc_dn_rate and _tuning_folder(out, regime, "sc-dn", sc_dn_rate, seed)
                arguments = (scenario, folder, None, reference)
                jobs.append(PoolJob(str(folder), run_or_resume, arguments))
    return jobs


def _best_rate(out: Path, regime: str, method: str) -> float:
    def mean_score(rate: float) -> float:
        folders = [_tuning_folder(out, regime, method, rate, seed) for seed in TUNING_SEEDS]
        return float(np.mean([_score(read_run(folder)) for folder in folders]))

    return max(RATES[regime], key=mean_score)


def _score(run: Run) -> float:
    return run.rounds[-1]["metrics"]["top3"] if run.end["status"] == "done" else 0.0


# --- comparison -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """The runs of one regime, with a tuned learning rate for each method."""

    out: Path
    regime: str
    rates: dict[str, float]
    seeds: int
    networks: list[str]
    methods: list[str]

    def methods_on(self, network: str) -> list[str]:
        """Return the methods to run; zero-out memories need a network that devices leave."""
        candidates = DYNAMIC if network == "dynamic" else STATIC
        return [name for name in candidates if name in self.methods]

    def folder(self, network: str, method: str, seed: int) -> Path:
        """Return the folder of one run."""
        return self.out / self.regime / network / method / f"seed-{seed}"

    def jobs(self) -> list[PoolJob[Path]]:
        """Return one job for each run."""
        jobs = []
        for network in self.networks:
            for method in self.methods_on(network):
                for seed in range(self.seeds):
                    folder = self.folder(network, method, seed)
                    scenario = scenario_for(network, self.regime, method, seed, self.rates[method])
                    reference = str(self.folder(network, "sc-dn", seed))
                    after = reference if method.startswith(RIVALS) else None
                    jobs.append(
                        PoolJob(str(folder), run_or_resume, (scenario, folder, None), after)
                    )
        return jobs

    def summary(self) -> dict:
        """Return means, deviations and paired differences to SC-DN for each network."""
        networks = {network: self._network_summary(network) for network in self.networks}
        return {"seeds": self.seeds, "rates": self.rates, "networks": networks}

    def _network_summary(self, network: str) -> dict:
        methods = self.methods_on(network)
        runs = [
            read_run(self.folder(network, method, seed))
            for method in methods
            for seed in range(self.seeds)
        ]
        cells: dict = {method: {} for method in methods}
        for measure in Study.from_runs(runs, "sc-dn").measures():
            for result in measure.values:
                cell = {"mean": result.mean, "std": result.std, "median": result.median}
                cell |= {"failed": result.failed, "seeds": result.seeds}
                if result.difference is not None:
                    cell |= {
                        "difference": result.difference,
                        "low": result.low,
                        "high": result.high,
                        "p": result.p_flip,
                    }
                cells[result.method][measure.key] = cell
        planning = [planning_time(run)[0] for run in runs if run.method == "sc-dn"]
        return {
            "methods": cells,
            "diverged": sum(run.end["status"] == "diverged" for run in runs),
            "control_share": float(np.median(planning)),
        }


# --- tables ---------------------------------------------------------------------------------------

COLUMNS = {
    "top3": "top-3 (%)",
    "future_top3": "later samples (%)",
    "joules": "at equal joules (%)",
    "seconds": "at equal seconds (%)",
    "per_device": "processing per device and round (J)",
    "j": "all energy (J)",
    "iterations": "iterations",
}


def tables(summaries: dict) -> str:
    """Return a Markdown table per regime and network, with 95 % intervals of differences."""
    lines = []
    for regime, summary in summaries.items():
        rates = ", ".join(f"{name} {rate:g}" for name, rate in summary["rates"].items())
        lines += [f"### {regime}", "", f"{summary['seeds']} seeds; tuned rates: {rates}.", ""]
        for network, result in summary["networks"].items():
            methods = result["methods"]
            columns = [key for key in COLUMNS if any(key in row for row in methods.values())]
            lines += [
                f"**{network}** (planning takes {100 * result['control_share']:.1f} % of SC-DN's"
                f" time; {result['diverged']} runs diverged)",
                "",
                "| method | " + " | ".join(COLUMNS[key] for key in columns) + " |",
                "|---|" + "---|" * len(columns),
            ]
            for method, row in methods.items():
                cells = [_cell(row.get(key)) for key in columns]
                lines.append(f"| {method} | " + " | ".join(cells) + " |")
            lines.append("")
    return "\n".join(lines)


def _cell(cell: dict | None) -> str:
    if cell is None:
        return ""
    if cell["mean"] is None:  # a run diverged
        median = "–" if cell["median"] is None else f"median {cell['median']:.4g}"
        return f"{median}, {cell['failed']} of {cell['seeds']} diverged"
    text = f"{cell['mean']:.4g}"
    if cell["std"] is not None:
        text += f" ± {cell['std']:.2g}"
    if cell.get("low") is not None:
        text += f" ({cell['low']:+.3g} … {cell['high']:+.3g})"
    return text


def main() -> None:
    """Run the study and write its summary, or print the tables of an earlier one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="folder of the runs; without it, print the tables")
    parser.add_argument("--regimes", default="few,few-paper,many,many-paper")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--methods", default=",".join(DYNAMIC))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, required=True, help="JSON file of the summary")
    args = parser.parse_args()
    summaries = json.loads(args.output.read_text()) if args.output.exists() else {}
    if args.out is None:
        print(tables(summaries))
        return
    networks, methods = args.networks.split(","), args.methods.split(",")
    for regime in args.regimes.split(","):
        rates = tune(args.out, regime, methods, args.jobs)
        print(f"{regime}: rates {rates}")
        comparison = Comparison(args.out, regime, rates, args.seeds, networks, methods)
        run_all(comparison.jobs(), args.jobs)
        summaries[regime] = comparison.summary()
        write_atomic(args.output, to_json(summaries) + "\n")


if __name__ == "__main__":
    main()
