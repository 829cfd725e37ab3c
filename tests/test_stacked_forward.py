"""Forward passes of known layers and of stacks equal the modules themselves, and `vmap`."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

from scdn.learning import stacked_forward as stacked_forward_module
from scdn.learning.models import AlexNet, Cnn, MaskedMlp, Mlp
from scdn.learning.stacked_forward import single_forward, stacked_forward
from scdn.learning.tensors import TensorOptions

PARTIES, ROWS = 3, 4
CLOSE = {"rtol": 1e-12, "atol": 1e-12}


def masked(party, columns=9):
    order = torch.randperm(columns, generator=torch.Generator().manual_seed(party))
    return MaskedMlp(order[:6], columns, 5, hidden=7)


def shared_relu():
    relu = nn.ReLU()
    return nn.Sequential(nn.Linear(6, 7), relu, nn.Linear(7, 4), relu, nn.Linear(4, 5))


DIRECT = {
    "mlp": (lambda _: Mlp(6, 5, hidden=7), (6,)),
    "masked mlp": (masked, (6,)),
    "mlp of images": (lambda _: nn.Sequential(nn.Flatten(), *Mlp(6, 5)), (1, 2, 3)),
    "masked mlp of images": (lambda n: nn.Sequential(nn.Flatten(), *masked(n)), (1, 2, 3)),
    "a user's": (
        lambda _: nn.Sequential(
            nn.Linear(6, 7, bias=False), nn.ReLU(), nn.Sequential(nn.Linear(7, 4)), nn.ReLU(True),
            nn.Linear(4, 5),
        ),
        (6,),
    ),
    "lines of images": (
        lambda _: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Flatten(), nn.Linear(8, 5)),
        (1, 2, 3),
    ),
    "a relu that is used twice": (lambda _: shared_relu(), (6,)),
    "one layer": (lambda _: nn.Linear(6, 5), (6,)),
}  # fmt: skip
CALLED = {
    "cnn": (lambda _: Cnn((2, 28, 28), 5), (2, 28, 28)),
    "alexnet": (lambda _: AlexNet((1, 64, 64), 5), (1, 64, 64)),
}


def parties(make, shape):
    """Return modules, their stacked tensors, and rows for each."""
    torch.manual_seed(0)
    modules = [make(party).double() for party in range(PARTIES)]
    parameters, buffers = stack_module_state(modules)
    free = {name: p.detach().requires_grad_() for name, p in parameters.items()}
    return modules, free, buffers, torch.randn(PARTIES, ROWS, *shape, dtype=torch.float64)


def outcome(embeddings, parameters):
    """Return outputs, and gradients of a loss that weights every number differently."""
    weights = torch.linspace(1, 2, embeddings.numel(), dtype=embeddings.dtype)
    loss = (weights.view(embeddings.shape) * embeddings.square()).sum()
    return [embeddings.detach(), *torch.autograd.grad(loss, list(parameters))]


def assert_equals_modules(make, shape):
    modules, free, buffers, rows = parties(make, shape)
    result = outcome(
        stacked_forward(deepcopy(modules[0]).to("meta"))(free | buffers, rows), free.values()
    )

    def one(parameters, x):
        return functional_call(modules[0], parameters, (x,), tie_weights=False)

    expected = outcome(vmap(one)(free | buffers, rows), free.values())
    torch.testing.assert_close(result, expected, **CLOSE)
    outputs = torch.stack([module(x) for module, x in zip(modules, rows, strict=True)])
    parameters = [p for module in modules for p in module.parameters()]
    value, *slopes = outcome(outputs, parameters)
    torch.testing.assert_close(result[0], value, **CLOSE)
    for index, slope in enumerate(result[1:]):
        torch.testing.assert_close(slope, torch.stack(slopes[index :: len(free)]), **CLOSE)


@pytest.fixture
def calls(monkeypatch):
    """Collect the modules that were called through `functional_call`."""
    called = []

    def note(module, *args, **options):
        called.append(module)
        return functional_call(module, *args, **options)

    monkeypatch.setattr(stacked_forward_module, "functional_call", note)
    return called


@pytest.mark.parametrize("name", DIRECT)
def test_known_layers_compute_the_same_as_the_modules(name, calls):
    assert_equals_modules(*DIRECT[name])
    assert not calls


@pytest.mark.parametrize("least", [0, 10**9])
@pytest.mark.parametrize("name", CALLED)
def test_convolutions_compute_the_same_as_the_modules(name, least, calls, monkeypatch):
    monkeypatch.setattr(stacked_forward_module, "MIN_VALUES_APART", least)
    assert_equals_modules(*CALLED[name])
    assert len(calls) == (1 if least else PARTIES)


@pytest.mark.parametrize("name", [*DIRECT, *CALLED])
def test_a_single_partys_forward_pass_equals_its_module(name, calls):
    modules, free, buffers, rows = parties(*(DIRECT | CALLED)[name])
    for party, module in enumerate(modules):
        tensors = {name: t[party] for name, t in (free | buffers).items()}
        torch.testing.assert_close(
            single_forward(module)(tensors, rows[party]), module(rows[party]), **CLOSE
        )
    assert len(calls) == (PARTIES if name in CALLED else 0)


def test_masked_columns_differ_by_party():
    """Only weights of columns that a party has get a gradient."""
    modules, free, buffers, rows = parties(masked, (6,))
    compute = stacked_forward(modules[0])
    embeddings, slope, *_ = outcome(compute(free | buffers, rows), free.values())
    for party, columns in enumerate(buffers["0.columns"]):
        has = torch.zeros(9, dtype=torch.bool)
        has[columns] = True
        assert slope[party][:, has].any(0).all()
        assert not slope[party][:, ~has].any()
    exchanged = compute(free | {"0.columns": buffers["0.columns"].flip(0)}, rows)
    assert not torch.isclose(exchanged[0], embeddings[0]).all()
    assert torch.equal(exchanged[1], embeddings[1])


def test_bfloat16_outputs_equal_the_modules_up_to_rounding():
    modules, free, buffers, rows = parties(masked, (6,))
    tensors = {name: p.detach().float() for name, p in free.items()} | buffers
    rows = rows.float()
    with TensorOptions(precision="bfloat16").autocast():
        outputs = stacked_forward(modules[0])(tensors, rows)
        one = vmap(lambda own, x: functional_call(modules[0], own, (x,)))
        batched = one(tensors, rows)
        pairs = zip(modules, rows, strict=True)
        expected = torch.stack([module.float()(x) for module, x in pairs])
    exact = one(tensors, rows)
    assert outputs.dtype == expected.dtype == torch.bfloat16
    assert 1e-4 < (outputs.float() - exact).abs().max() < 0.01
    torch.testing.assert_close(outputs, expected, rtol=2**-7, atol=0.004)
    torch.testing.assert_close(outputs.float(), batched, rtol=2**-7, atol=0.004)


# --- unknown modules ------------------------------------------------------------------------------


class Doubled(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


class Residual(nn.Sequential):
    def forward(self, x):
        return x + super().forward(x)


class Backwards(nn.Sequential):
    def __iter__(self):
        return reversed(list(self._modules.values()))


def hooked(register):
    def make(_):
        module = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 6))
        register(module)
        return module

    return make


def pre_hook(module):
    module[2].register_forward_pre_hook(lambda _, x: (3 * x[0],))


def own_forward(module):
    module[1].forward = torch.tanh


def extra(module):
    module[0].register_buffer("columns", torch.ones(1, dtype=torch.float64))


UNKNOWN = {
    "a subclass of a layer": lambda _: nn.Sequential(Doubled(6, 6), nn.ReLU(), nn.Linear(6, 6)),
    "a sequence with its own forward": lambda _: Residual(nn.Linear(6, 6), nn.ReLU()),
    "such a sequence inside": lambda _: nn.Sequential(nn.Linear(6, 6), Residual(nn.Linear(6, 6))),
    "a sequence with its own order": lambda _: Backwards(*Mlp(6, 6, hidden=6)),
    "another layer": lambda _: nn.Sequential(nn.Linear(6, 6), nn.Tanh()),
    "a hook": hooked(lambda m: m[0].register_forward_hook(lambda *call: 3 * call[-1])),
    "a hook of the module": hooked(lambda m: m.register_forward_hook(lambda *call: 3 * call[-1])),
    "a hook before": hooked(pre_hook),
    "a replaced forward method": hooked(own_forward),
    "an extra tensor": hooked(extra),
    "a layer that is used twice": lambda _: nn.Sequential(*[nn.Linear(6, 6)] * 2),
    "another flattening": lambda _: nn.Sequential(nn.Linear(6, 6), nn.Flatten(-1)),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_modules_are_called_themselves(name, calls):
    assert_equals_modules(UNKNOWN[name], (6,))
    assert len(calls) == 1
    module = UNKNOWN[name](0).double()
    rows = torch.randn(ROWS, 6, dtype=torch.float64)
    tensors = dict(module.named_parameters()) | dict(module.named_buffers())
    torch.testing.assert_close(single_forward(module)(tensors, rows), module(rows), **CLOSE)
    assert len(calls) == 2
