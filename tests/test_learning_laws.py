"""What must hold of learning whatever the numbers: who sees what, sameness, figures that add up."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reference_learning import (
    CONV,
    Both,
    Draws,
    Job,
    batches_of,
    begin,
    close,
    images,
    numpy_scores,
    small,
    some_view,
    table,
    taught,
)
from torch import nn

from scdn.errors import InputError
from scdn.learning.features import Rows
from scdn.learning.guide import LabelGuide, SlopeGuide
from scdn.learning.importance import importance
from scdn.learning.imputation import impute
from scdn.learning.local import Order
from scdn.learning.models import Cnn
from scdn.learning.parties import Maker, teamed
from scdn.learning.server import Server
from scdn.learning.split import split
from scdn.learning.team import Team

CLASSES, NUMBERS = table(), table("regression")
VIEWS = {
    "a": some_view([0, 3, 1, 7, 9]),
    "b": some_view(range(10, 21)),
    "c": some_view([2, 4, 5, 6]),
    "d": some_view(range(21, 25)),
}
JOBS = {"a": Job(2), "b": Job(4, 0.1, "momentum", 0.4), "c": Job(3, 0.1, "proximal", 0.5)}
ORDERS = {name: job.order for name, job in JOBS.items()}
SERVER = Order(3, 0.1)
HERE = __name__  # for users' models below


@pytest.fixture(autouse=True)
def _calm():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def started(dataset=CLASSES, memory="keep", seed=3, views=None, **wishes):
    return begin(dataset, VIEWS if views is None else views, small(**wishes), seed, memory)


def trained(*arguments, **wishes):
    model = started(*arguments, **wishes)
    for round_ in range(2):
        model.train(round_, ORDERS, SERVER)
    model.exchange()
    return model


def tensors(model):
    """Everything that the model has learned or been sent."""
    found = {f"fusion {k}": p for k, p in model.server.fusion.parameters.items()}
    for team in model.teams:
        found |= {f"{team.names} {k}": p for k, p in team.parameters.items()}
    for what in ("seen", "tests", "left"):
        found |= {f"{what} {k}": p for k, p in getattr(model.server, what).items()}
    return found


def predicted(server, names):
    """The server's outputs for the test rows if only `names` had sent theirs."""
    blank = torch.zeros_like(next(iter(server.tests.values())))
    known = [server.tests[m] if m in names else blank for m in server.fusion.members]
    return server.fusion.outputs(torch.stack(known))


def orders_for(model):
    return {name: order for name, order in ORDERS.items() if name in model.present}


def same(one, other):
    one, other = tensors(one), tensors(other)
    assert one.keys() == other.keys()
    return all(torch.equal(value, other[key]) for key, value in one.items())


# A party sees its own columns


