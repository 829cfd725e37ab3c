"""Federate devices as processes, one of which computes ten times slower, with each schedule.

    python benchmarks/federated_stragglers.py federated-stragglers.jsonl --seeds 0,1,2,3

The devices of `examples/straggler.toml` learn MNIST. Before it trains, each pauses for `STRETCH`
times as long as the model says that it computes with the planned clock, so that pauses outweigh
what else a round takes on one machine. Seconds are those of the wall clock from the first round on,
and joules are billed by the model. A line is appended for each seed and schedule.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from scdn.data import fetch
from scdn.federation.processes import (
    LocalDevices,
    ServerAddress,
    child_process,
    free_port,
    run_at_superlink,
    running_superlink,
)
from scdn.federation.server_settings import ServerSettings, federated_scenario
from scdn.file_io import to_json, write_atomic
from scdn.record.run_reader import Run, read_run
from scdn.record.target_results import target_results
from scdn.scenario import read_scenario
from scdn.targets import parse_targets
from scdn.world.energy import cycles

SCENARIO = Path(__file__).parents[1] / "examples" / "straggler.toml"
STRETCH, FLOPS_PER_CYCLE = 3.0, 0.0066  # that of all devices of the scenario
TARGET = "top3=97"
SCHEDULES = {  # the method, rounds at most, and further settings
    "synchronous": ("max-vfl", 15, ()),
    "buffered": ("max-vfl-buffered", 20, ()),
    "asynchronous": ("federated_stragglers:ASYNCHRONOUS", 30, ()),
    "mission": ("mission", 30, ("mission.goal=time", f"mission.target={TARGET}")),
    "mission that waits": (
        "mission",
        15,
        ("mission.goal=time", f"mission.target={TARGET}", "mission.schedule=synchronous"),
    ),
}


def __getattr__(name: str) -> Any:
    """Return the method that differs from max-vfl in its schedule alone."""
    from scdn.methods import method

    if name != "ASYNCHRONOUS":
        raise AttributeError(name)
    return replace(method("max-vfl"), name="max-vfl-asynchronous", schedule="asynchronous")


def slow_device(arguments: list[str]) -> int:
    """Run a device that takes as long as the model says, stretched."""
    from scdn.cli import main
    from scdn.federation.device_client import DeviceClient

    train, make_model, connections = DeviceClient._train, DeviceClient._make_model, []

    def noting_connections(device: DeviceClient, request: Any, arrays: Any) -> Any:
        made = make_model(device, request, arrays)
        connections.append(made[-1])
        return made

    def with_pauses(device: DeviceClient, request: Any, arrays: Any) -> Any:
        batch_size = device._learning.batch_size
        work = cycles(request.steps, batch_size, connections[-1], FLOPS_PER_CYCLE)
        time.sleep(STRETCH * float(work) / request.cpu_hz)
        return train(device, request, arrays)

    DeviceClient._make_model = noting_connections  # type: ignore[method-assign]
    DeviceClient._train = with_pauses  # type: ignore[method-assign]
    return main(arguments)


class SlowDevices(LocalDevices):
    """Devices of this machine with pauses."""

    @contextmanager
    def running(self, address: ServerAddress) -> Iterator[None]:
        """Start a process for every device."""
        folder = self.labels.parent
        with ExitStack() as stack:
            for name in self.names:
                command = [sys.executable, __file__, "--device", *self.arguments(name, address)]
                stack.enter_context(
                    child_process(command, folder / f"{name}.log", folder / "flower")
                )
            yield


def federate(schedule: str, seed: int, out: Path) -> Run:
    """Run a federation until its last round."""
    name, rounds, settings = SCHEDULES[schedule]
    settings = (*settings, f"method={name}", f"learning.rounds={rounds}", f"seed={seed}")
    scenario = federated_scenario(read_scenario(SCENARIO, settings))
    local = SlowDevices.prepare(out, scenario, None, with_keys=False)
    devices = SlowDevices(local.out, local.scenario, local.names, None)
    write_atomic(out / "scenario.json", to_json(scenario.model_dump(mode="json", by_alias=True)))
    run = ServerSettings(
        out=str(out),
        scenario=str(out / "scenario.json"),
        labels=str(devices.labels),
        devices=len(local.names),
        timeout_s=60.0,
    )
    address = ServerAddress("127.0.0.1", free_port(), None)
    with ExitStack() as stack:
        control = stack.enter_context(running_superlink(address, out))
        stack.enter_context(devices.running(address))
        run_at_superlink(control, run, lambda *_: None)
    return read_run(out)


def result(schedule: str, seed: int, recorded: Run) -> dict[str, Any]:
    """Return what a run took to its targets; seconds are measured, and not modelled."""
    rounds, seconds = recorded.rounds, 0.0
    measured = []
    for event in rounds:
        seconds += event["seconds"]
        measured.append(seconds)
    targets = target_results(recorded.start, rounds, parse_targets((TARGET,)))
    for target in targets:
        target["seconds"] = measured[target["round"]] if target["reached"] else None
    slow = [
        arrival["staleness"]
        for event in rounds
        for arrival in event.get("arrivals") or ()
        if arrival["id"].startswith("slow")
    ]
    return {
        "schedule": schedule,
        "seed": seed,
        "targets": targets,
        "rounds": len(rounds),
        "seconds": seconds,
        "reports_of_slow_device": len(slow) if slow else None,
        "staleness": slow,
        "waited_for": [len(event["plan"].get("waits_for") or ()) or None for event in rounds],
        "left": [name for event in rounds for name in event["exited"]],
    }


def main() -> int:
    """Run each schedule, or a device."""
    if sys.argv[1:2] == ["--device"]:
        return slow_device(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--schedules", default=",".join(SCHEDULES))
    parser.add_argument("--seeds", default="0", help="of scenarios, with commas between them")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)  # where processes find ASYNCHRONOUS
    fetch("mnist")
    for seed in map(int, options.seeds.split(",")):
        for schedule in options.schedules.split(","):
            with tempfile.TemporaryDirectory() as folder:
                line = json.dumps(result(schedule, seed, federate(schedule, seed, Path(folder))))
            print(line, flush=True)
            with options.file.open("a") as file:
                file.write(line + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
