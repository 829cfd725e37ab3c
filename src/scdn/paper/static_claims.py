"""What the paper says of static networks."""

from __future__ import annotations

from scdn.paper.artefact import Claim, Numbers
from scdn.paper.blocks import LABELS, TRAINS, Row, each_block, judged, own_rows, sign

RIVALS = ("max-vfl", "gsp", "vafl")


def claims(numbers: Numbers) -> list[Claim]:
    """What Section V says of static networks, judged in each block's own network."""
    data = numbers["data"]
    views = {block: _View(numbers, block, rows) for block, rows in own_rows(numbers).items()}
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

    def __init__(self, numbers: Numbers, block: str, rows: list[Row]) -> None:
        self.leader = numbers["leaders"][block]
        self.cells = {(row["method"], row["devices"]): row for row in rows}
        every = (self.leader, *RIVALS)
        self.devices = [
            n for n in numbers["devices"] if all((name, n) in self.cells for name in every)
        ]
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
            for name in RIVALS
            if name != "max-vfl"
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
