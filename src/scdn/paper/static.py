"""Static networks: final score, processing energy and iterations of four methods, for N = 2, 4, 6.

Energy is processing joules per device and round, over devices, rounds and runs.
"""

from __future__ import annotations

from typing import Any

from scdn.paper.artefact import Claim, Drawing, Found, Numbers, Setting, Table
from scdn.paper.blocks import (
    LABELS,
    correlation,
    each_block,
    flat,
    jobs,
    judged,
    records,
    spread,
)
from scdn.paper.draw import COLOURS, level, tidy
from scdn.paper.published import published

__all__ = ["claims", "jobs", "numbers", "show"]

TRAINS = 1.0  # mean iterations per device and round of a method that trains
_RIVALS = ("max-vfl", "gsp", "vafl")
_PUBLISHED_STARTS = {"centre": "center", "random": "random"}


def numbers(setting: Setting, found: Found) -> Numbers:
    """Rows of the tables, and what the claims need."""
    rows: list[dict[str, Any]] = []
    for cell, runs in records(setting, found):
        row = {
            "block": cell.block,
            "update": cell.update,
            "start": cell.start,
            "devices": cell.devices,
            "method": cell.method,
            "runs": len(runs),
            "diverged": sum(run["status"] != "done" for run in runs),
            "score": spread(run["score"][-1] if run["score"] else run["trivial"] for run in runs),
            "energy": spread(flat(runs, "processing_j")),
            "iterations": spread(flat(runs, "iterations")),
            "active": spread(
                a / p
                for run in runs
                for a, p in zip(run["active"], run["present"], strict=True)
                if p
            ),
            "failed": sum(sum(run["failed"]) for run in runs),
            "trivial": runs[0]["trivial"],
        }
        if all("matched_j" in run["each"] for run in runs):
            row["matched"] = spread(flat(runs, "matched_j"))
        if cell.method.startswith("sc-dn"):
            row["importance"] = correlation(runs, "importance", "iterations")
            row["distance"] = correlation(runs, "distance_m", "iterations")
        rows.append(row)
    return {
        "data": setting.table["data"],
        "metric": setting.table["metric"],
        "starts": list(setting.sweep["starts"]),
        "devices": list(setting.sweep["devices"]),
        "leaders": {k: v["methods"][0] for k, v in setting.table["blocks"].items()},
        "updates": {k: list(v["updates"]) for k, v in setting.table["blocks"].items()},
        "rows": rows,
    }


# --- shown ----------------------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Table | Drawing]:
    """A table for each start, block and update, and a picture of scores and joules."""
    parts: list[Table | Drawing] = [_drawing(numbers)]
    for start in numbers["starts"]:
        for block, updates in numbers["updates"].items():
            for update in updates:
                rows = _rows(numbers, block=block, update=update, start=start)
                if rows:
                    parts.append(_table(numbers, rows, block, update, start))
    return parts


def _rows(numbers: Numbers, **which: Any) -> list[dict[str, Any]]:
    return [row for row in numbers["rows"] if all(row[k] == v for k, v in which.items())]


def _table(
    numbers: Numbers, rows: list[dict[str, Any]], block: str, update: str, start: str
) -> Table:
    theirs = published()[f"static_{numbers['data']}_{_PUBLISHED_STARTS[start]}"]
    score = "top-3 (%)" if numbers["metric"] == "top3" else "MSE"
    shown = [
        (
            "trivial predictor",
            f"N = {n}",
            _value(numbers, rows[0]["trivial"]),
            "",
            "",
            "",
            "",
            "",
            "",
        )
        for n in numbers["devices"][:1]
    ]
    for row in rows:
        label = LABELS[row["method"]]
        paper = _theirs(theirs, label, row["devices"])
        matched = f"{row['matched']['mean']:.3g}" if "matched" in row else ""
        shown.append(
            (
                label,
                f"N = {row['devices']}",
                _mean(numbers, row["score"])
                + (f", {row['diverged']} diverged" if row["diverged"] else ""),
                _range(row["energy"]),
                matched,
                _range(row["iterations"]),
                paper["score"],
                paper["energy"],
                paper["iterations"],
            )
        )
    most = max(row["runs"] for row in rows)
    what = {"paper": "the paper's update", "steady": "the steady update"}[update]
    return Table(
        f"{start}, block “{block}”, {what} ({most} run{'s' if most > 1 else ''})",
        ("method", "", score, "J per device and round", "matched J", "iterations",
         f"paper: {score}", "paper: energy", "paper: iterations"),
        tuple(shown),
        "mean ± deviation (least … most); the paper's columns are the same whatever the block.",
    )  # fmt: skip