CASES = {
    "own": (CLASSES, VIEWS, {}),
    "masked": (CLASSES, VIEWS, {"input": "masked"}),
    "regression": (NUMBERS, VIEWS, {}),
    "patches": (images(), "patches", {"model": CONV}),
    "masked patches": (images(), "patches", {"model": CONV, "input": "masked"}),
    "padded patches": (images(rows=20), "patches", {"model": "cnn", "batch_size": 3}),
    "flat patches": (images(), "patches", {"model": "mlp"}),
    "masked flat patches": (images(), "patches", {"model": "mlp", "input": "masked"}),
    "pixels": (images(), "random", {"input": "masked"}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("labels", ["shared", "server"])
def test_columns_of_others_are_never_touched(case, labels):
    dataset, views, wishes = CASES[case]
    if isinstance(views, str):
        views = {f"p{n}": view for n, view in enumerate(split(dataset, views, 4, 0))}
    learning = small(labels=labels, **wishes)
    model = begin(dataset, views, learning)
    batches = batches_of(model, 0, 3)
    rows = model.rows
    stale = torch.stack(
        [
            team.only([name]).embed_rows(rows, "train", batches.flatten())[0].unflatten(0, (3, -1))
            for name in model.server.fusion.members
            for team in model.teams
            if name in team.names
        ]
    )
    every = torch.arange(rows.count("train"))
    for name, view in views.items():
        (team,) = teamed([model.maker.party(name, view, model.seed)], model.maker.place)
        guide = model.server.guide([name], batches, stale, labels)
        assert isinstance(guide, LabelGuide if labels == "shared" else SlopeGuide)
        order = Job(3, 0.1, "momentum", 0.3).order
        found = []
        for given_rows in (rows, poisoned(rows, view, labels)):
            after = taught(team, given_rows, batches, guide, [order])
            found.append(
                [*after.parameters.values(), *after.embed_rows(given_rows, "train", every)]
            )
        for clean, dirty in zip(*found, strict=True):
            assert torch.isfinite(dirty).all()
            assert torch.equal(clean, dirty)


def poisoned(rows, view, labels):
    """All that the party must not read is not a number; with labels on the server, those too."""
    others = np.setdiff1d(np.arange(rows.inputs["train"][view.modality].shape[1]), view.columns)
    assert len(others)
    inputs = {}
    for part, modalities in rows.inputs.items():
        spoilt = modalities[view.modality].clone()
        spoilt[:, others] = torch.nan
        inputs[part] = {view.modality: spoilt}
    hidden = {part: torch.full((len(y),), torch.nan) for part, y in rows.targets.items()}
    return Rows(inputs, hidden if labels == "server" else rows.targets)


def test_only_embeddings_leave_a_party():
    model = trained()
    for team in model.teams:
        inputs = team.sight.take(model.rows, "test", torch.arange(7))
        found = team.embed(inputs)
        assert [table.shape for table in found] == [(7, 5)] * len(team.names)
        assert not any(table.requires_grad for table in found)
    for name in VIEWS:
        assert model.server.seen[name].shape == (50, 5)
        assert model.server.tests[name].shape == (40, 5)
    model.leave(["a"])
    assert {name: left.shape for name, left in model.server.left.items()} == {"a": (90, 5)}


@pytest.mark.parametrize("memory", ["keep", "zero-out", "dropout"])
def test_many_rows_are_embedded_and_fused_in_pieces(monkeypatch, memory):
    """Party by party and a few rows at a time gives what one batched product gives."""
    model = begin(CLASSES, VIEWS, small(), memory=memory)
    model.train(0, ORDERS, SERVER)
    model.leave(["b"])
    found = []
    for alone, rows, numbers in ((10**9, 10**9, 10**9), (1, 7, 100)):
        monkeypatch.setattr("scdn.learning.team.ALONE", alone)
        monkeypatch.setattr("scdn.learning.team.AT_ONCE_ALONE", rows)
        monkeypatch.setattr("scdn.learning.server.AT_ONCE", numbers)
        model.moved = set(model.present)
        model.exchange()
        each = [model.server.seen[name] for name in model.present]
        found.append([*each, model.server.predict(), torch.tensor(model.metrics()["train_loss"])])
    for whole, pieces in zip(*found, strict=True):
        torch.testing.assert_close(pieces, whole, rtol=1e-12, atol=1e-12)


def test_labels_on_the_server_stay_there():
    """What a party gets is slopes at its own embeddings, as large as these, and nothing else."""
    model = trained(labels="server")
    batches = batches_of(model, 9, 4)
    stale = torch.randn(4, 4, 9, 5, dtype=torch.float64, requires_grad=True)
    guide = model.server.guide(["c"], batches, stale, "server")
    assert [field.name for field in fields(guide)] == ["slopes"]
    assert set(vars(guide)) == {"slopes"}
    assert guide.slopes.shape == (1, 4, 9, 5)
    assert guide.slopes.grad_fn is None
    assert not guide.slopes.requires_grad


def test_slopes_are_the_losses_slopes():
    model = trained(labels="server")
    batches = batches_of(model, 9, 2)
    embeddings = torch.randn(4, 2, 9, 5, dtype=torch.float64)
    slopes = model.server.slopes(embeddings, model.server.targets[batches])

    def loss(at):
        outputs = model.server.fusion.outputs(at[:, 1])
        return nn.functional.cross_entropy(outputs, model.server.targets[batches[1]])

    step = 1e-6
    for where in [(0, 1, 0, 0), (2, 1, 8, 4), (3, 1, 4, 2)]:
        more, less = embeddings.clone(), embeddings.clone()
        more[where] += step
        less[where] -= step
        change = (loss(more) - loss(less)) / (2 * step)
        assert float(slopes[where]) == pytest.approx(float(change), rel=1e-5, abs=1e-9)


# The same again


def course(memory="keep", threads=1, **wishes):
    torch.set_num_threads(threads)
    model = started(memory=memory, **wishes)
    model.train(0, orders_for(model), SERVER)
    model.leave(["b"])
    model.enter({"n": some_view(range(9))})
    model.train(1, orders_for(model) | {"n": Order(2, 0.1)}, SERVER)
    model.metrics()
    model.importance()
    assert torch.get_num_threads() == threads
    return model


@pytest.mark.parametrize("memory", ["keep", "zero-out", "dropout"])
def test_a_seed_gives_the_same_bits(memory):
    torch.manual_seed(1)
    first = course(memory, perturbation=0.1)
    torch.manual_seed(2)
    second = course(memory, 2, perturbation=0.1)
    assert same(first, second)
    assert first.sizes == second.sizes
    assert first.metrics() == second.metrics()
    assert not same(first, course(memory, seed=4))


def test_threads_do_not_matter_where_sums_are_long():
    data = table(columns=60, rows=3000, tests=800)
    views = {name: some_view(range(20 * n, 20 * n + 20)) for n, name in enumerate("abc")}
    wishes = {"hidden": 64, "fusion_hidden": 64, "batch_size": 1500, "sample_rows": 2048}
    found = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        model = started(data, views=views, precision="float32", **wishes)
        model.train(0, ORDERS, SERVER)
        found.append((model, model.metrics(), model.importance(), model.sizes))
    assert same(found[0][0], found[1][0])
    assert found[0][1:] == found[1][1:]


def test_the_global_generator_is_left_alone():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    numpy_before = np.random.get_state()[1].copy()  # noqa: NPY002
    course("dropout", perturbation=0.2)
    assert torch.equal(torch.get_rng_state(), before)
    assert (np.random.get_state()[1] == numpy_before).all()  # noqa: NPY002


def test_accelerators_are_not_seeded(monkeypatch):
    calls = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", calls.append)
    started()
    assert calls == []


def test_a_partys_weights_hang_on_its_name_and_the_seed_alone():
    few = started(views={"c": VIEWS["c"]})
    many_ = started()
    late = started(views={"a": VIEWS["a"]})
    late.enter({"c": VIEWS["c"]})
    first, second, third = (
        {key: p[team.names.index("c")] for key, p in team.parameters.items()}
        for model in (few, many_, late)
        for team in model.teams
        if "c" in team.names
    )
    for key, value in first.items():
        assert torch.equal(value, second[key])
        assert torch.equal(value, third[key])


@given(st.integers(0, 50), st.integers(0, 12), st.integers(0, 12))
def test_first_batches_do_not_hang_on_how_many_follow(round_, few, more):
    model = _quiet_model()
    short, long = (batches_of(model, round_, n) for n in (few, few + more))
    assert torch.equal(long[:few], short)
    for batch in long:
        assert len(set(batch.tolist())) == len(batch) == 9
        assert 0 <= int(batch.min()) <= int(batch.max()) < 90


_kept = []


def _quiet_model():
    if not _kept:
        _kept.append(begin(CLASSES, VIEWS, small(), measure=False))
    return _kept[0]


def test_rounds_and_arrivals_have_batches_of_their_own():
    model = _quiet_model()
    drawn = [batches_of(model, r, 2, a) for r in (0, 1) for a in (None, 0, 1)]
    assert len({tuple(batches.flatten().tolist()) for batches in drawn}) == 6


def test_a_round_with_fewer_steps_is_the_start_of_a_longer_one():
    """A party's work does not hang on how long others or the server train."""
    one, other = (started(server_turn="parallel", damping="none") for _ in range(2))
    one.train(0, ORDERS, SERVER)
    other.train(0, ORDERS | {"d": Order(11, 0.1)}, Order(3, 0.1))
    for mine, theirs in zip(one.teams, other.teams, strict=True):
        for key, value in mine.parameters.items():
            for place, name in enumerate(mine.names):
                if name != "d":
                    close(value[place], theirs.parameters[key][place], name)


# Importance


@pytest.mark.parametrize("memory", ["keep", "zero-out"])
@pytest.mark.parametrize("dataset", [CLASSES, NUMBERS], ids=["classes", "numbers"])
def test_exclusion_losses_by_brute_force(memory, dataset):
    both = Both(dataset, VIEWS, small(importance_max=7), memory)
    both.train(JOBS, Job(3))
    _excludes(both)
    both.leave(["a"])
    both.enter({"n": some_view(range(9))})
    both.train({"n": Job(3), "b": Job(2)}, Job(3))
    losses = _excludes(both)
    found = both.model.importance()
    least, most = min(losses.values()), max(losses.values())
    for name, loss in losses.items():
        close(found[name], 1 + 6 * (loss - least) / (most - least), name)


def _excludes(both):
    expected = both.naive.exclusion_losses()
    found = both.model.server.importance_losses(list(expected))
    close(found, list(expected.values()))
    return expected


def test_exclusion_losses_when_blocks_stand_empty():
    both = Both(CLASSES, VIEWS, small(), "dropout")
    both.train(JOBS, Job(3))
    both.leave(["a", "b"])
    _excludes(both)


def test_more_parties_than_one_pass_leaves_out():
    views = {f"p{n}": some_view([n % 25, (n + 3) % 25]) for n in range(70)}
    both = Both(CLASSES, views, small())
    _excludes(both)


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=9), st.floats(1, 20))
def test_importance_runs_from_one_to_the_largest(losses, largest):
    found = importance(losses, largest)
    if min(losses) == max(losses):
        assert found == [1.0] * len(losses)
        return
    assert found[losses.index(min(losses))] == 1
    assert found[losses.index(max(losses))] == pytest.approx(largest)
    order = np.argsort(losses, kind="stable")
    assert all(np.diff(np.array(found)[order]) >= 0)


