"""What the paper says of dynamic networks."""

from __future__ import annotations

import numpy as np

from scdn.paper.artefact import Claim, Numbers
from scdn.paper.blocks import TRAINS, Row, each_block, judged, own_rows, sign

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
        words = ", ".join(f"{NAMES[name]}: {text}" for name, (_, text) in found.items())
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
        words = ", ".join(f"{NAMES[name]} {saved:.3g} %" for name, saved in found.items())
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
