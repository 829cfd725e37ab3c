"""The artefacts' pictures: axes hold everything that was measured, or name what they leave out."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import ROOT

from scdn.paper.artefact import Drawing, read_spec
from scdn.paper.plotting import add_reference_line, fit_axis, fit_score_axis, plot_band
from scdn.report.matplotlib_style import new_figure

RESULTS = ROOT / "docs" / "results" / "paper"


def empty_axes():
    return new_figure("").add_subplot()


def committed_figures(name: str) -> dict:
    """Draw the pictures of the committed numbers; return them by name."""
    numbers = json.loads((RESULTS / f"{name}.json").read_text())["numbers"]
    figures = {}
    for part in read_spec(name).job_module.show(numbers):
        if isinstance(part, Drawing):
            figures[part.name] = new_figure(part.title, part.size)
            part.draw(figures[part.name])
    return figures


def curve(mean, std=0.0) -> dict:
    return {"mean": mean, "std": np.full(len(mean), std)}


def test_similar_values_have_a_linear_axis_from_zero():
    axes = empty_axes()
    fit_axis(axes, [curve([300.0, 420.0]), curve([0.0, 0.0])], zero=True)
    low, high = axes.get_ylim()
    assert axes.get_yscale() == "linear"
    assert low < 0
    assert high > 420


def test_values_of_different_magnitude_are_told_apart_and_zero_is_visible():
    axes = empty_axes()
    fit_axis(axes, [curve([0.0, 2e-8, 3e-4]), curve([400.0, 424.0, 424.0])], zero=True)
    points = axes.transAxes.inverted().transform(axes.transData.transform([(0, 0), (0, 2e-8)]))
    assert axes.get_ylim()[0] < 0
    assert points[1][1] - points[0][1] > 0.05
    assert 0.0 in axes.get_yticks()
    assert len(axes.get_yticks()) > 3


def test_zeros_have_an_axis():
    axes = empty_axes()
    fit_axis(axes, [curve([0.0, 0.0])], zero=True)
    assert axes.get_ylim()[0] < 0 < axes.get_ylim()[1]


def test_empty_curves_have_an_axis():
    axes = empty_axes()
    fit_axis(axes, [curve([])], zero=True)
    fit_score_axis(axes, "mse", {"GSP": [curve([])]}, set(), 0.042)
    assert axes.get_ylim()[0] < 0.042 < axes.get_ylim()[1]


def test_bands_end_at_the_limits_of_values():
    axes = empty_axes()
    plot_band(axes, [1, 2], [0.02, 99.0], [1.0, 5.0], "", 0, (0.0, 100.0))
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert heights.min() == 0
    assert heights.max() == 100


def test_a_diverged_run_is_named_and_does_not_stretch_the_axis():
    axes, rounds = empty_axes(), 30
    converged = curve(np.linspace(0.06, 0.043, rounds), 0.001)
    diverged = curve([0.05, 99.9, *[0.044] * (rounds - 2)], 140.0)
    fit_score_axis(axes, "mse", {"GSP": [converged], "ZOC": [diverged]}, {"ZOC"}, 0.042)
    low, high = axes.get_ylim()
    assert low < 0.042
    assert 0.061 < high < 0.1
    assert axes.get_title("left") == "off the scale: ZOC to 99.9"


def test_a_short_peak_is_named():
    axes = empty_axes()
    usual = [curve(np.linspace(0.045, 0.043, 60)) for _ in range(2)]
    peak = curve([0.155, *[0.044] * 59])
    fit_score_axis(axes, "mse", {"VAFL": usual, "GSP": [peak]}, set(), 0.042)
    assert 0.045 < axes.get_ylim()[1] < 0.06
    assert axes.get_title("left") == "off the scale: GSP to 0.155"


def test_a_reference_line_is_named_beside_the_panel():
    axes = empty_axes()
    add_reference_line(axes, 0.5, "trivial")
    assert axes.texts[0].xy[0] > 1


@pytest.mark.parametrize("data", ["mnist", "cifar10", "pawpularity"])
def test_static_axes_hold_every_error_bar(data):
    (figure,) = committed_figures(f"static-{data}").values()
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
def test_dynamic_axes_hold_every_curve_or_name_it(data):
    for name, figure in committed_figures(f"dynamic-{data}").items():
        for axes in figure.axes:
            low, high = axes.get_ylim()
            for line in axes.get_lines():
                heights = np.asarray(line.get_ydata())
                label = str(line.get_label())
                named = axes.get_title("left").replace("\n", " ")
                assert heights.min() >= low, (name, label)
                assert heights.max() <= high or label in named, (name, label)


@pytest.mark.parametrize("data", ["mnist", "cifar10", "pawpularity"])
def test_axes_of_fewer_iterations_include_zero(data):
    right = committed_figures(f"ablation-{data}")[f"ablation-{data}-iterations"].axes[1]
    heights = np.concatenate([line.get_ydata() for line in right.get_lines()])
    assert np.isfinite(heights).all()
    assert right.get_ylim()[0] < 0
    assert len(right.get_yticks()) > 2


def test_responses_show_active_devices_and_name_the_limit():
    for name, figure in committed_figures("response").items():
        if not name.endswith("places"):
            assert "active devices" in {axes.get_ylabel() for axes in figure.axes}
            named = {text.get_text() for text in figure.legends[0].get_texts()}
            assert named == {"device 1", "device 2", "time limit"}
