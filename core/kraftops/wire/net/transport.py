"""Frames over TCP and TLS, each by a deadline; servers that are not Kafka are recognised."""

import socket
import ssl
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from kraftops.errors import AuthError, WireError
from kraftops.parallel.background import BackgroundCall
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.deadline import Deadline

LARGEST_FRAME = 100 << 20
"""Largest answer, in bytes, as Kafka's servers take requests (`socket.request.max.bytes`).

A batch of metadata has at most 8 MiB, and comes whole; a million partitions take 60 MB.
"""

_RESERVED_BYTES = 4 << 20  # for a frame before any of it is there
_TLS_ALERT = 0x15  # the first byte of a TLS alert (RFC 8446, 5.1): the port speaks TLS
_HTTP = "an HTTP server answers there, not Kafka"
_FOREIGN = {
    b"HTTP": _HTTP,
    b"<!DO": _HTTP,  # some servers answer a malformed request without an HTTP header
    b"<htm": _HTTP,
    b"SSH-": "an SSH server answers there, not Kafka",
}
_TRUST_HINT = (
    "ssl.truststore.location or ssl.truststore.certificates in --command-config says whom to trust"
)
_OTHER_NAME = (62, 64)
"""OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH."""
_TLS_HINT = "it may want a client certificate: set ssl.keystore.location in --command-config"
_TLS_WANTED_HINT = "set security.protocol to SSL or SASL_SSL in --command-config"
_PROTOCOL_HINT = "it may expect TLS or SASL: security.protocol in --command-config sets that"


class Transport:
    """A connection that sends and receives frames; to be closed."""

    def __init__(self, address: Address, tls: ssl.SSLContext | None, deadline: Deadline) -> None:
        """Connect.

        Raises:
            WireError: this fails, or is not done by the deadline.
            AuthError: one end does not trust the other's certificate.
        """
        self.address = address
        self._is_fresh = True
        self._is_tls = tls is not None
        self._socket = _connected(address, deadline)
        if tls:
            try:
                self._socket = _secured(self._socket, address, tls, deadline)
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """Close it, without a TLS shutdown."""
        with suppress(OSError):
            self._socket.close()

    def send(self, frame: bytes, deadline: Deadline) -> None:
        """Send a frame, which begins with its length.

        Raises:
            WireError: the connection is broken, or the frame is not sent in time.
        """
        try:
            self._socket.settimeout(_positive(deadline))
            self._socket.sendall(frame)
        except TimeoutError:
            raise self._silent(deadline) from None
        except OSError as error:
            raise self._broken(error) from error

    def receive(self, deadline: Deadline, limit: int = LARGEST_FRAME) -> bytearray:
        """Read a frame (4 bytes of length, big-endian, then its content) and return the content.

        Raises:
            WireError: it does not come, ends too early, exceeds *limit*, or is not from Kafka.
        """
        head = bytes(self._take(4, deadline))
        size = int.from_bytes(head, signed=True)
        if not 4 <= size <= limit:
            self._refuse(head, size)
        frame = self._take(size, deadline)
        self._is_fresh = False
        return frame

    def _take(self, size: int, deadline: Deadline) -> bytearray:
        """Return *size* bytes; memory for a large frame is reserved as the bytes come."""
        data, have = bytearray(min(size, _RESERVED_BYTES)), 0
        while have < size:
            if have == len(data):
                data += bytes(min(size - have, _RESERVED_BYTES))
            try:
                self._socket.settimeout(_positive(deadline))
                with memoryview(data) as whole, whole[have:] as rest:
                    part = self._socket.recv_into(rest)
            except TimeoutError:
                raise self._silent(deadline) from None
            except OSError as error:
                raise self._broken(error) from error
            if not part:
                raise self._closed(have, size)
            have += part
        return data

    def _refuse(self, head: bytes, size: int) -> NoReturn:
        text, hint = (
            f"what answers there is not Kafka: an answer would have {size} bytes",
            "check the port",
        )
        if head in _FOREIGN:
            text = _FOREIGN[head]
        elif head[0] == _TLS_ALERT and head[1] == 3 and not self._is_tls:
            text, hint = "it expects TLS", _TLS_WANTED_HINT
        raise WireError.at(self.address, text, hint, code="not-kafka")

    def _silent(self, deadline: Deadline) -> WireError:
        waited = f"{deadline.seconds:g} s"
        text, hint = f"no answer within {waited}", "--timeout SECONDS waits longer"
        if self._is_fresh:
            text = f"it takes the connection, but gives no answer within {waited}"
            hint = (
                "it may not be Kafka, be too busy, or expect TLS: check port and security.protocol"
            )
        return WireError.at(self.address, text, hint)

    def _broken(self, error: OSError) -> WireError:
        if isinstance(error, ConnectionResetError | BrokenPipeError | ssl.SSLEOFError):
            return self._closed(0, 0)
        if isinstance(error, ssl.SSLError):
            return _tls_error(self.address, error)
        return WireError.at(self.address, error.strerror or str(error))

    def _closed(self, count: int, size: int) -> WireError:
        text = f"it closes the connection after {count} of {size} bytes"
        hint = "try again; if that does not help, look into the server's log"
        if not count:
            when = "before it answers" if self._is_fresh else "instead of an answer"
            text = f"it closes the connection {when}"
            hint = _TLS_HINT if self._is_tls and self._is_fresh else _PROTOCOL_HINT
        return WireError.at(self.address, text, hint)


