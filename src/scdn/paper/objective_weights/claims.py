"""What the paper says that each weight changes, and about larger networks and other starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import product

import numpy as np

from scdn.paper.artefact import Claim, Numbers
from scdn.paper.single_round import AT_PLACE_M
from scdn.paper.value_text import count_runs, listed, value_range
from scdn.paper.verdicts import Count, count_agreeing, count_claim, count_true, is_monotone

TITLES = {"published": "Padé's rate, Algorithm 3", "shannon": "True rate, exact"}
CHANGES = {  # the quantities that a weight is said to change
    "convergence": ("iterations", "gradient"),
    "processing": ("iterations", "gradient"),
    "transmission": ("power_w", "distance_sq"),
    "movement": ("power_w", "moved_m"),
}
TRENDS = (
    ("Larger ψ^G buys more training iterations", "convergence", "iterations", 1),
    ("Larger ψ^G lowers the estimated gradient", "convergence", "gradient", -1),
    ("Larger ψ^P costs training iterations", "processing", "iterations", -1),
    ("Larger ψ^P raises the estimated gradient", "processing", "gradient", 1),
    ("Larger ψ^R lowers the average transmit power", "transmission", "power_w", -1),
    ("Larger ψ^R raises squared distances to the server", "transmission", "distance_sq", 1),
    ("Larger ψ^S makes the server move less in xy", "movement", "moved_m", -1),
)
FIGURE = "Scaling Variable Characteristics; Fig. psi_all_*"
APPENDIX = "App. more_exps"
CURVES = "curves (5 starts, 3 sizes)"
NONE_ACTIVE = 0.5  # mean active devices below which all are off

Curves = dict[str, dict[str, list[float]]]  # of one start and size: quantity → mean and std
ByStart = Mapping[str, Mapping[str, Curves]]  # start → size → curves


def claims(numbers: Numbers) -> list[Claim]:
    """Judge each trend that the text states."""
    return [
        *_trends(numbers),
        *_larger_networks(numbers),
        *_largest_weights(numbers),
        *_other_starts(numbers),
        _deviations(numbers),
    ]


def _all_curves(by_start: ByStart) -> list[Curves]:
    return [curves for by_size in by_start.values() for curves in by_size.values()]


def _over_weight(numbers: Numbers, weight: str) -> dict[str, list[Curves]]:
    return {TITLES[block]: _all_curves(by[weight]) for block, by in numbers["curves"].items()}


def _count_by_block(numbers: Numbers, flags: Callable[[str], Iterable[bool]]) -> dict[str, Count]:
    return {TITLES[block]: count_true(flags(block)) for block in numbers["curves"]}


def _trends(numbers: Numbers) -> Iterator[Claim]:
    for text, weight, quantity, direction in TRENDS:
        means = {
            block: [curves[quantity]["mean"] for curves in every]
            for block, every in _over_weight(numbers, weight).items()
        }
        counts = count_agreeing(means, partial(is_monotone, direction=direction))
        yield count_claim(FIGURE, text, counts, CURVES, _median_changes(means))


def _median_changes(means: Mapping[str, list[list[float]]]) -> str:
    """Return by what factor a quantity changes to its largest value and to its last."""
    factors = []
    for block, every in means.items():
        known = [mean for mean in every if mean[0] > 0]
        if known:
            largest = np.median([max(mean) / mean[0] for mean in known])
            last = np.median([mean[-1] / mean[0] for mean in known])
            factors.append(f"{largest:.3g} and {last:.3g} ({block})")
    return f"Largest and last over first, medians: {'; '.join(factors)}." if factors else ""


def _larger_networks(numbers: Numbers) -> Iterator[Claim]:
    for text, quantity, direction in (
        ("Larger networks see fewer iterations on average", "iterations", -1),
        ("Larger networks see larger estimated gradients", "gradient", 1),
    ):
        counts = _count_by_block(numbers, partial(_changes_with_size, numbers, quantity, direction))
        yield count_claim(FIGURE, text, counts, "sweeps (ψ^G and ψ^P, 5 starts)")


def _changes_with_size(
    numbers: Numbers, quantity: str, direction: int, block: str
) -> Iterator[bool]:
    """Yield whether the mean over a sweep rises or falls with the number of devices."""
    for weight in ("convergence", "processing"):
        for by_size in numbers["curves"][block][weight].values():
            means = [np.mean(by_size[str(n)][quantity]["mean"]) for n in numbers["devices"]]
            yield bool(np.all(direction * np.diff(means) > 0))


def _largest_weights(numbers: Numbers) -> list[Claim]:
    over_transmission = _over_weight(numbers, "transmission")
    over_movement = _over_weight(numbers, "movement")
    return [
        count_claim(
            FIGURE,
            "At the largest ψ^R (1e12) all devices are off",
            count_agreeing(over_transmission, lambda curves: _last(curves, "active") < NONE_ACTIVE),
            CURVES,
        ),
        count_claim(
            FIGURE,
            "At the largest ψ^R (1e12) the server keeps its xy-position",
            count_agreeing(over_transmission, lambda c: _last(c, "moved_m") <= AT_PLACE_M),
            CURVES,
        ),
        count_claim(
            FIGURE,
            "At the largest ψ^R (1e12) the server is at z = 0",
            count_agreeing(over_transmission, lambda c: _last(c, "height_m") <= AT_PLACE_M),
            CURVES,
        ),
        count_claim(
            FIGURE,
            "As ψ^S grows, transmit power rises in place of the server's moves",
            count_agreeing(over_movement, _power_rises),
            CURVES,
            "Judged up to the first weight at which a device is switched off.",
        ),
        count_claim(
            FIGURE,
            "At the largest ψ^S hovering is too costly and all devices are off",
            count_agreeing(over_movement, lambda curves: _last(curves, "active") < NONE_ACTIVE),
            CURVES,
            "On the ground hovering costs K^H whether devices are active or not, so switching them "
            "off saves nothing; with the true rate the devices out of reach from there are off.",
        ),
    ]


def _last(curves: Curves, quantity: str) -> float:
    return curves[quantity]["mean"][-1]


def _power_rises(curves: Curves) -> bool:
    active = np.array(curves["active"]["mean"])
    fewer = np.flatnonzero(active < active[0])
    points = int(fewer[0]) if len(fewer) else len(active)
    return points > 1 and is_monotone(curves["power_w"]["mean"][:points], 1)


def _other_starts(numbers: Numbers) -> list[Claim]:
    return [
        count_claim(
            "Fig. psi_all_max",
            "From max the network becomes inactive at a smaller ψ^R (1e11) than elsewhere (1e12)",
            _count_by_block(numbers, partial(_off_sooner_from_max, numbers)),
            "sizes, compared with centre",
            _off_from_weight(numbers),
        ),
        count_claim(
            APPENDIX,
            "At the least ψ^S the server moves less than 60 m from the centre",
            _count_by_block(numbers, lambda block: _moves_60_m(numbers, block, from_centre=True)),
            "sizes",
            _metres_moved(numbers),
        ),
        count_claim(
            APPENDIX,
            "At the least ψ^S the server moves more than 60 m from elsewhere",
            _count_by_block(numbers, lambda block: _moves_60_m(numbers, block, from_centre=False)),
            "curves (4 starts, 3 sizes)",
        ),
    ]


def _off_exponent(numbers: Numbers, block: str, start: str, n: int) -> float | None:
    """Return the exponent of ψ^R from which on no device is active."""
    active = numbers["curves"][block]["transmission"][start][str(n)]["active"]["mean"]
    exponents = numbers["exponents"][block]["transmission"]
    last_active = max((k for k, value in enumerate(active) if value >= NONE_ACTIVE), default=-1)
    return exponents[last_active + 1] if last_active + 1 < len(active) else None


def _off_sooner_from_max(numbers: Numbers, block: str) -> Iterator[bool]:
    for n in numbers["devices"]:
        from_max, from_centre = (_off_exponent(numbers, block, s, n) for s in ("max", "centre"))
        yield from_max is not None and (from_centre is None or from_max < from_centre)


def _off_from_weight(numbers: Numbers) -> str:
    sizes, parts = numbers["devices"], []
    for block in numbers["curves"]:
        for start in ("centre", "max"):
            exponents = [_off_exponent(numbers, block, start, n) for n in sizes]
            weights = ", ".join("never" if k is None else f"1e{k:g}" for k in exponents)
            parts.append(f"{TITLES[block]}, {start}: {weights}")
    return f"No device is active from this ψ^R on (N = {listed(sizes)}): {'; '.join(parts)}."


def _moves_60_m(numbers: Numbers, block: str, *, from_centre: bool) -> Iterator[bool]:
    for start, by_size in numbers["curves"][block]["movement"].items():
        if (start == "centre") == from_centre:
            for curves in by_size.values():
                moved = curves["moved_m"]["mean"][0]
                yield moved < 60 if from_centre else moved > 60


def _metres_moved(numbers: Numbers) -> str:
    parts = []
    for block, by_weight in numbers["curves"].items():
        ranges = ", ".join(
            f"{start} {value_range([c['moved_m']['mean'][0] for c in by_size.values()], '.0f')}"
            for start, by_size in by_weight["movement"].items()
        )
        parts.append(f"{TITLES[block]}: {ranges}")
    return f"Metres moved: {', '.join(parts)}."


def _deviations(numbers: Numbers) -> Claim:
    several, curves = numbers["runs"] > 1, numbers["curves"]
    return count_claim(
        f"{APPENDIX}; Fig. vpsi_*",
        "Standard deviations are well below the means",
        _count_by_block(numbers, lambda block: _below_half(curves[block]) if several else ()),
        "points (below half the mean)",
        f"{count_runs(numbers['runs'])} each.",
    )


def _below_half(by_weight: Mapping[str, ByStart]) -> Iterator[bool]:
    """Yield whether a deviation is below half its mean, for every point with a mean above 0."""
    for weight, by_start in by_weight.items():
        for curves, name in product(_all_curves(by_start), CHANGES[weight]):
            points = zip(curves[name]["mean"], curves[name]["std"], strict=True)
            yield from (std < 0.5 * mean for mean, std in points if mean > 0)
