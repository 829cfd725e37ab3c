"""Every example in the README and the docs works as printed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest
from conftest import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page, tmp_path, examples):
    (tmp_path / "examples").mkdir()
    for example in examples.iterdir():
        (tmp_path / "examples" / example.name).write_bytes(example.read_bytes())
    for language, block in _BLOCK.findall(page.read_text()):
        if language == "python":
            _run([sys.executable, "-c", block], tmp_path)
            continue
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["scdn"]:
                _run([sys.executable, "-m", "scdn.cli", *words[1:]], tmp_path)
            else:
                assert words[:1] in ([], ["make"]), line


def _run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command[3:]}\n{done.stderr}"
