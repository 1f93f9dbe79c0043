"""Trusted certificates from Java's own key stores (JKS, `sun.security.provider.JavaKeyStore`).

Big-endian: magic, version, count, then entries of a tag, an alias (a string as DataOutput writes
it), the time of creation in ms, and their content. A SHA-1 digest of the password and of all bytes
before it ends the file.
"""

import hashlib
import hmac
from io import BytesIO
from struct import Struct

from kraftops.errors import DecodeError

MAGIC = b"\xfe\xed\xfe\xed"
JCEKS_MAGIC = b"\xce\xce\xce\xce"
PRIVATE_KEY, TRUSTED = 1, 2  # tags of entries
X509 = b"X.509"

_WHITENER = b"Mighty Aphrodite"
_HEAD = Struct(">4sii")
_DIGEST_SIZE = 20  # of SHA-1, at the end of a store (`JavaKeyStore`)


def trusted_certificates(data: bytes, password: str | None) -> list[bytes]:
    """Parse certificates (DER) of trusted entries; keys are skipped.

    The digest is checked only with a password, as in Java.

    Raises:
        DecodeError: it is malformed, or its digest is wrong.
    """
    if len(data) < _HEAD.size + _DIGEST_SIZE:
        raise DecodeError("a JKS store that is cut short")
    magic, version, count = _HEAD.unpack_from(data)
    if magic != MAGIC or version not in (1, 2):
        raise DecodeError("no JKS store")
    body = data[:-_DIGEST_SIZE]
    if password is not None:
        text = password.encode("utf-16-be", "surrogatepass")
        digest = hashlib.sha1(text + _WHITENER + body, usedforsecurity=False).digest()
        if not hmac.compare_digest(digest, data[-_DIGEST_SIZE:]):
            raise DecodeError("the password is wrong, or the store was tampered with")
    stream = BytesIO(body[_HEAD.size :])
    certificates = []
    for _ in range(count):
        tag = _number(stream, 4)
        _take(stream, _number(stream, 2))  # alias
        _take(stream, 8)  # time
        if tag == PRIVATE_KEY:
            _take(stream, _number(stream, 4))
            for _ in range(_number(stream, 4)):
                _certificate(stream, version)
        elif tag == TRUSTED:
            certificates.append(_certificate(stream, version))
        else:
            raise DecodeError(f"an entry of the unknown kind {tag}")
    return certificates


def _certificate(stream: BytesIO, version: int) -> bytes:
    if version == 2 and (kind := _take(stream, _number(stream, 2))) != X509:
        raise DecodeError(f"a certificate of the unknown kind {kind!r}")
    return _take(stream, _number(stream, 4))


def _take(stream: BytesIO, size: int) -> bytes:
    part = stream.read(size)
    if len(part) < size:
        raise DecodeError(f"a field of {size} bytes where {len(part)} are left")
    return part


def _number(stream: BytesIO, size: int) -> int:
    return int.from_bytes(_take(stream, size))
