"""What the paper says about dynamic networks."""

from __future__ import annotations

import numpy as np

from scdn.paper.artefact import BEYOND_PAPER, Claim, Finding, Numbers
from scdn.paper.method_grid import TRAINS, Row, score_sign
from scdn.paper.published_tables import PUBLISHED_STARTS, published_tables
from scdn.paper.value_text import count_runs
from scdn.paper.verdicts import (
    Statement,
    finding_if_learned,
    judge_statements,
    significantly_better,
    too_few_runs,
    within_deviation,
)

LABELS = {
    "sc-dn": "SC-DN w/ P^r",
    "sc-dn-paper": "SC-DN w/ P^r",
    "zoc": "ZOC w/ P^r",
    "zoc-paper": "ZOC w/ P^r",
    "sc-dn-greedy": "SC-DN w/o P^r",
    "zoc-greedy": "ZOC w/o P^r",
    "gsp": "GSP",
    "vafl": "VAFL",
    "mission": "mission",
}
ROUNDS = (5, 10, 15, 20)  # of the paper's tables
GREEDY = "sc-dn-greedy"
RIVALS = ("gsp", "vafl")
ROUGHLY = 0.75  # the share that is required of a saving that the paper calls rough
# The paper's numbers: points of top-3 or percent of the error, and percent of the energy.
ZOC_LOSS = {"mnist": 8, "cifar10": 5, "pawpularity": 25}
SAVED_PERCENT = {"mnist": (38, 75), "cifar10": (48, 77), "pawpularity": (43, 48)}  # two paragraphs
GAIN = {"mnist": 1, "cifar10": 9, "pawpularity": 20}


def claims(numbers: Numbers) -> list[Claim]:
    """Judge what Section V says about dynamic networks, in each block with its own update."""
    return judge_statements(numbers, _statements(numbers["data"]), DynamicBlock)


def _statements(data: str) -> list[Statement]:
    section, beyond = f"Sec. V-C2, {data}", f"{BEYOND_PAPER}, {data}"
    tables = f"Tables dyn_nets_*, {data}"
    loss, gain, (saved, also_saved) = ZOC_LOSS[data], GAIN[data], SAVED_PERCENT[data]
    unit = "%" if data == "pawpularity" else "points"
    gain_unit = "point" if (gain, unit) == (1, "points") else unit
    return [
        Statement(section,
                  "Keeping departed devices' embeddings ends better than ZOC (known samples).",
                  lambda block: block.keeping_helps(block.leader, block.zoc, "last")),
        Statement(section, "Keeping embeddings ends better than ZOC also without P^r.",
                  lambda block: block.keeping_helps(GREEDY, "zoc-greedy", "last")),
        Statement(beyond,
                  "Keeping embeddings ends better than ZOC on samples recorded after the exits.",
                  lambda block: block.keeping_helps(block.leader, block.zoc, "last_later")),
        Statement(section, f"ZOC loses roughly {loss} {unit} when the first devices leave (at "
                  "least half of that).", lambda block: block.zoc_loses_at_exit(loss)),
        Statement(section, "SC-DN loses less than ZOC when the first devices leave.",
                  DynamicBlock.loses_less_at_exit),
        Statement(section, "Convergence is almost monotone: no more than a point of top-3, or "
                  "0.001 of MSE, below the best so far.", DynamicBlock.monotone),
        *(statement for rival in RIVALS for statement in _against(rival, section, beyond)),
        Statement(section, f"P^r makes SC-DN's final score better by {gain} {gain_unit} (at least "
                  "half of that).", lambda block: block.gains_from_control(gain)),
        Statement(section, "P^r does not help ZOC as it helps SC-DN.",
                  DynamicBlock.control_helps_more_than_zoc),
        *(statement for percent, where in ((saved, ""), (also_saved, "In another paragraph: "))
          for statement in _saves(percent, where, section)),
        Statement(section, "With P^r the mean energy plus a deviation is below the mean without.",
                  DynamicBlock.deviation_below_greedy),
        Statement(section, "SC-DN's score varies least of all methods over runs.",
                  DynamicBlock.least_variance, None),
        Statement(section, "Mean iterations plus a deviation stay below the maximum in early "
                  "rounds.", DynamicBlock.fewer_early_iterations),
        Statement(tables, "The tables' scores in rounds 5, 10, 15 and 20 (within one published "
                  "deviation).", lambda block: block.as_published("metric", "score"), None),
        Statement(tables, "The tables' iterations in these rounds (within one published "
                  "deviation).", lambda block: block.as_published("iterations", "iterations"),
                  None),
    ]  # fmt: skip


