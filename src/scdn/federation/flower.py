"""All that this program knows of Flower: a server's line, a device's connection, the SuperLink.

Flower polls every three seconds and starts a process for each message; here a device is one
process that is its own SuperNode, looks for messages more often while there is something to do,
and answers them itself. It takes no code from the network: bundles are never fetched.
Nothing here calls the internet: telemetry, update checks and installations are off.
"""

from __future__ import annotations

import ipaddress
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scdn.faults import refuse
from scdn.federation.post import Node, Reply
from scdn.federation.wire import LIMIT

HEARTBEAT_S = 30.0
FIRST_POLL_S, LAST_POLL_S = 0.1, 1.0  # between two looks for messages: after one, and when idle
_RECORD, _FIELD = "scdn", "frame"
_OVERHEAD = 1 << 16  # of a message around its frame


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
    try:
        import flwr  # noqa: F401
    except ImportError:
        raise refuse(
            "scdn", "federate", "Flower is not installed", "pip install 'scdn[federation]'"
        ) from None


def is_loopback(host: str) -> bool:
    """Whether an address is this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


# --- the server's side ----------------------------------------------------------------------------


class GridLine:
    """A ServerApp's grid as a `Line`. A message that cannot be read fails alone."""

    def __init__(self, grid: Any) -> None:
        self._grid = grid
        self._pool = ThreadPoolExecutor(4)
        self._sent: dict[str, int] = {}
        self._waiting: dict[str, Future[list[Any]]] = {}
        self._apart = False  # once something was wrong, messages are pulled one by one

    def nodes(self) -> list[Node]:
        """Who is connected."""
        return [Node(n.node_id, n.name, n.online_until) for n in self._grid.get_nodes()]

    def push(self, node: int, raw: bytes, lasts_s: float) -> str:
        """Sends a message; its id."""
        from flwr.app import ConfigRecord, Message, RecordDict

        content = RecordDict({_RECORD: ConfigRecord({_FIELD: raw})})
        (sent,) = self._grid.push_messages([Message(content, node, "query", ttl=lasts_s)])
        if not sent:
            return f"unsent-{time.monotonic_ns()}"  # nobody will answer it
        self._sent[sent] = node
        return str(sent)

    def pull(self, ids: Iterable[str]) -> list[Reply]:
        """Answers that have come to these messages."""
        wanted = [id_ for id_ in ids if id_ in self._sent]
        if not wanted:
            return []
        if not self._apart:
            try:
                return [self._reply(message) for message in self._grid.pull_messages(wanted)]
            except Exception:  # whatever a strange message makes Flower raise
                self._apart = True
        return list(self._one_by_one(wanted))

    def _one_by_one(self, wanted: list[str]) -> Iterator[Reply]:
        for id_ in wanted:
            if id_ not in self._waiting:
                self._waiting[id_] = self._pool.submit(self._pull_one, id_)
        for id_, future in list(self._waiting.items()):
            if not future.done():
                continue
            del self._waiting[id_]
            error = future.exception()
            if error is not None:
                yield Reply(id_, self._sent.pop(id_, 0), b"", type(error).__name__)
            else:
                yield from (self._reply(message) for message in future.result())

    def _pull_one(self, id_: str) -> list[Any]:
        return list(self._grid.pull_messages([id_]))

    def _reply(self, message: Any) -> Reply:
        told = message.metadata
        id_ = str(told.reply_to_message_id)
        node = self._sent.pop(id_, 0)
        if message.has_error():
            return Reply(id_, node, None, str(message.error.reason)[:200])
        try:
            frame = message.content[_RECORD][_FIELD]
        except KeyError:
            frame = b""
        return Reply(id_, int(told.src_node_id), frame if isinstance(frame, bytes) else b"")


# --- a device's side ------------------------------------------------------------------------------


class RefusedByServerError(Exception):
    """The server does not let this device in, or is not the one it should be."""


