"""The example notebooks run from top to bottom next to the scenarios that they read."""

from __future__ import annotations

import json

import pytest
from command_line import run_python
from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_without_errors(path, tmp_path, monkeypatch):
    cells = json.loads(path.read_text())["cells"]
    code = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    assert len(cells) >= 5
    (tmp_path / "quick.toml").write_bytes((ROOT / "examples" / "quick.toml").read_bytes())
    monkeypatch.setenv("SCDN_DATA", str(tmp_path / "data"))
    run_python(f"import matplotlib\nmatplotlib.use('Agg')\n{code}", path.name, tmp_path)
