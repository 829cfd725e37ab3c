"""Send random messages to a server and to a device, and print memory before and after.

    python benchmarks/fuzz_messages.py --messages 200000

A message is random bytes, a genuine one with some bytes changed or with a number that JSON allows
and Python does not expect, or well-formed with fields and arrays that are not what they should be.
Half of them are replies that the server reads, half are requests that a device answers. Nothing may
be raised but what `incoming_messages` says.
"""

from __future__ import annotations

import argparse
import re
import resource
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from scdn.federation.device_client import DeviceClient
from scdn.federation.messages import SCHEMAS, VERSION
from scdn.federation.messenger import Messenger, Node, RawReply, Request
from scdn.federation.row_alignment import KeyedFeatures, hash_keys, table_view
from scdn.federation.wire_format import MAGIC, Frame, decode, encode

ROWS, WIDTH = 40, 3
VALUES: list[Any] = [None, True, -1, 0, 1, 2**40, 2**200, 1e300, 0.5, "", "a", "\ud800", "x" * 500]
VALUES += [[], [1] * 9, {}, {"hidden": 400_000}, {"batch_size": 2**40}, {"model": "os:system"}]
TEXTS = [b"1e400", b"-1e999", b"1" + b"0" * 5000, b"-0.0", b"5e-324", b"[" * 2000, b"NaN", b'""']
TEXTS += [b'1, "nonce": "x"', b'{"a": ' * 3000 + b"1" + b"}" * 3000, b'"\\ud800"', b"tru", b"[[]]"]
SHAPES = [(), (0,), (1,), (3, WIDTH), (0, 2**27), (ROWS, WIDTH), (20, 16), (1, 1, 1, 1)]


class Fuzzer:
    """Makes messages: mostly genuine ones with something changed."""

    def __init__(self, seed: int) -> None:
        self.draw = np.random.default_rng(seed)

    def message(self, genuine: Frame) -> bytes:
        """Return the bytes of a message that is somehow like this one."""
        choice = self.draw.random()
        if choice < 0.05:
            return self.draw.bytes(int(self.draw.integers(0, 300)))
        raw = self._encode(genuine if choice < 0.1 else self._changed(genuine))
        if choice < 0.3:
            changed = bytearray(raw)
            for _ in range(int(self.draw.integers(1, 6))):
                changed[int(self.draw.integers(len(changed)))] = int(self.draw.integers(256))
            raw = bytes(changed[: int(self.draw.integers(len(changed) + 1))])
        elif choice < 0.4 and raw:
            raw = self._with_text(raw)
        return raw

    def _with_text(self, raw: bytes) -> bytes:
        """Replace a value in the header by any text."""
        start = len(MAGIC) + 4
        size = int.from_bytes(raw[len(MAGIC) : start], "big")
        header, text = raw[start : start + size], self._one(TEXTS)
        values = list(re.finditer(rb'": ([^,}\]]+)', header))
        if not values:
            return raw
        place = self._one(values)
        header = header[: place.start(1)] + text + header[place.end(1) :]
        return MAGIC + len(header).to_bytes(4, "big") + header + raw[start + size :]

    def _changed(self, frame: Frame) -> Frame:
        fields, arrays, kind = dict(frame.fields), dict(frame.arrays), frame.kind
        for _ in range(int(self.draw.integers(1, 3))):
            match self.draw.integers(4):
                case 0 if fields:
                    fields[self._one(list(fields))] = self._one(VALUES)
                case 1:
                    arrays[self._one([*arrays, "drawn", "keys", "x"])] = self._array()
                case 2 if arrays:
                    del arrays[self._one(list(arrays))]
                case 3:
                    kind = self._one([*SCHEMAS, "refused", "\ud800", "x" * 99])
        return Frame(kind, fields, arrays)

    def _array(self) -> Any:
        shape = self._one(SHAPES)
        scale = self._one([0.0, 1.0, 1e6, 1e38, 1e300])
        values = np.zeros(shape) if 0 in shape else scale * self.draw.standard_normal(shape)
        with np.errstate(all="ignore"):
            return np.asarray(values).astype(self._one(["f4", "f8", "i8", "u1"]))

    def _one(self, choices: list[Any]) -> Any:
        return choices[int(self.draw.integers(len(choices)))]

    def _encode(self, frame: Frame) -> bytes:
        try:
            return encode(frame)
        except (TypeError, ValueError):  # no JSON
            return b""


def make_device() -> DeviceClient:
    """Return a device with some rows."""
    keys = [str(n) for n in range(ROWS)]
    values = np.random.default_rng(0).normal(size=(ROWS, 4))
    features = KeyedFeatures(keys, values, table_view(4), (4,), False, 0, tuple("abcd"))
    return DeviceClient("device", features)