def _theirs(theirs: dict[str, Any], label: str, devices: int) -> dict[str, str]:
    table, n = theirs.get(label), f"N={devices}"
    if table is None:
        return {"score": "", "energy": "", "iterations": ""}
    columns = {name.split(" (")[0]: values for name, values in table.items()}
    unit = "kJ" if any("kJ" in name for name in table) else "J"
    score = "Acc" if "Final Acc" in columns else "Error"
    return {
        "score": f"{columns[f'Final {score}'][n]:g} ± {columns[f'Std {score}'][n]:g}",
        "energy": _paper_range(columns, "Energy", n) + f" {unit}",
        "iterations": _paper_range(columns, "Iters", n),
    }


def _paper_range(columns: dict[str, Any], what: str, n: str) -> str:
    mean, low, high, std = (columns[f"{part} {what}"][n] for part in ("Avg", "Min", "Max", "Std"))
    return f"{mean:g} ± {std:g} ({low:g} … {high:g})"


def _value(numbers: Numbers, value: float) -> str:
    return f"{value:.1f}" if numbers["metric"] == "top3" else f"{value:.4f}"


def _mean(numbers: Numbers, found: dict[str, float]) -> str:
    return f"{_value(numbers, found['mean'])} ± {_value(numbers, found['std'])}"


def _range(found: dict[str, float]) -> str:
    return f"{found['mean']:.3g} ± {found['std']:.2g} ({found['min']:.3g} … {found['max']:.3g})"


def _drawing(numbers: Numbers) -> Drawing:
    start = numbers["starts"][0]
    blocks = [(b, u) for b, updates in numbers["updates"].items() for u in updates]
    blocks = [bu for bu in blocks if _rows(numbers, block=bu[0], update=bu[1], start=start)]

    def draw(figure: Any) -> None:
        panels = figure.subplots(2, len(blocks), squeeze=False, sharex=True, sharey="row")
        for column, (block, update) in enumerate(blocks):
            rows = _rows(numbers, block=block, update=update, start=start)
            methods = list(dict.fromkeys(row["method"] for row in rows))
            for line, what in enumerate(("score", "energy")):
                axes = panels[line][column]
                tidy(axes, "devices" if line else "", _axis(numbers, what) if column == 0 else "")
                for place, method in enumerate(methods):
                    mine = [row for row in rows if row["method"] == method]
                    x = [row["devices"] + 0.12 * (place - len(methods) / 2) for row in mine]
                    axes.errorbar(
                        x, [row[what]["mean"] for row in mine], [row[what]["std"] for row in mine],
                        fmt="o-", markersize=4, linewidth=1.3, capsize=2,
                        color=COLOURS[place % len(COLOURS)], label=LABELS[method],
                    )  # fmt: skip
                if what == "score":
                    level(axes, rows[0]["trivial"], "trivial")
                    axes.set_title(f"{block}, {update} update", fontsize=9.5, loc="left")
                else:
                    axes.set_ylim(bottom=0)
                axes.set_xticks(numbers["devices"])
        panels[0][0].legend(fontsize=7.5, frameon=False)

    return Drawing(
        f"static-{numbers['data']}",
        f"Static networks, {numbers['data']}: final score and processing energy",
        draw,
        (3.2 * max(2, len(blocks)), 5.2),
    )


def _axis(numbers: Numbers, what: str) -> str:
    if what == "energy":
        return "J per device and round"
    return "top-3 (%)" if numbers["metric"] == "top3" else "MSE"


