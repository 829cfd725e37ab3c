"""Dynamic networks: score, energy and iterations per round of six methods.

*Known* samples are those the departed had embedded before they left; *later* ones were recorded
after. Energy is processing joules per device and round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scdn.paper.artefact import Claim, Drawing, Found, Numbers, Setting, Table
from scdn.paper.blocks import (
    PUBLISHED_STARTS,
    TRAINS,
    Group,
    Row,
    about,
    decimals,
    each_block,
    flat,
    groups_of,
    jobs,
    judged,
    metric,
    own_rows,
    records,
    row_of,
    sign,
    spread,
)
from scdn.paper.digits import plus_minus, rounded
from scdn.paper.draw import band, level, tidy
from scdn.paper.learning import Record
from scdn.paper.published import published

__all__ = ["claims", "jobs", "numbers", "show"]

_ROUNDS = (5, 10, 15, 20)  # of the paper's tables
_NAMES = {
    "sc-dn": "SC-DN w/ P^r",
    "sc-dn-paper": "SC-DN w/ P^r",
    "zoc": "ZOC w/ P^r",
    "zoc-paper": "ZOC w/ P^r",
    "sc-dn-greedy": "SC-DN w/o P^r",
    "zoc-greedy": "ZOC w/o P^r",
    "gsp": "GSP",
    "vafl": "VAFL",
}


def numbers(setting: Setting, found: Found) -> Numbers:
    """Curves over rounds, and what the claims need."""
    rows = []
    for cell, runs in records(setting, found):
        rows.append(
            {
                **row_of(cell, runs),
                "score": _curve([run["score"] for run in runs]),
                "later": _curve([run["later"] for run in runs]),
                "iterations": _curve([_per_device(run, "iterations") for run in runs]),
                "energy": _curve([_per_device(run, "processing_j") for run in runs]),
                "all_energy": spread(flat(runs, "processing_j")),
                "last": [rounded(run["score"][-1]) for run in runs if run["score"]],
                "last_later": [rounded(run["later"][-1]) for run in runs if run["later"]],
                "exit_drop": [drop for run in runs if (drop := _exit_drop(run)) is not None],
            }
        )
    return {**about(setting), "rows": rows}


def _per_device(run: Record, what: str) -> list[float]:
    return [float(np.mean(values)) if values else 0.0 for values in run["each"][what]]


def _curve(curves: Sequence[Sequence[float]]) -> dict[str, list[float]]:
    """Mean and deviation over the runs that got as far."""
    length = max(map(len, curves), default=0)
    mean, std = [], []
    for n in range(length):
        values = [curve[n] for curve in curves if len(curve) > n]
        mean.append(rounded(float(np.mean(values))))
        std.append(rounded(float(np.std(values, ddof=1))) if len(values) > 1 else 0.0)
    return {"mean": mean, "std": std}


def _exit_drop(run: Record) -> float | None:
    """How much the score fell in the round of the first exit; None where nobody left."""
    present, score = run["present"], run["score"]
    for n in range(1, len(present)):
        if present[n] < present[n - 1] and n >= 2:
            return rounded(score[n - 1] - score[n - 2])
    return None


# --- shown ----------------------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Table | Drawing]:
    """For each start and block: curves, and tables at the paper's rounds beside the published."""
    parts: list[Table | Drawing] = []
    for group in groups_of(numbers):
        own = group.update == numbers["updates"][group.block][0]
        if own or group.start == numbers["starts"][0]:
            parts.append(_drawing(numbers, group))
        parts += [_table(numbers, group, what) for what in ("metric", "iterations")]
    return parts


