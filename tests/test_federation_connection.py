"""A device's connection to the server: when it tries again, and when it gives up."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

httpx = pytest.importorskip("httpx")
supernode = pytest.importorskip("scdn.federation.flower.supernode")


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