def test_equal_losses_are_equally_important():
    assert importance([], 5) == []
    assert importance([0.3], 5) == [1.0]
    assert importance([0.3, 0.3], 5) == [1.0, 1.0]


# Scores


@pytest.mark.parametrize("dataset", [CLASSES, NUMBERS], ids=["classes", "numbers"])
@pytest.mark.parametrize("memory", ["keep", "zero-out", "dropout"])
def test_scores_are_counted_from_predictions(memory, dataset):
    model = trained(dataset, memory)
    for _ in range(2):
        expected = numpy_scores(model.server.predict().numpy(), dataset.test_y, dataset.task)
        found = model.metrics()
        for key, number in expected.items():
            close(found[key], number, key)
        model.leave(["c"] if "c" in model.present else ["d"])


def test_two_classes_have_a_top3():
    found = trained(table(classes=2)).metrics()
    assert found["top3"] == 100
    assert found["top1"] < 100


def test_keeping_changes_nothing_the_moment_a_party_leaves():
    model = trained()
    before = model.metrics()
    assert "future" not in before
    assert "future_by" not in before
    model.leave(["b"])
    after = model.metrics()
    assert {key: after[key] for key in before} == before
    assert set(after) - set(before) == {"future", "future_by"}


@pytest.mark.parametrize("memory", ["zero-out", "dropout"])
def test_without_a_memory_the_future_is_as_the_cache(memory):
    model = trained(memory=memory)
    assert "future" not in model.metrics()
    model.leave(["b"])
    found = model.metrics()
    for way in (found["future"], *found["future_by"].values()):
        assert way == {key: found[key] for key in way}


