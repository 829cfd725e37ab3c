"""A device's connection to the server: when it tries again, and when it gives up."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

httpx = pytest.importorskip("httpx")
supernode = pytest.importorskip("scdn.federation.flower.supernode")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what Flower imports


def test_a_device_waits_for_a_server_that_has_just_started_to_know_its_key(monkeypatch):
    """A server answers before it knows its devices; how long it was away before does not count."""
    connection, now, log = supernode.SuperNodeConnection, [0.0], []
    refusal, still_active = (
        httpx.HTTPStatusError(
            str(status), request=httpx.Request("POST", "http://x"), response=httpx.Response(status)
        )
        for status in (403, 412)
    )
    errors = [httpx.ConnectError("refused")] * 10 + [refusal] * 3
    served = []

    def join(*_):
        if errors:
            raise errors.pop(0)

    monkeypatch.setattr(supernode.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(supernode, "_wait", lambda seconds, _: now.__setitem__(0, now[0] + seconds))
    monkeypatch.setattr(connection, "_client", lambda _: nullcontext())
    monkeypatch.setattr(connection, "_join", join)
    monkeypatch.setattr(connection, "_answer_messages", lambda *_: served.append(now[0]))
    connection("x:1", None, None).serve(bytes, lambda: False)
    assert served == [13.0]
    errors[:] = [refusal] * 10
    with pytest.raises(supernode.RefusedByServerError, match="does not admit"):
        connection("x:1", None, None).serve(bytes, lambda: False)
    # A device that was killed is still active for Flower; it waits, and says so once.
    errors[:] = [still_active] * 100
    served.clear()
    connection("x:1", None, None, patience_s=600.0, log=log.append).serve(bytes, lambda: False)
    assert len(served) == 1
    assert sum("trying again" in line for line in log) == 1
    errors[:] = [still_active] * 100
    with pytest.raises(supernode.RefusedByServerError, match="no server for 50 s"):
        connection("x:1", None, None, patience_s=50.0).serve(bytes, lambda: False)


class Server:
    """Knows some nodes as active, and refuses a second activation of one, as Flower does."""

    def __init__(self):
        self.active, self.activations = set(), 0

    def SendNodeHeartbeat(self, request):
        return SimpleNamespace(success=request.node.node_id in self.active)

    def ActivateNode(self, _):
        assert not self.active, "still active"
        self.activations += 1
        self.active.add(70 + self.activations)
        return SimpleNamespace(node_id=70 + self.activations)


@pytest.fixture
def key():
    private_key, public_key = supernode.private_parts.generate_key_pairs()
    return private_key, public_key


def process(folder, key, address="x:1"):
    """Return the connection of a new process of the device."""
    connection = supernode.SuperNodeConnection(
        address, None, folder / "key", node_file=folder / "node.json"
    )
    connection._key_pair = key
    return connection


def test_a_device_that_was_killed_goes_on_with_the_node_that_is_still_active(tmp_path, key):
    server = Server()
    first = process(tmp_path, key)._join(server, False)
    assert process(tmp_path, key)._join(server, False).node_id == first.node_id
    assert server.activations == 1
    server.active.clear()  # it was away for too long
    assert process(tmp_path, key)._join(server, False).node_id == first.node_id + 1
    assert process(tmp_path, key)._join(server, False).node_id == first.node_id + 1


def test_a_second_process_of_a_device_that_runs_does_not_take_its_messages(tmp_path, key):
    """It waits as long as the first one runs, and stopping it does not end the first one's part."""
    server, first = Server(), process(tmp_path, key)
    node = first._join(server, False)
    second = process(tmp_path, key)
    with pytest.raises(AssertionError, match="still active"):
        second._join(server, False)
    del first  # its process has ended, and so has its lock
    assert second._join(server, False).node_id == node.node_id


@pytest.mark.parametrize(
    "text", ["", "[", "7", '["x:1"]', '["y:1", 71]', '["x:1", -1]', '["x:1", true]']
)
def test_a_damaged_file_of_a_node_is_ignored(tmp_path, key, text):
    (tmp_path / "node.json").write_text(text)
    server = Server()
    assert process(tmp_path, key)._join(server, False).node_id == 71
