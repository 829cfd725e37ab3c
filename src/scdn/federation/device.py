"""A device: its features, its party, and how it answers a server.

A device keeps its models by state: what the server last acknowledged (`base`) and what it did
since. A server that has lost an answer, or its own life, asks again from `base`, and the device
goes back there. Code is never taken from the network: models are those this program knows.
"""

from __future__ import annotations

import io
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
from scdn.federation.features import Features, digests
from scdn.federation.messages import ASKED, read, row_numbers
from scdn.federation.wire import LIMIT, Arrays, Frame, WireError, decode, encode
from scdn.file_io import to_json, write_atomic
from scdn.learning.crew import Crew, Task
from scdn.learning.gradients import GradientSize
from scdn.learning.guide import Guide, SlopeGuide
from scdn.learning.local import Order
from scdn.learning.parties import Maker
from scdn.learning.split import View
from scdn.learning.team import Team
from scdn.learning.tensors import Tensors, one_thread
from scdn.npz import read_npz
from scdn.rng import generator
from scdn.scenario.model import Learning

MODELS = ("auto", "mlp", "cnn", "alexnet")
Log = Callable[[str], None]


@dataclass
class Device:
    """Answers what a server asks, one message at a time."""

    name: str
    features: Features
    state: Path | None = None  # where models outlive the process
    position_m: tuple[float, float, float] | None = None
    log: Log = lambda _: None
    limit: int = LIMIT
    salt: str = ""
    crew: Crew | None = None
    run: str = ""
    party: str = ""  # the name it has in the run
    states: dict[int, Tensors] = field(default_factory=dict)
    stopped: str | None = None  # why, once the server has said good-bye
    _pending: tuple[int, Team] | None = None
    _noise: float = 0.0

    def answer(self, raw: bytes) -> bytes:
        """The reply to a message, whatever it is."""
        words: dict[str, Any] = {"run": "", "nonce": ""}
        kind = "refused"
        try:
            frame = decode(raw, self.limit)
            form = ASKED.get(frame.kind)
            if form is None:
                raise WireError(f"no such message: {frame.kind[:40]}")
            asked = read(form, frame)
            words = {"run": asked.run, "nonce": asked.nonce}
            with one_thread():
                told, arrays = getattr(self, f"_{frame.kind}")(asked, frame.arrays)
            words |= told
            return encode(Frame(frame.kind, words, arrays))
        except (WireError, InputError) as error:
            self.log(f"refused: {error}")
            words = {"run": words["run"], "nonce": words["nonce"], "reason": str(error)[:400]}
        return encode(Frame(kind, words))

    # --- to take part ---------------------------------------------------------------------------

    def _hello(self, asked: messages.Hello, _: Arrays) -> tuple[dict[str, Any], Arrays]:
        self.salt = asked.salt
        self._remember(asked.run)
        told = {
            "name": self.name,
            "columns": self.features.values.shape[1],
            "party": self.party if asked.run == self.run else "",
            "states": sorted(self.states)[-8:] if asked.run == self.run else [],
            "position_m": None if self.position_m is None else list(self.position_m),
        }
        return told, {"keys": digests(self.features.keys, self.salt)}

    def _start(self, asked: messages.Start, arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
        began = time.perf_counter()
        crew = self._made(asked, arrays)
        connections = crew.seat({asked.name: self.features.view})[asked.name]
        _localise(crew, self.features)
        if (asked.run, asked.name) != (self.run, self.party) or not self.states:
            self.states = {0: dict(crew.teams[0].parameters)}
        self.run, self.party, self.crew, self._pending = asked.run, asked.name, crew, None
        self._goto(min(self.states))
        self._save()
        self.log(f"takes part as {asked.name}: {connections} connections")
        told, sent = self._embedded(None, began)
        return {**told, "connections": connections}, sent

    def _made(self, asked: messages.Start, arrays: Arrays) -> Crew:
        """A crew of one, for the rows and wishes that the server names."""
        try:
            learning = Learning.model_validate({**asked.learning, "device": "cpu"}, strict=False)
        except ValidationError as error:
            raise WireError(
                "; ".join(map(str, faults_from_pydantic(error, Learning)[:3]))
            ) from None
        if learning.model not in MODELS:
            raise WireError(f"model {learning.model!r}: only {', '.join(MODELS)} are run here")
        self._noise = learning.perturbation
        learning = learning.model_copy(update={"perturbation": 0.0})
        features = self.features
        maker = Maker.elsewhere(learning, asked.task, asked.width, features.view, features.whole)
        rows = features.rows(
            arrays["train"], arrays["test"], self.salt, learning.scaling, maker.place
        )
        sample = row_numbers("sample", arrays["sample"], len(arrays["train"]))
        return Crew(rows, maker, asked.seed, maker.place.tensor(sample))

    # --- a round --------------------------------------------------------------------------------

    def _probe(self, asked: messages.Probe, arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
        began = time.perf_counter()
        crew = self._at(asked.run, asked.base)
        figures = crew.probe(set(crew.names), self._task(arrays, Order(0, 0.0), arrays))
        (size,) = figures.values()
        return {**_finite(size), "seconds": time.perf_counter() - began}, {}

    def _embed(self, asked: messages.Refresh, arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
        began = time.perf_counter()
        self._at(asked.run, asked.base)
        return self._embedded(arrays.get("rows"), began)

    def _train(self, asked: messages.Train, arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
        began = time.perf_counter()
        crew = self._at(asked.run, asked.base)
        order = Order(asked.steps, asked.rate, asked.mu, asked.rho)
        measured = arrays if "sample_slopes" in arrays else None
        figures = crew.learn(self._task(arrays, order, measured))
        size = next(iter(figures.values()), None)
        told: dict[str, Any] = {"bound_sq": None, "variance": None}
        if size is not None:
            told = _finite(size)
        batches = torch.from_numpy(arrays["batches"].astype(np.int64))
        (trained,) = crew.embeddings(batches.flatten(), "trained", crew.names).values()
        width = trained.shape[-1]
        sent = {"trained": self._noisy(trained).reshape(*batches.shape, width)}
        self._pending = (asked.base, crew.teams[0].towards(crew._trained[0], 1.0))
        if asked.share is not None:
            self._move(asked.base, asked.state, asked.share)
            more, table = self._embedded(arrays.get("rows"), began)
            told["smoothness"] = more["smoothness"]
            sent |= table
        self.log(
            f"round {asked.round}: {asked.steps} steps of {asked.rate:.3g}; the plan says "
            f"{asked.cpu_hz / 1e6:.0f} MHz, {1e3 * asked.power_w:.1f} mW"
        )
        return {**told, "seconds": time.perf_counter() - began}, sent

    def _apply(self, asked: messages.Apply, arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
        began = time.perf_counter()
        if self._pending is None or self._pending[0] != asked.base:
            raise WireError("nothing was learned from there")
        self._at(asked.run, asked.base, keep=True)
        self._move(asked.base, asked.state, asked.share)
        return self._embedded(arrays.get("rows"), began)

    def _bye(self, asked: messages.Bye, _: Arrays) -> tuple[dict[str, Any], Arrays]:
        if asked.run != self.run and self.run:
            raise WireError("another run")
        self.stopped = asked.reason
        return {}, {}

    # --- inside ---------------------------------------------------------------------------------

    def _at(self, run: str, base: int, *, keep: bool = False) -> Crew:
        """The party as it was at `base`; what came before is no longer needed."""
        if self.crew is None or run != self.run:
            raise WireError("not started in this run")
        if base not in self.states:
            raise WireError(f"no state {base} here, only {sorted(self.states)}")
        self.states = {n: p for n, p in self.states.items() if n >= base}
        self._goto(base)
        if not keep:
            self._pending = None
        return self.crew

    def _goto(self, state: int) -> None:
        assert self.crew is not None  # noqa: S101
        self.crew.teams = [replace(self.crew.teams[0], parameters=dict(self.states[state]))]

    def _move(self, base: int, state: int, share: float) -> None:
        assert self.crew is not None  # noqa: S101
        assert self._pending is not None  # noqa: S101
        if state <= base:
            raise WireError(f"state {state} does not follow {base}")
        moved = self.crew.teams[0].towards(self._pending[1], share)
        self.states = {base: self.states[base], state: dict(moved.parameters)}
        self._goto(state)
        self._save()

    def _task(self, arrays: Arrays, order: Order, measured: Arrays | None) -> Task:
        assert self.crew is not None  # noqa: S101
        crew, place = self.crew, self.crew.maker.place
        count = crew.rows.count("train")
        batches = place.tensor(row_numbers("batches", arrays["batches"], count))
        if order.steps > len(batches):
            raise WireError(f"{order.steps} steps, but {len(batches)} batches")
        width = crew.maker.width
        if arrays["slopes"].shape[-1] != width:
            raise WireError(f"slopes of another width than {width}")
        guide = SlopeGuide(place.tensor(arrays["slopes"].copy())[None])

        def sample(_: Any) -> Guide:
            assert measured is not None  # noqa: S101
            slopes = measured["sample_slopes"]
            if slopes.shape != (len(crew.sample), width):
                raise WireError("sample_slopes of another form than the sample")
            return SlopeGuide(place.tensor(slopes.copy())[None, None])

        orders = dict.fromkeys(crew.names, order)
        return Task(batches, orders, lambda _: guide, None if measured is None else sample)

    def _embedded(self, rows: NDArray[Any] | None, began: float) -> tuple[dict[str, Any], Arrays]:
        """Embeddings as the model stands, and how smooth it is."""
        assert self.crew is not None  # noqa: S101
        crew = self.crew
        count = crew.rows.count("train")
        wanted = np.arange(count) if rows is None else row_numbers("rows", rows, count)
        (table,) = crew.embeddings(torch.from_numpy(wanted), "table", crew.names).values()
        (sent,) = crew.sent(crew.names)
        smooth = None
        if crew.maker.learning.smoothness == "norms":
            (found,) = crew.smoothness().values()
            smooth = found if math.isfinite(found) else None
        told = {"smoothness": smooth, "seconds": time.perf_counter() - began}
        return told, {"table": self._noisy(table), "tests": self._noisy(sent.tests[0])}

    def _noisy(self, embeddings: Tensor) -> NDArray[Any]:
        """What leaves the device: with noise of its own, which nobody else could draw again."""
        found = embeddings.detach().cpu().numpy()
        if self._noise:
            draw = generator(int.from_bytes(os.urandom(8), "big"), "perturb")
            found = found + self._noise * draw.standard_normal(found.shape).astype(found.dtype)
        if not np.isfinite(found).all():
            raise WireError("training ran away: embeddings are no longer finite")
        return found

    # --- to go on after a restart ---------------------------------------------------------------

    def _save(self) -> None:
        if self.state is None:
            return
        buffer = io.BytesIO()
        content: dict[str, Any] = {
            "words": np.array(to_json({"run": self.run, "party": self.party}, indent=None))
        }
        for number, own in self.states.items():
            content |= {f"{number}/{key}": p.numpy() for key, p in own.items()}
        np.savez(buffer, **content)
        write_atomic(self.state, buffer.getvalue())

    def _remember(self, run: str) -> None:
        """Takes up what an earlier process of this device left of the same run."""
        if self.state is None or self.run or not self.state.exists():
            return
        try:
            arrays = read_npz(self.state)
            words = json.loads(str(arrays.pop("words")))
        except (OSError, ValueError, KeyError):
            self.log(f"{self.state}: damaged, left aside")
            return
        if words.get("run") != run:
            return
        self.run, self.party = run, str(words.get("party", ""))
        for key, value in arrays.items():
            number, _, name = key.partition("/")
            self.states.setdefault(int(number), {})[name] = torch.from_numpy(value)


def warm_up() -> None:
    """Loads what the first training would load, so that no answer waits for it."""
    draw = generator(0, "warm-up")
    keys = [str(n) for n in range(8)]
    view = View("table", np.arange(2), np.ones(2, bool), (2,))
    device = Device("warm", Features("", keys, draw.normal(size=(8, 2)), view, (2,), False))
    rows = digests(keys, "")
    told = {"run": "", "nonce": "", "name": "warm", "seed": 0, "task": "classification", "width": 2}
    sample = np.arange(4)
    start: Arrays = {"train": rows[:6], "test": rows[6:], "sample": sample}
    device.answer(encode(Frame("start", {**told, "learning": {"hidden": 2}}, start)))
    slopes: Arrays = {"slopes": np.zeros((1, 4, 2)), "sample_slopes": np.zeros((4, 2))}
    words = {"run": "", "nonce": "", "base": 0}
    device.answer(encode(Frame("probe", words, {"batches": sample[None], **slopes})))


def _localise(crew: Crew, features: Features) -> None:
    """Columns of the whole become places in the device's own rows."""
    (team,) = crew.teams
    own = features.view.columns
    order = np.argsort(own, kind="stable")
    places = order[np.searchsorted(own[order], team.sight.columns.numpy())]
    sight = replace(team.sight, columns=torch.from_numpy(places))
    crew.teams = [replace(team, sight=sight)]


def _finite(size: GradientSize) -> dict[str, float | None]:
    if not size.finite:
        raise WireError("training ran away: gradients are no longer finite")
    return {"bound_sq": size.bound_sq, "variance": size.variance, "turning": size.smoothness}
