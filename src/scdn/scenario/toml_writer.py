"""A scenario as TOML: complete, or a commented template to start from."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from scdn.errors import nested_models, printable
from scdn.file_io import merge_tables
from scdn.scenario.definition import PROFILES, Scenario
from scdn.scenario.network_settings import DeviceGroup

_WIDTH = 96


def to_toml(scenario: Scenario, *, comments: bool = False) -> str:
    """The complete scenario; reading it back gives an equal one."""
    return _toml(scenario, scenario.name, comments)


def scenario_template(profile: str = "product", kind: str = "device", count: int = 6) -> str:
    """A new scenario: every value, its meaning, and why it is so where the paper is silent."""
    document = merge_tables(PROFILES[profile], {"profile": profile, "name": "my-network"})
    fleet = (DeviceGroup(kind=kind, count=count),)
    scenario = Scenario.model_validate(document).model_copy(update={"fleet": fleet})
    return _toml(scenario, "A scenario of scdn", True)


def _toml(scenario: Scenario, title: str, comments: bool) -> str:
    lines = [f"# {printable(title)}"] if comments else []
    lines += _table(scenario, "", comments)
    return "\n".join(lines).strip("\n") + "\n"


def _table(model: BaseModel, path: str, comments: bool) -> Iterator[str]:
    """Plain values first, then tables: TOML's order."""
    later: list[tuple[str, Any]] = []
    for name, field in type(model).model_fields.items():
        key, item = field.alias or name, getattr(model, name)
        if isinstance(item, BaseModel) and name != "optimizer":
            later.append((f"{path}{key}", item))
        elif isinstance(item, tuple) and item and isinstance(item[0], BaseModel):
            later += [(f"[{path}{key}]", entry) for entry in item]
        else:
            line = f"# {key} =" if item is None else f"{key} = {_literal(item)}"
            if comments and item == () and any(nested_models(field.annotation)):
                line = f"# [[{path}{key}]] tables may follow"  # `key = []` would forbid them
            yield from _commented(line, field) if comments else [line]
    for where, item in later:
        yield from ("", f"[{where}]")
        if comments and type(item).__doc__:
            yield from _wrapped((type(item).__doc__ or "").splitlines()[0])
        yield from _table(item, f"{where.strip('[]')}.", comments)


def _commented(line: str, field: FieldInfo) -> Iterator[str]:
    extra = field.json_schema_extra
    chosen = extra.get("chosen") if isinstance(extra, dict) else None
    about = f"{field.description}; not in the paper: {chosen}" if chosen else field.description
    beside = f"{line:<34}  # {about}"
    if len(beside) <= _WIDTH:
        yield beside
    else:
        yield from _wrapped(about or "")
        yield line


def _wrapped(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# ")


def _literal(item: Any) -> str:
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, str):
        return _string(item)
    if isinstance(item, tuple):
        return f"[{', '.join(_literal(entry) for entry in item)}]"
    if isinstance(item, BaseModel):
        pairs = [f"{name} = {_literal(getattr(item, name))}" for name in type(item).model_fields]
        return f"{{ {', '.join(pairs)} }}"
    return _number(item) if isinstance(item, float) else repr(item)


def _number(number: float) -> str:
    """The shortest form that reads back as the same number: 2e9, not 2000000000.0."""
    plain = repr(number)
    mantissa, _, exponent = f"{number:.16e}".partition("e")
    short = f"{float(mantissa):.15g}e{int(exponent)}"
    return short if len(short) + 2 < len(plain) and float(short) == number else plain


_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _string(text: str) -> str:
    def escape(character: str) -> str:
        if character in _ESCAPES:
            return _ESCAPES[character]
        code = ord(character)
        return f"\\u{code:04x}" if code < 0x20 or code == 0x7F else character

    return '"' + "".join(map(escape, text)) + '"'
