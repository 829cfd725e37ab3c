"""How a device's model is built and its rows are scaled, which every stored state needs."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import ValidationError
from torch import Tensor

from scdn.data.dataset import TaskKind
from scdn.data.scaling import Scaling
from scdn.errors import faults_from_pydantic
from scdn.federation.messages import JoinRequest
from scdn.federation.row_alignment import KeyedFeatures
from scdn.federation.wire_format import Arrays, WireError
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.feature_split import FeatureView, Shape
from scdn.learning.local_parties import LocalParties
from scdn.learning.party_factory import PartyFactory
from scdn.learning.round_protocol import FIGURE_BITS
from scdn.learning.tensors import Tensors
from scdn.scenario import LearningSettings, Privacy

_NO_ROWS = torch.zeros(0, dtype=torch.int64)
MAX_NUMBERS = 1 << 26  # of a model, or of a layer's results: 256 MB in 32 bits
MODELS = ("auto", "mlp", "linear", "cnn", "alexnet")


def checked_learning(settings: Mapping[str, Any]) -> LearningSettings:
    """Return a run's settings for a device, which runs no code from the network."""
    try:
        learning = LearningSettings.model_validate({**settings, "device": "cpu"}, strict=False)
    except ValidationError as error:
        faults = faults_from_pydantic(error, LearningSettings)[:3]
        raise WireError("; ".join(map(str, faults))) from None
    if learning.model not in MODELS:
        raise WireError(f"model {learning.model!r}: only {', '.join(MODELS)} are run here")
    return learning


def check_size(
    request: JoinRequest, learning: LearningSettings, arrays: Arrays, features: KeyedFeatures
) -> None:
    """Raise an error for a model, or rows, that would take more memory than a device has."""
    rows = {name: len(arrays[name]) for name in ("train", "test", "sample")}
    for name in ("train", "test"):
        if not 0 < rows[name] <= len(features.keys):
            raise WireError(f"{name} has {rows[name]} rows, must be 1 to {len(features.keys)}")
    if rows["sample"] > rows["train"]:
        raise WireError(f"sample has {rows['sample']} rows, of {rows['train']} to train on")
    rows["round"] = request.steps * min(learning.batch_size, rows["train"])
    width = max(request.width, learning.hidden if learning.model in ("auto", "mlp") else 1)
    columns = prod(features.full_shape)
    for what, numbers in (
        ("the model", (columns + request.width) * width),
        ("one layer's results", max(rows.values()) * width),
    ):
        if numbers > MAX_NUMBERS:
            raise WireError(f"{what} would have {numbers} numbers, at most {MAX_NUMBERS}")