@dataclass
class Connection:
    """A device at a SuperLink: connects, asks for messages, answers them, and comes back."""

    address: str
    root_certificate: Path | None  # None: without TLS, on this machine only
    private_key: Path | None
    patience_s: float = 600.0  # without a server, before giving up
    first_s: float = 5.0  # a server that has just begun may not know its devices yet
    log: Callable[[str], None] = lambda _: None
    _node: Any = None  # as the server last named this device

    def serve(self, answer: Callable[[bytes], bytes], stop: Callable[[], bool]) -> None:
        """Answers messages until `stop` says so; good-bye is said on the way out."""
        import httpx

        lost, known = time.monotonic(), False
        while not stop():
            try:
                with self._client() as client:
                    node = self._join(client, known)
                    known = True
                    lost = time.monotonic()
                    self.log(f"connected to {self.address}")
                    self._answer_all(client, node, answer, stop)
                    return
            except (httpx.TransportError, httpx.HTTPStatusError) as error:
                self._judge(error, known or time.monotonic() - lost < self.first_s)
                if time.monotonic() - lost > self.patience_s:
                    raise RefusedByServerError(
                        f"{self.address}: no server for {self.patience_s:.0f} s"
                    ) from None
                self.log(f"{self.address}: {_short(error)}; trying again")
                _wait(1.0, stop)

    def _judge(self, error: Exception, hopeful: bool) -> None:
        """Gives up at once where trying again cannot help."""
        import httpx

        text = str(error)
        if isinstance(error, httpx.ConnectError) and "CERTIFICATE" in text.upper():
            raise RefusedByServerError(
                f"{self.address}: its certificate is not trusted ({text})"
            ) from None
        refused = isinstance(error, httpx.HTTPStatusError) and error.response.is_client_error
        if refused and not hopeful:
            raise RefusedByServerError(
                f"{self.address}: does not let this key in ({_short(error)})"
            ) from None

    @contextmanager
    def _client(self) -> Iterator[Any]:
        from flwr.supercore.interceptors.http.runtime_version import RuntimeVersionHttpInterceptor
        from flwr.supercore.primitives.asymmetric import generate_key_pairs
        from flwr.supernode.fleet_http_client import FleetHttpClient
        from flwr.supernode.node_auth_http_interceptor import NodeAuthHttpInterceptor

        if not hasattr(self, "_keys"):
            self._keys = (
                generate_key_pairs() if self.private_key is None else _key_pair(self.private_key)
            )
        root = None if self.root_certificate is None else self.root_certificate.read_bytes()
        client = FleetHttpClient.from_server_address(
            self.address,
            root is None,
            root,
            [RuntimeVersionHttpInterceptor("SuperNode"), NodeAuthHttpInterceptor(*self._keys)],
        )
        with client:
            yield client

    def _join(self, client: Any, known: bool) -> Any:
        """Registers where no key is needed, and becomes active."""
        import httpx
        from flwr.proto.fleet_pb2 import ActivateNodeRequest, RegisterNodeFleetRequest
        from flwr.proto.node_pb2 import Node as ProtoNode
        from flwr.supercore.primitives.asymmetric import public_key_to_bytes

        if self._node is not None and self._alive(client):
            return self._node
        public = public_key_to_bytes(self._keys[1])
        if self.private_key is None:
            try:
                client.RegisterNode(RegisterNodeFleetRequest(public_key=public))
            except httpx.HTTPStatusError:
                if not known:  # else it is registered already
                    raise
        activated = client.ActivateNode(
            ActivateNodeRequest(public_key=public, heartbeat_interval=HEARTBEAT_S)
        )
        self._node = ProtoNode(node_id=activated.node_id)
        return self._node

    def _alive(self, client: Any) -> bool:
        """Whether the server still knows this device: a second activation would be refused."""
        import httpx
        from flwr.proto.heartbeat_pb2 import SendNodeHeartbeatRequest

        beat = SendNodeHeartbeatRequest(node=self._node, heartbeat_interval=HEARTBEAT_S)
        try:
            return bool(client.SendNodeHeartbeat(beat).success)
        except httpx.HTTPStatusError:
            return False

    def _answer_all(
        self, client: Any, node: Any, answer: Callable[[bytes], bytes], stop: Callable[[], bool]
    ) -> None:
        from flwr.proto.fleet_pb2 import DeactivateNodeRequest, PullMessagesRequest

        ended = threading.Event()
        beats = threading.Thread(target=self._beat, args=(client, node, ended), daemon=True)
        beats.start()
        poll = FIRST_POLL_S
        try:
            while not stop():
                pulled = client.PullMessages(PullMessagesRequest(node=node))
                if pulled.messages_list:
                    tree = pulled.message_object_trees[0]
                    self._answer_one(client, node, pulled.messages_list[0], tree, answer)
                    poll = FIRST_POLL_S
                else:
                    _wait(poll, stop)
                    poll = min(LAST_POLL_S, poll * 1.1)
        finally:
            ended.set()
            if stop():
                try:
                    client.DeactivateNode(DeactivateNodeRequest(node_id=node.node_id))
                except Exception as error:  # the server may be gone; it will notice
                    self.log(f"could not say good-bye ({_short(error)})")

    def _beat(self, client: Any, node: Any, ended: threading.Event) -> None:
        """Says every now and then that the device is alive, also while it computes."""
        from flwr.proto.heartbeat_pb2 import SendNodeHeartbeatRequest

        beat = SendNodeHeartbeatRequest(node=node, heartbeat_interval=HEARTBEAT_S)
        while not ended.wait(HEARTBEAT_S / 2):
            try:
                client.SendNodeHeartbeat(beat)
            except Exception as error:  # the main loop sees the same and acts
                self.log(f"heartbeat failed ({_short(error)})")

    def _answer_one(
        self, client: Any, node: Any, told: Any, tree: Any, answer: Callable[[bytes], bytes]
    ) -> None:
        import httpx
        from flwr.app import Message
        from flwr.supercore.inflatable.inflatable_protobuf_utils import (
            make_confirm_message_received_fn_protobuf,
            make_pull_object_fn_protobuf,
        )
        from flwr.supercore.inflatable.inflatable_utils import pull_and_inflate_object_from_tree

        run_id = told.metadata.run_id
        try:
            message = pull_and_inflate_object_from_tree(
                tree,
                make_pull_object_fn_protobuf(client.PullObject, node, run_id),
                make_confirm_message_received_fn_protobuf(
                    client.ConfirmMessageReceived, node, run_id
                ),
                return_type=Message,
            )
            message.metadata.__dict__["_message_id"] = tree.object_id
            message.content[_RECORD][_FIELD]
        except httpx.HTTPError:
            raise
        except Exception as error:  # not one of ours, or no longer there
            self.log(f"a message that cannot be read ({type(error).__name__}), left aside")
            return
        try:
            self._push(client, node, message, answer)
        except httpx.HTTPStatusError as error:  # too late, or the run is over
            self.log(f"an answer that nobody takes ({_short(error)})")

    def _push(self, client: Any, node: Any, message: Any, answer: Callable[[bytes], bytes]) -> None:
        from flwr.app.message import remove_content_from_message
        from flwr.common.serde import message_to_proto
        from flwr.proto.fleet_pb2 import PushMessagesRequest
        from flwr.supercore.inflatable.inflatable_object import (
            get_all_nested_objects,
            get_object_tree,
            no_object_id_recompute,
        )
        from flwr.supercore.inflatable.inflatable_protobuf_utils import make_push_object_fn_protobuf
        from flwr.supercore.inflatable.inflatable_utils import push_objects

        reply = replied(message, answer)
        with no_object_id_recompute():
            reply.metadata.__dict__["_message_id"] = reply.object_id
            done = client.PushMessages(
                PushMessagesRequest(
                    node=node,
                    messages_list=[message_to_proto(remove_content_from_message(reply))],
                    message_object_trees=[get_object_tree(reply)],
                    clientapp_runtime_list=[0.0],
                )
            )
            push_objects(
                get_all_nested_objects(reply),
                make_push_object_fn_protobuf(
                    client.PushObject, node, reply.metadata.run_id, done.session_id
                ),
                object_ids_to_push=set(done.objects_to_push),
            )


