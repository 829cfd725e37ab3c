"""A device's connection to a SuperLink, in place of a SuperNode of Flower's.

The device polls for messages and answers them in its own process. It takes no code from the
network: app bundles are never fetched.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from filelock import FileLock, Timeout

from scdn.federation.certificates import read_private_key
from scdn.federation.flower import FIELD, RECORD, make_reply, private_parts
from scdn.file_io import OutputError, write_atomic

_HEARTBEAT_S = 10.0  # the least that Flower allows; after two of them it gives a device up
_GRACE_S = 5.0  # a server that has just started may not know its devices yet
_PUSHES = 4  # of a reply, where the connection breaks: the request for it would not come again
# Between two looks for messages, after one and idle. The SuperLink of `superlink.py` keeps a look
# until there is a message, so that the next one follows at once; another one answers immediately.
_FIRST_POLL_S, _SLOWEST_POLL_S = 0.1, 1.0

Answer = Callable[[bytes], bytes]
Stop = Callable[[], bool]


class RefusedByServerError(Exception):
    """The server does not admit this device, cannot be reached, or is not the right one."""


@dataclass
class SuperNodeConnection:
    """Connects to a SuperLink, answers the messages it has for this device, and reconnects."""

    address: str
    root_certificate: Path | None  # None: without TLS, on this machine only
    private_key: Path | None
    patience_s: float = 600.0  # without a server, before giving up
    log: Callable[[str], None] = lambda _: None
    node_file: Path | None = None  # keeps the node's number when the process is killed
    _node: Any = None  # this device's node, as the server last named it
    _key_pair: Any = None
    _lock: FileLock | None = None  # beside `node_file`, as long as this process runs

    def serve(self, answer: Answer, stop: Stop) -> None:
        """Answer messages until `stop()` is true, then disconnect."""
        lost_at, admitted = time.monotonic(), False
        answers_since: float | None = None  # the server, since it could not be reached last
        logged = ""
        while not stop():
            try:
                with self._client() as client:
                    node = self._join(client, admitted)
                    admitted = True
                    lost_at, logged = time.monotonic(), ""
                    self.log(f"connected to {self.address}")
                    self._answer_messages(client, node, answer, stop)
                    return
            except (httpx.TransportError, httpx.HTTPStatusError) as error:
                if isinstance(error, httpx.TransportError):
                    answers_since = None
                elif answers_since is None:
                    answers_since = time.monotonic()
                has_just_started = answers_since is None or (
                    time.monotonic() - answers_since < _GRACE_S
                )
                self._raise_if_permanent(error, admitted or has_just_started)
                if time.monotonic() - lost_at > self.patience_s:
                    raise RefusedByServerError(
                        f"{self.address}: no server for {self.patience_s:.0f} s"
                    ) from None
                line = f"{self.address}: {_short(error)}; trying again"
                if line != logged:  # once, not every second
                    self.log(line)
                logged = line
                _wait(1.0, stop)

    def _raise_if_permanent(self, error: Exception, may_recover: bool) -> None:
        text = str(error)
        if isinstance(error, httpx.ConnectError) and "CERTIFICATE" in text.upper():
            raise RefusedByServerError(
                f"{self.address}: the server's certificate is not trusted ({text})"
            ) from None
        refused = (
            isinstance(error, httpx.HTTPStatusError)
            and error.response.is_client_error
            # A device that was killed is active for Flower until it has missed two heartbeats.
            and error.response.status_code != httpx.codes.PRECONDITION_FAILED
        )
        if refused and not may_recover:
            raise RefusedByServerError(
                f"{self.address}: the server does not admit this device's key ({_short(error)})"
            ) from None

    @contextmanager
    def _client(self) -> Iterator[Any]:

        if self._key_pair is None:
            if self.private_key is None:
                self._key_pair = private_parts.generate_key_pairs()
            else:
                private_key = read_private_key(self.private_key)
                self._key_pair = private_key, private_key.public_key()
        root = None if self.root_certificate is None else self.root_certificate.read_bytes()
        client = private_parts.FleetHttpClient.from_server_address(
            self.address,
            root is None,
            root,
            [
                private_parts.RuntimeVersionHttpInterceptor("SuperNode"),
                private_parts.NodeAuthHttpInterceptor(*self._key_pair),
            ],
        )
        with client:
            yield client

    def _join(self, client: Any, admitted: bool) -> Any:
        """Register where no key is needed, activate the node, and return it.

        The node of an earlier process that was killed is still active for a while: this one goes
        on with it, where it would have to wait for a new activation. It does wait while the earlier
        process runs: two at one node would take each other's messages.
        """
        if self._node is None and self._is_alone():
            self._node = self._earlier_node()
        if self._node is not None and self._is_active(client):
            return self._node
        public_key = private_parts.public_key_to_bytes(self._key_pair[1])
        if self.private_key is None:
            try:
                client.RegisterNode(private_parts.RegisterNodeFleetRequest(public_key=public_key))
            except httpx.HTTPStatusError:
                if not admitted:  # otherwise it is registered already
                    raise
        activated = client.ActivateNode(
            private_parts.ActivateNodeRequest(
                public_key=public_key, heartbeat_interval=_HEARTBEAT_S
            )
        )
        self._node = private_parts.Node(node_id=activated.node_id)
        if self.node_file is not None:
            with suppress(OutputError):  # a full disk: after a kill it waits for an activation
                write_atomic(self.node_file, json.dumps([self.address, activated.node_id]))
        return self._node

    def _is_alone(self) -> bool:
        """Return whether no other process of this device runs on this machine."""
        if self.node_file is None:
            return True
        self._lock = self._lock or FileLock(self.node_file.with_suffix(".lock"))
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            return False
        except (OSError, NotImplementedError):  # a file system without locks
            return True
        return True

    def _earlier_node(self) -> Any:
        """Return the node of an earlier process at the same server; None if there is none."""
        try:
            address, number = json.loads((self.node_file or Path()).read_text())
        except (OSError, ValueError, TypeError):
            return None
        usable = address == self.address and type(number) is int and 0 <= number < 1 << 64
        return private_parts.Node(node_id=number) if usable else None

    def _is_active(self, client: Any) -> bool:
        """Return whether the server still knows the node: it would refuse a second activation."""
        heartbeat = private_parts.SendNodeHeartbeatRequest(
            node=self._node, heartbeat_interval=_HEARTBEAT_S
        )
        try:
            return bool(client.SendNodeHeartbeat(heartbeat).success)
        except httpx.HTTPStatusError:
            return False

    def _answer_messages(self, client: Any, node: Any, answer: Answer, stop: Stop) -> None:

        ended = threading.Event()
        threading.Thread(
            target=self._send_heartbeats, args=(client, node, ended), daemon=True
        ).start()
        poll_s = _FIRST_POLL_S
        try:
            while not stop():
                looked_at = time.monotonic()
                pulled = client.PullMessages(private_parts.PullMessagesRequest(node=node))
                if pulled.messages_list:
                    tree = pulled.message_object_trees[0]
                    self._answer_message(client, node, pulled.messages_list[0], tree, answer)
                    poll_s = _FIRST_POLL_S
                else:
                    _wait(poll_s - (time.monotonic() - looked_at), stop)
                    poll_s = min(_SLOWEST_POLL_S, poll_s * 1.1)
        finally:
            ended.set()
            if stop():
                try:
                    client.DeactivateNode(private_parts.DeactivateNodeRequest(node_id=node.node_id))
                except Exception as error:  # the server may be gone; it notices by itself
                    self.log(f"could not disconnect properly ({_short(error)})")

    def _send_heartbeats(self, client: Any, node: Any, ended: threading.Event) -> None:
        """Tell the server regularly that the device is alive, also while it computes."""
        heartbeat = private_parts.SendNodeHeartbeatRequest(
            node=node, heartbeat_interval=_HEARTBEAT_S
        )
        while not ended.wait(_HEARTBEAT_S / 2):
            try:
                client.SendNodeHeartbeat(heartbeat)
            except Exception as error:  # the main loop sees the same error and acts
                self.log(f"heartbeat failed ({_short(error)})")

    def _answer_message(
        self, client: Any, node: Any, header: Any, tree: Any, answer: Answer
    ) -> None:
        from flwr.app import Message

        run_id = header.metadata.run_id
        try:
            message = private_parts.pull_and_inflate_object_from_tree(
                tree,
                private_parts.make_pull_object_fn_protobuf(client.PullObject, node, run_id),
                private_parts.make_confirm_message_received_fn_protobuf(
                    client.ConfirmMessageReceived, node, run_id
                ),
                return_type=Message,
            )
            message.metadata.__dict__["_message_id"] = tree.object_id
            message.content[RECORD][FIELD]
        except httpx.HTTPError:
            raise
        except Exception as error:  # not a message of this program, or no longer there
            self.log(f"unreadable message ignored ({type(error).__name__})")
            return
        reply = make_reply(message, answer)
        for attempt in range(1, _PUSHES + 1):
            try:
                self._push_reply(client, node, reply)
            except httpx.HTTPStatusError as error:  # too late, or the run is over
                self.log(f"the server did not take a reply ({_short(error)})")
            except httpx.TransportError as error:
                if attempt == _PUSHES:
                    raise
                self.log(f"a reply is sent again ({_short(error)})")
                time.sleep(_FIRST_POLL_S * 4**attempt)
                continue
            return

    def _push_reply(self, client: Any, node: Any, reply: Any) -> None:

        with private_parts.no_object_id_recompute():
            reply.metadata.__dict__["_message_id"] = reply.object_id
            pushed = client.PushMessages(
                private_parts.PushMessagesRequest(
                    node=node,
                    messages_list=[
                        private_parts.message_to_proto(
                            private_parts.remove_content_from_message(reply)
                        )
                    ],
                    message_object_trees=[private_parts.get_object_tree(reply)],
                    clientapp_runtime_list=[0.0],
                )
            )
            private_parts.push_objects(
                private_parts.get_all_nested_objects(reply),
                private_parts.make_push_object_fn_protobuf(
                    client.PushObject, node, reply.metadata.run_id, pushed.session_id
                ),
                object_ids_to_push=set(pushed.objects_to_push),
            )


def _short(error: Exception) -> str:
    response = getattr(error, "response", None)
    if response is not None:
        return f"HTTP {response.status_code}: {response.text[:200]}"
    return f"{type(error).__name__}: {error}"


def _wait(seconds: float, stop: Stop) -> None:
    end = time.monotonic() + seconds
    while not stop() and (left := end - time.monotonic()) > 0:
        time.sleep(min(0.1, left))
