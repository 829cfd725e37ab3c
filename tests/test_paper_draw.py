"""The artefacts' pictures: all that was measured is on the axes, and what is not is named."""

from __future__ import annotations

import importlib
import json

import numpy as np
import pytest
from conftest import ROOT

from scdn.paper.artefact import Drawing
from scdn.paper.draw import band, fit, fit_scores, level
from scdn.report.figures import blank

RESULTS = ROOT / "docs" / "results" / "paper"


def empty():
    return blank("").add_subplot()


def drawn(name: str) -> dict:
    """The committed numbers' pictures, by name."""
    numbers = json.loads((RESULTS / f"{name}.json").read_text())["numbers"]
    module = importlib.import_module(f"scdn.paper.{name.split('-')[0]}")
    figures = {}
    for part in module.show(numbers):
        if isinstance(part, Drawing):
            figures[part.name] = blank(part.title, part.size)
            part.draw(figures[part.name])
    return figures


def curve(mean, std=0.0) -> dict:
    return {"mean": mean, "std": np.full(len(mean), std)}


def test_values_near_each_other_are_on_a_linear_axis_from_zero():
    axes = empty()
    fit(axes, [curve([300.0, 420.0]), curve([0.0, 0.0])], zero=True)
    low, high = axes.get_ylim()
    assert axes.get_yscale() == "linear"
    assert low < 0
    assert high > 420


def test_values_far_from_each_other_are_told_apart_and_zero_is_seen():
    axes = empty()
    fit(axes, [curve([0.0, 2e-8, 3e-4]), curve([400.0, 424.0, 424.0])], zero=True)
    places = axes.transAxes.inverted().transform(axes.transData.transform([(0, 0), (0, 2e-8)]))
    assert axes.get_ylim()[0] < 0
    assert places[1][1] - places[0][1] > 0.05
    assert 0.0 in axes.get_yticks()
    assert len(axes.get_yticks()) > 3


def test_nothing_but_zeros_has_an_axis():
    axes = empty()
    fit(axes, [curve([0.0, 0.0])], zero=True)
    assert axes.get_ylim()[0] < 0 < axes.get_ylim()[1]


def test_methods_without_a_round_have_an_axis():
    axes = empty()
    fit(axes, [curve([])], zero=True)
    fit_scores(axes, "mse", {"GSP": [curve([])]}, set(), 0.042)
    assert axes.get_ylim()[0] < 0.042 < axes.get_ylim()[1]


def test_bands_end_where_values_do():
    axes = empty()
    band(axes, [1, 2], [0.02, 99.0], [1.0, 5.0], "", 0, (0.0, 100.0))
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert heights.min() == 0
    assert heights.max() == 100


def test_a_run_that_diverged_is_named_and_leaves_the_others_their_axis():
    axes, rounds = empty(), 30
    calm = curve(np.linspace(0.06, 0.043, rounds), 0.001)
    lost = curve([0.05, 99.9, *[0.044] * (rounds - 2)], 140.0)
    fit_scores(axes, "mse", {"GSP": [calm], "ZOC": [lost]}, {"ZOC"}, 0.042)
    low, high = axes.get_ylim()
    assert low < 0.042
    assert 0.061 < high < 0.1
    assert axes.get_title("left") == "off the scale: ZOC to 99.9"


def test_a_short_peak_is_named_too():
    axes = empty()
    calm = [curve(np.linspace(0.045, 0.043, 60)) for _ in range(2)]
    peak = curve([0.155, *[0.044] * 59])
    fit_scores(axes, "mse", {"VAFL": calm, "GSP": [peak]}, set(), 0.042)
    assert 0.045 < axes.get_ylim()[1] < 0.06
    assert axes.get_title("left") == "off the scale: GSP to 0.155"


def test_a_level_is_named_beside_the_panel():
    axes = empty()
    level(axes, 0.5, "trivial")
    assert axes.texts[0].xy[0] > 1


@pytest.mark.parametrize("data", ["mnist", "cifar10", "pawpularity"])
def test_static_pictures_hold_every_bar(data):
    (figure,) = drawn(f"static-{data}").values()
    for axes in figure.axes:
        low, high = axes.get_ylim()
        for bars in axes.containers:
            ends = np.concatenate(bars[2][0].get_segments())[:, 1]
            assert low <= ends.min(), axes.get_title("left")
            assert high >= ends.max(), axes.get_title("left")
            assert ends.min() > -1e-9
            if data != "pawpularity":
                assert ends.max() <= 100


@pytest.mark.parametrize("data", ["mnist", "cifar10", "pawpularity"])
def test_dynamic_pictures_hold_every_curve_or_name_it(data):
    for name, figure in drawn(f"dynamic-{data}").items():
        for axes in figure.axes:
            low, high = axes.get_ylim()
            for line in axes.get_lines():
                heights = np.asarray(line.get_ydata())
                label = str(line.get_label())
                told = axes.get_title("left").replace("\n", " ")
                assert heights.min() >= low, (name, label)
                assert heights.max() <= high or label in told, (name, label)


@pytest.mark.parametrize("data", ["mnist", "cifar10", "pawpularity"])
def test_pictures_of_fewer_iterations_show_zeros(data):
    right = drawn(f"ablation-{data}")[f"ablation-{data}-iterations"].axes[1]
    heights = np.concatenate([line.get_ydata() for line in right.get_lines()])
    assert np.isfinite(heights).all()
    assert right.get_ylim()[0] < 0
    assert len(right.get_yticks()) > 2


def test_responses_show_who_is_active_and_name_the_limit():
    for name, figure in drawn("response").items():
        if not name.endswith("places"):
            assert "active devices" in {axes.get_ylabel() for axes in figure.axes}
            named = {text.get_text() for text in figure.legends[0].get_texts()}
            assert named == {"device 1", "device 2", "time limit"}
