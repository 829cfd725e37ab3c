"""Send a SuperLink large posts that never end, without a key and with one, and print its memory.

    python benchmarks/unfinished_posts.py

Each connection announces a body of 256 MiB at the part for devices, sends as much of it as is taken
within some seconds, and stays open. Then connections that send nothing are opened, more than the
SuperLink serves at once, and a device with a key asks for an answer.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import socket
import ssl
import sys
import tempfile
import time
from base64 import b64encode
from contextlib import ExitStack
from pathlib import Path

from scdn.federation.certificates import make_keys, read_private_key
from scdn.federation.flower import access_check, private_parts
from scdn.federation.processes import ServerAddress, free_port, running_superlink
from scdn.federation.wire_format import MAX_BYTES

PATH = "/v1/fleet/push-object"


def key_headers(private_key: Path) -> list[str]:
    """Return the headers with which a device signs a request."""
    key = read_private_key(private_key)
    timestamp = dt.datetime.now(dt.UTC).isoformat().encode()
    named = {
        private_parts.PUBLIC_KEY_HEADER: private_parts.public_key_to_bytes(key.public_key()),
        private_parts.SIGNATURE_HEADER: private_parts.sign_message(key, timestamp),
    }
    lines = [f"{name.decode()}: {b64encode(value).decode()}" for name, value in named.items()]
    return [*lines, f"{private_parts.TIMESTAMP_HEADER.decode()}: {timestamp.decode()}"]


def connect(port: int, authority: Path) -> ssl.SSLSocket:
    """Return a TLS connection."""
    context = ssl.create_default_context(cafile=str(authority))
    raw = socket.create_connection(("127.0.0.1", port), timeout=10.0)
    return context.wrap_socket(raw, server_hostname="127.0.0.1")


def post(connection: ssl.SSLSocket, further: list[str], size: int) -> None:
    """Send the headers of a post."""
    lines = [f"POST {PATH} HTTP/1.1", "Host: x", f"Content-Length: {size}", *further, "", ""]
    connection.sendall("\r\n".join(lines).encode())


def memory_mb(process: int) -> float:
    """Return the memory that a process uses."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * 4096 / 2**20


def superlink_process(port: int) -> int:
    """Return the number of the SuperLink's process at a port."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_text().split("\0")
        except OSError:
            continue
        if "scdn.federation.flower.superlink" in words and str(port) in words:
            return int(path.parent.name)
    raise SystemExit("there is no SuperLink")


def flood(port: int, keys: Path, process: int, count: int, headers: list[str]) -> None:
    """Send unfinished posts and print the largest memory that is seen."""
    before = peak = memory_mb(process)
    sent, open_ = 0, []
    for _ in range(count):
        connection = connect(port, keys / "ca.crt")
        post(connection, headers, MAX_BYTES)
        connection.settimeout(0.05)
        open_.append(connection)
    deadline, piece = time.monotonic() + 9.0, bytes(1 << 18)
    while open_ and time.monotonic() < deadline:
        for connection in list(open_):
            try:
                sent += connection.send(piece)
            except TimeoutError:
                pass
            except OSError:
                open_.remove(connection)
        peak = max(peak, memory_mb(process))
    for connection in open_:
        connection.close()
    print(
        f"{count} posts of {MAX_BYTES >> 20} MiB {'with' if headers else 'without'} a key: "
        f"{sent / 2**20:.0f} MiB sent in 9 s, {len(open_)} still open; memory {before:.0f} MB "
        f"before, {peak:.0f} MB at most",
        flush=True,
    )


def occupy(port: int, keys: Path, process: int, count: int) -> None:
    """Open connections that send nothing, and ask as a device meanwhile."""
    before, open_ = memory_mb(process), []
    began = time.monotonic()
    for _ in range(count):
        try:
            open_.append(connect(port, keys / "ca.crt"))
        except OSError:
            break
    status = "no answer"
    try:
        with connect(port, keys / "ca.crt") as connection:
            post(connection, key_headers(keys / "devices" / "a.key"), 0)
            connection.settimeout(10.0)
            status = connection.recv(100).split(b"\r\n")[0].decode()
    except OSError as error:
        status = f"no answer ({type(error).__name__})"
    print(
        f"{len(open_)} silent connections in {time.monotonic() - began:.0f} s: a device is "
        f"answered {status!r}; memory {before:.0f} MB before, {memory_mb(process):.0f} MB after",
        flush=True,
    )
    for connection in open_:
        connection.close()


def main() -> int:
    """Flood a SuperLink."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--posts", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="scdn-") as temporary, ExitStack() as stack:
        folder = Path(temporary)
        keys, address = folder / "keys", ServerAddress("127.0.0.1", free_port(), folder / "keys")
        make_keys(keys, ["a"], [])
        stack.enter_context(running_superlink(address, folder / "run"))
        process = superlink_process(address.port)
        flood(address.port, keys, process, options.posts, [])
        flood(address.port, keys, process, 10 * options.posts, [])
        flood(address.port, keys, process, options.posts, key_headers(keys / "devices" / "a.key"))
        occupy(address.port, keys, process, access_check.MAX_CONNECTIONS + 20)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
