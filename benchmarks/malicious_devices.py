"""Let one of six devices behave maliciously for twenty rounds, for each behaviour of a catalogue.

    python benchmarks/malicious_devices.py
    python benchmarks/malicious_devices.py --only "scaled by 10,noise later"

The catalogue is that of the tests (`tests/malicious_behaviours.py`). Devices are in this process;
the server is the one of `scdn federate`, and all messages are written and read as bytes. Each run
is compared with one of the five honest devices alone, with the same files of features. The table
says how many points of each score the malicious device cost (below 0: the run was better), in how
many rounds it was left out, after how many rounds it was gone, how often an honest device was left
out, how many lines of the log are about it, and the seconds on a clock that only waiting moves.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from federation_helpers import export_features, network_of, server, small_scenario
from malicious_behaviours import BEHAVIOURS, LIFECYCLES, TIMEOUT_S, behave

from scdn.federation.federated_server import FederatedServer

SIX = tuple(f"device-{n}" for n in range(1, 7))
SCORES = ("top1", "top3")
SETTINGS = ("fleet.0.count=6", "learning.rounds=20", 'learning.precision="float32"')
HEAD = (*SCORES, "left out", "gone after", "honest left out", "log lines", "clock s", "behaviour")


def federate(
    files: Path, out: Path, settings: tuple[str, ...], names: tuple[str, ...], how: str = ""
) -> tuple[Any, list[str], float]:
    """Return a run whose last device behaves so, its log, and the seconds on its clock."""
    network, log = network_of(files, *names), []
    labels = server(files, out, network).labels
    federation = FederatedServer(labels, network, out, len(names), 0.5, TIMEOUT_S, log.append)
    messenger = federation._membership.messenger
    messenger.clock, messenger.sleep = lambda: network.now, network.sleep
    behaviour, lifecycle = BEHAVIOURS.get(how), LIFECYCLES.get(how)

    def begin(round_: int) -> None:
        if behaviour is not None and behaviour.start == round_ + 1:
            behave(network, len(names), behaviour)
        if lifecycle is not None:
            lifecycle(network, files, round_)

    begin(-1)
    run = federation.run(small_scenario(*settings), on_round=lambda event, _: begin(event["round"]))
    return run, log, network.now


def compare(files: Path, folder: Path, settings: tuple[str, ...], hows: list[str]) -> list[str]:
    """Print a line for each behaviour; return those that cost too much, or that nobody named."""
    honest, _, _ = federate(files, folder / "honest", settings, SIX[:5])
    expected = honest.end["metrics"]
    print(f"five honest devices: {', '.join(f'{s} {expected[s]:.1f} %' for s in SCORES)}")
    print("  ".join(f"{text:>9}" for text in HEAD), flush=True)
    failed = []
    for number, how in enumerate(["(none)", *hows]):
        out = folder / str(number)
        try:
            run, log, clock_s = federate(files, out, settings, SIX, how)
        except Exception as error:
            print(f"ENDED THE RUN: {how}: {error!r}", flush=True)
            failed.append(how)
            continue
        lost = [expected[score] - run.end["metrics"][score] for score in SCORES]
        left_out = [set(event["federation"]["left_out"]) for event in run.rounds]
        gone = [e["round"] + 1 for e in run.rounds if SIX[5] in e["exited"]]
        lines = [line for line in log if not line.startswith(SIX[:5]) and is_about(line)]
        cells = (
            *(f"{points:.1f}" for points in lost),
            sum(bool(names - set(SIX[:5])) for names in left_out),
            gone[0] if gone else "-",
            sum(bool(names & set(SIX[:5])) for names in left_out),
            len(lines),
            f"{clock_s:.0f}",
            how,
        )
        print("  ".join(f"{cell:>9}" for cell in cells), flush=True)
        for line in lines[:2]:
            print(f"{'':>70}{line[:150]}", flush=True)
        whole = run.end["status"] == "done" and len(run.rounds) == 20
        if not whole or (number and (max(lost) > 2.0 or not lines)):
            failed.append(how)
    return failed


def is_about(line: str) -> bool:
    """Return whether a line of the log says more than that a device has connected."""
    general = ("waiting for", "waited", "rows are shared", ": connected,")
    return not any(text in line for text in general)


def main() -> int:
    """Try the catalogue; return 1 if a behaviour costs more than two points, or is not named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="some behaviours, with commas between them")
    parser.add_argument("--set", action="append", default=[], help="a setting of the scenario")
    options = parser.parse_args()
    hows = options.only.split(",") if options.only else [*BEHAVIOURS, *LIFECYCLES]
    settings = (*SETTINGS, *options.set)
    with tempfile.TemporaryDirectory(prefix="scdn-") as temporary:
        files = export_features(Path(temporary) / "files", *settings)
        failed = compare(files, Path(temporary), settings, hows)
    print(f"{len(hows)} behaviours; failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
