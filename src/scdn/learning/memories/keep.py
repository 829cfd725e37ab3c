"""Keep the embeddings of departed devices (SC-DN): the fusion model goes on using them."""

from __future__ import annotations

from scdn.learning.memories.memory_base import Memory, PartyEmbeddings


class KeepMemory(Memory):
    """Stores what a leaving device sent: of training rows, of the sample and of the test rows.

    For rows that a departed device never embedded, its embeddings are imputed (`imputation.py`).
    """

    name = "keep"
    needs_training_embeddings = True
    keeps_heard_rows = True

    def add(self, name: str, embeddings: PartyEmbeddings) -> None:
        """Record a departure and keep the device's embeddings."""
        super().add(name, embeddings)
        self.embeddings[name] = embeddings
