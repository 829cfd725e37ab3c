"""What a study finds, as plain dataclasses.

The report draws them; the studio sends them as JSON, so their field names are part of its API.
"""

from __future__ import annotations

from dataclasses import dataclass

TOO_FEW_SEEDS = "too few seeds to tell"  # the verdict on fewer than six pairs


@dataclass(frozen=True)
class MethodResult:
    """A measure of one method over its seeds, and the paired difference to the reference method.

    A measure with means has `mean`, `std`, the mean difference, its interval, `p_t` and `p_flip`. A
    ranked one has `median` (None: half of the runs or more failed), `failed`, the median difference
    (None: infinite) and `p_rank`. What needs several seeds is None with one; what needs a reference
    is None for the reference. `p_flip` or `p_rank` decides on the verdict. `p_t` illustrates; it is
    None with fewer than six pairs.
    """

    method: str
    mean: float | None
    std: float | None
    seeds: int
    difference: float | None = None
    low: float | None = None  # the 95 % confidence interval of the difference
    high: float | None = None
    p_t: float | None = None  # two-sided paired t-test
    p_flip: float | None = None  # exact sign-flip permutation test
    verdict: str | None = None
    median: float | None = None
    failed: int = 0  # how many of the seeds count as worst
    p_rank: float | None = None  # two-sided signed-rank test

    @property
    def centre(self) -> float | None:
        """The mean or the median."""
        return self.median if self.mean is None else self.mean

    @property
    def p(self) -> float | None:
        """The p-value that decides; None where there are too few seeds to tell."""
        if self.verdict == TOO_FEW_SEEDS:
            return None
        return self.p_flip if self.p_rank is None else self.p_rank


@dataclass(frozen=True)
class Measure:
    """A quantity by which methods are compared; the first table shows the `main` ones.

    Methods are compared by means, or by ranks where a run may have failed (`ranked`); then
    `failure` says what failing means.
    """

    key: str
    label: str
    unit: str
    better: int  # +1: higher is better, -1: lower is better, 0: neither
    main: bool
    values: list[MethodResult]
    ranked: bool = False
    failure: str = "diverged"


@dataclass(frozen=True)
class Verdict:
    """Which method to choose, what speaks for it, and when another would be the choice.

    With a target, the choice is the method that reaches it with the least median energy (a run that
    misses it counts as worse than every other); without one, the method with the best final score.
    `choice` is None where no run reached the target, and where every run diverged. `certainty` is
    `decided` only if the exact test finds the choice better than every other method.
    """

    setting: str  # of the runs; empty where all are compared together
    target: str | None  # such as 95 % top-3
    choice: str | None
    certainty: str  # decided, no clear difference, too few seeds to tell, one method, or nobody
    headline: str
    evidence: list[str]
    reservations: list[str]  # when it would not be the choice
    joules: float | None = None  # to the target, or of the whole run: medians or means over seeds
    seconds: float | None = None
    score: float | None = None  # at the end
    reached: int | None = None  # of the choice's seeds; None without a target
    seeds: int = 0
    next_best: str | None = None
    factor: float | None = None  # the next best's joules as a multiple; None without a target
    p: float | None = None  # of the exact test against the next best


@dataclass(frozen=True)
class Curve:
    """A method's mean or median over its seeds, with a band where there are several.

    Around a mean, the band is one standard deviation wide on each side; around a median, it reaches
    from the lower to the upper quartile.
    """

    method: str
    x: list[float]
    y: list[float]
    low: list[float] | None
    high: list[float] | None
    dashed: bool = False
    step: bool = False  # constant between points


@dataclass(frozen=True)
class BaselineLevel:
    """A horizontal line to compare with; `name_at` is where its label overlaps no other."""

    label: str
    value: float
    name_at: float
    target: bool = False  # drawn stronger than a baseline


@dataclass(frozen=True)
class Chart:
    """Curves over rounds or over a budget, and the range of the vertical axis.

    Where solid and dashed lines differ in what they show, `solid` and `dashed` name it.
    """

    name: str
    title: str
    about: str
    x_label: str
    y_label: str
    low: float
    high: float
    lines: list[Curve]
    levels: list[BaselineLevel]
    log_x: bool = False
    solid: str = ""
    dashed: str = ""


@dataclass(frozen=True)
class ParetoPoint:
    """A run's final score and its cost, or their means over a method's seeds (`seed` is None)."""

    method: str
    setting: str  # empty where all runs have the same settings
    seed: int | None
    score: float
    joules: float
    seconds: float
    status: str = "done"
    run: int | None = None  # its number among the study's runs


@dataclass(frozen=True)
class ParetoFront:
    """The methods that no other beats in both score and cost by their means, the cheapest first."""

    cost: str  # joules or seconds
    setting: str  # empty where methods of all settings are compared
    methods: list[str]


@dataclass(frozen=True)
class CostBound:
    """Joules that no plan falls below for the progress of a mission; the least over its seeds."""

    method: str
    setting: str
    joules: float


@dataclass(frozen=True)
class ParetoChart:
    """Final scores against what they cost, by run and by method."""

    metric: str
    label: str  # of the score's axis
    unit: str
    higher_is_better: bool
    settings: list[str]
    runs: list[ParetoPoint]
    means: list[ParetoPoint]  # of methods all of whose runs are done
    fronts: list[ParetoFront]
    bounds: list[CostBound]
    targets: list[float]  # of the same metric
    log_costs: list[str]  # costs that differ so much that a logarithmic scale shows them better
    notes: list[str]  # on what is not drawn


@dataclass(frozen=True)
class MethodTotal:
    """The mean of a method's runs, and the standard deviation where there are several."""

    method: str
    mean: float
    std: float | None
    seeds: int


@dataclass(frozen=True)
class EnergyLedger:
    """Joules per run and method: the mean over seeds by term, and the totals."""

    methods: list[str]
    terms: dict[str, list[float]]
    totals: list[MethodTotal]
