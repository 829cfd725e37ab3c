"""Smoothness: norms equal those of dense matrices, and their product bounds measured slopes."""

from __future__ import annotations

import pytest
import torch
from conftest import many
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.func import jacrev, stack_module_state
from torch.nn import functional

from scdn.errors import InputError
from scdn.learning.models import AlexNet, Cnn, MaskedMlp, Mlp
from scdn.learning.smoothness import global_smoothness, loss_curvature, party_smoothness


def stacked(modules):
    parameters, _ = stack_module_state(modules)
    return {name: parameter.detach() for name, parameter in parameters.items()}


def norm_of(module, shape):
    """Return the product of the norms of one model."""
    return float(party_smoothness(module, stacked([module]), shape, 1.0)[0]) ** 0.5


def dense_norm(layer, shape):
    """Return the norm of a layer's dense matrix."""

    def linear(rows):
        return (layer(rows[None]) - layer(torch.zeros_like(rows)[None])).flatten()

    matrix = jacrev(linear)(torch.zeros(shape, dtype=torch.float64)).detach().flatten(1)
    return float(torch.linalg.matrix_norm(matrix, 2))


@st.composite
def convolutions(draw):
    groups = draw(st.integers(1, 2))
    kernel = draw(st.tuples(st.integers(1, 3), st.integers(1, 4)))
    stride = draw(st.integers(1, 3))
    padding = draw(st.sampled_from([0, 1, (0, 2), "valid", *(["same"] if stride == 1 else [])]))
    dilation = draw(st.integers(1, 2))
    shape = (groups * draw(st.integers(1, 2)), draw(st.integers(7, 9)), draw(st.integers(7, 9)))
    torch.manual_seed(draw(st.integers(0, 10**6)))
    outputs = groups * draw(st.integers(1, 3))
    options = {"padding": padding, "dilation": dilation, "groups": groups}
    return nn.Conv2d(shape[0], outputs, kernel, stride, **options).double(), shape


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@given(convolutions())
def test_a_convolutions_norm_approaches_its_matrix_norm_from_below(case):
    layer, shape = case
    dense, norm = dense_norm(layer, shape), norm_of(layer, shape)
    assert norm <= dense * (1 + 1e-12)
    assert norm == pytest.approx(dense, rel=1e-4)


def test_a_partys_norm_does_not_depend_on_its_stack():
    torch.manual_seed(0)
    modules = [Cnn((1, 28, 28), 2) for _ in range(3)]
    with torch.no_grad():
        for parameter in modules[1].parameters():
            parameter.mul_(100)
    together = party_smoothness(modules[0], stacked(modules), (1, 28, 28), 1.0)
    for module, value in zip(modules, together, strict=True):
        alone = party_smoothness(module, stacked([module]), (1, 28, 28), 1.0)[0]
        torch.testing.assert_close(value, alone, rtol=1e-4, atol=0)
    assert together.dtype == torch.float64


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 10**6))
def test_a_linear_layers_norm_is_exact(inputs, outputs, seed):
    torch.manual_seed(seed)
    layer = nn.Linear(inputs, outputs).double()
    assert norm_of(layer, (inputs,)) == pytest.approx(dense_norm(layer, (inputs,)), rel=1e-9)


def test_a_masked_model_has_the_norm_of_the_full_one():
    torch.manual_seed(0)
    small = MaskedMlp(torch.tensor([4, 0]), 9, 3)
    full = Mlp(9, 3)
    full.load_state_dict({k: v for k, v in small.state_dict().items() if k != "0.columns"})
    assert norm_of(small, (2,)) == norm_of(full, (9,))


def network(seed):
    """Return a model with layers of many kinds."""
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(2, 3, 3, stride=2, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2),
        nn.Conv2d(3, 4, 2), nn.ReLU(), nn.Dropout(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3),
    ).double().eval()  # fmt: skip


@pytest.mark.parametrize("seed", range(many(50)))
def test_the_product_bounds_measured_slopes(seed):
    module = network(seed)
    bound = norm_of(module, (2, 13, 13)) ** 2 * (1 + 1e-9)
    one = torch.randn(200, 2, 13, 13, dtype=torch.float64)
    with torch.no_grad():
        for distance in (1e-3, 1.0):
            other = one + distance * torch.randn_like(one)
            moved = (module(one) - module(other)).norm(dim=1)
            assert ((moved / (one - other).flatten(1).norm(dim=1)) ** 2 <= bound).all()
    for row in one[:5]:  # the steepest direction at a point
        slopes = jacrev(lambda at: module(at[None])[0])(row).detach().flatten(1)
        assert float(torch.linalg.matrix_norm(slopes, 2)) ** 2 <= bound


