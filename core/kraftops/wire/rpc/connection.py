"""Connection to a broker or controller, with negotiated API versions (KIP-35) and login."""

import re
import ssl
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import NamedTuple, Self

from kraftops.errors import AnswerError, AuthError, DecodeError, UnknownOutcomeError, WireError
from kraftops.wire.config.settings import Sasl, Settings, Tls
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.codec import Answer, decode_answer, definition, encode_request
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.net.releases import release_range
from kraftops.wire.net.transport import LARGEST_FRAME, Transport
from kraftops.wire.rpc import error_codes

SOFTWARE = "kraftops"
FETCH, METADATA, DESCRIBE_QUORUM = 1, 3, 55  # `ApiKeys`
UNKNOWN_HINT = "it may still be done: check before you try again"
_FIRST_CORRELATION_ID = int.from_bytes(b"\r\n\r\n")
"""An HTTP server takes it for the end of a request, and answers instead of waiting."""
_MAX_BYTES_BEFORE_LOGIN = 1 << 20  # what is not a broker may claim any size
_VERSIONS_BEFORE_LOGIN = {"ApiVersions": 3, "SaslHandshake": 1, "SaslAuthenticate": 2}
_PERMISSION = re.compile(r"needs (\w+) permission")
_KRAFT_QUORUM_VERSION = 1  # of DescribeQuorum: since Kafka 3.3, never with ZooKeeper
Ask = Callable[..., Answer]
"""Sends a request (API, deadline, fields by name) and returns the answer."""


class NodeKind(Enum):
    """The kind of node that answers at an address."""

    BROKER = "broker"
    CONTROLLER = "controller"


class VersionRange(NamedTuple):
    """The versions of an API, or the levels of a feature, that a server supports."""

    first: int
    last: int


class PendingRequest(NamedTuple):
    """A request without its answer."""

    api: str
    version: int
    correlation_id: int


