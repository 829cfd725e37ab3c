"""The Pareto view: laws of its front, its means and bounds, its pictures and its tables."""

from __future__ import annotations

import csv
import io
import json

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_runs import write_run, write_study
from studio_server import serving

from scdn.record.run_reader import EVENTS, find_runs
from scdn.report.matplotlib_figures import figure_drawers, picture
from scdn.report.page import report_page
from scdn.report.pareto import front, pareto_chart
from scdn.report.results import ParetoPoint
from scdn.report.study import Study
from scdn.report.theme import method_styles
from scdn.studio.settings import StudioSettings

values = st.integers(0, 6).map(float)
points = st.lists(
    st.builds(ParetoPoint, st.just("m"), st.just(""), st.none(), values, values, values),
    min_size=1, max_size=12,
)  # fmt: skip


def _beats(a, b, cost, sign):
    never_worse = getattr(a, cost) <= getattr(b, cost) and sign * a.score >= sign * b.score
    return never_worse and (getattr(a, cost), a.score) != (getattr(b, cost), b.score)


@given(points, st.sampled_from(["joules", "seconds"]), st.booleans())
def test_the_front_is_exactly_what_nothing_beats(given_points, cost, higher):
    sign = 1 if higher else -1
    kept = front(given_points, cost, higher)
    for point in given_points:
        beaten = any(_beats(other, point, cost, sign) for other in given_points)
        assert (point in kept) == (not beaten)
    assert len(kept) == sum(point in kept for point in given_points)
    costs = [getattr(point, cost) for point in kept]
    assert costs == sorted(costs)


def test_points_are_final_scores_at_the_cost_of_whole_runs(tmp_path):
    study = write_study(tmp_path, ("sc-dn", "gsp"), (0, 1))
    chart = pareto_chart(study)
    last = study.rows.groupby(["method", "seed"]).last()
    for point in chart.runs:
        row = last.loc[(point.method, point.seed)]
        assert (point.score, point.joules, point.seconds) == pytest.approx(
            (row["top3"], row["cumulative_joules"], row["cumulative_s"])
        )
        assert study.runs[point.run].seed == point.seed
    means = last.groupby("method").mean()
    assert [(p.method, p.score) for p in chart.means] == [
        (m, pytest.approx(means.loc[m, "top3"])) for m in study.methods
    ]


def test_a_method_with_a_diverged_or_unfinished_run_has_no_mean(tmp_path):
    write_study(tmp_path, ("sc-dn", "gsp", "zoc"), (0,))
    write_run(tmp_path / "bad", "gsp", 1, end="diverged")
    write_run(tmp_path / "open", "zoc", 1, end=None)
    chart = pareto_chart(Study.from_runs(find_runs([tmp_path])))
    assert [point.method for point in chart.means] == ["sc-dn"]
    assert chart.fronts == []
    assert sorted(point.status for point in chart.runs) == [
        "diverged", "done", "done", "done", "unfinished",
    ]  # fmt: skip
    assert chart.notes == ["Without a mean, since a run of it is not done: gsp, zoc."]


def _end_as_mission(folder, prices=None, **mission):
    lines = [json.loads(line) for line in (folder / EVENTS).read_text().splitlines()]
    lines[-1]["mission"] = mission
    if prices:
        lines[0]["scenario"]["prices"] = prices
    (folder / EVENTS).write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_the_bound_is_one_that_no_run_is_below(tmp_path):
    for seed, bound in ((0, 30.0), (1, 20.0)):
        write_run(tmp_path / str(seed), "mission", seed)
        _end_as_mission(tmp_path / str(seed), priced_j=40.0, bound_j=bound)
    (bound,) = pareto_chart(Study.from_runs(find_runs([tmp_path]))).bounds
    assert (bound.method, bound.joules) == ("mission", 20.0)


def test_a_bound_in_priced_joules_is_not_drawn_among_joules(tmp_path):
    write_run(tmp_path / "0", "mission", 0)
    _end_as_mission(tmp_path / "0", {"device": 1, "server": 0.01}, priced_j=40.0, bound_j=30.0)
    chart = pareto_chart(Study.from_runs(find_runs([tmp_path])))
    assert chart.bounds == []
    assert chart.notes == ["The bound of mission is not drawn: it is in priced joules."]


def test_networks_have_a_front_each_and_differ_in_shape(tmp_path):
    for network in ("farm", "fire"):
        for method in ("sc-dn", "gsp"):
            folder = write_run(tmp_path / network / method, method, 0)
            lines = (folder / EVENTS).read_text()
            lines = lines.replace('"name": "synthetic"', f'"name": "{network}"', 1)
            far = "[100, 100, 80]" if network == "farm" else "[900, 900, 80]"
            (folder / EVENTS).write_text(lines.replace("[100, 100, 80]", far, 1))
    study = Study.from_runs(find_runs([tmp_path]))
    chart = pareto_chart(study)
    assert chart.settings == ["farm", "fire"]
    assert [(f.cost, f.setting) for f in chart.fronts] == [
        ("joules", "farm"), ("seconds", "farm"), ("joules", "fire"), ("seconds", "fire"),
    ]  # fmt: skip
    drawn = picture(figure_drawers(study)["pareto_joules"](), "svg").decode()
    assert "farm" in drawn
    assert "fire" in drawn


