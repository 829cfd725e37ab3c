"""Parties' models: their outputs, their initial weights, and checks of users' models."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.func import functional_call, grad, stack_module_state, vmap

from scdn.errors import InputError
from scdn.learning.feature_split import FeatureView
from scdn.learning.models import (
    ARCHITECTURES,
    AlexNet,
    Cnn,
    MaskedMlp,
    Mlp,
    architecture,
    build_model,
    count_connections,
    structure_key,
)
from scdn.learning.tensors import seeded_init

FLAT = FeatureView("table", np.arange(6), np.ones(6, bool), (6,))


def image(channels, height, width):
    size = channels * height * width
    return FeatureView("image", np.arange(size), np.ones(size, bool), (channels, height, width))


def made(name="mlp", view=FLAT, width=10, **changes):
    settings = {"hidden": 64, "initialisation": "default", "masked_columns": None} | changes
    with seeded_init(settings.pop("seed", 3), "weights"):
        return build_model(architecture(name, view, "classification"), view, width, **settings)


def equal(one, other):
    return all(map(torch.equal, one.state_dict().values(), other.state_dict().values()))


# --- the paper's models ---------------------------------------------------------------------------


def masked_pair(columns, everything=9, repeats=0):
    """Return a model of `columns` (and copies of the first), and the full one with its weights."""
    torch.manual_seed(0)
    small = MaskedMlp(torch.tensor(columns + columns[:1] * repeats), everything, 4, hidden=5)
    full = Mlp(everything, 4, hidden=5)
    full.load_state_dict({k: v for k, v in small.state_dict().items() if k != "0.columns"})
    return small.double(), full.double()


@given(
    st.lists(st.integers(0, 8), min_size=1, unique=True), st.integers(0, 3), st.integers(0, 10**6)
)
def test_a_masked_model_equals_the_full_one_on_rows_with_zeros(columns, repeats, seed):
    small, full = masked_pair(columns, repeats=repeats)
    rows = torch.randn(3, 9, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    held = torch.cat([rows[:, columns], torch.zeros(3, repeats, dtype=torch.float64)], 1)
    zeroed = torch.zeros_like(rows)
    zeroed[:, columns] = rows[:, columns]
    torch.testing.assert_close(small(held), full(zeroed))
    (small(held) ** 2).sum().backward()
    (full(zeroed) ** 2).sum().backward()
    for p, expected in zip(small.parameters(), full.parameters(), strict=True):
        torch.testing.assert_close(p.grad, expected.grad)
    assert count_connections(small) == count_connections(full) == 9 * 5 + 5 + 5 * 4 + 4


def test_masked_models_with_different_columns_can_be_stacked():
    choices = [[0, 3, 5], [8, 1, 2], [7, 6]]
    pairs = [masked_pair(columns, repeats=3 - len(columns)) for columns in choices]
    modules = [small for small, _ in pairs]
    assert len({structure_key(module, (3,)) for module in modules}) == 1
    parameters, buffers = stack_module_state(modules)
    parameters = {name: p.detach() for name, p in parameters.items()}
    rows = torch.randn(3, 4, 9, dtype=torch.float64)
    held = torch.zeros(3, 4, 3, dtype=torch.float64)
    zeroed = torch.zeros_like(rows)
    for party, columns in enumerate(choices):
        held[party, :, : len(columns)] = zeroed[party][:, columns] = rows[party][:, columns]

    def loss(weights, places, x):
        return (functional_call(modules[0], (weights, places), (x,)) ** 2).sum()

    gradients = vmap(grad(loss))(parameters, buffers, held)
    for party, (_, full) in enumerate(pairs):
        (full(zeroed[party]) ** 2).sum().backward()
        for name, parameter in full.named_parameters():
            torch.testing.assert_close(gradients[name][party], parameter.grad)


def test_initial_weights_of_a_masked_model_are_those_of_the_full_layer():
    weight = made(masked_columns=10_000).state_dict()["0.weight"]
    assert weight.shape == (64, 10_000)
    assert 0.0099 < weight.abs().max() <= 0.01  # PyTorch's: up to 1/√(all columns)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(("height", "width"), [(28, 28), (7, 28), (30, 64)])
def test_a_cnn_takes_padded_strips(channels, height, width):
    view = image(channels, height, width).padded_image(ARCHITECTURES["cnn"].least_size)
    module = made("cnn", view, 1)
    assert isinstance(module, Cnn)
    assert module(torch.zeros(2, *view.shape)).shape == (2, 1)
    tall, wide = ((side - 4) // 2 for side in view.shape[1:])
    flat = 32 * ((tall - 4) // 2) * ((wide - 4) // 2)
    assert count_connections(module) == channels * 16 * 25 + 16 + 16 * 32 * 25 + 32 + flat + 1


@pytest.mark.parametrize(("channels", "height", "width"), [(3, 16, 32), (1, 7, 28), (3, 64, 96)])
def test_an_alexnet_takes_padded_strips(channels, height, width):
    view = image(channels, height, width).padded_image(ARCHITECTURES["alexnet"].least_size)
    module = made("alexnet", view)
    assert isinstance(module, AlexNet)
    assert module(torch.zeros(2, *view.shape)).shape == (2, 10)
    linear = [layer.out_features for layer in module if isinstance(layer, nn.Linear)]
    maps = [layer.out_channels for layer in module if isinstance(layer, nn.Conv2d)]
    assert (linear, maps) == ([1024, 512, 10], [64, 192, 384, 256, 256])


def test_an_mlp_takes_images_too():
    view = image(3, 4, 5)
    torch.manual_seed(0)
    rows = torch.randn(2, 3, 4, 5)
    full = made(view=view)
    assert full(rows).shape == (2, 10)
    masked = made(view=view, masked_columns=60)
    torch.testing.assert_close(masked(rows), full(rows))  # all columns held: the same model


def test_a_widened_mlp_computes_the_same_outputs():
    narrow = made()
    rows = torch.linspace(-1, 1, 12).reshape(2, 6)
    torch.testing.assert_close(
        narrow.widened(8)(nn.functional.pad(rows, (0, 2), value=0.0)), narrow(rows)
    )


def test_auto_picks_the_papers_models():
    for view, task, name in (
        (FLAT, "classification", "mlp"),
        (FLAT, "regression", "mlp"),
        (image(3, 64, 64), "classification", "alexnet"),
        (image(3, 28, 28), "regression", "cnn"),
    ):
        assert architecture("auto", view, task).name == name
    assert isinstance(made("auto"), Mlp)


# --- initial weights ------------------------------------------------------------------------------


@pytest.mark.parametrize("initialisation", ["default", "kaiming"])
@pytest.mark.parametrize("name", ["mlp", "cnn"])
def test_initial_weights_depend_on_the_seed_alone(name, initialisation):
    view = FLAT if name == "mlp" else image(1, 28, 28)
    before = torch.random.get_rng_state()
    one = made(name, view, initialisation=initialisation)
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.manual_seed(99)
    assert equal(one, made(name, view, initialisation=initialisation))
    assert not equal(one, made(name, view, initialisation=initialisation, seed=4))


def test_kaiming_initialisation_keeps_the_scale_of_rows():
    module = made(view=image(3, 16, 16), initialisation="kaiming", hidden=2000)
    state = module.state_dict()
    assert state["1.weight"].std() == pytest.approx((2 / 768) ** 0.5, rel=0.02)
    assert state["3.weight"].std() == pytest.approx(0.3 * (2 / 2000) ** 0.5, rel=0.05)
    assert not state["1.bias"].any()
    assert not state["3.bias"].any()


# --- stacking -------------------------------------------------------------------------------------


def test_structure_keys_differ_where_models_cannot_be_stacked():
    base = structure_key(made(), (6,))
    assert hash(base) == hash(structure_key(made(seed=8), (6,)))
    assert base == structure_key(made(seed=8), (6,))
    others = [
        structure_key(made(), (2, 3)),
        structure_key(made(hidden=5), (6,)),
        structure_key(made(masked_columns=6), (6,)),
        structure_key(made().double(), (6,)),
        structure_key(nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 10)), (6,)),
    ]
    assert len({base, *others}) == 6
    strides = [structure_key(nn.Conv2d(1, 1, 3, stride=s), (1, 8, 8)) for s in (1, 2)]
    assert strides[0] != strides[1]


# --- users' models --------------------------------------------------------------------------------


@pytest.fixture
def zoo(monkeypatch):
    """A user's module with good and bad factories."""

    def flat(make):
        return lambda shape, width: nn.Sequential(nn.Flatten(), *make(int(np.prod(shape)), width))

    def fails(*_):
        raise RuntimeError("no weights\nanywhere")

    class Pair(nn.Linear):
        def forward(self, rows):
            return rows, rows

    user = SimpleNamespace(
        good=flat(lambda n, w: [nn.Linear(n, 8), nn.LayerNorm(8), nn.Linear(8, w)]),
        lazy=lambda _, width: nn.LazyLinear(width),
        number=3,
        fails=fails,
        lonely=lambda: nn.Identity(),
        text=lambda *_: "a model",
        wide=flat(lambda n, w: [nn.Linear(n, w + 1)]),
        narrow=lambda _, width: nn.Linear(5, width),
        pair=lambda _, width: Pair(6, width),
        normed=flat(lambda n, w: [nn.Linear(n, w), nn.BatchNorm1d(w)]),
        stateless=flat(
            lambda n, w: [nn.Linear(n, w), nn.BatchNorm1d(w, track_running_stats=False)]
        ),
        empty=lambda _, width: nn.AdaptiveAvgPool1d(width),
        inner=SimpleNamespace(good=lambda shape, width: nn.Linear(shape[0], width)),
    )
    monkeypatch.setitem(__import__("sys").modules, "zoo", user)


