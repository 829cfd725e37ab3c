"""A device's side of a federated run: hold features, train its party, answer the server's requests.

A device numbers the states of its model: the one that the server last acknowledged (`base`), and
those after each update that the server has asked for since. A server that has lost a reply, or was
restarted, asks again from `base`, and the device goes back to that state. It never runs code from
the network: a model is one of those that this program knows.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import ValidationError
from torch import Tensor

from scdn.errors import InputError, faults_from_pydantic
from scdn.federation import messages
from scdn.federation.messages import REFUSED, SCHEMAS, check_message, check_row_numbers
from scdn.federation.row_alignment import KeyedFeatures, hash_keys
from scdn.federation.wire_format import Arrays, Frame, WireError, decode, encode
from scdn.file_io import to_json
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.feature_split import FeatureView
from scdn.learning.gradient_stats import GradientStats
from scdn.learning.local_optimizers import LOCAL_OPTIMIZERS, NO_STEPS, LocalSteps
from scdn.learning.local_parties import LocalParties
from scdn.learning.party_backend import RoundTask
from scdn.learning.party_factory import PartyFactory
from scdn.learning.party_loss import GradientLoss, PartyLoss
from scdn.learning.tensors import Tensors, single_threaded
from scdn.npz import read_npz, write_npz
from scdn.rng import generator
from scdn.scenario import LearningSettings

MODELS = ("auto", "mlp", "cnn", "alexnet")
_MAX_STATES = 8  # that a device keeps

ReplyContent = tuple[dict[str, Any], Arrays]


class NotFiniteError(WireError):
    """Raised where numbers that a device would send are no longer finite."""


@dataclass
class DeviceClient:
    """A device: `answer` is called with each request of the server and returns the reply.

    `hello` gives the device's name and rows, `join` makes its model. In each round `train` trains
    it, `apply` applies the update (unless `train` did so), again if the step was too long, and
    `embed` gives embeddings; `goodbye` ends its part in the run.
    """

    name: str
    features: KeyedFeatures
    state_file: Path | None = None  # keeps the model when the process ends
    position_m: tuple[float, float, float] | None = None
    log: Callable[[str], None] = lambda _: None
    salt: str = ""
    run: str = ""
    party: str = ""  # the device's name in the run
    states: dict[int, Tensors] = field(default_factory=dict)  # model parameters by state number
    stopped: str | None = None  # why, once the server has said goodbye
    _parties: LocalParties | None = None  # this device's party alone
    _trained_from: int | None = None  # the state that the pending update starts from
    _noise: float = 0.0  # standard deviation of the noise on what is sent

    def answer(self, raw: bytes) -> bytes:
        """Return the reply to any message, well-formed or not."""
        began, ids = time.perf_counter(), {"run": "", "nonce": ""}
        try:
            frame = decode(raw)
            if frame.kind not in SCHEMAS:
                raise WireError(f"unknown kind of request: {frame.kind[:40]}")
            request_schema, reply_schema = SCHEMAS[frame.kind]
            request = check_message(request_schema, frame)
            ids = {"run": request.run, "nonce": request.nonce}
            with single_threaded():
                fields, arrays = getattr(self, f"_{frame.kind}")(request, frame.arrays)
            if "seconds" in reply_schema.model_fields:
                fields["seconds"] = time.perf_counter() - began
            return encode(Frame(frame.kind, {**ids, **fields}, arrays))
        except (WireError, InputError) as error:
            self.log(f"refused: {error}")
            return encode(Frame(REFUSED, {**ids, "reason": str(error)[:400]}))

    # --- joining and leaving --------------------------------------------------------------------

    def _hello(self, request: messages.HelloRequest, _: Arrays) -> ReplyContent:
        self.salt = request.salt
        self._restore(request.run)
        in_run = request.run == self.run
        fields = {
            "name": self.name,
            "party": self.party if in_run else "",
            "states": sorted(self.states)[-_MAX_STATES:] if in_run else [],
            "position_m": None if self.position_m is None else list(self.position_m),
        }
        return fields, {"keys": hash_keys(self.features.keys, self.salt)}

    def _join(self, request: messages.JoinRequest, arrays: Arrays) -> ReplyContent:
        parties = self._make_parties(request, arrays)
        connections = parties.add({request.name: self.features.view})[request.name]
        _use_own_columns(parties, self.features)
        if (request.run, request.name) != (self.run, self.party) or not self.states:
            self.states = {0: dict(parties.stacks[0].parameters)}
        self.run, self.party = request.run, request.name
        self._parties, self._trained_from = parties, None
        self._load_state(min(self.states))
        self._save()
        self.log(f"takes part as {request.name}: {connections} connections")
        fields, embeddings = self._embeddings(self._row_numbers("rows", None))
        return {**fields, "connections": connections}, embeddings

    def _make_parties(self, request: messages.JoinRequest, arrays: Arrays) -> LocalParties:
        """Return this device's party, with the rows and settings that the server asks for."""
        settings = {**request.learning, "device": "cpu"}
        try:
            learning = LearningSettings.model_validate(settings, strict=False)
        except ValidationError as error:
            faults = faults_from_pydantic(error, LearningSettings)[:3]
            raise WireError("; ".join(map(str, faults))) from None
        if learning.model not in MODELS:
            raise WireError(f"model {learning.model!r}: only {', '.join(MODELS)} are run here")
        self._noise = learning.perturbation
        learning = learning.model_copy(update={"perturbation": 0.0})
        view, full_shape = self.features.view, self.features.full_shape
        factory = PartyFactory(learning, request.task, request.width, {view.modality: full_shape})
        train, test = self.features.select(
            arrays["train"], arrays["test"], self.salt, learning.scaling
        )
        tensor = factory.options.tensor
        data = DatasetTensors(
            {"train": {view.modality: tensor(train)}, "test": {view.modality: tensor(test)}},
            targets={},
        )
        sample = check_row_numbers("sample", arrays["sample"], len(train))
        return LocalParties(data, factory, request.seed, tensor(sample))

    def _goodbye(self, request: messages.GoodbyeRequest, _: Arrays) -> ReplyContent:
        if request.run != self.run and self.run:
            raise WireError("this device takes part in another run")
        self.stopped = request.reason
        return {}, {}

    # --- a round --------------------------------------------------------------------------------

    def _probe(self, request: messages.ProbeRequest, arrays: Arrays) -> ReplyContent:
        parties = self._at(request.run, request.base)
        task = self._task(arrays, NO_STEPS, measure=True)
        (stats,) = parties.measure_gradients(set(parties.names), task).values()
        if not stats.is_finite:
            raise NotFiniteError("gradients are no longer finite")
        return _statistics(stats), {}

    def _embed(self, request: messages.EmbedRequest, arrays: Arrays) -> ReplyContent:
        self._at(request.run, request.base)
        return self._embeddings(self._row_numbers("rows", arrays.get("rows")))

    def _train(self, request: messages.TrainRequest, arrays: Arrays) -> ReplyContent:
        parties = self._at(request.run, request.base)
        steps = _local_steps(request)
        task = self._task(arrays, steps, measure="sample_gradients" in arrays)
        trained_rows = self._row_numbers("trained_rows", arrays["trained_rows"])
        rows = self._row_numbers("rows", arrays.get("rows"))
        # The server starts from here: it has not heard of any other state.
        self.states, self._trained_from = {request.base: self.states[request.base]}, None
        stats = parties.train(task).get(self.party)
        self._trained_from = request.base
        self.log(
            f"round {request.round}: {request.steps} steps of {request.rate:.3g}; planned "
            f"{request.cpu_hz / 1e6:.0f} MHz, {1e3 * request.power_w:.1f} mW"
        )
        fields, sent = _statistics(stats), {}
        try:
            (trained,) = parties.embed(trained_rows, "trained", parties.names).values()
            sent["trained"] = self._to_send(trained)
        except NotFiniteError as error:
            self.log(str(error))
            return {**fields, "diverged": True}, {}
        if request.step_length is not None:
            applied, embeddings = self._apply_update(request.state, request.step_length, rows)
            return fields | applied, sent | embeddings
        return fields, sent

    def _apply(self, request: messages.ApplyRequest, arrays: Arrays) -> ReplyContent:
        self._at(request.run, request.base)
        if self._trained_from != request.base:
            raise WireError(f"has no update of state {request.base}")
        rows = self._row_numbers("rows", arrays.get("rows"))
        return self._apply_update(request.state, request.step_length, rows)

    # --- inside ---------------------------------------------------------------------------------

    def _at(self, run: str, base: int) -> LocalParties:
        """Return the party in state `base`."""
        if self._parties is None or run != self.run:
            raise WireError("has not joined this run")
        if base not in self.states:
            raise WireError(f"has no state {base}, only {sorted(self.states)}")
        self._load_state(base)
        return self._parties

    def _apply_update(self, state: int, step_length: float, rows: Tensor) -> ReplyContent:
        """Go so far along the pending update; return the embeddings of the new state."""
        base, parties = self._trained_from, self._joined
        assert base is not None  # noqa: S101
        if state <= base or state in self.states:
            raise WireError(f"state {state} does not follow {base}, or is there already")
        if len(self.states) == _MAX_STATES:
            raise WireError(f"has {_MAX_STATES} states already")
        parties.apply_updates(step_length, parties.names)
        try:
            fields, embeddings = self._embeddings(rows)
        except NotFiniteError as error:
            self.log(str(error))
            self._load_state(base)
            return {"diverged": True}, {}
        self.states[state] = dict(parties.stacks[0].parameters)
        self._save()
        return fields, embeddings

    @property
    def _joined(self) -> LocalParties:
        if self._parties is None:
            raise WireError("has not joined a run")
        return self._parties

    def _load_state(self, number: int) -> None:
        (stack,) = self._joined.stacks
        self._joined.stacks = [replace(stack, parameters=dict(self.states[number]))]

    def _task(self, arrays: Arrays, steps: LocalSteps, *, measure: bool) -> RoundTask:
        parties, options = self._joined, self._joined.factory.options
        count, width = parties.data.count("train"), parties.factory.width
        batches = options.tensor(check_row_numbers("batches", arrays["batches"], count))
        if steps.count > len(batches):
            raise WireError(f"{steps.count} steps, but {len(batches)} batches")
        if arrays["gradients"].shape[-1] != width:
            raise WireError(f"gradients must have width {width}")
        loss = GradientLoss(options.tensor(arrays["gradients"].copy())[None])

        def sample_loss(_: Any) -> PartyLoss:
            gradients = arrays["sample_gradients"]
            if gradients.shape != (len(parties.sample), width):
                raise WireError("sample_gradients must have the shape of the sample's embeddings")
            return GradientLoss(options.tensor(gradients.copy())[None, None])

        steps_of = dict.fromkeys(parties.names, steps)
        return RoundTask(
            batches,
            batches.new_zeros(0, 0),
            steps_of,
            lambda _: loss,
            sample_loss if measure else None,
        )

    def _row_numbers(self, name: str, rows: NDArray[Any] | None) -> Tensor:
        """Return the training rows that a request asks for: those it names, or all."""
        count = self._joined.data.count("train")
        numbers = np.arange(count) if rows is None else check_row_numbers(name, rows, count)
        return torch.from_numpy(numbers)

    def _embeddings(self, rows: Tensor) -> ReplyContent:
        """Return embeddings of the current model, and its smoothness."""
        parties = self._joined
        (train,) = parties.embed(rows, "table", parties.names).values()
        (sent,) = parties.evaluation_embeddings(parties.names)
        embeddings = {"train": self._to_send(train), "test": self._to_send(sent.test[0])}
        smoothness = None
        if parties.factory.learning.smoothness == "norms":
            (value,) = parties.smoothness().values()
            smoothness = value if math.isfinite(value) else None
        return {"smoothness": smoothness}, embeddings

    def _to_send(self, embeddings: Tensor) -> NDArray[Any]:
        """Return embeddings with noise, which the device draws from a source nobody can repeat."""
        values = embeddings.detach().cpu().numpy()
        if self._noise:
            draw = generator(int.from_bytes(os.urandom(8), "big"), "perturb")
            values = values + self._noise * draw.standard_normal(values.shape).astype(values.dtype)
        if not np.isfinite(values).all():
            raise NotFiniteError("embeddings are no longer finite")
        return values

    # --- across restarts of the process ---------------------------------------------------------

    def _save(self) -> None:
        if self.state_file is None:
            return
        metadata = to_json({"run": self.run, "party": self.party}, indent=None)
        parameters = {
            f"{number}/{name}": parameter.numpy()
            for number, state in self.states.items()
            for name, parameter in state.items()
        }
        write_npz(self.state_file, metadata=np.array(metadata), **parameters)

    def _restore(self, run: str) -> None:
        """Load the states that an earlier process of this device saved in the same run."""
        if self.state_file is None or self.run or not self.state_file.exists():
            return
        try:
            arrays = read_npz(self.state_file)
            metadata = json.loads(str(arrays.pop("metadata")))
        except (OSError, ValueError, KeyError):
            self.log(f"{self.state_file}: damaged, ignored")
            return
        if metadata.get("run") != run:
            return
        self.run, self.party = run, str(metadata.get("party", ""))
        for key, value in arrays.items():
            number, _, name = key.partition("/")
            self.states.setdefault(int(number), {})[name] = torch.from_numpy(value)


