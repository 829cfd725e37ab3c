"""How a round begins: its rows are drawn, parties that report embed them, and losses are set up."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from scdn.learning.batches import draw_round
from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.party_backend import RoundTask
from scdn.learning.party_loss import PartyLoss
from scdn.learning.round_training import RoundTraining
from scdn.learning.server_work import ServerWork
from scdn.learning.table_sender import DOWN, TableSender
from scdn.rng import generator

if TYPE_CHECKING:
    from scdn.learning.vertical_model import VerticalModel


def begin_round(
    model: VerticalModel,
    key: tuple[int, ...],
    steps: int,
    local_steps: Mapping[str, LocalSteps],
    training_parties: int | None,
    reporting: Collection[str] | None,
    table_senders: Collection[str],
) -> RoundTraining:
    """Draw the round's rows, and ask the parties for their embeddings of them.

    `reporting` are the parties that report besides those with local steps; None: all. Late parties
    have trained in an earlier round, and send theirs only when the others have.
    """
    late = frozenset(model.pending & local_steps.keys())
    known = {name: model.begun_tables.pop(name) for name in late & model.begun_tables.keys()}
    tables = draw_rows(model, key, steps)
    batches, held_out = tables["drawn"], tables["held_out"]
    weights = model.server.training_weights(steps, generator(model.seed, "dropout", *key))
    stale, heard = member_embeddings(
        model, tables, "before", _asked(model, reporting, local_steps) - late, known
    )
    on_time = {name: steps for name, steps in local_steps.items() if name in heard - late}
    _count_gradients(model, batches, list(on_time.values()))
    _measure_idle(model, on_time, batches, stale["drawn"])
    shared = _shared_embeddings(model, batches, stale["drawn"], heard)
    if late - known.keys():
        stale, sent = _with_sent(model, tables, stale, late - known.keys())
        late, heard = late & (sent | known.keys()), heard | sent
    local_steps = {name: steps for name, steps in local_steps.items() if name in heard}
    task = round_task(model, batches, local_steps, shared, weights, held_out)
    fixed_length = model.step_rule.fixed_length(task.training, training_parties)
    parts = _table_parts(model, task.training & set(table_senders))
    return RoundTraining(
        model.learning,
        model.parties,
        model.server,
        replace(
            task, step_length=fixed_length, table_parts=parts, late=late, repeated=frozenset(known)
        ),
        stale["drawn"],
        stale["held_out"],
        weights,
        model.server.evaluation_weights(len(held_out)),
        heard,
        _senders(model, local_steps) & heard,
    )


def _asked(
    model: VerticalModel, reporting: Collection[str] | None, local_steps: Mapping[str, LocalSteps]
) -> set[str]:
    """Return the parties that send embeddings in this round."""
    if model.server.heard is None or reporting is None:
        return set(model.present)
    return (set(reporting) | set(local_steps)) & set(model.present)


def begin_cycles(
    model: VerticalModel, round_index: int, local_steps: Mapping[str, LocalSteps], batches: int
) -> None:
    """Let parties train on what the server knows now; their updates are pending.

    All that begin send their embeddings of the round's rows first, and train against each other's.
    These are billed with the report.
    """
    names = {name for name, steps in local_steps.items() if steps.count} & set(model.present)
    model.pending -= local_steps.keys()
    if not names:
        return
    drawn = draw_rows(model, (round_index,), batches)
    weights = model.server.training_weights(batches, generator(model.seed, "dropout", round_index))
    asked = names if model.server.heard is not None else set(model.present)
    tables = {table: rows.flatten() for table, rows in drawn.items()}
    sent = model.parties.embed(tables, "before", asked)
    model.begun_tables |= {name: table for name, table in sent.items() if name in names}
    steps = {name: local_steps[name] for name in model.present if name in names and name in sent}
    rows = drawn["drawn"]
    _count_gradients(model, rows, list(steps.values()))
    members = model.server.member_embeddings(sent, torch.cat(list(tables.values())))
    known = members[:, : rows.numel()].reshape(len(members), *rows.shape, members.shape[-1])
    shared = _shared_embeddings(model, rows, known, set(sent))
    task = round_task(model, rows, steps, shared, weights, drawn["held_out"])
    model.parties.train(replace(task, ahead=True))
    model.account.add_ahead(task, model.server.sample)
    model.pending |= steps.keys()


def draw_rows(model: VerticalModel, key: tuple[int, ...], steps: int) -> dict[str, Tensor]:
    """Return the rows of a round, (steps, batch): those to train on, and those held out."""
    drawn = draw_round(model.seed, key, steps, model.data.count("train"), model.learning)
    batches, held_out = (rows.to(model.factory.options.device) for rows in drawn)
    if model.data.augmentation is not None:
        batches = model.data.augmentation.draw(generator(model.seed, "augment", *key), batches)
    return {"drawn": batches, "held_out": held_out}


def _count_gradients(
    model: VerticalModel, batches: Tensor, local_steps: Sequence[LocalSteps]
) -> None:
    """Count the gradients that a server with the labels computes for parties with these steps."""
    if model.learning.labels == "server":
        most = max((steps.count for steps in local_steps), default=0)
        predictions = 1 if model.server.device_labels is None else len(local_steps)
        model.server.work += ServerWork(gradient_rows=predictions * batches[:most].numel())


def _with_sent(
    model: VerticalModel,
    rows: Mapping[str, Tensor],
    stale: Mapping[str, Tensor],
    names: Collection[str],
) -> tuple[dict[str, Tensor], set[str]]:
    """Return members' tables with what late parties send now, and which of them sent it."""
    tables = {name: part.flatten() for name, part in rows.items()}
    sent = model.parties.embed(tables, "before", names)
    if not sent:
        return dict(stale), set()
    if model.server.heard is not None:
        for name, table in sent.items():
            model.server.heard.hear(name, torch.cat(list(tables.values())), table)
    indices = model.server.member_indices(tuple(sent))
    parts = torch.stack(list(sent.values())).split([len(part) for part in tables.values()], 1)
    replaced = {
        name: stale[name].index_copy(0, indices, part.reshape(len(sent), *stale[name].shape[1:]))
        for name, part in zip(tables, parts, strict=True)
    }
    return replaced, set(sent)


