"""Devices on this machine: a stored data set shared out, and a process for each."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from scdn.errors import input_error
from scdn.federation.hub import Address, process
from scdn.federation.share import LABELS, share_out
from scdn.scenario.model import Scenario
from scdn.world.churn import churn_trace

_SHARES, _KEYS = "shares", "keys"


@dataclass(frozen=True)
class Neighbours:
    """Devices of this machine, and what they and the server read."""

    out: Path
    scenario: Scenario | None
    names: list[str]
    keys: Path | None

    @property
    def labels(self) -> Path:
        """The server's file."""
        return self.out / _SHARES / LABELS

    @contextmanager
    def all(self, address: Address) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
        """Every device's process; they are told to stop together."""
        with ExitStack() as stack:
            found = {name: stack.enter_context(self.device(name, address)) for name in self.names}
            try:
                yield found
            finally:
                for child in found.values():
                    child.terminate()

    def device(
        self, name: str, address: Address
    ) -> AbstractContextManager[subprocess.Popen[bytes]]:
        """A device's process."""
        command = [
            *(sys.executable, "-m", "scdn.cli", "federate", "device", "--name", name),
            *("--features", str(self.out / _SHARES / f"{name}.npz")),
            *("--server", address.local, "--state", str(self.out / _SHARES / f"{name}.state")),
        ]
        if self.keys is None:
            command.append("--insecure")
        else:
            command += ["--ca", str(self.keys / "ca.crt")]
            command += ["--private-key", str(self.keys / "devices" / f"{name}.key")]
        return process(command, self.out / _SHARES / f"{name}.log", self.out / _SHARES / "flower")


def prepare(
    out: Path, scenario: Scenario | None, devices: int | None, with_keys: bool
) -> Neighbours:
    """Shares the scenario's data out, or finds what an earlier start shared out."""
    shares = out / _SHARES
    keys = out / _KEYS if with_keys or (out / _KEYS).exists() else None
    if scenario is None:
        found = sorted(path.stem for path in shares.glob("*.npz") if path.name != LABELS)
        if not found:
            raise input_error(str(out), "folder", "has no devices of its own", "resume its server")
        return Neighbours(out, None, found, keys)
    if devices is not None:
        scenario = _with_devices(scenario, devices)
    trace = churn_trace(scenario)
    if scenario.churn.trace is None:
        trace = trace.only(trace.present(0))
    names = list(share_out(scenario, trace, shares))
    if keys is not None:
        from scdn.federation.keys import make_keys

        make_keys(keys, names, [])
    return Neighbours(out, scenario, names, keys)


def _with_devices(scenario: Scenario, count: int) -> Scenario:
    """A network of so many devices, all of the first group."""
    if not scenario.fleet or scenario.devices or scenario.churn.trace is not None:
        found = "the scenario lists its devices"
        raise input_error("scdn", "--devices", found, "works with a [[fleet]] alone")
    first, *others = scenario.fleet
    groups = [first.model_copy(update={"count": count})]
    groups += [group.model_copy(update={"count": 0}) for group in others]
    return scenario.model_copy(update={"fleet": tuple(groups)})
