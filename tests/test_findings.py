"""What docs/findings.md and the README say about the paper agrees with the committed results."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

from scdn.paper.ablation.claims import saved_percent

RESULTS = ROOT / "docs" / "results" / "paper"
PAGE = " ".join((ROOT / "docs" / "findings.md").read_text().split())
README = " ".join((ROOT / "README.md").read_text().split())


def numbers(name):
    return json.loads((RESULTS / f"{name}.json").read_text())["numbers"]


def rows(name, **values):
    return [r for r in numbers(name)["rows"] if all(r[k] == v for k, v in values.items())]


def by_size(quantity, method, block, update, form):
    """Return a mean of static MNIST for N = 2, 4, 6 as text."""
    chosen = rows("static-mnist", method=method, block=block, update=update, start="centre")
    return " / ".join(f"{row[quantity]['mean']:{form}}" for row in chosen)


def saved(method, rival, block, update, quantity, rivals=None):
    pairs = zip(
        rows("static-mnist", method=method, block=block, update=update, start="centre"),
        rows("static-mnist", method=rival, block=block, update=update, start="centre"),
        strict=True,
    )
    percents = [100 * (1 - a[quantity]["mean"] / b[rivals or quantity]["mean"]) for a, b in pairs]
    return " / ".join(f"{percent + 0.0:.0f}" for percent in percents)


def dynamic(method, block, update, quantity="last"):
    (row,) = rows("dynamic-mnist", method=method, block=block, update=update, start="centre")
    return np.array(row[quantity])


def gap(block, update, one, other):
    """Return the difference of paired final scores and its standard error as text."""
    differences = dynamic(one, block, update) - dynamic(other, block, update)
    error = differences.std(ddof=1) / len(differences) ** 0.5
    return f"{differences.mean():.1f} ± {error:.1f}"


def term_saves(artefact, case):
    """Return by how many percent counting a term lowers its spending, in both blocks, as text."""
    blocks = numbers(artefact)["blocks"]
    return (
        " / ".join(f"{saved_percent(blocks[block], case):.1f}" for block in ("published", "true"))
        + " %"
    )


def _lost(method):
    (row,) = rows("fading", condition="fading drawn", method=method)
    return row["failed"] / row["sent"]


PUBLISHED, TRUE = ("published", "paper"), ("true", "steady")


def statements():
    """Yield pieces of text that follow from the results."""
    yield f"{gap(*PUBLISHED, 'sc-dn-paper', 'zoc-paper')} points in *published*"
    yield f"{gap(*TRUE, 'sc-dn', 'zoc')} in *true*"
    yield f"{len(dynamic('sc-dn', *TRUE))} seeds"
    yield f"{by_size('score', 'sc-dn', *TRUE, '.1f')} %"
    yield f"{by_size('score', 'max-vfl', *TRUE, '.1f')} %"
    yield f"{by_size('score', 'gsp', *TRUE, '.1f')} %"
    yield f"{by_size('score', 'sc-dn-paper', *PUBLISHED, '.1f')} %"
    yield f"{by_size('score', 'vafl', *PUBLISHED, '.1f')} %"
    yield f"{by_size('score', 'vafl', 'vafl-server', 'paper', '.1f')} %"
    yield f"{saved('sc-dn-paper', 'max-vfl', *PUBLISHED, 'energy')} %"
    yield f"{saved('sc-dn', 'max-vfl', *TRUE, 'energy_active')} % per active device"
    yield f"{saved('sc-dn', 'max-vfl', *TRUE, 'energy')} % per device present"
    yield f"{saved('sc-dn-paper', 'max-vfl', *PUBLISHED, 'energy', 'matched')} %"
    yield f"{saved('sc-dn', 'max-vfl', *TRUE, 'energy', 'matched')} %"
    for method in ("sc-dn", "mission"):
        yield f"{by_size('score', method, 'mission', 'product', '.1f')} %"
        yield f"{by_size('total_j', method, 'mission', 'product', '.0f')} J"
    yield f"{100 * _lost('gsp'):.0f} to {100 * _lost('vafl'):.0f} %"
    for epsilon in (1e-3, 1e-4):
        planned = [row["planned"]["mean"] for row in rows("epsilon", epsilon=epsilon)]
        yield " / ".join(f"{value:.1f}" for value in planned)
    model, *_, embeddings = rows("payload", devices=4)
    yield f"{model['snr_db']:.0f} dB"
    yield f"{model['snr_db'] - embeddings['snr_db']:.0f} dB less"
    yield f"{100 * model['active_if_it_stays']['mean']:.0f} % of four devices"
    kept = [ratio for row in rows("payload", bits=983136) for ratio in row["stays_over_best"]]
    yield f"at most {100 * (max(kept) - 1):.1f} % more"
    for condition in ("fading drawn", "fading drawn, plans with a margin of 6 dB"):
        (row,) = rows("fading", condition=condition, method="sc-dn")
        yield f"{100 * row['failed'] / row['sent']:.1f} %"
    regimes = numbers("exact")["regimes"]
    for regime in ("pade", "shannon", "patient"):
        ratios = [
            pair["repaired"]["objective"] / pair["exact"]["objective"]
            for pairs in regimes[regime].values()
            for pair in pairs
        ]
        yield f"{np.median(ratios):.3g}"
    for term in ("movement", "processing", "transmission"):
        for data in ("mnist", "pawpularity"):
            yield term_saves(f"ablation-{data}", f"no-{term}")
    cases = [case for case in numbers("bounds")["theorem"] if case["rates"] == "halves"]
    ratios = [ratio for case in cases for ratio in case["ratio"]["paper"]]
    yield f"{min(ratios):.3g} to {max(ratios):.3g} times"


@pytest.mark.parametrize("statement", list(statements()))
def test_the_findings_say_what_was_measured(statement):
    assert statement in PAGE


def test_the_readme_says_what_was_measured():
    assert f"{gap(*TRUE, 'sc-dn', 'zoc')} points" in README
    assert f"{saved('sc-dn-paper', 'max-vfl', *PUBLISHED, 'energy')} %" in README


def test_the_findings_are_at_most_four_pages():
    """Some 500 words a page, and every picture is there."""
    assert len(PAGE.split()) <= 2000
    for name in PAGE.split("](")[1:]:
        target = name.split(")")[0].split("#")[0]
        assert not target or "://" in target or (ROOT / "docs" / target).exists(), target
    assert Path(RESULTS / "epsilon.png").exists()
