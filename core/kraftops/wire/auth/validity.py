"""Until when the certificates of a store are valid."""

from datetime import datetime
from typing import NamedTuple

from kraftops.errors import DecodeError


class Validity(NamedTuple):
    """The subject of a certificate, and the end of its validity."""

    subject: str
    end: datetime


def validities(store: bytes, password: str | None) -> list[Validity]:
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
        Validity(certificate.subject.rfc4514_string(), certificate.not_valid_after_utc)
        for certificate in certificates
    ]