@dataclass(frozen=True, eq=False)
class PartyModel:
    """The structure of a device's model in a run, without its parameters.

    Attributes
    ----------
    run, party
        The run, and the device's name in it.
    seed, task, width, learning
        As the server sent them when the device joined.
    view, full_shape, names
        The columns that the model takes: as in `KeyedFeatures`.
    scaling
        As fitted to the training rows.
    """

    run: str
    party: str
    seed: int
    task: TaskKind
    width: int
    learning: LearningSettings
    view: FeatureView
    full_shape: Shape
    names: tuple[str, ...]
    scaling: Scaling

    def create_parties(self, data: DatasetTensors, sample: Tensor) -> tuple[LocalParties, int]:
        """Return the device's party with initial parameters, and the number of its connections."""
        # The device itself adds noise to what it sends, and packs it.
        learning = self.learning.model_copy(
            update={"perturbation": 0.0, "privacy": Privacy(), "number_bits": FIGURE_BITS}
        )
        shapes = {self.view.modality: self.full_shape}
        factory = PartyFactory(learning, self.task, self.width, shapes)
        parties = LocalParties(data, factory, self.seed, sample)
        (connections,) = parties.add({self.party: self.view}).values()
        _use_own_columns(parties, self.view)
        return parties, connections

    def initial_parameters(self, are_secret: bool) -> Tensors:
        """Return initial parameters: by the run's seed, or from a source nobody can repeat.

        A server that knows them can compute features from the first embeddings.
        """
        model = replace(self, seed=secrets.randbits(63)) if are_secret else self
        (stack,) = model.create_parties(DatasetTensors({}, {}), _NO_ROWS)[0].stacks
        return dict(stack.parameters)

    def embed(
        self, parameters: Tensors, features: KeyedFeatures, keys: NDArray[np.uint8], salt: str
    ) -> Tensor:
        """Return embeddings of the rows with these hashed keys, (rows, width)."""
        if len(keys) > len(features.keys):
            raise WireError(f"asked for {len(keys)} rows, but has {len(features.keys)}")
        rows = features.select(keys, salt)[:, self._columns_in(features)]
        parties, _ = self.create_parties(DatasetTensors({}, {}), _NO_ROWS)
        (stack,) = parties.stacks
        parties.stacks = [replace(stack, parameters=parameters)]
        with np.errstate(over="ignore"):
            scaled = self.scaling.apply(rows, np.float64)
        inputs = {self.view.modality: parties.factory.options.tensor(scaled)}
        (embeddings,) = parties.new_row_embeddings(inputs, parties.names, "predict").values()
        too_large = int((~embeddings.isfinite().all(1)).sum())
        if too_large:
            raise WireError(f"{too_large} of {len(keys)} rows have values that are too large")
        return embeddings

    def check_parameters(self, parameters: Tensors) -> None:
        """Raise an error where parameters are not those of this model."""
        (stack,) = self.create_parties(DatasetTensors({}, {}), _NO_ROWS)[0].stacks
        shapes = {name: (p.shape, p.dtype) for name, p in parameters.items()}
        if shapes != {name: (p.shape, p.dtype) for name, p in stack.parameters.items()}:
            raise WireError("its kept parameters are not those of its model")

    def _columns_in(self, features: KeyedFeatures) -> NDArray[np.int64]:
        """Return where the model's columns are among those of a device's rows."""
        if self.view.modality != features.view.modality or bool(self.names) != bool(features.names):
            raise WireError("its rows are of another kind than those of its model")
        wanted: list[Any] = list(self.names or self.view.columns.tolist())
        held: list[Any] = list(features.names or features.view.columns.tolist())
        position_of = {column: position for position, column in enumerate(held)}
        for column in wanted:
            if column not in position_of:
                raise WireError(f"its rows lack the column {column!r} of its model")
        return np.array([position_of[column] for column in wanted], np.int64)

    # --- in files -------------------------------------------------------------------------------

    def state_dict(self) -> tuple[Arrays, dict[str, Any]]:
        """Return everything as arrays, and as values that JSON can hold."""
        arrays = {
            "columns": self.view.columns,
            "held": self.view.held,
            "shift": self.scaling.shift,
            "scale": self.scaling.scale,
        }
        values = {
            "run": self.run,
            "party": self.party,
            "seed": self.seed,
            "task": self.task,
            "width": self.width,
            "learning": self.learning.model_dump(mode="json"),
            "modality": self.view.modality,
            "shape": list(self.view.shape),
            "full_shape": list(self.full_shape),
            "names": list(self.names),
        }
        return arrays, values

    @classmethod
    def from_state_dict(cls, arrays: Arrays, values: Mapping[str, Any]) -> PartyModel:
        """Restore what `state_dict` returned."""
        columns, held = arrays["columns"], arrays["held"]
        return cls(
            values["run"],
            values["party"],
            values["seed"],
            values["task"],
            values["width"],
            checked_learning(values["learning"]),
            FeatureView(values["modality"], columns, held, tuple(values["shape"])),
            tuple(values["full_shape"]),
            tuple(values["names"]),
            Scaling(arrays["shift"], arrays["scale"]),
        )


def _use_own_columns(parties: LocalParties, view: FeatureView) -> None:
    """Replace column numbers of the full data set by those of the device's own rows."""
    (stack,) = parties.stacks
    order = np.argsort(view.columns, kind="stable")
    columns = order[np.searchsorted(view.columns[order], stack.views.columns.numpy())]
    views = replace(stack.views, columns=torch.from_numpy(columns))
    parties.stacks = [replace(stack, views=views)]