def _positive(deadline: Deadline) -> float:
    """Take the seconds left for a call; a timeout of 0 would make the socket non-blocking."""
    seconds = deadline.left
    if not seconds:
        raise TimeoutError
    return seconds


def _connected(address: Address, deadline: Deadline) -> socket.socket:
    """Connect to the first of the host's addresses that answers."""
    resolved = _resolved(address, deadline)
    last_error: OSError = TimeoutError()
    for number, (family, kind, protocol, _, socket_address) in enumerate(resolved):
        share = deadline.left / (len(resolved) - number)
        if not share:
            break
        connecting = socket.socket(family, kind, protocol)
        try:
            connecting.settimeout(share)
            connecting.connect(socket_address)
            connecting.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            connecting.close()
            last_error = error
        else:
            return connecting
    if isinstance(last_error, TimeoutError):
        raise WireError.at(
            address,
            f"no connection within {deadline.seconds:g} s",
            hint="is the host up, and does a firewall let this port through?",
        ) from last_error
    if isinstance(last_error, ConnectionRefusedError):
        raise WireError.at(
            address,
            "connection refused",
            hint="nothing listens there: check host and port, and whether the node runs",
        ) from last_error
    raise WireError.at(address, last_error.strerror or str(last_error)) from last_error


_SocketAddresses = Sequence[tuple[int, int, int, str, tuple[Any, ...]]]


def _resolved(address: Address, deadline: Deadline) -> _SocketAddresses:
    """Look the host up, in a thread that may be left behind: no call takes a timeout."""
    if deadline.is_over:
        raise WireError.at(address, f"it was not asked: {deadline.seconds:g} s were over before")
    hint = "check the name, and whether this machine can look it up"
    lookup = BackgroundCall(lambda: socket.getaddrinfo(*address, type=socket.SOCK_STREAM))
    if not lookup.wait(deadline.left):
        raise WireError.at(address, f"its name is not resolved within {deadline.seconds:g} s", hint)
    try:
        return lookup.result()
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "not the name of a host"
        raise WireError.at(address, f"cannot resolve its name: {reason}", hint) from error


def _secured(
    plain: socket.socket, address: Address, tls: ssl.SSLContext, deadline: Deadline
) -> socket.socket:
    try:
        secured = tls.wrap_socket(
            plain, server_hostname=address.host, do_handshake_on_connect=False
        )
    except (OSError, ValueError) as error:
        raise WireError.at(address, f"TLS: {error}") from error
    try:
        secured.settimeout(_positive(deadline))
        secured.do_handshake()
    except TimeoutError:
        secured.close()
        raise WireError.at(
            address,
            f"no TLS handshake within {deadline.seconds:g} s",
            hint="is that a TLS listener? security.protocol in --command-config sets that",
        ) from None
    except OSError as error:
        secured.close()
        raise _tls_error(address, error) from error
    return secured


def _tls_error(address: Address, error: OSError) -> WireError:
    """Say what an operator can do about a failed handshake: trust, name, client certificate."""
    if isinstance(error, ssl.SSLCertVerificationError):
        text = error.verify_message.rstrip(".")
        hint = _TRUST_HINT
        if error.verify_code in _OTHER_NAME:
            hint = (
                f"its certificate lacks the name {address.host}: connect by a name that it has, or"
                " add this one; ssl.endpoint.identification.algorithm= (empty) checks no names"
            )
        return AuthError.at(address, f"TLS: its certificate is refused: {text}", hint=hint)
    reason = (getattr(error, "reason", None) or "").lower().replace("_", " ")
    if isinstance(error, ssl.SSLEOFError | ConnectionError) or "wrong version number" in reason:
        return WireError.at(
            address,
            "it does not shake hands for TLS",
            hint="is that a TLS listener? security.protocol in --command-config sets that",
            code="not-kafka",
        )
    if "certificate" in reason:
        return AuthError.at(
            address,
            f"TLS: it refuses us: {reason}",
            hint="it wants a certificate that it trusts: ssl.keystore.location or"
            " ssl.keystore.certificate.chain in --command-config has it",
        )
    return WireError.at(address, f"TLS: {reason or error.strerror or error}")
