"""Who may send to the server: keys before bodies, a bounded number of bytes, Flower's own parts."""

from __future__ import annotations

import asyncio
import inspect
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from scdn.federation.certificates import make_keys, read_private_key
from scdn.federation.flower import access_check, disable_internet_calls, private_parts
from scdn.federation.flower.access_check import AccessCheck, Connections, DeviceKeys
from scdn.federation.flower.private_parts import PARTS

disable_internet_calls()  # before Flower is imported
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what Flower imports
FLEET = "/v1/fleet/push-object"


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    make_keys(folder, ["a"], [])
    make_keys(folder, ["expired"], [], days=-1)
    make_keys(folder / "others", ["stranger"], [])
    return folder


def headers(key, size=10, at=None, **changed):
    """Return headers as a device with this key sends them."""
    private_key = read_private_key(key)
    timestamp = (at or datetime.now(UTC)).isoformat().encode()
    signed = {
        "flwr-public-key": private_parts.public_key_to_bytes(private_key.public_key()),
        "flwr-signature": private_parts.sign_message(private_key, timestamp),
    }
    named = {name: b64encode(value) for name, value in (signed | changed).items()}
    named |= {"flwr-timestamp": timestamp, "content-length": str(size).encode()}
    return [(name.encode(), value) for name, value in named.items()]


def scope(*pairs, path=FLEET, host="10.0.0.9"):
    return {"type": "http", "client": (host, 1), "path": path, "headers": list(pairs)}


class Requests:
    """An app that reads whole bodies, and what it and its senders saw."""

    def __init__(self):
        self.read, self.statuses = 0, []
        self.release = asyncio.Event()

    async def app(self, _, receive, send):
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive(self):
        self.read += 1
        await self.release.wait()
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(self, message):
        if "status" in message:
            self.statuses.append(message["status"])


def statuses_of(check, requests, scopes):
    """Send requests at once, let them be read, and return their statuses in order of arrival."""

    async def send_all():
        tasks = [
            asyncio.create_task(check(scope, requests.receive, requests.send)) for scope in scopes
        ]
        for _ in range(20):
            await asyncio.sleep(0)
        started = requests.read
        requests.release.set()
        await asyncio.gather(*tasks)
        return started

    started = asyncio.run(send_all())
    return requests.statuses, started


def checked(keys, *scopes, max_bytes=100):
    requests = Requests()
    check = AccessCheck(requests.app, max_bytes, None if keys is None else DeviceKeys(keys))
    return statuses_of(check, requests, scopes)


def test_a_device_with_a_valid_key_is_heard(keys):
    assert checked(keys, scope(*headers(keys / "devices/a.key"))) == ([200], 1)


SECONDS = timedelta(seconds=1)
WITHOUT_A_KEY = {
    "nothing": lambda _: [(b"content-length", b"10")],
    "not base 64": lambda keys: [
        (name, b"\xff" if name == b"flwr-signature" else value)
        for name, value in headers(keys / "devices/a.key")
    ],
    "a stranger's": lambda keys: headers(keys / "others/devices/stranger.key"),
    "expired": lambda keys: headers(keys / "devices/expired.key"),
    "another signature": lambda keys: headers(
        keys / "devices/a.key", **{"flwr-signature": b"signature"}
    ),
    "long ago": lambda keys: headers(keys / "devices/a.key", at=datetime.now(UTC) - 400 * SECONDS),
    "a clock ahead": lambda keys: headers(
        keys / "devices/a.key", at=datetime.now(UTC) + 60 * SECONDS
    ),
    "a clock without a zone": lambda keys: headers(
        keys / "devices/a.key", at=datetime.now(UTC).replace(tzinfo=None)
    ),
}


@pytest.mark.parametrize("how", WITHOUT_A_KEY)
def test_nothing_is_read_from_anybody_without_a_valid_key(keys, how):
    assert checked(keys, scope(*WITHOUT_A_KEY[how](keys))) == ([403], 0)


def test_a_certificate_that_is_taken_away_ends_at_the_next_request(tmp_path, monkeypatch):
    monkeypatch.setattr(access_check, "_READ_AGAIN_S", 0.0)
    make_keys(tmp_path, ["a", "b"], [])
    allowed = DeviceKeys(tmp_path)
    assert allowed.admits(dict(headers(tmp_path / "devices/a.key")))
    (tmp_path / "devices/a.crt").unlink()
    assert not allowed.admits(dict(headers(tmp_path / "devices/a.key")))
    assert allowed.admits(dict(headers(tmp_path / "devices/b.key")))