def _against(rival: str, section: str, beyond: str) -> list[Statement]:
    """Return what is said about SC-DN and one rival."""
    label, methods = LABELS[rival], (rival,)
    less = f"SC-DN uses less processing energy than {label}"
    return [
        Statement(section, f"SC-DN ends better than {label}.",
                  lambda block: block.beats(rival), methods),
        Statement(section, f"{less}, per device present.",
                  lambda block: block.saves_energy(rival, "all_energy"), methods),
        Statement(section, f"{less}, per active device.",
                  lambda block: block.saves_energy(rival, "energy_active"), methods),
        Statement(beyond, f"{less} at its least clock.",
                  lambda block: block.saves_energy(rival, "matched"), methods),
    ]  # fmt: skip


def _saves(percent: float, where: str, section: str) -> list[Statement]:
    """Return that P^r saves roughly so much, by both ways to count."""
    roughly = f"of the processing energy (at least {ROUGHLY:.0%} of that)"
    return [
        Statement(
            section,
            f"{where}P^r saves roughly {percent} % {roughly}, per {per}.",
            lambda block, quantity=quantity: block.saves_percent(quantity, ROUGHLY * percent),  # type: ignore[misc]
        )
        for per, quantity in (("device present", "all_energy"), ("active device", "energy_active"))
    ]


