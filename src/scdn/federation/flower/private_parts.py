"""Everything private of Flower that this package uses, in one list.

Flower's public interface (`flwr.app`, `flwr.clientapp`, `flwr.serverapp`) has no SuperNode in the
user's own process and no way to start a run from Python. What is below may change with any release:
a test checks that each part is there and takes the arguments that are passed to it, so that an
upgrade of Flower fails there first, by name.

    from scdn.federation.flower import private_parts
    private_parts.FleetHttpClient  # loads its module now, not before
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple


class PrivatePart(NamedTuple):
    """Where a part is, and the names of the arguments that it is called with."""

    module: str
    arguments: tuple[str, ...] = ()


_INFLATABLE = "flwr.supercore.inflatable"
PARTS: dict[str, PrivatePart] = {
    # a device's connection, in place of a SuperNode
    "FleetHttpClient": PrivatePart("flwr.supernode.fleet_http_client"),
    "NodeAuthHttpInterceptor": PrivatePart(
        "flwr.supernode.node_auth_http_interceptor", ("private_key", "public_key")
    ),
    "RuntimeVersionHttpInterceptor": PrivatePart("flwr.supercore.interceptors"),
    "generate_key_pairs": PrivatePart("flwr.supercore.primitives.asymmetric"),
    "public_key_to_bytes": PrivatePart("flwr.supercore.primitives.asymmetric", ("public_key",)),
    # messages as Flower sends them: an object tree, pulled and pushed piece by piece
    "message_to_proto": PrivatePart("flwr.common.serde", ("message",)),
    "remove_content_from_message": PrivatePart("flwr.app.message", ("message",)),
    "get_all_nested_objects": PrivatePart(f"{_INFLATABLE}.inflatable_object", ("obj",)),
    "get_object_tree": PrivatePart(f"{_INFLATABLE}.inflatable_object", ("obj",)),
    "no_object_id_recompute": PrivatePart(f"{_INFLATABLE}.inflatable_object"),
    "make_confirm_message_received_fn_protobuf": PrivatePart(
        f"{_INFLATABLE}.inflatable_protobuf_utils"
    ),
    "make_pull_object_fn_protobuf": PrivatePart(f"{_INFLATABLE}.inflatable_protobuf_utils"),
    "make_push_object_fn_protobuf": PrivatePart(f"{_INFLATABLE}.inflatable_protobuf_utils"),
    "pull_and_inflate_object_from_tree": PrivatePart(
        f"{_INFLATABLE}.inflatable_utils", ("return_type",)
    ),
    "push_objects": PrivatePart(f"{_INFLATABLE}.inflatable_utils", ("object_ids_to_push",)),
    "ActivateNodeRequest": PrivatePart(
        "flwr.proto.fleet_pb2", ("public_key", "heartbeat_interval")
    ),
    "DeactivateNodeRequest": PrivatePart("flwr.proto.fleet_pb2", ("node_id",)),
    "PullMessagesRequest": PrivatePart("flwr.proto.fleet_pb2", ("node",)),
    "PushAppMessagesRequest": PrivatePart("flwr.proto.runtime_pb2", ("messages_list",)),
    "PushAppMessagesResponse": PrivatePart("flwr.proto.runtime_pb2", ("objects_to_push",)),
    "PushMessagesRequest": PrivatePart(
        "flwr.proto.fleet_pb2",
        ("node", "messages_list", "message_object_trees", "clientapp_runtime_list"),
    ),
    "RegisterNodeFleetRequest": PrivatePart("flwr.proto.fleet_pb2", ("public_key",)),
    "SendNodeHeartbeatRequest": PrivatePart(
        "flwr.proto.heartbeat_pb2", ("node", "heartbeat_interval")
    ),
    "Node": PrivatePart("flwr.proto.node_pb2", ("node_id",)),
    # the server's SuperLink, and runs at it
    "SuperLinkLifespan": PrivatePart("flwr.superlink.cli.flower_superlink"),
    "_parse_superlink_lifespan_config": PrivatePart("flwr.superlink.cli.flower_superlink"),
    "create_app": PrivatePart("flwr.superlink.main", ("config", "superlink_lifespan_class")),
    "ControlHttpClient": PrivatePart("flwr.supercore.control"),
    "build_fab_from_disk": PrivatePart("flwr.cli.build"),
    "fab_to_proto": PrivatePart("flwr.common.serde", ("fab",)),
    "user_config_to_proto": PrivatePart("flwr.common.serde", ("user_config",)),
    "Fab": PrivatePart("flwr.supercore.fab"),
    "ListRunsRequest": PrivatePart("flwr.proto.control_pb2", ("run_id",)),
    "RegisterNodeRequest": PrivatePart("flwr.proto.control_pb2", ("public_key", "name")),
    "StartRunRequest": PrivatePart("flwr.proto.control_pb2", ("fab", "override_config")),
    # what a device signs: see `access_check.py`
    "bytes_to_public_key": PrivatePart(
        "flwr.supercore.primitives.asymmetric", ("public_key_bytes",)
    ),
    "sign_message": PrivatePart("flwr.supercore.primitives.asymmetric", ("private_key", "message")),
    "verify_signature": PrivatePart(
        "flwr.supercore.primitives.asymmetric", ("public_key", "message", "signature")
    ),
}

# Constants of the same names in Flower, which the test compares. Headers are in lower case here, as
# a server receives them. A timestamp alone is signed, and is good for so many seconds.
PUBLIC_KEY_HEADER, SIGNATURE_HEADER = b"flwr-public-key", b"flwr-signature"
TIMESTAMP_HEADER = b"flwr-timestamp"
CLOCK_AHEAD_S, SIGNED_FOR_S = 5.0, 305.0


def __getattr__(name: str) -> Any:
    if name not in PARTS:
        raise AttributeError(name)
    return getattr(import_module(PARTS[name].module), name)


def signature_is_valid(public_key: bytes, signed: bytes, signature: bytes) -> bool:
    """Return whether a signature of some bytes was made with the private key of this public one."""
    key = __getattr__("bytes_to_public_key")(public_key)
    return bool(__getattr__("verify_signature")(key, signed, signature))