def test_overlapping_pools_can_repeat_an_entry():
    pool = nn.MaxPool2d(3, 2)
    probe = nn.Sequential(nn.Conv2d(1, 1, 1, bias=False), pool)
    nn.init.ones_(probe[0].weight)
    spike = torch.zeros(1, 1, 5, 5)
    spike[0, 0, 2, 2] = 1  # in all four windows
    assert float(pool(spike).norm()) == 2
    assert norm_of(probe, (1, 5, 5)) == pytest.approx(2)
    assert norm_of(probe, (1, 4, 4)) == pytest.approx(1)  # one window only
    for apart in (nn.MaxPool2d(2), nn.MaxPool2d(2, 3)):
        assert norm_of(nn.Sequential(probe[0], apart), (1, 8, 8)) == pytest.approx(1)


def test_an_alexnet_has_a_finite_norm_and_is_not_changed():
    torch.manual_seed(0)
    module = AlexNet((3, 64, 64), 10)
    module.train()
    state = torch.random.get_rng_state()
    parameters = stacked([module])
    first = party_smoothness(module, parameters, (3, 64, 64), 0.5)
    assert torch.isfinite(first).all()
    assert torch.equal(first, party_smoothness(module.to("meta"), parameters, (3, 64, 64), 0.5))
    assert module.training
    assert not any(layer._forward_hooks for layer in module)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_a_layer_used_twice_counts_twice():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, rows):
            return self.layer(self.layer(rows))

    module = Twice()
    assert norm_of(module, (3,)) == pytest.approx(norm_of(module.layer, (3,)) ** 2)


def test_zero_or_infinite_weights_of_one_party_affect_no_other():
    modules = [nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(18, 2)) for _ in range(4)]
    with torch.no_grad():
        modules[1][0].weight.zero_()
        modules[2][0].weight[0] = torch.nan
        modules[3][2].bias[0] = torch.inf
    constants = party_smoothness(modules[0], stacked(modules), (1, 5, 5), 1.0)
    assert (
        constants.tolist()
        == [pytest.approx(norm_of(modules[0], (1, 5, 5)) ** 2), 0.0] + [float("inf")] * 2
    )


def test_weights_too_large_to_be_squared_give_infinity():
    modules = [nn.Linear(3, 2).double() for _ in range(2)]
    with torch.no_grad():
        modules[1].weight.fill_(1e200)
    constants = party_smoothness(modules[0], stacked(modules), (3,), 1.0)
    assert constants.tolist() == [pytest.approx(norm_of(modules[0], (3,)) ** 2), float("inf")]


@pytest.mark.parametrize(
    ("module", "shape", "words"),
    [
        (nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4)), (4,), "layer 1: a LayerNorm"),
        (nn.PReLU(), (4,), r"layer \(top\): a PReLU"),
        (
            nn.Sequential(nn.Conv2d(1, 1, 3, padding=1, padding_mode="circular")),
            (1, 4, 4),
            "layer 0: a Conv2d",
        ),
    ],
)
def test_an_unknown_layer_is_refused(module, shape, words):
    with pytest.raises(InputError, match=words):
        norm_of(module, shape)


@given(st.lists(st.floats(-20, 20), min_size=2, max_size=6), st.integers(0, 5))
def test_loss_curvature_bounds_the_second_derivative(logits, label):
    target = torch.tensor(label % len(logits))
    point = torch.tensor(logits, dtype=torch.float64)
    # Reverse mode twice: forward mode still sets off a deprecation warning inside PyTorch.
    hessian = jacrev(jacrev(lambda at: functional.cross_entropy(at, target)))(point)
    assert float(torch.linalg.matrix_norm(hessian, 2)) <= loss_curvature("classification") + 1e-12
    assert loss_curvature("classification") < loss_curvature("regression") == 1  # the paper: c ≤ 1


def test_global_smoothness_is_the_fusion_models_norms_times_the_largest():
    assert global_smoothness(3.0, torch.tensor([1.0, 5.0, 2.0])) == 45
