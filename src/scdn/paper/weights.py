"""Characteristic curves: what changes as one of the four weights grows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from scdn.control.problem import Decision, RoundProblem
from scdn.paper.artefact import Claim, Drawing, Found, Numbers, Setting, Table
from scdn.paper.control import (
    STARTS,
    algorithm_3,
    drawn_problem,
    network_job,
    optimal,
    scenario_of,
    short,
)
from scdn.paper.counting import counted, goes, mean_std, tally
from scdn.paper.draw import band, tidy
from scdn.paper.jobs import Job
from scdn.pictures.palette import GRID

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORK = "scdn.paper.weights:curve"
WEIGHTS = ("convergence", "processing", "transmission", "movement")
KEPT = (
    "active",
    "iterations",
    "gradient",
    "power_w",
    "distance_sq",
    "moved_m",
    "height_m",
)
PANELS = {
    "convergence": ("iterations", "gradient"),
    "processing": ("iterations", "gradient"),
    "transmission": ("power_w", "distance_sq"),
    "movement": ("power_w", "moved_m"),
}
LABELS = {
    "iterations": "iterations, mean",
    "gradient": "gradient bound, of its largest",
    "power_w": "power (W), mean",
    "distance_sq": "squared distance (m²)",
    "moved_m": "moved in xy (m)",
    "active": "active devices",
}
LOGARITHMIC = ("gradient",)
SYMBOLS = {
    "convergence": "ψ^G",
    "processing": "ψ^P",
    "transmission": "ψ^R",
    "movement": "ψ^S",
}
TITLES = {"published": "Padé's rate, Algorithm 3", "shannon": "True rate, exact"}
GROUND_M = 1.0

Cell = dict[str, dict[str, list[float]]]


def jobs(setting: Setting) -> list[Job]:
    """One per block, weight, start, size and seed."""
    sweep = setting.sweep
    return [
        network_job(
            f"{block}-{weight}-{start}-{devices}-{seed}",
            WORK,
            setting,
            [*own, f"server.start={start}", f"fleet.0.count={devices}", f"seed={seed}"],
            block=block,
            weight=weight,
            exponents=sweep[block][weight],
        )
        for block, (seeds, own) in _blocks(setting).items()
        for weight in WEIGHTS
        for start in STARTS
        for devices in sweep["devices"]
        for seed in seeds
    ]


def _blocks(setting: Setting) -> dict[str, tuple[range, list[str]]]:
    """Each block's seeds and settings."""
    sweep = setting.sweep
    published = range(min(sweep["runs_published"], len(setting.seeds)))
    blocks = {"published": (published, list[str]()), "shannon": (setting.seeds, sweep["true"])}
    return {
        block: found for block, found in blocks.items() if not setting.only or block in setting.only
    }


def curve(arguments: dict[str, Any], _: object) -> dict[str, Any]:
    """One row of numbers for each value of the weight."""
    problem = drawn_problem(scenario_of(arguments))
    rows, proven = [], 0
    for exponent in arguments["exponents"]:
        weights = problem.weights.model_copy(update={arguments["weight"]: 10.0**exponent})
        weighed = replace(problem, weights=weights)
        if arguments["block"] == "published":
            decision = algorithm_3(weighed).raw
        else:
            found = optimal(weighed)
            decision, proven = found.decision, proven + (found.status == "optimal")
        rows.append(short(_measured(weighed, decision)))
    return {"rows": rows, "proven": proven}


def _measured(problem: RoundProblem, decision: Decision) -> tuple[float, ...]:
    """The numbers of `KEPT`, means over devices; who is inactive sends with no power."""
    offset = problem.position_m - decision.server_m
    return (
        float(decision.active.sum()),
        float(decision.iterations.mean()),
        float(problem.convergence(decision.iterations).sum()),
        float(np.where(decision.active, decision.power_w, 0.0).mean()),
        float((offset**2).sum(axis=1).mean()),
        float(np.hypot(*(decision.server_m - problem.server_m)[:2])),
        float(decision.server_m[2]),
    )


