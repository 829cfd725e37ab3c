"""What the paper says of dynamic networks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scdn.paper.artefact import Claim, Numbers
from scdn.paper.blocks import PUBLISHED_STARTS, TRAINS, Row, sign
from scdn.paper.judging import BEYOND, Look, Saying, better, judge, runs_of, within
from scdn.paper.published import published

NAMES = {
    "sc-dn": "SC-DN w/ P^r",
    "sc-dn-paper": "SC-DN w/ P^r",
    "zoc": "ZOC w/ P^r",
    "zoc-paper": "ZOC w/ P^r",
    "sc-dn-greedy": "SC-DN w/o P^r",
    "zoc-greedy": "ZOC w/o P^r",
    "gsp": "GSP",
    "vafl": "VAFL",
}
ROUNDS = (5, 10, 15, 20)  # of the paper's tables
GREEDY = "sc-dn-greedy"
SHARE = 0.75  # of a saving that the paper calls rough
FALLS = {"mnist": 8, "cifar10": 5, "pawpularity": 25}  # of ZOC: points, percent of the error
SAVES = {"mnist": (38, 75), "cifar10": (48, 77), "pawpularity": (43, 48)}  # the text has both
GAINS = {"mnist": 1, "cifar10": 9, "pawpularity": 20}  # by P^r: points, percent of the error


def claims(numbers: Numbers) -> list[Claim]:
    """What Section V says of dynamic networks, judged in each block's own network."""
    return judge(numbers, _sayings(numbers["data"]), _View)


def _sayings(data: str) -> list[Saying]:
    where, beyond = f"Sec. V-C2, {data}", f"{BEYOND}, {data}"
    tables = f"Tables dyn_nets_*, {data}"
    unit = "%" if data == "pawpularity" else "points"
    fall, gain, (saved, again) = FALLS[data], GAINS[data], SAVES[data]
    rough = f"of the processing energy (at least {SHARE:.0%} of that)."
    return [
        Saying(where, "Keeping departed devices' embeddings ends better than ZOC (known samples).",
               lambda v: v.keeps(v.leader, v.zoc, "last")),
        Saying(where, "The same without P^r.", lambda v: v.keeps(GREEDY, "zoc-greedy", "last")),
        Saying(beyond,
               "Keeping embeddings ends better than ZOC on samples recorded after the exits.",
               lambda v: v.keeps(v.leader, v.zoc, "last_later")),
        Saying(where, f"ZOC loses roughly {fall} {unit} when the first devices leave (at least "
               "half of that), and SC-DN less.", lambda v: v.falls(fall)),
        Saying(where, "Convergence is almost monotone: no more than a point of top-3, or 0.001 of "
               "MSE, below the best so far.", _View.monotone),
        Saying(where, "SC-DN ends better than GSP and VAFL.", _View.beats_rivals),
        Saying(where, f"P^r makes SC-DN's final score better by {gain} {unit} (at least half of "
               "that).", lambda v: v.gains(gain)),
        Saying(where, "P^r does not help ZOC as it helps SC-DN.", _View.helps),
        Saying(where, f"P^r saves roughly {saved} % {rough}",
               lambda v: v.saves(GREEDY, SHARE * saved)),
        Saying(where, f"In another paragraph: P^r saves roughly {again} % {rough}",
               lambda v: v.saves(GREEDY, SHARE * again)),
        Saying(where, "With P^r the mean energy plus a deviation is below the mean without.",
               _View.below_greedy),
        Saying(where, "SC-DN uses less processing energy than GSP and VAFL.",
               lambda v: v.saves_rivals("all_energy")),
        Saying(beyond,
               "SC-DN uses less processing energy than GSP and VAFL at their least clocks.",
               lambda v: v.saves_rivals("matched")),
        Saying(where, "SC-DN's score varies least of all methods over runs.", _View.steadiest),
        Saying(where, "Mean iterations plus a deviation stay below the maximum in early rounds.",
               _View.fewer_early),
        Saying(tables, "The tables' scores in rounds 5, 10, 15 and 20 (within one published "
               "deviation).", lambda v: within(v.beside("metric", "score"))),
        Saying(tables, "The tables' iterations in these rounds (within one published deviation).",
               lambda v: within(v.beside("iterations", "iterations"))),
    ]  # fmt: skip


