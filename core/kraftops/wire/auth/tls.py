"""TLS context from client settings, with stores in PEM, PKCS12 and JKS, and how long they hold."""

from __future__ import annotations

import os
import re
import ssl
import tempfile
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from kraftops.errors import ConfigError, DecodeError
from kraftops.fileio.writing import write_all
from kraftops.wire.auth import jks
from kraftops.wire.config.settings import Store, Tls

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
    from cryptography.x509 import Certificate

_LARGEST_STORE = 64 << 20  # all public authorities have far less; a wrong file may have any size
_PEM = re.compile(rb"-----BEGIN [A-Z0-9 ]+-----")
_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----([^-]+)-----END", re.DOTALL)
_VALIDITY = re.compile(
    rb"(?:\x17\r[0-9]{12}Z|\x18\x0f[0-9]{14}Z)(?:\x17\r|\x18\x0f)([0-9]{12,14}Z)"
)
"""The two times of a certificate in DER (RFC 5280): it begins with them, an issuer, and numbers."""
_ONE_LINE = re.compile(r"(-----BEGIN [A-Z0-9 ]+-----)(.*?)(-----END [A-Z0-9 ]+-----)", re.DOTALL)


def tls_context(tls: Tls, source: str) -> ssl.SSLContext:
    """Load stores and limits for a client's sockets; *source* is the file that errors name.

    Raises:
        ConfigError: a store cannot be read or opened, or OpenSSL lacks a setting.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = tls.checks_host
    _limit_versions(context, tls, source)
    if tls.ciphers:
        _choose_ciphers(context, tls.ciphers, source)
    if tls.trust is None:
        context.load_default_certs()
    else:
        _load_trusted(context, tls.trust, source)
    if tls.own is not None:
        _load_own(context, tls.own, source)
    return context


def _limit_versions(context: ssl.SSLContext, tls: Tls, source: str) -> None:
    if not tls.versions:
        return
    versions = sorted(ssl.TLSVersion[name.replace("TLSv1.", "TLSv1_")] for name in tls.versions)
    try:
        context.minimum_version, context.maximum_version = versions[0], versions[-1]
    except ValueError as error:
        raise ConfigError(f"{source}: ssl.enabled.protocols: {error}") from error


def _choose_ciphers(context: ssl.SSLContext, suites: tuple[str, ...], source: str) -> None:
    """Choose cipher suites by OpenSSL's names; in TLS 1.3 OpenSSL and Java have the same names."""
    older = [name for name in suites if not name.startswith("TLS_")]
    java = [name for name in suites if name.startswith("TLS_") and "_WITH_" in name]
    if java:
        raise ConfigError(
            f"{source}: ssl.cipher.suites {java[0]} cannot be honoured here",
            hint="suites before TLS 1.3 go by the names of OpenSSL: ECDHE-RSA-AES256-GCM-SHA384",
        )
    if older:
        try:
            context.set_ciphers(":".join(older))
        except ssl.SSLError as error:
            raise ConfigError(f"{source}: ssl.cipher.suites: OpenSSL has none of these") from error


def _load_trusted(context: ssl.SSLContext, store: Store, source: str) -> None:
    subject = f"{source}: {store.key}"
    data = _store_bytes(store, subject)
    try:
        if _PEM.search(data):
            context.load_verify_locations(cadata=_folded(data.decode("ascii", "replace")))
            return
        certificates = _certificates(data, store.password)
        context.load_verify_locations(cadata=b"".join(certificates))
    except DecodeError as error:
        raise _refused(store, subject, error) from error
    except ssl.SSLError as error:
        raise ConfigError(f"{subject}: {_location(store)}a certificate cannot be read") from error


def _refused(store: Store, subject: str, error: DecodeError) -> ConfigError:
    code = error.code if error.code == "missing-package" else None
    return ConfigError(f"{subject}: {_location(store)}{error.message}", error.hint, code=code)


def _load_own(context: ssl.SSLContext, store: Store, source: str) -> None:
    subject = f"{source}: {store.key}"
    data = _store_bytes(store, subject)
    password = store.key_password
    try:
        if _PEM.search(data):
            key = store.private_key.encode() if store.private_key else b""
            pem = _folded((key + b"\n" + data).decode("ascii", "replace")).encode()
        else:
            pem, password = _pkcs12_pem(data, store.password), None
        _refuse_expired(pem, subject)
        with _temporary_file(pem) as path:
            # Without a password OpenSSL would ask for one on the terminal.
            context.load_cert_chain(path, password=password or "")
    except DecodeError as error:
        raise _refused(store, subject, error) from error
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{subject}: {_location(store)}the certificate and its private key cannot be loaded",
            hint="do they belong together, and is ssl.key.password right?",
        ) from error


def _refuse_expired(pem: bytes, subject: str) -> None:
    """Refuse our certificate if it has expired: a server closes the connection without a reason.

    Raises:
        ConfigError: it has.
    """
    first = _CERTIFICATE.search(pem)
    validity = _VALIDITY.search(b64decode(first[1])) if first else None
    if validity is None:
        return  # whether it is one, OpenSSL says
    text = validity[1].decode()
    # A year of two digits is before 2050 (RFC 5280, UTCTime), as Python's %y is before 2069.
    year = "%y" if len(text) == 13 else "%Y"
    end = datetime.strptime(text, f"{year}%m%d%H%M%S%z")
    if end < datetime.now(UTC):
        raise ConfigError(
            f"{subject}: the certificate has expired: it was valid until {end:%Y-%m-%d %H:%M} UTC",
            hint="servers refuse it: have it renewed",
        )


