"""The figures in the studio's introduction are those of the recorded results."""

from __future__ import annotations

import sys

from conftest import ROOT

sys.path.append(str(ROOT / "web"))

from introduction_data import FIGURES, TARGETS, figures, figures_text, read_records


def test_the_page_has_the_figures_of_the_recorded_results():
    assert FIGURES.read_text() == figures_text(read_records())


def test_a_run_that_misses_its_target_counts_as_infinite():
    """The median is null if half of the runs miss it, as VAFL's do at 97 %."""
    records = read_records()
    joules = [
        r["targets"]["top3=97"]["joules"]
        for r in records
        if (r["network"], r["method"]) == ("wildfire", "vafl")
    ]
    row = next(
        row
        for row in figures(records)["networks"]["wildfire"]["top3=97"]
        if row["method"] == "vafl"
    )
    assert row["reached"] == sum(value is not None for value in joules)
    assert (row["joules"] is None) == (2 * joules.count(None) >= len(joules))


def test_every_method_has_the_same_seeds():
    records = read_records()
    for network in ("wildfire", "smart-grid"):
        seeds = {}
        for record in records:
            if record["network"] == network:
                seeds.setdefault(record["method"], set()).add(record["seed"])
                assert set(record["targets"]) == set(TARGETS)
        assert len({frozenset(values) for values in seeds.values()}) == 1
        assert len(seeds["mission"]) == 10
