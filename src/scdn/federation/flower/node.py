"""A device at a SuperLink, without a SuperNode of Flower's: it asks for messages and answers them.

It takes no code from the network: app bundles are never fetched.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scdn.federation.flower import FIELD, RECORD, replied

HEARTBEAT_S = 30.0
FIRST_POLL_S, LAST_POLL_S = 0.1, 1.0  # between two looks for messages: after one, and when idle


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
            message.content[RECORD][FIELD]
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
