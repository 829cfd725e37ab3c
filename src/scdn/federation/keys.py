"""Keys and certificates: an authority, the server's certificate, and a key for each device.

ca.crt, ca.key            the authority; ca.key stays with whoever makes keys
server.crt, server.key    for the server
devices/NAME.key          for one device, and nobody else
devices/NAME.crt          for the server: whom to let in, and until when
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from scdn.errors import input_error
from scdn.file_io import OutputError, write_atomic

DAYS = 365
DEVICES = "devices"
_CURVE = ec.SECP384R1
_AUTHORITY_DAYS = 3650


def make_keys(
    folder: Path, devices: Sequence[str], hosts: Sequence[str], days: float = DAYS
) -> list[Path]:
    """Makes what is missing: the authority and the server's once, keys of new devices."""
    made: list[Path] = []
    try:
        (folder / DEVICES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({error.strerror})") from None
    if not (folder / "ca.crt").exists():
        key = ec.generate_private_key(_CURVE())
        certificate = _sign(_name("scdn authority"), key.public_key(), None, key, _AUTHORITY_DAYS)
        made += _write(folder / "ca", key, certificate)
    authority = read_certificate(folder / "ca.crt")
    signer = _read_pem_key(folder / "ca.key")
    if not (folder / "server.crt").exists():
        key = ec.generate_private_key(_CURVE())
        named = _alternatives(hosts)
        signed = _sign(_name("scdn server"), key.public_key(), authority, signer, days, named)
        made += _write(folder / "server", key, signed)
    for device in devices:
        path = folder / DEVICES / device
        if Path(f"{path}.crt").exists():
            continue
        key = ec.generate_private_key(_CURVE())
        signed = _sign(_name(device), key.public_key(), authority, signer, days)
        made += _write(path, key, signed, ssh=True)
    return made


class DeviceKey(NamedTuple):
    """A device's certificate: whose it is, its public key, and what is wrong with it."""

    name: str
    public: bytes
    wrong: str


def admitted(folder: Path, now: datetime | None = None) -> Iterator[DeviceKey]:
    """Each device's certificate, good or not."""
    authority = read_certificate(folder / "ca.crt")
    moment = now or datetime.now(UTC)
    for path in sorted((folder / DEVICES).glob("*.crt")):
        certificate = read_certificate(path)
        name = path.stem
        wrong = _wrong(certificate, authority, name, moment)
        public = certificate.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        yield DeviceKey(name, public, wrong)


def _wrong(certificate: Any, authority: Any, name: str, moment: datetime) -> str:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return "not signed by this authority"
    if _common_name(certificate) != name:
        return f"is of {_common_name(certificate)}"
    if moment > certificate.not_valid_after_utc:
        return f"expired on {certificate.not_valid_after_utc:%Y-%m-%d}"
    if moment < certificate.not_valid_before_utc:
        return "is not valid yet"
    return ""


def check_server(folder: Path) -> None:
    """Refuses a server certificate that devices would refuse."""
    wrong = _wrong(
        read_certificate(folder / "server.crt"),
        read_certificate(folder / "ca.crt"),
        "scdn server",
        datetime.now(UTC),
    )
    if wrong:
        raise input_error(str(folder / "server.crt"), "certificate", wrong, "make a new one")


def read_certificate(path: Path) -> x509.Certificate:
    """A certificate from a file."""
    try:
        return x509.load_pem_x509_certificate(path.read_bytes())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a certificate"
        raise input_error(str(path), "file", reason, "make it with scdn federate keys") from None


def read_private_key(path: Path) -> Any:
    """A device's private key."""
    try:
        return serialization.load_ssh_private_key(path.read_bytes(), None)
    except (OSError, ValueError, UnsupportedAlgorithm) as error:
        reason = getattr(error, "strerror", None) or "not a key of a device"
        raise input_error(str(path), "file", reason, "make it with scdn federate keys") from None


def _read_pem_key(path: Path) -> Any:
    try:
        return serialization.load_pem_private_key(path.read_bytes(), None)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a key"
        raise input_error(str(path), "file", reason, "is needed to sign") from None


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _common_name(certificate: Any) -> str:
    found = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(found[0].value) if found else ""


def _alternatives(hosts: Sequence[str]) -> x509.SubjectAlternativeName:
    """Names and addresses the server is reached by; this machine is always one of them."""
    found: list[x509.GeneralName] = []
    for host in dict.fromkeys(["localhost", "127.0.0.1", "::1", *hosts]):
        try:
            found.append(x509.IPAddress(ipaddress.ip_address(host)))
        except ValueError:
            found.append(x509.DNSName(host))
    return x509.SubjectAlternativeName(found)


def _sign(
    subject: x509.Name,
    public: Any,
    authority: x509.Certificate | None,
    signer: Any,
    days: float,
    alternatives: x509.SubjectAlternativeName | None = None,
) -> x509.Certificate:
    start = datetime.now(UTC) - timedelta(minutes=5)  # clocks differ a little
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if authority is None else authority.subject)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(min(start, start + timedelta(days=days)))
        .not_valid_after(datetime.now(UTC) + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=authority is None, path_length=None), True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False
        )
    )
    if alternatives is not None:
        builder = builder.add_extension(alternatives, False)
    return builder.sign(signer, hashes.SHA384())


def _write(stem: Path, key: Any, certificate: x509.Certificate, ssh: bool = False) -> list[Path]:
    form = serialization.PrivateFormat.OpenSSH if ssh else serialization.PrivateFormat.PKCS8
    private = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    paths = [Path(f"{stem}.key"), Path(f"{stem}.crt")]
    before = os.umask(0o077)  # a key is for its owner's eyes
    try:
        write_atomic(paths[0], private)
    finally:
        os.umask(before)
    write_atomic(paths[1], certificate.public_bytes(serialization.Encoding.PEM))
    return paths
