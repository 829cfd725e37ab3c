"""The example files that the studio offers."""

from __future__ import annotations

from pathlib import Path

from scdn.studio.api_models import Example

_NAMES = (
    "request.json", "paper-dynamic.toml", "quick.toml", "building.toml", "smart-grid.toml",
    "wildfire.toml",
)  # fmt: skip
_PACKAGED = Path(__file__).parent / "packaged_examples"  # put there by the wheel's build
_CHECKOUT = Path(__file__).parents[3] / "examples"


def examples() -> list[Example]:
    """Return the examples from the installed package, or from the checkout it is installed from."""
    folder = _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT
    return [Example(name=name, text=(folder / name).read_text()) for name in _NAMES]
