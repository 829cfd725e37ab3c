"""What the server has heard of each party's embeddings, row by row, and what it makes of the rest.

A party that does not report in a round, or has left, has no new embeddings of the round's rows. For
rows that it has reported before, the server takes what it heard last; the others are imputed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from scdn.learning.imputation import Imputation, impute
from scdn.learning.tensors import Arrays, StateDict, TensorOptions, strip_prefix, to_arrays


@dataclass
class PartyRows:
    """The embeddings that one party has reported.

    Attributes
    ----------
    values
        By training row, (rows, width): as last heard, zero where never.
    heard
        Whether each row was ever heard, (rows,).
    fitted_on
        Rows of its last report, from which other rows are imputed.
    table_parts
        The number of parts of the whole table that it has sent.
    """

    values: Tensor
    heard: Tensor
    fitted_on: Tensor
    table_parts: int = 0


@dataclass
class RowCache:
    """The rows that were heard, by party; departed ones included as long as they are kept."""

    count: int  # training rows
    width: int
    options: TensorOptions
    parties: dict[str, PartyRows] = field(default_factory=dict)

    def hear(
        self, name: str, rows: Tensor, embeddings: Tensor, *, is_report: bool = True
    ) -> PartyRows:
        """Store embeddings of training rows; later rounds impute from the rows of a report."""
        rows = rows % self.count  # variants of an augmented row count as one
        if name not in self.parties:
            zeros = torch.zeros(self.count, self.width, dtype=embeddings.dtype, device=rows.device)
            never = torch.zeros(self.count, dtype=torch.bool, device=rows.device)
            self.parties[name] = PartyRows(zeros, never, rows[:0])
        party = self.parties[name]
        party.values[rows] = embeddings.detach()
        party.heard[rows] = True
        if is_report:
            party.fitted_on = rows
        return party

    def forget(self, names: Collection[str]) -> None:
        """Drop what was heard of parties that are not kept."""
        self.parties = {name: rows for name, rows in self.parties.items() if name not in names}

    def fill(
        self, names: Collection[str], rows: Tensor, sent: Mapping[str, Tensor], how: Imputation
    ) -> dict[str, Tensor]:
        """Return embeddings of training rows of parties that did not send any now.

        `sent` are those of the parties that did. A party that was never heard has none.
        """
        rows = rows % self.count
        filled = {}
        for name in names:
            if name in self.parties and name not in sent:
                party = self.parties[name]
                table = party.values[rows]
                new = ~party.heard[rows]
                if new.any():
                    others = {other: values[new] for other, values in sent.items()}
                    table[new] = self.impute(name, others, int(new.sum()), how)
                filled[name] = table
        return filled

    def impute(
        self, name: str, others: Mapping[str, Tensor], count: int, how: Imputation
    ) -> Tensor:
        """Return a party's embeddings of `count` rows that it never reported.

        `others` are those of other parties for the same rows; of these, the ones that count have
        reported the rows of this party's last report.
        """
        party = self.parties[name]
        fitted_on = party.fitted_on
        usable = {
            other: values
            for other, values in others.items()
            if other in self.parties and bool(self.parties[other].heard[fitted_on].all())
        }
        known = party.values[fitted_on]
        if not len(known):
            return known.new_zeros(count, self.width)
        inputs = [self.parties[other].values[fitted_on] for other in usable]
        if not usable:
            blank = known.new_zeros(0, count, self.width)
            return impute(how, known, blank, blank)
        return impute(how, known, torch.stack(inputs), torch.stack(list(usable.values())))

    # --- state ----------------------------------------------------------------------------------

    def state_dict(self) -> StateDict:
        """Return the rows that were heard."""
        arrays: Arrays = {}
        values = []
        for index, (name, party) in enumerate(self.parties.items()):
            rows = party.heard.nonzero()[:, 0]
            tensors = {"rows": rows, "values": party.values[rows], "fitted_on": party.fitted_on}
            arrays |= to_arrays(tensors, f"heard/{index}")
            values.append({"name": name, "table_parts": party.table_parts})
        return StateDict(arrays, {"heard": values})

    def load_state_dict(self, state: StateDict) -> None:
        """Restore what `state_dict` returned."""
        self.parties = {}
        for index, values in enumerate(state.values["heard"]):
            arrays = strip_prefix(state.arrays, f"heard/{index}/")
            rows, fitted_on = (
                torch.from_numpy(arrays[name]).to(self.options.device)
                for name in ("rows", "fitted_on")
            )
            embeddings = self.options.tensor(arrays["values"])
            party = self.hear(values["name"], rows, embeddings)
            party.fitted_on, party.table_parts = fitted_on, values["table_parts"]
