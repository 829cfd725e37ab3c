"""A forecast of progress: what a round brings anyway, and what each party's part in it adds.

A round that is flown brings `base`. A party that reports adds an equal share of `hearing`, what the
server gains from embeddings that are fresh and were trained, and with its update
amount·(iterations/most)^exponent: concave, with one exponent for all. All of it follows what was
measured. A party that rests grows more promising, so that nobody is written off for ever.

An update that is late, computed before the server was updated `staleness` times, adds less by the
factor (1 + staleness)^-exponent. This exponent follows the late reports, too: what they added
against what was expected of them without staleness, where other parties' measurements of the same
round say how the round was.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, floats

WEIGHT_OF_LATEST = 0.3  # weight of the latest measurement
OPTIMISM = 0.1  # of the way to the best party's amount, that a resting party goes in each round
USUAL_EXPONENT = 0.5
EXPONENT_LIMITS = (0.2, 1.0)  # gains are concave
EXPONENT_PRIOR_WEIGHT = 3.0  # weight of the usual exponent, in pairs of counts a factor of e apart
MEMORY = 0.9  # weight of earlier rounds in the fit of the exponent
FIRST_PROGRESS = 16.0  # expected of the first round: the loss falls to 0.4 of it
FIRST_SHARES = {"base": 0.2, "updates": 0.3, "hearing": 0.5}  # better than 0.4, 0.3, 0.3
LEAST_SHARE = 0.05  # of the mean progress per round that any round brings; of a round's, updates
HEARING_MEMORY = 0.85  # weight of a round against the next one, in base and hearing
USUAL_STALENESS_EXPONENT = 0.5  # a common choice for updates that are weighted by their staleness
STALENESS_LIMITS = (0.0, 2.0)
STALENESS_PRIOR_WEIGHT = 3.0  # in late reports of which 1 + staleness is e
LOG_LIMIT = 3.0  # of the logarithm of a measured share, which is noisy


def staleness_share(staleness: ArrayLike, exponent: float) -> Array:
    """Return what part of a fresh update's gain one of this staleness brings: 1 if it is fresh."""
    return np.asarray((1.0 + floats(staleness)) ** -exponent)


@dataclass
class PartyProgress:
    """What is known of one party: its gain with the most iterations, and its last measurement."""

    amount: float
    round: int
    gain: float
    iterations: float


@dataclass(frozen=True)
class MeasuredProgress:
    """What was measured in a round.

    Attributes
    ----------
    before, after
        The progress before the round and after it, on validation rows.
    contributions
        By how much each party's update lowered the loss of the rows held out.
    update_share
        The part of the fall of that loss that is due to the updates; the rest is the server's.
    iterations
        Of each party that reported.
    present
        The number of parties that were present.
    staleness
        Of reports that were late.
    working
        Parties that are late: they rest no more than those that report.
    """

    before: float
    after: float
    contributions: Mapping[str, float]
    update_share: float
    iterations: Mapping[str, float]
    present: int
    staleness: Mapping[str, int] = field(default_factory=dict)
    working: Collection[str] = ()


