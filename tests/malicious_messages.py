"""Messages of malicious devices that cannot be read, or whose fields are not what they should be.

Each is a function of (reply, memory of the device), as in `malicious_behaviours.py`.
"""

from __future__ import annotations

import json

import numpy as np

from scdn.federation.wire_format import MAGIC, MAX_BYTES, Frame, encode

FLOAT_TABLES = ("drawn", "held_out", "sample", "table", "test")


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


def too_large_for_a_float(frame, _memory):
    return _with_seconds(frame, b"1e400")


def thousands_of_digits(frame, _memory):
    return _with_seconds(frame, b"1" + b"0" * 5000)


def _with_seconds(frame, number):
    """JSON with a number that Python would not write."""
    raw = encode(with_fields(frame, seconds=0.125))
    size = int.from_bytes(raw[len(MAGIC) : len(MAGIC) + 4], "big")
    start = len(MAGIC) + 4
    header = raw[start : start + size].replace(b'"seconds": 0.125', b'"seconds": ' + number)
    return raw_header(header, raw[start + size :])


def duplicate_keys(frame, _memory):
    """The last of two fields of one name says that it diverged."""
    fields = json.dumps(frame.fields)[:-1].encode() + b', "nonce": "x", "diverged": true}'
    kind = json.dumps(frame.kind).encode()
    return raw_header(b'{"kind": "hello", "kind": %s, "fields": %s, "arrays": []}' % (kind, fields))


def deep_field(_frame, _memory):
    nested = b'{"a": ' * 50_000 + b"1" + b"}" * 50_000
    return raw_header(b'{"kind": "embed", "fields": %s, "arrays": []}' % nested)


def whole_numbers(frame, _memory):
    return with_arrays(frame, lambda _, a: a.astype("i8"))


def bytes_for_numbers(frame, _memory):
    return with_arrays(frame, lambda _, a: np.zeros(a.shape, "u1"))


def transposed(frame, _memory):
    return with_arrays(frame, lambda _, a: np.ascontiguousarray(a.T))


def no_rows(frame, _memory):
    return with_arrays(frame, lambda _, a: a[:0])


def trailing_bytes(frame, _memory):
    return encode(frame) + b"0" * 100


def long_text(frame, _memory):
    ids = {key: frame.fields[key] for key in ("run", "nonce")}
    return Frame("refused", {**ids, "reason": "\u202e" * 100_000}, {})


def unknown_fields(frame, _memory):
    return Frame(frame.kind, {**frame.fields, "__class__": "os", "state": 99}, frame.arrays)


def wrong_types(frame, _memory):
    return with_fields(frame, seconds=True, smoothness="1", diverged="no", bound_sq=[1.0])


def negative_seconds(frame, _memory):
    return with_fields(frame, seconds=-1e9, bound_sq=-1.0, variance=-1.0)


def another_nonce(frame, _memory):
    return with_fields(frame, nonce="0" * 16)


def another_run(frame, _memory):
    return with_fields(frame, run="f" * 16)


def another_kind(frame, _memory):
    return Frame("hello" if frame.kind == "embed" else "embed", frame.fields, frame.arrays)


def larger_than_any_message(_frame, _memory):
    return bytes(MAX_BYTES + 1)


def not_a_number_late(frame, memory):
    """One number of the test rows alone, in every third message."""
    memory["count"] = memory.get("count", 0) + 1
    if memory["count"] % 3 or "test" not in frame.arrays:
        return frame
    raw = bytearray(encode(frame))
    size = frame.arrays["test"].dtype.itemsize
    raw[-size:] = np.array(np.nan, frame.arrays["test"].dtype).tobytes()
    return bytes(raw)


def flipped_bytes(frame, memory):
    """Some bytes are others, in names or in numbers."""
    raw = bytearray(encode(frame))
    for place in memory["draw"].integers(len(raw), size=3):
        raw[place] ^= 1 << int(memory["draw"].integers(8))
    return bytes(raw)


UNREADABLE = (
    random_bytes, huge_empty_array, surrogate_in_kind, surrogate_in_reason, deep_header,
    huge_integer, no_arrays, replayed, not_a_number, oversized, too_large_for_a_float,
    thousands_of_digits, duplicate_keys, deep_field, whole_numbers, bytes_for_numbers, transposed,
    no_rows, trailing_bytes, long_text, unknown_fields, wrong_types, negative_seconds,
    another_nonce, another_run, another_kind, larger_than_any_message, not_a_number_late,
    flipped_bytes,
)  # fmt: skip
