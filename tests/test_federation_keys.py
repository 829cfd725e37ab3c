"""Who is let in: keys, certificates, addresses; what is wrong is said in a line."""

from __future__ import annotations

import asyncio
import stat
from datetime import UTC, datetime, timedelta

import pytest
from command_line import refused, scdn

from scdn.data.example_files import write_example_files
from scdn.errors import InputError
from scdn.federation.certificates import admitted, check_server, make_keys, read_private_key
from scdn.federation.flower import is_loopback
from scdn.federation.flower.superlink import guarded
from scdn.federation.processes import Address
from scdn.federation.unix_socket import exchange, relay


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    make_keys(folder, ["a", "b"], ["server.example.org", "10.1.2.3"])
    make_keys(folder, ["old"], [], days=-1)
    other = tmp_path_factory.mktemp("other")
    make_keys(other, ["c"], [])
    (folder / "devices/c.crt").write_bytes((other / "devices/c.crt").read_bytes())
    (folder / "devices/d.crt").write_bytes((folder / "devices/a.crt").read_bytes())
    return folder


def test_only_good_certificates_let_a_device_in(keys):
    found = {key.name: key.wrong for key in admitted(keys)}
    assert found["a"] == found["b"] == ""
    assert found["old"].startswith("expired on")
    assert found["c"] == "not signed by this authority"
    assert found["d"] == "is of a"
    later = datetime.now(UTC) + timedelta(days=366)
    assert {key.wrong[:10] for key in admitted(keys, later) if key.name in "ab"} == {"expired on"}
    sooner = datetime.now(UTC) - timedelta(days=1)
    assert {key.wrong for key in admitted(keys, sooner) if key.name in "ab"} == {"is not valid yet"}


def test_keys_are_for_their_owner_and_are_not_made_twice(keys):
    for path in keys.rglob("*.key"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = (keys / "devices/a.key").read_bytes()
    assert make_keys(keys, ["a"], []) == []
    assert (keys / "devices/a.key").read_bytes() == before


def test_an_expired_server_is_refused_before_it_starts(tmp_path):
    make_keys(tmp_path, [], [], days=-1)
    with pytest.raises(InputError, match="expired"):
        check_server(tmp_path)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org", ""])  # noqa: S104
def test_no_keys_off_this_machine(host):
    assert not is_loopback(host)
    with pytest.raises(InputError, match="--insecure"):
        Address(host, 1, None)


def test_what_is_wrong_is_said_in_a_line(tmp_path, keys, examples):
    meters, weather = write_example_files(tmp_path)
    quick, out = examples / "quick.toml", tmp_path / "run"
    labels = ("--labels", meters, "--key", "home", "--label", "heat_pump")
    server = ("federate", "server", quick, "--out", out)
    far = ("--insecure", "--host", "0.0.0.0")  # noqa: S104
    for words in (
        server,
        (*server, *labels),
        (*server, *labels, *far),
        (*server, *labels[:-1], "nothing", "--insecure"),
        (*server, *labels, "--keys", tmp_path),
        (*server, *labels, "--insecure", "--set", 'learning.labels="shared"'),
        (*server, *labels, "--insecure", "--set", "method=vafl"),
    ):
        refused(scdn(*words), 1)
        assert not out.exists()
    device = ("federate", "device", "--features", weather, "--key", "home")
    near, away = ("--server", "127.0.0.1:1"), ("--server", "10.0.0.1:1")
    for words in (
        device,
        (*device, *away, "--insecure"),
        (*device, *near),
        (*device, *near, "--ca", keys / "ca.crt"),
        (*device, *near, "--ca", keys / "ca.key", "--private-key", keys / "devices/a.key"),
        (*device, *near, "--ca", keys / "ca.crt", "--private-key", keys / "devices/a.crt"),
        (*device, "--server", "nowhere", "--insecure"),
        (*device, *near, "--insecure", "--name", "../x"),
        (*device[:-2], *near, "--insecure"),
    ):
        refused(scdn(*words), 1)


def test_keys_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(InputError, match=r"nothing\.key"):
        read_private_key(tmp_path / "nothing.key")


@pytest.mark.parametrize(
    ("host", "path", "size", "status"),
    [
        ("10.0.0.9", "/v1/fleet/pull-messages", 10, 200),
        ("10.0.0.9", "/v1/control/start-run", 10, 403),
        ("10.0.0.9", "/v1/control/register-node", 10, 403),
        ("10.0.0.9", "/v1/runtime/acquire-task", 10, 403),
        ("10.0.0.9", "/docs", 0, 403),
        ("127.0.0.1", "/v1/control/start-run", 10, 200),
        ("10.0.0.9", "/v1/fleet/push-object", 101, 413),
        ("10.0.0.9", "/v1/fleet/push-object", None, 413),
        ("127.0.0.1", "/v1/runtime/push-object", 101, 413),
    ],
)
def test_from_elsewhere_only_devices_are_heard(host, path, size, status):
    said = []

    async def app(_, __, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message):
        said.append(message)

    headers = [] if size is None else [(b"content-length", str(size).encode())]
    scope = {"type": "http", "client": (host, 1), "path": path, "headers": headers}
    asyncio.run(guarded(app, 100)(scope, None, send))
    assert said[0]["status"] == status


def test_a_device_behind_a_socket_answers(tmp_path):
    import threading

    path, stop = tmp_path / "device.sock", threading.Event()
    asked = threading.Thread(
        target=relay, args=(path, lambda raw: raw[::-1], stop.is_set), daemon=True
    )
    asked.start()
    while not path.exists():
        pass
    for raw in (b"", b"abc", bytes(range(256)) * 9999):
        assert exchange(path, raw) == raw[::-1]
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    stop.set()
    asked.join(5)
    assert not path.exists()
