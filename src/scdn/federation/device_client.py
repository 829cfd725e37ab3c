"""A device's side of a federated run: hold features, train its party, answer the server's requests.

A device numbers the states of its model: the one that the server last acknowledged (`base`), and
those after each update that the server has asked for since. A server that has lost a reply, or was
restarted, asks again from `base`, and the device goes back to that state. States are kept in files,
so that a later process can go on or predict (`kept_states.py`). A device never runs code from the
network: a model is one of those that this program knows (`party_model.py`).
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from scdn.federation import messages
from scdn.federation.incoming_messages import only_wire_errors, read_request
from scdn.federation.kept_states import MAX_STATES, KeptStates
from scdn.federation.messages import (
    MAX_FIGURE,
    REFUSED,
    SCHEMAS,
    check_row_numbers,
    statistics_fields,
)
from scdn.federation.party_model import PartyModel, check_size, checked_learning
from scdn.federation.row_alignment import KeyedFeatures, hash_keys
from scdn.federation.table_format import NotFiniteError, has_table, pack_table, unpack_table
from scdn.federation.wire_format import Arrays, Frame, WireError, encode
from scdn.learning.batches import draw_round, table_rows
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.local_optimizers import LOCAL_OPTIMIZERS, LocalSteps
from scdn.learning.local_parties import LocalParties
from scdn.learning.message_noise import MessageNoise
from scdn.learning.party_backend import RoundTask
from scdn.learning.party_loss import GradientLoss, PartyLoss
from scdn.learning.round_protocol import FIGURE_BITS, tables_after_step
from scdn.learning.table_sender import (
    BEFORE,
    DOWN,
    GRADIENTS,
    SAMPLE_GRADIENTS,
    Round,
    TableSender,
)
from scdn.learning.tensors import TensorOptions, Tensors, single_threaded
from scdn.rng import generator
from scdn.scenario import LearningSettings

ReplyContent = tuple[dict[str, Any], Arrays]


@dataclass
class DeviceClient:
    """A device: `answer` is called with each request of the server and returns the reply.

    `hello` gives the device's name and rows, `join` makes its model. In each round that it takes
    part in, `embed` gives embeddings of the round's rows, `train` trains it, and `apply` applies
    the update (unless `train` did so), again if the step was too long; `report` gives embeddings
    where it did not train. `predict` asks for embeddings of any rows that it has, and needs no
    `join` where an earlier process kept the model. `goodbye` ends its part in the run.
    """

    name: str
    features: KeyedFeatures
    kept: KeptStates | None = None  # keeps the model when the process ends
    position_m: tuple[float, float, float] | None = None
    log: Callable[[str], None] = lambda _: None
    own_weights: bool = False  # initial ones are a secret; else they follow from the run's seed
    salt: str = ""
    run: str = ""
    party: str = ""  # the device's name in the run
    states: dict[int, Tensors] = field(default_factory=dict)  # model parameters by state number
    stopped: str | None = None  # why, once the server has said goodbye
    _model: PartyModel | None = None  # what `states` are parameters of
    _parties: LocalParties | None = None  # this device's party alone
    _steps: int = 0  # batches that are drawn in a round
    _sender: TableSender = field(default_factory=lambda: TableSender(FIGURE_BITS, 0))
    _embedded: tuple[Round, int] | None = None  # round and arrival, and state, of the last `embed`
    _table_part: int | None = None  # to send with the pending update
    _trained_from: int | None = None  # the state that the pending update starts from
    _has_sent: bool = False  # embeddings, in this process

    def answer(self, raw: bytes) -> bytes:
        """Return the reply to any message, well-formed or not."""
        began, ids = time.perf_counter(), {"run": "", "nonce": ""}
        try:
            request = read_request(raw)
            ids = {"run": request.fields.run, "nonce": request.fields.nonce}
            with single_threaded(), only_wire_errors():
                fields, arrays = getattr(self, f"_{request.kind}")(request.fields, request.arrays)
                self._has_sent |= request.kind not in ("hello", "join", "goodbye")
                if "seconds" in SCHEMAS[request.kind][1].model_fields:
                    fields["seconds"] = time.perf_counter() - began
                return encode(Frame(request.kind, {**ids, **fields}, arrays))
        except WireError as error:
            self.log(f"refused: {error}")
            return encode(Frame(REFUSED, {**ids, "reason": str(error)}))

    # --- joining and leaving --------------------------------------------------------------------

    def _hello(self, request: messages.HelloRequest, _: Arrays) -> ReplyContent:
        self.salt = request.salt
        self._restore(request.run)
        in_run = request.run == self.run
        fields = {
            "name": self.name,
            "party": self.party if in_run else "",
            "states": sorted(self.states)[-MAX_STATES:] if in_run else [],
            "position_m": None if self.position_m is None else list(self.position_m),
        }
        return fields, {"keys": hash_keys(self.features.keys, self.salt)}

    def _join(self, request: messages.JoinRequest, arrays: Arrays) -> ReplyContent:
        if self.own_weights and self._has_sent and self.run not in ("", request.run):
            raise WireError(f"takes part in run {self.run}: start it again for another run")
        model, parties, connections = self._make_model(request, arrays)
        if (request.run, request.name) != (self.run, self.party) or not self.states:
            self.states = {0: model.initial_parameters(self.own_weights)}
            if self.kept is not None:
                self.kept.begin(model, self.states[0])
        for parameters in self.states.values():
            model.check_parameters(parameters)  # another file of features may have other columns
        self.run, self.party, self._model = request.run, request.name, model
        self._parties, self._trained_from, self._embedded = parties, None, None
        self._sender = TableSender(model.learning.number_bits, request.seed)
        self._steps = request.steps
        self._load_state(min(self.states))
        self.log(f"takes part as {request.name}: {connections} connections")
        return {"connections": connections, "smoothness": self._smoothness()}, {}

    def _make_model(
        self, request: messages.JoinRequest, arrays: Arrays
    ) -> tuple[PartyModel, LocalParties, int]:
        """Return a model with the server's settings, the party, and its number of connections."""
        learning, features = (
            checked_learning(request.learning),
            self.features.without(request.label),
        )
        if features is not self.features:
            self.log(f"{request.label!r} is to be predicted: it is not used as a feature")
        check_size(request, learning, arrays, features)
        train, test = (features.select(arrays[name], self.salt) for name in ("train", "test"))
        scaling = features.fit_scaling(train, learning.scaling)
        if not features.scaled:
            train, test = (scaling.apply(rows, np.float64) for rows in (train, test))
        model = PartyModel(
            request.run,
            request.name,
            request.seed,
            request.task,
            request.width,
            learning,
            features.view,
            features.full_shape,
            features.names,
            scaling,
        )
        tensor, modality = TensorOptions("cpu", learning.precision).tensor, features.view.modality
        data = DatasetTensors(
            {"train": {modality: tensor(train)}, "test": {modality: tensor(test)}}, targets={}
        )
        sample = tensor(check_row_numbers("sample", arrays["sample"], len(train)))
        return model, *model.create_parties(data, sample)

    def _goodbye(self, request: messages.GoodbyeRequest, _: Arrays) -> ReplyContent:
        if request.run != self.run and self.run:
            raise WireError("this device takes part in another run")
        self.stopped = request.reason
        return {}, {}

    # --- a round --------------------------------------------------------------------------------

    def _embed(self, request: messages.EmbedRequest, _: Arrays) -> ReplyContent:
        self._at(request.run, request.base)
        at, rows = (request.round, request.arrival), self._round_rows(request.round)
        self._sender.number_bits = request.number_bits
        if request.phase == "begin":
            self._trained_from = None  # what was trained before is over
        elif self._trained_from != request.base:
            raise WireError(f"has no update of state {request.base}")
        self._embedded = (at, request.base)
        if request.phase == "trained":
            return self._trained_tables(rows, at)
        return {}, self._tables(rows, BEFORE, at)

    def _trained_tables(self, rows: Mapping[str, Tensor], at: Round) -> ReplyContent:
        """Return embeddings after the whole update, of the rows on which the step is chosen."""
        chosen_on = "held_out" if self._learning.step == "searched" else "drawn"
        try:
            return {}, self._tables({chosen_on: rows[chosen_on]}, "trained", at)
        except NotFiniteError as error:
            self.log(str(error))
            return {"diverged": True}, {}

    def _train(self, request: messages.TrainRequest, arrays: Arrays) -> ReplyContent:
        parties = self._at(request.run, request.base)
        at = (request.round, request.arrival)
        if self._embedded != (at, request.base):
            raise WireError(f"has not sent embeddings of round {request.round + 1} in this state")
        steps = _local_steps(request)
        task = self._task(request.round, arrays, steps)
        # The server starts from here: it has not heard of any other state.
        self.states, self._trained_from = {request.base: self.states[request.base]}, None
        if self.kept is not None:
            self.kept.go_on_from(self.run, request.base)
        stats = parties.train(task).get(self.party)
        self._trained_from, self._table_part = request.base, request.table_part
        self.log(
            f"round {request.round + 1}: {request.steps} steps of {request.rate:.3g}; planned "
            f"{request.cpu_hz / 1e6:.0f} MHz, {1e3 * request.power_w:.1f} mW"
        )
        fields = statistics_fields(stats)
        if request.ahead:
            return fields, {}
        if request.step_length is not None:
            applied, sent = self._apply_update(request.state, request.step_length)
            return fields | applied, sent
        trained, sent = self._trained_tables(self._round_rows(request.round), at)
        return fields | trained, sent

    def _apply(self, request: messages.ApplyRequest, _: Arrays) -> ReplyContent:
        self._at(request.run, request.base)
        if self._trained_from != request.base:
            raise WireError(f"has no update of state {request.base}")
        if request.round is not None:
            self._embedded = ((request.round, request.arrival), request.base)
            self._table_part = request.table_part
        return self._apply_update(request.state, request.step_length)

    def _report(self, request: messages.ReportRequest, _: Arrays) -> ReplyContent:
        self._at(request.run, request.base)
        self._sender.number_bits = request.number_bits
        return {"smoothness": self._smoothness()}, self._measured((request.round, 0))

    def _predict(self, request: messages.PredictRequest, arrays: Arrays) -> ReplyContent:
        if self._model is None or request.run != self.run:
            raise WireError("has no model of this run")
        parameters = self.states.get(request.base)
        if parameters is None:
            raise WireError(f"has no state {request.base}, only {sorted(self.states)}")
        embeddings = self._model.embed(parameters, self.features, arrays["keys"], self.salt)
        return {}, {"embeddings": self._noisy(embeddings).numpy()}

    # --- inside ---------------------------------------------------------------------------------

    def _at(self, run: str, base: int) -> LocalParties:
        """Return the party in state `base`."""
        if self._parties is None or run != self.run:
            raise WireError("has not joined this run")
        if base not in self.states:
            raise WireError(f"has no state {base}, only {sorted(self.states)}")
        self._load_state(base)
        return self._parties

    def _apply_update(self, state: int, step_length: float) -> ReplyContent:
        """Go so far along the pending update; return the embeddings of the new state."""
        base, parties = self._trained_from, self._joined
        assert base is not None  # noqa: S101
        assert self._embedded is not None  # noqa: S101
        if state <= base or state in self.states:
            raise WireError(f"state {state} does not follow {base}, or is there already")
        if len(self.states) == MAX_STATES:
            raise WireError(f"has {MAX_STATES} states already")
        parties.apply_updates(step_length, parties.names)
        at = self._embedded[0]
        try:
            rows = self._round_rows(at[0])
            after = {table: rows[table] for table in tables_after_step(self._learning)}
            sent = self._tables(after, f"after {state - base - 1}", at)
            sent |= self._measured(at)
            if self._table_part is not None:
                count = parties.data.count("train")
                part = table_rows(self._table_part, max(1, self._learning.table_rounds), count)
                sent |= self._tables({"table": part}, f"part {self._table_part}", at)
        except NotFiniteError as error:
            self.log(str(error))
            self._load_state(base)
            return {"diverged": True}, {}
        self.states[state] = dict(parties.stacks[0].parameters)
        if self.kept is not None and self._model is not None:
            self.kept.save(self._model, state, at[0], self.states[state])
        return {"smoothness": self._smoothness()}, sent

    @property
    def _joined(self) -> LocalParties:
        if self._parties is None:
            raise WireError("has not joined a run")
        return self._parties

    def _load_state(self, number: int) -> None:
        (stack,) = self._joined.stacks
        self._joined.stacks = [replace(stack, parameters=dict(self.states[number]))]

    @property
    def _learning(self) -> LearningSettings:
        return self._joined.factory.learning

    def _round_rows(self, round_: int) -> dict[str, Tensor]:
        """Draw the rows of a round, as the server does."""
        parties = self._joined
        count = parties.data.count("train")
        drawn = draw_round(parties.seed, (round_,), self._steps, count, self._learning)
        return {"drawn": drawn.batches.flatten(), "held_out": drawn.held_out.flatten()}

    def _task(self, round_: int, arrays: Arrays, steps: LocalSteps) -> RoundTask:
        parties, options = self._joined, self._joined.factory.options
        drawn = self._round_rows(round_)["drawn"]
        if steps.count > self._steps:
            raise WireError(f"{steps.count} steps, but {self._steps} batches")
        batches = drawn.view(self._steps, -1)
        loss = GradientLoss(self._received(GRADIENTS, arrays, batches.shape)[None])

        def sample_loss(_: Any) -> PartyLoss:
            return GradientLoss(
                self._received(SAMPLE_GRADIENTS, arrays, parties.sample.shape)[None, None]
            )

        has_sample = has_table(arrays, SAMPLE_GRADIENTS)
        if has_sample:
            sample_loss(None)  # a wrong one is refused before training
        return RoundTask(
            options.tensor(batches.numpy()),
            batches.new_zeros(0, 0),
            dict.fromkeys(parties.names, steps),
            lambda _: loss,
            sample_loss if has_sample else None,
        )

    def _received(self, table: str, arrays: Arrays, rows: tuple[int, ...]) -> Tensor:
        """Return gradients that the server sent, (*rows, width)."""
        factory = self._joined.factory
        like = torch.zeros(math.prod(rows), factory.width, dtype=factory.options.dtype)
        received = unpack_table(self._sender, self.party, table, arrays, like, DOWN)
        return received.view(*rows, factory.width)

    def _tables(self, tables: Mapping[str, Tensor], phase: str, at: Round) -> Arrays:
        """Return embeddings of the current model, or of the trained one, as they are sent."""
        parties = self._joined
        sent: Arrays = {}
        for table, rows in ((table, rows) for table, rows in tables.items() if len(rows)):
            (values,) = parties.embed({table: rows}, phase, parties.names).values()
            sent |= self._to_send(table, values, phase, at)
        return sent

    def _measured(self, at: Round) -> Arrays:
        """Return embeddings of the sample and of the test rows."""
        parties = self._joined
        (sent,) = parties.evaluation_embeddings(parties.names)
        test = self._noisy(sent.test[0]).detach().cpu().numpy()
        return {**self._to_send("sample", sent.sample[0], "after", at), "test": test}

    def _smoothness(self) -> float | None:
        if self._learning.smoothness != "norms":
            return None
        (value,) = self._joined.smoothness().values()
        return value if value <= MAX_FIGURE else None

    def _to_send(self, table: str, values: Tensor, phase: str, at: Round) -> Arrays:
        return pack_table(self._sender, self.party, table, self._noisy(values), phase, at)

    def _noisy(self, embeddings: Tensor) -> Tensor:
        """Return embeddings with noise, which the device draws from a source nobody can repeat."""
        deviation = 0.0 if self._model is None else self._model.learning.perturbation
        if deviation:
            draw = generator(int.from_bytes(os.urandom(8), "big"), "perturb")
            noise = torch.from_numpy(draw.standard_normal(embeddings.shape))
            embeddings = embeddings + deviation * noise.to(embeddings)
        if self._model is not None:
            noise_source = MessageNoise(self._model.learning.privacy, seed=None)
            embeddings = noise_source.on_embeddings(embeddings, "", ())
        if not embeddings.isfinite().all():
            raise NotFiniteError("embeddings are no longer finite")
        return embeddings

    # --- across restarts of the process ---------------------------------------------------------

    def _restore(self, run: str) -> None:
        """Load the states that an earlier process of this device kept in the same run."""
        if self.kept is None or self.run:
            return
        restored = self.kept.read(run)
        if restored is not None:
            self._model, self.states = restored
            self.run, self.party = run, self._model.party


def _local_steps(request: messages.TrainRequest) -> LocalSteps:
    """Return the steps to take; an optimiser must be registered, not named by its module."""
    known = LOCAL_OPTIMIZERS.names()
    if request.optimizer not in known:
        raise WireError(f"optimizer {request.optimizer!r}: only {', '.join(known)} are run here")
    return LocalSteps(request.steps, request.rate, request.optimizer, request.optimizer_value)