def test_an_entry_alone_brings_no_future():
    model = trained()
    model.enter({"n": some_view(range(4))})
    assert "future" not in model.metrics()


def test_zeroing_out_is_a_model_without_these_columns():
    model = trained(memory="zero-out")
    kept = started(memory="keep")
    kept.server.fusion, kept.teams = model.server.fusion, list(model.teams)
    kept.exchange()
    without = predicted(kept.server, [name for name in VIEWS if name != "b"])
    model.leave(["b"])
    assert model.server.fusion.members == ("a", "c", "d")
    assert model.server.fusion.parameters["blocks"].shape == (3, 5, 7)
    close(model.server.predict(), without)
    assert "b" not in model.server.seen | model.server.tests | model.server.left


def test_dropout_scales_what_is_left():
    model = trained(memory="dropout")
    tests = dict(model.server.tests)
    model.leave(["b", "d"])
    p = model.server.fusion.parameters
    assert p["blocks"].shape[0] == 4
    sums = sum(tests[name] @ p["blocks"][n] for n, name in ((0, "a"), (2, "c")))
    hidden = torch.relu(sums * 4 / 2 + p["bias"])
    close(model.server.predict(), hidden @ p["head.1.weight"].T + p["head.1.bias"])


# Filling in for the departed


def test_imputations_serve_as_named():
    before = trained()
    tests, seen = dict(before.server.tests), dict(before.server.seen)
    for how in ("zero", "mean", "learned"):
        model = trained(imputation=how)
        model.leave(["b"])
        found = model.metrics()
        assert found["future"] == {"train_loss": found["train_loss"], **found["future_by"][how]}
        if how == "learned":
            continue
        fill = torch.zeros(5) if how == "zero" else seen["b"].mean(0)
        filled = tests | {"b": fill.double().expand(40, 5)}
        outputs = model.server.fusion.outputs(torch.stack([filled[name] for name in VIEWS]))
        expected = numpy_scores(outputs.numpy(), CLASSES.test_y, "classification")
        for key, number in expected.items():
            close(found["future"][key], number, key)


