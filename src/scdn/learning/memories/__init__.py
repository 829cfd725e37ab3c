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
register_memory, memory = MEMORIES.register, MEMORIES.get

for _built_in in (KeepMemory, ZeroOutMemory, DropoutMemory):
    register_memory(_built_in)
