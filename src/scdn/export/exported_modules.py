"""A trained party and a trained server as modules of their own, from raw values to answers."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import torch
from torch import Tensor, nn

from scdn.arrays import Array
from scdn.learning.dataset_tensors import flat_rows
from scdn.learning.feature_split import FeatureView
from scdn.learning.inference import Inference
from scdn.learning.tensors import Tensors
from scdn.simulation.trained_model import TrainedModel

_PROBE = 2.0**20  # so large that rounding the offset does not matter


class ExportedParty(nn.Module):
    """Scales a party's raw values and embeds them.

    It takes (rows, columns), or (rows, channels, height, width), in 64 bits as they were measured.
    """

    shift: Tensor
    scale: Tensor
    sources: Tensor
    held: Tensor

    def __init__(self, model: TrainedModel, name: str) -> None:
        super().__init__()
        parties = model.inference.parties
        view = parties.views[name]
        party = parties.factory.create(name, view, parties.seed)
        self.embedding = party.module.to(parties.factory.options.dtype)
        self.embedding.load_state_dict(_tensors_of(model.inference, name))
        self.embedding.requires_grad_(requires_grad=False)
        self.view_shape = view.shape
        self.model_shape = party.view.shape
        position = {column: number for number, column in enumerate(view.columns.tolist())}
        sources = [position[column] for column in party.view.columns.tolist()]
        shift, scale = column_scaling(model, view)
        self.register_buffer("shift", torch.from_numpy(shift))
        self.register_buffer("scale", torch.from_numpy(scale))
        self.register_buffer("sources", torch.tensor(sources))
        self.register_buffer("held", torch.from_numpy(party.view.held.astype(np.float64)))
        self.dtype = parties.factory.options.dtype

    def forward(self, values: Tensor) -> Tensor:
        """Return embeddings, (rows, width)."""
        scaled = (values.flatten(1) - self.shift) / self.scale
        inputs = scaled.index_select(1, self.sources) * self.held
        return self.embedding(inputs.to(self.dtype).unflatten(1, self.model_shape))


class ExportedServer(nn.Module):
    """Fuses the embeddings of the parties that are present; departed ones are imputed inside.

    It takes (rows, width) for each party, and returns class probabilities or the prediction.
    """

    weight: Tensor
    offset: Tensor

    def __init__(self, model: TrainedModel) -> None:
        super().__init__()
        inference = model.inference
        fusion = inference.server.fusion
        weight, offset = _first_layer(inference)
        self.register_buffer("weight", weight)
        self.register_buffer("offset", offset)
        self.head = deepcopy(fusion.layers).to_empty(device="cpu").to(fusion.options.dtype)
        self.head.load_state_dict(fusion.head_tensors)
        self.head.requires_grad_(requires_grad=False)
        self.has_classes = model.form.task == "classification"

    def forward(self, *embeddings: Tensor) -> Tensor:
        """Return probabilities (rows, classes), or predicted numbers (rows, 1)."""
        outputs = self.head(torch.cat(embeddings, 1) @ self.weight + self.offset)
        return outputs.softmax(1) if self.has_classes else outputs


def column_scaling(model: TrainedModel, view: FeatureView) -> tuple[Array, Array]:
    """Return shift and scale of each of a party's columns."""
    scaling, shape = model.form.scalings[view.modality], model.form.shapes[view.modality]
    shift, scale = (
        flat_rows(np.broadcast_to(values, (1, *shape)))[0, view.columns].astype(np.float64)
        for values in (scaling.shift, scaling.scale)
    )
    return shift, scale


def _tensors_of(inference: Inference, name: str) -> Tensors:
    """Return a party's trained tensors."""
    stack = next(stack for stack in inference.parties.stacks if name in stack.names)
    index = stack.names.index(name)
    return {key: tensor[index] for key, tensor in (stack.parameters | stack.buffers).items()}


@torch.no_grad()
def _first_layer(inference: Inference) -> tuple[Tensor, Tensor]:
    """Return the first layer as a matrix and an offset of the present parties' embeddings.

    It is affine in them, imputed members and the memory's weights included, so that its values at
    zero and at each unit vector tell all of it.
    """
    fusion, names = inference.server.fusion, tuple(inference.sent_in)
    width = fusion.width
    probes = torch.cat([torch.zeros(1, len(names) * width), _PROBE * torch.eye(len(names) * width)])
    parts = probes.to(fusion.options.dtype).split(width, 1)
    members = inference.member_table(dict(zip(names, parts, strict=True)), len(probes))
    layer = fusion.first_layer(members) + fusion.parameters["bias"]
    return (layer[1:] - layer[0]) / _PROBE, layer[0]
