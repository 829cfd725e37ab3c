"""The checker of memories: departures, masks, the fusion model and a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from scdn.check.user_code import call, collect
from scdn.learning.fusion_model import FusionModel
from scdn.learning.memories import Memory, PartyEmbeddings
from scdn.learning.tensors import StateDict, TensorOptions
from scdn.rng import generator
from scdn.scenario import LearningSettings

_MEMBERS = ("a", "b", "c", "d")
_LEAVING = (("b",), ("a", "d"))  # in one round, and in a later one
_WIDTH, _STEPS = 3, 5
_SIZES = {"training": 12, "sample": 6, "test": 7}


def check_memory(memory: type[Memory]) -> list[str]:
    """Return the problems of a memory: the class goes through the departures of a small run."""
    if not isinstance(memory, type) or not issubclass(memory, Memory):
        kind = f"an object of {type(memory).__name__}" if isinstance(memory, Memory) else "no class"
        return [f"It is {kind}; name a subclass of scdn.learning.memories.Memory."]
    return collect(_life_cycle(memory))


def _life_cycle(memory: type[Memory]) -> Iterator[str]:
    kept = _create(memory)
    fusion = FusionModel.create(_MEMBERS, _WIDTH, TensorOptions(), seed=0, hidden=4)
    yield from _masks("Before anyone left", kept, fusion.members)
    frozen: dict[str, PartyEmbeddings] = {}
    departed: list[str] = []
    for names in _LEAVING:
        situation = f"After {' and '.join(names)} left"
        for name in names:
            call(f"{situation}, add", "it gets a name and its embeddings", kept.add, name,
                 _embeddings(name, training=memory.needs_training_embeddings))  # fmt: skip
        departed += names
        fusion = call(f"{situation}, shrink", "it gets the fusion model and the names that left",
                      kept.shrink, fusion, names)  # fmt: skip
        if not isinstance(fusion, FusionModel):
            yield f"{situation}, shrink returned a {type(fusion).__name__}; return a FusionModel."
            return
        if kept.departed != departed:
            yield f"{situation}, departed is {kept.departed}; call super().add(name, embeddings)."
        yield from _members(situation, fusion, kept, departed)
        yield from _masks(situation, kept, fusion.members)
        for name, before in frozen.items():
            if name in kept.embeddings and not _same(before, kept.embeddings[name]):
                yield f"{situation}, the embeddings of {name} changed; keep them as they were."
        frozen = dict(kept.embeddings)
    yield from _checkpoint(memory, kept, fusion.members)


def _create(memory: type[Memory]) -> Memory:
    return call("Creation", "it gets the learning settings", memory, LearningSettings())


def _embeddings(name: str, *, training: bool) -> PartyEmbeddings:
    draw = torch.Generator().manual_seed(ord(name))
    tables = {key: torch.randn(rows, _WIDTH, generator=draw) for key, rows in _SIZES.items()}
    return PartyEmbeddings(
        tables["training"] if training else None, tables["sample"], tables["test"]
    )


def _members(
    situation: str, fusion: FusionModel, kept: Memory, departed: Sequence[str]
) -> Iterator[str]:
    if lost := set(_MEMBERS) - set(departed) - set(fusion.members):
        names = ", ".join(sorted(lost))
        yield f"{situation}, shrink removed {names}, which had not left; remove only the departed."
    for name in set(kept.embeddings) - set(fusion.members):
        yield f"{situation}, embeddings of {name} are kept without its block; keep both or none."
    for name in set(kept.embeddings) - set(departed):
        yield f"{situation}, embeddings of {name} are kept, which had not left; drop them."


def _masks(situation: str, kept: Memory, members: Sequence[str]) -> Iterator[str]:
    calls = {
        "evaluation_mask": (lambda: kept.evaluation_mask(members), (len(members),)),
        "training_mask": (lambda: _training_mask(kept, members), (_STEPS, len(members))),
    }
    for name, (function, shape) in calls.items():
        advice = "return None, or an array of ones and zeros"
        mask = call(f"{situation}, {name}", advice, function)
        if mask is None:
            continue
        if not isinstance(mask, np.ndarray) or mask.shape != shape:
            mask_shape = getattr(mask, "shape", type(mask).__name__)
            yield f"{situation}, {name} returned {mask_shape}; return None or an array of {shape}."
        elif not np.isin(mask, (0.0, 1.0)).all():
            yield f"{situation}, {name} has other values than 0 and 1; use only these."
        elif not np.array_equal(mask, function()):
            yield f"{situation}, {name} changed from call to call; draw only from `draw`."


def _training_mask(kept: Memory, members: Sequence[str]) -> Any:
    return kept.training_mask(members, _STEPS, generator(0, "check-memory"))


def _checkpoint(memory: type[Memory], kept: Memory, members: Sequence[str]) -> Iterator[str]:
    state = call("state_dict", "return what the base class returns, and yours", kept.state_dict)
    if not isinstance(state, StateDict):
        yield f"state_dict returned a {type(state).__name__}; return a StateDict."
        return
    values = call("Writing state_dict's values as JSON", "use plain values", _through_json, state)
    restored = _create(memory)
    call("load_state_dict", "it gets what state_dict returned", restored.load_state_dict,
         StateDict(state.arrays, values), TensorOptions())  # fmt: skip
    old, new = kept.embeddings, restored.embeddings
    masks, restored_masks = (
        (memory.evaluation_mask(members), _training_mask(memory, members))
        for memory in (kept, restored)
    )
    is_same = {
        "departed": restored.departed == kept.departed,
        "embeddings": new.keys() == old.keys() and all(_same(old[name], new[name]) for name in old),
        "evaluation_mask": _same(masks[:1], restored_masks[:1]),
        "training_mask": _same(masks[1:], restored_masks[1:]),
    }
    for name in (name for name, same in is_same.items() if not same):
        yield f"After a checkpoint, {name} differs; save all state in state_dict and load it again."


def _through_json(state: StateDict) -> Any:
    return json.loads(json.dumps(state.values, allow_nan=False))


def _same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
