"""The picture of a tuning: how the best score rose, and how scores depend on each setting."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from scdn.file_io import write_atomic
from scdn.tuning.search_space import TunedSetting, search_space
from scdn.tuning.tuner import TuningResult

_COLUMNS = 4


def draw_tuning(result: TuningResult, path: Path) -> None:
    """Write the picture as PNG."""
    from io import BytesIO

    from matplotlib.figure import Figure

    space = search_space(result.scenario)
    rows = -(-(len(space) + 1) // _COLUMNS)
    figure = Figure(figsize=(3.2 * _COLUMNS, 2.7 * rows), layout="constrained")
    axes = figure.subplots(rows, _COLUMNS, squeeze=False).ravel()
    complete = result.complete
    numbers, scores = np.array([(trial.number, trial.value) for trial in complete]).T
    best_so_far = np.maximum if result.metric.higher_is_better else np.minimum
    axes[0].plot(numbers, scores, ".", color="#8a8a8a", label="a trial")
    axes[0].step(
        numbers, best_so_far.accumulate(scores), where="post", color="#c0392b", label="best"
    )
    axes[0].axhline(result.own_score, color="#2c5f8a", lw=1, ls="--", label="as it was")
    axes[0].set(xlabel="trial", ylabel=result.metric.axis_label)
    axes[0].legend(fontsize=7)
    for axis, setting in zip(axes[1:], space, strict=False):
        values = [trial.params[setting.path] for trial in complete]
        axis.plot(values, scores, ".", color="#8a8a8a")
        axis.plot(result.values[setting.path], result.score, "o", color="#c0392b")
        axis.set_xlabel(setting.path)
        if isinstance(setting, TunedSetting):
            ticks = sorted({setting.low, setting.own, setting.high})
            axis.set(xscale="log", xlim=(0.9 * setting.low, 1.1 * setting.high))
            axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            axis.minorticks_off()
    for axis in axes[len(space) + 1 :]:
        axis.set_axis_off()
    for axis in axes[: len(space) + 1]:
        axis.grid(alpha=0.25)
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    write_atomic(path, buffer.getvalue())