def genuine_requests() -> list[Frame]:
    """Return the requests of one round, in order."""
    rows, ids = hash_keys([str(n) for n in range(ROWS)], ""), {"run": "r", "nonce": "n"}
    party = {"name": "a", "seed": 0, "task": "classification", "width": WIDTH, "steps": 1}
    learning = {"batch_size": 4, "hidden": 8}
    plan = {"rate": 0.1, "optimizer": "sgd", "optimizer_value": 0.0, "iterations": 1.0}
    plan |= {"power_w": 0.1, "cpu_hz": 1e9, "steps": 1, "step_length": None, "table_part": None}
    at = {**ids, "round": 0, "base": 0}
    return [
        Frame("hello", {**ids, "version": VERSION, "salt": ""}),
        Frame(
            "join",
            {**ids, **party, "label": "", "learning": learning},
            {"train": rows[:30], "test": rows[30:], "sample": np.arange(5)},
        ),
        Frame("embed", {**at, "number_bits": 32}),
        Frame("train", {**at, "state": 1, **plan}, {"gradients": np.zeros((4, WIDTH))}),
        Frame("apply", {**ids, "base": 0, "state": 1, "step_length": 0.5}),
        Frame("report", {**at, "number_bits": 32}),
        Frame("predict", {**ids, "base": 0}, {"keys": rows[:3]}),
    ]


class FuzzedNetwork:
    """A `Transport` to one device, whose replies are fuzzed."""

    def __init__(self, fuzzer: Fuzzer) -> None:
        self.fuzzer, self.replies = fuzzer, {}
        self.device = make_device()
        self.count = 0

    def nodes(self) -> list[Node]:
        """Return the one node."""
        return [Node(1, "", 1e12)]

    def push(self, node: int, raw: bytes, _lasts_s: float) -> str:
        """Let the device answer, and change what it says."""
        self.count += 1
        reply = decode(self.device.answer(raw))
        self.replies[str(self.count)] = RawReply(str(self.count), node, self.fuzzer.message(reply))
        return str(self.count)

    def pull(self, message_ids: Any) -> list[RawReply]:
        """Return the replies to these messages."""
        return [self.replies.pop(id_) for id_ in message_ids if id_ in self.replies]


def fuzz_server(fuzzer: Fuzzer, messages: int) -> Counter[str]:
    """Let a server ask a device whose replies are fuzzed."""
    network, outcomes, log = FuzzedNetwork(fuzzer), Counter(), []
    messenger = Messenger(network, "r", 5.0, log=log.append, sleep=lambda _: None)
    requests = genuine_requests()
    for number in range(messages):
        frame = requests[number % len(requests)]
        fields = {k: v for k, v in frame.fields.items() if k not in ("run", "nonce")}
        messenger.banned_nodes.clear()
        messenger.node_of["a"] = 1
        replies = messenger.ask({"a": Request(frame.kind, fields, frame.arrays, {"w": WIDTH})})
        outcomes["accepted" if replies else "dropped"] += 1
        if not all(line.isprintable() for line in log):
            raise SystemExit(f"not escaped: {log!r}")
        log.clear()
        messenger.traffic.clear()
    return outcomes


def fuzz_device(fuzzer: Fuzzer, messages: int) -> Counter[str]:
    """Let a device answer fuzzed requests."""
    device, outcomes, requests = make_device(), Counter(), genuine_requests()
    log: list[str] = []
    device.log = log.append
    for number in range(messages):
        if number % 50 == 0:  # so that messages after `join` mean something
            for frame in requests[:3]:
                device.answer(encode(frame))
        reply = decode(device.answer(fuzzer.message(requests[number % len(requests)])))
        outcomes["refused" if reply.kind == "refused" else "answered"] += 1
        if not all(line.isprintable() for line in log):
            raise SystemExit(f"not escaped: {log!r}")
        log.clear()
    return outcomes


def memory() -> SimpleNamespace:
    """Return the memory of this process now, and at its peak, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return SimpleNamespace(now=pages * resource.getpagesize() / 2**20, peak=peak)


def main() -> None:
    """Fuzz both sides and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    fuzzer = Fuzzer(options.seed)
    fuzz_server(fuzzer, 200)  # loads everything
    fuzz_device(fuzzer, 200)
    for name, fuzz in (("server", fuzz_server), ("device", fuzz_device)):
        before, began = memory(), time.monotonic()
        outcomes = fuzz(fuzzer, options.messages // 2)
        after, took = memory(), time.monotonic() - began
        counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
        print(f"{name}: {options.messages // 2} messages in {took:.0f} s: {counts}")
        print(
            f"{name}: {before.now:.0f} MB before, {after.now:.0f} MB after, peak {after.peak:.0f}"
        )


if __name__ == "__main__":
    main()
