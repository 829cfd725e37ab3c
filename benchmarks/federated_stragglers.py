"""Federate devices as processes, one of which trains ten times slower, with each schedule.

    python benchmarks/federated_stragglers.py federated-stragglers.jsonl

Devices of this machine, four or `--devices`, learn the digits. What a step takes is a pause of `STEP_S`, ten times
as long on one of them; all else takes what it takes here. Seconds are those of the wall clock from
the first round on, and joules are billed by the model. A line is written for each schedule.
"""

from __future__ import annotations

import argparse
import json
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

STEP_S, SLOWER = 0.2, 10
ROUNDS = {  # shorter ones may take more
    "synchronous": 6,
    "buffered": 24,
    "asynchronous": 24,
    "mission": 24,
    "mission that waits": 6,
}
METHODS = {
    "synchronous": "max-vfl",
    "buffered": "max-vfl-buffered",
    "asynchronous": "federated_stragglers:ASYNCHRONOUS",
    "mission": "mission",
    "mission that waits": "mission",
}
TARGETS = ("top1=93", "top1=95")
MISSION = ("mission.goal=time", "mission.target=top1=95")  # the harder one
SETTINGS = (
    "churn.entry_rate=0",
    "churn.exits=false",
    "max_delay_s=1",
    "learning.compute_deadline_s=100",
)


def __getattr__(name: str) -> Any:
    """Return the method that differs from max-vfl in its schedule alone."""
    from scdn.methods import method

    if name != "ASYNCHRONOUS":
        raise AttributeError(name)
    return replace(method("max-vfl"), name="max-vfl-asynchronous", schedule="asynchronous")


def slow_device(step_s: float, arguments: list[str]) -> int:
    """Run a device whose steps take so long."""
    from scdn.cli import main
    from scdn.federation.device_client import DeviceClient

    train = DeviceClient._train

    def with_pauses(device: DeviceClient, request: Any, arrays: Any) -> Any:
        time.sleep(step_s * request.steps)
        return train(device, request, arrays)

    DeviceClient._train = with_pauses  # type: ignore[method-assign]
    return main(arguments)


class SlowDevices(LocalDevices):
    """Devices of this machine with pauses; the first is the slow one."""

    @contextmanager
    def running(self, address: ServerAddress) -> Iterator[None]:
        """Start a process for every device, with its own pauses."""
        folder = self.labels.parent
        with ExitStack() as stack:
            for name in self.names:
                step_s = STEP_S * (SLOWER if name == self.names[0] else 1)
                command = [sys.executable, __file__, "--device", str(step_s)]
                command += self.arguments(name, address)
                stack.enter_context(
                    child_process(command, folder / f"{name}.log", folder / "flower")
                )
            yield


def federate(schedule: str, count: int, out: Path) -> Run:
    """Run a federation of so many devices until its last round."""
    settings = [*SETTINGS, f"fleet.0.count={count}", f"method={METHODS[schedule]}"]
    settings.append(f"learning.rounds={ROUNDS[schedule]}")
    if METHODS[schedule] == "mission":
        settings += MISSION
    if schedule == "mission that waits":
        settings.append("mission.schedule=synchronous")
    scenario = federated_scenario(read_scenario("examples/quick.toml", settings))
    local = SlowDevices.prepare(out, scenario, None, with_keys=False)
    devices = SlowDevices(local.out, local.scenario, local.names, None)
    write_atomic(out / "scenario.json", to_json(scenario.model_dump(mode="json", by_alias=True)))
    run = ServerSettings(
        out=str(out),
        scenario=str(out / "scenario.json"),
        labels=str(devices.labels),
        devices=count,
        timeout_s=60.0,
    )
    address = ServerAddress("127.0.0.1", free_port(), None)
    with ExitStack() as stack:
        control = stack.enter_context(running_superlink(address, out))
        stack.enter_context(devices.running(address))
        run_at_superlink(control, run, lambda *_: None)
    return read_run(out)


def result(schedule: str, recorded: Run) -> dict[str, Any]:
    """Return what a run took to its targets; seconds are measured, and not modelled."""
    rounds, seconds = recorded.rounds, 0.0
    measured = []
    for event in rounds:
        seconds += event["seconds"]
        measured.append(seconds)
    targets = target_results(recorded.start, rounds, parse_targets(TARGETS))
    for target in targets:
        target["seconds"] = measured[target["round"]] if target["reached"] else None
    slow = [
        arrival["staleness"]
        for event in rounds
        for arrival in event.get("arrivals") or ()
        if arrival["id"] == "device-1"
    ]
    return {
        "schedule": schedule,
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
        return slow_device(float(sys.argv[2]), sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--schedules", default=",".join(METHODS))
    parser.add_argument("--devices", type=int, default=4)
    options = parser.parse_args()
    fetch("digits")
    for schedule in options.schedules.split(","):
        with tempfile.TemporaryDirectory() as folder:
            recorded = federate(schedule, options.devices, Path(folder))
            line = json.dumps({"devices": options.devices, **result(schedule, recorded)})
        print(line, flush=True)
        with options.file.open("a") as file:
            file.write(line + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
