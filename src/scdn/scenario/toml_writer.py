"""Write a scenario as TOML, with or without comments, and a template for new scenarios."""

from __future__ import annotations

import json
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
    """Return the complete scenario as TOML; reading it back gives an equal scenario."""
    return _toml(scenario, scenario.name, comments)


def scenario_template(profile: str = "product", devices: int = 6) -> str:
    """Return a new scenario as TOML that explains every value."""
    document = merge_tables(PROFILES[profile], {"profile": profile, "name": "my-network"})
    fleet = (DeviceGroup(count=devices),)
    scenario = Scenario.model_validate(document).model_copy(update={"fleet": fleet})
    return _toml(scenario, "A scenario of scdn", True)


def _toml(scenario: Scenario, title: str, comments: bool) -> str:
    lines = [f"# {printable(title)}"] if comments else []
    lines += _table(scenario, "", comments)
    return "\n".join(lines).strip("\n") + "\n"


def _table(model: BaseModel, path: str, comments: bool) -> Iterator[str]:
    """Yield the lines of a table: plain values first, then tables, as TOML requires."""
    tables: list[tuple[str, Any]] = []
    absent: list[tuple[str, BaseModel]] = []
    for name, field in type(model).model_fields.items():
        key, content = field.alias or name, getattr(model, name)
        if isinstance(content, BaseModel) and name != "optimizer":
            tables.append((f"{path}{key}", content))
        elif isinstance(content, tuple) and content and isinstance(content[0], BaseModel):
            tables += [(f"[{path}{key}]", entry) for entry in content]
        elif comments and content is None and (form := _optional_table(field)):
            absent.append((f"{path}{key}", form()))
        else:
            line = f"# {key} =" if content is None else f"{key} = {_literal(content)}"
            if comments and content == () and any(nested_models(field.annotation)):
                line = f"# [[{path}{key}]] tables may follow"  # TOML forbids them after `key = []`
            yield from _commented(line, field) if comments else [line]
    for header, table in tables:
        yield from ("", f"[{header}]")
        if comments:
            yield from _wrapped((type(table).__doc__ or "").partition("\n")[0])
        yield from _table(table, f"{header.strip('[]')}.", comments)
    for header, table in absent:
        yield from ("", f"# [{header}]")
        yield from _wrapped((type(table).__doc__ or "").partition("\n")[0])
        lines = _table(table, f"{header}.", comments)
        yield from (line if line.startswith("#") else f"# {line}" for line in lines)


def _optional_table(field: FieldInfo) -> type[BaseModel] | None:
    """Return the model of a table that may be absent, if all its values have defaults."""
    forms = nested_models(field.annotation)
    return next((form for form in forms if not _requires_values(form)), None)


def _requires_values(form: type[BaseModel]) -> bool:
    return any(field.is_required() for field in form.model_fields.values())


def _commented(line: str, field: FieldInfo) -> Iterator[str]:
    extra = field.json_schema_extra
    reason = extra.get("chosen") if isinstance(extra, dict) else None
    about = f"{field.description}; not in the paper: {reason}" if reason else field.description
    one_line = f"{line:<34}  # {about}"
    if len(one_line) <= _WIDTH:
        yield one_line
    else:
        yield from _wrapped(about or "")
        yield line


def _wrapped(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# ")


def _literal(item: Any) -> str:
    if isinstance(item, str):  # JSON's escapes are TOML's, but JSON leaves DEL as it is
        return json.dumps(item, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(item, tuple):
        return f"[{', '.join(_literal(entry) for entry in item)}]"
    if isinstance(item, BaseModel):
        pairs = [f"{name} = {_literal(getattr(item, name))}" for name in type(item).model_fields]
        return f"{{ {', '.join(pairs)} }}"
    return _number(item) if isinstance(item, float) else json.dumps(item)


def _number(number: float) -> str:
    """Return the shortest form that reads back as the same number: 2e9, not 2000000000.0."""
    plain = repr(number)
    mantissa, _, exponent = f"{number:.16e}".partition("e")
    short = f"{float(mantissa):.15g}e{int(exponent)}"
    return short if len(short) + 2 < len(plain) and float(short) == number else plain
