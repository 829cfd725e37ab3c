"""Let one of six devices behave maliciously for twenty rounds, for each behaviour of a catalogue.

    python benchmarks/malicious_devices.py
    python benchmarks/malicious_devices.py --only "scaled by 10,noise later" --seeds 5,6,7
    python benchmarks/malicious_devices.py --processes

The catalogue is that of the tests (`tests/malicious_behaviours.py`). Devices are in this process;
the server is the one of `scdn federate`, and all messages are written and read as bytes. With
`--processes`, SuperLink, ServerApp and devices are processes with TLS and keys, and some behaviours
are tried; the last device is this program, which changes what `scdn` would reply. Each run
is compared with one of the five honest devices alone, with the same files of features. The table
says how many points of each score the malicious device cost (below 0: the run was better), in how
many rounds it was left out, after how many rounds it was gone, how often an honest device was left
out, how many lines of the log are about it, and the seconds on a clock that only waiting moves.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import federation as processes
from federation_helpers import export_features, network_of, server, small_scenario
from malicious_behaviours import BEHAVIOURS, Liar, behave
from malicious_lifecycles import CONTROLS, INDISTINGUISHABLE, LIFECYCLES, TIMEOUT_S

from scdn.federation.device_client import DeviceClient
from scdn.federation.federated_server import FederatedServer
from scdn.federation.wire_format import decode

SIX = tuple(f"device-{n}" for n in range(1, 7))
SCORES = ("top1", "top3")
SETTINGS = ("fleet.0.count=6", "learning.rounds=20", 'learning.precision="float32"')
MOST_LOST = 2.0  # points of each score, in the mean of the seeds
HEAD = ("top1", "at most", "top3", "at most", "left out", "gone after", "honest out", "log lines",
        "clock s", "behaviour")  # fmt: skip
IN_PROCESSES = (  # one of each kind
    "random_bytes", "huge_figures", "noise later", "negated in drawn alone", "refuses",
    "grows by 1.25 with its model later", "half shuffled in test alone",
    "half_of_another in test alone", "more_ripples later", "scaled by 10",
)  # fmt: skip
Failed = list[str]
Federate = Callable[[Path, Path, tuple[str, ...], tuple[str, ...], str], "Tried"]


class Tried(NamedTuple):
    """A run, and what it did about its last device."""

    run: Any
    log: list[str]
    clock_s: float  # on a clock that only waiting moves

    @property
    def left_out(self) -> int:
        """Return in how many rounds the last device was left out."""
        return sum(bool(names - set(SIX[:5])) for names in self._left_out)

    @property
    def honest_left_out(self) -> int:
        """Return in how many rounds an honest device was left out."""
        return sum(bool(names & set(SIX[:5])) for names in self._left_out)

    @property
    def _left_out(self) -> list[set[str]]:
        return [set(event["federation"]["left_out"]) for event in self.run.rounds]

    @property
    def gone(self) -> str:
        """Return after how many rounds the last device was gone."""
        gone = [event["round"] + 1 for event in self.run.rounds if SIX[5] in event["exited"]]
        return str(gone[0]) if gone else "-"

    @property
    def lines(self) -> list[str]:
        """Return the lines of the log that are about the last device."""
        return [line for line in self.log if not line.startswith(SIX[:5]) and is_about(line)]

    @property
    def is_whole(self) -> bool:
        """Return whether all rounds were recorded."""
        rounds = self.run.scenario["learning"]["rounds"]
        return self.run.end["status"] == "done" and len(self.run.rounds) == rounds


def federate_in_process(
    files: Path, out: Path, settings: tuple[str, ...], names: tuple[str, ...], how: str = ""
) -> Tried:
    """Run a federation whose last device behaves so."""
    network, log = network_of(files, *names), []
    labels = server(files, out, network).labels
    federation = FederatedServer(labels, network, out, len(names), 0.5, TIMEOUT_S, log.append)
    messenger = federation._membership.messenger
    messenger.clock, messenger.sleep = lambda: network.now, network.sleep
    behaviour, lifecycle = BEHAVIOURS.get(how), (LIFECYCLES | CONTROLS).get(how)

    def begin(round_: int) -> None:
        if behaviour is not None and behaviour.start == round_ + 1:
            behave(network, len(names), behaviour)
        if lifecycle is not None:
            lifecycle(network, files, round_)

    begin(-1)
    run = federation.run(small_scenario(*settings), on_round=lambda event, _: begin(event["round"]))
    return Tried(run, log, network.now)


def federate_processes(
    _files: Path, out: Path, settings: tuple[str, ...], names: tuple[str, ...], how: str = ""
) -> Tried:
    """Run a federation of processes whose last device behaves so."""
    instead = {SIX[5]: [sys.executable, __file__, "--device", how]} if how else {}
    scenario, began = small_scenario(*settings), time.monotonic()
    run = processes.federate(scenario, out, 6, names=names, instead=instead).run
    log = [line.partition(" ")[2] for line in (out / "federation.log").read_text().splitlines()]
    return Tried(run, log, time.monotonic() - began)


def run_device(how: str, arguments: list[str]) -> int:
    """Be a device of `scdn` that behaves so."""
    from scdn.cli import main as scdn

    liar, answer = Liar(BEHAVIOURS[how]), DeviceClient.answer

    def lie(device: DeviceClient, raw: bytes) -> bytes:
        reply, round_ = answer(device, raw), decode(raw).fields.get("round", liar.memory["round"])
        if round_ < liar.behaviour.start:
            return reply
        return next(iter(liar.replies(raw, reply)), b"")

    DeviceClient.answer = lie
    return scdn(arguments)


def compare(
    folder: Path, settings: tuple[str, ...], hows: list[str], seeds: list[int], federate: Federate
) -> Failed:
    """Print a line for each behaviour; return those that cost too much, or that nobody named."""
    files, expected = {}, {}
    for seed in seeds:
        with_seed = (*settings, f"seed={seed}")
        files[seed] = export_features(folder / f"files-{seed}", *with_seed)
        honest = federate(files[seed], folder / f"honest-{seed}", with_seed, SIX[:5], "")
        expected[seed] = honest.run.end["metrics"]
        shown = ", ".join(f"{score} {expected[seed][score]:.1f} %" for score in SCORES)
        print(f"seed {seed}, five honest devices: {shown}")
    print("  ".join(f"{text:>9}" for text in HEAD), flush=True)
    failed = []
    controls = CONTROLS if federate is federate_in_process else {}
    for number, how in enumerate(["(none)", *controls, *hows]):
        tried = []
        try:
            for seed in seeds:
                with_seed, out = (*settings, f"seed={seed}"), folder / f"{number}-{seed}"
                tried.append(
                    federate(files[seed], out, with_seed, SIX, "" if how == "(none)" else how)
                )
        except Exception as error:
            print(f"ENDED THE RUN: {how}: {error!r}", flush=True)
            failed.append(how)
            continue
        lost = {
            score: [
                expected[seed][score] - one.run.end["metrics"][score]
                for seed, one in zip(seeds, tried, strict=True)
            ]
            for score in SCORES
        }
        cells = (
            *(f"{points:.1f}" for s in SCORES for points in (fmean(lost[s]), max(lost[s]))),
            *("/".join(str(one.left_out) for one in tried), "/".join(one.gone for one in tried)),
            *(sum(one.honest_left_out for one in tried), min(len(one.lines) for one in tried)),
            *(f"{max(one.clock_s for one in tried):.0f}", how),
        )
        print("  ".join(f"{cell:>9}" for cell in cells), flush=True)
        for line in tried[0].lines[:2]:
            print(f"{'':>20}{line[:150]}", flush=True)
        whole = all(one.is_whole for one in tried)
        named = how in INDISTINGUISHABLE or all(one.lines for one in tried)
        is_control = how == "(none)" or how in CONTROLS
        if not whole or (
            not is_control and (max(map(fmean, lost.values())) > MOST_LOST or not named)
        ):
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
    parser.add_argument("--processes", action="store_true", help="as processes, with TLS and keys")
    parser.add_argument("--seeds", default="5", help="of scenarios, with commas between them")
    options = parser.parse_args()
    hows = [*BEHAVIOURS, *LIFECYCLES] if not options.processes else list(IN_PROCESSES)
    hows = options.only.split(",") if options.only else hows
    if unknown := [how for how in hows if how not in BEHAVIOURS and how not in LIFECYCLES]:
        parser.error(f"--only: no such behaviour: {', '.join(unknown)}")
    settings = (*SETTINGS, *options.set)
    seeds = [int(seed) for seed in options.seeds.split(",")]
    with tempfile.TemporaryDirectory(prefix="scdn-") as temporary:
        federate = federate_processes if options.processes else federate_in_process
        failed = compare(Path(temporary), settings, hows, seeds, federate)
    print(f"{len(hows)} behaviours; failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--device"]:
        sys.exit(run_device(sys.argv[2], sys.argv[3:]))
    sys.exit(main())
