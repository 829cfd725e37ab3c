"""Attacks on the messages of a recorded federation, each with what is possible without them.

Attacks favour the attacker: clusters are named by the true labels, and of several ways to combine
messages the best counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from recorded_messages import RecordedFederation, SentTable, Table
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeCV
from sklearn.metrics import confusion_matrix, r2_score, roc_auc_score
from sklearn.model_selection import cross_val_predict

from scdn.federation.party_model import PartyModel
from scdn.federation.wire_format import Frame, decode, encode
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.losses import row_losses
from scdn.learning.party_stack import PartyStack

KNOWN_PER_CLASS = 10  # labels that a device knows in the second attack on labels
KNOWN_ROWS = 200  # whose features the server knows
NEAR = 0.1  # standard deviations within which a row counts as recovered
SOME_ROWS = 5000  # at most, of which own columns are judged, for time
INVERTED_ROWS = 400  # at most, for time
_TINY = 1e-12


# --- labels, by a device ----------------------------------------------------------------------


def cluster_accuracy(values: Table, labels: NDArray[Any], classes: int) -> float:
    """Return the share of labels that k-means finds, its clusters named as well as possible."""
    table = confusion_matrix(labels, _clusters(values, classes), labels=range(classes))
    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].sum() / len(labels))


def _clusters(values: Table, classes: int) -> NDArray[np.int64]:
    return KMeans(classes, n_init=5, random_state=0).fit_predict(values)


def directions(values: Table) -> Table:
    """Return each row divided by its length; the length says how well a row is predicted."""
    return values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), _TINY)


@dataclass(eq=False)
class LabelAttack:
    """What one device finds out about labels from the slopes that it received, and without them.

    `known` are the numbers of training rows whose labels the device knows.
    """

    recorded: RecordedFederation
    device: str
    known: NDArray[np.int64]

    @property
    def classes(self) -> int:
        """Return the number of classes."""
        return int(self.recorded.labels.max()) + 1

    @property
    def features(self) -> Table:
        """Return the device's own columns of all training rows."""
        return self.recorded.features[self.device]

    def from_one_message(self) -> float:
        """Return the share of labels that k-means on a message of slopes recovers, at best."""
        labels, classes = self.recorded.labels, self.classes
        return max(
            cluster_accuracy(directions(sent.values), labels[sent.rows], classes)
            for sent in self.messages[:2]
        )

    def from_features_by_clustering(self) -> float:
        """Return as much for k-means on the device's own columns."""
        rows = self._some_rows()
        return cluster_accuracy(self.features[rows], self.recorded.labels[rows], self.classes)

    def from_features(self) -> float:
        """Return the accuracy of a classifier on own columns that knows a few labels."""
        return self._accuracy(self._log_features())

    def from_features_with_all_labels(self) -> float:
        """Return the accuracy on own columns, for each row if all other labels were known."""
        rows = self._some_rows()
        labels = self.recorded.labels[rows]
        guesses = cross_val_predict(forest(), self.features[rows], labels, cv=5)
        return float((guesses == labels).mean())

    def from_features_and_messages(self) -> float:
        """Return the accuracy with own columns, a few known labels, and all slopes received."""
        messages, prior = self.messages, self._log_features()
        linear = [self._log_linear(sent) for sent in messages]
        clustered = [self._log_clustered(sent) for sent in messages]
        ways = [*linear[:2], *clustered[:2], sum(linear), sum(clustered)]
        ways += [
            linear[0] + clustered[0],
            linear[1] + clustered[1],
            self._log_linear(_mean_directions(messages)),
        ]
        return max(self._accuracy(prior + way) for way in ways)

    @cached_property
    def messages(self) -> list[SentTable]:
        """Return slopes: of the first sample, of the first round, and of later rounds."""
        drawn = self.recorded.slopes(self.device)
        sample = self.recorded.slopes(self.device, of_sample=True)
        return [_once(sent) for sent in [*sample[:1], *drawn, *sample[1:]]]

    def _some_rows(self) -> NDArray[np.int64]:
        return np.random.default_rng(0).permutation(len(self.features))[:SOME_ROWS]

    def _accuracy(self, log_probabilities: Table) -> float:
        """Return the accuracy on rows whose slopes were sent and whose labels are not known."""
        sent = np.unique(np.concatenate([message.rows for message in self.messages]))
        unknown = np.setdiff1d(sent, self.known)
        guesses = log_probabilities.argmax(1)[unknown]
        return float((guesses == self.recorded.labels[unknown]).mean())

    def _log_features(self) -> Table:
        model = forest().fit(self.features[self.known], self.recorded.labels[self.known])
        return np.log(0.9 * model.predict_proba(self.features) + 0.1 / self.classes)

    def _log_linear(self, sent: SentTable) -> Table:
        """Return log-probabilities by linear discriminants of slopes, from the known labels."""
        labels, result = self.recorded.labels, np.zeros((len(self.features), self.classes))
        known = np.isin(sent.rows, self.known)
        if np.bincount(labels[sent.rows[known]], minlength=self.classes).min() < 2:
            return result  # too few for a discriminant
        model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.2)
        values = directions(sent.values)
        model.fit(values[known], labels[sent.rows[known]])
        result[sent.rows] = np.log(model.predict_proba(values) + 1e-6)
        return result

    def _log_clustered(self, sent: SentTable) -> Table:
        """Return log-probabilities of labels by cluster, as if their frequencies were known.

        Frequencies are those of other rows: a row's own label must not help to find it.
        """
        labels, clusters = self.recorded.labels, _clusters(directions(sent.values), self.classes)
        half = sent.rows % 2 == 0
        result = np.zeros((len(self.features), self.classes))
        for counted in (half, ~half):
            table = 1 + confusion_matrix(
                labels[sent.rows[counted]], clusters[counted], labels=range(self.classes)
            )
            logs = np.log(table / table.sum(1, keepdims=True))
            result[sent.rows[~counted]] = logs[:, clusters[~counted]].T
        return result


