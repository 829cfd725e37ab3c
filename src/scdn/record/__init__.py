"""The files of a run: events, summary, checkpoint and lock; writing and reading them."""
