"""Static and dynamic networks: small runs on digits, rows, and verdicts that follow the numbers."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path

import pytest
from paper_artefacts import verdicts

from scdn.cli import main
from scdn.data import fetch
from scdn.errors import InputError
from scdn.file_io import to_json
from scdn.paper.artefact import Finding, ResultTable, read_spec
from scdn.paper.dynamic import claims as dynamic_claims
from scdn.paper.dynamic import jobs as dynamic_jobs
from scdn.paper.merge_results import merge_documents
from scdn.paper.method_grid import grid_cells, jobs, paired_runs
from scdn.paper.published_tables import published_tables
from scdn.paper.run_artefact import run_artefact
from scdn.paper.static import claims as static_claims
from scdn.paper.training_run import simulate, training_job
from scdn.paper.verdicts import block_claim
from scdn.world.churn import churn_trace


def small_spec(name, **sweep):
    """Return an artefact on digits with one start and one update, without Algorithm 3."""
    spec = read_spec(name)
    (block,) = [copy.deepcopy(table) for key, table in spec.all_blocks.items() if key == "true"]
    block["updates"] = block["updates"][:1]
    block["methods"] = [m for m in block["methods"] if not m.endswith("matched")]
    return replace(
        spec,
        sweep=spec.sweep | {"starts": ["centre"], **sweep},
        all_blocks={"true": block},
        runs=2,
        rounds=3,
        overrides=("learning.dataset=digits", "learning.input=own"),
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    fetch("digits")
    out = tmp_path_factory.mktemp("paper")
    for spec in (small_spec("static-mnist", devices=[2, 4]), small_spec("dynamic-mnist")):
        run_artefact(spec, out)
    return out


def numbers_of(folder, name):
    return json.loads((folder / f"{name}.json").read_text())["numbers"]


@pytest.fixture
def static_numbers(results):
    return numbers_of(results, "static-mnist")


@pytest.fixture
def dynamic_numbers(results):
    return numbers_of(results, "dynamic-mnist")


# --- runs -----------------------------------------------------------------------------------------


def test_a_second_run_gives_the_same_numbers(static_numbers, tmp_path):
    run_artefact(small_spec("static-mnist", devices=[2, 4]), tmp_path)
    assert numbers_of(tmp_path, "static-mnist") == static_numbers


def test_documents_say_how_they_were_made(results):
    document = json.loads((results / "static-mnist.json").read_text())
    assert document["took"][0]["versions"]["torch"]
    assert document["jobs"] == {"planned": 16, "done": 16}
    assert sum(entry["jobs"] for entry in document["took"]) == 16
    assert (results / "static-mnist.png").read_bytes()[:4] == b"\x89PNG"
    assert document["settings"] == [
        "learning.rounds=3",
        "learning.dataset=digits",
        "learning.input=own",
    ]
    assert document["seeds"] == [0, 1]
    assert document["runs"] == [2, 2]
    assert document["scenario"]["learning"]["rounds"] == 3  # the spec says 30
    assert document["scenario"]["learning"]["dataset"] == "digits"
    assert document["varied"]["scenario.fleet.0.count"] == [2, 4]
    assert document["varied"]["scenario.method"] == ["sc-dn", "max-vfl", "gsp", "vafl"]


def test_matched_twins_never_cost_more(static_numbers):
    for row in static_numbers["rows"]:
        if row["method"] in ("max-vfl", "gsp", "vafl"):
            assert row["matched"]["mean"] <= row["energy"]["mean"] * (1 + 1e-9)


@pytest.mark.parametrize("name", ["max-vfl", "gsp", "vafl"])
@pytest.mark.parametrize("artefact", ["static-mnist", "dynamic-mnist"])
def test_a_twin_is_charged_what_it_would_spend_in_a_run_of_its_own(name, artefact):
    fetch("digits")
    spec = small_spec(artefact, devices=[4])
    settings = [*spec.all_blocks["true"]["settings"], "churn.quiet_rounds=0"]
    scenario = spec.scenario([*settings, "fleet.0.count=4", "learning.rounds=6"])
    leader = {"each": {"planned": [[2, 3], [4], [3], [2], [5], [1]]}}
    rival, twin = (
        simulate(training_job("x", scenario, method, 0).arguments, leader)["each"]
        for method in (name, f"{name}-matched")
    )
    assert rival["matched_j"] == twin["processing_j"]
    assert sum(map(sum, twin["processing_j"])) > 0


def test_rivals_take_their_leaders_mean_iterations():
    after = {job.key: job.after for job in jobs(small_spec("static-mnist", devices=[2]))}
    assert after["true-steady-centre-2-gsp-0"] == "true-steady-centre-2-sc-dn-0"
    assert after["true-steady-centre-2-max-vfl-0"] is None


def test_starts_are_compared_over_the_seeds_that_both_have():
    spec = small_spec("static-mnist", devices=[2], starts=["centre", "random"])
    spec = replace(spec, runs=None)
    run = {"score": [1.0], "later": [1.0], "trivial": 0.0}
    results = {
        cell.key(seed): run
        for _, cell in grid_cells(spec)
        for seed in (spec.seeds if cell.start == "centre" else [0])
    }
    assert len(results) == 4 * (10 + 1)
    paired = list(paired_runs(spec, results))
    assert len(paired) == 4
    for start, cell, runs in paired:
        assert (start, cell.start) == ("random", "centre")
        assert [each["seed"] for each in runs] == [0]


def test_the_first_exit_is_the_traces():
    """Also where a device joins in the same round, so that as many are present as before."""
    scenario = read_spec("dynamic-mnist").scenario()
    hidden = 0
    for seed in range(10):
        seeded = scenario.model_copy(update={"seed": seed})
        trace = churn_trace(seeded)
        present = [int(trace.present(r).sum()) for r in range(30)]
        exits = [r for r in range(30) if (trace.leaving(r) & trace.present(r)).any()]
        table = seeded.model_dump(mode="json", by_alias=True)
        assert dynamic_jobs._first_exit(table) == (exits[0] if exits else None)
        hidden += bool(exits) and exits[0] < 29 and present[exits[0] + 1] >= present[exits[0]]
    assert hidden


def test_a_diverged_run_has_the_worst_score(results):
    spec = small_spec("dynamic-mnist")
    cells = results / "cells" / "dynamic-mnist"
    runs = {
        job.key: json.loads((cells / f"{job.key}.json").read_text())["result"] for job in jobs(spec)
    }
    key = next(key for key in runs if "-gsp-1" in key)
    diverged = runs[key] | {"status": "diverged", "score": [99.0], "later": [99.0]}
    numbers = dynamic_jobs.numbers(spec, runs | {key: diverged})
    (row,) = [row for row in numbers["rows"] if row["method"] == "gsp"]
    assert row["last"] == [runs[key.replace("-gsp-1", "-gsp-0")]["score"][-1], 0.0]
    tables = [part for part in dynamic_jobs.show(numbers) if isinstance(part, ResultTable)]
    (source,) = {row[1] for row in tables[0].rows if "diverged" in row[1]}
    assert source == "true, steady update (2 runs, 1 diverged)"


# --- verdicts on static networks ------------------------------------------------------------------

WORSE = "Scores get worse with every step to more devices."
TABLES = [
    f"The table's {quantity} (within one published deviation)."
    for quantity in ("final scores", "mean iterations")
]


def static_claim(numbers, text):
    (claim,) = [claim for claim in static_claims.claims(numbers) if claim.text == text]
    return claim


def test_blocks_that_disagree_are_a_regime():
    yes, no = Finding(True, "a"), Finding(False, "b")
    assert (
        block_claim("", "", {"published": yes, "true": no}).verdict == "reproduced in this regime"
    )
    assert block_claim("", "", {"true": no}).verdict == "not reproduced"
    assert block_claim("", "", {"true": None}).verdict == "not measured"


def test_scores_must_be_above_chance_to_get_worse(static_numbers):
    chance = static_numbers["rows"][0]["trivial"]
    for row in static_numbers["rows"]:
        row["score"] |= {"mean": chance + 1 - row["devices"], "std": 3.0}
        row["iterations"] |= {"mean": 5.0}
    claim = static_claim(static_numbers, WORSE)
    assert claim.verdict == "regime not reached"
    assert f"none is better than the trivial predictor's {chance:.3g}" in claim.reason


def test_scores_are_not_compared_where_nobody_learns(static_numbers, dynamic_numbers):
    comparable = "SC-DN's final score is comparable to or better than GSP's."
    chance = static_numbers["rows"][0]["trivial"]
    for row in static_numbers["rows"]:
        row["score"]["mean"] = chance
        row["iterations"]["mean"] = 5.0
    assert static_claim(static_numbers, comparable).verdict == "regime not reached"
    for row in static_numbers["rows"]:
        row["score"]["mean"] = chance + (row["method"] == "gsp")
    assert static_claim(static_numbers, comparable).verdict == "reproduced"
    for row in dynamic_numbers["rows"]:
        row |= {"last": [chance, chance - 1], "iterations": {"mean": [3.0], "std": [0.0]}}
    better = {c.text: c.verdict for c in dynamic_claims.claims(dynamic_numbers)}
    assert better["SC-DN ends better than GSP."] == "regime not reached"


def test_tables_are_compared_with_the_published(static_numbers):
    published = published_tables()["static_mnist_center"]
    for row in static_numbers["rows"]:
        label = static_claims.LABELS[row["method"]]
        if label in published:
            row["score"]["mean"] = published[label]["Final Acc (%)"][f"N={row['devices']}"]
    scores, iterations = (static_claim(static_numbers, text) for text in TABLES)
    assert (scores.verdict, iterations.verdict) == ("reproduced", "not reproduced")
    assert "8 of 8" in scores.reason


def test_another_start_is_compared(static_numbers):
    numbers, text = static_numbers, "From a random start the takeaways are the same."
    numbers["starts"] = ["centre", "random"]
    assert static_claim(numbers, text).verdict == "not measured"
    for row in numbers["rows"]:  # where nothing holds, agreement shows nothing
        sc_dn = row["method"] == "sc-dn"
        row["iterations"] |= {"mean": 5.0 if sc_dn else 3.0}
        row["energy"] |= {"mean": 9.0 if sc_dn else 8.0, "max": 9.0 if sc_dn else 8.0}
        row["energy_active"] = row["energy"]
        row["score"] |= {"mean": 41.0 + row["devices"] - 20.0 * sc_dn, "std": 1.0 + sc_dn}
        row |= {"importance": None, "distance": None, "trivial": 0.0}
    twins = [copy.deepcopy(row) | {"start": "random"} for row in numbers["rows"]]
    numbers["paired"] = [row | {"beside": "random"} for row in numbers["rows"]]
    numbers["rows"] += twins
    claim = static_claim(numbers, text)
    assert claim.verdict == "not reproduced"
    assert ", 0 of them yes" in claim.reason
    for row in numbers["rows"]:
        row["score"] |= {"mean": 41.0}
    assert static_claim(numbers, text).verdict == "reproduced"
    for row in twins:
        row["iterations"] |= {"mean": 2.0 if row["method"] == "sc-dn" else 5.0}
        row["energy"] |= {"mean": 7.0 if row["method"] == "sc-dn" else 10.0}
    claim = static_claim(numbers, text)
    assert claim.verdict == "not reproduced"
    fewer = "“SC-DN takes fewer iterations than Max VFL.” holds only from the random start"
    assert fewer in claim.reason


def test_a_stale_block_has_no_verdict_unless_only_vafl_is_affected(static_numbers):
    numbers = static_numbers | {"stale": {"true": {"learning.arrival_steps": ("party", "shared")}}}
    by_text = verdicts(static_claims, numbers)
    assert by_text["SC-DN uses less processing energy than VAFL, per active device."] == (
        "not recomputed"
    )
    assert by_text["The table's final scores (within one published deviation)."] == "not recomputed"
    assert by_text["SC-DN uses less processing energy than GSP, per active device."] != (
        "not recomputed"
    )
    numbers["stale"] = {"true": {"learning.epsilon": (1e-3, 2.303e-8)}}
    assert set(verdicts(static_claims, numbers).values()) == {"not recomputed"}


def test_static_verdicts_follow_the_numbers(static_numbers):
    rows = static_numbers["rows"]
    sc_dn = [row for row in rows if row["method"] == "sc-dn"]
    for row in rows:
        row["energy"] |= {"mean": 10.0, "max": 12.0}
        row["energy_active"] = {"mean": 12.0}
        row["score"] |= {"mean": 80.0 - row["devices"], "std": 3.0}
        row["iterations"] |= {"mean": 5.0}
        row["matched"] = {"mean": 8.0}
    for row in sc_dn:
        row["energy"] |= {"mean": 7.0, "max": 9.0}
        row["energy_active"] = {"mean": 8.0}
        row["iterations"] |= {"mean": 4.0}
        row["importance"] = {"mean": 0.5, "std": 0.1, "runs": 9}
        row["distance"] = {"mean": -0.5, "std": 0.1, "runs": 9}
    good = verdicts(static_claims, static_numbers)
    assert {v for text, v in good.items() if text not in TABLES} == {"reproduced"}, good
    for row in sc_dn:
        row["iterations"] |= {"mean": 0.9}
    for text in ("SC-DN takes fewer iterations than Max VFL.", WORSE):
        claim = static_claim(static_numbers, text)
        assert claim.verdict == "regime not reached"
        assert "hardly trains: 0.9 / 0.9 iterations" in claim.reason
    for row in sc_dn:
        row["energy"] |= {"mean": 7.6, "max": 13.0}
        row["score"] |= {"mean": 60.0 + row["devices"], "std": 4.0}
        row["iterations"] |= {"mean": 5.0}
    for row in rows:
        if row["method"] == "vafl":
            row["matched"] = {"mean": 7.5}
    bad = verdicts(static_claims, static_numbers)
    assert sum(verdict == "not reproduced" for verdict in bad.values()) >= 6
    less = "SC-DN uses less processing energy than"
    saved = "SC-DN saves at least 25.8 % of Max VFL's processing energy, per"
    assert bad[f"{saved} device present."] == "not reproduced"
    assert bad[f"{saved} active device."] == "reproduced"
    for rival in ("GSP", "VAFL"):
        assert bad[f"{less} {rival}, per device present."] == "reproduced"
    assert bad[f"{less} VAFL at its least clock."] == "not reproduced"
    assert bad[f"{less} GSP at its least clock."] == "reproduced"
    for row in rows:
        if row["method"] == "gsp":
            row["energy_active"] = {"mean": 0.0}
    by_text = verdicts(static_claims, static_numbers)
    assert by_text[f"{less} GSP, per active device."] == "regime not reached"


def test_joules_per_active_device_leave_those_out_that_are_off(static_numbers):
    """In earlier results they follow from the share of active devices."""
    (row,) = [r for r in static_numbers["rows"] if (r["method"], r["devices"]) == ("sc-dn", 4)]
    per_active = row["energy"]["mean"] / row["active"]["mean"]
    assert row["energy_active"]["mean"] == pytest.approx(per_active, rel=1e-4)
    block = static_claims.StaticBlock(static_numbers, "true", "centre", static_numbers["rows"])
    recorded = block.saves_percent("energy_active", 0).evidence
    for entry in static_numbers["rows"]:
        del entry["energy_active"]
    assert block.saves_percent("energy_active", 0).evidence == recorded


def test_vafls_iterations_are_those_that_it_executed(results):
    cells = results / "cells" / "static-mnist"
    runs = [json.loads(path.read_text())["result"]["each"] for path in cells.glob("*-vafl-*")]
    assert any(run["iterations"] != run["planned"] for run in runs)


# --- verdicts on dynamic networks -----------------------------------------------------------------


def test_dynamic_verdicts_follow_the_numbers(dynamic_numbers):
    rows = {row["method"]: row for row in dynamic_numbers["rows"]}
    for row in rows.values():
        row |= {"last": [70.0, 71.0], "last_later": [70.0, 70.5], "exit": [[60.0, 55.0]] * 2}
        row["all_energy"] |= {"mean": 10.0, "std": 1.0}
        row["energy_active"] = {"mean": 10.0}
        row["iterations"] = {"mean": [3.0] * 5, "std": [0.5] * 5}
        row["score"] = {"mean": [50.0, 60.0, 59.5, 70.0], "std": [1.0] * 4}
    rows["sc-dn"] |= {"last": [80.0, 82.0], "last_later": [60.0, 60.5], "exit": [[60.0, 59.0]] * 2}
    rows["sc-dn"]["all_energy"] |= {"mean": 6.0}
    rows["zoc"] |= {"last": [70.5, 71.5]}
    by_text = verdicts(dynamic_claims, dynamic_numbers)
    saves = "P^r saves roughly {} % of the processing energy (at least 75% of that), per {}."
    beats_rivals = [f"SC-DN ends better than {rival}." for rival in ("GSP", "VAFL")]
    zoc_loses = "ZOC loses roughly 8 points when the first devices leave (at least half of that)."
    sc_dn_loses_less = "SC-DN loses less than ZOC when the first devices leave."
    monotone = (
        "Convergence is almost monotone: no more than a point of top-3, or 0.001 of MSE, below "
        "the best so far."
    )
    for text in (
        *beats_rivals,
        zoc_loses,
        sc_dn_loses_less,
        monotone,
        "P^r makes SC-DN's final score better by 1 point (at least half of that).",
        "P^r does not help ZOC as it helps SC-DN.",
        "With P^r the mean energy plus a deviation is below the mean without.",
        saves.format(38, "device present"),
    ):
        assert by_text[text] == "reproduced", text
    later = "Keeping embeddings ends better than ZOC on samples recorded after the exits."
    without_control = "Keeping embeddings ends better than ZOC also without P^r."
    also = "In another paragraph: " + saves.format(75, "device present")
    for text in (later, without_control, also, saves.format(38, "active device")):
        assert by_text[text] == "not reproduced", text
    rows["zoc"]["exit"] = [[60.0, 57.0]] * 2  # less than half of what the paper says
    rows["sc-dn"] |= {"last": [60.0, 90.0]}  # better on average, but within two errors
    rows["sc-dn"]["score"]["mean"][2] = 55.0
    by_text = verdicts(dynamic_claims, dynamic_numbers)
    for text in (zoc_loses, *beats_rivals, monotone):
        assert by_text[text] == "not reproduced", text
    assert by_text[sc_dn_loses_less] == "reproduced"
    for row in rows.values():
        row["trivial"] = 65.0  # which neither beats before the exit
    by_text = verdicts(dynamic_claims, dynamic_numbers)
    for text in (zoc_loses, sc_dn_loses_less):
        assert by_text[text] == "regime not reached", text
    for row in rows.values():  # a single run has no standard error
        row |= {"last": row["last"][:1], "last_later": row["last_later"][:1]}
    by_text = verdicts(dynamic_claims, dynamic_numbers)
    for text in (later, without_control, *beats_rivals):
        assert by_text[text] == "not enough runs", text


def test_statements_that_need_no_rival_do_not_wait_for_one(results):
    spec = small_spec("dynamic-mnist")
    cells = results / "cells" / "dynamic-mnist"
    records = {job.key: json.loads((cells / f"{job.key}.json").read_text()) for job in jobs(spec)}
    done = {k: record["result"] for k, record in records.items() if "gsp" not in k}
    numbers = spec.job_module.numbers(spec, done)
    assert {row["method"] for row in numbers["rows"]} == {
        "sc-dn", "zoc", "sc-dn-greedy", "zoc-greedy", "vafl"
    }  # fmt: skip
    whole = {c.text: c.verdict for c in dynamic_claims.claims(numbers_of(results, "dynamic-mnist"))}
    for claim in dynamic_claims.claims(numbers):
        if "GSP" in claim.text or "least of all methods" in claim.text:
            assert claim.verdict == "not enough runs", claim.text
            assert "none of gsp" in claim.reason
        elif not claim.text.startswith("The tables"):
            assert claim.verdict == whole[claim.text], claim.text


# --- results of two machines ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_starts(tmp_path_factory):
    """A sweep with two starts: its spec and its document."""
    fetch("digits")
    out = tmp_path_factory.mktemp("starts")
    spec = small_spec("static-mnist", devices=[2, 4], starts=["centre", "random"])
    run_artefact(spec, out)
    return spec, json.loads((out / "static-mnist.json").read_text())


def part_of(document, keep):
    part = copy.deepcopy(document)
    part["numbers"]["rows"] = [row for row in part["numbers"]["rows"] if keep(row)]
    part["numbers"]["paired"] = []
    return part


@pytest.mark.parametrize("field", ["start", "devices"])
def test_parts_of_a_sweep_merge_to_the_whole(two_starts, field):
    spec, whole = two_starts
    first = whole["numbers"]["rows"][0][field]
    one = part_of(whole, lambda row: row[field] == first)
    other = part_of(whole, lambda row: row[field] != first)
    for merged in (merge_documents(one, other, spec), merge_documents(other, one, spec)):
        assert json.loads(to_json({**merged, "took": whole["took"]})) == whole


def test_the_network_with_more_runs_is_kept(two_starts):
    spec, whole = two_starts
    fewer = copy.deepcopy(whole)
    for row in [*fewer["numbers"]["rows"], *fewer["numbers"]["paired"]]:
        row |= {"runs": 1, "seeds": [0], "score": None}
    for merged in (merge_documents(fewer, whole, spec), merge_documents(whole, fewer, spec)):
        assert merged["numbers"] == whole["numbers"]
        assert merged["took"][0]["jobs"] == 2 * whole["took"][0]["jobs"]  # all that was computed


def test_the_network_with_more_methods_is_kept(two_starts):
    spec, whole = two_starts
    leader = part_of(whole, lambda row: row["method"] == "sc-dn")
    for merged in (merge_documents(leader, whole, spec), merge_documents(whole, leader, spec)):
        assert merged["numbers"] == whole["numbers"]


def test_starts_with_different_seeds_need_known_pairs(two_starts):
    spec, whole = two_starts
    fewer = copy.deepcopy(whole)
    for row in fewer["numbers"]["rows"]:
        if row["start"] == "random":
            row |= {"runs": 1, "seeds": [0]}
    with pytest.raises(InputError, match="starts centre and random have different seeds"):
        merge_documents(fewer, fewer, spec)


@pytest.mark.parametrize(
    ("first", "second", "fault"),
    [
        ("static-mnist", "exact", "exact.json: file: has no rows by network"),
        ("static-mnist", "dynamic-mnist", "dynamic-mnist.json: artefact: is dynamic-mnist"),
        ("dynamic-mnist", "missing", "missing.json: file: cannot be read"),
    ],
)
def test_results_that_do_not_fit_are_refused(first, second, fault, tmp_path, capsys):
    folder, out = Path(__file__).parent.parent / "docs/results/paper", tmp_path / "merged.json"
    files = [str(folder / f"{name}.json") for name in (first, second)]
    assert main(["paper", "merge", *files, "-o", str(out)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert fault in line
    assert not out.exists()


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda document: document.pop("took"), "took: missing"),
        (lambda document: document.update(seeds=["a"]), "seeds.0: got"),
        (lambda document: document.update(cases=[]), "cases: got []"),
        (lambda document: document.update(numbers=[]), "file: has no rows by network"),
        (lambda document: document["numbers"].update(rows=[1]), "file: has no rows by network"),
        (lambda document: document["numbers"].pop("paired"), "numbers.paired: missing"),
        (lambda document: document["numbers"]["rows"][5].pop("runs"), "numbers.rows.5.runs"),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_files_that_are_no_results_are_refused_by_name(change, fault, is_first, tmp_path, capsys):
    whole = Path(__file__).parent.parent / "docs/results/paper/static-mnist.json"
    document = json.loads(whole.read_text())
    change(document)
    wrong, out = tmp_path / "wrong.json", tmp_path / "merged.json"
    wrong.write_text(json.dumps(document))
    files = [str(wrong), str(whole)] if is_first else [str(whole), str(wrong)]
    assert main(["paper", "merge", *files, "-o", str(out)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"wrong.json: {fault}" in line
    assert not out.exists()


def test_networks_that_are_not_in_the_plan_are_left_out_and_named(tmp_path, capsys):
    whole = Path(__file__).parent.parent / "docs/results/paper/static-mnist.json"
    document = json.loads(whole.read_text())
    for row in document["numbers"]["rows"]:
        row["start"] = "roof"
    other, merged = tmp_path / "other.json", tmp_path / "merged.json"
    other.write_text(json.dumps(document))
    assert main(["paper", "merge", str(whole), str(other), "-o", str(merged)]) == 0
    assert "other.json: left out published paper roof 2: not in the plan" in capsys.readouterr().out
    rows = [json.loads(path.read_text())["numbers"]["rows"] for path in (merged, whole)]
    assert rows[0] == rows[1]
    assert main(["paper", "merge", str(other), str(other), "-o", str(tmp_path / "none.json")]) == 2


def test_results_of_other_settings_are_left_out(tmp_path, capsys):
    whole = Path(__file__).parent.parent / "docs/results/paper/dynamic-mnist.json"
    document = json.loads(whole.read_text())
    for case in document["cases"].values():
        if case["scenario"].get("profile") == "paper":
            case["scenario"]["learning.epsilon"] = 1e-3
    old, merged = tmp_path / "old.json", tmp_path / "merged.json"
    old.write_text(json.dumps(document))

    def rows(path):
        return json.loads(path.read_text())["numbers"]["rows"]

    assert main(["paper", "merge", str(old), str(old), "-o", str(merged)]) == 0
    assert "left out published: made with learning.epsilon = 0.001" in capsys.readouterr().out
    kept = [row for row in rows(whole) if row["block"] not in ("published", "vafl-server")]
    assert rows(merged) == kept
    assert main(["paper", "merge", str(old), str(whole), "-o", str(merged)]) == 0
    assert rows(merged) == rows(whole)

    document["numbers"]["rows"] = [r for r in document["numbers"]["rows"] if r not in kept]
    old.write_text(json.dumps(document))
    assert main(["paper", "merge", str(old), str(old), "-o", str(tmp_path / "none.json")]) == 2
    assert "rows: are all of other settings or networks" in capsys.readouterr().err
    assert not (tmp_path / "none.json").exists()