def _table(numbers: Numbers, group: Group, what: str) -> Table:
    start, block, update, rows = group
    theirs = published()[f"dynamic_{numbers['data']}_{what}_{PUBLISHED_STARTS[start]}"]
    label, known, digits, note = "iterations", "iterations", 1, ""
    ends: tuple[str, ...] = ("end",)
    if what == "metric":
        label, known, digits = metric(numbers), "score", decimals(numbers)
        ends = ("end", "end, later samples", "J per device and round")
        most, trivial = max(row["runs"] for row in rows), rows[0]["trivial"]
        note = f"{most} run{'s' if most != 1 else ''}; trivial predictor {trivial:.4g}."
    shown = []
    for row in rows:
        name, at = _NAMES[row["method"]], _points(row[known])
        cells = [plus_minus(*at[n - 1], digits) if n <= len(at) else "" for n in _ROUNDS]
        last = [plus_minus(*at[-1], digits) if at else ""]
        if what == "metric":
            later = _points(row["later"])
            last += [plus_minus(*later[-1], digits) if later else ""]
            last += [plus_minus(row["all_energy"]["mean"], row["all_energy"]["std"])]
        paper = theirs.get(name)
        beside = (
            [f"{m:g} ± {s:g}" for m, s in zip(paper["mean"], paper["std"], strict=True)]
            if paper
            else [""] * len(_ROUNDS)
        )
        shown.append((name, *cells, *last, *beside))
    return Table(
        f"{label}: {start}, block “{block}”, {update} update",
        ("method", *(f"round {n}" for n in _ROUNDS), *ends, *(f"paper: {n}" for n in _ROUNDS)),
        tuple(shown),
        note,
    )


def _points(curve: Mapping[str, Sequence[float]]) -> list[tuple[float, float]]:
    """Mean and deviation of each round."""
    return list(zip(curve["mean"], curve["std"], strict=True))


def _drawing(numbers: Numbers, group: Group) -> Drawing:
    start, block, update, rows = group

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, 4)
        labels = {
            "score": f"{metric(numbers)}, known samples",
            "later": f"{metric(numbers)}, later samples",
            "energy": "J per device",
            "iterations": "iterations",
        }
        for axes, (what, label) in zip(panels, labels.items(), strict=True):
            tidy(axes, "round", label)
            for place, row in enumerate(rows):
                curve = row[what]
                x = range(1, len(curve["mean"]) + 1)
                band(axes, x, curve["mean"], curve["std"], _NAMES[row["method"]], place)
        known, later, energy, iterations = panels
        for axes in (known, later):
            level(axes, rows[0]["trivial"], "trivial")
        later.sharey(known)
        energy.set_ylim(bottom=0)
        iterations.set_ylim(0, 5.3)
        known.legend(fontsize=7, frameon=False)

    return Drawing(
        f"dynamic-{numbers['data']}-{block}-{update}-{start}",
        f"Dynamic network, {numbers['data']}: block “{block}”, {update} update, start {start}",
        draw,
        (14.0, 3.8),
    )


# --- judged ---------------------------------------------------------------------------------------


def claims(numbers: Numbers) -> list[Claim]:
    """What Section V says of dynamic networks, judged in each block's own network."""
    data = numbers["data"]
    views = {block: _View(numbers, block, rows) for block, rows in own_rows(numbers).items()}
    view = {block: found for block, found in views.items() if found.whole}
    where = f"Sec. V-C2, {data}"
    saved = {"mnist": 38, "cifar10": 48, "pawpularity": 43}[data]
    gained = {"mnist": 1, "cifar10": 9, "pawpularity": 20}[data]
    return [
        judged(where, "Keeping departed devices' embeddings ends better than ZOC (known samples).",
               each_block(view, lambda v: v.better(v.leader, v.zoc, "last"))),
        judged(f"beyond the paper, {data}",
               "Keeping embeddings ends better than ZOC on samples recorded after the exits.",
               each_block(view, lambda v: v.better(v.leader, v.zoc, "last_later"))),
        judged(where, "ZOC declines sharply when the first devices leave, and SC-DN does not.",
               each_block(view, _View.drops)),
        judged(where, "SC-DN ends better than GSP and VAFL.", each_block(view, _View.beats_rivals)),
        judged(where, f"P^r makes SC-DN's final score better (the paper: by {gained} %).",
               each_block(view, lambda v: v.better(v.leader, "sc-dn-greedy", "last"))),
        judged(where, f"P^r saves roughly {saved} % of the processing energy.",
               each_block(view, lambda v: v.saves("sc-dn-greedy", 0.75 * saved))),
        judged(where, "SC-DN uses less processing energy than GSP and VAFL.",
               each_block(view, _View.saves_rivals)),
        judged(where, "SC-DN's score varies least of all methods over runs.",
               each_block(view, _View.steadiest)),
        judged(where, "Mean iterations plus a deviation stay below the maximum in early rounds.",
               each_block(view, _View.fewer_early)),
    ]  # fmt: skip


