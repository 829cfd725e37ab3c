"""The rate-free part of the reference: a step that is searched, and a server that trains by Adam.

Written from the description in the docs, with plain loops and `torch.optim.Adam`. `reference` is a
`ReferenceModel` of `reference_learning`.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import torch

from scdn.rng import generator

LENGTHS = [
    *(1 / 256, 1 / 128, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2),
    *(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096),
]


def held_out_count(count, size):
    """Return how many of so many rows are held out: two batches, but at most a fifth."""
    return max(min(count // 5, 2 * size), 1)


def held_out_rows(seed, count, size):
    """Return the rows that are held out for the whole run."""
    order = generator(seed, "held-out").permutation(count).tolist()
    return torch.tensor(sorted(order[: held_out_count(count, size)]))


# --- the step -------------------------------------------------------------------------------------


@torch.no_grad()
def searched_step(reference, proposals, rows):
    """Move the parties along their proposed modules; return length, shortenings and who diverged.

    `proposals` has the module of each party that trained, after its local steps.
    """
    old = {name: reference.parties[name].module for name in proposals}
    diverged = [
        name
        for name, module in proposals.items()
        if not module(reference.parties[name].train[rows]).isfinite().all()
    ]
    going = {name: module for name, module in proposals.items() if name not in diverged}
    loss_before = reference.loss_of_rows(rows, reference._embeddings(rows))
    losses = []
    for length in LENGTHS:  # along straight lines in the space of embeddings
        table = reference._embeddings(rows)
        for name, module in going.items():
            after = module(reference.parties[name].train[rows])
            table[name] = table[name] + length * (after - table[name])
        loss = reference.loss_of_rows(rows, table)
        losses.append(loss if np.isfinite(loss) else np.inf)
    length = LENGTHS[int(np.argmin(losses))]
    for shortenings in range(3):  # along straight lines in the space of parameters
        for name, module in going.items():
            reference.parties[name].module = between(old[name], module, length)
        if reference.loss_of_rows(rows, reference._embeddings(rows)) <= 1.01 * loss_before:
            return length, shortenings, diverged
        length = length / 4
    for name in going:
        reference.parties[name].module = old[name]
    return 0.0, 3, diverged


@torch.no_grad()
def between(old, new, length):
    """Return the module that is so far on the way from one to another."""
    module = copy.deepcopy(old)
    for p, target in zip(module.parameters(), new.parameters(), strict=True):
        p += length * (target - p)
    return module


def adapted_rate_scale(scale, length, diverged, parties, steps_per_round=1):
    """Return the factor of the rates in the next round; it changes at most 4 times per round."""
    most = 4.0 ** (1 / steps_per_round)
    if diverged or length * parties < 1 / most:
        return scale / most
    if length * parties < 1:
        return scale * length * parties
    return scale * min(most, length) if length > 1 else scale


# --- the server -----------------------------------------------------------------------------------


@dataclass
class ReferenceHeard:
    """A round's rows as the server heard them."""

    round: int
    rows: torch.Tensor
    held_out: torch.Tensor
    tables: dict[str, torch.Tensor]  # by member: of `rows`, then of `held_out`


def hear(reference, round_, rows, held_out):
    """Keep what the parties report at the end of a round; only the last rounds count."""
    tables = reference._embeddings(torch.cat([rows, held_out]))
    others = [heard for heard in reference.heard if heard.round != round_]
    reference.heard = [*others, ReferenceHeard(round_, rows, held_out, tables)]
    while len(reference.heard) > reference.learning.server_rounds:
        del reference.heard[0]
    used = reference.learning.server_steps * reference.learning.batch_size
    kept, count = [], 0
    for heard in reversed(reference.heard):  # the newest first, until there are rows enough
        if not kept or count < used:
            kept, count = [heard, *kept], count + len(heard.rows)
    reference.heard = kept


def train_by_adam(reference, seed, key, steps, flags):
    """Train the fusion model on what was heard; keep what was best on the rows held out."""
    pieces = {"rows": [], "held_out": []}
    for heard in reference.heard:
        for number, row in enumerate([*heard.rows.tolist(), *heard.held_out.tolist()]):
            blank = torch.zeros(reference.width, dtype=torch.float64)
            inputs = {
                name: heard.tables[name][number] if name in heard.tables else blank
                for name in reference.members
            }
            kind = "rows" if number < len(heard.rows) else "held_out"
            pieces[kind].append((row, inputs))
    (rows, inputs), (test_rows, test_inputs) = (_stacked(pieces[kind]) for kind in pieces)
    test = reference._side_by_side(_present_only(reference, test_inputs)) * reference.scale
    fusion = reference.fusion
    adam = torch.optim.Adam(fusion.parameters(), lr=0.003)
    best, least = copy.deepcopy(fusion), _loss(reference, test, test_rows)
    stream = _endless(generator(seed, "server", *key), len(rows))
    for step in range(1, steps + 1):
        size = min(reference.learning.batch_size, len(rows))
        batch = torch.tensor([next(stream) for _ in range(size)])
        table = {name: values[batch] for name, values in inputs.items()}
        side = reference._side_by_side(table, flags, step - 1)
        adam.zero_grad()
        reference._loss(fusion(side), reference.targets[rows[batch]]).backward()
        adam.step()
        if step % 10 == 0 or step == steps:
            loss = _loss(reference, test, test_rows)
            if loss < least:
                best, least = copy.deepcopy(fusion), loss
    best.zero_grad()
    reference.fusion = best


def _stacked(pieces):
    rows = torch.tensor([row for row, _ in pieces])
    tables = [inputs for _, inputs in pieces]
    return rows, {name: torch.stack([table[name] for table in tables]) for name in tables[0]}


def _present_only(reference, table):
    return {
        name: values * 0 if name in reference.departed else values for name, values in table.items()
    }


@torch.no_grad()
def _loss(reference, side, rows):
    return float(reference._loss(reference.fusion(side), reference.targets[rows]))


def _endless(draw, count):
    """Yield row numbers: all of them in random order, then all of them in another order, …"""
    while True:
        yield from draw.permutation(count).tolist()
