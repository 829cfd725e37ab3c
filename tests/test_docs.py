"""Every example in the README and the documentation works as printed."""

from __future__ import annotations

import importlib
import json
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
    (tmp_path / "docs").symlink_to(ROOT / "docs")  # committed results, which examples read
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


def test_tables_of_the_networks_are_those_of_the_results(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    real_networks = importlib.import_module("real_networks")
    results = json.loads((ROOT / "docs/results/real-networks.json").read_text())
    tables = [
        real_networks.plan_table(results["plans"]),
        real_networks.joules_table(results["joules"]),
        *(
            real_networks.sensitivity_table(results["sensitivity"], name)
            for name in real_networks.NETWORKS
        ),
    ]
    page = (ROOT / "docs/networks.md").read_text()
    for table in tables:
        assert table in page
