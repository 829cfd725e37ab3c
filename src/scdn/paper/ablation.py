"""What each part of the round's problem is for: Algorithm 3's iterations, its terms, its controls.

Three studies on the dynamic network:

    iterations  so many of Algorithm 3's, in place of 30
    terms       the weight of movement, processing or transmission is zero and what it paid for is
                free: nothing is left to say against the fastest clock or the highest power, so a
                device that takes part has them; and a server that never moves
    controls    on the exact controller, each of position, power, clock and iterations in turn as
                the greedy rule has it while the rest is decided, and in turn decided while the rest
                is greedy; who takes part is always decided
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from scdn.paper import learning
from scdn.paper.artefact import Claim, Drawing, Found, Numbers, Setting, Table, Verdict
from scdn.paper.blocks import judged, own_settings, short, spread
from scdn.paper.control import network_job
from scdn.paper.draw import COLOURS, band, level, tidy
from scdn.paper.jobs import Job
from scdn.paper.published import published
from scdn.paper.switches import CONTROLS, FIXED, FULL, TERMS, cases_of

Look = tuple[bool, str] | None  # whether a claim holds in a block, and the numbers

WORK = "scdn.paper.switches:run"
SUMS = ("server_j", "processing_j", "transmission_j", "clock_hz")
WORDS = {
    "server_j": "server energy",
    "processing_j": "processing energy",
    "transmission_j": "transmission energy",
    "clock_hz": "clock cycles",
}
_MOVED = ("server_j", "without_server_movement", "server_energy_saved_percent")
WITHOUT = {  # case → label, what it spends more of, and where the paper's numbers are
    "no-movement": ("movement free", *_MOVED),
    FIXED: ("server fixed", *_MOVED),
    "no-processing": (
        "processing free",
        "clock_hz",
        "without_cpu_costs",
        "cpu_cycles_saved_percent",
    ),
    "no-transmission": (
        "transmission free",
        "transmission_j",
        "without_tx_power_costs",
        "tx_energy_saved_percent",
    ),
}
SWITCHED = {
    FULL: "everything",
    FIXED: "all but position",
    **{f"without-{name}": f"all but {name}" for name in CONTROLS[1:]},
    **{f"only-{name}": f"only {name}" for name in CONTROLS},
    "none": "only who takes part",
}
NEAR = 10.0  # points of percent: how near a saving must be to the published one
IDLE = 0.5  # iterations of a device and round below which hardly anybody trains
SETTLED = 15  # iterations after which the paper calls Algorithm 3 converged


# --- jobs -----------------------------------------------------------------------------------------


def jobs(setting: Setting) -> list[Job]:
    """One per block, case and seed."""
    return [
        network_job(
            f"{block}-{case}-{seed}",
            WORK,
            setting,
            [*own_settings(setting, block), *settings, "method=ablation", f"seed={seed}"],
            control=control,
        )
        for block, case, settings, control in _all_cases(setting)
        for seed in setting.seeds
    ]


def _all_cases(setting: Setting) -> Iterator[tuple[str, str, tuple[str, ...], dict[str, Any]]]:
    for block in setting.table["blocks"]:
        if not setting.only or block in setting.only:
            for case in cases_of(block, setting.sweep["iterations"]):
                yield block, *case


# --- kept -----------------------------------------------------------------------------------------


def numbers(setting: Setting, found: Found) -> Numbers:
    """Of each case: the final score, and sums over rounds and devices, seed by seed."""
    blocks: dict[str, dict[str, Any]] = {}
    for block, case, _, _ in _all_cases(setting):
        runs = [found[f"{block}-{case}-{seed}"] for seed in setting.seeds]
        blocks.setdefault(block, {})[case] = {
            "score": [_final(run, "score") for run in runs],
            "later": [_final(run, "later") for run in runs],
            **{key: [short(sum(run[key])) for run in runs] for key in SUMS},
            "iterations": [_per_round(run) for run in runs],
            "diverged": sum(run["status"] != "done" for run in runs),
        }
    return {
        "data": setting.table["data"],
        "metric": setting.table["metric"],
        "counts": sorted(setting.sweep["iterations"]),
        "trivial": next(iter(found.values()))["trivial"],
        "blocks": blocks,
    }


def _final(run: learning.Record, what: str) -> float:
    """After the last round; a model that ran away is worth the trivial predictor."""
    return float(run[what][-1] if run["status"] == "done" else run["trivial"])


def _per_round(run: learning.Record) -> float:
    """Iterations of a device and round; none where not even one round was done."""
    return short(float(np.mean(learning.mean_iterations(run) or [0.0])))


# --- shown ----------------------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Table | Drawing]:
    """A picture and a table for each study that there are runs of."""
    parts: list[Table | Drawing] = []
    blocks = numbers["blocks"]
    if "published" in blocks:
        parts += [_iterations_drawing(numbers), _iterations_table(numbers)]
    parts += [_terms_table(numbers, block) for block in blocks]
    if "true" in blocks:
        parts += [_controls_drawing(numbers), _controls_table(numbers)]
    return parts


def _iterations_table(numbers: Numbers) -> Table:
    cases = numbers["blocks"]["published"]
    rows = [
        (str(count), *_cells(numbers, cases[_of(numbers, count)])) for count in numbers["counts"]
    ]
    return Table(
        "Algorithm 3 with fewer iterations, block “published”",
        ("iterations", *_head(numbers)),
        (_trivial(numbers), *rows),
        "J are sums over a run's rounds and devices, clock the sum of active devices' clocks, "
        "iterations means over the devices present and rounds.",
    )


def _terms_table(numbers: Numbers, block: str) -> Table:
    cases = numbers["blocks"][block]
    theirs = published()["ablation_dynamic"]
    rows = [("all terms", *_cells(numbers, cases[FULL]), "", "", _paper_score(numbers, "full"))]
    for case, (label, quantity, key, percent) in WITHOUT.items():
        saved = _saving(cases, case, quantity)
        rows.append(
            (
                label,
                *_cells(numbers, cases[case]),
                _saved(saved, quantity),
                f"{theirs[key][percent][numbers['data']]:g} %",
                _paper_score(numbers, key),
            )
        )
    return Table(
        f"Terms of the objective, block “{block}”",
        ("", *_head(numbers), "saved by counting it", "paper: saved", f"paper: {_metric(numbers)}"),
        tuple(rows),
        "Without processing costs the clock, and without transmission costs the power, of those "
        "who take part is at its maximum: nothing is left to say against it.",
    )


def _controls_table(numbers: Numbers) -> Table:
    cases = numbers["blocks"]["true"]
    return Table(
        "Controls one by one on the exact solver, block “true”",
        ("decided", *_head(numbers)),
        tuple((label, *_cells(numbers, cases[case])) for case, label in SWITCHED.items()),
        "What is not decided is greedy: the server stays, power, clock and iterations of those who "
        "take part are at their maximum.",
    )


def _head(numbers: Numbers) -> tuple[str, ...]:
    return (
        _metric(numbers),
        "server J",
        "processing J",
        "transmission J",
        "clock GHz",
        "iterations",
    )


def _cells(numbers: Numbers, case: dict[str, Any]) -> tuple[str, ...]:
    lost = f", {case['diverged']} diverged" if case["diverged"] else ""
    joules = ("server_j", "processing_j", "transmission_j")
    return (
        f"{_plus_minus(case['score'], _digits(numbers))}{lost}",
        *(f"{spread(case[key])['mean']:.3g}" for key in joules),
        f"{spread(case['clock_hz'])['mean'] / 1e9:.3g}",
        f"{spread(case['iterations'])['mean']:.3g}",
    )


def _trivial(numbers: Numbers) -> tuple[str, ...]:
    return ("trivial predictor", f"{numbers['trivial']:.{_digits(numbers)}f}", *[""] * 5)


def _plus_minus(values: Sequence[float], digits: int) -> str:
    found = spread(values)
    deviation = f" ± {found['std']:.{digits}f}" if len(values) > 1 else ""
    return f"{found['mean']:.{digits}f}{deviation}"


def _paper_score(numbers: Numbers, key: str) -> str:
    mean, deviation = published()["ablation_dynamic"][key][numbers["data"]]
    return f"{mean:g} ± {deviation:g}"


def _metric(numbers: Numbers) -> str:
    return "top-3 (%)" if numbers["metric"] == "top3" else "MSE"


def _digits(numbers: Numbers) -> int:
    return 1 if numbers["metric"] == "top3" else 4


def _of(numbers: Numbers, count: int) -> str:
    """The case of so many iterations."""
    return FULL if count == max(numbers["counts"]) else f"iterations-{count}"


def _iterations_drawing(numbers: Numbers) -> Drawing:
    cases = [numbers["blocks"]["published"][_of(numbers, count)] for count in numbers["counts"]]

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        tidy(left, "iterations of Algorithm 3", f"final {_metric(numbers)}")
        tidy(right, "iterations of Algorithm 3", "J, sum of a run")
        scores = [spread(case["score"]) for case in cases]
        x = numbers["counts"]
        band(left, x, [s["mean"] for s in scores], [s["std"] for s in scores], "", 0)
        level(left, numbers["trivial"], "trivial")
        for place, key in enumerate(("server_j", "processing_j", "transmission_j")):
            means = [spread(case[key])["mean"] or np.nan for case in cases]  # no logarithm of 0
            band(right, x, means, None, WORDS[key], place)
        right.set_yscale("log")
        right.minorticks_off()
        figure.legend(loc="outside lower right", ncols=3, fontsize=8, frameon=False)

    name = f"ablation-{numbers['data']}-iterations"
    title = f"Fewer iterations of Algorithm 3, {numbers['data']}, dynamic network"
    return Drawing(name, title, draw)


def _controls_drawing(numbers: Numbers) -> Drawing:
    cases = numbers["blocks"]["true"]

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, 4, sharey=True)
        keys = ("score", "server_j", "processing_j", "transmission_j")
        for axes, key in zip(panels, keys, strict=True):
            tidy(axes, _metric(numbers) if key == "score" else f"{WORDS[key]}, J", "")
            found = [spread(cases[case][key]) for case in SWITCHED]
            means, deviations = ([entry[part] for entry in found] for part in ("mean", "std"))
            rows = range(len(found))
            shades = [1.0 if case == FULL else 0.5 for case in SWITCHED]
            colours = [(COLOURS[0], shade) for shade in shades]
            axes.barh(rows, means, xerr=deviations, height=0.62, color=colours,
                      error_kw={"elinewidth": 0.8, "ecolor": COLOURS[-1]})  # fmt: skip
            axes.set_yticks(rows, list(SWITCHED.values()), fontsize=8.5)
            axes.locator_params(axis="x", nbins=4)
            axes.margins(x=0.08)
        panels[0].invert_yaxis()

    name = f"ablation-{numbers['data']}-controls"
    title = f"Controls decided one by one, {numbers['data']}, dynamic network, true rates"
    return Drawing(name, title, draw, (10.0, 3.8))


# --- judged ---------------------------------------------------------------------------------------


def claims(numbers: Numbers) -> list[Claim]:
    """Each saving, and that scores hardly change."""
    where = f"App. ablation, {numbers['data']}"
    theirs, blocks = published()["ablation_dynamic"], numbers["blocks"]
    found = []
    for term, cases in (
        ("movement", ("no-movement", FIXED)),
        ("processing", ("no-processing",)),
        ("transmission", ("no-transmission",)),
    ):
        _, quantity, key, percent = WITHOUT[cases[0]]
        wanted = theirs[key][percent][numbers["data"]]
        text = (
            f"Counting {term} saves {wanted:g} % of {WORDS[quantity]} (± {NEAR:g} points, and at "
            "least half of it)."
        )
        looks = {block: _saves(table, cases, wanted) for block, table in blocks.items()}
        found.append(judged(where, text, looks))
    saves = {block: _each_saves(table) for block, table in blocks.items()}
    found.append(judged(where, "Each component saves what it is there to save.", saves))
    limit = _limit(numbers)
    text = (
        f"Disabling any component changes the final score by less than {limit:g}{_unit(numbers)}."
    )
    minor = {block: _minor(numbers, table) for block, table in blocks.items()}
    found.append(judged(f"Table abla_optim_all, {numbers['data']}", text, minor))
    found.append(_robust(numbers))
    return found


def _saving(cases: dict[str, Any], case: str, quantity: str) -> float | None:
    """Percent of a quantity that the full method saves; None where nothing is spent without."""
    without = sum(cases[case][quantity])
    return 100 * (1 - sum(cases[FULL][quantity]) / without) if without > 0 else None


def _saved(saved: float | None, quantity: str) -> str:
    """A saving in words."""
    if saved is None:
        return f"no {WORDS[quantity]} (none is spent without)"
    if saved < 0:
        return f"no {WORDS[quantity]} ({1 - saved / 100:.3g} times as much is spent)"
    return f"{saved:.1f} % of {WORDS[quantity]}"


def _saves(table: dict[str, Any], cases: Sequence[str], wanted: float) -> Look:
    """Whether any reading of what was disabled is near the published saving."""
    found = {case: _saving(table, case, WITHOUT[case][1]) for case in cases}
    words = ", ".join(
        f"{WITHOUT[case][0]}, {_saved(saved, WITHOUT[case][1])}" for case, saved in found.items()
    )
    known = [saved for saved in found.values() if saved is not None]
    return any(abs(saved - wanted) <= NEAR and saved >= wanted / 2 for saved in known), words


def _each_saves(table: dict[str, Any]) -> Look:
    """At least one percent each, with its weight at zero."""
    cases = [f"no-{term}" for term in TERMS]
    found = {case: _saving(table, case, WITHOUT[case][1]) for case in cases}
    words = ", ".join(_saved(saved, WITHOUT[case][1]) for case, saved in found.items())
    return all(saved is not None and saved >= 1 for saved in found.values()), words


def _limit(numbers: Numbers) -> float:
    """A point of top-3, or the paper's own largest change of the error."""
    if numbers["metric"] == "top3":
        return 1.0
    table, data = published()["ablation_dynamic"], numbers["data"]
    return short(max(abs(table[key][data][0] - table["full"][data][0]) for key in table))


