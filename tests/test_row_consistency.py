"""Embeddings of test rows follow from others' as those of training rows do, or are lies."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from scdn.federation.remote_party import RemoteParty
from scdn.federation.row_consistency import (
    MIN_ROWS,
    find_inconsistent,
    find_inconsistent_held_out,
)

NAMES = ("a", "b", "c", "d")


def embeddings(rows, shift=0.0, seed=0):
    """Four views of the same rows, with noise of their own; test rows may be of other days."""
    draw = np.random.default_rng(seed)
    common = draw.normal(size=(rows, 3)) + shift
    return {
        name: torch.from_numpy(
            common @ np.random.default_rng(n).normal(size=(3, 4))
            + 0.5 * draw.normal(size=(rows, 4))
        )
        for n, name in enumerate(NAMES)
    }


def inconsistent(names, samples, tests):
    return find_inconsistent(
        names, {n: RemoteParty(1, 0, 0.0, samples[n], tests[n]) for n in samples}
    )


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_honest_devices_are_consistent(shift):
    assert inconsistent(NAMES, embeddings(400), embeddings(200, shift, 1)) == {}


LIES = {
    "shuffled": lambda t: t[torch.randperm(len(t), generator=torch.Generator().manual_seed(0))],
    "negated": lambda t: -t,
    "constant": lambda t: t[:1].expand_as(t),
    "noise": lambda t: torch.randn(t.shape, generator=torch.Generator().manual_seed(0)).double(),
    "too large": lambda t: 5 * t,
    "too small": lambda t: 0.1 * t,
    "half of another row": lambda t: 0.5 * (t + t.roll(1, 0)),
    "half of the rows exchanged": lambda t: torch.cat([t[:100].roll(1, 0), t[100:]]),
    "a third of the rows exchanged": lambda t: torch.cat([t[:67].roll(1, 0), t[67:]]),
    "classes exchanged": lambda t: t.roll(1, 1),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_about_test_rows_is_found_and_nobody_else_is_blamed(lie):
    samples, tests = embeddings(400), embeddings(200, seed=1)
    tests["c"] = LIES[lie](tests["c"])
    assert inconsistent(NAMES, samples, tests).keys() == {"c"}
    assert inconsistent(["a", "b", "d"], samples, tests) == {}


@pytest.mark.parametrize("lie", ["shuffled", "negated", "constant", "noise"])
def test_a_device_that_is_right_where_it_trains_alone_is_found(lie):
    drawn, held_out = embeddings(640), embeddings(128, seed=1)
    sent = {name: {"drawn": drawn[name], "held_out": held_out[name]} for name in NAMES}
    assert find_inconsistent_held_out(sent) == {}
    sent["c"]["held_out"] = LIES[lie](held_out["c"])
    assert find_inconsistent_held_out(sent).keys() == {"c"}
    sent["c"]["drawn"] = LIES[lie](drawn["c"])  # a device without information, or with signs of its
    assert find_inconsistent_held_out(sent) == {}  # own, has the same everywhere


def test_rows_held_out_are_judged_only_where_they_are_sent():
    drawn = embeddings(640)
    assert find_inconsistent_held_out({name: {"held_out": drawn[name]} for name in NAMES}) == {}
    assert find_inconsistent_held_out({}) == {}


def test_devices_that_have_nothing_in_common_are_not_judged():
    draw = torch.Generator().manual_seed(0)
    samples, tests = (
        {name: torch.randn(rows, 4, generator=draw) for name in NAMES} for rows in (400, 200)
    )
    assert inconsistent(NAMES, samples, tests) == {}


def test_a_few_rows_that_decide_are_no_evidence():
    """A column that is mostly zero: its largest rows happen to be in one part of the rows."""
    samples, tests = embeddings(400), embeddings(200, seed=1)
    rare = 50.0 * torch.ones(4, dtype=torch.float64)
    for name in ("a", "c"):
        samples[name][[3, 10]] += rare  # in both devices, and of test rows in one alone
    tests["c"][7] += rare
    assert inconsistent(NAMES, samples, tests) == {}


def test_a_column_that_is_constant_in_the_sample_is_no_evidence():
    """A pixel at the edge: black in all of the sample, and not in two of 200 test rows."""
    samples, tests = embeddings(400), embeddings(200, seed=1)
    samples["c"], tests["c"] = (torch.zeros_like(tables["c"]) for tables in (samples, tests))
    samples["c"][3], tests["c"][[7, 9]] = 1e-6, 1.0
    assert inconsistent(NAMES, samples, tests) == {}


def test_few_rows_or_devices_are_not_judged():
    samples, tests = embeddings(400), embeddings(MIN_ROWS - 1, seed=1)
    tests["c"] = -tests["c"]
    assert inconsistent(NAMES, samples, tests) == {}
    two = {name: samples[name] for name in NAMES[:2]}
    assert inconsistent(NAMES[:2], two, {n: -t[:100] for n, t in two.items()}) == {}
