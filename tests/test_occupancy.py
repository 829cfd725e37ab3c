"""The shipped data set `occupancy`: its rows, a party for each node, macro-F1 and linear models."""

from __future__ import annotations

import gzip
from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from scdn.check.metric_checker import check_metric
from scdn.cli import main
from scdn.data import catalog, fetch, load, occupancy, store
from scdn.errors import InputError
from scdn.learning.feature_split import newcomer_view, split_features
from scdn.learning.fusion_model import FusionModel
from scdn.learning.joint_training import train_jointly
from scdn.learning.metrics import METRICS, trivial_scores
from scdn.learning.tensors import TensorOptions
from scdn.record.headline_metric import headline
from scdn.record.run_reader import read_run
from scdn.report.study import Study
from scdn.scenario import make_scenario
from scdn.simulation.baselines import baselines
from scdn.simulation.run_data import RunData
from scdn.simulation.runner import create_simulation, resume, run
from scdn.studio.event_streams import RoundPoints
from scdn.studio.run_folders import RunsFolder
from scdn.studio.run_index import RunIndex
from scdn.world.churn import churn_trace

ORIGINAL = ROOT.parent / "shared" / "data" / "room-occupancy.csv"
MACRO_F1 = METRICS.get("macro_f1")
NODES = occupancy.NODES
LINEAR = {"model": "linear", "fusion_head": "linear"}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("SCDN_DATA", str(folder))
    return folder


def room(names=NODES, lifetime_rounds=1e9, further=None, **learning):
    """Return a scenario of listed devices that are all in reach."""
    devices = [
        {"id": name, "position_m": [2 + 2 * n, 6, 1], "weibull_scale_rounds": lifetime_rounds}
        for n, name in enumerate(names)
    ]
    settings = {"dataset": "occupancy", "split": "parties", "rounds": 3, "sample_rows": 256}
    return make_scenario(
        {
            "name": "room",
            "region_m": [20, 12, 3],
            "server": {"position_m": [10, 6, 1]},
            "max_delay_s": 1.0,
            "devices": devices,
            "churn": {"entry_rate": 0},
            "learning": settings | LINEAR | learning,
            **(further or {}),
        }
    )


def node_of(view):
    """Return the node whose columns a view has."""
    data = load("occupancy")
    names = {data.features[column] for column in view.held_columns}
    (node,) = (node for node, columns in data.parties.items() if set(columns) == names)
    return node


# --- the table ------------------------------------------------------------------------------------


@pytest.mark.skipif(
    not ORIGINAL.exists(), reason=f"{ORIGINAL.name} is absent: NOT compared with it"
)
def test_the_shipped_table_is_the_original():
    assert gzip.decompress(occupancy.FILE.read_bytes()) == ORIGINAL.read_bytes()


def test_the_data_set_is_there_without_fetching_or_storing(cache):
    data = load("occupancy")
    assert data.task == "classification"
    assert not cache.exists()
    assert "occupancy" in catalog.loadable_names()
    assert "mnist" not in catalog.loadable_names()


def test_it_is_tested_on_whole_days_that_nobody_trains_on():
    """Counts by day and by class are those of the data's own description."""
    rows, data = occupancy.read_rows(), load("occupancy")
    by_day = rows["Date"].value_counts()
    assert len(data.test_y) == sum(by_day[day] for day in occupancy.TEST_DAYS) == 2779 + 997
    assert len(data.train_y) == len(rows) - len(data.test_y) == 6353
    targets = np.concatenate([data.train_y, data.test_y])
    assert np.bincount(targets).tolist() == [8228, 459, 748, 694]
    assert set(data.train_y) == set(data.test_y) == {0, 1, 2, 3}


def test_every_column_belongs_to_the_node_that_measured_it():
    data = load("occupancy")
    assert tuple(data.parties) == NODES
    owners = {column: node for node, columns in data.parties.items() for column in columns}
    assert list(owners) == list(data.features)
    assert all(column.startswith(f"{node}_") for column, node in owners.items())
    assert occupancy.LABEL not in data.features


