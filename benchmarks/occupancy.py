"""Count the people in a room: seven sensor nodes together, each of them absent, and centralised.

    python benchmarks/occupancy.py run docs/results/occupancy.jsonl --seeds 5
    python benchmarks/occupancy.py run docs/results/occupancy-tuning.jsonl --tune --seeds 3
    python benchmarks/occupancy.py table docs/results/occupancy.jsonl

The first trains on five days and scores on 23 December and 10 January. The second compares settings
without looking at those days: it holds out parts of the training days. 22 December is the only one
of them with people in the room, so that no whole day can be held out. Instead its morning or its
afternoon is, or every third hour, each time with a day on which the room is empty.

`run` appends to the file and skips what is in it.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from result_file import Record, argument_parser, mean_text, read, run_missing

from scdn.data import Dataset, load, occupancy, store
from scdn.file_io import read_document
from scdn.scenario import Scenario, make_scenario
from scdn.simulation.baselines import centralised
from scdn.simulation.run_data import RunData
from scdn.simulation.runner import run
from scdn.world.churn import churn_trace

POSITIONS_M = {  # all are in reach from everywhere in the room
    "S1": (3, 3, 1),
    "S2": (3, 9, 1),
    "S3": (17, 3, 1),
    "S4": (17, 9, 1),
    "S5": (10, 6, 1),
    "S6": (1, 6, 2),
    "S7": (19, 6, 2),
}
LINEAR = {"model": "linear", "fusion_head": "linear"}
SETTINGS = {  # of learning; all others have their defaults
    "perceptrons, batches of 512": {"batch_size": 512},
    "linear parties, batches of 512": {"model": "linear", "batch_size": 512},
    "linear server, batches of 512": {"fusion_head": "linear", "batch_size": 512},
    "linear, batches of 64": LINEAR,
    "linear, batches of 256": LINEAR | {"batch_size": 256},
    "linear, batches of 512": LINEAR | {"batch_size": 512},
}
CHOSEN = "linear, batches of 512"  # has the best mean of the parts held out for tuning
FOLDS = ("hours 0", "hours 1", "hours 2", "morning", "afternoon")
TEST = "test days"
TRAININGS = ("federated", "building", "centralised")
BUILDING = Path(__file__).parents[1] / "examples" / "building.toml"
KEY = ("rows", "settings", "training", "absent", "seed")


def scenario_of(dataset: str, settings: str, absent: str | None, seed: int) -> Scenario:
    """Return the scenario of a room in which devices neither come nor leave."""
    devices = [
        {"id": node, "position_m": position, "weibull_scale_rounds": 1e9}
        for node, position in POSITIONS_M.items()
        if node != absent
    ]
    learning = {"dataset": dataset, "split": "parties", "rounds": 30, "metrics": ["macro_f1"]}
    table = {
        "name": "room",
        "seed": seed,
        "region_m": (20, 12, 3),
        "server": {"position_m": (10, 6, 1)},
        "max_delay_s": 1.0,
        "churn": {"entry_rate": 0},
        "learning": learning | SETTINGS[settings],
        "devices": devices,
    }
    return make_scenario(table, "room")


def building_scenario(absent: str | None, seed: int) -> Scenario:
    """Return the network `building`, as it is shipped, with a node absent."""
    table = read_document(BUILDING)
    devices = [device for device in table["devices"] if device["id"] != absent]
    return make_scenario({**table, "seed": seed, "devices": devices}, "building")


def train(rows: str, settings: str, training: str, absent: str | None, seed: int) -> Record:
    """Train once, by SC-DN or centralised; return the scores on rows not trained on."""
    record: Record = dict(zip(KEY, (rows, settings, training, absent, seed), strict=True))
    with tempfile.TemporaryDirectory() as folder:
        if training == "building":
            scenario = building_scenario(absent, seed)
        else:
            scenario = scenario_of(_dataset(rows, Path(folder)), settings, absent, seed)
        if training == "centralised":
            data = RunData.from_scenario(scenario, churn_trace(scenario))
            scores = centralised(data) or {"macro_f1": 0.0}  # it diverged
            return record | {"macro_f1": [round(scores["macro_f1"], 5)]}
        recorded = run(scenario, Path(folder) / "run")
    events = recorded.rounds
    return record | {
        "macro_f1": [round(event["metrics"]["macro_f1"], 5) for event in events],
        "fewest_active": min(len(event["active"]) for event in events),
    }


def _dataset(rows: str, folder: Path) -> str:
    """Return the name of the data set that is tested on these rows; store a part for tuning."""
    if rows == TEST:
        return "occupancy"
    name = f"occupancy-{rows.replace(' ', '-')}"
    os.environ["SCDN_DATA"] = str(folder)
    store.put(replace(tuning_part(rows), name=name))
    return name


def tuning_part(rows: str) -> Dataset:
    """Return the training days alone, tested on a part of them."""
    table = occupancy.read_rows()
    table = table[~table["Date"].isin(occupancy.TEST_DAYS)].reset_index(drop=True)
    occupied, hour = table["Date"] == "2017-12-22", table["Time"].str[:2].astype(int)
    part, empty_day = {
        "morning": (hour < 15, "2017-12-24"),
        "afternoon": (hour >= 15, "2017-12-25"),
        "hours 0": (hour % 3 == 0, "2017-12-24"),
        "hours 1": (hour % 3 == 1, "2017-12-25"),
        "hours 2": (hour % 3 == 2, "2017-12-26"),
    }[rows]
    return occupancy.from_rows(table, (occupied & part) | (table["Date"] == empty_day), rows)


def logistic_regression(absent: str | None) -> float:
    """Return the macro-F1 of scikit-learn's logistic regression on the test days."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import f1_score

    data = load("occupancy").scaled("standard")
    held = [not name.startswith(f"{absent}_") for name in data.features]
    model = LogisticRegression(max_iter=5000).fit(data.train["table"][:, held], data.train_y)
    predicted = model.predict(data.test["table"][:, held])
    return float(f1_score(data.test_y, predicted, average="macro"))


