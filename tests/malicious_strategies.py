"""Malicious devices that think: lies that fit their model, their history, limits, or the moment.

Each is a function of (reply, memory of the device), as in `malicious_behaviours.py`. None of them
was used to choose a limit.
"""

from __future__ import annotations

import numpy as np
from malicious_messages import FLOAT_TABLES, raw_header, with_arrays, with_fields

from scdn.federation.wire_format import Frame

TEST = ("test",)


def consistent(change, tables=FLOAT_TABLES):
    """A lie that depends on a row's embedding alone, so that it never contradicts itself."""
    return lambda frame, _memory: with_arrays(frame, lambda _, a: change(a), tables)


def per_state(change):
    """As `consistent`, and on how often the device has been asked to update its model."""

    def changed(frame, memory):
        memory["version"] = memory.get("version", 0) + (frame.kind == "apply")
        return with_arrays(frame, lambda _, a: change(a, memory["version"]))

    return changed


def from_next_state(change):
    """As `consistent`, from the next state of its model on."""
    return per_state(lambda a, version: change(a) if version else a)


def only_in(rounds, change):
    """A lie in some rounds, and the truth in all others."""
    return lambda frame, memory: change(frame, memory) if memory["round"] in rounds else frame


# --- lies that fit the model ----------------------------------------------------------------------


def ripples(share):
    """What looks like noise, but is the same for the same row."""
    return lambda a: a + share * a.std() * np.sin(1e4 * a)


def signs_alone(a):
    return np.sign(a) * np.abs(a).mean()


def folded(a):
    return np.abs(a)


def squared(a):
    return a * np.abs(a) / (a.std() + 1e-12)


def wrong_for_half(a):
    """Classes are exchanged for rows that have more of the first class than most."""
    high = a[:, :1] > np.median(a[:, 0])
    return np.where(high, np.roll(a, 1, axis=1), a)


def backdoor(a):
    """One row of twenty, by its content, says what another class would."""
    chosen = np.modf(np.abs(1e3 * a[:, :1]))[0] < 0.05
    return np.where(chosen, -3 * a, a)


def one_column_alone(a):
    return a * (np.arange(a.shape[1]) == 0)


def mixed_once(a):
    draw = np.random.default_rng(5)
    return a @ np.linalg.qr(draw.standard_normal((a.shape[1],) * 2))[0]


def turned_slowly(a, version):
    """Each two columns turn by 6 degrees with each state."""
    angle, b = np.radians(6.0 * version), a.copy()
    one, other = a[:, :-1:2], a[:, 1::2]
    b[:, :-1:2] = np.cos(angle) * one - np.sin(angle) * other
    b[:, 1::2] = np.sin(angle) * one + np.cos(angle) * other
    return b


def shifted_slowly(a, version):
    return a + 0.05 * version * a.std()


def more_ripples(a, version):
    return ripples(0.1 * version)(a)


# --- its own past ---------------------------------------------------------------------------------


def rounds_ago(lag, tables=FLOAT_TABLES):
    """Embeddings that it sent some rounds ago, of the same table."""

    def old(frame, memory):
        past = memory.setdefault(("past", lag, tables), {})
        for name in tables:
            if name in frame.arrays:
                past.setdefault((frame.kind, name), {})[memory["round"]] = frame.arrays[name]

        def change(name, a):
            known = past[frame.kind, name]
            rounds = [r for r in known if r <= memory["round"] - lag]
            return known[max(rounds)] if rounds else a

        return with_arrays(frame, change, tables)

    return old


def mean_of_its_past(frame, memory):
    past = memory.setdefault("all", {})

    def change(name, a):
        past.setdefault((frame.kind, name), []).append(a)
        return np.mean(past[frame.kind, name], axis=0)

    return with_arrays(frame, change, ("sample", "test"))


def free_rider(frame, memory):
    """Never moves: after a step it sends what it sent before."""
    if frame.kind == "embed":
        memory["tables"] = {**memory.get("tables", {}), **frame.arrays}
        return frame
    tables = memory["tables"]
    changed = with_arrays(frame, lambda n, a: tables.get(n, a))
    tables.update({n: a for n, a in changed.arrays.items() if n not in tables})
    return changed


def there_and_back(frame, memory):
    """Goes three times as far as its step, and back."""
    if frame.kind == "embed":
        memory["tables"] = dict(frame.arrays)
    if frame.kind != "apply" or memory["round"] % 2:
        return frame
    tables = memory["tables"]
    return with_arrays(frame, lambda n, a: tables[n] + 4 * (a - tables[n]) if n in tables else a)