def numbers(setting: Setting, found: Found) -> Numbers:
    """Means and standard deviations over runs of what each weight is said to change."""
    sweep = setting.sweep
    kept: Numbers = {"devices": sweep["devices"], "exponents": {}, "curves": {}, "runs": {}}
    for block, (seeds, _) in _blocks(setting).items():
        kept["exponents"][block] = sweep[block]
        kept["runs"][block] = len(seeds)
        kept["curves"][block] = {
            weight: {
                start: {
                    str(n): _curve(
                        [found[f"{block}-{weight}-{start}-{n}-{seed}"]["rows"] for seed in seeds],
                        weight,
                    )
                    for n in sweep["devices"]
                }
                for start in STARTS
            }
            for weight in WEIGHTS
        }
    return kept


def _curve(runs: list[list[list[float]]], weight: str) -> dict[str, dict[str, list[float]]]:
    """One mean and one deviation per value of the weight, of what this weight moves."""
    rows = np.array(runs)  # (runs, points, kept)
    found = {}
    for name in (*PANELS[weight], "active", "moved_m", "height_m"):
        mean, std = mean_std(rows[:, :, KEPT.index(name)])
        found[name] = {"mean": mean, "std": std}
    return found


# --- what is shown --------------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Table | Drawing]:
    """A drawing for each block and start, and where everything ends."""
    drawings = [
        Drawing(
            f"weights-{block}-{start}",
            f"{TITLES[block]}, server before: {start}",
            partial(_draw, numbers, block, start),
            (12.0, 6.6),
        )
        for block in numbers["curves"]
        for start in STARTS
    ]
    return [*drawings, *(_ends(numbers, block) for block in numbers["curves"])]


def _draw(numbers: Numbers, block: str, start: str, figure: Figure) -> None:
    panels = figure.subplots(3, len(WEIGHTS), sharex="col")
    for column, weight in enumerate(WEIGHTS):
        by = numbers["curves"][block][weight][start]
        values = [10.0**exponent for exponent in numbers["exponents"][block][weight]]
        for line, name in enumerate((*PANELS[weight], "active")):
            axes = panels[line][column]
            whole = max(max(cell[name]["mean"]) for cell in by.values()) or 1.0
            unit = whole if name == "gradient" else 1.0
            for number, n in enumerate(numbers["devices"]):
                cell = by[str(n)][name]
                mean = [value / unit for value in cell["mean"]]
                std = [spread / unit for spread in cell["std"]]
                if name in LOGARITHMIC:  # a band that stays above 0
                    std = [min(pair) for pair in zip(std, (0.99 * m for m in mean), strict=True)]
                band(axes, values, mean, std, f"{n} devices", number, markersize=3)
            axes.set_xscale("log")
            axes.set_yscale("log" if name in LOGARITHMIC else "linear")
            tidy(axes, SYMBOLS[weight] if line == 2 else "", LABELS[name])
            axes.minorticks_off()
            axes.grid(axis="y", color=GRID)
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, ncols=3, loc="outside lower center")


def _ends(numbers: Numbers, block: str) -> Table:
    rows = []
    for weight in WEIGHTS:
        exponents = numbers["exponents"][block][weight]
        for start in STARTS:
            for n in numbers["devices"]:
                cell = numbers["curves"][block][weight][start][str(n)]
                ends = [_end(cell[name]["mean"]) for name in (*PANELS[weight], "active")]
                row = (SYMBOLS[weight], f"1e{exponents[0]:g} → 1e{exponents[-1]:g}", start, str(n))
                rows.append((*row, *ends))
    return Table(
        f"{TITLES[block]}: from the least weight to the largest",
        ("weight", "from … to", "start", "devices", "first panel", "second panel", "active"),
        tuple(rows),
        f"{numbers['runs'][block]} runs. Panels as drawn: iterations and gradient bound (ψ^G, "
        "ψ^P), power in W and squared distance in m² (ψ^R), power and metres moved (ψ^S).",
    )


