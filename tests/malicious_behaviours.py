"""A catalogue of malicious devices: what each one does to the replies of an honest device.

Each behaviour is a function of (reply, memory of the device) that returns what the server gets
instead: a frame, raw bytes, or None for nothing.
"""

from __future__ import annotations

import json

import numpy as np

from scdn.federation.messenger import RawReply
from scdn.federation.wire_format import MAGIC, Frame, decode, encode

FLOAT_TABLES = ("drawn", "held_out", "sample", "table", "test")
ROUND_KINDS = ("embed", "train", "apply", "report")


def with_arrays(frame, change, tables=FLOAT_TABLES):
    arrays = {n: change(n, a) if n in tables else a for n, a in frame.arrays.items()}
    return Frame(frame.kind, frame.fields, arrays)


def with_fields(frame, **fields):
    known = {key: value for key, value in fields.items() if key in frame.fields}
    return Frame(frame.kind, {**frame.fields, **known}, frame.arrays)


def raw_header(header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return MAGIC + len(text).to_bytes(4, "big") + text + body


# --- messages that cannot be read -----------------------------------------------------------------


def random_bytes(_frame, memory):
    return memory["draw"].bytes(500)


def huge_empty_array(frame, _memory):
    listed = [["drawn", "<f8", [0, 1 << 28, 1 << 28]]]
    return raw_header({"kind": frame.kind, "fields": frame.fields, "arrays": listed})


def surrogate_in_kind(frame, _memory):
    fields = json.dumps(frame.fields)
    return raw_header(
        b'{"kind": "\\ud800\\u001b[2J", "fields": %s, "arrays": []}' % fields.encode()
    )


def surrogate_in_reason(frame, _memory):
    ids = {key: frame.fields[key] for key in ("run", "nonce")}
    return Frame("refused", {**ids, "reason": "\ud800\x1b[2J\nserver: all is well"}, {})


def deep_header(_frame, _memory):
    return raw_header(b"[" * 100_000)


def huge_integer(_frame, _memory):
    return raw_header(
        b'{"kind": "embed", "fields": {"seconds": 1%s}, "arrays": []}' % (b"0" * 4000)
    )


def no_arrays(frame, _memory):
    return Frame(frame.kind, frame.fields, {})


def replayed(frame, memory):
    return memory.setdefault(f"first {frame.kind}", frame)


def not_a_number(frame, _memory):
    changed = with_arrays(frame, lambda _, a: a.copy())
    raw = bytearray(encode(changed))
    if frame.arrays:
        raw[-8:] = np.float64("nan").tobytes()
    return bytes(raw)


def oversized(frame, _memory):
    return with_arrays(frame, lambda _, a: np.concatenate([a] * 50))


# --- numbers that are too large -------------------------------------------------------------------


def scaled(factor):
    return lambda frame, _memory: with_arrays(frame, lambda _, a: a * factor)


def overflow_in_32_bits(frame, _memory):
    return with_arrays(frame, lambda _, a: np.full(a.shape, 1e300))


def nearly_overflow(frame, _memory):
    return with_arrays(frame, lambda _, a: np.full(a.shape, 3e38, "f4"))


def no_smoothness(frame, _memory):
    return with_fields(frame, smoothness=None, measured_smoothness=None)


def huge_figures(frame, _memory):
    huge = {"bound_sq": 1e300, "variance": 1e300, "measured_smoothness": 1e300, "smoothness": 1e300}
    return with_fields(frame, **huge, seconds=1e308)


def large_figures(frame, _memory):
    fields = frame.fields
    kinds = ("bound_sq", "variance", "measured_smoothness", "smoothness")
    return with_fields(frame, **{k: 900.0 * fields[k] for k in kinds if fields.get(k)})


# --- well-formed lies -----------------------------------------------------------------------------


def noise(frame, memory):
    draw = memory["draw"]
    return with_arrays(frame, lambda _, a: a.std() * draw.standard_normal(a.shape))


def shuffled_rows(frame, memory):
    draw = memory["draw"]
    return with_arrays(frame, lambda _, a: a[draw.permutation(len(a))])


def noisy_sample(frame, memory):
    draw = memory["draw"]
    return with_arrays(frame, lambda _, a: draw.standard_normal(a.shape), ("sample",))


def negated(frame, _memory):
    return with_arrays(frame, lambda _, a: -a)


def zeros(frame, _memory):
    return with_arrays(frame, lambda _, a: np.zeros_like(a))


def constant(frame, _memory):
    return with_arrays(frame, lambda _, a: np.full(a.shape, 30.0))


def another_class(frame, _memory):
    return with_arrays(frame, lambda _, a: np.roll(a, 1, axis=1))


def from_the_first_round(frame, memory):
    """Embeddings of the first round's model in every later round."""
    tables = memory.setdefault("tables", {})
    return with_arrays(frame, lambda name, a: tables.setdefault((frame.kind, name), a))


def against_the_gradient(frame, memory):
    """Goes in the opposite direction of its update."""
    if frame.kind == "embed":
        memory["before"] = dict(frame.arrays)
    if frame.kind not in ("train", "apply"):
        return frame
    before = memory["before"]
    return with_arrays(frame, lambda n, a: 2 * before[n] - a if n in before else a)


def blocks_steps(frame, memory):
    """Its embeddings after a step are always worse than those before."""
    draw = memory["draw"]
    if frame.kind != "apply":
        return frame
    return with_arrays(frame, lambda _, a: a + 5 * a.std() * draw.standard_normal(a.shape))


def exaggerates_its_update(frame, memory):
    if frame.kind == "embed":
        memory["before"] = dict(frame.arrays)
    if frame.kind != "train":
        return frame
    draw, before = memory["draw"], memory["before"]
    return with_arrays(
        frame, lambda n, a: before[n] + 20 * draw.standard_normal(a.shape) if n in before else a
    )


def says_diverged(frame, _memory):
    if frame.kind != "apply":
        return frame
    ids = {key: frame.fields[key] for key in ("run", "nonce", "seconds")}
    return Frame("apply", {**ids, "diverged": True}, {})


def says_trained_to_nothing(frame, _memory):
    if frame.kind != "train":
        return frame
    return Frame("train", {**frame.fields, "diverged": True}, {})


def refuses(frame, _memory):
    ids = {key: frame.fields[key] for key in ("run", "nonce")}
    return Frame("refused", {**ids, "reason": "not now"}, {})


def silent(_frame, _memory):
    return None


def refuses_updates(frame, memory):
    return refuses(frame, memory) if frame.kind == "apply" else frame


# By name: what it does, and from which round on. Some lies are a model like any other if they are
# told from the beginning: classes in another order, all signs changed.
FROM_THE_START = (
    random_bytes, huge_empty_array, surrogate_in_kind, surrogate_in_reason, deep_header,
    huge_integer, no_arrays, replayed, not_a_number, oversized, overflow_in_32_bits,
    nearly_overflow, huge_figures, large_figures, noise, shuffled_rows,
    noisy_sample, zeros, constant, from_the_first_round, against_the_gradient,
    blocks_steps, exaggerates_its_update, says_diverged, says_trained_to_nothing, refuses,
    refuses_updates, silent,
)  # fmt: skip
LATER = (
    noise, shuffled_rows, negated, another_class, constant, blocks_steps,
    exaggerates_its_update,
)  # fmt: skip
BEHAVIOURS = {function.__name__: (function, 0) for function in FROM_THE_START}
BEHAVIOURS |= {f"{function.__name__} later": (function, 5) for function in LATER}
BEHAVIOURS |= {f"scaled by {factor:g}": (scaled(factor), 0) for factor in (10.0, 1e3, 1e6)}
BEHAVIOURS["scaled by 10 later"] = (scaled(10.0), 5)


def behave(network, node, behaviour):
    """Let a node behave so in every message of a round."""
    memory = {"draw": np.random.default_rng(0)}

    def tamper(message_id, raw, reply):
        request, frame = decode(raw), decode(reply)
        if request.kind in ROUND_KINDS and frame.kind != "refused":
            frame = behaviour(frame, memory)
        if frame is None:
            return []
        return [RawReply(message_id, node, frame if isinstance(frame, bytes) else encode(frame))]

    network.tamper[node] = tamper