def test_bodies_wait_while_too_many_bytes_are_in_flight(keys, monkeypatch):
    monkeypatch.setattr(access_check, "MAX_BYTES_IN_FLIGHT", 250)
    scopes = [scope(*headers(keys / "devices/a.key", size=100)) for _ in range(8)]
    statuses, started = checked(keys, *scopes)
    assert started == 2
    assert statuses == [200] * 8


def test_silent_connections_do_not_keep_devices_out(keys, monkeypatch):
    """The oldest one without a valid request goes; those over which one has come stay."""
    monkeypatch.setattr(access_check, "MAX_STRANGERS", 2)
    closed, connections, requests = [], Connections(), Requests()
    check = AccessCheck(requests.app, 100, DeviceKeys(keys), connections)

    def connect(port):
        transport = SimpleNamespace(abort=lambda: closed.append(port))
        connections.add(("10.0.0.9", port), SimpleNamespace(transport=transport))

    connect(1)  # as in `scope`
    assert statuses_of(check, requests, [scope(*headers(keys / "devices/a.key"))])[0] == [200]
    for port in (2, 3, 4, 5):
        connect(port)
    assert closed == [2, 3]
    connections.remove(("10.0.0.9", 4))
    connect(6)
    assert closed == [2, 3]


def test_one_device_does_not_take_the_connections_of_others(keys, monkeypatch):
    """The oldest one with its key goes; those of the server's own processes have no key."""
    monkeypatch.setattr(access_check, "MAX_PER_KEY", 2)
    closed, connections, requests = [], Connections(), Requests()
    check = AccessCheck(requests.app, 100, DeviceKeys(keys), connections)

    def ask(port, **where):
        transport = SimpleNamespace(abort=lambda: closed.append(port))
        request = scope(*headers(keys / "devices/a.key"), **where) | {"client": ("127.0.0.1", port)}
        connections.add(request["client"], SimpleNamespace(transport=transport))
        statuses_of(check, requests, [request, request])  # two over one connection

    for port in (1, 2):
        ask(port)
    for port in (3, 4, 5):
        ask(port, path="/v1/runtime/get-run")
    assert closed == []
    ask(6)
    assert closed == [1]
    connections.remove(("127.0.0.1", 2))
    ask(7)
    assert closed == [1]
    for port in (3, 4, 5, 6, 7):
        connections.remove(("127.0.0.1", port))
    assert not connections.strangers
    assert not connections.of_key


def test_a_body_that_never_ends_is_given_up(keys, monkeypatch):
    monkeypatch.setattr(access_check, "BODY_TIMEOUT_S", 0.01)
    requests = Requests()
    check = AccessCheck(requests.app, 100, DeviceKeys(keys))

    async def send():
        with pytest.raises(TimeoutError):
            await check(scope(*headers(keys / "devices/a.key")), requests.receive, requests.send)

    asyncio.run(send())
    assert check.in_flight == 0


# --- private parts of Flower ----------------------------------------------------------------------


@pytest.mark.parametrize("name", PARTS)
def test_a_private_part_of_flower_takes_the_arguments_that_it_gets(name):
    part = getattr(private_parts, name)
    wanted = PARTS[name].arguments
    if hasattr(part, "DESCRIPTOR"):  # a message of Flower's protocol
        assert set(wanted) <= set(part.DESCRIPTOR.fields_by_name)
    elif wanted:
        assert set(wanted) <= set(inspect.signature(part).parameters)
    else:
        assert callable(part)


def test_headers_and_times_are_those_of_flower():
    from flwr.common import constant
    from flwr.supercore import constant as further

    assert further.FLEET_HTTP_PUBLIC_KEY_HEADER.lower().encode() == private_parts.PUBLIC_KEY_HEADER
    assert further.FLEET_HTTP_SIGNATURE_HEADER.lower().encode() == private_parts.SIGNATURE_HEADER
    assert constant.TIMESTAMP_HEADER.lower().encode() == private_parts.TIMESTAMP_HEADER
    assert private_parts.CLOCK_AHEAD_S == constant.SYSTEM_TIME_TOLERANCE
    tolerated = constant.TIMESTAMP_TOLERANCE + constant.SYSTEM_TIME_TOLERANCE
    assert tolerated == private_parts.SIGNED_FOR_S


def test_other_modules_use_the_public_parts_of_flower_and_the_list():
    for path in Path(inspect.getfile(private_parts)).parent.parent.rglob("*.py"):
        for line in path.read_text().splitlines():
            if "from flwr" in line or "import flwr" in line:
                assert line.split()[1] in ("flwr.app", "flwr.clientapp", "flwr.serverapp"), path