def test_variants_share_a_colour_only_where_colours_run_out():
    few = [f"{m}, lr={n}" for m in ("sc-dn", "gsp") for n in range(4)]
    assert len({style.colour for style in method_styles(few).values()}) == 8
    many = [f"{m}, lr={n}" for m in ("sc-dn", "gsp", "vafl") for n in range(4)]
    styles = method_styles(many)
    assert {styles[name].colour for name in many if name.startswith("gsp")} == {"method1"}


def test_pictures_and_the_report_show_both_costs(tmp_path):
    study = write_study(tmp_path, targets=["top3=82"])
    page = report_page(study)
    for cost in ("joules", "seconds"):
        drawn = picture(figure_drawers(study)[f"pareto_{cost}"](), "svg").decode()
        assert "target 82" in drawn
        assert "Pareto front of the means" in drawn
        assert f'data-plot="pareto_{cost}"' in page


@pytest.fixture
def client(tmp_path):
    for method in ("sc-dn", "vafl"):
        for seed in (0, 1):
            write_run(tmp_path / "two" / method / f"seed-{seed}", method, seed, targets=["top3=82"])
    with (
        serving(StudioSettings(tmp_path)) as address,
        httpx.Client(base_url=address, timeout=60) as opened,
    ):
        yield opened


def _table(client, name, **more):
    reply = client.get("/api/study.csv", params={"run": "two", "table": name, **more})
    assert reply.status_code == 200, reply.text
    assert f'filename="{name}.csv"' in reply.headers["content-disposition"]
    return list(csv.DictReader(io.StringIO(reply.text)))


def test_every_table_is_saved(client):
    summary = client.get("/api/study", params={"run": "two"}).json()
    assert summary["run_names"] == [f"two/{m}/seed-{s}" for m in ("sc-dn", "vafl") for s in (0, 1)]
    assert summary["tables"] == ["rounds", "targets", "statistics", "ledger", "pareto"]
    targets = _table(client, "targets")
    assert [(row["method"], row["seed"], row["reached"]) for row in targets] == [
        (run["method"], str(run["seed"]), str(run["targets"][0]["reached"]))
        for run in summary["runs"]
    ]
    first = summary["runs"][0]["targets"][0]
    assert targets[0]["round"] == str(first["round"] + 1)  # people count from 1
    assert float(targets[0]["joules"]) == pytest.approx(first["joules"])
    assert targets[-1]["round"] == ""  # not reached
    statistics = _table(client, "statistics", reference="vafl")
    assert {row["reference"] for row in statistics} == {"vafl"}
    assert len(statistics) == sum(len(measure["values"]) for measure in summary["measures"])
    ledger = {row["method"]: row for row in _table(client, "ledger")}
    assert float(ledger["vafl"]["total_j"]) == pytest.approx(summary["ledger"]["totals"][1]["mean"])
    assert [row["seed"] for row in _table(client, "pareto")] == ["0", "1", "0", "1", "", ""]
    assert len(_table(client, "rounds")) == 4 * 12
    other = _table(client, "targets", target=["top3=70", "top1=30"])
    assert {row["target"] for row in other} == {"top3=70", "top1=30"}


def test_figures_are_saved_as_png_and_svg_and_wrong_names_are_refused(client):
    figures = client.get("/api/study", params={"run": "two"}).json()["figures"]
    assert figures[:2] == ["pareto_joules", "pareto_seconds"]
    for figure in figures:
        params = {"run": "two", "figure": figure, "log": True}
        assert client.get("/api/study.svg", params=params).text.startswith("<?xml")
    one = {"run": "two", "figure": "pareto_joules"}
    plain, log = (client.get("/api/study.png", params=one | {"log": log}).content
                  for log in (False, True))  # fmt: skip
    assert plain.startswith(b"\x89PNG")
    assert plain != log
    for path, params, allowed in (
        ("/api/study.csv", {"table": "x"}, "must be one of rounds, targets"),
        ("/api/study.svg", {"figure": "x"}, "must be one of pareto_joules"),
    ):
        reply = client.get(path, params={"run": "two", **params})
        assert reply.status_code == 422
        (fault,) = reply.json()["faults"]
        assert fault["allowed"].startswith(allowed)
    assert client.get("/api/study.svg", params={"run": "nowhere"}).status_code == 404
