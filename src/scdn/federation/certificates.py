"""Make and check certificates and keys: an authority, the server's certificate, a key per device.

ca.crt, ca.key            the authority; ca.key stays with the person who makes keys
server.crt, server.key    for the server
devices/NAME.key          for one device, and nobody else
devices/NAME.crt          for the server: which device may take part, and until when
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from scdn.errors import input_error
from scdn.file_io import make_folder, write_atomic

VALID_DAYS = 365
_DEVICES = "devices"
_SERVER_NAME = "scdn server"
_AUTHORITY_DAYS = 3650
_MAKE = "make it with scdn federate keys"


def make_keys(
    folder: Path, devices: Sequence[str], hosts: Sequence[str], days: float = VALID_DAYS
) -> list[Path]:
    """Make the files that are missing in a folder and return their paths."""
    make_folder(folder / _DEVICES)
    paths: list[Path] = []
    if not (folder / "ca.crt").exists():
        paths += _issue(folder / "ca", "scdn authority", None, None, _AUTHORITY_DAYS)
    authority = read_certificate(folder / "ca.crt")
    signer = _read_signing_key(folder / "ca.key")
    if not (folder / "server.crt").exists():
        names = _alternative_names(hosts)
        paths += _issue(folder / "server", _SERVER_NAME, authority, signer, days, names)
    for device in devices:
        stem = folder / _DEVICES / device
        if not Path(f"{stem}.crt").exists():
            paths += _issue(stem, device, authority, signer, days, ssh=True)
    return paths


class DeviceCertificate(NamedTuple):
    """A device's name, its public key, and what is wrong with its certificate (or nothing)."""

    name: str
    public_key: bytes
    problem: str


def device_certificates(folder: Path, now: datetime | None = None) -> Iterator[DeviceCertificate]:
    """Return every device's certificate, valid or not."""
    authority = read_certificate(folder / "ca.crt")
    for path in sorted((folder / _DEVICES).glob("*.crt")):
        certificate = read_certificate(path)
        public_key = certificate.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        problem = _problem(certificate, authority, path.stem, now or datetime.now(UTC))
        yield DeviceCertificate(path.stem, public_key, problem)


def check_server_certificate(folder: Path) -> None:
    """Raise an error for a server certificate that devices would refuse."""
    problem = _problem(
        read_certificate(folder / "server.crt"),
        read_certificate(folder / "ca.crt"),
        _SERVER_NAME,
        datetime.now(UTC),
    )
    if problem:
        raise input_error(str(folder / "server.crt"), "certificate", problem, "make a new one")


def _problem(certificate: Any, authority: Any, name: str, now: datetime) -> str:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return "not signed by this authority"
    attributes = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    common_name = str(attributes[0].value) if attributes else ""
    if common_name != name:
        return f"belongs to {common_name}"
    if now > certificate.not_valid_after_utc:
        return f"expired on {certificate.not_valid_after_utc:%Y-%m-%d}"
    if now < certificate.not_valid_before_utc:
        return "is not valid yet"
    return ""


# --- files ----------------------------------------------------------------------------------------


def read_certificate(path: Path) -> x509.Certificate:
    """Read a certificate from a file."""
    return _read(path, x509.load_pem_x509_certificate, "not a certificate", _MAKE)


def read_private_key(path: Path) -> Any:
    """Read a device's private key from a file."""
    load = partial(serialization.load_ssh_private_key, password=None)
    return _read(path, load, "not a device's key", _MAKE)


def _read_signing_key(path: Path) -> Any:
    load = partial(serialization.load_pem_private_key, password=None)
    return _read(path, load, "not a key", "is needed to sign")


def _read(path: Path, load: Callable[[bytes], Any], problem: str, remedy: str) -> Any:
    try:
        return load(path.read_bytes())
    except (OSError, ValueError, UnsupportedAlgorithm) as error:
        reason = getattr(error, "strerror", None) or problem
        raise input_error(str(path), "file", reason, remedy) from None


def _issue(
    stem: Path,
    common_name: str,
    authority: x509.Certificate | None,
    signer: Any,
    days: float,
    alternative_names: x509.SubjectAlternativeName | None = None,
    ssh: bool = False,
) -> list[Path]:
    """Write a new key and its certificate; without an authority they are the authority's own."""
    key = ec.generate_private_key(ec.SECP384R1())
    certificate = _sign(common_name, key, authority, signer or key, days, alternative_names)
    form = serialization.PrivateFormat.OpenSSH if ssh else serialization.PrivateFormat.PKCS8
    private_key = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    paths = [Path(f"{stem}.key"), Path(f"{stem}.crt")]
    umask = os.umask(0o077)  # only the owner may read a private key
    try:
        write_atomic(paths[0], private_key)
    finally:
        os.umask(umask)
    write_atomic(paths[1], certificate.public_bytes(serialization.Encoding.PEM))
    return paths


# --- signing --------------------------------------------------------------------------------------


def _alternative_names(hosts: Sequence[str]) -> x509.SubjectAlternativeName:
    """Return the names and addresses of the server; this machine is always among them."""
    names: list[x509.GeneralName] = []
    for host in dict.fromkeys(["localhost", "127.0.0.1", "::1", *hosts]):
        try:
            names.append(x509.IPAddress(ipaddress.ip_address(host)))
        except ValueError:
            names.append(x509.DNSName(host))
    return x509.SubjectAlternativeName(names)


def _sign(
    common_name: str,
    key: ec.EllipticCurvePrivateKey,
    authority: x509.Certificate | None,
    signer: Any,
    days: float,
    alternative_names: x509.SubjectAlternativeName | None,
) -> x509.Certificate:
    public_key = key.public_key()
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    start = datetime.now(UTC) - timedelta(minutes=5)  # clocks differ a little
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if authority is None else authority.subject)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(min(start, start + timedelta(days=days)))
        .not_valid_after(datetime.now(UTC) + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=authority is None, path_length=None), True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False
        )
    )
    if alternative_names is not None:
        builder = builder.add_extension(alternative_names, False)
    return builder.sign(signer, hashes.SHA384())