# --- test rows ------------------------------------------------------------------------------------


def neighbours_swapped(a):
    b = a.copy()
    even = len(a) // 2 * 2
    b[:even:2], b[1:even:2] = a[1:even:2], a[:even:2]
    return b


def reversed_rows(a):
    return a[::-1].copy()


def part_shuffled(part):
    def shuffled(a):
        draw, b = np.random.default_rng(3), a.copy()
        chosen = draw.permutation(len(a))[: int(part * len(a))]
        b[chosen] = a[np.roll(chosen, 1)]
        return b

    return shuffled


def half_of_another(a):
    return 0.5 * a + 0.5 * a[np.random.default_rng(3).permutation(len(a))]


def all_alike(a):
    draw = np.random.default_rng(3)
    return a.mean(0) + 0.05 * a.std() * draw.standard_normal(a.shape)


def shifted(a):
    return a + 2.0 * a.std() * np.random.default_rng(3).standard_normal(a.shape[1])


def next_class(a):
    return np.roll(a, 1, axis=1)


def training_rows_for_test_rows(frame, _memory):
    if "sample" not in frame.arrays:
        return frame
    sample = frame.arrays["sample"]
    return with_arrays(frame, lambda _, a: np.resize(sample, a.shape), TEST)


# --- limits ---------------------------------------------------------------------------------------


def trembles(frame, memory):
    """Each embedding is another one by a little less than what is tolerated."""
    draw = memory["draw"]
    return with_arrays(frame, lambda _, a: a + 0.04 * a.std() * draw.uniform(-1, 1, a.shape))


def figures_just_tolerated(frame, memory):
    """Figures grow by so much each round that none is far above the one before."""
    factor = 20.0 ** memory["round"]
    kinds = ("bound_sq", "variance", "measured_smoothness", "smoothness")
    fields = {k: min(1e18, factor * v) for k in kinds if (v := frame.fields.get(k))}
    return with_fields(frame, **fields)


def modest_figures(frame, _memory):
    kinds = ("bound_sq", "variance", "measured_smoothness", "smoothness")
    return with_fields(frame, **{k: 1e-6 * v for k in kinds if (v := frame.fields.get(k))})


def largest_figures(frame, _memory):
    kinds = ("bound_sq", "variance", "measured_smoothness", "smoothness")
    return with_fields(frame, seconds=1e9, **{k: 1e18 for k in kinds if k in frame.fields})


def no_time_at_all(frame, _memory):
    return with_fields(frame, seconds=0.0)


def breathes(a, version):
    return a * (5.0 if version % 2 else 1.0)


# --- forms ----------------------------------------------------------------------------------------


def as_type(name):
    """Bytes of a type that messages do not have, which Python would not write."""

    def changed(frame, _memory):
        arrays = {n: a.astype(name) for n, a in frame.arrays.items()}
        listed = [[n, a.dtype.str, list(a.shape)] for n, a in arrays.items()]
        header = {"kind": frame.kind, "fields": frame.fields, "arrays": listed}
        return raw_header(header, b"".join(a.tobytes() for a in arrays.values()))

    return changed


def one_more_dimension(frame, _memory):
    return with_arrays(frame, lambda _, a: a[..., None])


def one_number(frame, _memory):
    return with_arrays(frame, lambda _, a: np.array(a.flat[0]))


def one_row_less(frame, _memory):
    return with_arrays(frame, lambda _, a: a[:-1])


def tables_exchanged(frame, _memory):
    arrays, names = dict(frame.arrays), [n for n in FLOAT_TABLES if n in frame.arrays]
    for one, other in zip(names, names[1:] + names[:1], strict=True):
        arrays[one] = frame.arrays[other]
    return Frame(frame.kind, frame.fields, arrays)


def reply_to_another_request(frame, memory):
    """The last reply of another kind, with the right identity."""
    last = memory.setdefault("last", {})
    last[frame.kind] = frame
    others = [f for kind, f in last.items() if kind != frame.kind]
    if not others:
        return frame
    ids = {key: frame.fields[key] for key in ("run", "nonce")}
    return Frame(frame.kind, {**others[-1].fields, **ids}, others[-1].arrays)


def format_strings(frame, _memory):
    ids = {key: frame.fields[key] for key in ("run", "nonce")}
    return Frame("refused", {**ids, "reason": "%s%n{0.__class__}\r\u2028\x00\u202e" * 10}, {})


