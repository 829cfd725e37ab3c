"""What the paper says of static networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from scdn.paper.artefact import Claim, Numbers
from scdn.paper.blocks import LABELS, PUBLISHED_STARTS, TRAINS, Row, sign
from scdn.paper.judging import BEYOND, Saying, judge, runs_of, within
from scdn.paper.published import published

RIVALS = ("max-vfl", "gsp", "vafl")
SAVES = {"mnist": 25.8, "cifar10": 14.5, "pawpularity": 17.9}  # percent of Max VFL's energy
SIMILAR = 1.05  # how many times as many iterations still are similar


def claims(numbers: Numbers) -> list[Claim]:
    """What Section V says of static networks, judged in each block's own network."""
    return judge(numbers, _sayings(numbers["data"]), _View)


def _sayings(data: str) -> list[Saying]:
    where, beyond, saved = f"Sec. V-C1, {data}", f"{BEYOND}, {data}", SAVES[data]
    table = f"Tables static_nets_*, {data}"
    return [
        Saying(where, "SC-DN's final score is comparable to or better than every rival's.",
               _View.comparable),
        Saying(where, "SC-DN takes fewer iterations than Max VFL.", _View.fewer_iterations),
        Saying(where, "SC-DN takes fewer or similar iterations (at most 5 % more) than GSP and "
               "VAFL.", _View.similar_iterations),
        Saying(where, f"SC-DN saves at least {saved} % of Max VFL's processing energy.",
               lambda v: v.saves(saved)),
        Saying(beyond,
               "SC-DN uses less processing energy than Max VFL at the least clock that suffices.",
               lambda v: v.saves_matched("max-vfl")),
        Saying(beyond,
               "SC-DN uses less processing energy than GSP and VAFL at their least clocks.",
               lambda v: v.saves_matched("gsp", "vafl")),
        Saying(where, "SC-DN uses less processing energy than GSP and VAFL.", _View.saves_rivals),
        Saying(where, "SC-DN's largest energy is below every rival's.", _View.least_peak),
        Saying(where, "SC-DN's final scores vary less than every rival's.", _View.steadier),
        Saying(where, "Scores get worse with every step to more devices.", _View.worse_with_more),
        Saying(where, "More important devices are given more iterations.",
               lambda v: v.correlated("importance", 1)),
        Saying(where, "The server is drawn to those who train more.",
               lambda v: v.correlated("distance", -1)),
        Saying(beyond, "Every method is better than predicting without input.",
               _View.beats_trivial),
        Saying(table, "The table's final scores (within one published deviation).",
               lambda v: within(v.beside("Final", "score"))),
        Saying(table, "The table's mean iterations (within one published deviation).",
               lambda v: within(v.beside("Iters", "iterations"))),
    ]  # fmt: skip


