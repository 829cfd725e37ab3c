"""Augmented images: all parties see the same variant of a row, and only pixels of their own."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from command_line import refused, scdn

from scdn.data.dataset import Dataset
from scdn.data.store import put
from scdn.errors import InputError
from scdn.federation.server_settings import federated_scenario
from scdn.learning.augmentation import Augmentation
from scdn.learning.feature_split import split_features
from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.tensors import TensorOptions
from scdn.rng import generator
from scdn.scenario import LearningSettings, make_scenario
from scdn.simulation.baselines import new_model
from scdn.simulation.run_data import RunData
from scdn.world.churn import churn_trace

SHAPE, ROWS = (3, 6, 8), 40


def augmentation(**settings):
    """Return the variants of images of `SHAPE`."""
    learning = LearningSettings(augment_flip=True, **settings)
    return Augmentation.create(ROWS, SHAPE[-1], learning, TensorOptions())


@pytest.fixture
def images():
    """Return flat images with different pixels."""
    return torch.from_numpy(generator(1, "pixels").normal(size=(ROWS, int(np.prod(SHAPE)))))


@pytest.fixture
def run_data():
    """Return a function that gives the data of a run with image strips, and its scenario."""
    draw = np.random.default_rng(2)
    pixels, labels = draw.uniform(size=(ROWS + 10, *SHAPE[1:], 3)), draw.integers(0, 2, ROWS + 10)
    put(
        Dataset(
            "pictures",
            {"image": pixels[:ROWS]},
            labels[:ROWS],
            {"image": pixels[ROWS:]},
            labels[ROWS:],
            classes=("a", "b"),
        )
    )

    def create(**settings):
        learning = {"dataset": "pictures", "split": "strips", "model": "mlp", "batch_size": 16}
        document = {"fleet": [{"kind": "device", "count": 3}], "learning": learning | settings}
        scenario = make_scenario(document, "test")
        return RunData.from_scenario(scenario, churn_trace(scenario))

    return create


def test_the_first_variant_is_plain_and_a_mirrored_one_mirrors_back(images):
    plain, rows = augmentation(), torch.arange(ROWS)
    assert plain.variants == 2
    torch.testing.assert_close(plain.select(images, rows), images)
    mirrored = plain.select(images, rows + ROWS)
    torch.testing.assert_close(mirrored.view(-1, *SHAPE), images.view(-1, *SHAPE).flip(-1))
    torch.testing.assert_close(plain.select(mirrored, rows + ROWS), images)


def test_a_shift_moves_pixels_sideways_and_leaves_zeros_behind(images):
    shifted, rows = augmentation(augment_shift=2), torch.arange(ROWS)
    assert shifted.variants == 10
    expected = {tuple(range(8))}
    for offset in (-2, -1, 1, 2):
        expected.add(tuple(n - offset if 0 <= n - offset < 8 else None for n in range(8)))
    expected |= {tuple(None if n is None else 7 - n for n in moved) for moved in expected}
    pictures, seen = images.view(-1, *SHAPE), set()
    for variant in range(shifted.variants):
        moved = shifted.select(images, rows + variant * ROWS).view(-1, *SHAPE)
        sources = []
        for column in range(8):
            equal = [n for n in range(8) if torch.equal(moved[..., column], pictures[..., n])]
            sources.append(equal[0] if equal else None)
            assert equal or not moved[..., column].any()
        seen.add(tuple(sources))
    assert seen == expected


def test_a_party_reads_pixels_of_its_own_strip_alone(run_data):
    """Zeros in all other strips change nothing in its own."""
    data = run_data(augment_flip=True, augment_shift=3)
    images, variants = data.tensors.inputs["train"]["image"], data.tensors.augmentation
    rows = torch.arange(ROWS * variants.variants)
    for view in split_features(data.dataset, "strips", 3, 0):
        own = torch.zeros_like(images)
        own[:, view.columns] = images[:, view.columns]
        seen, expected = (variants.select(x, rows)[:, view.columns] for x in (own, images))
        torch.testing.assert_close(seen, expected)


def test_strips_of_all_parties_make_up_the_augmented_image(run_data):
    data = run_data(augment_flip=True, augment_shift=3)
    model = new_model(data, data.views)
    variants = data.tensors.augmentation
    rows = variants.draw(generator(0, "augment"), torch.arange(ROWS))
    assert set((rows % ROWS).tolist()) == set(range(ROWS))
    whole = variants.select(data.tensors.inputs["train"]["image"], rows)
    (stack,) = model.stacks
    seen = stack.views.gather(data.tensors, "train", rows)
    for name, strip in zip(stack.names, seen, strict=True):
        torch.testing.assert_close(strip.flatten(1), whole[:, data.views[name].columns])


def test_targets_and_test_rows_do_not_change(run_data):
    plain, augmented = run_data(), run_data(augment_flip=True, augment_shift=1)
    numbered = augmented.tensors.numbered_targets.view(6, ROWS)
    assert (numbered == plain.tensors.numbered_targets).all()
    rows = torch.arange(10)
    torch.testing.assert_close(
        augmented.tensors.select("test", "image", rows), plain.tensors.select("test", "image", rows)
    )


@pytest.mark.parametrize("server", ["adam", "sgd"])
def test_a_round_trains_on_the_drawn_variants(run_data, server):
    """Where every image is its own mirror image, mirroring changes nothing; else it does."""

    def trained(symmetric, **settings):
        data = run_data(server_optimizer=server, **settings)
        if symmetric:
            inputs = data.tensors.inputs
            pixels = inputs["train"]["image"].view(-1, *SHAPE)
            mirrored = {"image": (pixels + pixels.flip(-1)).flatten(1)}
            tensors = replace(data.tensors, inputs=inputs | {"train": mirrored})
            data = replace(data, tensors=tensors)
        model = new_model(data, data.views)
        for round_ in range(2):
            steps = dict.fromkeys(model.present, LocalSteps(3, 0.1))
            model.train(round_, steps, LocalSteps(3, 0.1))
        return model.metrics()["test_loss"]

    assert trained(True) == pytest.approx(trained(True, augment_flip=True))
    assert trained(False) != pytest.approx(trained(False, augment_flip=True))


def test_kept_embeddings_stand_in_for_a_departed_party(run_data):
    data = run_data(augment_flip=True)
    model = new_model(data, data.views)
    model.remove_parties([model.present[0]])
    model.train(0, dict.fromkeys(model.present, LocalSteps(3, 0.1)), LocalSteps(3, 0.1))
    assert model.metrics()["future"]["top1"] >= 0


def test_features_must_be_strips(tmp_path):
    file = tmp_path / "scenario.toml"
    file.write_text('[learning]\naugment_shift = 2\n[[fleet]]\nkind = "device"\ncount = 2\n')
    (line,) = refused(scdn("run", file, "--out", tmp_path / "run"), 1)
    assert "learning.augment_shift" in line
    assert "strips" in line


def test_a_federation_refuses_augmented_images(run_data):
    with pytest.raises(InputError, match="augment"):
        federated_scenario(run_data(augment_flip=True).scenario)


def test_a_restored_model_draws_the_same_variants(run_data):
    data = run_data(augment_flip=True, augment_shift=1, server_optimizer="adam")
    model, restored = new_model(data, data.views), new_model(data, {})

    def train(chosen, round_):
        chosen.train(round_, dict.fromkeys(chosen.present, LocalSteps(3, 0.1)), LocalSteps(3, 0.1))

    train(model, 0)
    restored.load_state_dict(model.state_dict())
    train(model, 1)
    train(restored, 1)
    assert restored.metrics() == model.metrics()