class Connection:
    """A connection for requests; close it, or use it as a context manager."""

    def __init__(self, address: Address, settings: Settings, deadline: Deadline) -> None:
        """Connect, negotiate and log in, within the timeout for connecting.

        Raises:
            WireError: this fails; the message begins with the address.
            AuthError: the server refuses the login.
            ConfigError: a store for TLS cannot be opened.
        """
        self.address = address
        self.deadline = deadline
        self._client_id = settings.client_id
        self._software_version = settings.software_version
        self._correlation_id = _FIRST_CORRELATION_ID
        connect_deadline = deadline.within(settings.connect_timeout)
        tls = _cached_context(settings.tls, settings.source) if settings.tls else None
        self._transport = Transport(address, tls, connect_deadline)
        try:
            self.apis = self._negotiate(connect_deadline)
            if settings.sasl:
                log_in(settings.sasl, address, self._ask_before_login, connect_deadline)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._transport.close()

    @property
    def kind(self) -> NodeKind:
        """The kind of node: only brokers serve Metadata."""
        return NodeKind.BROKER if METADATA in self.apis else NodeKind.CONTROLLER

    def versions_of(self, api: str) -> VersionRange | None:
        """Intersect the versions of an API that both ends have; None if they share none."""
        request = definition(f"{api}Request")
        served = self.apis.get(request.key)
        if served is None:
            return None
        both = VersionRange(max(served.first, request.first), min(served.last, request.last))
        return both if both.first <= both.last else None

    def ask(
        self, api: str, /, *, lowest: int = 0, deadline: Deadline | None = None, **values: object
    ) -> Answer:
        """Send a request in the highest version that both ends know; return the answer.

        Args:
            api: Its name, as `DescribeCluster`.
            lowest: The lowest version that has the fields.
            deadline: By default the connection's own deadline.
            **values: Its fields; missing fields have Kafka's defaults.

        Raises:
            WireError: the server does not serve this version, or gives no answer.
        """
        deadline = deadline or self.deadline
        return self.receive(self._negotiated(api, lowest, values, deadline), deadline)

    def change(self, api: str, /, **values: object) -> Answer:
        """Ask for a change as `ask` does.

        Raises:
            UnknownOutcomeError: it was sent, and there is no answer.
            WireError: the server does not serve the API, or the request cannot be sent.
        """
        pending = self.send(api, deadline=self.deadline, **values)
        try:
            return self.receive(pending, self.deadline)
        except WireError as error:
            text = error.message.removeprefix(f"{self.address}: ")
            raise UnknownOutcomeError.at(
                self.address, f"{text}, after the request was sent", UNKNOWN_HINT
            ) from error

    def send(self, api: str, *, deadline: Deadline, **values: object) -> PendingRequest:
        """Send a request as `ask` does, without waiting for the answer.

        The answer must be received before the next request.

        Raises:
            WireError: the server does not serve the API, or the request cannot be sent.
        """
        return self._negotiated(api, 0, values, deadline)

    def receive(
        self, request: PendingRequest, deadline: Deadline, limit: int = LARGEST_FRAME
    ) -> Answer:
        """Wait for the answer to a request.

        Raises:
            WireError: there is none.
        """
        payload = self._transport.receive(deadline, limit)
        try:
            return decode_answer(*request, payload)
        except DecodeError as error:
            reason = error.message
        # Nothing in the new error leads to the answer, which may have 64 MiB: the collector of
        # cycles is off, and errors that are kept to be raised later are part of cycles.
        del payload
        raise WireError.at(
            self.address, reason, hint="is it a Kafka that answers there?", code="not-kafka"
        )

    def error_of(self, code: int, message: str | None, permission: str = "") -> AnswerError:
        """Make an error of a code, the server's message and a hint.

        *permission* is the one on the cluster that the API needs, unless the message names another.
        """
        if code == error_codes.CLUSTER_AUTHORIZATION_FAILED and permission:
            named = _PERMISSION.search(message or "")
            permission = named[1] if named else permission
            return AnswerError.at(
                self.address,
                f"not permitted: it needs {permission} on the cluster",
                hint=f"kafka-acls --add --cluster --operation {permission} grants it",
                error_code=code,
                permission=permission,
            )
        error = error_codes.code_error(self.address, code, message)
        if code == error_codes.UNSUPPORTED_VERSION and self.kind is NodeKind.CONTROLLER:
            error.hint = (
                "controllers answer from metadata.version 3.7-IV0 on; one that has not found its"
                " leader yet does not know it: try again"
            )
        if code in error_codes.NO_LEADER_CODES:
            error.hint = "the quorum has no leader now, or another one: try again"
        return error

    def _negotiated(
        self, api: str, lowest: int, values: dict[str, object], deadline: Deadline
    ) -> PendingRequest:
        both = self.versions_of(api)
        if both is None or both.last < lowest:
            raise self._missing(api, definition(f"{api}Request").key, lowest)
        return self._send(api, both.last, values, deadline)

    def _send(
        self, api: str, version: int, values: dict[str, object], deadline: Deadline
    ) -> PendingRequest:
        request = PendingRequest(api, version, self._correlation_id)
        self._correlation_id += 1
        self._transport.send(encode_request(*request, self._client_id, values), deadline)
        return request

    def _ask_before_login(self, api: str, deadline: Deadline, **values: object) -> Answer:
        request = self._send(api, _VERSIONS_BEFORE_LOGIN[api], values, deadline)
        return self.receive(request, deadline, _MAX_BYTES_BEFORE_LOGIN)

    def _negotiate(self, deadline: Deadline) -> dict[int, VersionRange]:
        """Ask for the versions of APIs (ApiVersions, KIP-511), by key.

        Raises:
            WireError: it is older than Kafka 3.3, or runs with ZooKeeper.
        """
        answer = self._ask_before_login(
            "ApiVersions",
            deadline,
            client_software_name=SOFTWARE,
            client_software_version=self._software_version,
        )
        served = {
            api.api_key: VersionRange(api.min_version, api.max_version) for api in answer.api_keys
        }
        if answer.error_code == error_codes.UNSUPPORTED_VERSION:
            raise self._too_old("Kafka 2.3 or earlier")
        refuse_error(self, answer)
        quorum = served.get(DESCRIBE_QUORUM, VersionRange(0, 0))
        if quorum.last < _KRAFT_QUORUM_VERSION:
            fetch = served.get(FETCH)
            raise self._too_old(release_range(fetch.last if fetch else None))
        return served

    def _too_old(self, releases: str) -> WireError:
        return WireError.at(
            self.address,
            f"not a KRaft node of Kafka 3.3 or later: its APIs are those of {releases}"
            " (with ZooKeeper, or before KRaft was ready)",
            hint="use the tools of that release",
            code="not-supported",
        )

    def _missing(self, api: str, key: int, lowest: int) -> WireError:
        served = self.apis.get(key)
        reason = f"the {self.kind.value} there does not serve {api} ({key})"
        if served:
            reason += f" version {lowest}, only {served.first} to {served.last}"
        fetch = self.apis.get(FETCH)
        release = release_range(fetch.last if fetch else None)
        return WireError.at(
            self.address, reason, hint=f"its APIs are those of {release}", code="not-supported"
        )