class _View:
    """One block's rows, as the claims look at them."""

    def __init__(self, numbers: Numbers, block: str, start: str, rows: list[Row]) -> None:
        self.rows = {row["method"]: row for row in rows}
        self.leader = numbers["leaders"][block]
        self.zoc = "zoc-paper" if self.leader == "sc-dn-paper" else "zoc"
        self.sign = sign(numbers)
        self.errors = numbers["metric"] != "top3"
        self.tables = f"dynamic_{numbers['data']}_{{}}_{PUBLISHED_STARTS[start]}"
        needed = {self.leader, self.zoc, GREEDY, "zoc-greedy", "gsp", "vafl"}
        self.whole = needed <= set(self.rows)

    def keeps(self, one: str, other: str, what: str) -> Look:
        """Over paired runs, of methods that train."""
        found = self._better(one, other, what)
        return None if found is None else self._earned(*found, one)

    def _better(self, one: str, other: str, what: str = "last") -> Look:
        return better(self.rows[one][what], self.rows[other][what], self.sign)

    def falls(self, published_: float) -> tuple[bool, str] | None:
        """The change of the score in the round of the first exit."""
        mine, theirs = (np.array(self.rows[name]["exit"]) for name in (self.leader, self.zoc))
        if len(mine) < 2 or len(theirs) < 2:
            return None
        keep, forget = (self._lost(pairs) for pairs in (mine, theirs))
        unit = " %" if self.errors else ""
        words = f"ZOC loses {forget:.2g}{unit}, SC-DN {keep:.2g}{unit} ({runs_of(len(theirs))})"
        return self._earned(forget >= published_ / 2 and keep < forget, words)

    def _lost(self, pairs: np.ndarray) -> float:
        """Points, or percent of the error, from before to after."""
        before, after = pairs.mean(0)
        return float(100 * (after / before - 1) if self.errors else before - after)

    def monotone(self) -> tuple[bool, str]:
        """Of the mean curve."""
        curve = self.sign * np.array(self.rows[self.leader]["score"]["mean"])
        below = float((np.maximum.accumulate(curve) - curve).max())
        words = f"at most {below:.2g} below its best so far"
        return self._earned(below <= (1e-3 if self.errors else 1.0), words)

    def beats_rivals(self) -> Look:
        """At the end, on known samples."""
        gsp, vafl = (self._better(self.leader, name) for name in ("gsp", "vafl"))
        if gsp is None or vafl is None:
            return None
        return self._earned(gsp[0] and vafl[0], f"GSP: {gsp[1]}, VAFL: {vafl[1]}")

    def gains(self, published_: float) -> Look:
        """Points, or percent of the error."""
        mine, theirs = (float(np.mean(self.rows[m]["last"])) for m in (self.leader, GREEDY))
        gain = 100 * (1 - mine / theirs) if self.errors else mine - theirs
        found = self._better(self.leader, GREEDY)
        if found is None:
            return None
        return self._earned(found[0] and gain >= published_ / 2, found[1])

    def helps(self) -> Look:
        """What P^r adds to either, over paired runs."""
        added = [
            np.array(self.rows[with_]["last"]) - np.array(self.rows[without]["last"])
            for with_, without in ((self.leader, GREEDY), (self.zoc, "zoc-greedy"))
        ]
        found = better(added[0], added[1], self.sign)
        return None if found is None else self._earned(found[0], f"it adds {found[1]}")

    def saves(self, other: str, least: float) -> tuple[bool, str]:
        """In percent of the other's processing energy."""
        saved = self._saved(other)
        return self._earned(saved >= least, f"{saved:.3g} %")

    def _saved(self, other: str, what: str = "all_energy") -> float:
        theirs = self.rows[other][what]["mean"]
        return 100 * (1 - self.rows[self.leader]["all_energy"]["mean"] / theirs) if theirs else 0.0

    def below_greedy(self) -> tuple[bool, str]:
        """Over devices, rounds and runs."""
        mine, theirs = (self.rows[name]["all_energy"] for name in (self.leader, GREEDY))
        words = f"{mine['mean']:.3g} + {mine['std']:.2g} J against {theirs['mean']:.3g} J"
        return self._earned(mine["mean"] + mine["std"] < theirs["mean"], words)

    def saves_rivals(self, what: str) -> tuple[bool, str]:
        """Any saving counts."""
        found = {name: self._saved(name, what) for name in ("gsp", "vafl")}
        words = ", ".join(f"{NAMES[name]} {saved:.3g} %" for name, saved in found.items())
        return self._earned(min(found.values()) > 0, words)

    def _earned(self, held: bool, words: str, method: str | None = None) -> tuple[bool, str]:
        """What a method that hardly trains saves, or does not change, shows nothing."""
        mean = float(np.mean(self.rows[method or self.leader]["iterations"]["mean"]))
        if mean >= TRAINS:
            return held, words
        rests = f"{mean:.2g} iterations a device and round (below {TRAINS:g})"
        return False, f"{words}, but SC-DN trains only {rests}"

    def steadiest(self) -> Look:
        """The deviation of the last score over runs."""
        if self.rows[self.leader]["runs"] < 2:
            return None
        found = {name: row["score"]["std"][-1] for name, row in self.rows.items()}
        words = f"± {found[self.leader]:.3g}, least ± {min(found.values()):.3g}"
        return self._earned(found[self.leader] <= min(found.values()), words)

    def fewer_early(self) -> tuple[bool, str]:
        """In the first five rounds."""
        curve = self.rows[self.leader]["iterations"]
        most = max(m + s for m, s in zip(curve["mean"][:5], curve["std"][:5], strict=True))
        return self._earned(most < 5, f"at most {most:.3g} of 5")

    def beside(self, what: str, curve: str) -> Iterator[tuple[float, float, float]]:
        """Ours and the published means, and the published deviations."""
        table = published()[self.tables.format(what)]
        for name, row in self.rows.items():
            theirs, mine = table.get(NAMES[name]), row[curve]["mean"]
            if theirs is not None:
                known = zip(ROUNDS, theirs["mean"], theirs["std"], strict=True)
                yield from ((mine[r - 1], m, s) for r, m, s in known if r <= len(mine))
