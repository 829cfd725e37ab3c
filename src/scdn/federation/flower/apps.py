"""The two apps that Flower starts: a ServerApp that runs the rounds, and a thin ClientApp.

The ClientApp is for users who run SuperNodes of their own. Flower starts it anew for each message,
so it only forwards the message to `scdn federate device --socket`, which keeps running.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scdn.errors import InputError
from scdn.federation import flower
from scdn.federation.flower.grid_transport import GridTransport
from scdn.federation.unix_socket import ask_socket
from scdn.file_io import OutputError

flower.disable_internet_calls()

from flwr.clientapp import ClientApp  # noqa: E402
from flwr.serverapp import ServerApp  # noqa: E402

server = ServerApp()
client = ClientApp()


@server.main()
def _run_server(grid: Any, context: Any) -> None:
    from scdn.federation.collect_embeddings import answer_request
    from scdn.federation.federated_server import run_server
    from scdn.federation.processes import end_with_ancestors
    from scdn.federation.server_settings import ServerSettings

    end_with_ancestors()
    settings = ServerSettings.from_run_config(dict(context.run_config))
    try:
        if settings.predict:
            answer_request(settings, GridTransport(grid))
        else:
            run_server(settings, GridTransport(grid))
    except InputError as error:
        raise RuntimeError("; ".join(error.lines())) from None  # Flower shows it to the user
    except OutputError as error:
        raise RuntimeError(str(error)) from None


@client.query()
def _forward(message: Any, context: Any) -> Any:
    path = str(context.node_config.get("socket", ""))
    if not path:
        raise ValueError("--node-config 'socket=\"PATH\"' must name a device's socket")
    return flower.make_reply(message, lambda raw: ask_socket(Path(path), raw))