def member_embeddings(
    model: VerticalModel,
    rows: Mapping[str, Tensor],
    phase: str,
    names: Collection[str],
    known: Mapping[str, Tensor] | None = None,
) -> tuple[dict[str, Tensor], set[str]]:
    """Return all members' embeddings of tables of (steps, batch) rows, and who sent theirs.

    Those of `names` are asked to, and those of `known` have sent theirs before. Each result is
    (members, steps, batch, width).
    """
    tables = {name: part.flatten() for name, part in rows.items()}
    sent = {**(known or {}), **model.parties.embed(tables, phase, names)}
    sent = {name: sent[name] for name in model.present if name in sent}
    flat, sizes = torch.cat(list(tables.values())), [len(part) for part in tables.values()]
    embeddings = model.server.member_embeddings(sent, flat).split(sizes, 1)
    return {
        name: table.view(len(table), *rows[name].shape, table.shape[-1])
        for name, table in zip(tables, embeddings, strict=True)
    }, set(sent)


def _shared_embeddings(
    model: VerticalModel, batches: Tensor, stale: Tensor, heard: Collection[str]
) -> Tensor:
    """Return the members' embeddings as devices get them to train with, where labels are shared.

    Those that were heard in this round are passed on as they came; the server rounds the others.
    """
    sender = TableSender(model.parties.number_bits, model.seed)
    if model.learning.labels == "server" or not sender.rounds:
        return stale
    members = zip(model.server.fusion.members, stale, strict=True)
    others = {name: table.flatten(0, 1) for name, table in members if name not in heard}
    sent = sender.send(others, {"drawn": batches.flatten()}, DOWN, model.parties.round)
    if not sent:
        return stale
    tables = torch.stack(list(sent.values())).view(len(sent), *stale.shape[1:])
    return stale.index_copy(0, model.server.member_indices(tuple(sent)), tables)


def round_task(
    model: VerticalModel,
    batches: Tensor,
    local_steps: Mapping[str, LocalSteps],
    stale: Tensor,
    weights: Tensor | None,
    held_out: Tensor | None = None,
) -> RoundTask:
    """Return what parties are asked to do, against these embeddings of all members."""

    def party_loss(names: Sequence[str]) -> PartyLoss:
        return model.server.party_loss(names, batches, stale, model.learning.labels, weights)

    of_sample = partial(sample_loss, model) if model.measures_gradients else None
    held_out = batches.new_zeros(0, 0) if held_out is None else held_out
    return RoundTask(batches, held_out, local_steps, party_loss, of_sample)


def sample_loss(model: VerticalModel, names: Sequence[str]) -> PartyLoss:
    """Return the loss of these parties over the sample."""
    model.exchange()
    return model.server.sample_loss(names)


def _senders(model: VerticalModel, local_steps: Mapping[str, LocalSteps]) -> set[str]:
    """Return the parties whose embeddings differ after a round.

    With noise everybody's do, where the server knows them.
    """
    if model.learning.perturbation and model.server.heard is None:
        return set(model.present)
    return {name for name, steps in local_steps.items() if steps.count}


def _table_parts(model: VerticalModel, names: Collection[str]) -> dict[str, int]:
    """Return which part of the whole table each of these parties sends."""
    if model.server.heard is None or not model.learning.table_rounds:
        return {}
    return {name: model.server.heard.parties[name].table_parts for name in names}


def _measure_idle(
    model: VerticalModel, local_steps: Mapping[str, LocalSteps], batches: Tensor, stale: Tensor
) -> None:
    """Measure L_n of parties that will not train by a trial step, so that it stays current.

    Where parties that do not report are imputed, nothing new is heard of their gradients.
    """
    idle = set(model.present) - {name for name, steps in local_steps.items() if steps.count}
    measured = model.measures_gradients and model.learning.smoothness == "measured"
    if model.server.heard is not None or not (measured and idle and len(batches)):
        return
    task = round_task(model, batches[:1], {}, stale[:, :1], model.server.evaluation_weights(1))
    for name, stats in model.parties.measure_gradients(idle, task).items():
        if stats.smoothness is not None and model.counts(stats):
            before = model.gradient_stats.get(name, stats)
            model.gradient_stats[name] = replace(before, smoothness=stats.smoothness)
