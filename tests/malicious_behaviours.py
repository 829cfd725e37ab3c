"""A catalogue of malicious devices: what each one does to the replies of an honest device.

Each behaviour is a function of (reply, memory of the device) that returns what the server gets
instead: a frame, raw bytes, or None for nothing. `malicious_messages.py` has those that cannot be
read. `memory` has a generator `draw`, the `round`, and `seen`: what an honest device has just sent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from malicious_messages import (
    FLOAT_TABLES,
    UNREADABLE,
    random_bytes,
    replayed,
    with_arrays,
    with_fields,
    wrong_types,
)
from malicious_strategies import NAMES_WHEN_IT_JOINS, STRATEGIES

from scdn.federation.messenger import RawReply
from scdn.federation.wire_format import Frame, decode, encode

ROUND_KINDS = ("embed", "train", "apply", "report")


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


def noise_in(tables):
    def noise(frame, memory):
        draw = memory["draw"]
        return with_arrays(frame, lambda _, a: a.std() * draw.standard_normal(a.shape), tables)

    return noise


def shuffled_in(tables):
    def shuffled_rows(frame, memory):
        draw = memory["draw"]
        return with_arrays(frame, lambda _, a: a[draw.permutation(len(a))], tables)

    return shuffled_rows


def negated_in(tables):
    def negated(frame, _memory):
        return with_arrays(frame, lambda _, a: -a, tables)

    return negated


def scaled_in(tables):
    return lambda frame, _memory: with_arrays(frame, lambda _, a: 2.5 * a, tables)


def constant_in(tables):
    return lambda frame, _memory: with_arrays(frame, lambda _, a: a[:1] + 0 * a, tables)


noise, shuffled_rows, negated = (f(FLOAT_TABLES) for f in (noise_in, shuffled_in, negated_in))


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


def ramp(factor):
    """Embeddings that grow by a factor from round to round."""
    return lambda frame, memory: with_arrays(frame, lambda _, a: a * factor ** memory["round"])


def slow_drift(frame, memory):
    """Ever more of a constant direction."""
    direction = memory.setdefault("direction", memory["draw"].standard_normal(64))
    share = 0.2 * memory["round"]
    return with_arrays(frame, lambda _, a: a + share * a.std() * direction[: a.shape[1]])


def slow_rotation(frame, memory):
    """A class more every two rounds is exchanged with the next one."""
    shift = memory["round"] // 2
    return with_arrays(frame, lambda _, a: np.roll(a, shift, axis=1))


def every_other_round(frame, memory):
    return noise(frame, memory) if memory["round"] % 2 else frame


def half_of_the_rows(frame, _memory):
    """Less than half of its rows, always the same ones in a table."""

    def change(_, a):
        b = a.copy()
        b[::3] = -b[::3]
        return b

    return with_arrays(frame, change)


def a_tenth_of_the_rows(frame, memory):
    draw = memory["draw"]

    def change(_, a):
        b = a.copy()
        b[draw.random(len(b)) < 0.09] = 20 * a.std()
        return b

    return with_arrays(frame, change)


def tiny_numbers(frame, _memory):
    return with_arrays(frame, lambda _, a: np.full(a.shape, -5e-324))


def negative_zeros(frame, _memory):
    return with_arrays(frame, lambda _, a: np.full(a.shape, -0.0))


def copies_another(frame, memory):
    seen = memory["seen"].get(frame.kind, {})
    return with_arrays(frame, lambda n, a: seen.get(n, a))


def against_another(frame, memory):
    """The opposite of what another device sends."""
    seen = memory["seen"].get(frame.kind, {})
    return with_arrays(frame, lambda n, a: -seen.get(n, a))


def no_figures(frame, _memory):
    return with_fields(frame, bound_sq=None, variance=None, seconds=0.0)


def figures_of_nothing(frame, _memory):
    return with_fields(frame, bound_sq=0.0, variance=0.0, measured_smoothness=0.0, smoothness=0.0)


def growing_figures(frame, memory):
    factor = 100.0 ** memory["round"]
    fields, kinds = frame.fields, ("bound_sq", "variance", "measured_smoothness", "smoothness")
    return with_fields(frame, **{k: factor * fields[k] for k in kinds if fields.get(k)})


def days_of_computing(frame, _memory):
    return with_fields(frame, seconds=9e8)


def a_billion_connections(frame, _memory):
    return with_fields(frame, connections=1 << 40, smoothness=1e18)


def one_connection(frame, _memory):
    return with_fields(frame, connections=1, smoothness=0.0)


def far_away(frame, _memory):
    return with_fields(frame, position_m=[1e308, -1e308, 0.0])


def no_rows_at_all(frame, _memory):
    return Frame(frame.kind, frame.fields, {"keys": frame.arrays["keys"][:0]})


def few_rows(frame, _memory):
    return Frame(frame.kind, frame.fields, {"keys": frame.arrays["keys"][::20]})


def other_rows(frame, memory):
    keys = frame.arrays["keys"]
    other = np.frombuffer(memory["draw"].bytes(keys.size), "u1").reshape(keys.shape)
    return Frame(frame.kind, frame.fields, {"keys": other})


def one_row_many_times(frame, _memory):
    keys = frame.arrays["keys"]
    return Frame(frame.kind, frame.fields, {"keys": np.repeat(keys[:1], len(keys), axis=0)})


def with_its_model(change):
    """A lie that changes with its model alone, so that it never contradicts itself."""

    def changed(frame, memory):
        memory["version"] = memory.get("version", 0) + (frame.kind == "apply")
        return with_arrays(frame, lambda _, a: change(a, memory["version"]))

    return changed


def mixed(a, version):
    """Columns mixed at random, in another way in each state."""
    draw = np.random.default_rng(version)
    return a @ np.linalg.qr(draw.standard_normal((a.shape[1],) * 2))[0]


CONSISTENT = {
    "mixes classes anew": mixed,
    "changes signs": lambda a, version: a * (-1) ** version,
    "exchanges classes": lambda a, version: np.roll(a, version, axis=1),
    "grows by 1.5": lambda a, version: a * 1.5**version,
    "grows by 8": lambda a, version: a * 8.0**version,
    "shrinks": lambda a, version: a * 0.5**version,
    "drifts": lambda a, version: a + 0.5 * version * a.std() * np.arange(a.shape[1]),
    "mixes rows": lambda a, version: 0.5 * a + 0.5 * np.roll(a, version, axis=0),
}


HOW_IN_ONE_TABLE = (
    ("noise", noise_in), ("shuffled", shuffled_in), ("negated", negated_in), ("scaled", scaled_in),
    ("constant", constant_in),
)  # fmt: skip


class Behaviour(NamedTuple):
    """What a device does to its replies, from which round on, and to replies of which kinds."""

    change: Any
    start: int = 0
    kinds: tuple[str, ...] = ROUND_KINDS


FROM_THE_START = (
    *UNREADABLE, overflow_in_32_bits, nearly_overflow, huge_figures, large_figures, noise,
    shuffled_rows, zeros, constant, from_the_first_round, against_the_gradient, blocks_steps,
    exaggerates_its_update, says_diverged, says_trained_to_nothing, refuses, refuses_updates,
    silent, slow_drift, slow_rotation, every_other_round, half_of_the_rows, a_tenth_of_the_rows,
    tiny_numbers, negative_zeros, copies_another, against_another, no_figures, figures_of_nothing,
    growing_figures, days_of_computing,
)  # fmt: skip
LATER = (
    noise, shuffled_rows, negated, another_class, constant, zeros, blocks_steps,
    exaggerates_its_update, half_of_the_rows, a_tenth_of_the_rows, copies_another, against_another,
    says_diverged, replayed,
)  # fmt: skip
WHEN_IT_JOINS = (
    *(("hello", change) for change in (no_rows_at_all, few_rows, other_rows, one_row_many_times)),
    *(("hello", change) for change in (far_away, refuses, silent)),
    *(("join", change) for change in (a_billion_connections, one_connection, refuses, silent)),
    *(("join", change) for change in (random_bytes, wrong_types)),
)
BEHAVIOURS = {function.__name__: Behaviour(function) for function in FROM_THE_START}
BEHAVIOURS |= {f"{function.__name__} later": Behaviour(function, 5) for function in LATER}
BEHAVIOURS |= {
    f"{kind}: {change.__name__}": Behaviour(change, 0, (kind,)) for kind, change in WHEN_IT_JOINS
}
BEHAVIOURS |= {f"scaled by {f:g}": Behaviour(scaled(f)) for f in (1e-6, 0.1, 6.0, 10.0, 1e3, 1e6)}
BEHAVIOURS |= {f"scaled by {f:g} later": Behaviour(scaled(f), 5) for f in (3.0, 10.0, 100.0, 900.0)}
BEHAVIOURS |= {f"{f:g} times larger each round": Behaviour(ramp(f)) for f in (0.5, 1.3, 2.0, 30.0)}
BEHAVIOURS |= {
    f"{how} with its model": Behaviour(with_its_model(f)) for how, f in CONSISTENT.items()
}
BEHAVIOURS |= {
    f"{how} with its model later": Behaviour(with_its_model(f), 5) for how, f in CONSISTENT.items()
}
BEHAVIOURS |= {
    f"{how} in {table} alone{when}": Behaviour(make((table,)), start)
    for how, make in HOW_IN_ONE_TABLE
    for table in FLOAT_TABLES
    for when, start in (("", 0), (" later", 5))
}
BEHAVIOURS |= {how: Behaviour(change, start) for how, (change, start) in STRATEGIES.items()}
BEHAVIOURS |= {
    f"hello: {how}": Behaviour(f, 0, ("hello",)) for how, f in NAMES_WHEN_IT_JOINS.items()
}


class Liar:
    """Replaces the replies of one device, as a behaviour says."""

    def __init__(self, behaviour):
        self.behaviour = behaviour
        self.memory = {"draw": np.random.default_rng(0), "round": 0, "seen": {}}

    def replies(self, raw, reply):
        """Return what the server gets instead of a reply: any number of messages."""
        request, frame = decode(raw), decode(reply)
        self.memory["round"] = request.fields.get("round", self.memory["round"])
        if request.kind in self.behaviour.kinds and frame.kind != "refused":
            frame = self.behaviour.change(frame, self.memory)
        frames = frame if isinstance(frame, list) else [frame]
        return [f if isinstance(f, bytes) else encode(f) for f in frames if f is not None]


def behave(network, node, behaviour):
    """Let a node behave so from now on; node 1 is the honest one that it can see."""
    liar = Liar(behaviour)

    def see(message_id, _raw, reply):
        frame = decode(reply)
        liar.memory["seen"].setdefault(frame.kind, {}).update(frame.arrays)
        return [RawReply(message_id, 1, reply)]

    def tamper(message_id, raw, reply):
        return [RawReply(message_id, node, lie) for lie in liar.replies(raw, reply)]

    network.tamper[node] = tamper
    if behaviour.change in (copies_another, against_another):
        network.tamper[1] = see
