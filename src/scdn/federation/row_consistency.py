"""Find devices whose embeddings of test rows do not fit those of training rows, without labels.

Devices hold features of the same rows, so a part of one's embeddings follows from those of others:
as much on test rows as on training rows, if it embeds both with the same model. How the others'
embeddings give a device's is fitted, linearly, on one half of the sample of training rows and
compared with the other half, and the other way round. Test rows may be of other days than training
rows; then they fit less well for all devices, so that a device is compared with the others.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from torch import Tensor

from scdn.federation.linear_fit import CUT, Fit, column_limits, fits_without
from scdn.federation.remote_party import RemoteParty

Tables = dict[str, Tensor]

# A device is judged if its embeddings of training rows have at least such a correlation with what
# follows from others', and if there are so many test rows.
MIN_CORRELATION, MIN_ROWS = 0.3, 30
# Of that correlation, so much must be there on test rows too. Honest devices: 0.21 at least, where
# test rows are of other days.
MIN_KEPT = 0.15
# Where there are so many others and test rows, and such a correlation, the part that is there may
# be this part of what it is for the others in the median. Honest ones: 0.87 at least on digits, and
# 0.57 on occupancy, where sensors are of several kinds and test rows of other days.
MIN_OTHERS, MANY_ROWS, CLEAR_CORRELATION, MIN_KEPT_TO_OTHERS = 3, 100, 0.5, 0.8
# The slope, which is smaller on test rows that are mixed with others or shrunk, may be so many
# times as large or as small as for the others. Honest ones: 1.5, with three columns each.
MAX_SLOPE_TO_OTHERS = 2.0
# Both must also be so many times as far from the others' median as the farthest of the others, and
# as the estimate is uncertain. That is large where a few rows decide, as with columns that are
# mostly zero. Honest ones: 2.6 times at most on occupancy; the smallest lies tried, 5 times mostly.
MIN_DISTANCE_TO_OTHERS = 4.0
# Test rows may be so many times as far from the mean of training rows. Honest ones: 0.8 to 1.2.
MAX_SPREAD = 2.0
# A device is compared with so many others, less one part of them at a time: so one that lies does
# not make others look bad.
_MOST_OTHERS, _PARTS_OF_OTHERS = 10, 5
_TINY = 1e-9


def find_inconsistent(names: Collection[str], parties: Mapping[str, RemoteParty]) -> dict[str, str]:
    """Return those of `names` whose test rows do not fit, and in what way.

    A party is compared with some groups of others, and must be out of line with all of them: so one
    that lies does not make others look bad. There must be at least two others.
    """
    samples = {name: p.sample for name, p in parties.items() if p.sample is not None}
    tests = {n: p.test for n, p in parties.items() if p.test is not None and n in samples}
    reasons: dict[str, str] = {}  # old reports only help to judge the others
    for name, test in tests.items():
        spread = _spread(samples[name], test)
        if spread > MAX_SPREAD:
            told = f"its test rows are {spread:.3g} times as far apart as its training rows"
            reasons[name] = told
    known = [name for name in tests if name not in reasons]
    fits = _fits(known, samples, tests)
    judged = {name: _judge(name, fits, len(tests[name]) >= MANY_ROWS) for name in fits}
    reasons |= {name: one.told for name, one in judged.items() if one.badness > 1.0}
    return {name: reason for name, reason in reasons.items() if name in names}


def find_inconsistent_held_out(sent: Mapping[str, Tables]) -> dict[str, str]:
    """Return the parties whose rows held out do not fit those that they have just trained on.

    A device knows which is which. One that is right for the former alone makes the server rely on
    it, and every step look bad.
    """
    drawn = {n: t["drawn"] for n, t in sent.items() if {"drawn", "held_out"} <= t.keys()}
    held_out = {name: sent[name]["held_out"] for name in drawn}
    fits = _fits(list(drawn), drawn, held_out)
    reasons = {}
    for name, fit in fits.items():
        others = [other.kept for n, other in fits.items() if n != name]
        if fit.training < CLEAR_CORRELATION or len(others) < 2:
            continue
        usual, margin = usual_and_margin(others, fit.kept_error)
        if fit.kept < min(MIN_KEPT, usual - margin):
            told = f"its rows held out have a correlation of {fit.training * fit.kept:.2f}"
            reasons[name] = f"{told} with those of others, its trained rows {fit.training:.2f}"
    return reasons


def _fits(
    known: list[str], samples: Mapping[str, Tensor], tests: Mapping[str, Tensor]
) -> dict[str, Fit]:
    """Return how far each device's embeddings follow from others', where that is clear."""
    if len(known) < 3 or len(tests[known[0]]) < MIN_ROWS:
        return {}
    limits = {name: column_limits(samples[name]) for name in known}
    samples = {name: samples[name].clamp(*limits[name]) for name in known}
    tests = {name: tests[name].clamp(*limits[name]) for name in known}
    fits = {name: best_fit(name, known, samples, tests) for name in known}
    return {name: fit for name, fit in fits.items() if fit.training > MIN_CORRELATION}


class _Judgement(NamedTuple):
    badness: float  # above 1: out of line
    told: str


def _judge(name: str, fits: Mapping[str, Fit], many: bool) -> _Judgement:
    """Return how far a device's test rows are out of line, and in what way."""
    fit, others = fits[name], [other for n, other in fits.items() if n != name]
    told = f"its test rows have a correlation of {fit.training * fit.kept:.2f} with those of others"
    told += f", its training rows {fit.training:.2f}"
    if not many or len(others) < MIN_OTHERS or fit.training < CLEAR_CORRELATION:
        return _Judgement(_ratio(MIN_KEPT, fit.kept), told)
    usual, margin = usual_and_margin([other.kept for other in others], fit.kept_error)
    limit = max(MIN_KEPT, min(MIN_KEPT_TO_OTHERS * usual, usual - margin))
    judged = _Judgement(_ratio(limit, fit.kept), f"{told}; others keep {usual:.2f} of it")
    usual, margin = usual_and_margin([_log(other.slope) for other in others], fit.slope_error)
    limit = max(_log(MAX_SLOPE_TO_OTHERS), margin)
    away = abs(_log(fit.slope) - usual)
    told = f"its test rows are {fit.slope:.2f} times what follows from others', its training rows 1"
    return max(judged, _Judgement(away / limit, told))


