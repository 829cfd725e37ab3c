"""What the paper says about static networks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any

from scdn.paper.artefact import BEYOND_PAPER, Claim, Finding, Numbers
from scdn.paper.method_grid import TRAINS, Row, score_sign
from scdn.paper.published_tables import PUBLISHED_STARTS, published_tables
from scdn.paper.value_text import count_runs, slashed
from scdn.paper.verdicts import (
    Statement,
    finding_if_learned,
    judge_statements,
    mostly,
    too_few_runs,
    within_deviation,
)

LABELS = {
    "sc-dn": "SC-DN",
    "sc-dn-paper": "SC-DN",
    "max-vfl": "Max VFL",
    "gsp": "GSP",
    "vafl": "VAFL",
    "vafl-matched": "VAFL matched",
    "mission": "mission",
}
RIVALS = ("max-vfl", "gsp", "vafl")
SAVED_PERCENT = {"mnist": 25.8, "cifar10": 14.5, "pawpularity": 17.9}  # of Max VFL's energy
SIMILAR = 1.05  # iterations are similar up to this ratio


def published_columns(table: dict[str, Any], label: str, devices: int) -> dict[str, float]:
    """Return a method's published values for a network size, without units in their names.

    The final accuracy or error is `Final`, its deviation `Std Final`.
    """
    columns = {name.split(" (")[0]: by_size for name, by_size in table[label].items()}
    score = "Acc" if "Final Acc" in columns else "Error"
    renamed = {f"Final {score}": "Final", f"Std {score}": "Std Final"}
    return {renamed.get(name, name): by_size[f"N={devices}"] for name, by_size in columns.items()}


def claims(numbers: Numbers) -> list[Claim]:
    """Judge what Section V says about static networks, in each block with its own update."""
    return judge_statements(numbers, _statements(numbers["data"]), StaticBlock)


def _statements(data: str) -> list[Statement]:
    section, beyond, saved = f"Sec. V-C1, {data}", f"{BEYOND_PAPER}, {data}", SAVED_PERCENT[data]
    tables = f"Tables static_nets_*, {data}"
    by_rival = [statement for rival in RIVALS for statement in _against(rival, section, beyond)]
    return [
        *by_rival,
        Statement(section, f"SC-DN saves at least {saved} % of Max VFL's processing energy, per "
                  "device present.", lambda block: block.saves_percent("energy", saved),
                  ("max-vfl",)),
        Statement(section, f"SC-DN saves at least {saved} % of Max VFL's processing energy, per "
                  "active device.", lambda block: block.saves_percent("energy_active", saved),
                  ("max-vfl",)),
        Statement(section, "Scores get worse with every step to more devices.",
                  StaticBlock.worse_with_more_devices),
        Statement(section, "More important devices are given more iterations.",
                  lambda block: block.correlated("importance", 1)),
        Statement(section, "The server moves towards the devices that train more.",
                  lambda block: block.correlated("distance", -1)),
        Statement(beyond, "Every method is better than predicting without input.",
                  lambda block: block.better_than_trivial(block.rows.values()), None),
        Statement(beyond, "SC-DN is better than predicting without input.",
                  lambda block: block.better_than_trivial(block.own_rows())),
        Statement(tables, "The table's final scores (within one published deviation).",
                  lambda block: block.as_published("score", "Final", "Std Final"), None),
        Statement(tables, "The table's mean iterations (within one published deviation).",
                  lambda block: block.as_published("iterations", "Avg Iters", "Std Iters"), None),
    ]  # fmt: skip


def _against(rival: str, section: str, beyond: str) -> list[Statement]:
    """Return what is said about SC-DN and one rival."""
    label, methods = LABELS[rival], (rival,)
    fewer = f"SC-DN takes fewer iterations than {label}."
    if rival != "max-vfl":
        fewer = f"SC-DN takes fewer or similar iterations (at most 5 % more) than {label}."
    most = 1.0 if rival == "max-vfl" else SIMILAR
    return [
        Statement(section, f"SC-DN's final score is comparable to or better than {label}'s.",
                  lambda block: block.comparable(rival), methods),
        Statement(section, fewer, lambda block: block.fewer_iterations(rival, most), methods),
        Statement(section, f"SC-DN uses less processing energy than {label}, per device present.",
                  lambda block: block.saves_energy(rival, "energy"), methods),
        Statement(section, f"SC-DN uses less processing energy than {label}, per active device.",
                  lambda block: block.saves_energy(rival, "energy_active"), methods),
        Statement(beyond, f"SC-DN uses less processing energy than {label} at its least clock.",
                  lambda block: block.saves_energy(rival, "matched"), methods),
        Statement(section, f"SC-DN's largest energy is below {label}'s.",
                  lambda block: block.lower_peak(rival), methods),
        Statement(section, f"SC-DN's final scores vary less than {label}'s.",
                  lambda block: block.less_variance(rival), methods),
    ]  # fmt: skip


class StaticBlock:
    """One block's rows, and the checks of the paper's statements on them."""

    def __init__(self, numbers: Numbers, block: str, start: str, rows: list[Row]) -> None:
        self.published = published_tables()[f"static_{numbers['data']}_{PUBLISHED_STARTS[start]}"]
        self.leader = numbers["leaders"][block]
        self.rows = {(row["method"], row["devices"]): row for row in rows}
        methods = (self.leader, *RIVALS)
        self.devices = [
            n for n in numbers["devices"] if all((method, n) in self.rows for method in methods)
        ]
        self.complete = bool(self.devices)
        self.not_run: tuple[str, ...] = ()
        self.sign = score_sign(numbers)
        self.near = 1.0 if numbers["metric"] == "top3" else 1e-3  # scores this close are comparable

    def _values(self, method: str, quantity: str, part: str = "mean") -> list[float]:
        return [self.rows[method, n][quantity][part] for n in self.devices]

    def _if_trained(self, holds: bool, evidence: str) -> Finding:
        """Return the finding; where SC-DN hardly trains, its regime is not reached."""
        iterations = self._values(self.leader, "iterations")
        if min(iterations) >= TRAINS:
            return Finding(holds, evidence)
        trains = f"SC-DN hardly trains: {slashed(iterations)} iterations"
        return Finding("regime not reached", f"{evidence}; {trains}")

    def _if_learned(self, rival: str, finding: Finding) -> Finding:
        """Return the finding; it is no answer where neither beats predicting without input."""
        trivial = self.rows[self.leader, self.devices[0]]["trivial"]
        scores = [*self._values(self.leader, "score"), *self._values(rival, "score")]
        return finding_if_learned(finding, scores, trivial, self.sign)

    def comparable(self, rival: str) -> Finding:
        """Return whether SC-DN is not worse than a rival by more than `near`."""
        ours, others = (self._values(name, "score") for name in (self.leader, rival))
        near = [self.sign * (a - b) >= -self.near for a, b in zip(ours, others, strict=True)]
        compared = self._if_trained(mostly(near), f"{_scores(ours)} against {_scores(others)}")
        return self._if_learned(rival, compared)

    def fewer_iterations(self, rival: str, most: float) -> Finding:
        """Compare mean iterations in every network; `most` is the largest ratio, excluded if 1."""
        ours, others = (self._values(name, "iterations") for name in (self.leader, rival))
        pairs = zip(ours, others, strict=True)
        fewer = [a < b if most == 1 else a <= most * b for a, b in pairs]
        return self._if_trained(mostly(fewer), f"{slashed(ours)} against {slashed(others)}")

    def _saved_percent(self, rival: str, quantity: str) -> list[float] | None:
        """Return by how many percent SC-DN's mean energy is below a rival's, for every network.

        Both per active device, or else SC-DN's per device present. None if a rival is never active.
        """
        own = quantity if quantity == "energy_active" else "energy"
        ours, others = (
            [self._energy(method, n, key) for n in self.devices]
            for method, key in ((self.leader, own), (rival, quantity))
        )
        if min(others) <= 0:
            return None
        return [100 * (1 - a / b) for a, b in zip(ours, others, strict=True)]

    def _energy(self, method: str, n: int, quantity: str) -> float:
        row = self.rows[method, n]
        if quantity in row or quantity != "energy_active":
            return float(row[quantity]["mean"])
        active = row["active"]["mean"]  # earlier results: as many are present in every round
        return float(row["energy"]["mean"] / active) if active else 0.0

    def saves_percent(self, quantity: str, least: float) -> Finding:
        """Return whether SC-DN saves at least so many percent of Max VFL's energy everywhere."""
        saved = self._saved_percent("max-vfl", quantity)
        if saved is None:
            return Finding("regime not reached", "Max VFL is never active in some network")
        return self._if_trained(mostly([s >= least for s in saved]), f"{slashed(saved)} %")

    def saves_energy(self, rival: str, quantity: str) -> Finding:
        """Return whether SC-DN uses less than a rival's energy, or matched energy."""
        saved = self._saved_percent(rival, quantity)
        if saved is None:
            never = f"{LABELS[rival]} is never active in some network"
            return Finding("regime not reached", never)
        return self._if_trained(mostly([s > 0 for s in saved]), f"saves {slashed(saved)} %")

    def lower_peak(self, rival: str) -> Finding:
        """Compare the largest joules of a device and round."""
        ours, others = (self._values(name, "energy", "max") for name in (self.leader, rival))
        lower = [a < b for a, b in zip(ours, others, strict=True)]
        return self._if_trained(mostly(lower), f"{slashed(ours)} J against {slashed(others)} J")

    def less_variance(self, rival: str) -> Finding:
        """Compare standard deviations of the final score; needs several runs."""
        runs = self.rows[self.leader, self.devices[0]]["runs"]
        if runs < 2:
            return too_few_runs(runs)
        ours, others = (self._values(name, "score", "std") for name in (self.leader, rival))
        less = [a <= b for a, b in zip(ours, others, strict=True)]
        compared = self._if_trained(mostly(less), f"± {slashed(ours)} against ± {slashed(others)}")
        return self._if_learned(rival, compared)

    def worse_with_more_devices(self) -> Finding:
        """Compare SC-DN's mean scores; the smallest network must beat the trivial predictor."""
        rows = [self.rows[self.leader, n] for n in self.devices]
        means = [row["score"]["mean"] for row in rows]
        if len(means) < 2 or rows[0]["runs"] < 2:
            return too_few_runs(rows[0]["runs"])
        evidence = " / ".join(
            f"{row['score']['mean']:.3g} ± {row['score']['std']:.2g}" for row in rows
        )
        trivial = rows[0]["trivial"]
        if self.sign * (means[0] - trivial) <= 0:
            chance = f"{evidence}; none is better than the trivial predictor's {trivial:.3g}"
            return Finding("regime not reached", chance)
        worse = [self.sign * (a - b) > 0 for a, b in pairwise(means)]
        return self._if_trained(mostly(worse), evidence)

    def correlated(self, quantity: str, sign: int) -> Finding | None:
        """Return whether iterations correlate with a quantity, by two standard errors or more."""
        entries = [self.rows[self.leader, n].get(quantity) for n in self.devices]
        known = [entry for entry in entries if entry is not None]
        if not known:
            return Finding("regime not reached", "all devices have the same number of iterations")
        if max(entry["runs"] for entry in known) < 2:
            return too_few_runs(1)
        known = [entry for entry in known if entry["runs"] > 1]
        pairs = [(entry["mean"], entry["std"] / entry["runs"] ** 0.5) for entry in known]
        holds = mostly([sign * mean > 2 * error for mean, error in pairs])
        values = " / ".join(f"{mean:.2g} ± {error:.2g}" for mean, error in pairs)
        runs = count_runs(known[0]["runs"])
        return self._if_trained(holds, f"mean correlation {values} (standard error, {runs})")

    def own_rows(self) -> list[Row]:
        """Return SC-DN's rows."""
        return [self.rows[self.leader, n] for n in self.devices]

    def better_than_trivial(self, rows: Collection[Row]) -> Finding:
        """Return whether rows beat the trivial predictor by more than `near`."""
        fewest = min(row["runs"] for row in rows)
        if fewest < 2:
            return too_few_runs(fewest)

        def gain(row: Row) -> float:
            return float(self.sign * (row["score"]["mean"] - row["trivial"]))

        worst = min(rows, key=gain)
        evidence = (
            f"worst {LABELS[worst['method']]} at N = {worst['devices']}: "
            f"{worst['score']['mean']:.4g}, trivial {worst['trivial']:.4g}"
        )
        return Finding(mostly([gain(row) > self.near for row in rows]), evidence)

    def as_published(self, quantity: str, mean: str, std: str) -> Finding:
        """Return whether our means are within the published deviations."""
        triples = []
        for (method, n), row in self.rows.items():
            if LABELS[method] in self.published:
                columns = published_columns(self.published, LABELS[method], n)
                triples.append((row[quantity]["mean"], columns[mean], columns[std]))
        return within_deviation(triples)


def _scores(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.4g}" for value in values)
