"""What departed parties leave: kept embeddings, imputation, zeroed blocks, dropout masks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from reference_learning import (
    assert_close,
    numpy_scores,
    table_view,
)
from small_models import (
    CLASSES,
    LOCAL_STEPS,
    SERVER,
    VIEWS,
    local_steps_for,
    predicted,
    started,
    trained,
)

from scdn.errors import InputError
from scdn.learning.imputation import impute
from scdn.rng import generator

# --- imputation --------------------------------------------------------------------------------


def test_future_scores_use_the_imputation_of_the_scenario():
    before = trained()
    tests, sample = dict(before.server.test_embeddings), dict(before.server.sample_embeddings)
    for how in ("zero", "mean", "learned"):
        model = trained(imputation=how)
        model.remove_parties(["b"])
        metrics = model.metrics()
        assert metrics["future"] == {
            "train_loss": metrics["train_loss"],
            **metrics["future_by"][how],
        }
        if how == "learned":
            continue
        fill = torch.zeros(5) if how == "zero" else sample["b"].mean(0)
        filled = tests | {"b": fill.double().expand(40, 5)}
        outputs = model.server.fusion.outputs(torch.stack([filled[name] for name in VIEWS]))
        expected = numpy_scores(outputs.numpy(), CLASSES.test_y, "classification")
        for key, number in expected.items():
            assert_close(metrics["future"][key], number, key)


def affine(members=3, rows=60, width=4, fresh=30, seed=0):
    """Return embeddings of a departed party that are affine functions of those of the present."""
    draw = np.random.default_rng(seed)
    sample, rows_ = (torch.from_numpy(draw.normal(size=(members, n, width))) for n in (rows, fresh))
    map_ = torch.from_numpy(draw.normal(size=(members * width, width)))
    shift = torch.from_numpy(draw.normal(size=width))

    def departed(embeddings):
        return embeddings.movedim(0, 1).flatten(1) @ map_ + shift

    return departed(sample), sample, rows_, departed(rows_)


@pytest.mark.parametrize("seed", range(3))
def test_learned_imputation_is_exact_for_affine_embeddings(seed):
    known, seen, given_, expected = affine(seed=seed)
    assert_close(impute("learned", known, seen, given_), expected)


def test_learned_imputation_is_closer_than_the_mean():
    known, seen, given_, expected = affine()
    away = (impute("learned", known, seen, given_) - expected).norm() / expected.norm()
    assert away < 5e-3
    blind = (impute("mean", known, seen, given_) - expected).norm() / expected.norm()
    assert away < blind / 100


def test_learned_imputation_stands_collinear_and_constant_inputs():
    known, seen, given_, _ = affine()
    twice, twice_given = torch.cat([seen, seen]), torch.cat([given_, given_])
    assert torch.isfinite(impute("learned", known, twice, twice_given)).all()
    flat = torch.ones_like(seen)
    assert_close(impute("learned", known, flat, flat[:, :30]), known.mean(0).expand(30, -1))


def test_learned_imputation_without_present_parties_is_the_mean():
    known = torch.randn(9, 3, dtype=torch.float64)
    nobody, given_ = torch.zeros(0, 9, 3), torch.zeros(0, 4, 3)
    assert_close(impute("learned", known, nobody, given_), known.mean(0).expand(4, -1))


# --- entries and exits -------------------------------------------------------------------------


def test_an_absent_party_cannot_train():
    model = trained()
    model.remove_parties(["b"])
    with pytest.raises(InputError, match="b: cannot train"):
        model.train(2, LOCAL_STEPS, SERVER)


@pytest.mark.parametrize("memory", ["keep", "zero-out", "dropout"])
def test_an_entry_leaves_trained_weights_unchanged(memory):
    model = trained(memory=memory)
    before, outputs = model.server.fusion, model.server.predict()
    parties = {(t.names[n], k): p[n] for t in model.stacks for k, p in t.parameters.items()
               for n in range(len(t.names))}  # fmt: skip
    gradient_stats = dict(model.gradient_stats)
    model.add_parties({"n": table_view(range(9)), "m": table_view([1])})
    after = model.server.fusion
    assert after.members == (*before.members, "n", "m")
    assert torch.equal(after.parameters["blocks"][:4], before.parameters["blocks"])
    for key, value in before.parameters.items():
        assert key == "blocks" or torch.equal(after.parameters[key], value)
    for stack in model.stacks:
        for index, name in enumerate(stack.names):
            for key, p in stack.parameters.items():
                assert name in "nm" or torch.equal(p[index], parties[name, key])
    assert {name: model.gradient_stats[name] for name in gradient_stats} == gradient_stats
    model.exchange()
    assert_close(predicted(model.server, VIEWS), outputs)
    assert not torch.allclose(model.server.predict(), outputs)
    limit = 1 / np.sqrt(6 * 5)
    assert 0.8 * limit < float(after.parameters["blocks"][4:].abs().max()) <= limit


def test_kept_embeddings_of_a_departed_party_never_change():
    model = trained()
    model.remove_parties(["b"])
    kept = model.server.memory.embeddings
    before = [table.clone() for table in kept["b"]]
    assert_close(kept["b"].training[model.server.sample], kept["b"].sample)
    for round_ in range(2, 4):
        model.train(round_, local_steps_for(model), SERVER)
    assert all(torch.equal(*tables) for tables in zip(kept["b"], before, strict=True))


def training_weights(model, steps, round_=0):
    return model.server.training_weights(steps, generator(model.seed, "dropout", round_))


@pytest.mark.parametrize("dropout", [0.0, 0.3, 0.9])
def test_dropout_leaves_out_departed_members_always_and_others_at_its_rate(dropout):
    model = started(memory="dropout", dropout=dropout)
    model.remove_parties(["b"])
    weights = torch.cat([training_weights(model, 20, round_) for round_ in range(100)])
    flags = weights.ne(0).to(weights)
    assert_close(weights, flags * (4 / flags.sum(1, keepdim=True)))
    assert not flags[:, 1].any()
    assert flags.any(1).all()
    if dropout < 0.9:
        spared = dropout**3 / 3  # where all three would be left out, one of them is drawn
        fractions = flags[:, [0, 2, 3]].mean(0)
        np.testing.assert_allclose(fractions, 1 - dropout + spared, atol=0.05)


def test_first_dropout_masks_do_not_depend_on_how_many_steps_follow():
    model = started(memory="dropout", dropout=0.9)
    long = training_weights(model, 12)
    for steps in range(1, 12):
        assert torch.equal(training_weights(model, steps), long[:steps])