def _location(store: Store) -> str:
    return f"{store.location}: " if store.location else ""


def _store_bytes(store: Store, subject: str) -> bytes:
    if not store.location:
        return store.certificates.encode("ascii", "replace")
    try:
        with open(store.location, "rb") as file:
            data = file.read(_LARGEST_STORE + 1)
    except OSError as error:
        raise ConfigError(f"{subject}: cannot read {store.location}: {error.strerror}") from error
    if len(data) > _LARGEST_STORE:
        raise ConfigError(f"{subject}: {store.location} is too large for a store")
    return data


def _folded(pem: str) -> str:
    """Return PEM with lines of 64 characters, also if a properties file has it on one line."""

    def lines(block: re.Match[str]) -> str:
        begin, body, end = block.groups()
        head, blank, rest = body.partition("\n\n")
        packed = "".join((rest if blank else body).split())
        folded = [packed[pos : pos + 64] for pos in range(0, len(packed), 64)]
        kept = [head.strip(), ""] if blank else []
        return "\n".join([begin, *kept, *folded, end])

    return "\n".join(lines(block) for block in _ONE_LINE.finditer(pem)) + "\n"


def _certificates(data: bytes, password: str | None) -> list[bytes]:
    """Read trusted certificates (DER) from a JKS or PKCS12 store, which must have one."""
    if data.startswith(jks.MAGIC):
        encoded = jks.trusted_certificates(data, password)
    else:
        _, certificates = _pkcs12(data, password)
        from cryptography.hazmat.primitives.serialization import Encoding

        encoded = [certificate.public_bytes(Encoding.DER) for certificate in certificates]
    if not encoded:
        raise DecodeError("it holds no trusted certificate")
    return encoded


def _pkcs12_pem(data: bytes, password: str | None) -> bytes:
    if data.startswith(jks.MAGIC):
        raise DecodeError(
            "keys in JKS cannot be read here",
            hint="keytool -importkeystore -deststoretype PKCS12 makes a store that can",
        )
    key, certificates = _pkcs12(data, password)
    if key is None:
        raise DecodeError("it holds no private key")
    from cryptography.hazmat.primitives import serialization

    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return pem + b"".join(c.public_bytes(serialization.Encoding.PEM) for c in certificates)


def _pkcs12(data: bytes, password: str | None) -> tuple[PrivateKeyTypes | None, list[Certificate]]:
    """Read a PKCS12 store; the certificate of the private key comes first."""
    if data.startswith(jks.JCEKS_MAGIC) or not data.startswith(b"\x30"):
        raise DecodeError("it is not a store of the kinds JKS, PKCS12 and PEM")
    try:
        from cryptography.hazmat.primitives.serialization import pkcs12  # heavy: 50 ms
    except ImportError as error:
        raise DecodeError(
            "PKCS12 stores need the Python package cryptography",
            hint="pip install cryptography, or convert the store to PEM",
            code="missing-package",
        ) from error
    try:
        store = pkcs12.load_pkcs12(data, None if password is None else password.encode())
    except ValueError as error:
        raise DecodeError("the password is wrong, or it is not a PKCS12 store") from error
    own = [store.cert] if store.cert else []
    return store.key, [bundled.certificate for bundled in (*own, *store.additional_certs)]


@contextmanager
def _temporary_file(pem: bytes) -> Iterator[str]:
    """Yield a path to *pem*, in memory if possible: OpenSSL reads private keys from files only."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("kraftops")
        try:
            write_all(fd, pem)
            yield f"/proc/self/fd/{fd}"
        finally:
            os.close(fd)
        return
    fd, path = tempfile.mkstemp()  # nobody else may read it
    try:
        with open(fd, "wb") as file:
            file.write(pem)
        yield path
    finally:
        os.unlink(path)


class _Validity(NamedTuple):
    """The subject of a certificate, and the end of its validity."""

    subject: str
    end: datetime


def validities(store: bytes, password: str | None) -> list[_Validity]:
    """Read from when until when the certificates of a PEM or PKCS12 store hold.

    Raises:
        DecodeError: it is of another kind, or the password is wrong.
        ImportError: the package cryptography is not installed.
    """
    from cryptography import x509  # heavy: 50 ms
    from cryptography.hazmat.primitives.serialization import pkcs12

    try:
        if b"-----BEGIN" in store:
            certificates = x509.load_pem_x509_certificates(store)
        elif store.startswith(b"\x30"):
            loaded = pkcs12.load_pkcs12(store, None if password is None else password.encode())
            own = [loaded.cert] if loaded.cert else []
            certificates = [entry.certificate for entry in (*own, *loaded.additional_certs)]
        else:
            raise DecodeError("it is not a store of the kinds PKCS12 and PEM")
    except ValueError as error:
        raise DecodeError("the password is wrong, or it is not a store of certificates") from error
    return [
        _Validity(certificate.subject.rfc4514_string(), certificate.not_valid_after_utc)
        for certificate in certificates
    ]
