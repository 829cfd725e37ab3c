"""All that this program knows of Flower, in four small files; here what the others share.

Flower polls every three seconds and starts a process for each message. Here a device is one process
that is its own SuperNode (`node`), a server speaks to devices through a ServerApp's grid (`grid`),
and Flower's SuperLink stands behind a guard (`link`). Nothing calls the internet: telemetry, update
checks and installations are off.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable
from typing import Any

from scdn.errors import require_package

RECORD, FIELD = "scdn", "frame"  # where a message has its bytes


def quiet() -> None:
    """No call leaves for the internet; before Flower is loaded, for this process and its own."""
    os.environ.update(environment())


def environment() -> dict[str, str]:
    """What processes of Flower are to find."""
    return {
        "FLWR_TELEMETRY_ENABLED": "0",
        "FLWR_DISABLE_UPDATE_CHECK": "1",
        "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
    }


def check_installed() -> None:
    """Refuses to go on without Flower."""
    quiet()
    require_package("flwr", "federation", "federate")


def is_loopback(host: str) -> bool:
    """Whether an address is this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def replied(message: Any, answer: Callable[[bytes], bytes]) -> Any:
    """The reply of a ClientApp to a message, as `answer` gives it."""
    from flwr.app import ConfigRecord, Message, RecordDict

    raw = message.content[RECORD][FIELD]
    reply = answer(raw if isinstance(raw, bytes) else b"")
    return Message(RecordDict({RECORD: ConfigRecord({FIELD: reply})}), reply_to=message)
