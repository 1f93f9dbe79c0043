import hashlib
import struct
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.errors import DecodeError
from kraftops.wire.auth.jks import trusted_certificates

KEYTOOLS = Path(__file__).parents[3] / "data" / "cluster" / "keytool.jks"
"""Two trusted certificates and a key, made by keytool of Java 17 with -storetype JKS."""


def jks(certificates: list[bytes], password: str, *, keys: int = 0, version: int = 2) -> bytes:
    """Return a store as Java writes it."""
    kind = struct.pack(">H", 5) + b"X.509" if version == 2 else b""
    body = struct.pack(">4sii", b"\xfe\xed\xfe\xed", version, len(certificates) + keys)
    for number in range(keys):
        body += struct.pack(">i", 1) + struct.pack(">H", 1) + str(number).encode() + bytes(8)
        body += struct.pack(">i", 4) + b"\1\2\3\4" + struct.pack(">i", 1)
        body += kind + struct.pack(">i", 3) + b"abc"
    for certificate in certificates:
        body += struct.pack(">i", 2) + struct.pack(">H", 2) + b"ca" + bytes(8)
        body += kind + struct.pack(">i", len(certificate)) + certificate
    return body + hashlib.sha1(password.encode("utf-16-be") + b"Mighty Aphrodite" + body).digest()


@given(st.lists(st.binary(max_size=50)), st.text(max_size=9), st.integers(0, 2), st.integers(1, 2))
def test_trusted_certificates_are_read(
    certificates: list[bytes], password: str, keys: int, version: int
) -> None:
    try:
        password.encode("utf-16-be")
    except UnicodeEncodeError:
        return
    store = jks(certificates, password, keys=keys, version=version)

    assert trusted_certificates(store, password) == certificates
    assert trusted_certificates(store, None) == certificates
    with pytest.raises(DecodeError, match="the password is wrong"):
        trusted_certificates(store, password + "x")


def test_store_of_keytool_is_read() -> None:
    found = trusted_certificates(KEYTOOLS.read_bytes(), "changeit")

    assert len(found) == 2
    assert all(certificate.startswith(b"\x30\x82") for certificate in found)


@given(st.data())
def test_damaged_store_is_read_or_refused(data: st.DataObject) -> None:
    store = bytearray(jks([b"abc", b"defg"], "x", keys=1))
    for _ in range(3):
        store[data.draw(st.integers(0, len(store) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    cut = store[: data.draw(st.integers(0, len(store)))]

    for each in (store, cut):
        with suppress(DecodeError):
            trusted_certificates(bytes(each), None)
