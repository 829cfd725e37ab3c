"""What the paper says that each weight changes, and what larger networks and other starts do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

import numpy as np

from scdn.paper.artefact import Claim, Numbers
from scdn.paper.control import landed
from scdn.paper.counting import counted, goes, tallies, tally
from scdn.paper.digits import between, listed
from scdn.paper.judging import runs_of

TITLES = {"published": "Padé's rate, Algorithm 3", "shannon": "True rate, exact"}
CHANGED = {  # what a weight is said to change
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
NOBODY = 0.5  # active devices, on average, below which all are off

Cell = dict[str, dict[str, list[float]]]  # of one start and size: name → mean and std
Starts = Mapping[str, Mapping[str, Cell]]


def claims(numbers: Numbers) -> list[Claim]:
    """Each trend that the text states."""
    return [
        *_trends(numbers),
        *_larger_networks(numbers),
        *_largest_weights(numbers),
        *_other_starts(numbers),
        _deviations(numbers),
    ]


def _cells(by: Starts) -> list[Cell]:
    return [cell for sizes in by.values() for cell in sizes.values()]


def _moved_by(numbers: Numbers, weight: str) -> dict[str, list[Cell]]:
    """Every curve over a weight, by block."""
    return {TITLES[block]: _cells(by[weight]) for block, by in numbers["curves"].items()}


def _asked(numbers: Numbers, test: Callable[[str], Iterable[bool]]) -> dict[str, tuple[int, int]]:
    """What a test finds in each block."""
    return {TITLES[block]: tally(test(block)) for block in numbers["curves"]}


def _trends(numbers: Numbers) -> Iterator[Claim]:
    for text, weight, name, direction in TRENDS:
        cells = _moved_by(numbers, weight)
        means = {where: [cell[name]["mean"] for cell in found] for where, found in cells.items()}
        counts = tallies(means, partial(goes, direction=direction))
        yield counted(FIGURE, text, counts, CURVES, _far(means))


def _far(curves: Mapping[str, list[list[float]]]) -> str:
    """By what factor a quantity changes: to its largest value, and to its last."""
    words = []
    for where, every in curves.items():
        means = [mean for mean in every if mean[0] > 0]
        if means:
            largest = np.median([max(mean) / mean[0] for mean in means])
            end = np.median([mean[-1] / mean[0] for mean in means])
            words.append(f"{largest:.3g} and {end:.3g} ({where})")
    return f"Largest and last over first, medians: {'; '.join(words)}." if words else ""


def _larger_networks(numbers: Numbers) -> Iterator[Claim]:
    for text, name, direction in (
        ("Larger networks see fewer iterations on average", "iterations", -1),
        ("Larger networks see larger estimated gradients", "gradient", 1),
    ):
        counts = _asked(numbers, partial(_by_size, numbers, name, direction))
        yield counted(FIGURE, text, counts, "sweeps (ψ^G and ψ^P, 5 starts)")


def _by_size(numbers: Numbers, name: str, direction: int, block: str) -> Iterator[bool]:
    """Whether the mean over a sweep rises or falls with the number of devices."""
    for weight in ("convergence", "processing"):
        for sizes in numbers["curves"][block][weight].values():
            means = [np.mean(sizes[str(n)][name]["mean"]) for n in numbers["devices"]]
            yield bool(np.all(direction * np.diff(means) > 0))


def _largest_weights(numbers: Numbers) -> list[Claim]:
    sending, moving = (_moved_by(numbers, weight) for weight in ("transmission", "movement"))
    return [
        counted(
            FIGURE,
            "At the largest ψ^R (1e12) all devices are off, and the server keeps its xy at z = 0",
            tallies(sending, _silent_on_the_ground),
            CURVES,
        ),
        counted(
            FIGURE,
            "As ψ^S grows, transmit power rises in place of the server's moves",
            tallies(moving, _power_instead),
            CURVES,
            "Judged while nobody has been switched off.",
        ),
        counted(
            FIGURE,
            "At the largest ψ^S hovering is too costly and all devices are off",
            tallies(moving, lambda cell: _end(cell, "active") < NOBODY),
            CURVES,
            "On the ground hovering costs K^H whoever is active, so nothing is gained by switching "
            "off; under the true rate those are off who are out of reach from there.",
        ),
    ]


def _end(cell: Cell, name: str) -> float:
    return cell[name]["mean"][-1]


def _silent_on_the_ground(cell: Cell) -> bool:
    return _end(cell, "active") < NOBODY and landed(_end(cell, "moved_m"), _end(cell, "height_m"))


def _power_instead(cell: Cell) -> bool:
    active = np.array(cell["active"]["mean"])
    fewer = np.flatnonzero(active < active[0])
    points = int(fewer[0]) if len(fewer) else len(active)
    return goes(cell["power_w"]["mean"][:points], 1) if points > 1 else False


def _other_starts(numbers: Numbers) -> list[Claim]:
    return [
        counted(
            "Fig. psi_all_max",
            "From max the network becomes inactive at a smaller ψ^R (1e11) than elsewhere (1e12)",
            _asked(numbers, partial(_sooner, numbers)),
            "sizes, against centre",
            _inactive_from(numbers),
        ),
        counted(
            APPENDIX,
            "At the least ψ^S the server moves less than 60 m from the centre, more from elsewhere",
            _asked(numbers, lambda block: _sixty(numbers["curves"][block]["movement"])),
            CURVES,
            _moves(numbers),
        ),
    ]


def _silent(numbers: Numbers, block: str, start: str, n: int) -> float | None:
    """The exponent of ψ^R from which on nobody is active."""
    active = numbers["curves"][block]["transmission"][start][str(n)]["active"]["mean"]
    exponents = numbers["exponents"][block]["transmission"]
    heard = [k for k, value in enumerate(active) if value >= NOBODY]
    first = max(heard, default=-1) + 1
    return exponents[first] if first < len(active) else None


def _sooner(numbers: Numbers, block: str) -> Iterator[bool]:
    for n in numbers["devices"]:
        early, usual = (_silent(numbers, block, start, n) for start in ("max", "centre"))
        yield early is not None and (usual is None or early < usual)


def _inactive_from(numbers: Numbers) -> str:
    sizes, words = numbers["devices"], []
    for block in numbers["curves"]:
        for start in ("centre", "max"):
            found = [_silent(numbers, block, start, n) for n in sizes]
            told = ", ".join("never" if value is None else f"1e{value:g}" for value in found)
            words.append(f"{TITLES[block]}, {start}: {told}")
    return f"Nobody is active from ψ^R of … on (N = {listed(sizes)}): {'; '.join(words)}."


def _sixty(by: Starts) -> Iterator[bool]:
    for start, sizes in by.items():
        for cell in sizes.values():
            moved = cell["moved_m"]["mean"][0]
            yield moved < 60 if start == "centre" else moved > 60


def _moves(numbers: Numbers) -> str:
    words = []
    for block, by in numbers["curves"].items():
        found = {
            start: between([cell["moved_m"]["mean"][0] for cell in sizes.values()], ".0f")
            for start, sizes in by["movement"].items()
        }
        told = ", ".join(f"{start} {metres}" for start, metres in found.items())
        words.append(f"{TITLES[block]}: {told}")
    return f"Metres moved: {', '.join(words)}."


def _deviations(numbers: Numbers) -> Claim:
    several, curves = numbers["runs"] > 1, numbers["curves"]
    return counted(
        f"{APPENDIX}; Fig. vpsi_*",
        "Standard deviations are well below the means",
        _asked(numbers, lambda block: _modest(curves[block]) if several else ()),
        "points (below half the mean)",
        f"{runs_of(numbers['runs'])} each.",
    )


def _modest(by: Mapping[str, Starts]) -> Iterator[bool]:
    for weight, starts in by.items():
        for cell in _cells(starts):
            for name in CHANGED[weight]:
                for mean, std in zip(cell[name]["mean"], cell[name]["std"], strict=True):
                    if mean > 0:
                        yield std < 0.5 * mean