def affine(members=3, rows=60, width=4, fresh=30, seed=0):
    """Embeddings of those present, and of one who is an affine function of them."""
    draw = np.random.default_rng(seed)
    seen, given_ = (torch.from_numpy(draw.normal(size=(members, n, width))) for n in (rows, fresh))
    map_ = torch.from_numpy(draw.normal(size=(members * width, width)))
    shift = torch.from_numpy(draw.normal(size=width))

    def departed(embeddings):
        return embeddings.movedim(0, 1).flatten(1) @ map_ + shift

    return departed(seen), seen, given_, departed(given_)


@pytest.mark.parametrize("seed", range(3))
def test_learned_embeddings_are_exact_where_they_can_be(seed):
    known, seen, given_, expected = affine(seed=seed)
    close(impute("learned", known, seen, given_), expected)


def test_learned_embeddings_are_near_where_they_can_be():
    known, seen, given_, expected = affine()
    away = (impute("learned", known, seen, given_) - expected).norm() / expected.norm()
    assert away < 5e-3
    blind = (impute("mean", known, seen, given_) - expected).norm() / expected.norm()
    assert away < blind / 100


def test_learned_embeddings_survive_copies_and_constants():
    known, seen, given_, _ = affine()
    twice, twice_given = torch.cat([seen, seen]), torch.cat([given_, given_])
    assert torch.isfinite(impute("learned", known, twice, twice_given)).all()
    flat = torch.ones_like(seen)
    close(impute("learned", known, flat, flat[:, :30]), known.mean(0).expand(30, -1))


def test_nobody_to_learn_from():
    known = torch.randn(9, 3, dtype=torch.float64)
    nobody, given_ = torch.zeros(0, 9, 3), torch.zeros(0, 4, 3)
    close(impute("learned", known, nobody, given_), known.mean(0).expand(4, -1))


# Figures of gradients


def test_first_figures_come_from_eight_batches():
    both = Both(CLASSES, VIEWS, small())
    draws = _spied_batches(both.model)
    assert len(draws) == 8
    job = Job(1)
    stale = [both.naive._embeddings(rows) for rows in draws]
    for name in VIEWS:
        reference = both.naive._sample_gradient(name)
        squares, away = [], []
        for rows, table_ in zip(draws, stale, strict=True):
            _, (gradient,) = both.naive._one(name, job, [rows], [table_], both.naive.fusion, None)
            squares.append(sum(float(g.square().sum()) for g in gradient))
            pairs = zip(gradient, reference, strict=True)
            away.append(sum(float((g - r).square().sum()) for g, r in pairs))
        close(both.model.sizes[name].bound_sq, np.mean(squares), name)
        close(both.model.sizes[name].variance, np.mean(away), name)


def _spied_batches(model):
    """The batches that the first figures were taken from, drawn once more."""
    found = []
    draw = type(model)._drawn

    def spy(self, draws, steps):
        found.append(draw(self, draws, steps))
        return found[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(model), "_drawn", spy)
        again = begin(CLASSES, VIEWS, model.learning)
    assert again.sizes == model.sizes
    (batches,) = found
    return batches


