"""The model of a recorded run, finished or running, to predict new rows with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from scdn.arrays import Mask
from scdn.data.input_format import InputFormat
from scdn.errors import Fault, InputError, input_error
from scdn.learning.dataset_tensors import DatasetTensors, flat_rows, flat_tensors
from scdn.learning.inference import Inference
from scdn.learning.metrics import scores
from scdn.learning.party_factory import PartyFactory
from scdn.learning.tensors import StateDict
from scdn.methods import method, with_validation_rows
from scdn.record.run_reader import EVENTS, Event, Run, read_run
from scdn.scenario import Scenario, make_scenario
from scdn.simulation.prediction_table import (
    check_key_name,
    check_outputs,
    prediction_table,
    refuse_rows,
)
from scdn.simulation.run_data import prepared_data
from scdn.simulation.runner import load_checkpoint

if TYPE_CHECKING:
    import pandas as pd

    from scdn.data.new_rows import NewRows, RowSource


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """The parties and the server of a run as its checkpoint has them.

    Attributes
    ----------
    run
        The recorded run.
    scenario
        Its scenario.
    rounds
        The rounds after which the checkpoint was written.
    form
        What its rows look like, and how they are scaled.
    inference
        The models.
    """

    run: Run
    scenario: Scenario
    rounds: int
    form: InputFormat
    inference: Inference

    @classmethod
    def load(cls, folder: str | Path, *, exact: bool = False) -> TrainedModel:
        """Return the model of a run; it may still be running.

        It computes as the run does, or on the CPU where there is no GPU. `exact` is on the CPU and
        in no less than 32 bits.
        """
        path = Path(folder)
        state, values, recorded = read_checkpointed_run(path)
        if values["input_format"] is None or "federation" in values:
            fault = "is of a federation, whose devices have the models"
            raise input_error(str(path), "run", fault, "use scdn federate predict")
        if values["round"] == 0:
            raise input_error(str(path), "run", "has no round yet", "wait for the first")
        scenario = inference_scenario(recorded, exact=exact)
        form = InputFormat.from_state_dict(values["input_format"])
        inference = Inference.from_state_dict(
            state,
            PartyFactory.from_input_format(form, scenario.learning),
            method(scenario.method).memory,
            scenario.seed,
            form.train_rows,
        )
        return cls(recorded, scenario, values["round"], form, inference)

    # --- predictions ----------------------------------------------------------------------------

    def predict(self, rows: RowSource, key: str | None = None) -> pd.DataFrame:
        """Return the predictions of rows, in order.

        The result has the key, if there is one, `prediction`, a `probability_…` of each class, and
        `missing`: the parties that had no values of this row and were imputed.

        Parameters
        ----------
        rows
            A file (`.csv`, `.parquet`, `.npz`), a table or an array with the data set's columns,
            not scaled; a file or table for each party by its name; or images: an array, an `.npz`,
            an IDX file or a folder of pictures.
        key
            Name of the key column; by default that of the data set, if the rows have it.
        """
        from scdn.data.new_rows import read_new_rows

        new = read_new_rows(rows, self.form, key)
        check_key_name(new.key or "", new.source)
        absent = self._absent_parties(new)
        options = self.inference.parties.factory.options
        with np.errstate(over="ignore"):
            scaled = self.form.scaled(new.inputs, options.array_type)
        filled = {name: np.where(np.isnan(x), 0, x) for name, x in scaled.items()}
        embeddings = self.inference.embed(flat_tensors(filled, options))
        outputs = self.inference.outputs(embeddings, new.count, absent)
        check_outputs(outputs, new.source)
        keys = {} if new.key is None or new.keys is None else {new.key: new.keys}
        never = self.inference.never_embedded
        return prediction_table(outputs, absent, never, self.form, self.inference, keys)

    def predict_test(self) -> pd.DataFrame:
        """Return the predictions of the run's own test rows, from which its metrics are."""
        outputs, _ = self._test_outputs()
        kept = self.inference.server.memory.embeddings
        unknown = [name for name in self.inference.never_embedded if name not in kept]
        return prediction_table(outputs, {}, unknown, self.form, self.inference, {})

    def test_scores(self) -> dict[str, float]:
        """Return the scores of the run's own test rows: the metrics of its last round."""
        outputs, targets = self._test_outputs()
        return scores(outputs, targets, self.form.task, self.inference.server.further_metrics)

    def scores_without_each_party(self) -> dict[str, dict[str, float]]:
        """Return scores of the test rows as if they were new, by the party that is absent.

        The first entry, without a name, has every party that is present.
        """
        tensors = self._test_tensors()
        rows, inference = tensors.count("test"), self.inference
        embeddings = inference.embed(tensors.inputs["test"], "test")
        further = inference.server.further_metrics
        everybody = {name: np.zeros(rows, bool) for name in inference.sent_in}
        by_party = {}
        for name in ("", *inference.sent_in):
            absent = everybody | ({name: np.ones(rows, bool)} if name else {})
            outputs = inference.outputs(embeddings, rows, absent)
            by_party[name] = scores(outputs, tensors.targets["test"], self.form.task, further)
        return by_party

    def _test_outputs(self) -> tuple[Tensor, Tensor]:
        tensors = self._test_tensors()
        return self.inference.test_outputs(tensors.inputs["test"]), tensors.targets["test"]

    def _test_tensors(self) -> DatasetTensors:
        """Return the data set, which must be the one that the run began with."""
        _, tensors, form = prepared_data(self.scenario)
        if form.state_dict() != self.form.state_dict():
            fault = "is not as it was when the run began"
            raise input_error("data set", form.dataset, fault, "must have the same rows")
        return tensors

    # --- parties without values -----------------------------------------------------------------

    def _absent_parties(self, rows: NewRows) -> dict[str, Mask]:
        """Return by party for which rows a value of its columns is empty or not given."""
        views = self.inference.parties.views
        held = {name: views[name].held_columns for name in self.inference.sent_in}
        if not held:
            fault = "has no party that is present and was heard"
            raise input_error(str(self.run.folder), "run", fault, "needs one")
        self._check_columns(rows)
        empty = {
            name: np.isnan(flat_rows(values))
            for name, values in rows.inputs.items()
            if values.dtype.kind == "f"
        }
        absent = {}
        for name, columns in held.items():
            modality = views[name].modality
            if modality not in rows.inputs:
                absent[name] = np.ones(rows.count, bool)
            elif modality in empty:
                absent[name] = empty[modality][:, columns].any(1)
            else:
                absent[name] = np.zeros(rows.count, bool)
        nobody = np.flatnonzero(np.all(list(absent.values()), axis=0))
        allowed = f"needs those of one of {', '.join(held)}"
        refuse_rows(nobody, rows.source, "has no party's values", allowed)
        return absent

    def _check_columns(self, rows: NewRows) -> None:
        """Refuse a table that lacks some columns of a party; without all of them it is absent."""
        if "table" not in rows.inputs:
            return
        views = self.inference.parties.views
        tables = {
            name: views[name].held_columns
            for name in self.inference.sent_in
            if views[name].modality == "table"
        }
        left_out = [columns for columns in tables.values() if not rows.columns[columns].any()]
        explained = rows.columns.copy()
        explained[[column for columns in left_out for column in columns]] = True
        faults = [
            Fault(
                self.form.features[column],
                "no such column",
                f"{name} needs it; without all of its columns {name} is imputed",
            )
            for name, columns in tables.items()
            for column in columns[~explained[columns]]
        ]
        if faults:
            raise InputError(rows.source, faults)


def read_checkpointed_run(folder: Path) -> tuple[StateDict, Event, Run]:
    """Return a run's checkpoint, as `load_checkpoint` does, and the recorded run."""
    if not (folder / EVENTS).is_file():
        raise input_error(str(folder), "run", "is not there", "must be the folder of a run")
    state, values = load_checkpoint(folder)
    return state, values, read_run(folder)  # afterwards: it has all rounds of the checkpoint


def inference_scenario(recorded: Run, *, exact: bool = False) -> Scenario:
    """Return a run's scenario for computing with its model, on the CPU where there is no GPU.

    `exact` is on the CPU and in no less than 32 bits.
    """
    source = str(recorded.folder / EVENTS)
    scenario = with_validation_rows(make_scenario(recorded.scenario, source))
    learning = scenario.learning
    if exact or not torch.cuda.is_available():
        learning = learning.model_copy(update={"device": "cpu"})
    if exact and learning.precision == "bfloat16":
        learning = learning.model_copy(update={"precision": "float32"})
    return scenario.model_copy(update={"learning": learning})