# --- judged ---------------------------------------------------------------------------------------


def claims(numbers: Numbers) -> list[Claim]:
    """What Section V says of static networks, judged in each block's own network."""
    data = numbers["data"]
    own = {
        block: _rows(numbers, block=block, update=updates[0], start=numbers["starts"][0])
        for block, updates in numbers["updates"].items()
    }
    views = {block: _View(numbers, block, rows) for block, rows in own.items()}
    view = {block: found for block, found in views.items() if found.devices}
    where = f"Sec. V-C1, {data}"
    savings = {"mnist": 25.8, "cifar10": 14.5, "pawpularity": 17.9}
    return [
        judged(where, "SC-DN's final score is comparable to or better than every rival's.",
               each_block(view, _View.comparable)),
        judged(where, "SC-DN takes fewer iterations than Max VFL.",
               each_block(view, _View.fewer_iterations)),
        judged(where, f"SC-DN saves at least {savings[data]} % of Max VFL's processing energy.",
               each_block(view, lambda v: v.saves(savings[data]))),
        judged(f"beyond the paper, {data}",
               "SC-DN uses less processing energy than Max VFL at the least clock that suffices.",
               each_block(view, _View.saves_matched)),
        judged(where, "SC-DN uses less processing energy than GSP and VAFL.",
               each_block(view, _View.saves_rivals)),
        judged(where, "SC-DN's largest energy is below every rival's.",
               each_block(view, _View.least_peak)),
        judged(where, "SC-DN's final scores vary less than every rival's.",
               each_block(view, _View.steadier)),
        judged(where, "Scores get worse as features are spread over more devices.",
               each_block(view, _View.worse_with_more)),
        judged(where, "More important devices are given more iterations.",
               each_block(view, lambda v: v.correlated("importance", 1))),
        judged(where, "The server is drawn to those who train more.",
               each_block(view, lambda v: v.correlated("distance", -1))),
        judged(f"beyond the paper, {data}", "Every method is better than predicting without input.",
               each_block(view, _View.beats_trivial)),
    ]  # fmt: skip


