"""Find devices whose well-formed replies are out of line, so that a round can go on without them.

Five things are looked at. Thresholds are above what honest devices showed in a few runs on digits
and occupancy; the comments beside them say how far, where it was measured.

harm
    The loss on rows held out, with what a device says and with what was to be expected of it
    instead: whoever makes everybody's loss much worse is left out (`embedding_harm.py`).
contradictions
    A row has one embedding in one state of a model, however often it is asked for.
rows held out, and test rows
    They are embedded by the same model as training rows (`row_consistency.py`). Labels of test rows
    are not used: no decision of a run may depend on them.
the server's outputs
    They carry over from training rows to test rows, unless a device makes the server rely on what
    it says of training rows alone (`output_consistency.py`).
sizes and figures
    They are compared with a device's own history and with the other devices'. A value must be far
    above both to be out of line; a new device has only the others to be compared with.

What is odd and does no harm is said once in the log, and nothing else follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from scdn.federation.blocked_steps import (
    MAX_BLOCKED_ROUNDS,
    BlockedRounds,
    blocking_parties,
    judged_table,
)
from scdn.federation.embedding_harm import MAX_HARM, HarmMeasure, describe_losses
from scdn.federation.fusion_history import FusionHistory
from scdn.federation.incoming_messages import Tables
from scdn.federation.odd_replies import LARGE_SIZE, SMALL_SIZE, OddReplies, median_without
from scdn.federation.reply_history import (
    CHANGE,
    SIZE,
    ReplyHistory,
    part_that_differs,
    root_mean_square,
    size_of,
)
from scdn.federation.row_consistency import find_inconsistent_held_out

# Embeddings may be so many times as large as a device's own before and the others'. With a searched
# step honest ones grew up to 380 times in one round, and those of all devices together.
MAX_SIZE_RATIO = 1000.0
# They may be so many times as large as those of any other that has been there at least half as
# long. Honest ones were 1.3 times as large at most.
MAX_SIZE_TO_OTHERS = 6.0
# The same for what a device measures of its gradients. Honest ones: up to 33, with dropout.
MAX_FIGURE_RATIO = 1000.0
# Its measured smoothness is a ratio whose denominator is the step, which depends on all devices. In
# steps that a lie made tiny, an honest one's grew 2490 times: it is not used then, nothing more.
_RATIO_OF_STEP = "measured_smoothness"
_ALWAYS_MEASURED = ("bound_sq", "variance")
# Two embeddings of one row may differ by this part of the table's root mean square, besides
# rounding and noise, and may do so on one row of ten. How far honest ones differ is not measured.
TOLERANCE, MAX_CONTRADICTED = 0.05, 0.1
_NOISE_DEVIATIONS = 8.0  # between two embeddings of one row
_ROUNDING_STEPS = 4.0  # between two numbers of few bits: two roundings, also of differences
# Updates so many times as large as the median of the others are tried without their device: smaller
# ones cannot decide how far all devices go.
_LARGE_CHANGE = 3.0
MAX_SUSPICIOUS_ROUNDS = 3  # in which a party was out of line, after which it is dismissed

Reasons = dict[str, str]  # by party: why it is left out


@dataclass
class AnomalyDetector:
    """Compares what devices say: with what they said before, with one another, by its effect.

    In each phase of a round the parties' backend passes on what all devices have sent, leaves out
    the parties that are returned, with the reason, and calls `accept` for the others.
    """

    train_rows: int
    noise_deviation: float  # of the noise that devices add to what they send
    log: Callable[[str], None] = lambda _: None
    harm: HarmMeasure | None = None  # once there is a model
    parties: dict[str, ReplyHistory] = field(default_factory=dict)
    suspicious_rounds: Counter[str] = field(default_factory=Counter)  # by party
    slow_rounds: Counter[str] = field(default_factory=Counter)  # likewise
    _blocked: BlockedRounds = field(default_factory=BlockedRounds)
    round: int = 0
    _at_start: dict[str, ReplyHistory] = field(default_factory=dict)  # of the round
    odd: OddReplies = field(init=False)
    fusions: FusionHistory = field(init=False)

    def __post_init__(self) -> None:
        self.odd = OddReplies(self.log)
        self.fusions = FusionHistory(self.log)

    # --- the phases of a round ------------------------------------------------------------------

    def before_training(
        self,
        sent: Mapping[str, Tables],
        rows: Mapping[str, Tensor],
        states: Mapping[str, int],
        bits: int,
    ) -> Reasons:
        """Judge embeddings of the round's rows, of models in the states that the server knows."""
        reasons = self._contradictions(sent, rows, states, bits) | self._sizes(sent)
        table = judged_table(rows)
        tables = {name: t[table] for name, t in sent.items() if name not in reasons}
        if self.harm is None or not tables:
            return reasons
        instead = {name: self._expected(name, table) for name, table in tables.items()}
        others = self.harm.known_of_others(tables, rows[table])
        harmful, gains = self.harm.find_harmful(tables, rows[table], instead, others)
        self.odd.note_useless(gains)
        self.odd.note_copies(tables)
        reasons |= harmful
        if reasons:
            self.fusions.note_left_out(self.round)
        good = {name: table for name, table in tables.items() if name not in reasons}
        self.fusions.begin_round(self.round, self.harm, good, rows[table])
        return reasons

    def after_training(
        self,
        trained: Mapping[str, Tables],
        before: Mapping[str, Tables],
        rows: Mapping[str, Tensor],
        lengths: Sequence[float],
    ) -> Reasons:
        """Judge updates that the step's length will be chosen for.

        The best step with all of them must not be much worse than the best one without an update.
        """
        (table,) = {table for tables in trained.values() for table in tables} or {""}
        stale = {name: before[name][table] for name in trained}
        changes = {
            name: root_mean_square(tables[table] - stale[name]) for name, tables in trained.items()
        }
        reasons = self.figures({name: {CHANGE: change} for name, change in changes.items()})
        for name in changes.keys() - reasons.keys():
            self.accept_figures(name, {CHANGE: changes[name]})
        self.odd.note_large_updates(changes)
        moving = trained.keys() - reasons.keys()
        large = [n for n in moving if changes[n] > _LARGE_CHANGE * median_without(changes, n)]
        if self.harm is None or not large:
            return reasons
        harm, others = self.harm, self.harm.known_of_others(trained, rows[table])

        def least_loss(moving: Collection[str]) -> float:
            def tables_at(length: float) -> Tables:
                return stale | {
                    name: torch.lerp(stale[name], trained[name][table], length) for name in moving
                }

            return min(harm.loss(others | tables_at(length), rows[table]) for length in lengths)

        for name in sorted(large, key=changes.__getitem__, reverse=True):
            loss, without = least_loss(moving), least_loss(moving - {name})
            if harm.harm(loss, without) > MAX_HARM:
                compared = describe_losses(loss, without)
                reasons[name] = f"with its update the best step's loss is {compared}"
                moving = moving - {name}
        return reasons

    def after_step(
        self,
        sent: Mapping[str, Tables],
        rows: Mapping[str, Tensor],
        bits: int,
        before: Mapping[str, Tables],
        step_length: float | None,
    ) -> Reasons:
        """Judge the embeddings of updated models.

        The harm that they do says nothing: a step may be too long for honest devices as well.
        `before` has what parties sent before it: after a step of length 0 it is the same model.
        """
        new_states = dict.fromkeys(sent, -1)  # nothing was said in them before
        reasons = self._contradictions(sent, self._with_sample(rows), new_states, bits)
        table = judged_table(rows)
        for name, tables in sent.items():
            if table in tables and table in before.get(name, {}):
                self.odd.note_reversed(name, before[name][table], tables[table])
            if step_length != 0 or name not in before:
                continue
            part = part_that_differs(tables, before[name], self._tolerance(tables, bits))
            if part > MAX_CONTRADICTED:
                told = f"{part:.0%} of its embeddings differ after a step of length 0"
                reasons.setdefault(name, told)
        good = {name: tables for name, tables in sent.items() if name not in reasons}
        return reasons | self._sizes(sent) | find_inconsistent_held_out(good)

    def taken_back(
        self,
        updated: Mapping[str, Tables],
        before: Mapping[str, Tables],
        rows: Mapping[str, Tensor],
        not_finite: Collection[str],
    ) -> Reasons:
        """Judge a step that was taken back: one party alone must not do so too often."""
        table, blocking = judged_table(rows), list(not_finite)
        if not blocking and self.harm is not None:
            blocking = blocking_parties(self.harm, updated, before, table, rows[table])
        name = self._blocked.add(blocking)
        if name is None:
            return {}
        self.suspicious_rounds[name] = MAX_SUSPICIOUS_ROUNDS
        return {name: f"it alone has blocked the steps of {MAX_BLOCKED_ROUNDS} rounds"}

    def note_step_kept(self, names: Collection[str]) -> None:
        """Note that the step of these parties was not taken back."""
        self._blocked.note_step_kept(names)

    def reports(self, samples: Mapping[str, Tensor]) -> Reasons:
        """Judge embeddings of the sample, against a mean embedding instead."""
        if self.harm is None or not samples:
            return {}
        server = self.harm.server
        kept = server.memory.embeddings
        instead = {name: self._expected(name, sample) for name, sample in samples.items()}
        others = server.sample_embeddings | {name: kept[name].sample for name in kept}
        return self.harm.find_harmful(samples, server.sample, instead, others).reasons

    def figures(self, sent: Mapping[str, dict[str, float | None]]) -> Reasons:
        """Judge what devices have measured; zero and None are no measurements.

        A figure that is not reliable is taken out of what was sent, and named.
        """
        reasons: Reasons = {}
        for kind in sorted({kind for figures in sent.values() for kind in figures}):
            values = {n: value for n, f in sent.items() if (value := f.get(kind))}
            silent = set(sent) - set(values)
            if len(silent) == 1 < len(values) and kind in _ALWAYS_MEASURED:
                text = f"it alone has measured no {kind.replace('_', ' ')}"
                self.odd.note(silent.pop(), kind, text)
            if kind in _ALWAYS_MEASURED:
                self.odd.note_small_figures(kind, values)
            for name, value in values.items():
                usual = self._usual(kind, values, name)
                if usual and value > MAX_FIGURE_RATIO * usual:
                    much = f"{value / usual:.3g} times what it and others had before"
                    told = f"its {kind.replace('_', ' ')} of {value:.3g} is {much}"
                    if kind == _RATIO_OF_STEP:
                        sent[name][kind] = None
                        self.odd.note(name, kind, f"{told}; not used")
                    else:
                        reasons[name] = told
        return reasons

    def suspect(self, name: str) -> None:
        """Count a round in which a party was out of line."""
        self.suspicious_rounds[name] += 1
        self.fusions.note_left_out(self.round)

    def to_dismiss(self, names: Collection[str]) -> list[str]:
        """Return the parties that were out of line, or slow, in too many rounds."""
        rounds = self.suspicious_rounds + self.slow_rounds
        return [name for name in names if rounds[name] >= MAX_SUSPICIOUS_ROUNDS]

    def begin_round(self, round_: int) -> None:
        """Begin a round; `go_back` returns to what is known once it has begun."""
        self.round, self._at_start = round_, {}

    def go_back(self, name: str) -> None:
        """Forget what a party has said since the round began: its model is as it was then."""
        if name in self._at_start:
            self.parties[name] = self._at_start[name]

    def accept(
        self, name: str, state: int, tables: Tables, rows: Mapping[str, Tensor], bits: int
    ) -> None:
        """Remember a party's good reply in a state of its model, to compare later ones with it."""
        history = self.parties.get(name, ReplyHistory())
        rows = self._with_sample(rows)
        fewest_bits = self._fewest_bits(history, state, bits)
        history, _ = history.with_tables(state, tables, rows, self.train_rows, 0.0)
        history.fewest_bits = fewest_bits
        history.mean = tables[judged_table(tables)].mean(0)
        history.accept_figures({SIZE: size_of(tables)})
        history.replies += 1
        self.parties[name] = history
        self._at_start.setdefault(name, history)

    def accept_figures(self, name: str, figures: Mapping[str, float | None]) -> None:
        """Remember what a party has measured."""
        self.parties.setdefault(name, ReplyHistory()).accept_figures(figures)

    def forget(self, names: Collection[str]) -> None:
        """Drop the history of parties that have left."""
        self.parties = {n: history for n, history in self.parties.items() if n not in names}

    def state_dict(self) -> dict[str, Any]:
        """Return what later rounds need, but for the fusion models: those are arrays."""
        return {
            "suspicious": dict(self.suspicious_rounds),
            "slow": dict(self.slow_rounds),
            "histories": {name: history.state_dict() for name, history in self.parties.items()},
            "blocked": [self._blocked.name, self._blocked.count],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        self.suspicious_rounds = Counter(state["suspicious"])
        self.slow_rounds = Counter(state.get("slow", {}))  # not in runs of earlier versions
        histories = state.get("histories", {})  # likewise
        self.parties = {n: ReplyHistory.from_state_dict(values) for n, values in histories.items()}
        self._blocked = BlockedRounds(*state.get("blocked", ()))

    # --- inside ---------------------------------------------------------------------------------

    def _contradictions(
        self,
        sent: Mapping[str, Tables],
        rows: Mapping[str, Tensor],
        states: Mapping[str, int],
        bits: int,
    ) -> Reasons:
        """Find parties that give one row several embeddings in one state of their model."""
        reasons: Reasons = {}
        for name, tables in sent.items():
            history = self.parties.get(name, ReplyHistory())
            tolerance = self._tolerance(tables, self._fewest_bits(history, states[name], bits))
            _, part = history.with_tables(states[name], tables, rows, self.train_rows, tolerance)
            if part > MAX_CONTRADICTED:
                reasons[name] = f"{part:.0%} of its embeddings contradict others of the same rows"
        return reasons

    @staticmethod
    def _fewest_bits(history: ReplyHistory, state: int, bits: int) -> int:
        """Return the fewest bits of a reply and of what it is compared with: bits may change."""
        return min(bits, history.fewest_bits) if state == history.state else bits

    def _tolerance(self, tables: Tables, bits: int) -> float:
        """Return by how much two embeddings of one row may differ."""
        size, spread = size_of(tables), 0.0
        if bits < 32:
            ranges = [float((t.amax(0) - t.amin(0)).max()) for t in tables.values() if len(t)]
            spread = max(ranges, default=0.0)
        rounding = _ROUNDING_STEPS * spread / (2**bits - 1)
        return TOLERANCE * size + rounding + _NOISE_DEVIATIONS * self.noise_deviation

    def _sizes(self, sent: Mapping[str, Tables]) -> Reasons:
        """Find parties whose embeddings are far larger than before and than the others'."""
        sizes = {name: size_of(tables) for name, tables in sent.items()}
        reasons: Reasons = {}
        for name, size in sizes.items():
            usual = self._usual(SIZE, sizes, name)
            if usual and size > MAX_SIZE_RATIO * usual:
                reasons[name] = f"its embeddings are {size / usual:.3g} times as large as usual"
            peers = [other for n, other in sizes.items() if n != name and self._is_peer(n, name)]
            others = max(peers, default=0.0)
            text = f"its embeddings are {size / (others or 1.0):.2g} times as large as others'"
            if len(peers) < 2 or not others:
                continue  # of two devices, nobody can say which one is odd
            if size > MAX_SIZE_TO_OTHERS * others:
                reasons.setdefault(name, text)
            elif not SMALL_SIZE * min(peers) <= size <= LARGE_SIZE * others:
                self.odd.note(name, "large", text)
        return reasons

    def _is_peer(self, other: str, name: str) -> bool:
        """Return whether a party has replied at least half as often: models grow with time."""
        replies = {n: self.parties.get(n, ReplyHistory()).replies for n in (other, name)}
        return 2 * replies[other] >= replies[name]

    def _usual(self, kind: str, values: Mapping[str, float], name: str) -> float:
        """Return the largest of all parties' medians, and of the others' values now."""
        before = [history.usual(kind) for history in self.parties.values()]
        return max([*before, *(v for n, v in values.items() if n != name)], default=0.0)

    def _expected(self, name: str, table: Tensor) -> Tensor:
        """Return the mean of a party's last good reply for each row; zero if there is none."""
        history = self.parties.get(name)
        if history is None or history.mean is None:
            return torch.zeros_like(table)
        return history.mean.to(table).expand_as(table)

    def _with_sample(self, rows: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        return rows if self.harm is None else {**rows, "sample": self.harm.server.sample}
