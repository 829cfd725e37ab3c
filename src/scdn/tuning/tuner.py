"""Tuning: trials in worker processes until a time budget is used up, kept in one journal file.

Each trial is a run of the scenario with other settings, whose test rows are replaced by a share of
the training rows. Optuna's TPE suggests the settings, and its median pruner ends trials that are
worse than most were in the same round. The journal is appended to, so that a tuning that was killed
goes on where it was, with what the trials before it found out.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scdn.data import load
from scdn.errors import InputError, input_error
from scdn.job_pool import process_pool
from scdn.learning.metrics import further_metrics, recorded_names
from scdn.record.headline_metric import Headline, headline, metrics_of_run
from scdn.record.round_totals import cumulative_totals
from scdn.scenario import Scenario, make_scenario
from scdn.simulation.events import headline_score
from scdn.simulation.runner import run
from scdn.tuning.search_space import (
    HOLDOUT,
    Value,
    changed_values,
    generous_values,
    own_values,
    search_space,
    with_values,
)

if TYPE_CHECKING:
    from optuna import Study as OptunaStudy
    from optuna import Trial
    from optuna.trial import FrozenTrial

    from scdn.record.run_reader import Event
    from scdn.simulation.loop import Simulation

JOURNAL = "journal.log"
FIRST_TRIALS = 5  # are not pruned
POLL_S = 0.5
_NAME = "tuning"


@dataclass(frozen=True)
class TuningProgress:
    """What is known while a tuning goes on; scores are None until a trial has ended."""

    elapsed_s: float
    trials: int
    best: float | None
    own: float | None


class TrialCost(NamedTuple):
    """What the run of a trial took."""

    joules: float
    seconds: float


@dataclass(frozen=True)
class TuningResult:
    """All trials of a tuning, and the best one.

    Attributes
    ----------
    scenario
        As it was given.
    metric
        By which trials are judged.
    values, score
        The best trial's settings and its score on the rows held out.
    own_score
        That of the scenario as it was given.
    cost, own_cost
        Joules and simulated seconds of the best trial, and of the scenario as it was given.
    trials
        Ended ones, as Optuna has them.
    """

    scenario: Scenario
    metric: Headline
    values: dict[str, Value]
    score: float
    own_score: float
    cost: TrialCost
    own_cost: TrialCost
    trials: tuple[FrozenTrial, ...]

    @property
    def complete(self) -> list[FrozenTrial]:
        """Return the trials that were neither ended early nor failed."""
        return [trial for trial in self.trials if trial.state.name == "COMPLETE"]

    @property
    def best_scenario(self) -> Scenario:
        """Return the scenario with the best settings."""
        return with_values(self.scenario, self.values)


def tune(
    scenario: Scenario,
    folder: Path,
    budget_s: float,
    *,
    metric_name: str | None = None,
    trials: int | None = None,
    jobs: int = 1,
    on_progress: Callable[[TuningProgress], None] | None = None,
) -> TuningResult:
    """Try settings until the budget or the number of trials is used up.

    The first trial is of the scenario as it is, and is not cut short; the second has far more rows
    in a round. If the folder has the journal
    of an earlier tuning of the scenario, its trials count.

    Raises
    ------
    InputError
        If the folder has another scenario's journal, or the scenario cannot be run or diverges.
    """
    _require_optuna()
    shown = _metric_of(scenario, metric_name)
    study = _open(folder, scenario, shown)
    _end_abandoned(study)
    if _own_score(study, scenario) is None:
        study.enqueue_trial(own_values(scenario))
        study.enqueue_trial(generous_values(scenario))
    began, known = time.monotonic(), len(_ended(study))
    limits = _Limits(time.time() + budget_s, None if trials is None else known + trials)
    document = scenario.model_dump(mode="json", by_alias=True)
    with process_pool(jobs) as pool:
        workers = {
            pool.submit(_work, str(folder), document, shown, limits, known + number)
            for number in range(jobs)
        }
        while workers:
            done, workers = wait(workers, timeout=POLL_S)
            for worker in done:
                worker.result()  # raises what the worker raised
            if on_progress is not None:
                on_progress(_progress(study, scenario, time.monotonic() - began))
    return _result(study, scenario, shown)


def _require_optuna() -> None:
    try:
        import optuna
    except ImportError:
        raise input_error("scdn", "tune", "needs Optuna", "pip install 'scdn[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def _metric_of(scenario: Scenario, name: str | None) -> Headline:
    """Return a metric that runs of the scenario record; by default the one that reports show."""
    dataset = load(scenario.learning.dataset)
    start = headline_score(scenario, dataset)
    names = recorded_names(dataset.task, further_metrics(scenario.learning))
    if name is None:
        return headline(start, names)
    if name not in names:
        raise input_error("scdn", "--metric", f"got {name!r}", f"must be one of {', '.join(names)}")
    return metrics_of_run(start)[name]


# --- the journal ----------------------------------------------------------------------------------


def _open(folder: Path, scenario: Scenario, metric: Headline) -> OptunaStudy:
    """Return the study in a folder, which is created if it is missing."""
    if folder.exists() and not folder.is_dir():
        raise input_error(str(folder), "--out", "is a file", "must be a folder")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        study = _load(folder, scenario.seed, metric)
    except (ValueError, KeyError, TypeError):  # of lines that are no entries of a journal
        fault = "cannot be read: it is damaged"
        raise input_error(str(folder / JOURNAL), "file", fault, "choose another --out") from None
    given = {
        "scenario": scenario.model_dump(mode="json", by_alias=True),
        "metric": metric.metric,
        "set of settings": sorted(own_values(scenario)),
    }
    if not study.user_attrs:
        for key, value in given.items():
            study.set_user_attr(key, value)
    for key, value in given.items():
        if study.user_attrs.get(key) != value:
            fault = f"has a tuning with another {key}"
            raise input_error(str(folder), "--out", fault, "choose another folder")
    return study


def _load(folder: Path, seed: int, metric: Headline) -> OptunaStudy:
    import optuna
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna.create_study(
        study_name=_NAME,
        storage=optuna.storages.JournalStorage(JournalFileBackend(str(folder / JOURNAL))),
        load_if_exists=True,
        direction="maximize" if metric.higher_is_better else "minimize",
        sampler=optuna.samplers.TPESampler(seed=seed, constant_liar=True),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=FIRST_TRIALS, n_warmup_steps=3),
    )


def _end_abandoned(study: OptunaStudy) -> None:
    """Let trials fail that were running when an earlier tuning was killed."""
    from optuna.trial import TrialState

    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        with suppress(Exception):  # another process may have ended it meanwhile
            study.tell(trial.number, state=TrialState.FAIL)


def _complete(study: OptunaStudy) -> list[FrozenTrial]:
    from optuna.trial import TrialState

    return study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))


def _progress(study: OptunaStudy, scenario: Scenario, elapsed_s: float) -> TuningProgress:
    best = study.best_value if _complete(study) else None
    own = _own_score(study, scenario)
    return TuningProgress(elapsed_s, len(_ended(study)), best, own)


def _ended(study: OptunaStudy) -> list[FrozenTrial]:
    return [trial for trial in study.get_trials(deepcopy=False) if trial.state.is_finished()]


def _own_score(study: OptunaStudy, scenario: Scenario) -> float | None:
    trial = _own_trial(study, scenario)
    return None if trial is None else trial.value


def _own_trial(study: OptunaStudy, scenario: Scenario) -> FrozenTrial | None:
    own = own_values(scenario)
    return next((trial for trial in _complete(study) if trial.params == own), None)


def _result(study: OptunaStudy, scenario: Scenario, metric: Headline) -> TuningResult:
    own, best = _own_trial(study, scenario), study.best_trial
    if own is None:
        fault = "cannot be tuned: it diverges as it is"
        raise input_error(scenario.name, "learning", fault, "start from settings that train")
    return TuningResult(
        scenario,
        metric,
        values=changed_values(scenario, best.params),
        score=float(best.value or 0.0),
        own_score=float(own.value or 0.0),
        cost=TrialCost(*best.user_attrs["cost"]),
        own_cost=TrialCost(*own.user_attrs["cost"]),
        trials=tuple(_ended(study)),
    )


# --- a worker -------------------------------------------------------------------------------------


class _Limits(NamedTuple):
    """When workers begin no further trial: at a time, or when so many trials have ended."""

    deadline: float
    trials: int | None


class _OutOfTime(Exception):  # noqa: N818  it is no error
    """Raised to end a trial when the budget is used up."""


def _work(
    folder: str, document: dict[str, Any], metric: Headline, limits: _Limits, seed: int
) -> None:
    """Run trials up to the limits, one at least."""
    import optuna

    scenario = make_scenario(document)
    study = _load(Path(folder), seed, metric)
    while True:
        trial = study.ask()
        try:
            score = _trial_score(trial, scenario, metric.metric, limits.deadline)
        except optuna.TrialPruned:
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        except (_OutOfTime, InputError) as error:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            if isinstance(error, InputError) and trial.params == own_values(scenario):
                raise  # it cannot be run as it is
        else:
            study.tell(trial, score)
        enough = limits.trials is not None and len(_ended(study)) >= limits.trials
        if enough or time.time() >= limits.deadline or os.getppid() == 1:  # it was killed
            return


def _trial_score(trial: Trial, scenario: Scenario, name: str, deadline: float) -> float:
    """Return the final score of a run with the trial's settings."""
    import optuna

    drawn = {entry.path: entry.suggest(trial) for entry in search_space(scenario)}
    is_own = drawn == own_values(scenario)
    values = changed_values(scenario, drawn) | {"learning.holdout": HOLDOUT}
    candidate = with_values(scenario, values)

    def check(event: Event, simulation: Simulation) -> None:
        if simulation.method.name != candidate.method:  # the reference of a rival
            return
        if time.time() > deadline and not is_own:
            raise _OutOfTime
        trial.report(event["metrics"][name], event["round"])
        if not is_own and trial.should_prune():
            raise optuna.TrialPruned

    with tempfile.TemporaryDirectory() as temporary:
        recorded = run(candidate, Path(temporary) / "run", on_round=check)
    end = recorded.end or {}
    if end.get("status") == "diverged" or not recorded.rounds:
        raise optuna.TrialPruned
    total = cumulative_totals(recorded.rounds)[-1]
    trial.set_user_attr("cost", [total.joules, total.seconds])
    return float(recorded.rounds[-1]["metrics"][name])
