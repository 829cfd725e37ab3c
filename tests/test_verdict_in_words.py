"""Laws of the verdict in words: it names no dominated method and claims only what the test says."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scdn.record.run_reader import Run
from scdn.report.comparison import comparison
from scdn.report.page import report_page
from scdn.report.statistics import median_value
from scdn.report.study import Study
from scdn.report.verdict import verdicts
from scdn.targets import parse_targets

METHODS = ("mission", "sc-dn", "gsp", "vafl")


def run(method, seed, scores, joules=1.0, seconds=1.0, bits=1000.0, status="done", **scenario):
    """A run whose rounds each cost the same."""
    events = [
        {
            "round": n,
            "active": ["d1"],
            "devices": [{"id": "d1", "iterations": 1, "executed_iterations": 1,
                         "processing_j": joules, "transmission_j": 0.0}],
            "server": {"position_m": [0, 0, 0], "movement_j": 0.0},
            "metrics": {"top3": score, "test_loss": 1.0, "train_loss": 1.0},
            "latency_s": seconds,
            "bits_sent": bits,
        }
        for n, score in enumerate(scores)
    ]  # fmt: skip
    scenario = {"name": "net", "region_m": [1, 1, 1], "learning": {"dataset": "mnist"}, **scenario}
    start = {"event": "start", "schema": 1, "scenario": scenario, "method": method, "seed": seed,
             "score": {"metric": "top3", "higher_is_better": True, "unit": "%"}}  # fmt: skip
    end = None if status is None else {"event": "end", "status": status, "rounds": len(events)}
    return Run(Path(f"{method}-{seed}"), scenario, method, seed, events, end, start)


def study(runs, *targets):
    return Study.from_runs(runs, targets=parse_targets(targets))


def verdict(runs, *targets):
    (found,) = verdicts(study(runs, *targets))
    return found


def words(found):
    return " ".join([found.headline, *found.evidence, *found.reservations])


def reaching(method, seeds, joules, **options):
    """Runs that reach 90 % in their first round and stay there."""
    return [run(method, seed, [95.0, 95.0], joules=joules + 0.01 * seed, **options)
            for seed in seeds]  # fmt: skip


def test_a_method_is_the_choice_where_the_exact_test_decides():
    runs = reaching("mission", range(6), 2.0) + reaching("sc-dn", range(6), 8.0)
    found = verdict(runs, "top3=90")
    assert (found.choice, found.certainty, found.next_best) == ("mission", "decided", "sc-dn")
    assert found.headline == (
        "mission is the choice for 90 % top-3: it needs 2.02 J and 1.00 s (medians), "
        "and got there with all 6 seeds."
    )
    assert found.evidence == [
        "The next best, sc-dn, needed 8.02 J, 4 times as much.",
        "mission needed less energy than sc-dn in 6 of 6 common seeds: "
        "the exact test confirms it (p 0.031).",
    ]
    assert found.factor == pytest.approx(8.025 / 2.025)
    assert (found.reached, found.seeds) == (6, 6)


def test_the_test_must_decide_against_every_other_method():
    close = [run("gsp", s, [95.0, 95.0], joules=2.0 + 0.01 * s + (-0.1 if s < 2 else 0.1))
             for s in range(6)]  # fmt: skip
    runs = reaching("mission", range(6), 2.0) + close + reaching("sc-dn", range(6), 8.0)
    found = verdict(runs, "top3=90")
    assert (found.choice, found.next_best) == ("mission", "gsp")
    assert found.certainty == "no clear difference"
    assert "is the choice" not in words(found)
    assert "The exact test does not confirm it against every other method." in found.headline
    assert "in 4 of 6 common seeds: the exact test finds no clear difference" in words(found)


def test_five_seeds_are_too_few_however_clear():
    runs = reaching("mission", range(5), 2.0) + reaching("sc-dn", range(5), 8.0)
    found = verdict(runs, "top3=90")
    assert found.certainty == "too few seeds to tell"
    assert "too few seeds to tell" in found.headline
    assert "is the choice" not in words(found)
    assert "confirms" not in words(found)


def test_reservations_name_the_faster_the_better_and_the_more_frugal_method():
    fast = [run("gsp", s, [95.0, 95.0], joules=9.0, seconds=0.2) for s in range(6)]
    good = [run("vafl", s, [91.0, 99.0 + 0.01 * s], joules=7.0, seconds=3) for s in range(6)]
    quiet = [run("sc-dn", s, [95.0, 95.0], joules=5.0, seconds=3, bits=10.0) for s in range(6)]
    found = verdict(reaching("mission", range(6), 2.0) + fast + good + quiet, "top3=90")
    assert found.choice == "mission"
    assert found.reservations == [
        "If time matters most: gsp got there in 0.200 s instead of 1.00 s, for 9.00 J instead of "
        "2.02 J; the exact test confirms it (p 0.031).",
        "If the final score matters most: vafl ended with 99.0 % top-3 instead of 95.0 % top-3, "
        "for 14.0 J instead of 4.05 J over the whole run; the exact test confirms it (p 0.031).",
        "If traffic matters most: sc-dn sent and received 10.0 bit instead of 1.00 kbit, for "
        "5.00 J instead of 2.02 J; the exact test confirms it (p 0.031).",
    ]


def test_missed_targets_are_said_and_who_never_missed():
    missed = [run("mission", 5, [50.0, 50.0])]
    runs = reaching("mission", range(5), 2.0) + missed + reaching("sc-dn", range(6), 8.0)
    found = verdict(runs, "top3=90")
    assert (found.choice, found.reached, found.seeds) == ("mission", 5, 6)
    assert found.reservations[0] == "It missed the target in 1 of 6 seeds; sc-dn never did."
    assert found.certainty != "decided"


def test_a_method_that_mostly_misses_is_no_choice_beside_one_that_does_not():
    lucky = reaching("gsp", [0, 1], 0.1) + [run("gsp", s, [1.0, 1.0]) for s in (2, 3, 4, 5)]
    assert verdict(lucky + reaching("sc-dn", range(6), 8.0), "top3=90").choice == "sc-dn"
    alone = verdict(lucky + [run("sc-dn", s, [1.0, 1.0]) for s in range(6)], "top3=90")
    assert alone.headline == (
        "No method reaches 90 % top-3 reliably: gsp reached it with 2 of 6 seeds."
    )
    assert alone.joules is None
    assert "No other method" not in words(alone)


def test_a_mission_that_ended_at_its_own_target_is_not_said_to_fail_another_one():
    missions = [run("mission", s, [85.0, 85.0]) for s in range(3)]
    for mission in missions:
        mission.end["reason"] = "the target top3=80 is reached"
    others = [run("sc-dn", s, [95.0, 95.0], joules=9.0) for s in range(3)]
    said = (
        "3 of 3 runs of mission ended as asked at top3=80, and did not go on to 90 % top-3: "
        "to compare mission, run it with that target."
    )
    found = verdict(missions + others, "top3=90")
    assert (found.choice, found.reservations[0]) == ("sc-dn", said)
    assert said in verdict(missions, "top3=90").reservations  # nobody reached it
    assert "as asked" not in words(verdict(missions + others, "top3=80"))
    assert "as asked" not in words(verdict(missions + others))


def test_nobody_reached_the_target():
    runs = [run("mission", s, [80.0, 85.0]) for s in (0, 1)]
    runs += [run("sc-dn", s, [70.0, 88.0], joules=3.0) for s in (0, 1)]
    found = verdict(runs, "top3=90")
    assert (found.choice, found.certainty) == (None, "nobody")
    assert found.headline == "No run reached 90 % top-3, so there is no method to choose for it."
    assert found.evidence == [
        "The best score at the end is that of sc-dn: 88.0 % top-3 after 6.00 J."
    ]


def test_without_a_target_the_best_score_and_the_least_joules():
    runs = [run("mission", s, [90.0 + 0.1 * s], joules=1.0) for s in range(6)]
    runs += [run("sc-dn", s, [97.0 + 0.1 * s], joules=5.0) for s in range(6)]
    found = verdict(runs)
    assert (found.choice, found.certainty, found.target) == ("sc-dn", "decided", None)
    assert found.headline == (
        "sc-dn is the choice for the best score: it ended with 97.2 % top-3 for 5.00 J and "
        "1.00 s (means), over 6 seeds."
    )
    assert found.reservations == [
        "If energy matters most: mission used 1.00 J instead of 5.00 J, and ended with "
        "90.2 % top-3 instead of 97.2 % top-3; the exact test confirms it (p 0.031)."
    ]


def test_one_method_and_one_seed():
    found = verdict([run("sc-dn", 0, [95.0, 95.0])], "top3=90")
    assert (found.certainty, found.next_best, found.p) == ("one method", None, None)
    assert found.headline == (
        "sc-dn reached 90 % top-3 with 1.00 J and 1.00 s, with its one seed; it is the only "
        "method, so there is no choice."
    )
    assert found.reservations == []


def test_diverged_and_unfinished_runs_are_said():
    diverged = [run("mission", s, [99.0, 99.0], joules=0.1, status="diverged") for s in (0, 1)]
    lone = verdict([*diverged, run("mission", 2, [95.0, 95.0]), run("sc-dn", 0, [95.0, 95.0])],
                   "top3=90")  # fmt: skip
    assert lone.choice == "sc-dn"  # two of three runs of mission count as worst
    mixed = [run("mission", 0, [99.0, 99.0], status="diverged")]
    mixed += [run("mission", s, [99.0, 99.0], joules=0.1) for s in (1, 2)]
    mixed += [run("sc-dn", s, [95.0, 95.0], status=None) for s in (0, 1, 2)]
    found = verdict(mixed, "top3=90")
    assert found.choice == "mission"
    assert "1 of 3 of the runs of mission diverged." in found.reservations
    assert "3 of 6 runs have not ended, so the verdict may change." in found.reservations
    every = verdict([run(m, 0, [9.0], status="diverged") for m in ("mission", "sc-dn")])
    assert every.choice is None
    assert "nothing to choose" in every.headline


def test_networks_have_a_verdict_each_and_settings_of_one_method_are_compared():
    two = [run(m, 0, [95.0, 95.0], joules=j, name=net, round_s=r)
           for net, r, costs in (("fire", 1, (1, 2)), ("farm", 2, (4, 3)))
           for m, j in zip(("mission", "sc-dn"), costs, strict=True)]  # fmt: skip
    found = verdicts(study(two, "top3=90"))
    assert [(v.setting, v.choice, v.next_best) for v in found] == [
        ("fire", "mission", "sc-dn"),
        ("farm", "sc-dn", "mission"),
    ]
    one = [run("sc-dn", 0, [95.0, 95.0], joules=h, hidden=h) for h in (16, 32)]
    (found,) = verdicts(study(one, "top3=90"))
    assert (found.setting, found.choice) == ("", "sc-dn, hidden=16")


def test_every_target_has_a_verdict():
    runs = reaching("mission", (0, 1), 2.0) + reaching("sc-dn", (0, 1), 8.0)
    assert [v.target for v in verdicts(study(runs, "top3=90", "top3=99"))] == [
        "90 % top-3",
        "99 % top-3",
    ]


def test_report_and_json_begin_with_the_verdict():
    shown = study(reaching("mission", range(6), 2.0) + reaching("sc-dn", range(6), 8.0), "top3=90")
    (found,) = verdicts(shown)
    page = report_page(shown)
    assert page.index(found.headline) < page.index('id="results"')
    assert all(sentence in page for sentence in (*found.evidence, *found.reservations))
    assert comparison(shown)["compared"]["verdicts"][0]["choice"] == "mission"


costs = st.sampled_from([1.0, 2.0, 3.0, 10.0])
one_run = st.tuples(
    st.lists(st.sampled_from([50.0, 89.0, 91.0, 96.0]), min_size=1, max_size=4),
    costs, costs, costs, st.sampled_from(["done", "done", "done", "diverged", None]),
)  # fmt: skip


@st.composite
def random_runs(draw):
    seeds = draw(st.integers(1, 8))
    runs = []
    for method in METHODS[: draw(st.integers(1, 4))]:
        factor = draw(st.sampled_from([1, 1, 5, 100]))  # so that some methods are clearly apart
        for seed in range(seeds):
            scores, joules, *others = draw(one_run)
            runs.append(run(method, seed, scores, factor * joules, *others))
    return runs


def _positions(shown, method, target):
    """Everything by which a method may be judged, lower for better, from the events alone."""
    costs, final, missed = [], [], 0
    for own in (r for r in shown.runs if r.method == method):
        failed = own.end is not None and own.end["status"] == "diverged"
        (reached,) = shown.target_results(own) if target else ({"reached": True},)
        missed += failed or not reached["reached"]
        per_round = own.rounds[0]
        each = (per_round["devices"][0]["processing_j"], per_round["latency_s"],
                per_round["bits_sent"])  # fmt: skip
        rounds = len(own.rounds) if not target else (reached["round"] or 0) + 1
        worst = failed or not reached["reached"]
        costs.append([math.inf if worst else rounds * value for value in each])
        final.append(math.inf if failed else -own.rounds[-1]["metrics"]["top3"])
    return [*map(list, zip(*costs, strict=True)), final, missed / len(final)]


def _average(target, by_method):
    """Medians where a run of any method may have failed, means elsewhere."""
    averages = {}
    for kind in range(4):
        ranked = (target and kind < 3) or any(
            math.isinf(value) for values in by_method.values() for value in values[kind]
        )
        centre = median_value if ranked else fmean
        for method, values in by_method.items():
            averages.setdefault(method, []).append(centre(values[kind]))
    return {method: [*values, by_method[method][4]] for method, values in averages.items()}


@settings(max_examples=150, deadline=None)
@given(random_runs(), st.booleans())
def test_no_other_method_dominates_the_choice(runs, with_target):
    shown = study(runs, *(["top3=90"] if with_target else []))
    (found,) = verdicts(shown)
    if found.choice is None:
        return
    positions = _average(with_target,
                         {m: _positions(shown, m, with_target) for m in shown.methods})  # fmt: skip
    own = positions[found.choice]
    for method, other in positions.items():
        never_worse = all(a <= b + 1e-9 for a, b in zip(other, own, strict=True))
        better = any(a < b - 1e-9 for a, b in zip(other, own, strict=True))
        assert not (never_worse and better), (method, found.choice)


def _sign_flip_p(differences):
    """All patterns of signs, written out."""
    total = abs(sum(differences))
    sums = [abs(sum(sign * d for sign, d in zip(signs, differences, strict=True)))
            for signs in itertools.product((1, -1), repeat=len(differences))]  # fmt: skip
    return fmean(value >= total - 1e-9 for value in sums)


@settings(max_examples=150, deadline=None)
@given(random_runs(), st.booleans())
def test_the_verdict_claims_only_what_the_exact_test_supports(runs, with_target):
    shown = study(runs, *(["top3=90"] if with_target else []))
    (found,) = verdicts(shown)
    text = words(found)
    seeds = len(shown.seeds)
    claims = "is the choice for" in text or "test confirms it" in text
    if seeds < 6:
        assert not claims
        assert found.certainty != "decided"
    if found.certainty != "decided":
        assert "is the choice for" not in found.headline
        return
    kind = 0 if with_target else 3
    by_method = {m: _positions(shown, m, with_target)[kind] for m in shown.methods}
    failed = any(math.isinf(value) for values in by_method.values() for value in values)
    for method in set(shown.methods) - {found.choice}:
        pairs = zip(by_method[found.choice], by_method[method], strict=True)
        differences = [0.0 if a == b else a - b for a, b in pairs]
        if with_target or failed:
            differences = _signed_ranks(differences)
        assert _sign_flip_p(differences) < 0.05
        assert sum(differences) < 0


def _signed_ranks(differences):
    """Ranks of the sizes, ties shared, with the signs of the differences."""
    sizes = [abs(d) for d in differences if d]
    ranks = [fmean(n for n, s in enumerate(sorted(sizes), 1) if s == abs(d)) if d else 0
             for d in differences]  # fmt: skip
    return [math.copysign(rank, d) for rank, d in zip(ranks, differences, strict=True)]


@settings(max_examples=100, deadline=None)
@given(random_runs(), st.booleans())
def test_the_words_agree_with_the_numbers_and_are_sentences(runs, with_target):
    (found,) = verdicts(study(runs, *(["top3=90"] if with_target else [])))
    for sentence in (found.headline, *found.evidence, *found.reservations):
        assert sentence.endswith(".")
        assert not re.search(r"nan|inf\b|None|–|  ", sentence), sentence
    if found.choice is None:
        assert found.certainty == "nobody"
        return
    assert found.choice in found.headline
    if found.next_best:
        assert found.next_best in " ".join(found.evidence)
    if found.factor is not None:
        assert found.factor >= 1
