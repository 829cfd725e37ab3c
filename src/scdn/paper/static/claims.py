"""What the paper says about static networks."""

from __future__ import annotations

from itertools import pairwise, product
from operator import itemgetter
from typing import Any

from scdn.paper.artefact import Claim, Numbers
from scdn.paper.method_grid import TRAINS, Row, score_sign
from scdn.paper.published_tables import PUBLISHED_STARTS, published_tables
from scdn.paper.value_text import count_runs, slashed
from scdn.paper.verdicts import BEYOND_PAPER, Finding, Statement, judge_statements, within_deviation

LABELS = {
    "sc-dn": "SC-DN",
    "sc-dn-paper": "SC-DN",
    "max-vfl": "Max VFL",
    "gsp": "GSP",
    "vafl": "VAFL",
    "vafl-matched": "VAFL matched",
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
    return [
        Statement(section, "SC-DN's final score is comparable to or better than every rival's.",
                  StaticBlock.comparable),
        Statement(section, "SC-DN takes fewer iterations than Max VFL.",
                  StaticBlock.fewer_iterations),
        Statement(section, "SC-DN takes fewer or similar iterations (at most 5 % more) than GSP "
                  "and VAFL.", StaticBlock.similar_iterations),
        Statement(section, f"SC-DN saves at least {saved} % of Max VFL's processing energy.",
                  lambda block: block.saves_percent(saved)),
        Statement(beyond,
                  "SC-DN uses less processing energy than Max VFL at the least sufficient clock.",
                  lambda block: block.saves_energy("matched", "max-vfl")),
        Statement(beyond,
                  "SC-DN uses less processing energy than GSP and VAFL at their least clocks.",
                  lambda block: block.saves_energy("matched", "gsp", "vafl")),
        Statement(section, "SC-DN uses less processing energy than GSP and VAFL.",
                  lambda block: block.saves_energy("energy", "gsp", "vafl")),
        Statement(section, "SC-DN's largest energy is below every rival's.",
                  StaticBlock.lowest_peak),
        Statement(section, "SC-DN's final scores vary less than every rival's.",
                  StaticBlock.least_variance),
        Statement(section, "Scores get worse with every step to more devices.",
                  StaticBlock.worse_with_more_devices),
        Statement(section, "More important devices are given more iterations.",
                  lambda block: block.correlated("importance", 1)),
        Statement(section, "The server moves towards the devices that train more.",
                  lambda block: block.correlated("distance", -1)),
        Statement(beyond, "Every method is better than predicting without input.",
                  StaticBlock.better_than_trivial),
        Statement(tables, "The table's final scores (within one published deviation).",
                  lambda block: block.as_published("score", "Final", "Std Final")),
        Statement(tables, "The table's mean iterations (within one published deviation).",
                  lambda block: block.as_published("iterations", "Avg Iters", "Std Iters")),
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
        self.sign = score_sign(numbers)
        self.near = 1.0 if numbers["metric"] == "top3" else 1e-3  # scores this close are comparable

    def _values(self, method: str, quantity: str, part: str = "mean") -> list[float]:
        return [self.rows[method, n][quantity][part] for n in self.devices]

    def _if_trained(self, holds: bool, evidence: str) -> tuple[bool, str]:
        """Return the finding, or False where SC-DN hardly trains: then it shows nothing."""
        iterations = self._values(self.leader, "iterations")
        if min(iterations) >= TRAINS:
            return holds, evidence
        return False, f"{evidence}, but SC-DN hardly trains ({slashed(iterations)} iterations)"

    def comparable(self) -> Finding:
        """Return whether SC-DN is not worse than a rival by more than `near`, in every network."""
        gaps = []
        for rival, n in product(RIVALS, self.devices):
            ours, other = (self.rows[name, n]["score"]["mean"] for name in (self.leader, rival))
            evidence = f"worst against {LABELS[rival]} at N = {n}: {ours:.4g} to {other:.4g}"
            gaps.append((self.sign * (ours - other), evidence))
        worst, evidence = min(gaps, key=itemgetter(0))
        return worst >= -self.near, evidence

    def fewer_iterations(self) -> Finding:
        """Compare mean iterations with Max VFL in every network."""
        ours, others = (self._values(name, "iterations") for name in (self.leader, "max-vfl"))
        fewer = all(a < b for a, b in zip(ours, others, strict=True))
        return self._if_trained(fewer, f"{slashed(ours)} against {slashed(others)}")

    def similar_iterations(self) -> Finding:
        """Compare mean iterations with GSP and VAFL in every network."""
        ours = self._values(self.leader, "iterations")
        by_rival = {rival: self._values(rival, "iterations") for rival in ("gsp", "vafl")}
        similar = all(
            a <= SIMILAR * b
            for others in by_rival.values()
            for a, b in zip(ours, others, strict=True)
        )
        rivals = [f"{LABELS[rival]} {slashed(others)}" for rival, others in by_rival.items()]
        return self._if_trained(similar, f"{slashed(ours)} against {', '.join(rivals)}")

    def _saved_percent(self, rival: str, quantity: str) -> list[float]:
        """Return by how many percent SC-DN's mean energy is below a rival's, for every network."""
        return [
            100 * (1 - ours / other) if other else 0.0
            for ours, other in zip(
                self._values(self.leader, "energy"), self._values(rival, quantity), strict=True
            )
        ]

    def saves_percent(self, least: float) -> Finding:
        """Return whether SC-DN saves at least so many percent of Max VFL's energy everywhere."""
        saved = self._saved_percent("max-vfl", "energy")
        return self._if_trained(min(saved) >= least, f"{slashed(saved)} %")

    def saves_energy(self, quantity: str, *rivals: str) -> Finding:
        """Return whether SC-DN uses less than each rival's energy, or matched energy."""
        saved = {rival: self._saved_percent(rival, quantity) for rival in rivals}
        evidence = ", ".join(f"{LABELS[rival]} {slashed(v)} %" for rival, v in saved.items())
        return self._if_trained(all(min(values) > 0 for values in saved.values()), evidence)

    def _least_of_rivals(self, quantity: str, part: str) -> list[float]:
        by_rival = [self._values(rival, quantity, part) for rival in RIVALS]
        return [min(values) for values in zip(*by_rival, strict=True)]

    def lowest_peak(self) -> Finding:
        """Compare the largest joules of a device and round."""
        ours = self._values(self.leader, "energy", "max")
        others = self._least_of_rivals("energy", "max")
        lower = all(a < b for a, b in zip(ours, others, strict=True))
        return self._if_trained(lower, f"{slashed(ours)} J against at least {slashed(others)} J")

    def least_variance(self) -> Finding:
        """Compare standard deviations of the final score; needs several runs."""
        if self.rows[self.leader, self.devices[0]]["runs"] < 2:
            return None
        ours = self._values(self.leader, "score", "std")
        others = self._least_of_rivals("score", "std")
        less = all(a <= b for a, b in zip(ours, others, strict=True))
        return self._if_trained(less, f"± {slashed(ours)} against at least ± {slashed(others)}")

    def worse_with_more_devices(self) -> Finding:
        """Compare SC-DN's mean scores; the smallest network must beat the trivial predictor."""
        rows = [self.rows[self.leader, n] for n in self.devices]
        means = [row["score"]["mean"] for row in rows]
        if len(means) < 2 or rows[0]["runs"] < 2:
            return None
        evidence = " / ".join(
            f"{row['score']['mean']:.3g} ± {row['score']['std']:.2g}" for row in rows
        )
        worse = all(self.sign * (a - b) > 0 for a, b in pairwise(means))
        trivial = rows[0]["trivial"]
        if self.sign * (means[0] - trivial) <= 0:
            evidence += f", but none better than the trivial predictor's {trivial:.3g}"
            worse = False
        return self._if_trained(worse, evidence)

    def correlated(self, quantity: str, sign: int) -> Finding:
        """Return whether iterations correlate with a quantity, by two standard errors or more."""
        entries = [self.rows[self.leader, n].get(quantity) for n in self.devices]
        known = [entry for entry in entries if entry is not None and entry["runs"] > 1]
        if not known:
            return None
        pairs = [(entry["mean"], entry["std"] / entry["runs"] ** 0.5) for entry in known]
        holds = all(sign * mean > 2 * error for mean, error in pairs)
        values = " / ".join(f"{mean:.2g} ± {error:.2g}" for mean, error in pairs)
        runs = count_runs(known[0]["runs"])
        return self._if_trained(holds, f"mean correlation {values} (standard error, {runs})")

    def better_than_trivial(self) -> Finding:
        """Return whether every method beats the trivial predictor by more than `near`."""
        if min(row["runs"] for row in self.rows.values()) < 2:
            return None

        def gain(row: Row) -> float:
            return float(self.sign * (row["score"]["mean"] - row["trivial"]))

        worst = min(self.rows.values(), key=gain)
        evidence = (
            f"worst {LABELS[worst['method']]} at N = {worst['devices']}: "
            f"{worst['score']['mean']:.4g}, trivial {worst['trivial']:.4g}"
        )
        return gain(worst) > self.near, evidence

    def as_published(self, quantity: str, mean: str, std: str) -> Finding:
        """Return whether our means are within the published deviations."""
        triples = []
        for (method, n), row in self.rows.items():
            if LABELS[method] in self.published:
                columns = published_columns(self.published, LABELS[method], n)
                triples.append((row[quantity]["mean"], columns[mean], columns[std]))
        return within_deviation(triples)
