"""Everything that depends on Flower; this file has what the others share.

Flower polls every three seconds and starts a process for each message. Here a device is one process
that is its own SuperNode (`supernode.py`), the server is a ServerApp (`apps.py`) that reaches
devices through Flower's grid (`grid_transport.py`), and Flower's SuperLink runs behind an access
check (`superlink.py`) that lets devices wait for their messages (`long_polling.py`). Nothing calls
the internet: telemetry, update checks and installations are off.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable
from typing import Any

from scdn.errors import require_package

RECORD, FIELD = "scdn", "frame"  # where a Flower message has its bytes
ENVIRONMENT = {  # for processes of Flower
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
}


def disable_internet_calls() -> None:
    """Turn off Flower's calls to the internet; must run before Flower is imported."""
    os.environ.update(ENVIRONMENT)


def check_installed() -> None:
    """Raise an error where Flower is not installed."""
    disable_internet_calls()
    require_package("flwr", "federation", "federate")


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def make_reply(message: Any, answer: Callable[[bytes], bytes]) -> Any:
    """Return Flower's reply to a message, with the bytes that `answer` gives."""
    from flwr.app import ConfigRecord, Message, RecordDict

    raw = message.content[RECORD][FIELD]
    reply = answer(raw if isinstance(raw, bytes) else b"")
    return Message(RecordDict({RECORD: ConfigRecord({FIELD: reply})}), reply_to=message)
