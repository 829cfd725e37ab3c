"""The two ends as Flower starts them: a ServerApp that runs the rounds, a thin ClientApp.

The ClientApp is for people with SuperNodes of their own: Flower starts it anew for each message,
so it only passes the message on to `scdn federate device --socket`, which stays.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scdn.errors import InputError
from scdn.federation import flower
from scdn.federation.flower.grid import GridLine
from scdn.federation.relay import exchange

flower.quiet()

from flwr.clientapp import ClientApp  # noqa: E402
from flwr.serverapp import ServerApp  # noqa: E402

server = ServerApp()
client = ClientApp()


@server.main()
def _serve(grid: Any, context: Any) -> None:
    from scdn.federation.launch import Settings, carry_out

    settings = Settings.of(dict(context.run_config))
    try:
        carry_out(settings, GridLine(grid))
    except InputError as error:
        raise RuntimeError("; ".join(error.lines())) from None  # Flower passes it on


@client.query()
def _pass_on(message: Any, context: Any) -> Any:
    path = str(context.node_config.get("socket", ""))
    if not path:
        raise ValueError("--node-config 'socket=\"PATH\"' must name a device's socket")
    return flower.replied(message, lambda raw: exchange(Path(path), raw))
