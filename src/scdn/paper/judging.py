"""How what the paper says is judged: in each block, by our numbers, with their errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from scdn.paper.artefact import Claim, Numbers, Verdict
from scdn.paper.blocks import Row, own_rows

BEYOND = "beyond the paper"  # where a saying is not the paper's
Look = tuple[bool, str] | None  # whether a claim holds in a block, and the numbers


def better(mine: Sequence[float], theirs: Sequence[float], sign: int) -> Look:
    """Whether paired runs are better on average, by more than two standard errors.

    A single run has no error, and cannot say.
    """
    if len(mine) < 2:
        return None
    gaps = sign * (np.asarray(mine) - np.asarray(theirs))
    error = float(gaps.std(ddof=1)) / len(gaps) ** 0.5
    words = f"{np.mean(mine):.4g} against {np.mean(theirs):.4g}"
    gap = float(gaps.mean())
    return gap > 2 * error, f"{words} ({sign * gap:+.2g} ± {error:.2g}, {runs_of(len(gaps))})"


def runs_of(count: int) -> str:
    """How many, in words."""
    return f"{count} run{'' if count == 1 else 's'}"


def judged(source: str, text: str, by_block: Mapping[str, Look]) -> Claim:
    """A claim that each block has looked at: whether it holds there, and the numbers."""
    seen = [found[0] for found in by_block.values() if found is not None]
    words = "; ".join(
        f"{block}: {'cannot say' if found is None else found[1]}"
        for block, found in by_block.items()
    )
    return Claim(source, text, verdict(seen), words if seen else "no runs, or too few")


def verdict(held: Iterable[bool]) -> Verdict:
    """All blocks: reproduced. Some: in this regime. None: not."""
    every = list(held)
    if not every:
        return "not measured"
    if all(every):
        return "reproduced"
    return "reproduced in this regime" if any(every) else "not reproduced"


class Saying(NamedTuple):
    """Something the paper says of each block, and how to look at it."""

    source: str
    text: str
    look: Callable[[Any], Look]


class View(Protocol):
    """One block's rows from one start, as sayings look at them."""

    whole: bool  # whether all are there that they need


Views = Mapping[str, View]  # by block


def judge(
    numbers: Numbers,
    sayings: Sequence[Saying],
    view: Callable[[Numbers, str, str, list[Row]], View],
) -> list[Claim]:
    """Each saying in all blocks from the first start, and whether further starts say the same."""

    def views(start: str, beside: str | None = None) -> dict[str, View]:
        rows = own_rows(numbers, start, beside)
        every = {block: view(numbers, block, start, own) for block, own in rows.items()}
        return {block: found for block, found in every.items() if found.whole}

    first, *others = numbers["starts"]
    here = views(first)
    return [
        *(
            judged(s.source, s.text, {block: s.look(v) for block, v in here.items()})
            for s in sayings
        ),
        *(
            _same(numbers["data"], start, sayings, views(first, start), views(start))
            for start in others
        ),
    ]


def _same(data: str, start: str, sayings: Sequence[Saying], here: Views, there: Views) -> Claim:
    """Whether all that the paper says has the same answer from another start, and some is true.

    Both are over the same seeds.
    """
    sayings = [say for say in sayings if not say.source.startswith(BEYOND)]
    found: dict[str, Look] = {}
    for block in here:
        if block not in there:
            continue
        answers = [(say.text, say.look(here[block]), say.look(there[block])) for say in sayings]
        both = [(text, a[0], b[0]) for text, a, b in answers if a is not None and b is not None]
        other = [f"“{text}” holds only {'here' if a else 'there'}" for text, a, b in both if a != b]
        if not both:
            continue
        true = sum(a and b for _, a, b in both)
        words = f"{len(both) - len(other)} of {len(both)} answers are the same, {true} of them yes"
        found[block] = not other and true > 0, "; ".join([words, *other])
    text = f"From a {start} start the takeaways are the same."
    return judged(f"App. more_exps, {data}", text, found)


def within(pairs: Iterable[tuple[float, float, float]]) -> tuple[bool, str]:
    """Whether means are the published ones: (ours, theirs, their standard deviation)."""
    near = [abs(mine - mean) <= std for mine, mean, std in pairs]
    return all(near), f"{sum(near)} of {len(near)}"
