"""`scdn run` and `scdn compare`: train in a network that changes, and record it."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from scdn.cli.common import Commands, command, count, settings_options, warn
from scdn.cli.progress import Progress, score
from scdn.errors import input_error
from scdn.scenario import Scenario, read_scenario, warnings_of


def add_to(commands: Commands) -> None:
    """Declares the commands."""
    run = command(
        commands,
        "run",
        _run,
        "Train with one method in a network that changes, and record every round.",
        "scdn data fetch digits\n"
        "scdn run examples/quick.toml --out runs/quick\n"
        "scdn run --resume runs/quick",
    )
    run.add_argument("scenario", nargs="?", metavar="FILE", help="TOML or JSON, - for stdin")
    settings_options(run)
    run.add_argument("--method", metavar="M", help="in place of the scenario's")
    run.add_argument("--seed", type=count(0), metavar="S", help="in place of the scenario's")
    run.add_argument("--out", metavar="DIR", help="a new folder for the run")
    run.add_argument("--resume", metavar="DIR", help="go on with the run in this folder")
    run.add_argument("--reference", metavar="DIR", help="SC-DN's run that rivals follow")
    run.add_argument(
        "--log", choices=("tensorboard", "mlflow"), help="also there, if it is installed"
    )

    compare = command(
        commands,
        "compare",
        _compare,
        "Run several methods on the same network over several seeds; a report at the end.",
        "scdn data fetch digits\n"
        "scdn compare examples/quick.toml --methods sc-dn,max-vfl --seeds 2 --out runs/two",
    )
    compare.add_argument("scenario", metavar="FILE", help="TOML or JSON, - for standard input")
    settings_options(compare)
    compare.add_argument("--methods", required=True, metavar="A,B,…", help="the first is compared")
    compare.add_argument("--seeds", type=count(1), default=10, metavar="N", help="default: 10")
    compare.add_argument("--jobs", type=count(1), default=1, metavar="N", help="processes; 1")
    compare.add_argument(
        "--out", metavar="DIR", help="goes on with what is there; default: runs/NAME"
    )


def _run(options: argparse.Namespace) -> int:
    from scdn.simulation.run import resume, run

    if (options.resume is None) == (options.scenario is None):
        raise input_error("scdn", "run", "needs one of FILE and --resume", "see scdn run --help")
    if options.log:
        from scdn.record.log import check_log

        check_log(options.log)
    if options.resume is not None:
        for name in ("method", "seed", "out", "reference", "settings"):
            if getattr(options, name) not in (None, []):
                option = f"--{name.removesuffix('tings')}"
                raise input_error("scdn", option, "a run goes on as it began", "leave it out")
        folder = Path(options.resume)
        return _finish(resume(folder, watch=_Watch(options, folder)), folder)
    if options.out is None:
        raise input_error("scdn", "--out", "is missing", "must be a new folder for the run")
    scenario = _scenario(options)
    found = run(
        scenario, options.out, reference=options.reference, watch=_Watch(options, Path(options.out))
    )
    return _finish(found, Path(options.out))


def _scenario(options: argparse.Namespace) -> Scenario:
    from scdn.methods import method

    scenario = read_scenario(options.scenario, options.settings, strict=options.strict)
    told = {"method": getattr(options, "method", None), "seed": getattr(options, "seed", None)}
    scenario = scenario.model_copy(update={k: v for k, v in told.items() if v is not None})
    method(scenario.method)
    warn(warnings_of(scenario))
    return scenario


class _Watch:
    """Shows a run's progress, and passes it on to those who keep it elsewhere."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self._bars: dict[str, Progress] = {}
        self._kind, self._folder = options.log, folder
        self._began = time.monotonic()
        self._log: Any = None

    def __call__(self, event: dict[str, Any], simulation: Any) -> None:
        name = simulation.method.name
        if name not in self._bars:
            self._bars[name] = Progress(simulation.scenario.learning.rounds, began=self._began)
        self._began = time.monotonic()  # a reference that ran first has taken its time
        total = simulation.ledger.totals()["total_j"]
        words = f"{name}: {score(event['metrics'])}, {total:.4g} J, {len(event['active'])} active"
        self._bars[name].show(event["round"] + 1, words)
        if self._kind and name == simulation.scenario.method.rpartition(":")[2]:
            if self._log is None:
                from scdn.record.log import open_log

                self._log = open_log(self._kind, simulation.scenario.name, name, self._folder)
            self._log(event)


def _finish(found: Any, folder: Path) -> int:
    end = found.end or {}
    if end.get("status") == "diverged":
        print(f"{folder}: stopped, training ran away: {end['reason']}")
        return 1
    energy = end["energy"]
    print(
        f"{folder}: {score(end['metrics'])} after {end['rounds']} rounds, "
        f"{energy['total_j']:.4g} J ({energy['processing_j']:.4g} computing, "
        f"{energy['transmission_j']:.4g} sending, {energy['movement_j']:.4g} flying), "
        f"{energy['latency_s']:.4g} s"
    )
    return 0


def _compare(options: argparse.Namespace) -> int:
    from scdn.file_io import write_atomic
    from scdn.methods import method
    from scdn.report.page import page
    from scdn.report.study import make_study
    from scdn.report.text import as_text
    from scdn.simulation.compare import compare

    names = [name.strip() for name in options.methods.split(",") if name.strip()]
    if not names or len(set(names)) < len(names):
        raise input_error(
            "scdn", "--methods", f"got {options.methods!r}", "must be names, each once"
        )
    shown = [method(name).name for name in names]
    scenario = _scenario(options)
    out = Path(options.out or Path("runs") / scenario.name)
    began, bar = time.monotonic(), list[Progress]()

    def done(run: Any, number: int, total: int) -> None:
        if not bar:
            bar.append(Progress(total, lines=total, began=began))
        end = run.end or {}
        what = "ran away" if end["status"] == "diverged" else score(end["metrics"])
        words = f"{run.method}, seed {run.seed}: {what}, {end['energy']['total_j']:.4g} J"
        bar[0].show(number, words)

    seeds = range(scenario.seed, scenario.seed + options.seeds)
    found = compare(scenario, names, seeds, out, jobs=options.jobs, done=done)
    study = make_study([run for run in found if run.method in shown], shown[0])
    print(as_text(study))
    for note in study.notes:
        print(f"note: {note}", file=sys.stderr)
    target = out / "report.html"
    write_atomic(target, page(study))
    print(f"wrote {target}")
    return 0
