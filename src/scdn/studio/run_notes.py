"""A note per run: a text that a person has written, kept beside the run's events."""

from __future__ import annotations

import os
from pathlib import Path

from scdn.file_io import write_atomic, writing
from scdn.studio.settings import MAX_NOTE

NOTES = "notes.txt"


def read_note(folder: Path) -> str:
    """Return the note of a run; empty if there is none, or if it is not a plain text file."""
    try:
        # A link could lead out of the runs directory, and a pipe would never answer.
        handle = os.open(folder / NOTES, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(handle, "rb") as file:
            raw = file.read(4 * MAX_NOTE)  # bytes of UTF-8 per character, at most
    except OSError:
        return ""
    return raw.decode(errors="replace").strip()[:MAX_NOTE]


def write_note(folder: Path, text: str) -> str:
    """Store the note of a run, and return it as it is stored; an empty one is removed."""
    text = text.strip()
    if text:
        write_atomic(folder / NOTES, text + "\n")
    else:
        with writing(folder / NOTES, "removed"):
            (folder / NOTES).unlink(missing_ok=True)
    return text