@pytest.mark.parametrize("labels", ["shared", "server"])
def test_bounds_run_up_and_variances_are_the_last(labels):
    both = Both(CLASSES, VIEWS, small(labels=labels, batch_size=2))
    before = dict(both.model.sizes)
    squares = {name: [size.bound_sq] for name, size in before.items()}
    for _ in range(6):
        fresh = {name: replace(size, bound_sq=0.0) for name, size in both.model.sizes.items()}
        carried, both.model.sizes = both.model.sizes, fresh
        both.train(JOBS, Job(3))
        for name, size in both.model.sizes.items():
            squares[name].append(size.bound_sq)
            both.model.sizes[name] = carried[name].after(size)
        both.check()
    for name in JOBS:
        assert both.model.sizes[name].bound_sq == max(squares[name])
        assert both.model.sizes[name].variance != before[name].variance
    assert both.model.sizes["d"] == before["d"]


def test_nothing_is_measured_unless_asked():
    quiet = begin(CLASSES, VIEWS, small(), measure=False)
    loud = started()
    for model in (quiet, loud):
        model.train(0, ORDERS, SERVER)
    assert quiet.sizes == {}
    assert same(quiet, loud)


def test_the_samples_gradient_without_an_exchange():
    both = Both(CLASSES, VIEWS, small(damping="none"))
    with Draws(both.model) as draws:
        both.model.train(0, ORDERS, SERVER)
    draws.follow(both.naive, JOBS, Job(3))
    for team in both.model.teams:
        found = both.model.sample_gradients(team)
        for place, name in enumerate(team.names):
            expected = both.naive._sample_gradient(name)[-1]
            close(found["2.bias"][place], expected, name)


def test_figures_when_blocks_stand_empty():
    both = Both(CLASSES, VIEWS, small(dropout=0.0), "dropout")
    both.leave(["a", "d"])
    both.train({"b": Job(2), "c": Job(2)}, Job(2))
    both.check()


# Coming and going


def test_one_who_is_not_there_gets_no_orders():
    model = trained()
    model.leave(["b"])
    with pytest.raises(InputError, match="b: is not there to train"):
        model.train(2, ORDERS, SERVER)


@pytest.mark.parametrize("memory", ["keep", "zero-out", "dropout"])
def test_entering_leaves_what_was_trained(memory):
    model = trained(memory=memory)
    before, outputs = model.server.fusion, model.server.predict()
    parties = {(t.names[n], k): p[n] for t in model.teams for k, p in t.parameters.items()
               for n in range(len(t.names))}  # fmt: skip
    sizes = dict(model.sizes)
    model.enter({"n": some_view(range(9)), "m": some_view([1])})
    after = model.server.fusion
    assert after.members == (*before.members, "n", "m")
    assert torch.equal(after.parameters["blocks"][:4], before.parameters["blocks"])
    for key, value in before.parameters.items():
        assert key == "blocks" or torch.equal(after.parameters[key], value)
    for team in model.teams:
        for place, name in enumerate(team.names):
            for key, p in team.parameters.items():
                assert name in "nm" or torch.equal(p[place], parties[name, key])
    assert {name: model.sizes[name] for name in sizes} == sizes
    model.exchange()
    close(predicted(model.server, VIEWS), outputs)
    assert not torch.allclose(model.server.predict(), outputs)
    limit = 1 / np.sqrt(6 * 5)
    assert 0.8 * limit < float(after.parameters["blocks"][4:].abs().max()) <= limit


def test_a_departed_partys_table_is_frozen():
    model = trained()
    model.leave(["b"])
    left, tests = model.server.left["b"].clone(), model.server.tests["b"].clone()
    seen = model.server.seen["b"].clone()
    close(left[model.server.sample], seen)
    for round_ in range(2, 4):
        model.train(round_, orders_for(model), SERVER)
    assert torch.equal(model.server.left["b"], left)
    assert torch.equal(model.server.tests["b"], tests)
    assert torch.equal(model.server.seen["b"], seen)