def _unit(numbers: Numbers) -> str:
    return " point of top-3" if numbers["metric"] == "top3" else " of MSE"


def _minor(numbers: Numbers, table: dict[str, Any]) -> Look:
    full = spread(table[FULL]["score"])["mean"]
    changes = {case: spread(table[case]["score"])["mean"] - full for case in WITHOUT}
    digits = _digits(numbers)
    words = ", ".join(
        f"{round(change, digits) + 0.0:+.{digits}f} {WITHOUT[case][0]}"
        for case, change in changes.items()
    )
    good = all(abs(change) < _limit(numbers) for change in changes.values())
    return good, f"{full:.{digits}f} in full; {words}{_caveat(numbers, table)}"


def _caveat(numbers: Numbers, table: dict[str, Any]) -> str:
    """What takes the weight from a score that does not change."""
    full, trivial = spread(table[FULL]["score"])["mean"], numbers["trivial"]
    better = full > trivial if numbers["metric"] == "top3" else full < trivial
    words = "" if better else f"; no better than the trivial predictor's {trivial:.3g}"
    count = spread(table[FULL]["iterations"])["mean"]
    return words if count >= IDLE else f"{words}; devices train only {count:.2g} iterations a round"


def _robust(numbers: Numbers) -> Claim:
    """Reproduced if every number of iterations will do; in a regime if those from 15 on will."""
    source, text = (
        f"Fig. oiters_ablate, {numbers['data']}",
        (
            f"The final score is robust to the number of Algorithm 3's iterations (within "
            f"{_limit(numbers):g}{_unit(numbers)} of {max(numbers['counts'])} iterations)."
        ),
    )
    table = numbers["blocks"].get("published")
    if table is None:
        return Claim(source, text, "not measured", "no runs")
    counts = numbers["counts"]
    score = {n: spread(table[_of(numbers, n)]["score"])["mean"] for n in counts}
    far = [n for n in counts if abs(score[n] - score[counts[-1]]) > _limit(numbers)]
    words = ", ".join(f"{score[n]:.{_digits(numbers)}f} after {n}" for n in counts)
    verdict: Verdict = "reproduced"
    if far:
        settled = max(far) < SETTLED
        verdict = "reproduced in this regime" if settled else "not reproduced"
        words += f"; not within it: {', '.join(map(str, far))}"
    return Claim(source, text, verdict, words + _caveat(numbers, table))
