"""Outputs that rely on labels of training rows do not carry over to test rows, and tell by whom."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from scdn.federation.linear_fit import fits_without
from scdn.federation.output_consistency import Outputs, find_misleading

CLASSES = 5


def views(rows, names, draw):
    """Classes of rows, and what each device sees of them: their means, with noise of its own."""
    labels = torch.randint(CLASSES, (rows,), generator=draw)
    means = {n: torch.randn(CLASSES, 4, generator=torch.Generator().manual_seed(n)) for n in names}
    noise = {n: torch.randn(rows, 4, generator=draw) for n in names}
    return labels, {f"d{n}": means[n][labels] + noise[n] for n in names}


def federation(count, liar=None, right=0.0, seed=0, says_nothing=False):
    """Embeddings of training and test rows, and outputs of a model that relies on all of them.

    The liar adds the labels to its training rows. To test rows it adds right ones to such a part of
    them, others to the rest, or it says nothing there.
    """
    draw = torch.Generator().manual_seed(seed)
    names = range(count)
    labels, samples = views(1200, names, draw)
    truth, tests = views(600, names, draw)
    told = torch.where(torch.rand(600, generator=draw) < right, truth, (truth + 1) % CLASSES)
    for tables, classes in ((samples, labels), (tests, told)):
        for n, name in enumerate(tables):
            known = 3.0 * torch.nn.functional.one_hot(classes, CLASSES) * (n == liar)
            if says_nothing and tables is tests:
                known = torch.zeros_like(known)
            tables[name] = torch.cat([tables[name], known], 1)
    inputs = torch.cat(list(samples.values()), 1)
    products = inputs.T @ inputs + torch.eye(inputs.shape[1])
    one_hot = torch.nn.functional.one_hot(labels, CLASSES).float()
    weights = torch.linalg.solve(products, inputs.T @ one_hot)
    outputs = [(4 * torch.cat(list(t.values()), 1) @ weights).softmax(1) for t in (samples, tests)]
    return samples, tests, Outputs(*outputs)


@given(st.integers(4, 8), st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_honest_devices_do_not_mislead(count, seed):
    assert find_misleading(*federation(count, seed=seed)) == {}


@given(st.integers(4, 8), st.integers(0, 2), st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_the_device_that_tells_labels_is_found_and_nobody_else(count, liar, seed):
    assert find_misleading(*federation(count, liar, seed=seed)).keys() == {f"d{liar}"}


@pytest.mark.parametrize("liar", [0, 3])
def test_a_device_that_tells_labels_and_nothing_else_is_found(liar):
    """With more devices it matters less, with fewer those that are honest differ more."""
    assert find_misleading(*federation(6, liar, says_nothing=True)).keys() == {f"d{liar}"}


def test_a_device_that_is_right_on_test_rows_as_well_is_just_good():
    assert find_misleading(*federation(5, 2, right=1.0)) == {}


@pytest.mark.parametrize("count", [2, 3])
def test_of_few_devices_nobody_can_say_which(count):
    assert find_misleading(*federation(count, 0)) == {}


def test_outputs_that_are_all_alike_accuse_nobody():
    samples, tests, outputs = federation(4, 1)
    alike = Outputs(torch.full_like(outputs.sample, 0.2), torch.full_like(outputs.test, 0.2))
    assert find_misleading(samples, tests, alike) == {}


@pytest.mark.parametrize("left_out", [["d0"], ["d1", "d3"], []])
def test_a_fit_without_some_devices_is_that_of_the_others_alone(left_out):
    samples, tests, outputs = federation(4, 1)
    (fast,) = fits_without([left_out], samples, outputs.sample, tests, outputs.test)
    others = [name for name in samples if name not in left_out]
    slow = slow_correlations(others, samples, tests, outputs)
    assert (fast.training, fast.kept) == pytest.approx(slow, rel=1e-9)


def slow_correlations(others, samples, tests, outputs):
    """The correlation on training rows and the part that test rows keep, from the definition."""
    x, tx = (
        torch.cat([*(t[name] for name in others), torch.ones(len(t["d0"]), 1)], 1).double()
        for t in (samples, tests)
    )
    y, ty = outputs.sample.double(), outputs.test.double()
    told, test_told = torch.zeros_like(y), torch.zeros_like(ty)
    for half in (0, 1):
        products = x[half::2].T @ x[half::2]
        products += 1e-3 * products.diagonal().mean() * torch.eye(len(products))
        weights = torch.linalg.inv(products) @ x[half::2].T @ y[half::2]
        told[1 - half :: 2] = x[1 - half :: 2] @ weights
        test_told += tx @ weights / 2

    def correlation(one, other):
        pair = torch.stack([(t - t.mean(0)).flatten() for t in (one, other)])
        return float(pair[0] @ pair[1] / pair.norm(dim=1).prod())

    training = correlation(told, y)
    return training, correlation(test_told, ty) / training
