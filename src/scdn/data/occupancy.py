"""Room occupancy: seven sensor nodes in one room tell how many people are in it.

The table is part of the package, with its own licence: see `room_occupancy/README.md`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from scdn.data.dataset import Dataset
from scdn.data.store import check_sha256

if TYPE_CHECKING:
    import pandas as pd

FILE = Path(__file__).parent / "room_occupancy" / "room-occupancy.csv.gz"
SHA256 = "496edd6ea9891b9ec286e663d00611702791f65873b09e166b6ca2e77606501e"
LABEL = "Room_Occupancy_Count"
NODES = ("S1", "S2", "S3", "S4", "S5", "S6", "S7")

# Neighbouring rows are alike, so that whole days are tested on. These two have all classes among
# them, as has 22 December, and on the other days the room is empty.
TEST_DAYS = ("2017-12-23", "2018-01-10")

_ATTRIBUTION = "A. P. Singh and S. Chaudhari, UCI Machine Learning Repository, 2018, CC BY 4.0"


def read_rows() -> pd.DataFrame:
    """Return the whole table in order of time, with the columns `Date` and `Time`."""
    import pandas as pd  # takes a while

    check_sha256(FILE, SHA256, "install scdn again")
    return pd.read_csv(FILE)


def load() -> Dataset:
    """Return the data set: a party for each node, and the test days' rows to test on."""
    rows = read_rows()
    return from_rows(rows, rows["Date"].isin(TEST_DAYS), "test on 23 December and 10 January")


def from_rows(rows: pd.DataFrame, is_test: pd.Series[bool], about: str) -> Dataset:
    """Return a data set of the table's rows; `about` says which of them are tested on."""
    parties = {
        node: tuple(name for name in rows.columns if name.startswith(f"{node}_")) for node in NODES
    }
    features = tuple(name for names in parties.values() for name in names)
    table = rows[list(features)].to_numpy(np.float64)
    counts, test = rows[LABEL].to_numpy(np.int64), is_test.to_numpy()
    return Dataset(
        name="occupancy",
        train={"table": table[~test]},
        train_y=counts[~test],
        test={"table": table[test]},
        test_y=counts[test],
        classes=("0", "1", "2", "3"),
        features=features,
        parties=parties,
        provenance=f"Room Occupancy Estimation ({_ATTRIBUTION}), {len(rows):,} rows, {about}",
    )
