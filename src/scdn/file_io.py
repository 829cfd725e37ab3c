"""Reading TOML and JSON from a path or standard input; writing files whole or not at all."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from scdn.errors import input_error

MEBIBYTE = 1 << 20
_SIZE_LIMIT = 64 * MEBIBYTE  # a request with 100,000 devices has some 40 MB

Table = dict[str, Any]


def read_document(source: str | Path, size_limit: int = _SIZE_LIMIT) -> Table:
    """Return the table in a TOML or JSON file, or on standard input if `source` is `-`."""
    text = read_text(source, size_limit)
    return parse_document(text, str(source))


def read_text(source: str | Path, size_limit: int = _SIZE_LIMIT) -> str:
    """Return the text of a file of at most `size_limit` bytes, which must be UTF-8."""
    name = str(source)
    if not name.strip():
        raise input_error("file", "name", "is empty", "must name a file, or - for standard input")
    try:
        if name == "-":
            raw = sys.stdin.buffer.read(size_limit + 1) if sys.stdin else b""
        else:
            with Path(source).open("rb") as file:
                raw = file.read(size_limit + 1)
    except IsADirectoryError:
        raise input_error(name, "file", "is a directory", "must be a file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise input_error(name, "file", f"cannot be read ({reason})", "must be readable") from None
    if len(raw) > size_limit:
        allowed = f"must be at most {size_limit // MEBIBYTE} MiB"
        raise input_error(name, "file", "too large", allowed)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        fault = f"byte {error.start} is not UTF-8"
        raise input_error(name, "file", fault, "must be UTF-8 text") from None


def parse_document(text: str, source: str) -> Table:
    """Return the table that `text` holds: JSON by its name or its first character, else TOML."""
    is_json = source.endswith(".json") or (
        not source.endswith(".toml") and text.lstrip()[:1] == "{"
    )
    language = "JSON" if is_json else "TOML"
    try:
        document = (
            json.loads(text, object_pairs_hook=_unique_keys) if is_json else tomllib.loads(text)
        )
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        fault = f"is not {language} ({reason})"
        raise input_error(source, "file", fault, f"must be {language}") from None
    if not isinstance(document, dict):
        fault = f"got {type(document).__name__}"
        raise input_error(source, "(top level)", fault, "must be an object")
    return document


def _unique_keys(pairs: list[tuple[str, Any]]) -> Table:
    table: Table = {}
    for key, value in pairs:
        if key in table:
            raise ValueError(f"duplicate key {key!r}")
        table[key] = value
    return table


def apply_settings(document: Table, settings: Iterable[str]) -> Table:
    """Return a copy of `document` with settings `key.path=value`; a value is TOML, else text.

    The value `null` removes what the document says, so that the default applies.
    """
    result = deepcopy(document)
    for setting in settings:
        path, separator, text = setting.partition("=")
        keys = [key.strip() for key in path.split(".")]
        if not separator or not all(keys):
            raise input_error("--set", setting, "is not a setting", "must be key.path=value")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except (ValueError, RecursionError):
            value = None if text.strip() == "null" else text
        _assign(result, keys, value, setting)
    return result


def _assign(node: Any, keys: list[str], value: Any, setting: str) -> None:
    for depth, key in enumerate(keys):
        last = depth == len(keys) - 1
        if isinstance(node, dict):
            if last and value is None and key in node:
                del node[key]
            elif last:
                node[key] = value  # null where there is nothing to clear: an unknown key is a fault
            else:
                node = node.setdefault(key, {})
        elif isinstance(node, list) and key.isdecimal() and int(key) < len(node):
            if last and value is None:
                del node[int(key)]
            elif last:
                node[int(key)] = value
            else:
                node = node[int(key)]
        else:
            where = ".".join(keys[:depth]) or "(top level)"
            raise input_error("--set", setting, f"{where} has no {key!r}", "must name a key there")


def merge_tables(below: Table, above: Table) -> Table:
    """Return `below` with the values of `above`; nested tables are merged, all else replaced."""
    result = dict(below)
    for key, value in above.items():
        before = result.get(key)
        both = isinstance(before, dict) and isinstance(value, dict)
        result[key] = merge_tables(before, value) if both else value  # type: ignore[arg-type]
    return result


def write_atomic(path: str | Path, content: str | bytes) -> None:
    """Write a file so that readers see the old content or the new one, never a part of it."""
    target = Path(path)
    raw = content.encode() if isinstance(content, str) else content
    with writing(target):
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(raw)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def make_folder(path: Path) -> None:
    """Create a folder and its parents, unless they exist."""
    with writing(path, "made"):
        path.mkdir(parents=True, exist_ok=True)


class OutputError(Exception):
    """Raised when a result cannot be written; existing files stay unchanged."""


@contextmanager
def writing(path: Path, done: str = "written") -> Iterator[None]:
    """Raise an OutputError that names the path where the operating system refuses to write it."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be {done} ({error.strerror})") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def to_json(value: Any, indent: int | None = 2) -> str:
    """Return strict JSON; NaN and infinity raise ValueError."""
    return json.dumps(value, indent=indent, allow_nan=False, ensure_ascii=False)