@pytest.mark.parametrize("dropout", [0.0, 0.3, 0.9])
def test_who_is_left_out(dropout):
    model = started(memory="dropout", dropout=dropout)
    model.leave(["b"])
    kept = torch.cat([model._kept(round_, None, 20).flags for round_ in range(100)])
    assert set(kept.unique().tolist()) <= {0.0, 1.0}
    assert not kept[:, 1].any()
    assert kept.any(1).all()
    if dropout < 0.9:
        alone = dropout**3 / 3  # nobody would be left, so one of three is drawn
        share = kept[:, [0, 2, 3]].mean(0)
        np.testing.assert_allclose(share, 1 - dropout + alone, atol=0.05)
    scale = model._kept(0, None, 5).scale
    close(scale, 4 / model._kept(0, None, 5).flags.sum(1))


def test_who_is_left_out_does_not_hang_on_how_many_steps_follow():
    model = started(memory="dropout", dropout=0.9)
    long = model._kept(0, None, 12).flags
    for steps in range(1, 12):
        assert torch.equal(model._kept(0, None, steps).flags, long[:steps])


# Noise


class Overheard:
    """What the server shows to parties, and what it trains on."""

    def __init__(self, patch):
        self.shown, self.trained = [], []
        guide, train = Server.guide, Server.train

        def spy_guide(server, names, batches, stale, *rest):
            found = guide(server, names, batches, stale, *rest)
            self.shown.append((names, batches, stale, found))
            return found

        def spy_train(server, batches, embeddings, *rest):
            self.trained.append((batches, embeddings))
            return train(server, batches, embeddings, *rest)

        patch.setattr(Server, "guide", spy_guide)
        patch.setattr(Server, "train", spy_train)


def clean(model, batches):
    found = {}
    for team in model.teams:
        sent = team.embed_rows(model.rows, "train", batches.flatten())
        tables = (table.unflatten(0, batches.shape) for table in sent)
        found |= dict(zip(team.names, tables, strict=True))
    return torch.stack([found[name] for name in model.server.fusion.members])


def test_noise_is_on_what_others_see(monkeypatch):
    model = begin(CLASSES, VIEWS, small(perturbation=0.3, batch_size=60), measure=False)
    batches = batches_of(model, 0, 4)
    before, fusion = clean(model, batches), model.server.fusion
    heard = Overheard(monkeypatch)
    model.train(0, ORDERS, SERVER)
    for names, _, stale, guide in heard.shown:
        noise = stale - before
        assert float(noise.std()) == pytest.approx(0.3, rel=0.05)
        assert abs(float(noise.mean())) < 0.02
        for place, name in enumerate(names):
            member = fusion.members.index(name)
            table_ = stale[:, 2].clone()
            table_[member] = before[member, 2]  # its own embeddings are clean
            outputs = fusion.outputs(table_)
            expected = nn.functional.cross_entropy(outputs, model.server.targets[batches[2]])
            own = before[[fusion.members.index(n) for n in names], 2]
            close(guide.losses(guide.told(2), own)[place], expected, name)
    (_, embeddings) = heard.trained[0]
    noise = embeddings - clean(model, batches[:3])
    assert float(noise.std()) == pytest.approx(0.3, rel=0.05)


def test_no_noise_unless_asked():
    one, other = trained(), trained(perturbation=0.0)
    assert same(one, other)
    assert not same(one, trained(perturbation=0.01))


def test_noise_is_drawn_for_every_sending(monkeypatch):
    model = begin(CLASSES, VIEWS, small(perturbation=0.3), measure=False)
    batches = batches_of(model, 0, 4)
    before = clean(model, batches)
    heard = Overheard(monkeypatch)
    model.train(0, ORDERS, Order(4, 0.1))
    first = heard.shown[0][2] - before
    second = heard.trained[0][1] - clean(model, batches)
    flat = torch.stack([first.flatten(), second.flatten()])
    assert abs(float(torch.corrcoef(flat)[0, 1])) < 0.2


def test_noise_is_on_all_that_is_sent():
    noisy = begin(CLASSES, VIEWS, small(perturbation=0.3), measure=False)
    calm = begin(CLASSES, VIEWS, small(), measure=False)
    assert not torch.equal(noisy.server.seen["a"], calm.server.seen["a"])


# The ends of the scale


def test_a_server_that_rests():
    both = Both(CLASSES, VIEWS, small())
    both.train(JOBS, Job(0))
    both.check()


def test_a_round_without_any_steps_where_smoothness_is_measured():
    model, untouched = started(smoothness="measured"), started(smoothness="measured")
    model.train(0, {}, Order(0, 0.1))
    assert same(model, untouched)
    assert model.sizes == untouched.sizes