class _View:
    """One block's rows, as the claims look at them."""

    def __init__(self, numbers: Numbers, block: str, rows: list[dict[str, Any]]) -> None:
        self.numbers = numbers
        self.leader = numbers["leaders"][block]
        self.cells = {(row["method"], row["devices"]): row for row in rows}
        every = (self.leader, *_RIVALS)
        self.devices = [
            n for n in numbers["devices"] if all((name, n) in self.cells for name in every)
        ]
        self.rivals = _RIVALS
        self.sign = 1 if numbers["metric"] == "top3" else -1
        self.near = 1.0 if numbers["metric"] == "top3" else 1e-3  # what counts as comparable

    def at(self, method: str, devices: int) -> dict[str, Any]:
        """A cell."""
        return self.cells[method, devices]

    def _lead(self, devices: int) -> dict[str, Any]:
        return self.at(self.leader, devices)

    def comparable(self) -> tuple[bool, str]:
        """Not worse than a rival by more than a point, or 0.001 of MSE."""
        gaps = {
            (name, n): self.sign
            * (self._lead(n)["score"]["mean"] - self.at(name, n)["score"]["mean"])
            for name in self.rivals
            for n in self.devices
        }
        (name, n), worst = min(gaps.items(), key=lambda entry: entry[1])
        mine, theirs = self._lead(n)["score"]["mean"], self.at(name, n)["score"]["mean"]
        words = f"worst against {LABELS[name]} at N = {n}: {mine:.4g} to {theirs:.4g}"
        return worst >= -self.near, words

    def trains(self) -> bool:
        """Whether the leader trains at all; what it saves by resting is no saving."""
        return all(self._lead(n)["iterations"]["mean"] >= TRAINS for n in self.devices)

    def _earned(self, held: bool, words: str) -> tuple[bool, str]:
        rests = "" if self.trains() else ", but SC-DN hardly trains"
        return held and not rests, words + rests

    def fewer_iterations(self) -> tuple[bool, str]:
        """In every network."""
        mine = [self._lead(n)["iterations"]["mean"] for n in self.devices]
        most = [self.at("max-vfl", n)["iterations"]["mean"] for n in self.devices]
        words = f"{_list(mine)} against {_list(most)}"
        return self._earned(all(a < b for a, b in zip(mine, most, strict=True)), words)

    def saves(self, least: float) -> tuple[bool, str]:
        """At least so many percent, in every network."""
        saved = [self._saved(n, self.at("max-vfl", n)["energy"]["mean"]) for n in self.devices]
        return self._earned(min(saved) >= least, f"{_list(saved)} %")

    def saves_matched(self) -> tuple[bool, str]:
        """Against the same rival at the least clock."""
        saved = [self._saved(n, self.at("max-vfl", n)["matched"]["mean"]) for n in self.devices]
        return self._earned(min(saved) > 0, f"{_list(saved)} %")

    def _saved(self, n: int, theirs: float) -> float:
        return 100 * (1 - self._lead(n)["energy"]["mean"] / theirs) if theirs else 0.0

    def saves_rivals(self) -> tuple[bool, str]:
        """Mean energy, in every network."""
        found = {
            LABELS[name]: [self._saved(n, self.at(name, n)["energy"]["mean"]) for n in self.devices]
            for name in self.rivals
            if name != "max-vfl"
        }
        words = ", ".join(f"{name} {_list(saved)} %" for name, saved in found.items())
        return self._earned(all(min(saved) > 0 for saved in found.values()), words)

    def least_peak(self) -> tuple[bool, str]:
        """The largest joules of a device and round."""
        mine = [self._lead(n)["energy"]["max"] for n in self.devices]
        theirs = [min(self.at(r, n)["energy"]["max"] for r in self.rivals) for n in self.devices]
        words = f"{_list(mine)} J against at least {_list(theirs)} J"
        return self._earned(all(a < b for a, b in zip(mine, theirs, strict=True)), words)

    def steadier(self) -> tuple[bool, str] | None:
        """Standard deviation of the final score; needs several runs."""
        if self._lead(self.devices[0])["runs"] < 2:
            return None
        mine = [self._lead(n)["score"]["std"] for n in self.devices]
        theirs = [min(self.at(r, n)["score"]["std"] for r in self.rivals) for n in self.devices]
        words = f"± {_list(mine)} against at least ± {_list(theirs)}"
        return all(a <= b for a, b in zip(mine, theirs, strict=True)), words

    def worse_with_more(self) -> tuple[bool, str] | None:
        """The leader's mean score, from the smallest network to the largest."""
        means = [self._lead(n)["score"]["mean"] for n in self.devices]
        if len(means) < 2:
            return None
        return self.sign * (means[0] - means[-1]) > 0, _list(means)

    def correlated(self, what: str, sign: int) -> tuple[bool, str] | None:
        """Within rounds: the mean correlation has this sign, two standard errors away from 0."""
        found = [self._lead(n).get(what) for n in self.devices]
        known = [entry for entry in found if entry is not None and entry["runs"] > 1]
        if not known:
            return None
        held = all(
            sign * entry["mean"] > 2 * entry["std"] / entry["runs"] ** 0.5 for entry in known
        )
        return held, f"mean correlation {_list([entry['mean'] for entry in known])}"

    def beats_trivial(self) -> tuple[bool, str]:
        """By the same margin that counts as comparable."""
        worst = min(
            self.cells.values(), key=lambda row: self.sign * (row["score"]["mean"] - row["trivial"])
        )
        gap = self.sign * (worst["score"]["mean"] - worst["trivial"])
        words = (
            f"worst {LABELS[worst['method']]} at N = {worst['devices']}: "
            f"{worst['score']['mean']:.4g}, trivial {worst['trivial']:.4g}"
        )
        return gap > self.near, words


def _list(values: list[float]) -> str:
    return " / ".join(f"{value:.3g}" for value in values)