@dataclass
class ProgressForecast:
    """Forecasts of all parties; `observe` adds a round, `gains` and `base` forecast the next."""

    base: float = FIRST_PROGRESS * FIRST_SHARES["base"]
    hearing: float = FIRST_PROGRESS * FIRST_SHARES["hearing"]  # if everybody reports
    exponent: float = USUAL_EXPONENT
    parties: dict[str, PartyProgress] = field(default_factory=dict)
    server_rounds: list[tuple[float, float]] = field(default_factory=list)  # share heard, gain
    exponent_fit: tuple[float, float] = (0.0, 0.0)  # covariance and variance of logarithms
    staleness_exponent: float = USUAL_STALENESS_EXPONENT
    staleness_fit: tuple[float, float] = (0.0, 0.0)  # as above, of late reports

    def amounts(self, names: Sequence[str], round_index: int) -> Array:
        """Return what each party's update adds with the most iterations in a round."""
        known = [party.amount for name, party in self.parties.items() if name in names]
        first = FIRST_PROGRESS * FIRST_SHARES["updates"] / max(1, len(names))
        least = LEAST_SHARE * (self.base + self.hearing) / max(1, len(names))
        best = max(least, max(known, default=first))
        result = []
        for name in names:
            party = self.parties.get(name)
            rested = 0 if party is None else max(0, round_index - party.round - 1)
            own = best if party is None else party.amount
            result.append(best + (own - best) * (1 - OPTIMISM) ** rested)
        return np.maximum(result, OPTIMISM * least)

    def gains(self, names: Sequence[str], round_index: int, most: int) -> Array:
        """Return what parties add by their number of iterations, (parties, most + 1)."""
        iterations = np.arange(most + 1)
        share = (iterations / max(1, most)) ** self.exponent
        hearing = self.hearing / max(1, len(names))
        updates = self.amounts(names, round_index)[:, None] * share
        return np.where(iterations > 0, updates + hearing, 0.0)

    def observe(self, measured: MeasuredProgress, round_index: int, most: int) -> dict[str, float]:
        """Take a round into account; return what each party's update added."""
        made = measured.after - measured.before
        credit = {name: max(gain, 0.0) for name, gain in measured.contributions.items()}
        total = sum(credit.values())
        updates = max(made, 0.0) * measured.update_share
        gains = {name: updates * c / total if total else 0.0 for name, c in credit.items()}
        self._fit_staleness(gains, measured, most)
        late = {
            name: float(staleness_share(staleness, self.staleness_exponent))
            for name, staleness in measured.staleness.items()
        }
        fresh = {name: gain / late.get(name, 1.0) for name, gain in gains.items()}
        self._fit_exponent(fresh, measured.iterations)
        for name, gain in fresh.items():
            share = (max(measured.iterations.get(name, 0.0), 1e-9) / max(1, most)) ** self.exponent
            before, amount = self.parties.get(name), gain / share
            if before is not None:
                amount = WEIGHT_OF_LATEST * amount + (1 - WEIGHT_OF_LATEST) * before.amount
            count = measured.iterations.get(name, 0.0)
            self.parties[name] = PartyProgress(amount, round_index, gain, count)
        for name in measured.working:
            if name in self.parties:
                self.parties[name].round = round_index
        heard = len(measured.iterations) / max(1, measured.present)
        self.server_rounds.append((heard, made - sum(gains.values())))
        self._fit_server(LEAST_SHARE * measured.after / (round_index + 1))
        return gains

    def _fit_server(self, least: float) -> None:
        """Fit the server's own progress by ridge regression on the share of parties heard."""
        heard, gains = np.array(self.server_rounds).T
        weights = HEARING_MEMORY ** np.arange(len(gains) - 1, -1, -1)
        level = float(weights @ gains / weights.sum())
        shares = FIRST_SHARES["base"], FIRST_SHARES["hearing"]
        scale = max(level, least) / (shares[0] + shares[1] * float(weights @ heard / weights.sum()))
        prior = np.array(shares) * scale
        columns = np.stack([np.ones(len(heard)), heard], 1)
        normal = columns.T @ (weights[:, None] * columns) + np.eye(2)
        base, hearing = np.linalg.solve(normal, columns.T @ (weights * gains) + prior)
        self.base, self.hearing = max(float(base), least), max(float(hearing), 0.0)

    def _fit_exponent(self, gains: Mapping[str, float], iterations: Mapping[str, float]) -> None:
        """Fit the exponent to parties that took other numbers of iterations than before.

        All gains of a round may have risen or fallen; what counts is how those of parties with more
        iterations than before did against the others.
        """
        changes = []
        for name, gain in gains.items():
            before, count = self.parties.get(name), iterations.get(name, 0.0)
            if before is not None and min(before.gain, gain, before.iterations, count) > 0:
                risen = np.log(gain) - np.log(before.gain)
                changes.append((np.log(count / before.iterations), risen))
        covariance, variance = (MEMORY * value for value in self.exponent_fit)
        if changes:
            more, risen = np.array(changes).T
            more, risen = more - more.mean(), np.clip(risen - risen.mean(), -2.0, 2.0)
            covariance, variance = covariance + float(more @ risen), variance + float(more @ more)
        self.exponent_fit = (covariance, variance)
        fitted = (covariance + EXPONENT_PRIOR_WEIGHT * USUAL_EXPONENT) / (
            variance + EXPONENT_PRIOR_WEIGHT
        )
        self.exponent = min(max(fitted, EXPONENT_LIMITS[0]), EXPONENT_LIMITS[1])

    def _fit_staleness(
        self, gains: Mapping[str, float], measured: MeasuredProgress, most: int
    ) -> None:
        """Fit the exponent of staleness to late reports, against fresh ones of the same round.

        A late party that has not been measured before is compared with the mean of the others.
        """
        late = {n: s for n, s in measured.staleness.items() if s > 0 and n in gains}
        if not late:
            return
        counts = {n: max(measured.iterations.get(n, 0.0), 1e-9) / max(1, most) for n in gains}
        amounts = {n: gain / counts[n] ** self.exponent for n, gain in gains.items()}
        others = [n for n in gains if n not in late and n in self.parties]
        usual = sum(self.parties[n].amount for n in others)
        level = sum(amounts[n] for n in others)
        if usual <= 0 or level <= 0:
            return
        covariance, variance = (MEMORY * value for value in self.staleness_fit)
        for name, staleness in late.items():
            party = self.parties.get(name)
            expected = usual / len(others) if party is None else party.amount
            if expected <= 0:
                continue
            share = max(amounts[name] / expected * usual / level, 1e-9)
            lost = -float(np.clip(np.log(share), -LOG_LIMIT, LOG_LIMIT))
            stale = float(np.log1p(staleness))
            covariance, variance = covariance + lost * stale, variance + stale**2
        self.staleness_fit = (covariance, variance)
        fitted = (covariance + STALENESS_PRIOR_WEIGHT * USUAL_STALENESS_EXPONENT) / (
            variance + STALENESS_PRIOR_WEIGHT
        )
        self.staleness_exponent = min(max(fitted, STALENESS_LIMITS[0]), STALENESS_LIMITS[1])

    def state_dict(self) -> dict[str, Any]:
        """Return the whole state, for a checkpoint."""
        return asdict(self)

    @classmethod
    def from_state_dict(cls, state: dict[str, Any]) -> ProgressForecast:
        """Return the forecast with this state."""
        parties = {name: PartyProgress(**party) for name, party in state["parties"].items()}
        forecast = cls()
        for name, value in state.items():
            setattr(forecast, name, value)
        forecast.parties = parties
        forecast.server_rounds = [(heard, gain) for heard, gain in state["server_rounds"]]
        forecast.exponent_fit = (state["exponent_fit"][0], state["exponent_fit"][1])
        late = state.get("staleness_fit", (0.0, 0.0))  # not in runs of earlier versions
        forecast.staleness_fit = (late[0], late[1])
        return forecast