@pytest.mark.usefixtures("zoo")
@pytest.mark.parametrize("name", ["zoo:good", "zoo:lazy", "zoo:inner.good"])
def test_a_users_model_is_accepted(name):
    before = torch.random.get_rng_state()
    module = made(name)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert module(torch.zeros(3, 6)).shape == (3, 10)
    assert equal(module, made(name))
    assert (
        not made(name, initialisation="kaiming")
        .state_dict()[next(key for key in module.state_dict() if key.endswith("bias"))]
        .any()
    )


@pytest.mark.usefixtures("zoo")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "resnet",
            'got "resnet", must be auto, mlp, linear, cnn, alexnet or package.module:factory',
        ),
        ("nowhere.at_all:net", "there is no module nowhere"),
        (":net", "must be package.module:NAME"),
        ("zoo:", "must be package.module:NAME"),
        ("zoo:bad", "there is no bad"),
        ("zoo:number", "is a int, must be a factory(shape, width)"),
        ("zoo:fails", "RuntimeError: no weights, must take ((6,), 10)"),
        ("zoo:lonely", "TypeError"),
        ("zoo:text", "returned a str, must return a torch.nn.Module"),
        ("zoo:wide", "returned (2, 11) for 2 rows, must return (2, 10)"),
        ("zoo:narrow", "must take rows of (6,)"),
        ("zoo:pair", "returned tuple for 2 rows"),
        ("zoo:normed", "keeps running statistics, must use layers without them"),
        ("zoo:stateless", "mixes the rows of a batch, must compute each row by itself"),
        ("zoo:empty", "has no parameters"),
        ("cnn", "rows of 6 numbers, needs images"),
    ],
)
def test_an_unusable_model_is_refused_in_one_line(name, message):
    with pytest.raises(InputError) as refused:
        made(name)
    (line,) = refused.value.lines()
    assert "model: " in line
    assert message in line


def test_small_images_are_refused():
    with pytest.raises(InputError, match="an image of 16×32 pixels, needs 64 each way"):
        made("alexnet", image(3, 16, 32))