def _end(mean: list[float]) -> str:
    return f"{mean[0]:.3g} → {mean[-1]:.3g}"


# --- what is judged -------------------------------------------------------------------------------


def claims(numbers: Numbers) -> list[Claim]:
    """Each trend that the text states."""
    curves = numbers["curves"]

    def trend(weight: str, name: str, direction: int) -> dict[str, tuple[int, int]]:
        return {
            TITLES[block]: tally(
                goes(cell[name]["mean"], direction) for cell in _cells(curves[block][weight])
            )
            for block in curves
        }

    def counts(test: Callable[[str], Iterable[bool]]) -> dict[str, tuple[int, int]]:
        return {TITLES[block]: tally(test(block)) for block in curves}

    where = "Scaling Variable Characteristics; Fig. psi_all_*"
    last = "curves (5 starts, 3 sizes)"
    trends = (
        ("Larger ψ^G buys more training iterations", "convergence", "iterations", 1),
        ("Larger ψ^G lowers the estimated gradient", "convergence", "gradient", -1),
        ("Larger ψ^P costs training iterations", "processing", "iterations", -1),
        ("Larger ψ^P raises the estimated gradient", "processing", "gradient", 1),
        ("Larger ψ^R lowers the average transmit power", "transmission", "power_w", -1),
        ("Larger ψ^R raises squared distances to the server", "transmission", "distance_sq", 1),
        ("Larger ψ^S makes the server move less in xy", "movement", "moved_m", -1),
    )
    return [
        *(
            counted(where, text, trend(weight, name, direction), last, _far(numbers, weight, name))
            for text, weight, name, direction in trends
        ),
        counted(
            where,
            "Larger networks see fewer iterations on average",
            counts(lambda block: _by_size(numbers, block, "iterations", -1)),
            "sweeps (ψ^G and ψ^P, 5 starts)",
        ),
        counted(
            where,
            "Larger networks see larger estimated gradients",
            counts(lambda block: _by_size(numbers, block, "gradient", 1)),
            "sweeps (ψ^G and ψ^P, 5 starts)",
        ),
        counted(
            where,
            "At the largest ψ^R (1e12) all devices are off, and the server keeps its xy at z = 0",
            counts(lambda block: map(_landed, _cells(curves[block]["transmission"]))),
            last,
        ),
        counted(
            where,
            "As ψ^S grows, transmit power rises in place of the server's moves",
            counts(lambda block: map(_power_instead, _cells(curves[block]["movement"]))),
            last,
            "Judged while nobody has been switched off.",
        ),
        counted(
            where,
            "At the largest ψ^S hovering is too costly and all devices are off",
            counts(
                lambda b: (c["active"]["mean"][-1] < 0.5 for c in _cells(curves[b]["movement"]))
            ),
            last,
            "On the ground hovering costs K^H whoever is active, so nothing is gained by switching "
            "off; under the true rate those are off who are out of reach from there.",
        ),
        counted(
            "Fig. psi_all_max",
            "From max the network becomes inactive at a smaller ψ^R (1e11) than elsewhere (1e12)",
            counts(lambda block: _sooner(numbers, block)),
            "sizes, against centre",
            _inactive_from(numbers),
        ),
        counted(
            "App. more_exps",
            "At the least ψ^S the server moves less than 60 m from the centre, more from elsewhere",
            counts(lambda block: _sixty(numbers, block)),
            last,
            _moves(numbers),
        ),
        counted(
            "App. more_exps; Fig. vpsi_*",
            "Standard deviations are well below the means",
            counts(lambda block: _modest(curves[block]) if numbers["runs"][block] > 1 else ()),
            "points (below half the mean)",
            f"Runs: {', '.join(f'{TITLES[b]} {n}' for b, n in numbers['runs'].items())}.",
        ),
    ]


