"""Several methods on the same network, over several seeds."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

from scdn.errors import input_error
from scdn.job_pool import PoolJob, run_jobs
from scdn.methods import method
from scdn.record.file_tail import last_line
from scdn.record.run_reader import EVENTS, Event, Run, method_folder, read_run
from scdn.scenario import Scenario, make_scenario
from scdn.simulation.baselines import Announce, baselines
from scdn.simulation.runner import REFERENCE_FOLDER, REFERENCE_METHOD, resume, run


class ComparisonProgress(NamedTuple):
    """How many runs of a comparison have ended, and how many rounds of all runs are recorded."""

    runs: int
    total_runs: int
    rounds_before: int  # when the comparison began
    rounds: int
    total_rounds: int


OnRun = Callable[[Run, ComparisonProgress], None]  # called with each run that has ended


def compare(
    scenario: Scenario,
    methods: Sequence[str],
    seeds: Sequence[int],
    out: str | Path,
    *,
    jobs: int = 1,
    done: OnRun | None = None,
    announce: Announce | None = None,
) -> list[Run]:
    """Run every method with every seed, `jobs` at once, and return the runs as they ended.

    Runs that are in `out` already are kept; those that were interrupted are resumed. `announce`, a
    function of a module, is called with lines of text while the baselines train.
    """
    planned = comparison_jobs(scenario, methods, seeds, Path(out), announce)
    rounds = scenario.learning.rounds
    before = _recorded_rounds(planned, rounds)
    runs: list[Run] = []
    for _, folder in run_jobs(planned, workers=jobs):
        runs.append(read_run(folder))
        if done is not None:
            now, total = _recorded_rounds(planned, rounds), rounds * len(planned)
            done(runs[-1], ComparisonProgress(len(runs), len(planned), before, now, total))
    return runs


def _recorded_rounds(planned: Sequence[PoolJob[Path]], rounds: int) -> int:
    """Count the rounds in the runs' files; a run that has ended counts in full."""
    count = 0
    for job in planned:
        file = Path(job.key) / EVENTS
        if file.exists():
            has_ended = json.loads(last_line(file) or "{}").get("event") == "end"
            count += rounds if has_ended else max(file.read_bytes().count(b"\n") - 1, 0)
    return count


def comparison_jobs(
    scenario: Scenario,
    methods: Sequence[str],
    seeds: Sequence[int],
    out: Path,
    announce: Announce | None = None,
) -> list[PoolJob[Path]]:
    """Return one job per run; rivals wait for the run of SC-DN with the same seed."""
    rivals = {name for name in methods if method(name).rival}
    reference = out / (REFERENCE_METHOD if REFERENCE_METHOD in methods else REFERENCE_FOLDER)
    folders = [(name, out / method_folder(name)) for name in methods]
    if rivals and REFERENCE_METHOD not in methods:
        folders.append((REFERENCE_METHOD, reference))
    jobs = []
    for seed, (name, parent) in product(seeds, folders):
        folder, leader = parent / f"seed-{seed}", reference / f"seed-{seed}"
        chosen = scenario.model_copy(update={"seed": seed, "method": name})
        with_baselines = (name, seed) == (methods[0], seeds[0])  # they take long: once is enough
        first = partial(baselines, announce=announce) if with_baselines else None
        arguments = (chosen, folder, first)
        after = str(leader) if name in rivals else None
        jobs.append(PoolJob(str(folder), run_or_resume, arguments, after))
    return jobs


def run_or_resume(
    scenario: Scenario,
    folder: Path,
    baselines: Callable[[Scenario], Event] | None = None,
    reference: Path | None = None,
) -> Path:
    """Start or resume one run and return its folder; a new one records its baselines."""
    if (folder / EVENTS).exists():
        _check_same_scenario(scenario, folder)
        resume(folder)
    else:
        run(scenario, folder, reference=reference, baselines=baselines)
    return folder


def _check_same_scenario(scenario: Scenario, folder: Path) -> None:
    # A run of an earlier version lacks fields that are new; their defaults fill them in.
    # Targets are questions about a run: other ones do not make it another run.
    recorded = make_scenario(read_run(folder).scenario, str(folder))
    wanted, existing = (
        chosen.model_dump(mode="json", by_alias=True, exclude={"targets"})
        for chosen in (scenario, recorded)
    )
    differing = [key for key in wanted if wanted[key] != existing[key]]
    if differing:
        fault = f"has a run that differs in {', '.join(differing)}"
        raise input_error(str(folder), "folder", fault, "choose another --out")