def known_labels(recorded: RecordedFederation, seed: int) -> NDArray[np.int64]:
    """Draw the rows whose labels a device knows: some of each class, of the first round's rows."""
    draw, sent = np.random.default_rng(seed), np.unique(recorded.rows(0).batches.numpy())
    labels = recorded.labels[sent]
    rows = [sent[labels == label] for label in np.unique(labels)]
    return np.concatenate([draw.choice(r, min(KNOWN_PER_CLASS, len(r)), False) for r in rows])


def _once(sent: SentTable) -> SentTable:
    """Return a message with the mean of each row, which may have been drawn more than once."""
    rows, index, counts = np.unique(sent.rows, return_inverse=True, return_counts=True)
    sums = np.zeros((len(rows), sent.values.shape[1]))
    np.add.at(sums, index, sent.values)
    return SentTable(sent.round, rows, sums / counts[:, None])


def _mean_directions(messages: Sequence[SentTable]) -> SentTable:
    rows = np.concatenate([sent.rows for sent in messages])
    return _once(SentTable(0, rows, np.concatenate([directions(s.values) for s in messages])))


def forest() -> RandomForestClassifier:
    """Return a new classifier of own columns."""
    return RandomForestClassifier(100, random_state=0)


# --- features, by the server ------------------------------------------------------------------


def varying(features: Table) -> Table:
    """Return the columns that differ between rows, in units of their standard deviation."""
    deviation = features.std(0)
    return ((features - features.mean(0)) / np.where(deviation > 0, deviation, 1))[:, deviation > 0]


def near_share(guess: Table, features: Table, rows: NDArray[np.int64]) -> float:
    """Return the share of rows whose root mean square error is below 0.1 standard deviations."""
    deviation = features.std(0)
    errors = (guess - features[rows])[:, deviation > 0] / deviation[deviation > 0]
    return float((np.sqrt((errors**2).mean(1)) < NEAR).mean())


def mean_share(features: Table) -> float:
    """Return as much for a guess without messages: the mean of each column."""
    rows = np.arange(len(features))
    return near_share(np.tile(features.mean(0), (len(features), 1)), features, rows)


def invert(stacks: Sequence[PartyStack], tables: Sequence[Table], columns: int) -> Table:
    """Return inputs that models with these weights map to these tables, by Gauss-Newton steps.

    Of several starts the one with the least remaining error counts for each row.
    """
    weights = [({n: p.double() for n, p in s.parameters.items()}, s) for s in stacks]
    wanted = torch.cat([torch.from_numpy(table) for table in tables], 1)

    def embed(inputs: torch.Tensor) -> torch.Tensor:
        outputs = []
        for parameters, stack in weights:
            padded = torch.nn.functional.pad(inputs, (0, stack.views.shape[0] - columns))
            outputs.append(stack.forward(parameters, stack.buffers, padded[None])[0].double())
        return torch.cat(outputs, 1)

    best = torch.zeros(len(wanted), columns, dtype=torch.float64)
    best_error = torch.full((len(wanted),), torch.inf, dtype=torch.float64)
    draw = torch.Generator().manual_seed(0)
    for start in range(8):
        guess = 0.5 * min(start, 2) * torch.randn(best.shape, generator=draw, dtype=torch.float64)
        guess, error = _levenberg_marquardt(embed, guess, wanted)
        better = error < best_error
        best[better], best_error[better] = guess[better], error[better]
    return best.numpy()


def _levenberg_marquardt(
    embed: Any, guess: torch.Tensor, wanted: torch.Tensor, steps: int = 60
) -> tuple[torch.Tensor, torch.Tensor]:
    damping = torch.full((len(guess), 1, 1), 1e-2, dtype=torch.float64)
    unit = torch.eye(guess.shape[1], dtype=torch.float64)
    error = ((embed(guess) - wanted) ** 2).sum(1)
    for _ in range(steps):
        leaf = guess.detach().requires_grad_()
        outputs = embed(leaf)
        slopes = [torch.autograd.grad(c.sum(), leaf, retain_graph=True)[0] for c in outputs.T]
        jacobian, rest = torch.stack(slopes, 1), (wanted - outputs.detach())[..., None]
        normal = jacobian.mT @ jacobian + damping * unit
        step = torch.linalg.solve(normal, jacobian.mT @ rest)[..., 0]
        with torch.no_grad():
            tried = guess + step
            tried_error = ((embed(tried) - wanted) ** 2).sum(1)
        better = tried_error < error
        guess = torch.where(better[:, None], tried, guess)
        error = torch.where(better, tried_error, error)
        damping = torch.where(better[:, None, None], damping / 3, damping * 4).clamp(1e-9, 1e6)
    return guess, error