class _View:
    """One block's rows, as the claims look at them."""

    def __init__(self, numbers: Numbers, block: str, rows: list[Row]) -> None:
        self.rows = {row["method"]: row for row in rows}
        self.leader = numbers["leaders"][block]
        self.zoc = "zoc-paper" if self.leader == "sc-dn-paper" else "zoc"
        self.sign = sign(numbers)
        needed = {self.leader, self.zoc, "sc-dn-greedy", "gsp", "vafl"}
        self.whole = needed <= set(self.rows)

    def better(self, one: str, other: str, what: str) -> tuple[bool, str]:
        """Mean over paired runs."""
        mine, theirs = self._means(one, what), self._means(other, what)
        return self.sign * (mine - theirs) > 0, f"{mine:.4g} against {theirs:.4g}"

    def _means(self, method: str, what: str) -> float:
        values = self.rows[method][what]
        return float(np.mean(values)) if values else float("nan")

    def drops(self) -> tuple[bool, str] | None:
        """The change of the score in the round of the first exit."""
        mine, theirs = self.rows[self.leader]["exit_drop"], self.rows[self.zoc]["exit_drop"]
        if not mine or not theirs:
            return None
        keep, forget = float(np.mean(mine)), float(np.mean(theirs))
        held = self.sign * forget < 0 and self.sign * (keep - forget) > 0
        return held, f"ZOC {forget:+.3g}, SC-DN {keep:+.3g} in that round"

    def beats_rivals(self) -> tuple[bool, str]:
        """At the end, on known samples."""
        found = {name: self.better(self.leader, name, "last") for name in ("gsp", "vafl")}
        words = ", ".join(f"{_NAMES[name]}: {text}" for name, (_, text) in found.items())
        return all(held for held, _ in found.values()), words

    def saves(self, other: str, least: float) -> tuple[bool, str]:
        """In percent of the other's processing energy."""
        saved = self._saved(other)
        return self._earned(saved >= least, f"{saved:.3g} %")

    def _saved(self, other: str) -> float:
        theirs = self.rows[other]["all_energy"]["mean"]
        return 100 * (1 - self.rows[self.leader]["all_energy"]["mean"] / theirs) if theirs else 0.0

    def saves_rivals(self) -> tuple[bool, str]:
        """Any saving counts."""
        found = {name: self._saved(name) for name in ("gsp", "vafl")}
        words = ", ".join(f"{_NAMES[name]} {saved:.3g} %" for name, saved in found.items())
        return self._earned(min(found.values()) > 0, words)

    def _earned(self, held: bool, words: str) -> tuple[bool, str]:
        """What SC-DN saves by hardly training is no saving."""
        mean = float(np.mean(self.rows[self.leader]["iterations"]["mean"]))
        rests = "" if mean >= TRAINS else f", but SC-DN hardly trains ({mean:.2g} iterations)"
        return held and not rests, words + rests

    def steadiest(self) -> tuple[bool, str] | None:
        """The deviation of the last score over runs."""
        if self.rows[self.leader]["runs"] < 2:
            return None
        found = {name: row["score"]["std"][-1] for name, row in self.rows.items()}
        words = f"± {found[self.leader]:.3g}, least ± {min(found.values()):.3g}"
        return found[self.leader] <= min(found.values()), words

    def fewer_early(self) -> tuple[bool, str]:
        """In the first five rounds."""
        curve = self.rows[self.leader]["iterations"]
        most = max(m + s for m, s in zip(curve["mean"][:5], curve["std"][:5], strict=True))
        return self._earned(most < 5, f"at most {most:.3g} of 5")
