"""A device's connection to the server: when it tries again, and when it gives up."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

httpx = pytest.importorskip("httpx")
supernode = pytest.importorskip("scdn.federation.flower.supernode")


def test_a_device_waits_for_a_server_that_has_just_started_to_know_its_key(monkeypatch):
    """A server answers before it knows its devices; how long it was away before does not count."""
    connection, now = supernode.SuperNodeConnection, [0.0]
    refusal = httpx.HTTPStatusError(
        "412", request=httpx.Request("POST", "http://x"), response=httpx.Response(412)
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
