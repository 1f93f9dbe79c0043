"""Certificates of an authority for tests."""

import datetime as dt
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import NameOID

_DAY = dt.timedelta(days=1)


@dataclass(frozen=True)
class Signed:
    """A certificate and its key; *issuer* is itself of an authority."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(Encoding.DER)

    def key_pem(self, password: str = "") -> str:
        how = BestAvailableEncryption(password.encode()) if password else NoEncryption()
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how).decode()

    def pkcs12(self, password: str, *others: "Signed") -> bytes:
        how = BestAvailableEncryption(password.encode())
        chain = [other.certificate for other in others]
        return pkcs12.serialize_key_and_certificates(b"me", self.key, self.certificate, chain, how)


def authority(name: str = "ca") -> Signed:
    """Return a new authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    return Signed(_signed(name, key, name, key, is_authority=True), key)


def signed_by(issuer: Signed, name: str, host: str = "localhost", *, days: int = 7) -> Signed:
    """Return the certificate of a host with a new key, valid for so many days from now on."""
    key = ec.generate_private_key(ec.SECP256R1())
    common = issuer.certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value
    return Signed(_signed(name, key, str(common), issuer.key, host, days, is_authority=False), key)


def server_context(folder: Path, ca: Signed, own: Signed) -> ssl.SSLContext:
    """Return the context of a server with the certificate *own*; its file is in *folder*."""
    path = folder / "server.pem"
    path.write_text(own.pem + own.key_pem())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    context.load_verify_locations(cadata=ca.pem)
    return context


def trusted_pkcs12(password: str, *trusted: Signed) -> bytes:
    """Return a trust store as `keytool` makes it: certificates, and no key."""
    how = BestAvailableEncryption(password.encode())
    certificates = [pkcs12.PKCS12Certificate(each.certificate, None) for each in trusted]
    return pkcs12.serialize_java_truststore(certificates, how)


def _signed(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    issuer_key: ec.EllipticCurvePrivateKey,
    host: str = "localhost",
    days: int = 7,
    *,
    is_authority: bool,
) -> x509.Certificate:
    now = dt.datetime.now(dt.UTC)
    names = [x509.DNSName(host), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    subject_key = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    issuer_id = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 9 * _DAY)
        .not_valid_after(now + days * _DAY)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(subject_key, critical=False)
        .add_extension(issuer_id, critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(issuer_key, hashes.SHA256())
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