def test_scaling_uses_training_rows_only():
    data = load("occupancy")
    scaled = data.scaled("standard", np.float64)
    np.testing.assert_allclose(scaled.train["table"].mean(0), 0, atol=1e-9)
    np.testing.assert_allclose(scaled.train["table"].std(0), 1, atol=1e-9)
    other_test = replace(data, test={"table": data.test["table"] * 1e6})
    again = other_test.scaled("standard", np.float64)
    np.testing.assert_array_equal(scaled.train["table"], again.train["table"])


def test_a_damaged_table_is_refused(tmp_path, monkeypatch):
    damaged = tmp_path / "damaged.csv.gz"
    damaged.write_bytes(occupancy.FILE.read_bytes()[:-1])
    monkeypatch.setattr(occupancy, "FILE", damaged)
    with pytest.raises(InputError, match="install scdn again"):
        load("occupancy")


def test_authors_and_licence_are_named_where_the_table_is_used():
    texts = [(occupancy.FILE.parent / "README.md").read_text(), load("occupancy").provenance]
    texts.append((ROOT / "docs" / "data.md").read_text())
    for text in texts:
        assert all(part in text for part in ("A. P. Singh", "S. Chaudhari", "UCI", "CC BY 4.0"))


def test_a_users_own_data_set_of_that_name_is_not_mistaken_for_it(tmp_path):
    with pytest.raises(InputError, match="is part of scdn, use it as it is"):
        fetch("occupancy")
    with pytest.raises(InputError, match="choose another name"):
        catalog.add("occupancy", tmp_path)
    path = store.put(load("occupancy"))  # as an earlier version stored a user's own
    with pytest.raises(InputError, match=path.name):
        load("occupancy")


def test_commands_list_and_describe_it(capsys):
    assert main(["data", "list"]) == 0
    assert "occupancy      shipped  10,129 rows" in capsys.readouterr().out
    assert main(["data", "check", "occupancy"]) == 0
    output = capsys.readouterr().out
    assert "6353 + 3776 rows" in output
    assert "macro_f1 0.2085" in output  # predicting an empty room
    assert "S5: S5_CO2, S5_CO2_Slope" in output


# --- a party for each node ------------------------------------------------------------------------


@pytest.mark.parametrize("names", [NODES, "abcdefg", NODES[::-1]])
def test_devices_get_the_columns_of_the_node_of_their_name_or_of_their_order(names):
    scenario = room(names)
    views = RunData.from_scenario(scenario, churn_trace(scenario)).views
    nodes = {name: node_of(view) for name, view in views.items()}
    assert nodes == dict(zip(names, NODES if names == "abcdefg" else names, strict=True))


def test_a_node_without_a_device_is_absent():
    data = load("occupancy")
    present = [name for name in NODES if name != "S3"]
    views = split_features(data, "parties", 6, 0, present)
    assert [node_of(view) for view in views] == present
    with pytest.raises(InputError, match=r"got 6, the data names 7: .* where some are absent"):
        split_features(data, "parties", 6, 0, list("abcdef"))
    with pytest.raises(InputError, match="name all devices so, or none"):
        split_features(data, "parties", 2, 0, ["S1", "d1"])


def test_a_device_that_enters_later_has_a_nodes_columns():
    data = load("occupancy")
    drawn = {node_of(newcomer_view(data, "parties", 7, 0, f"n{n}")) for n in range(60)}
    assert drawn == set(NODES)
    assert node_of(newcomer_view(data, "parties", 6, 0, "S3")) == "S3"  # it comes late


def test_the_centralised_model_has_the_columns_of_the_parties_that_are_there(monkeypatch):
    trained = []  # the last of them is centralised
    monkeypatch.setattr(
        "scdn.simulation.baselines.train_jointly", lambda model, *_: trained.append(model) or 0.0
    )
    baselines(room(NODES[1:]))
    data, views = load("occupancy"), trained[-1].stacks[0].views
    held = views.columns[0][views.held[0] > 0].tolist()
    assert [data.features[column] for column in held] == [
        name for name in data.features if not name.startswith("S1_")
    ]


# --- macro-F1 -------------------------------------------------------------------------------------


