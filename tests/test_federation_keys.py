"""Certificates, keys and addresses decide which devices take part; each fault is one line."""

from __future__ import annotations

import asyncio
import stat
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
from command_line import refused, scdn

from scdn.data.example_files import write_example_files
from scdn.errors import InputError
from scdn.federation.certificates import (
    check_server_certificate,
    device_certificates,
    make_keys,
    read_private_key,
)
from scdn.federation.flower import ENVIRONMENT, is_loopback
from scdn.federation.flower.access_check import AccessCheck
from scdn.federation.processes import ServerAddress
from scdn.federation.unix_socket import ask_socket, serve_socket


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


def problems(keys, now=None):
    return {device.name: device.problem for device in device_certificates(keys, now)}


def test_only_valid_certificates_have_no_problem(keys):
    today = problems(keys)
    assert today["a"] == today["b"] == ""
    assert today["old"].startswith("expired on")
    assert today["c"] == "not signed by this authority"
    assert today["d"] == "belongs to a"
    next_year = problems(keys, datetime.now(UTC) + timedelta(days=366))
    assert next_year["a"].startswith("expired on")
    yesterday = problems(keys, datetime.now(UTC) - timedelta(days=1))
    assert yesterday["a"] == "is not valid yet"


def test_private_keys_are_readable_by_their_owner_alone(keys):
    for path in keys.rglob("*.key"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_existing_keys_are_kept(keys):
    before = (keys / "devices/a.key").read_bytes()
    assert make_keys(keys, ["a"], []) == []
    assert (keys / "devices/a.key").read_bytes() == before


def test_an_expired_server_certificate_is_refused_before_the_start(tmp_path):
    make_keys(tmp_path, [], [], days=-1)
    with pytest.raises(InputError, match="expired"):
        check_server_certificate(tmp_path)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org", ""])  # noqa: S104
def test_a_server_that_other_machines_can_reach_needs_keys(host):
    assert not is_loopback(host)
    with pytest.raises(InputError, match="--insecure"):
        ServerAddress(host, 1, None)


def test_a_key_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nothing\.key"):
        read_private_key(tmp_path / "nothing.key")


def test_a_server_with_wrong_options_is_refused_in_one_line(tmp_path, examples):
    meters, *_ = write_example_files(tmp_path)
    quick, out = examples / "quick.toml", tmp_path / "run"
    labels = ("--labels", meters, "--key", "home", "--label", "heat_pump")
    server = ("federate", "server", quick, "--out", out)
    for arguments in (
        server,
        (*server, *labels),
        (*server, *labels, "--insecure", "--host", "0.0.0.0"),  # noqa: S104
        (*server, *labels[:-1], "nothing", "--insecure"),
        (*server, *labels, "--keys", tmp_path),
        (*server, *labels, "--insecure", "--set", 'learning.labels="shared"'),
        (*server, *labels, "--insecure", "--set", "learning.augment_flip=true"),
    ):
        refused(scdn(*arguments), 1)
        assert not out.exists()


def test_a_device_with_wrong_options_is_refused_in_one_line(tmp_path, keys):
    _, weather, *_ = write_example_files(tmp_path)
    device = ("federate", "device", "--features", weather, "--key", "home")
    local, remote = ("--server", "127.0.0.1:1"), ("--server", "10.0.0.1:1")
    ca, private_key = keys / "ca.crt", keys / "devices/a.key"
    for arguments in (
        device,
        (*device, *remote, "--insecure"),
        (*device, *local),
        (*device, *local, "--ca", ca),
        (*device, *local, "--ca", keys / "ca.key", "--private-key", private_key),
        (*device, *local, "--ca", ca, "--private-key", keys / "devices/a.crt"),
        (*device, "--server", "nowhere", "--insecure"),
        (*device, *local, "--insecure", "--name", "../x"),
        (*device, *local, "--insecure", "--state", weather),
        (*device[:-2], *local, "--insecure"),
    ):
        refused(scdn(*arguments), 1)


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
def test_other_machines_reach_the_part_for_devices_alone(host, path, size, status):
    sent = []

    async def app(_, __, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message):
        sent.append(message)

    headers = [] if size is None else [(b"content-length", str(size).encode())]
    scope = {"type": "http", "client": (host, 1), "path": path, "headers": headers}
    asyncio.run(AccessCheck(app, 100)(scope, None, send))
    assert sent[0]["status"] == status


def test_flower_calls_no_server_on_the_internet_and_installs_nothing():
    assert ENVIRONMENT["FLWR_TELEMETRY_ENABLED"] == "0"
    assert ENVIRONMENT["FLWR_DISABLE_UPDATE_CHECK"] == "1"
    assert ENVIRONMENT["FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION"] == "1"


def _wait_for_listener(path, attempts=500):
    """Wait until the socket accepts: its file is there a moment before it listens."""
    for _ in range(attempts):
        try:
            ask_socket(path, b"")
        except (FileNotFoundError, ConnectionRefusedError):
            time.sleep(0.01)
        else:
            return
    pytest.fail("nobody listens at the socket")


def test_a_device_behind_a_socket_answers(tmp_path):
    path, stop = tmp_path / "device.sock", threading.Event()
    device = threading.Thread(
        target=serve_socket, args=(path, lambda raw: raw[::-1], stop.is_set), daemon=True
    )
    device.start()
    _wait_for_listener(path)
    for raw in (b"", b"abc", bytes(range(256)) * 9999):
        assert ask_socket(path, raw) == raw[::-1]
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    stop.set()
    device.join(5)
    assert not path.exists()