def inverted_share(recorded: RecordedFederation, device: str) -> float:
    """Return the share of rows that the server recovers from the first table of embeddings.

    It makes the initial weights as a device does that draws them from the seed of the run.
    """
    sent = _once(recorded.embeddings(device)[0])
    rows, values = sent.rows[:INVERTED_ROWS], sent.values[:INVERTED_ROWS]
    features = recorded.features[device]
    stack = _initial_stack(recorded, device, recorded.scenario.seed)
    return near_share(invert([stack], [values], features.shape[1]), features, rows)


def inverted_share_after(recorded: RecordedFederation, device: str, starts: int) -> float | None:
    """Return as much for a server that lets the device start several times, with other seeds.

    None where the device refuses to start again.
    """
    features, tables, stacks = recorded.features[device], [], []
    join = next(recorded.of_kind(device, "join")).request
    for start in range(starts):
        seed = recorded.scenario.seed + 1000 + start
        table = _start_again(recorded, device, join, seed)
        if table is None:
            return None
        tables.append(table[:INVERTED_ROWS])
        stacks.append(_initial_stack(recorded, device, seed))
    rows = np.arange(len(tables[0]))
    return near_share(invert(stacks, tables, features.shape[1]), features, rows)


def _start_again(recorded: RecordedFederation, device: str, join: Frame, seed: int) -> Table | None:
    """Return embeddings of all training rows by a new model, which the server can ask for."""
    client = recorded.devices[device]
    all_rows = np.arange(len(join.arrays["train"]))
    ids = {"run": f"forged{seed}", "nonce": "n"}
    arrays = {**join.arrays, "sample": all_rows}
    client.answer(encode(Frame("join", {**join.fields, **ids, "seed": seed}, arrays)))
    report = {**ids, "round": 0, "base": 0, "number_bits": 32}
    reply = decode(client.answer(encode(Frame("report", report))))
    return reply.arrays["sample"].astype(float) if "sample" in reply.arrays else None


def _initial_stack(recorded: RecordedFederation, device: str, seed: int) -> PartyStack:
    model = recorded.devices[device]._model
    assert model is not None
    guessed = PartyModel(**{**model.__dict__, "seed": seed, "party": device})
    parties, _ = guessed.create_parties(DatasetTensors({}, {}), torch.zeros(0).long())
    return parties.stacks[0]


def ridge_r2(recorded: RecordedFederation, device: str) -> tuple[float, float]:
    """Return R² of features from embeddings of one message, and from labels, by ridge regression.

    The server knows the features of 200 rows. Of all messages the best counts.
    """
    features = varying(recorded.features[device])
    classes = np.eye(int(recorded.labels.max()) + 1)
    from_labels = _ridge(classes[recorded.labels], features)
    by_message = []
    for sent in map(_once, recorded.embeddings(device)):
        both = np.concatenate([sent.values, classes[recorded.labels[sent.rows]]], 1)
        by_message.append(_ridge(both, features[sent.rows]))
    return max(by_message), from_labels


def _ridge(inputs: Table, features: Table) -> float:
    known = np.random.default_rng(0).permutation(len(inputs)) < KNOWN_ROWS
    model = RidgeCV(np.logspace(-4, 4, 17)).fit(_expanded(inputs)[known], features[known])
    guess = model.predict(_expanded(inputs)[~known])
    return float(r2_score(features[~known], guess, multioutput="variance_weighted"))


def _expanded(inputs: Table) -> Table:
    scaled = (inputs - inputs.mean(0)) / np.maximum(inputs.std(0), _TINY)
    return np.concatenate([scaled, np.maximum(scaled, 0)], 1)


# --- membership -------------------------------------------------------------------------------


@torch.no_grad()
def membership_auc(recorded: RecordedFederation) -> float:
    """Return how well a row's loss tells rows that were trained on from test rows (0.5: not)."""
    server = recorded.server
    held_out = recorded.rows(0).held_out.flatten().numpy()
    trained_on = ~np.isin(server.sample.numpy(), held_out)
    tables = (
        (server._sample_embeddings(), server.targets[server.sample]),
        (server._test_embeddings(), server.test_targets),
    )
    losses = [
        row_losses(server.outputs(embeddings, len(targets)), targets, server.task).numpy()
        for embeddings, targets in tables
    ]
    members, others = losses[0][trained_on], losses[1]
    truth = np.r_[np.ones(len(members)), np.zeros(len(others))]
    return float(roc_auc_score(truth, -np.concatenate([members, others])))
