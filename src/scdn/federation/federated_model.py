"""The model of a recorded federation: the server's part, which predicts what devices have embedded.

Labels and the fusion model are the server's, features and their models the devices'.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scdn.data.input_format import InputFormat
from scdn.data.new_rows import RowKeys
from scdn.errors import input_error
from scdn.federation.prediction_request import EmbeddedRows, PredictionRequest
from scdn.federation.row_alignment import hash_keys
from scdn.file_io import OutputError
from scdn.learning.inference import FusionInference
from scdn.learning.party_factory import PartyFactory
from scdn.methods import method
from scdn.simulation.prediction_table import (
    check_key_name,
    check_outputs,
    prediction_table,
    refuse_rows,
)
from scdn.simulation.trained_model import inference_scenario, read_checkpointed_run

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class FederatedModel:
    """The server of a federated run as its checkpoint has it.

    Attributes
    ----------
    folder
        The run's folder.
    form
        The task and its classes; the server knows nothing else of rows.
    inference
        The fusion model, and what is imputed.
    federation
        The run's id and salt, and the device of each party.
    states
        By party: the number of the model state that the server last heard of.
    """

    folder: Path
    form: InputFormat
    inference: FusionInference
    federation: Mapping[str, Any]
    states: Mapping[str, int]

    @classmethod
    def load(cls, folder: Path) -> FederatedModel:
        """Return the model of a federated run, finished or stopped."""
        state, values, recorded = read_checkpointed_run(folder)
        if "federation" not in values:
            fault = "is simulated, and has its parties' models"
            raise input_error(str(folder), "run", fault, "use scdn predict")
        if values["input_format"] is None:
            fault = "is of an earlier version of scdn, whose devices kept no models"
            raise input_error(str(folder), "run", fault, "train again")
        scenario = inference_scenario(recorded)
        form = InputFormat.from_state_dict(values["input_format"])
        inference = FusionInference.of_server(
            state,
            PartyFactory.from_input_format(form, scenario.learning),
            method(scenario.method).memory,
            scenario.seed,
            form.train_rows,
        )
        if values["round"] == 0 or not inference.sent_in:
            fault = "has no device that is present and was heard"
            raise input_error(str(folder), "run", fault, "needs a round and a device")
        parties = state.values["parties"]["remote"]
        states = {name: parties[name]["state"] for name in inference.sent_in}
        return cls(folder, form, inference, values["federation"], states)

    def request(self, rows: RowKeys, deadline: float) -> PredictionRequest:
        """Return what devices are asked for; the answer is due at `deadline`."""
        check_key_name(rows.name, rows.source)
        salt = self.federation["salt"]
        return PredictionRequest(
            self.federation["run"],
            salt,
            self.federation["devices"],
            self.states,
            self.inference.server.fusion.width,
            deadline,
            hash_keys(rows.keys, salt),
        )

    def predict(self, rows: RowKeys, answer: Mapping[str, EmbeddedRows]) -> pd.DataFrame:
        """Return the predictions of rows, in order, from what devices have answered."""
        fusion = self.inference.server.fusion
        embeddings, absent = {}, {}
        for name in self.inference.sent_in:
            table = np.zeros((len(rows.keys), fusion.width))
            absent[name] = np.ones(len(rows.keys), bool)
            if name in answer:
                table[answer[name].rows] = answer[name].values
                absent[name][answer[name].rows] = False
            embeddings[name] = fusion.options.tensor(table)
        self._check_rows(rows, np.flatnonzero(np.all(list(absent.values()), axis=0)), answer)
        outputs = self.inference.outputs(embeddings, len(rows.keys), absent)
        check_outputs(outputs, rows.source)
        never, keys = self.inference.never_embedded, {rows.name: rows.values}
        return prediction_table(outputs, absent, never, self.form, self.inference, keys)

    def silent(self, answer: Mapping[str, EmbeddedRows]) -> list[str]:
        """Return the parties that could have answered and did not."""
        return sorted(self.inference.sent_in.keys() - answer.keys())

    def _check_rows(
        self, rows: RowKeys, nobody: np.ndarray[Any, Any], answer: Mapping[str, EmbeddedRows]
    ) -> None:
        """Refuse rows that no device has embedded: nothing is known of them."""
        if not len(nobody):
            return
        silent = ", ".join(self.silent(answer))
        if silent:
            which = f"{len(nobody)} of {len(rows.keys)} rows have no device that answered"
            raise OutputError(f"{rows.source}: {which}; {silent} did not")
        parties = ", ".join(self.inference.sent_in)
        refuse_rows(nobody, rows.source, "is in no device's file", f"needs one of {parties}")