@st.composite
def predictions(draw):
    classes, rows = draw(st.integers(2, 5)), draw(st.integers(1, 30))
    labels = st.lists(st.integers(0, classes - 1), min_size=rows, max_size=rows)
    return classes, torch.tensor(draw(labels)), torch.tensor(draw(labels))


def score(classes, targets, predicted):
    return MACRO_F1.compute(torch.nn.functional.one_hot(predicted, classes).float(), targets)


@given(predictions())
def test_macro_f1_is_that_of_scikit_learn(drawn):
    """Without a list of classes, scikit-learn counts those that occur among either."""
    classes, targets, predicted = drawn
    expected = f1_score(targets.numpy(), predicted.numpy(), average="macro", zero_division=0)
    assert score(*drawn) == pytest.approx(expected, abs=1e-12)
    assert score(classes, targets, targets) == 1.0
    assert score(classes + 3, targets, predicted) == score(*drawn)  # nobody has the new classes
    renamed = torch.arange(classes).flip(0)
    assert score(classes, renamed[targets], renamed[predicted]) == pytest.approx(score(*drawn))


def test_macro_f1_by_hand():
    """Class 0: precision 2/3, recall 1; class 1: precision 1, recall 1/2; class 2 never occurs."""
    targets, predicted = torch.tensor([0, 0, 1, 1]), torch.tensor([0, 0, 0, 1])
    assert score(3, targets, predicted) == pytest.approx((4 / 5 + 2 / 3) / 2)


def test_macro_f1_passes_the_checks_of_metrics_and_needs_classes():
    assert check_metric(MACRO_F1, "classification") == []
    with pytest.raises(InputError, match="got a regression, needs classes"):
        MACRO_F1.compute(torch.zeros(3, 1), torch.zeros(3))


def test_the_trivial_predictor_sees_an_empty_room():
    """F1 of the majority class alone is 2p/(1 + p), the other three are 0."""
    data = load("occupancy")
    share = float(np.mean(data.test_y == 0))
    expected = 2 * share / (1 + share) / 4
    assert trivial_scores(data, [MACRO_F1])["macro_f1"] == pytest.approx(expected)


# --- runs -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    scenario = room(further={"targets": ["macro_f1=0.5", "macro_f1=1"]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "scdn.simulation.baselines.train_jointly", lambda model, *_: train_jointly(model, 1)
        )
        return run(scenario, tmp_path_factory.mktemp("runs") / "run", baselines=baselines)


def test_macro_f1_is_the_headline_of_a_run(recorded):
    assert recorded.start["score"] == {"metric": "macro_f1", "higher_is_better": True, "unit": ""}
    shown = headline(recorded.start, recorded.rounds[-1]["metrics"])
    assert (shown.axis_label, shown.higher_is_better) == ("Macro-F1", True)
    assert shown.format(0.86574) == "macro-F1 0.8657"
    last = recorded.rounds[-1]["metrics"]["macro_f1"]
    assert recorded.start["baselines"]["trivial"]["macro_f1"] < 0.5 < last <= 1


def test_baselines_targets_and_comparisons_take_more_macro_f1_as_better(recorded):
    study = Study.from_runs([recorded])
    assert set(study.baselines()) == {"trivial", "best party", "centralised"}
    measures = {measure.key: measure for measure in study.measures()}
    assert measures["macro_f1"].better == 1
    reached = {target["value"]: target["reached"] for target in recorded.end["targets"]}
    assert reached == {0.5: True, 1.0: False}
    assert "Energy to macro-F1 0.5" in {measure.label for measure in study.measures()}


def test_reports_and_the_studio_show_it(recorded, tmp_path):
    page = tmp_path / "report.html"
    assert main(["report", str(recorded.folder), "-o", str(page)]) == 0
    assert "Macro-F1 over rounds" in page.read_text()
    (listed,) = RunIndex(RunsFolder.at(recorded.folder)).runs()
    assert listed.score.startswith("macro-F1 0.")
    curve = RoundPoints(recorded.folder)
    curve.refresh()
    values = [event["metrics"]["macro_f1"] for event in recorded.rounds]
    assert [point["macro_f1"] for point in curve.points] == values


