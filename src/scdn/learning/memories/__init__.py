"""Memories: what the server keeps of devices that have left, one file for each.

`Memory` tells how to add one of your own. `keep.py` is where departed devices' embeddings are kept.
"""

from scdn.learning.memories.dropout import DropoutMemory
from scdn.learning.memories.keep import KeepMemory
from scdn.learning.memories.memory_base import Memory, PartyEmbeddings
from scdn.learning.memories.zero_out import ZeroOutMemory
from scdn.registry import Registry

__all__ = [
    "MEMORIES",
    "DropoutMemory",
    "KeepMemory",
    "Memory",
    "PartyEmbeddings",
    "ZeroOutMemory",
    "memory",
    "register_memory",
]

MEMORIES: Registry[type[Memory]] = Registry("memory", Memory, of_classes=True)


def register_memory(entry: type[Memory]) -> type[Memory]:
    """Register a memory under its `name`; may decorate the class."""
    return MEMORIES.register(entry.name, entry)


def memory(name: str) -> type[Memory]:
    """Return the memory of this name, or the class that `package.module:NAME` names."""
    return MEMORIES.get(name)


for _built_in in (KeepMemory, ZeroOutMemory, DropoutMemory):
    register_memory(_built_in)
