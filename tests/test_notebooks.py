"""The notebooks run from top to bottom, in the folder they are in."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    cells = json.loads(path.read_text())["cells"]
    code = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    (tmp_path / "quick.toml").write_bytes((ROOT / "examples" / "quick.toml").read_bytes())
    script = f"import matplotlib\nmatplotlib.use('Agg')\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(cells) >= 5