def test_a_target_of_macro_f1_is_checked(tmp_path):
    with pytest.raises(InputError, match="macro_f1 must be in 0 … 1"):
        make_scenario({"targets": ["macro_f1=86"]})
    fetch("digits")
    asked = {"targets": ["mse=0.5"]}
    other = room("ab", further=asked, dataset="digits", split="random")
    with pytest.raises(InputError, match="mse is not recorded"):
        run(other, tmp_path / "run")


def test_the_scenarios_own_metrics_come_first(tmp_path):
    chosen = run(room(metrics=["top1"], rounds=1), tmp_path / "run")
    assert [entry["metric"] for entry in chosen.start["metrics"]] == ["top1", "macro_f1"]
    assert chosen.start["score"]["metric"] == "top1"
    assert "macro_f1" in chosen.rounds[0]["metrics"]


def test_nodes_leave_and_others_enter(tmp_path):
    """Who enters brings some node's columns, and what left is judged by macro-F1 too."""
    late = {"fleet": [{"kind": "late", "count": 0}], "churn": {"entry_rate": 1.0}}
    scenario = room("abcdefg", 5.0, late, rounds=6)
    seen = run(scenario, tmp_path / "run")
    entered, exited = ({n for e in seen.rounds for n in e[key]} for key in ("entered", "exited"))
    assert entered
    assert exited
    data = RunData.from_scenario(scenario, churn_trace(scenario))
    assert {node_of(data.newcomer_view(name)) for name in entered} <= set(NODES)
    future = [e["metrics"]["future"] for e in seen.rounds if e["metrics"].get("future")]
    assert future
    assert all(0 < scores["macro_f1"] <= 1 for scores in future)
    assert resume(tmp_path / "run").end == read_run(tmp_path / "run").end


# --- linear models --------------------------------------------------------------------------------


def test_linear_parties_with_a_linear_server_are_one_linear_model():
    """The outputs are an affine function of all columns: differences add up."""
    model = create_simulation(room(precision="float64"), ()).model
    fusion = model.server.fusion
    (stack,) = model.stacks  # nodes of one to three columns are padded to the same structure
    draw = torch.Generator().manual_seed(0)
    trained = {
        name: torch.randn(tensor.shape, generator=draw, dtype=torch.float64)
        for name, tensor in stack.parameters.items()
    }
    stack = replace(stack, parameters=trained)
    one, other = torch.randn(2, 5, 16, generator=draw, dtype=torch.float64)

    def outputs(rows):
        data = replace(model.data, inputs={"train": {"table": rows}})
        embeddings = dict(
            zip(stack.names, stack.embed_rows(data, "train", torch.arange(5)), strict=True)
        )
        return fusion.outputs(torch.stack([embeddings[name] for name in fusion.members]))

    both, zero = outputs(one + other), outputs(torch.zeros_like(one))
    torch.testing.assert_close(both + zero, outputs(one) + outputs(other))
    assert not torch.allclose(both, zero)


def test_a_linear_server_adds_up_embeddings_at_first():
    draw = torch.Generator().manual_seed(0)
    embeddings = torch.randn(3, 5, 4, generator=draw)
    fusion = FusionModel.create("ab", 4, TensorOptions(), 0, 4, torch.nn.Sequential())
    torch.testing.assert_close(fusion.outputs(embeddings[:2]), embeddings[:2].sum(0))
    grown = fusion.with_members("c")
    torch.testing.assert_close(grown.outputs(embeddings), embeddings.sum(0))
    assert grown.connections == 3 * 4 * 4 + 4


def test_a_linear_party_that_enters_changes_nothing_before_it_has_trained():
    model = create_simulation(room(NODES[:6]), ()).model
    before = model.metrics()["test_loss"]
    data = load("occupancy")
    model.add_parties({"S7": newcomer_view(data, "parties", 6, 0, "S7")})
    assert model.metrics()["test_loss"] == before
    assert before == pytest.approx(np.log(4))  # four classes, and nothing known about them


def test_connections_of_a_linear_party_are_its_weights_and_biases():
    model = create_simulation(room(), ()).model
    columns = {node: len(names) for node, names in load("occupancy").parties.items()}
    assert model.connections == {node: 4 * (count + 1) for node, count in columns.items()}
