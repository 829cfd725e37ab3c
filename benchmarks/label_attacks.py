"""An attack on labels by a device that knows the defence, and how messages depend on labels.

It is favoured in all that it cannot know from one run: it has the statistics of messages given
labels from the true labels of other rows, and the labels that were drawn at random as they are.
What it does not have is the label of the row that it asks for, nor any of that row in statistics.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from privacy_attacks import SOME_ROWS, LabelAttack, directions, forest
from recorded_messages import SentTable, Table
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold

_TRUST = (0.5, 1.0, 2.0, 4.0)  # exponents of what own columns say; the best one counts
_FOLDS = 5


@dataclass(eq=False)
class AdaptiveLabelAttack(LabelAttack):
    """What one device finds out about labels of rows whose gradients it has received."""

    def results(self) -> dict[str, float]:
        """Return the shares of labels that are found, with and without messages.

        `few`: the device knows ten labels of each class. `all`: it knows those of all other rows.
        """
        few, complete = self._log_features()[self._asked], self._log_complete
        return {
            "one_message": self.from_one_message(),
            "few": self._best(few),
            "few_without": self._share(few),
            "all": self._best(complete),
            "all_without": self._share(complete),
        }

    @cached_property
    def _asked(self) -> NDArray[np.int64]:
        """The rows that are asked for: some of those sent whose labels are not known."""
        sent = np.unique(np.concatenate([message.rows for message in self.messages]))
        unknown = np.setdiff1d(sent, self.known)
        return np.random.default_rng(0).permutation(unknown)[:SOME_ROWS]

    def _share(self, log_probabilities: Table) -> float:
        return float((log_probabilities.argmax(1) == self.recorded.labels[self._asked]).mean())

    def _best(self, own: Table) -> float:
        ways = [np.zeros_like(own), *self._evidence]
        return max(self._share(trust * own + way) for trust in _TRUST for way in ways)

    @cached_property
    def _log_complete(self) -> Table:
        """What own columns say of each row if the labels of all other rows are known."""
        features = self.features[self._asked]
        labels = self.recorded.labels[self._asked]
        result = np.zeros((len(labels), self.classes))
        for others, rows in StratifiedKFold(_FOLDS).split(features, labels):
            model = forest().fit(features[others], labels[others])
            result[np.ix_(rows, model.classes_)] = model.predict_proba(features[rows])
        return np.log(0.98 * result + 0.02 / self.classes)

    @cached_property
    def _evidence(self) -> list[Table]:
        """What messages say of the labels, by several models of how they depend on them."""
        messages = self.messages
        values = [self._log_discriminants(sent) for sent in messages]
        directed = [
            self._log_discriminants(SentTable(sent.round, sent.rows, directions(sent.values)))
            for sent in messages
        ]
        clustered = [self._log_clustered(sent) for sent in messages]
        ways = [*(values[n] + clustered[n] for n in (0, 1)), *clustered[:2]]
        ways += [sum(values), sum(directed), sum(clustered), sum(values) + sum(clustered)]
        drawn = self.recorded.server.device_labels
        if drawn is not None:
            ways.append(_log_drawn(drawn.labels.numpy(), drawn.kept, self.classes))
        return [way[self._asked] for way in ways]

    def _log_discriminants(self, sent: SentTable) -> Table:
        """Return log-likelihoods of labels by Gaussians, from the true labels of other rows."""
        labels, result = (
            self.recorded.labels[sent.rows],
            np.zeros((len(self.features), self.classes)),
        )
        half = np.arange(len(labels)) % 2 == 0
        for others in (half, ~half):
            if np.bincount(labels[others], minlength=self.classes).min() < 2:
                return np.zeros_like(result)
            model = LinearDiscriminantAnalysis(
                solver="lsqr", shrinkage=0.05, priors=np.full(self.classes, 1 / self.classes)
            ).fit(sent.values[others], labels[others])
            logs = np.log(model.predict_proba(sent.values[~others]) + 1e-9)
            result[sent.rows[~others]] = logs
        return result


def _log_drawn(drawn: NDArray[np.int64], kept: float, classes: int) -> Table:
    """Return log-likelihoods of labels of which the drawn ones are known, for each row."""
    table = np.full((classes, classes), (1 - kept) / max(1, classes - 1))
    np.fill_diagonal(table, kept)
    return np.log(table)[drawn]