def test_rows(records: Sequence[Record]) -> Iterator[str]:
    """Yield the table of the test days: all nodes, and each of them absent.

    The difference is that of the second column to the better of the two models that hold all
    columns.
    """
    yield "| absent | federated | in `building` | centralised | logistic regression | difference |"
    yield "|---|---:|---:|---:|---:|---:|"
    for absent in (None, *occupancy.NODES):
        federated, building, together = (
            [
                record["macro_f1"][-1]
                for record in records
                if tuple(record[name] for name in KEY[:-1]) == (TEST, CHOSEN, training, absent)
            ]
            for training in TRAININGS
        )
        if federated and building and together:
            regression = logistic_regression(absent)
            best = max(statistics.mean(together), regression)
            yield (
                f"| {absent or 'nobody'} | {mean_text(federated, 3)} | {mean_text(building, 3)} "
                f"| {mean_text(together, 3)} | {regression:.3f} "
                f"| {statistics.mean(federated) - best:+.3f} |"
            )


def tuning_rows(records: Sequence[Record]) -> Iterator[str]:
    """Yield the table of the parts that are held out for tuning, in the last round."""
    yield "| settings | " + " | ".join(FOLDS) + " | mean |"
    yield "|---|" + "---:|" * (len(FOLDS) + 1)
    for name in SETTINGS:
        scores = [
            [r["macro_f1"][-1] for r in records if (r["rows"], r["settings"]) == (fold, name)]
            for fold in FOLDS
        ]
        if all(scores):
            mean = statistics.mean(map(statistics.mean, scores))
            cells = " | ".join(mean_text(values, 3) for values in scores)
            yield f"| {name} | {cells} | {mean:.3f} |"


def rows(records: Sequence[Record]) -> Iterator[str]:
    """Yield the table of the rows that were tested on."""
    of_test = any(record["rows"] == TEST for record in records)
    yield from test_rows(records) if of_test else tuning_rows(records)


def main() -> None:
    """Train what the file does not have, and print its table."""
    parser = argument_parser(__doc__, seeds=5)
    parser.add_argument("--tune", action="store_true", help="hold out parts of the training days")
    args = parser.parse_args()
    seeds = range(args.seeds)
    wanted = [*product((TEST,), (CHOSEN,), TRAININGS, (None, *occupancy.NODES), seeds)]
    if args.tune:
        wanted = [*product(FOLDS, SETTINGS, ("federated",), (None,), seeds)]
    if args.action == "run":
        run_missing(args.file, train, wanted, KEY, args.jobs)
    print("\n".join(rows(read(args.file))))


if __name__ == "__main__":
    main()
