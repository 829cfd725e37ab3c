"""Malicious devices that read labels from gradients, and hide what they tell behind a decoy.

A decoy is a number that is added to all columns of an embedding alike. The fusion model can ignore
it, but it decides correlations and sizes; what matters is in a small part beside it. Embeddings are
made from those of the device's first model, so that they never contradict themselves. The ideas are
those of somebody who had not read the rest of the catalogue.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from federation_helpers import device
from malicious_unseen import NODE, Client, Where, from_round, knows_labels

FEWEST_LABELS = 60  # that it must know before it guesses those of other rows
CLASSES = 10


class FirstEmbeddings(NamedTuple):
    """What the device's first model makes of all rows, less the mean; and their decoys."""

    training: np.ndarray
    test: np.ndarray
    size: float
    decoy: np.ndarray
    test_decoy: np.ndarray


def first_embeddings(client, noise):
    """Return embeddings of the first model, the same ones in all rounds."""
    if "first" not in client.memory:
        parties = client.device._parties
        first = {n: p.clone() for n, p in parties.stacks[0].parameters.items()}
        rows = np.arange(parties.data.count("train"))
        training = client.embed_with(first, Where("embed", "drawn", rows, 0, 0, client))
        test = client.embed_with(first, Where("apply", "test", rows, 0, 0, client))
        mean = training.mean(0)
        training, test = training - mean, test - mean
        main = np.linalg.svd(training, full_matrices=False)[2][0]
        decoys = [training @ main, test @ main]
        if noise:
            draw = np.random.default_rng(77)
            decoys = [draw.standard_normal(len(d)) for d in decoys]
        decoys = [d / decoys[0].std() for d in decoys]
        size = training.std(0).mean()
        client.memory["first"] = FirstEmbeddings(training, test, size, *decoys)
    return client.memory["first"]


def guessed_classes(client, first):
    """Return the class of each row, by the nearest mean of rows whose labels gradients told."""
    told = client.labels
    if len(told) < FEWEST_LABELS:
        return None
    rows, labels = np.array(list(told)), np.array(list(told.values()))
    means = np.stack([
        first.training[rows[labels == c]].mean(0) if (labels == c).any() else np.full(CLASSES, 1e6)
        for c in range(CLASSES)
    ])  # fmt: skip
    guesses = [((t[:, None] - means) ** 2).sum(2).argmin(1) for t in (first.training, first.test)]
    guesses[0][rows] = labels
    return guesses


def reads_labels(told=1.5, decoy=3.0, in_test="opposite", *, noise=False):
    """Tells labels of training rows; of test rows the opposite of its guess, or it, or nothing."""

    def lie(_values, where):
        first = first_embeddings(where.client, noise)
        classes = guessed_classes(where.client, first)
        table, hidden = (
            (first.test, first.test_decoy)
            if where.is_test
            else (first.training[where.rows], first.decoy[where.rows])
        )
        changed = table + decoy * first.size * hidden[:, None]
        if classes is None or (where.is_test and in_test == "nothing"):
            return changed
        rows, size = np.arange(len(changed)), told * first.size * CLASSES**0.5
        if not where.is_test:
            changed[rows, classes[0][where.rows]] += size
        elif in_test == "guess":
            changed[rows, classes[1]] += size
        else:
            changed[rows, (classes[1] + 1) % CLASSES] += size
            changed[rows, classes[1]] -= size
        return changed

    return lie


def negates_behind_a_decoy(_values, where, decoy=3.0):
    """Adds a decoy to honest embeddings, and negates them in test rows."""
    first = first_embeddings(where.client, noise=False)
    hidden = first.test_decoy if where.is_test else first.decoy[where.rows]
    table = -first.test if where.is_test else first.training[where.rows]
    return table + decoy * first.size * hidden[:, None]


def in_odd_states(lie):
    return lambda values, where: lie(values, where) if where.state % 2 else values


def lying(lie, act=None):
    """Return a lifecycle; `act` is a function of (network, files, round, client)."""

    def begin(network, files, round_):
        if round_ == -1:
            begin.client = Client(network, NODE, lie)
        elif act is not None:
            act(network, files, round_, begin.client)

    return begin


def leaves_after(rounds):
    def act(network, _files, round_, _client):
        if round_ == rounds - 1 and NODE in network.devices:
            network.unplug(NODE)

    return act


def slow_after(rounds):
    def act(network, _files, round_, _client):
        if round_ >= rounds - 1:
            network.delay_s[NODE] = 8.0

    return act


def returns_every(rounds, lie):
    """Leaves after so many rounds and comes back as a new party, again and again."""

    def act(network, files, round_, _client):
        if round_ % rounds == rounds - 1:
            for node in [n for n in network.devices if n == NODE or n >= 100]:
                network.unplug(node)
            network.plug(100 + round_, device(files, "device-6"))
            Client(network, 100 + round_, lie)

    return act


def wrong_later(first):
    """Its guesses of test rows are right until a round."""
    honest, opposite = reads_labels(in_test="guess"), reads_labels()
    return lambda values, where: (opposite if where.round >= first else honest)(values, where)


HALF_WRONG = knows_labels(3.0, 0.0, 0.5)
DECOY = reads_labels()
LABEL_READERS = {
    "decoy and labels, test rows opposite": lying(DECOY),
    "small decoy and labels, test rows opposite": lying(reads_labels(told=1.0)),
    "noise as decoy and labels, test rows opposite": lying(reads_labels(decoy=4.0, noise=True)),
    "decoy and labels, test rows without": lying(reads_labels(in_test="nothing")),
    "decoy and labels, test rows guessed": lying(reads_labels(in_test="guess")),
    "decoy, test rows negated": lying(negates_behind_a_decoy),
    "decoy and labels in odd states": lying(in_odd_states(reads_labels(in_test="guess"))),
    "decoy and labels, test rows opposite from round 19": lying(wrong_later(18)),
    "decoy and labels, leaves after 18 rounds": lying(DECOY, leaves_after(18)),
    "decoy and labels, then slow": lying(DECOY, slow_after(7)),
    "decoy and labels, a new party every 5 rounds": lying(DECOY, returns_every(5, DECOY)),
    "labels, test rows half wrong, leaves after 6 rounds": lying(HALF_WRONG, leaves_after(6)),
    "labels, test rows half wrong, a new party every 5 rounds": lying(
        HALF_WRONG, returns_every(5, HALF_WRONG)
    ),
    "labels, test rows half wrong, from round 10": lying(from_round(9, HALF_WRONG)),
}
