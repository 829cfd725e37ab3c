"""Every example in the README and the documentation works as printed."""

from __future__ import annotations

import re
import shlex
import shutil

import pytest
from command_line import run_line, run_python
from conftest import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page, tmp_path, examples, monkeypatch):
    monkeypatch.setenv("SCDN_DATA", str(tmp_path / "data"))
    shutil.copytree(examples, tmp_path / "examples")
    for language, block in _BLOCK.findall(page.read_text()):
        if language == "python":
            run_python(block, page.name, tmp_path)
            continue
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["scdn"]:
                done = run_line(line, tmp_path)
                assert done.returncode == 0, f"{line}\n{done.stderr}"
            else:
                assert words[:1] in ([], ["make"], ["pip"]), line