def replied(message: Any, answer: Callable[[bytes], bytes]) -> Any:
    """The reply of a ClientApp to a message, as `answer` gives it."""
    from flwr.app import ConfigRecord, Message, RecordDict

    raw = message.content[_RECORD][_FIELD]
    reply = answer(raw if isinstance(raw, bytes) else b"")
    return Message(RecordDict({_RECORD: ConfigRecord({_FIELD: reply})}), reply_to=message)


def _key_pair(path: Path) -> tuple[Any, Any]:
    from scdn.federation.keys import read_private_key

    private = read_private_key(path)
    return private, private.public_key()


def _short(error: Exception) -> str:
    response = getattr(error, "response", None)
    if response is not None:
        return f"HTTP {response.status_code}: {response.text[:200]}"
    return f"{type(error).__name__}: {error}"


def _wait(seconds: float, stop: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while not stop() and (left := end - time.monotonic()) > 0:
        time.sleep(min(0.1, left))


# --- the SuperLink --------------------------------------------------------------------------------


def superlink(arguments: list[str]) -> None:
    """Flower's SuperLink behind a guard: from elsewhere only devices are heard, within limits.

    Flower offers runs, registrations and devices at one port, and asks for keys of devices alone.
    """
    quiet()
    import uvicorn
    from flwr.superlink.cli.flower_superlink import (
        SuperLinkLifespan,
        _parse_superlink_lifespan_config,
    )
    from flwr.superlink.main import create_app

    sys.argv = ["flower-superlink", *arguments]
    config = _parse_superlink_lifespan_config()
    app = create_app(config, SuperLinkLifespan)
    uvicorn.run(
        app=_guarded(app, LIMIT + _OVERHEAD),
        host=config.host,
        port=config.port,
        access_log=False,
        log_level="warning",
        proxy_headers=False,
        ssl_keyfile=config.ssl_keyfile,
        ssl_certfile=config.ssl_certfile,
        workers=1,
    )


def _guarded(app: Any, limit: int) -> Any:
    async def guard(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        host = (scope.get("client") or ("",))[0]
        sizes = [value for name, value in scope["headers"] if name == b"content-length"]
        if not scope["path"].startswith("/v1/fleet/") and not is_loopback(host):
            await _say(send, 403)
        elif not (len(sizes) == 1 and sizes[0].isdigit() and int(sizes[0]) <= limit):
            await _say(send, 413)
        else:
            await app(scope, receive, send)

    return guard


async def _say(send: Any, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@dataclass
class Control:
    """Starts and watches runs at a SuperLink on this machine."""

    address: str
    root_certificate: Path | None

    @contextmanager
    def _client(self) -> Iterator[Any]:
        from flwr.supercore.control import ControlHttpClient
        from flwr.supercore.interceptors import RuntimeVersionHttpInterceptor

        root = None if self.root_certificate is None else self.root_certificate.read_bytes()
        client = ControlHttpClient.from_server_address(
            self.address, root is None, root, [RuntimeVersionHttpInterceptor("flwr CLI")]
        )
        try:
            yield client
        finally:
            client.close()

    def ready(self) -> bool:
        """Whether the SuperLink answers."""
        from flwr.proto.control_pb2 import ListRunsRequest

        try:
            with self._client() as client:
                client.ListRuns(ListRunsRequest())
            return True
        except Exception:  # not yet, for whatever reason
            return False

    def register(self, public_key: bytes, name: str) -> None:
        """Lets the device with this key in."""
        from flwr.proto.control_pb2 import RegisterNodeRequest

        with self._client() as client:
            client.RegisterNode(RegisterNodeRequest(public_key=public_key, name=name))

    def start(self, app: Path, settings: dict[str, Any]) -> int:
        """Starts the app in a folder; the run's number."""
        import hashlib

        from flwr.cli.build import build_fab_from_disk
        from flwr.common.serde import fab_to_proto, user_config_to_proto
        from flwr.proto.control_pb2 import StartRunRequest
        from flwr.supercore.fab import Fab

        raw = build_fab_from_disk(app)
        fab = fab_to_proto(Fab(hashlib.sha256(raw).hexdigest(), raw, {}))
        request = StartRunRequest(fab=fab, override_config=user_config_to_proto(settings))
        with self._client() as client:
            return int(client.StartRun(request).run_id)

    def status(self, run: int) -> tuple[str, str]:
        """A run's status, and what Flower says about it."""
        from flwr.proto.control_pb2 import ListRunsRequest

        with self._client() as client:
            found = client.ListRuns(ListRunsRequest(run_id=run)).run_dict[run]
        return found.status.status, found.status.details