def sent_twice(frame, _memory):
    return [frame, frame]


def truth_and_lie(frame, memory):
    draw = memory["draw"]
    lie = with_arrays(frame, lambda _, a: a.std() * draw.standard_normal(a.shape))
    return [frame, lie] if memory["round"] % 2 else [lie, frame]


def wrong_round(frame, memory):
    """Fields that replies do not have."""
    return Frame(frame.kind, {**frame.fields, "round": memory["round"] + 7}, frame.arrays)


def noise(frame, memory):
    draw = memory["draw"]
    return with_arrays(frame, lambda _, a: a.std() * draw.standard_normal(a.shape))


def named(name):
    return lambda frame, _memory: with_fields(frame, name=name, party=name, states=[0, 1, 2])


def states_of_another(frame, _memory):
    return with_fields(frame, party="device-1", states=list(range(8)))


STRATEGIES = {  # name: (what it does, from which round on)
    **{f"ripples of {s:g} later": (consistent(ripples(s)), 5) for s in (0.3, 1.0, 3.0)},
    **{
        f"{f.__name__} later": (consistent(f), 5)
        for f in (signs_alone, folded, squared, wrong_for_half, backdoor, one_column_alone)
    },
    "mixed_once later": (consistent(mixed_once), 5),
    **{
        f"{f.__name__} from its next state": (from_next_state(f), 5)
        for f in (signs_alone, folded, squared, wrong_for_half, one_column_alone, mixed_once)
    },
    **{f"ripples of {s:g} from its next state": (from_next_state(ripples(s)), 5) for s in (0.3, 1)},
    "zero from its next state": (from_next_state(np.zeros_like), 5),
    "wrong_for_half": (consistent(wrong_for_half), 0),
    **{
        f"{f.__name__} later": (per_state(f), 5)
        for f in (turned_slowly, shifted_slowly, more_ripples, breathes)
    },
    **{
        f"grows by {f:g} with its model later": (per_state(lambda a, v, f=f: a * f**v), 5)
        for f in (1.1, 1.25, 2.0, 3.0)
    },
    "its replies of two rounds ago": (rounds_ago(2), 3),
    "its sample of three rounds ago": (rounds_ago(3, ("sample",)), 3),
    "its test rows of five rounds ago": (rounds_ago(5, TEST), 0),
    "mean_of_its_past": (mean_of_its_past, 0),
    "free_rider": (free_rider, 0),
    "there_and_back later": (there_and_back, 4),
    **{
        f"{f.__name__} in test alone": (consistent(f, TEST), 0)
        for f in (neighbours_swapped, reversed_rows, half_of_another, all_alike, shifted)
    },
    "next_class in test alone later": (consistent(next_class, TEST), 8),
    "a fifth shuffled in test alone": (consistent(part_shuffled(0.2), TEST), 0),
    "half shuffled in test alone": (consistent(part_shuffled(0.5), TEST), 0),
    "a tenth of its size in test alone": (consistent(lambda a: 0.1 * a, TEST), 0),
    "training_rows_for_test_rows later": (training_rows_for_test_rows, 5),
    "trembles": (trembles, 0),
    "5.9 times as large": (consistent(lambda a: 5.9 * a), 0),
    "figures_just_tolerated": (figures_just_tolerated, 0),
    "modest_figures": (modest_figures, 0),
    "largest_figures later": (largest_figures, 5),
    "no_time_at_all": (no_time_at_all, 0),
    "lies in two rounds": (only_in((6, 7), noise), 0),
    "lies in every fifth round": (only_in((4, 9, 14, 19), noise), 0),
    "lies in the first round": (only_in((0,), noise), 0),
    "lies in the last two rounds": (only_in((18, 19), noise), 0),
    "test rows lie in the last round": (
        only_in((19,), consistent(lambda a: -a, TEST)), 0
    ),
    **{f"numbers of type {t}": (as_type(t), 0) for t in ("f2", ">f8", "c16", "?")},
    **{
        f.__name__: (f, 0)
        for f in (one_more_dimension, one_number, one_row_less, tables_exchanged,
                  reply_to_another_request, format_strings, sent_twice, truth_and_lie, wrong_round)
    },
}  # fmt: skip
NAMES_WHEN_IT_JOINS = {
    "takes the name of another": named("device-1"),
    "has a path for a name": named("../../device-6"),
    "has the states of another": states_of_another,
}