def _far(numbers: Numbers, weight: str, name: str) -> str:
    """By what factor a quantity changes: to its largest value, and to its last."""
    words = []
    for block, by in numbers["curves"].items():
        means = [cell[name]["mean"] for cell in _cells(by[weight]) if cell[name]["mean"][0] > 0]
        if means:
            largest = np.median([max(mean) / mean[0] for mean in means])
            end = np.median([mean[-1] / mean[0] for mean in means])
            words.append(f"{largest:.3g} and {end:.3g} ({TITLES[block]})")
    return f"Largest and last over first, medians: {'; '.join(words)}." if words else ""


def _cells(by: Mapping[str, Mapping[str, Cell]]) -> list[Cell]:
    return [cell for sizes in by.values() for cell in sizes.values()]


def _by_size(numbers: Numbers, block: str, name: str, direction: int) -> Iterator[bool]:
    """Whether the mean over a sweep rises or falls with the number of devices."""
    for weight in ("convergence", "processing"):
        for sizes in numbers["curves"][block][weight].values():
            means = [np.mean(sizes[str(n)][name]["mean"]) for n in numbers["devices"]]
            yield bool(np.all(direction * np.diff(means) > 0))


def _landed(cell: Cell) -> bool:
    ends = {name: cell[name]["mean"][-1] for name in ("active", "moved_m", "height_m")}
    return ends["active"] < 0.5 and ends["moved_m"] <= GROUND_M and ends["height_m"] <= GROUND_M


def _power_instead(cell: Cell) -> bool:
    active = np.array(cell["active"]["mean"])
    fewer = np.flatnonzero(active < active[0])
    points = int(fewer[0]) if len(fewer) else len(active)
    return goes(cell["power_w"]["mean"][:points], 1) if points > 1 else False


def _silent(numbers: Numbers, block: str, start: str, n: int) -> float | None:
    """The exponent of ψ^R from which on nobody is active."""
    active = numbers["curves"][block]["transmission"][start][str(n)]["active"]["mean"]
    exponents = numbers["exponents"][block]["transmission"]
    heard = [k for k, value in enumerate(active) if value >= 0.5]
    first = max(heard, default=-1) + 1
    return exponents[first] if first < len(active) else None


def _sooner(numbers: Numbers, block: str) -> Iterator[bool]:
    for n in numbers["devices"]:
        early, usual = (_silent(numbers, block, start, n) for start in ("max", "centre"))
        yield early is not None and (usual is None or early < usual)


def _inactive_from(numbers: Numbers) -> str:
    words = []
    for block in numbers["curves"]:
        for start in ("centre", "max"):
            found = [_silent(numbers, block, start, n) for n in numbers["devices"]]
            listed = ", ".join("never" if value is None else f"1e{value:g}" for value in found)
            words.append(f"{TITLES[block]}, {start}: {listed}")
    return f"Nobody is active from ψ^R of … on (N = {_sizes(numbers)}): {'; '.join(words)}."


def _sizes(numbers: Numbers) -> str:
    return ", ".join(map(str, numbers["devices"]))


def _sixty(numbers: Numbers, block: str) -> Iterator[bool]:
    for start, sizes in numbers["curves"][block]["movement"].items():
        for cell in sizes.values():
            moved = cell["moved_m"]["mean"][0]
            yield moved < 60 if start == "centre" else moved > 60


def _moves(numbers: Numbers) -> str:
    words = []
    for block, by in numbers["curves"].items():
        for start, sizes in by["movement"].items():
            found = [sizes[str(n)]["moved_m"]["mean"][0] for n in numbers["devices"]]
            words.append(f"{start} {min(found):.0f} to {max(found):.0f}")
        words[-len(STARTS)] = f"{TITLES[block]}: {words[-len(STARTS)]}"
    return f"Metres moved: {', '.join(words)}."


def _modest(by: Mapping[str, Mapping[str, Mapping[str, Cell]]]) -> Iterator[bool]:
    for weight, starts in by.items():
        for cell in _cells(starts):
            for name in PANELS[weight]:
                for mean, std in zip(cell[name]["mean"], cell[name]["std"], strict=True):
                    if mean > 0:
                        yield std < 0.5 * mean