def usual_and_margin(others: Sequence[float], error: float) -> tuple[float, float]:
    """Return the others' median, and how far from it an estimate with this error may be."""
    usual = median(others)
    farthest = max(abs(value - usual) for value in others)
    return usual, MIN_DISTANCE_TO_OTHERS * math.hypot(farthest, error)


def _ratio(limit: float, value: float) -> float:
    return limit / max(value, _TINY)


def _log(value: float) -> float:
    return math.log(max(value, _TINY))


def best_fit(
    name: str, known: list[str], samples: Mapping[str, Tensor], tests: Mapping[str, Tensor]
) -> Fit:
    """Return how far a device's embeddings follow from the group of others that fits best."""
    others = [other for other in known if other != name]
    others = others[:: math.ceil(len(others) / _MOST_OTHERS)]
    parts = [others[n::_PARTS_OF_OTHERS] for n in range(min(_PARTS_OF_OTHERS, len(others)))]
    tables = {other: samples[other] for other in others}
    fits = fits_without(parts, tables, samples[name], tests, tests[name])
    clear = [fit for fit in fits if fit.training > MIN_CORRELATION]
    best = max(clear or fits, key=lambda fit: fit.kept)
    nearest = min(clear or fits, key=lambda fit: abs(_log(fit.slope)))
    return best._replace(slope=nearest.slope, slope_error=nearest.slope_error)


def _spread(sample: Tensor, test: Tensor) -> float:
    """Return how far test rows are from the mean of training rows, against training rows.

    The farthest test rows do not count.
    """
    mean = sample.double().mean(0)
    usual = float(_squared_distances(sample, mean).mean())
    distances = _squared_distances(test, mean).sort().values
    spread = float(distances[: math.ceil(len(distances) * (1 - CUT))].mean())
    return (spread / usual) ** 0.5 if usual else 1.0


def _squared_distances(table: Tensor, mean: Tensor) -> Tensor:
    return (table.double() - mean).square().sum(1)