def warm_up() -> None:
    """Load what the first training needs, so that the server does not wait for it."""
    draw = generator(0, "warm-up")
    keys = [str(n) for n in range(8)]
    view = FeatureView("table", np.arange(2), np.ones(2, bool), (2,))
    features = KeyedFeatures(keys, draw.normal(size=(8, 2)), view, (2,), False)
    device = DeviceClient("warm-up", features)
    ids = {"run": "", "nonce": ""}
    rows, sample = hash_keys(keys, ""), np.arange(4)
    party = {"name": "warm-up", "seed": 0, "task": "classification", "width": 2}
    fields = {**ids, **party, "learning": {"hidden": 2}}
    join: Arrays = {"train": rows[:6], "test": rows[6:], "sample": sample}
    device.answer(encode(Frame("join", fields, join)))
    gradients = {"gradients": np.zeros((1, 4, 2)), "sample_gradients": np.zeros((4, 2))}
    probe: Arrays = {"batches": sample[None], **gradients}
    device.answer(encode(Frame("probe", {**ids, "base": 0}, probe)))


def _use_own_columns(parties: LocalParties, features: KeyedFeatures) -> None:
    """Replace column numbers of the full data set by those of the device's own rows."""
    (stack,) = parties.stacks
    held = features.view.columns
    order = np.argsort(held, kind="stable")
    columns = order[np.searchsorted(held[order], stack.views.columns.numpy())]
    views = replace(stack.views, columns=torch.from_numpy(columns))
    parties.stacks = [replace(stack, views=views)]


def _local_steps(request: messages.TrainRequest) -> LocalSteps:
    """Return the steps to take; an optimiser must be registered, not named by its module."""
    known = LOCAL_OPTIMIZERS.names()
    if request.optimizer not in known:
        raise WireError(f"optimizer {request.optimizer!r}: only {', '.join(known)} are run here")
    return LocalSteps(request.steps, request.rate, request.optimizer, request.optimizer_value)


def _statistics(stats: GradientStats | None) -> dict[str, float | None]:
    """Return statistics as fields of a reply; there are none if they are not finite."""
    if stats is None or not stats.is_finite:
        return {"bound_sq": None, "variance": None}
    return {
        "bound_sq": stats.bound_sq,
        "variance": stats.variance,
        "measured_smoothness": stats.smoothness,
    }