class DynamicBlock:
    """One block's rows, and the checks of the paper's statements on them."""

    def __init__(self, numbers: Numbers, block: str, start: str, rows: list[Row]) -> None:
        self.rows = {row["method"]: row for row in rows}
        self.leader = numbers["leaders"][block]
        self.zoc = "zoc-paper" if self.leader == "sc-dn-paper" else "zoc"
        self.sign = score_sign(numbers)
        self.is_error = numbers["metric"] != "top3"
        self.published = f"dynamic_{numbers['data']}_{{}}_{PUBLISHED_STARTS[start]}"
        self.complete = {self.leader, self.zoc, GREEDY, "zoc-greedy"} <= set(self.rows)
        self.not_run = tuple(rival for rival in RIVALS if rival not in self.rows)

    def _if_trained(self, finding: Finding, method: str | None = None) -> Finding:
        """Return the finding; where a method hardly trains, its regime is not reached."""
        iterations = float(np.mean(self.rows[method or self.leader]["iterations"]["mean"]))
        if not isinstance(finding.answer, bool) or iterations >= TRAINS:
            return finding
        trains = f"SC-DN hardly trains: {iterations:.2g} iterations"
        return Finding("regime not reached", f"{finding.evidence}; {trains}")

    def _better(self, method: str, other: str, quantity: str = "last") -> Finding:
        values, others = (self.rows[name][quantity] for name in (method, other))
        better = significantly_better(values, others, self.sign)
        return self._if_learned(better, method, other, quantity=quantity)

    def _if_learned(self, finding: Finding, *methods: str, quantity: str = "last") -> Finding:
        """Return the finding; where no method beats predicting without input, it is no answer."""
        scores = [float(np.mean(self.rows[name][quantity])) for name in methods]
        return finding_if_learned(finding, scores, self.rows[self.leader]["trivial"], self.sign)

    def keeping_helps(self, method: str, zoc: str, quantity: str) -> Finding:
        """Compare final scores of paired runs."""
        return self._if_trained(self._better(method, zoc, quantity), method)

    def _if_learned_before_exit(self, finding: Finding) -> Finding:
        """Return the finding; what nobody has learned, nobody can lose."""
        scores = [float(np.mean(self.rows[name]["exit"], 0)[0]) for name in (self.leader, self.zoc)]
        trivial = self.rows[self.leader]["trivial"]
        return self._if_trained(finding_if_learned(finding, scores, trivial, self.sign))

    def _losses_at_exit(self) -> tuple[float, float, str] | None:
        """Return what SC-DN and ZOC lose in the round of the first exit, and both as text."""
        ours, zoc = (np.array(self.rows[name]["exit"]) for name in (self.leader, self.zoc))
        if len(ours) < 2 or len(zoc) < 2:
            return None
        our_loss, zoc_loss = self._loss(ours), self._loss(zoc)
        unit, runs = " %" if self.is_error else "", count_runs(len(zoc))
        return our_loss, zoc_loss, f"ZOC {zoc_loss:.2g}{unit}, SC-DN {our_loss:.2g}{unit} ({runs})"

    def zoc_loses_at_exit(self, published_loss: float) -> Finding:
        """Compare ZOC's loss in the round of the first exit with the published one."""
        losses = self._losses_at_exit()
        if losses is None:
            return too_few_runs(1)
        return self._if_learned_before_exit(Finding(losses[1] >= published_loss / 2, losses[2]))

    def loses_less_at_exit(self) -> Finding:
        """Compare both losses in the round of the first exit."""
        losses = self._losses_at_exit()
        if losses is None:
            return too_few_runs(1)
        return self._if_learned_before_exit(Finding(losses[0] < losses[1], losses[2]))

    def _loss(self, before_and_after: np.ndarray) -> float:
        """Return the loss in points, or in percent of the error."""
        before, after = before_and_after.mean(0)
        return float(100 * (after / before - 1) if self.is_error else before - after)

    def monotone(self) -> Finding:
        """Compare SC-DN's mean curve with its best value so far."""
        curve = self.sign * np.array(self.rows[self.leader]["score"]["mean"])
        below = float((np.maximum.accumulate(curve) - curve).max())
        evidence = f"at most {below:.2g} below its best so far"
        return self._if_trained(Finding(below <= (1e-3 if self.is_error else 1.0), evidence))

    def beats(self, rival: str) -> Finding:
        """Compare final scores on known samples with a rival's."""
        return self._if_trained(self._better(self.leader, rival))

    def gains_from_control(self, published_gain: float) -> Finding:
        """Compare final scores with the greedy controller, in points or percent of the error."""
        ours, greedy = (float(np.mean(self.rows[m]["last"])) for m in (self.leader, GREEDY))
        gain = 100 * (1 - ours / greedy) if self.is_error else ours - greedy
        better = self._better(self.leader, GREEDY)
        if better.answer is True:
            better = Finding(gain >= published_gain / 2, better.evidence)
        return self._if_trained(better)

    def control_helps_more_than_zoc(self) -> Finding:
        """Compare what P^r adds to SC-DN and to ZOC, over paired runs."""
        added, added_to_zoc = (
            np.array(self.rows[with_control]["last"]) - np.array(self.rows[without]["last"])
            for with_control, without in ((self.leader, GREEDY), (self.zoc, "zoc-greedy"))
        )
        better = significantly_better(added, added_to_zoc, self.sign)
        better = self._if_learned(better, self.leader, self.zoc, GREEDY, "zoc-greedy")
        return self._if_trained(Finding(better.answer, f"it adds {better.evidence}"))

    def _saved_percent(self, other: str, quantity: str) -> float | None:
        """Return by how many percent SC-DN's mean energy is below another method's.

        Both per active device, or else SC-DN's per device present. None if nothing is recorded.
        """
        own = quantity if quantity == "energy_active" else "all_energy"
        ours, others = self.rows[self.leader].get(own), self.rows[other].get(quantity)
        if ours is None or others is None or not others["mean"]:
            return None
        return float(100 * (1 - ours["mean"] / others["mean"]))

    def saves_percent(self, quantity: str, least: float) -> Finding | None:
        """Return whether P^r saves at least so many percent of the processing energy."""
        saved = self._saved_percent(GREEDY, quantity)
        if saved is None:
            return None
        return self._if_trained(Finding(saved >= least, f"{saved:.3g} %"))

    def deviation_below_greedy(self) -> Finding:
        """Compare energies over devices, rounds and runs."""
        ours, greedy = (self.rows[name]["all_energy"] for name in (self.leader, GREEDY))
        evidence = f"{ours['mean']:.3g} + {ours['std']:.2g} J against {greedy['mean']:.3g} J"
        below = ours["mean"] + ours["std"] < greedy["mean"]
        return self._if_trained(Finding(below, evidence))

    def saves_energy(self, rival: str, quantity: str) -> Finding | None:
        """Return whether SC-DN uses less than a rival's energy, or matched energy."""
        saved = self._saved_percent(rival, quantity)
        if saved is None:
            return None
        return self._if_trained(Finding(saved > 0, f"saves {saved:.3g} %"))

    def least_variance(self) -> Finding:
        """Compare the deviation of the last score over runs."""
        runs = self.rows[self.leader]["runs"]
        if runs < 2:
            return too_few_runs(runs)
        deviations = {name: row["score"]["std"][-1] for name, row in self.rows.items()}
        ours, least = deviations[self.leader], min(deviations.values())
        finding = Finding(ours <= least, f"± {ours:.3g}, least ± {least:.3g}")
        return self._if_trained(self._if_learned(finding, *self.rows))

    def fewer_early_iterations(self) -> Finding:
        """Compare iterations in the first five rounds with the maximum of 5."""
        curve = self.rows[self.leader]["iterations"]
        most = max(m + s for m, s in zip(curve["mean"][:5], curve["std"][:5], strict=True))
        return self._if_trained(Finding(most < 5, f"at most {most:.3g} of 5"))

    def as_published(self, quantity: str, curve: str) -> Finding:
        """Return whether our means are within the published deviations."""
        table, triples = published_tables()[self.published.format(quantity)], []
        for method, row in self.rows.items():
            published, ours = table.get(LABELS[method]), row[curve]["mean"]
            if published is not None:
                rounds = zip(ROUNDS, published["mean"], published["std"], strict=True)
                triples += [(ours[r - 1], m, s) for r, m, s in rounds if r <= len(ours)]
        return within_deviation(triples)