def refuse_error(connection: Connection, answer: Answer, permission: str = "") -> None:
    """Refuse an answer, or a part of one, that is an error; *permission* as of `error_of`.

    Raises:
        AnswerError: it is.
    """
    if answer.error_code:
        message = getattr(answer, "error_message", None)
        raise connection.error_of(answer.error_code, message, permission)


@cache
def _cached_context(tls: Tls, source: str) -> ssl.SSLContext:
    from kraftops.wire.auth.tls import tls_context  # a door: few clusters have TLS

    return tls_context(tls, source)


def log_in(sasl: Sasl, address: Address, ask: Ask, deadline: Deadline) -> None:
    """Log in at *address*.

    Raises:
        AuthError: the server refuses the login, or does not prove that it knows the password.
        WireError: there is no answer.
    """
    from kraftops.wire.auth import sasl as mechanisms  # a door: few clusters have SASL

    answer = ask("SaslHandshake", deadline, mechanism=sasl.mechanism)
    if answer.error_code:
        enabled = ", ".join(answer.mechanisms or ())
        raise _handshake_error(address, answer.error_code, sasl.mechanism, enabled)

    def exchange(token: bytes) -> bytes:
        answer = ask("SaslAuthenticate", deadline, auth_bytes=token)
        if answer.error_code == error_codes.SASL_AUTHENTICATION_FAILED:
            raise AuthError.at(
                address,
                answer.error_message or "authentication failed",
                hint="check user and password in sasl.jaas.config",
            )
        if answer.error_code:
            raise error_codes.code_error(address, answer.error_code, answer.error_message)
        return bytes(answer.auth_bytes or b"")

    try:
        mechanisms.log_in(sasl, address.host, exchange, deadline)
    except AuthError as error:
        if error.message.startswith(f"{address}: "):
            raise
        raise AuthError.at(address, error.message, error.hint) from error


def _handshake_error(address: Address, code: int, mechanism: str, enabled: str) -> WireError:
    if code == error_codes.UNSUPPORTED_SASL_MECHANISM:
        return AuthError.at(
            address,
            f"Client SASL mechanism '{mechanism}' not enabled in the server,"
            f" enabled mechanisms are [{enabled}]",
            hint="sasl.mechanism in --command-config sets it",
        )
    if code == error_codes.ILLEGAL_SASL_STATE:
        return AuthError.at(
            address,
            "it expects no SASL there",
            hint="PLAINTEXT or SSL is the security.protocol of this listener",
        )
    return error_codes.code_error(address, code, None)
