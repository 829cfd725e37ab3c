"""Malicious devices that know their rows, remember the gradients they receive, or come back.

They follow thirty ideas that were written down before the rest was read. Each is a lifecycle as in
`malicious_lifecycles.py`: a function of (network, folder of features, round), called after each
round, and once before the first with -1. Most are a lie: a function of (embeddings, where they are
asked for), which returns what is sent instead. Others are a change: a function of (request frame,
reply frame, client), which returns the frame, the bytes or the list of them that the server gets.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from federation_helpers import device
from malicious_messages import FLOAT_TABLES, raw_header, with_fields

from scdn.federation.messenger import RawReply
from scdn.federation.wire_format import Frame, decode, encode

NODE = 6


class Where(NamedTuple):
    """What embeddings are asked for: numbers of rows, and the state of the model."""

    kind: str
    table: str
    rows: Any
    round: int
    state: int
    client: Any

    @property
    def is_test(self):
        return self.table == "test"


class Client:
    """A device that lies: what it knows of its rows, and of the gradients that it was sent.

    What it has learned changes with its model alone, so that it does not contradict itself.
    """

    def __init__(self, network, node, lie=None, change=None):
        self.device, self.node, self.lie, self.change = network.devices[node], node, lie, change
        self.gradients, self.learned, self.known = {}, {}, {}  # `learned` by state of its model
        self.draw, self.round, self.sample, self.memory = np.random.default_rng(0), 0, None, {}
        network.tamper[node] = self.tamper

    def tamper(self, message_id, raw, reply):
        """Return the replies that the server gets."""
        request, frame = decode(raw), decode(reply)
        self.round = request.fields.get("round", self.round) or 0
        if request.kind == "join":
            self.sample = request.arrays["sample"]
        base = self.learned.get(request.fields.get("base"), {})
        if request.kind == "embed":
            self.gradients = base
        if request.kind == "train" and "gradients" in request.arrays:
            rows = self._rows("drawn").tolist()
            new = zip(rows, request.arrays["gradients"], strict=True)
            self.gradients = self.memory["new"] = base | dict(new)
        if request.kind == "apply":
            self.gradients = self.memory["new"] if request.fields["step_length"] else base
            self.learned[request.fields["state"]] = self.gradients
        if frame.kind != "refused" and self.lie is not None:
            frame = self._lied(request, frame)
        frames = frame
        if frame.kind != "refused" and self.change is not None:
            frames = self.change(request, frame, self)
        frames = frames if isinstance(frames, list) else [frames]
        raws = [f if isinstance(f, bytes) else encode(f) for f in frames if f is not None]
        return [RawReply(message_id, self.node, one) for one in raws]

    def _lied(self, request, frame):
        arrays, self.known = {}, {}
        state = request.fields.get("state", request.fields.get("base", 0))
        for table, values in frame.arrays.items():
            if table not in FLOAT_TABLES or table == "table":
                arrays[table] = values
                continue
            rows = np.arange(len(values)) if table == "test" else self._rows(table)
            where = Where(request.kind, table, rows, self.round, state, self)
            arrays[table] = np.asarray(self.lie(values, where)).astype(values.dtype)
        return Frame(frame.kind, frame.fields, arrays)

    def _rows(self, table):
        if table == "sample":
            return np.array(self.sample)
        return self.device._round_rows(self.round)[table].numpy()

    @property
    def labels(self):
        """Return what gradients tell of labels, by training row."""
        return {row: int(gradient.argmin()) for row, gradient in self.gradients.items()}

    def embed(self, rows, kind):
        """Return honest embeddings of training rows."""
        parties, phase = self.device._parties, "trained" if kind == "train" else "begin"
        tables = {"drawn": torch.from_numpy(np.array(rows))}
        (values,) = parties.embed(tables, phase, parties.names).values()
        return values.detach().numpy()

    def embed_with(self, parameters, where):
        """Return embeddings of a model with other parameters."""
        parties = self.device._parties
        kept = parties.stacks
        parties.stacks = [replace(kept[0], parameters=parameters)]
        if where.is_test:
            (sent,) = parties.evaluation_embeddings(parties.names)
            values = sent.test[0].detach().numpy()
        else:
            values = self.embed(where.rows, "embed")
        parties.stacks = kept
        return values

    def size(self, kind):
        """Return the standard deviation of each column, the same for all tables."""
        if "size" not in self.known:
            self.known["size"] = self.embed(self.sample, kind).std(0)
        return self.known["size"]

    def classes(self, values, kind):
        """Return the class of each row by the nearest mean of rows whose labels are known."""
        if len(self.gradients) < 50:
            return None
        if "means" not in self.known:
            labels = self.labels
            table, classes = self.embed(list(labels), kind), np.array(list(labels.values()))
            width = table.shape[1]
            self.known["means"] = np.stack([
                table[classes == c].mean(0) if (classes == c).any() else np.full(width, 1e6)
                for c in range(width)
            ])  # fmt: skip
        return ((values[:, None] - self.known["means"][None]) ** 2).sum(2).argmin(1)


def by_row(rows, *further):
    """Return a number in 0..1 for each row, always the same one."""
    return np.array([np.random.default_rng([int(r), *further]).random() for r in rows])


def noise_by_row(rows, shape, *further):
    return np.stack(
        [np.random.default_rng([int(r), *further]).standard_normal(shape) for r in rows]
    )


def key(where):
    """Tell training rows from test rows."""
    return 1 if where.is_test else 0


def from_round(first, lie):
    return lambda values, where: lie(values, where) if where.round >= first else values


# --- numbers --------------------------------------------------------------------------------------


def frozen_model(_values, where):
    """A free rider: its model stays as it was at first."""
    memory, device = where.client.memory, where.client.device
    if "first" not in memory:
        memory["first"] = {n: p.clone() for n, p in device._parties.stacks[0].parameters.items()}
    return where.client.embed_with(memory["first"], where)


def grows_slowly(values, where):
    return values * 1.3**where.state


def subnormal(values, _where):
    return values * 1e-42


def offset_in_one_column(values, where):
    changed = values.copy()
    changed[:, 3] += 4 * where.client.size(where.kind).mean()
    return changed


def heavy_tail(values, where):
    far = by_row(where.rows, 7, key(where)) < 0.005
    return np.where(far[:, None], 30 * values, values)


def noise_as_large(values, where):
    noise = noise_by_row(where.rows, values.shape[1], 11, key(where), where.state)
    return values + where.client.size(where.kind) * noise


def same_noise_as_large(values, where):
    noise = noise_by_row(where.rows, values.shape[1], 12, key(where))
    return values + where.client.size(where.kind) * noise


# --- with the gradients that it receives ----------------------------------------------------------


def uphill(values, where):
    """Rows with a gradient move uphill, as far as half of their size."""
    client, changed = where.client, values.copy()
    size = np.linalg.norm(client.size(where.kind))
    if where.is_test:
        return values
    for index, row in enumerate(where.rows.tolist()):
        if row in client.gradients:
            gradient = client.gradients[row]
            changed[index] += 0.5 * size * gradient / (np.linalg.norm(gradient) + 1e-12)
    return changed


def uphill_everywhere(values, where):
    """All rows move against the class that it takes them for."""
    classes = where.client.classes(values, where.kind)
    if classes is None:
        return values
    gradient = np.full(values.shape, 0.1)
    gradient[np.arange(len(values)), classes] = -0.9
    return values + 2 * where.client.size(where.kind).mean() * gradient


def swapped_classes(share, first=0):
    """Classes exchanged with the next one, for a share of the rows, in all tables."""

    def swap(values, where):
        classes = where.client.classes(values, where.kind)
        if classes is None or where.round < first:
            return values
        means, changed = where.client.known["means"], values.copy()
        target = (classes + 1) % values.shape[1]
        usable = (np.abs(means).max(1) < 1e6)[target] & (np.abs(means).max(1) < 1e6)[classes]
        chosen = (by_row(where.rows, 3, key(where)) < share) & usable
        changed[chosen] += (means[target] - means[classes])[chosen]
        return changed

    return swap


def swapped_ever_more(values, where):
    return swapped_classes(0.05 * where.round)(values, where)


def knows_labels(scale, honest, wrong_share=0.0):
    """Adds the labels that gradients tell to training rows, and what it guesses to test rows."""

    def known(values, where):
        client, changed = where.client, honest * values
        size = scale * client.size(where.kind).mean()
        guessed = client.classes(values, where.kind)
        if guessed is None:
            return values
        if where.is_test:
            labels = guessed.copy()
            wrong = by_row(where.rows, 5, 1) < wrong_share
            labels[wrong] = (labels[wrong] + 1) % values.shape[1]
        else:
            told = client.labels
            labels = [told.get(r, g) for r, g in zip(where.rows.tolist(), guessed, strict=True)]
        changed[np.arange(len(values)), labels] += size
        return changed

    return known


def knows_labels_of_training_rows_alone(values, where):
    if where.is_test:
        return values
    labels, changed = where.client.labels, values.copy()
    for index, row in enumerate(where.rows.tolist()):
        if row in labels:
            changed[index, labels[row]] += 3 * where.client.size(where.kind).mean()
    return changed


def right_where_trained(values, where):
    """Right for rows that it was sent gradients of, those of another row else."""
    known = np.array([not where.is_test and r in where.client.gradients for r in where.rows])
    return np.where(known[:, None], values, rows_of_others(values, where))


def right_where_trained_consistent(values, where):
    known = np.array([not where.is_test and r in where.client.gradients for r in where.rows])
    return np.where(known[:, None], values, -values)


def wrong_classes_in_test_rows(share):
    """Test rows of a share of the rows are moved from their class to the next one."""

    def wrong(values, where):
        return swapped_classes(share)(values, where) if where.is_test else values

    return wrong


def test_rows_lose_what_others_do_not_know(values, where):
    """Test rows of the two classes that it tells apart best are moved to their middle."""
    client = where.client
    classes = client.classes(values, where.kind) if where.is_test else None
    if classes is None:
        return values
    counts = np.bincount(classes, minlength=values.shape[1])
    one, other = np.argsort(counts)[-2:]
    changed, chosen = values.copy(), (classes == one) | (classes == other)
    changed[classes == one] += values[classes == other].mean(0) - values[classes == one].mean(0)
    changed[classes == other] += values[classes == one].mean(0) - values[classes == other].mean(0)
    return np.where(chosen[:, None], changed, values)


# --- by time --------------------------------------------------------------------------------------


def shuffled(values, where):
    return values[where.client.draw.permutation(len(values))]


def rows_of_others(values, where):
    """Each row is always that of another one: a lie that never contradicts itself."""
    client = where.client
    count = len(values) if where.is_test else client.device._parties.data.count("train")
    other = np.random.default_rng(4).permutation(count)
    return values[other] if where.is_test else client.embed(other[where.rows], where.kind)


def every_other_round(values, where):
    return rows_of_others(values, where) if where.state % 2 else values


def drifts_to_other_rows(values, where):
    share = min(1.0, 0.05 * where.state)
    return (1 - share) * values + share * rows_of_others(values, where)


def now_and_then(values, where):
    return shuffled(values, where) if where.client.draw.random() < 0.1 else values


def sleeps_until_two_rounds_before_the_end(values, where):
    return rows_of_others(values, where) if where.round >= 18 else values


def last_report_alone(values, where):
    return rows_of_others(values, where) if where.round >= 19 and where.kind == "apply" else values


# --- fields and messages --------------------------------------------------------------------------


def answers_another_kind(request, frame, _client):
    return Frame("apply", frame.fields, frame.arrays) if request.kind == "embed" else frame


def two_invalid_replies_and_then_lies(request, frame, client):
    client.memory["sent"] = client.memory.get("sent", 0) + (request.kind == "apply")
    return b"scdn2\n" if request.kind == "apply" and client.memory["sent"] in (2, 5) else frame


def answers_twice(request, frame, _client):
    """A lie and then the truth, to the same request."""
    lie = {n: -a if n in FLOAT_TABLES else a for n, a in frame.arrays.items()}
    return [frame, Frame(frame.kind, frame.fields, lie)] if request.kind == "embed" else frame


def extreme_fields(_request, frame, client):
    high = client.round % 2
    figure = 1e18 if high else 1e-300
    kinds = ("bound_sq", "variance", "measured_smoothness", "smoothness")
    fields = {k: figure for k in kinds if frame.fields.get(k) is not None}
    return with_fields(frame, **fields, seconds=1e9 if high else 5e-324)


def figures_just_below_limits(_request, frame, client):
    factor = 400.0 if client.round % 2 else 2e-3
    kinds = ("bound_sq", "variance", "measured_smoothness", "smoothness")
    return with_fields(frame, **{k: factor * frame.fields[k] for k in kinds if frame.fields.get(k)})


def plan_for_a_giant(request, frame, client):
    if request.kind == "join":
        return with_fields(frame, connections=900 * frame.fields["connections"], smoothness=1e17)
    return figures_just_below_limits(request, frame, client) if client.round % 2 else frame


def plan_for_a_dwarf(request, frame, _client):
    if request.kind == "join":
        return with_fields(frame, connections=max(1, frame.fields["connections"] // 900))
    kinds = ("bound_sq", "variance", "measured_smoothness", "smoothness")
    return with_fields(frame, **{k: 2e-4 * frame.fields[k] for k in kinds if frame.fields.get(k)})


def infinite_seconds(_request, frame, _client):
    """A number that JSON reads as infinite although it is none of its constants."""
    raw = encode(with_fields(frame, seconds=12345.678))
    return raw.replace(b"12345.678", b"1e999    ")


def forges_lines_of_the_log(request, frame, _client):
    if request.kind == "hello":
        return with_fields(frame, party="device-1\n12:00:00 device-1: dismissed\x1b[2J")
    ids = {k: frame.fields[k] for k in ("run", "nonce")}
    if request.kind == "apply":
        return Frame("refused", {**ids, "reason": "\r\x1b[1A device-1: left out of round 3"}, {})
    return frame


def calls_itself(name):
    def named(request, frame, _client):
        return with_fields(frame, name=name) if request.kind == "hello" else frame

    return named


def says_it_is_another_party(request, frame, _client):
    if request.kind == "hello":
        return with_fields(frame, party="device-1", states=list(range(8)))
    return frame


def says_it_has_states(request, frame, _client):
    if request.kind == "hello":
        run = request.fields["run"]
        return with_fields(frame, run=run, party="device-6", states=[0, 1, 2, 3, 1 << 40])
    return frame


def a_million_rows(request, frame, client):
    if request.kind != "hello":
        return frame
    keys = frame.arrays["keys"]
    more = np.frombuffer(client.draw.bytes(63_000 * keys.shape[1]), "u1").reshape(-1, keys.shape[1])
    return Frame(frame.kind, frame.fields, {"keys": np.concatenate([keys, more])})


def large_message(request, frame, _client):
    """As many bytes as are read, of tables that nobody asked for."""
    if request.kind != "embed":
        return frame
    more = np.zeros(28 << 20, "f8")
    return Frame(frame.kind, frame.fields, {**frame.arrays, "test": more})


def large_header(request, frame, _client):
    if request.kind != "embed":
        return frame
    header = {"kind": "embed", "fields": {**frame.fields, "x": [[]] * 150_000}, "arrays": []}
    return raw_header(header)


def many_faults(request, frame, _client):
    if request.kind != "embed":
        return frame
    fields = {f"\x1b{n}\n": n for n in range(40_000)}
    return raw_header(json.dumps({"kind": "embed", "fields": fields, "arrays": []}).encode())


def is_rude_at_the_end(request, frame, _client):
    return b"\xff" * 100 if request.kind == "goodbye" else frame


def diverges_whenever_the_step_is_short(request, frame, _client):
    if request.kind == "apply" and request.fields["step_length"] < 1:
        ids = {k: frame.fields[k] for k in ("run", "nonce", "seconds")}
        return Frame("apply", {**ids, "diverged": True}, {})
    return frame


# --- as lifecycles --------------------------------------------------------------------------------


def lying(lie):
    def begin(network, _files, round_):
        if round_ == -1:
            Client(network, NODE, lie)

    return begin


def changing(change, lie=None):
    def begin(network, _files, round_):
        if round_ == -1:
            Client(network, NODE, lie, change)

    return begin


def lies_at_each_return(network, files, round_):
    """Comes back every third round under a new name; its rows are then always those of others."""
    if round_ == -1:
        Client(network, NODE, rows_of_others)
    elif round_ % 3 == 2:
        for node in [n for n in network.devices if n == NODE or n >= 100]:
            network.unplug(node)
        client = device(files, "device-6")
        client.name = f"guest-{round_}"
        network.plug(100 + round_, client)
        Client(network, 100 + round_, rows_of_others)


def lies_and_returns_with_its_name(network, files, round_):
    if round_ == -1:
        Client(network, NODE, rows_of_others)
    elif round_ % 2:
        for node in [n for n in network.devices if n == NODE or n >= 100]:
            network.unplug(node)
        network.plug(100 + round_, device(files, "device-6"))
        Client(network, 100 + round_, rows_of_others)


def just_below_half_of_the_timeout(network, _files, round_):
    if round_ == -1:
        Client(network, NODE, None, lambda _, frame, __: with_fields(frame, seconds=0.0))
        network.delay_s[NODE] = 4.9


def has_the_next_name_of_another(network, files, round_):
    """Is called as device 1 will be when it joins again; device 1 leaves and comes back."""
    if round_ == -1:
        Client(network, NODE, None, calls_itself("device-1-2"))
    if round_ == 4:
        network.unplug(1)
    if round_ == 9:
        network.plug(50, device(files, "device-1"))


def device_1_comes_back(network, files, round_):
    """Not malicious: to compare the last one with."""
    if round_ == 4:
        network.unplug(1)
    if round_ == 9:
        network.plug(50, device(files, "device-1"))


UNSEEN = {
    "hello: 63,000 further rows": changing(a_million_rows),
    "forges lines of the log": changing(forges_lines_of_the_log),
    "calls itself device-1": changing(calls_itself("device-1")),
    "says that it is device-1's party": changing(says_it_is_another_party),
    "says that it has states": changing(says_it_has_states),
    "has the next name of device-1": has_the_next_name_of_another,
    "answers embed with apply": changing(answers_another_kind),
    "two invalid replies, then other rows": changing(
        two_invalid_replies_and_then_lies, from_round(8, rows_of_others)
    ),
    "answers twice": changing(answers_twice),
    "frozen model": lying(frozen_model),
    "infinite seconds": changing(infinite_seconds),
    "other rows in the last report alone, rude goodbye": changing(
        is_rude_at_the_end, last_report_alone
    ),
    "large message": changing(large_message),
    "large header": changing(large_header),
    "forty thousand faults": changing(many_faults),
    "diverges at short steps": changing(diverges_whenever_the_step_is_short),
    "grows by 1.3 with its state": lying(grows_slowly),
    "subnormal": lying(subnormal),
    "offset in one column": lying(offset_in_one_column),
    "heavy tail": lying(heavy_tail),
    "uphill": lying(uphill),
    "uphill everywhere": lying(uphill_everywhere),
    "swapped classes from round 8": lying(swapped_classes(1.0, 8)),
    "swapped classes, ever more rows": lying(swapped_ever_more),
    "knows labels, guesses test rows": lying(knows_labels(3.0, 1.0)),
    "labels alone, test rows half wrong": lying(knows_labels(3.0, 0.0, 0.5)),
    "labels of training rows alone": lying(knows_labels_of_training_rows_alone),
    "labels, test rows a fifth wrong": lying(knows_labels(2.0, 1.0, 0.2)),
    "right where trained": lying(right_where_trained),
    "negated where not trained": lying(right_where_trained_consistent),
    "right where trained, from round 6": lying(from_round(6, right_where_trained)),
    "negated where not trained, from round 6": lying(from_round(6, right_where_trained_consistent)),
    "test classes swapped, a quarter": lying(wrong_classes_in_test_rows(0.25)),
    "two classes swapped in test rows": lying(test_rows_lose_what_others_do_not_know),
    "other rows from round 16": lying(from_round(15, rows_of_others)),
    "other rows from round 19": lying(sleeps_until_two_rounds_before_the_end),
    "other rows in the last report alone": lying(last_report_alone),
    "other rows in every other state": lying(every_other_round),
    "drifts to other rows": lying(drifts_to_other_rows),
    "now and then shuffled": lying(now_and_then),
    "noise of its size by state": lying(noise_as_large),
    "the same noise of its size": lying(same_noise_as_large),
    "other rows from the start": lying(rows_of_others),
    "plan for a giant": changing(plan_for_a_giant),
    "plan for a dwarf": changing(plan_for_a_dwarf),
    "returns under new names and lies": lies_at_each_return,
    "returns with its name and lies": lies_and_returns_with_its_name,
    "just below half of the timeout": just_below_half_of_the_timeout,
    "extreme figures by turns": changing(extreme_fields),
    "figures just below limits": changing(figures_just_below_limits),
}