class _View:
    """One block's rows, as the claims look at them."""

    def __init__(self, numbers: Numbers, block: str, start: str, rows: list[Row]) -> None:
        self.table = published()[f"static_{numbers['data']}_{PUBLISHED_STARTS[start]}"]
        self.leader = numbers["leaders"][block]
        self.cells = {(row["method"], row["devices"]): row for row in rows}
        every = (self.leader, *RIVALS)
        self.devices = [
            n for n in numbers["devices"] if all((name, n) in self.cells for name in every)
        ]
        self.whole = bool(self.devices)
        self.sign = sign(numbers)
        self.near = 1.0 if numbers["metric"] == "top3" else 1e-3  # what counts as comparable

    def at(self, method: str, devices: int) -> Row:
        """A cell."""
        return self.cells[method, devices]

    def _lead(self, devices: int) -> Row:
        return self.at(self.leader, devices)

    def comparable(self) -> tuple[bool, str]:
        """Not worse than a rival by more than a point, or 0.001 of MSE."""
        gaps = {
            (name, n): self.sign
            * (self._lead(n)["score"]["mean"] - self.at(name, n)["score"]["mean"])
            for name in RIVALS
            for n in self.devices
        }
        (name, n), worst = min(gaps.items(), key=lambda entry: entry[1])
        mine, theirs = self._lead(n)["score"]["mean"], self.at(name, n)["score"]["mean"]
        words = f"worst against {LABELS[name]} at N = {n}: {mine:.4g} to {theirs:.4g}"
        return worst >= -self.near, words

    def _iterations(self, method: str) -> list[float]:
        return [self.at(method, n)["iterations"]["mean"] for n in self.devices]

    def _earned(self, held: bool, words: str) -> tuple[bool, str]:
        """What a method that hardly trains saves, or does not change, shows nothing."""
        counts = self._iterations(self.leader)
        if min(counts) >= TRAINS:
            return held, words
        rests = f"{_list(counts)} iterations a device and round (below {TRAINS:g})"
        return False, f"{words}, but SC-DN trains only {rests}"

    def fewer_iterations(self) -> tuple[bool, str]:
        """In every network."""
        mine, most = self._iterations(self.leader), self._iterations("max-vfl")
        words = f"{_list(mine)} against {_list(most)}"
        return self._earned(all(a < b for a, b in zip(mine, most, strict=True)), words)

    def similar_iterations(self) -> tuple[bool, str]:
        """In every network, than either of the two."""
        mine = self._iterations(self.leader)
        theirs = {name: self._iterations(name) for name in RIVALS if name != "max-vfl"}
        words = [f"{LABELS[name]} {_list(counts)}" for name, counts in theirs.items()]
        held = all(
            a <= SIMILAR * b
            for counts in theirs.values()
            for a, b in zip(mine, counts, strict=True)
        )
        return self._earned(held, f"{_list(mine)} against {', '.join(words)}")

    def saves(self, least: float) -> tuple[bool, str]:
        """At least so many percent, in every network."""
        saved = [self._saved(n, self.at("max-vfl", n)["energy"]["mean"]) for n in self.devices]
        return self._earned(min(saved) >= least, f"{_list(saved)} %")

    def saves_matched(self, *rivals: str) -> tuple[bool, str]:
        """Against the same rivals at the least clock."""
        return self._saves_each(rivals, "matched")

    def _saved(self, n: int, theirs: float) -> float:
        return 100 * (1 - self._lead(n)["energy"]["mean"] / theirs) if theirs else 0.0

    def saves_rivals(self) -> tuple[bool, str]:
        """Mean energy, in every network."""
        return self._saves_each(("gsp", "vafl"), "energy")

    def _saves_each(self, rivals: Sequence[str], what: str) -> tuple[bool, str]:
        found = {
            LABELS[name]: [self._saved(n, self.at(name, n)[what]["mean"]) for n in self.devices]
            for name in rivals
        }
        words = ", ".join(f"{name} {_list(saved)} %" for name, saved in found.items())
        return self._earned(all(min(saved) > 0 for saved in found.values()), words)

    def least_peak(self) -> tuple[bool, str]:
        """The largest joules of a device and round."""
        mine = [self._lead(n)["energy"]["max"] for n in self.devices]
        theirs = [min(self.at(r, n)["energy"]["max"] for r in RIVALS) for n in self.devices]
        words = f"{_list(mine)} J against at least {_list(theirs)} J"
        return self._earned(all(a < b for a, b in zip(mine, theirs, strict=True)), words)

    def steadier(self) -> tuple[bool, str] | None:
        """Standard deviation of the final score; needs several runs."""
        if self._lead(self.devices[0])["runs"] < 2:
            return None
        mine = [self._lead(n)["score"]["std"] for n in self.devices]
        theirs = [min(self.at(r, n)["score"]["std"] for r in RIVALS) for n in self.devices]
        words = f"± {_list(mine)} against at least ± {_list(theirs)}"
        return self._earned(all(a <= b for a, b in zip(mine, theirs, strict=True)), words)

    def worse_with_more(self) -> tuple[bool, str] | None:
        """The leader's mean score, if it is better than no input in the smallest network."""
        rows = [self._lead(n) for n in self.devices]
        means = [row["score"]["mean"] for row in rows]
        if len(means) < 2 or rows[0]["runs"] < 2:
            return None
        words = " / ".join(
            f"{row['score']['mean']:.3g} ± {row['score']['std']:.2g}" for row in rows
        )
        falls = all(self.sign * (a - b) > 0 for a, b in pairwise(means))
        if self.sign * (means[0] - rows[0]["trivial"]) <= 0:
            words += f", but none better than the trivial predictor's {rows[0]['trivial']:.3g}"
            falls = False
        return self._earned(falls, words)

    def correlated(self, what: str, sign: int) -> tuple[bool, str] | None:
        """Within rounds: the mean correlation has this sign, two standard errors away from 0."""
        found = [self._lead(n).get(what) for n in self.devices]
        known = [entry for entry in found if entry is not None and entry["runs"] > 1]
        if not known:
            return None
        held = all(
            sign * entry["mean"] > 2 * entry["std"] / entry["runs"] ** 0.5 for entry in known
        )
        words = " / ".join(
            f"{entry['mean']:.2g} ± {entry['std'] / entry['runs'] ** 0.5:.2g}" for entry in known
        )
        runs = runs_of(known[0]["runs"])
        return self._earned(held, f"mean correlation {words} (standard error, {runs})")

    def beats_trivial(self) -> tuple[bool, str] | None:
        """By the same margin that counts as comparable; needs several runs."""
        if min(row["runs"] for row in self.cells.values()) < 2:
            return None
        worst = min(
            self.cells.values(), key=lambda row: self.sign * (row["score"]["mean"] - row["trivial"])
        )
        gap = self.sign * (worst["score"]["mean"] - worst["trivial"])
        words = (
            f"worst {LABELS[worst['method']]} at N = {worst['devices']}: "
            f"{worst['score']['mean']:.4g}, trivial {worst['trivial']:.4g}"
        )
        return gap > self.near, words

    def beside(self, what: str, column: str) -> Iterator[tuple[float, float, float]]:
        """Ours and the published means, and the published deviations."""
        for (method, n), row in self.cells.items():
            theirs = self.table.get(LABELS[method])
            if theirs is None:
                continue
            columns = {name.split(" (")[0]: values for name, values in theirs.items()}
            if what == "Final":
                score = "Acc" if "Final Acc" in columns else "Error"
                mean, std = columns[f"Final {score}"], columns[f"Std {score}"]
            else:
                mean, std = columns[f"Avg {what}"], columns[f"Std {what}"]
            yield row[column]["mean"], mean[f"N={n}"], std[f"N={n}"]


def _list(values: list[float]) -> str:
    return " / ".join(f"{value:.3g}" for value in values)