def test_a_round_in_which_nobody_moves():
    model, untouched = started(), started()
    model.train(0, {}, Order(0, 0.1))
    assert same(model, untouched)


@pytest.mark.parametrize(
    "memory",
    [
        "keep",
        "zero-out",
        "dropout",
    ],
)
def test_the_server_goes_on_when_all_have_left(memory):
    model = trained(memory=memory)
    model.leave(list(VIEWS))
    model.train(2, {}, SERVER)
    assert np.isfinite(model.metrics()["test_loss"])


def test_nobody_is_important_when_all_have_left():
    model = trained()
    model.leave(list(VIEWS))
    assert model.importance() == {}


@pytest.mark.parametrize("names", [["nobody"], ["a", "nobody"]])
def test_who_is_not_there_cannot_leave(names):
    model = trained()
    with pytest.raises(InputError):
        model.leave(names)


def test_a_name_comes_once():
    model = trained()
    model.leave(["a"])
    with pytest.raises(InputError):
        model.enter({"a": VIEWS["a"]})


# Models of users


def dropping(shape, width):
    return nn.Sequential(nn.Linear(shape[0], 4), nn.Dropout(0.5), nn.Linear(4, width))


class Idle(nn.Module):
    """Has a layer it does not use."""

    def __init__(self, inputs, width):
        super().__init__()
        self.used, self.idle = nn.Linear(inputs, width), nn.Linear(inputs, width)

    def forward(self, x):
        return self.used(x)


class Gained(nn.Module):
    """Has a buffer that stays."""

    def __init__(self, inputs, width):
        super().__init__()
        self.used = nn.Linear(inputs, width)
        self.register_buffer("gain", torch.full((width,), 0.5))

    def forward(self, x):
        return self.used(x) * self.gain


def idle(shape, width):
    return Idle(shape[0], width)


def gained(shape, width):
    return Gained(shape[0], width)


def normed(shape, width):
    return nn.Sequential(nn.Linear(shape[0], width), nn.Softmax(1))


def test_a_model_with_dropout_is_refused_or_reproducible():
    torch.manual_seed(1)
    try:
        first = trained(model=f"{HERE}:dropping")
    except InputError:
        return
    torch.manual_seed(2)
    assert same(first, trained(model=f"{HERE}:dropping"))


@pytest.mark.parametrize("what", ["model", "fusion_head"])
def test_a_layer_without_use_is_refused_or_harmless(what):
    try:
        model = started(**{what: f"{HERE}:idle"})
    except InputError:
        return
    model.train(0, ORDERS, SERVER)


@pytest.mark.parametrize("what", ["model", "fusion_head"])
def test_a_buffer_is_kept(what):
    model = started(**{what: f"{HERE}:gained"})
    model.train(0, ORDERS, SERVER)
    assert np.isfinite(model.metrics()["test_loss"])


def test_a_head_sees_rows_and_hidden_numbers():
    """Softmax(1) is over a row's outputs for the server; it must be so for parties, too."""
    model = begin(CLASSES, VIEWS, small(fusion_head=f"{HERE}:normed"), measure=False)
    batches = batches_of(model, 0, 1)
    stale = clean(model, batches)
    guide = model.server.guide(list(VIEWS), batches, stale, "shared")
    outputs = model.server.fusion.outputs(stale[:, 0])
    expected = nn.functional.cross_entropy(outputs, model.server.targets[batches[0]])
    close(guide.losses(guide.told(0), stale[:, 0]), expected.expand(4))


def test_convolutions_take_float64():
    assert isinstance(Cnn((1, 28, 28), 3)[0], nn.Conv2d)
    data = images(size=28, channels=1, rows=12, tests=4)
    views = {"a": split(data, "strips", 1, 0)[0]}
    learning = small(model="cnn", batch_size=2, sample_rows=4)
    maker = Maker.of(data, learning)
    (team,) = teamed([maker.party("a", views["a"], 0)], maker.place)
    assert isinstance(team, Team)
    (found,) = team.embed_rows(Rows.of(data, maker.place), "test", torch.arange(4))
    assert found.dtype == torch.float64
    assert found.shape == (4, 4)
