"""As much of Kafka's protocol as tests need to ask a node how it is."""

import base64
import hashlib
import hmac
import secrets
import socket
import struct
from collections.abc import Callable, Mapping
from typing import NamedTuple, Self, TypeVar

ANSWER_SECONDS = 10
METADATA_TOPIC = "__cluster_metadata"

_PRODUCE, _METADATA, _SASL_HANDSHAKE, _API_VERSIONS, _CREATE_TOPICS = 0, 3, 17, 18, 19
_SASL_AUTHENTICATE, _DESCRIBE_QUORUM, _DESCRIBE_CLUSTER, _REGISTER_BROKER = 36, 55, 60, 62
_FINALIZED_FEATURES = 2  # tag in the answer to ApiVersions (KIP-584)
_AUTHENTICATION_FAILED = 58

T = TypeVar("T")


class AnswerError(Exception):
    """A node answered with an error; *code* is Kafka's."""

    def __init__(self, code: int, message: str | None = None) -> None:
        super().__init__(f"error {code}: {message}")
        self.code = code


class Cluster(NamedTuple):
    """The answer to DescribeCluster: a broker's unfenced brokers, or a controller's controllers.

    The *controller* is the quorum's leader when a controller answered, any broker otherwise.
    """

    cluster_id: str
    controller: int
    nodes: frozenset[int]


class Quorum(NamedTuple):
    """The voters and observers of the metadata log."""

    leader: int
    voters: frozenset[int]
    observers: frozenset[int]


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._pos = 0

    def take(self, size: int) -> bytes:
        part = self._data[self._pos : self._pos + size]
        if len(part) < size:
            raise ConnectionError(f"an answer of {len(self._data)} bytes ends too early")
        self._pos += size
        return part

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), signed=True)

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def string(self, *, compact: bool = False) -> str | None:
        size = self.varint() - 1 if compact else self.number(2)
        return None if size < 0 else self.take(size).decode()

    def text(self, *, compact: bool = False) -> str:
        return self.string(compact=compact) or ""

    def array(self, item: "Callable[[_Reader], T]", *, compact: bool = False) -> list[T]:
        size = self.varint() - 1 if compact else self.number(4)
        return [item(self) for _ in range(size)]

    def tags(self) -> dict[int, bytes]:
        return {self.varint(): self.take(self.varint()) for _ in range(self.varint())}

    def fail_on_error(self, *, compact: bool = False) -> None:
        """Read an error code and its message."""
        code, message = self.number(2), self.string(compact=compact)
        if code:
            raise AnswerError(code, message)


class Connection:
    """A connection to a listener; a context manager.

    Raises (all of its methods):
        OSError: nobody listens, or nobody answers in time, or with anything like an answer.
        AnswerError: the answer is an error.
    """

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("localhost", port), ANSWER_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def cluster(self, *, of_controllers: bool = False) -> Cluster:
        """Describe the cluster as seen by a broker or a controller."""
        # Version 1 says which (KIP-919); the brokers of releases before know only version 0.
        version, body = (1, b"\0\2\0") if of_controllers else (0, b"\0\0")
        answer = self._ask(_DESCRIBE_CLUSTER, version, body, flexible=True)
        answer.number(4)  # throttled for
        answer.fail_on_error(compact=True)
        if of_controllers:
            answer.number(1)  # what the nodes are
        cluster_id, controller = answer.text(compact=True), answer.number(4)

        def node(one: _Reader) -> int:
            node_id = one.number(4)
            one.text(compact=True)
            one.number(4)
            one.string(compact=True)
            one.tags()
            return node_id

        return Cluster(cluster_id, controller, frozenset(answer.array(node, compact=True)))

    def quorum(self) -> Quorum:
        """Describe the quorum of the metadata log."""
        body = b"\2" + _compact(METADATA_TOPIC) + b"\2\0\0\0\0\0\0\0"
        answer = self._ask(_DESCRIBE_QUORUM, 0, body, flexible=True)

        def replica(one: _Reader) -> int:
            node_id = one.number(4)
            one.number(8)
            one.tags()
            return node_id

        def partition(one: _Reader) -> Quorum:
            one.number(4)
            _fail_on(one.number(2))
            leader = one.number(4)
            one.take(12)  # epoch, high watermark
            voters, observers = (frozenset(one.array(replica, compact=True)) for _ in range(2))
            one.tags()
            return Quorum(leader, voters, observers)

        def topic(one: _Reader) -> list[Quorum]:
            one.text(compact=True)
            partitions = one.array(partition, compact=True)
            one.tags()
            return partitions

        _fail_on(answer.number(2))
        return answer.array(topic, compact=True)[0][0]

    def features(self) -> dict[str, int]:
        """Return the finalized levels of features, metadata.version among them."""
        client = _compact("kraftops-tests") + _compact("1") + b"\0"
        answer = self._ask(_API_VERSIONS, 3, client, flexible=True, tagged_answer=False)
        _fail_on(answer.number(2))

        def api(one: _Reader) -> None:
            one.take(6)
            one.tags()

        def feature(one: _Reader) -> tuple[str, int]:
            name, level = one.text(compact=True), one.number(2)
            one.number(2)
            one.tags()
            return name, level

        answer.array(api, compact=True)
        answer.number(4)  # throttled for
        finalized = _Reader(answer.tags().get(_FINALIZED_FEATURES, b"\1"))
        return dict(finalized.array(feature, compact=True))

    def register_broker(self, broker_id: int, cluster_id: str, features: Mapping[str, int]) -> None:
        """Register a broker with the controller that leads; it stays fenced without heartbeats."""
        levels = b"".join(
            _compact(name) + struct.pack(">hh", min(level, 1), level) + b"\0"
            for name, level in features.items()
        )
        listener = _compact("PLAINTEXT") + _compact("localhost") + struct.pack(">Hh", 9, 0) + b"\0"
        body = struct.pack(">i", broker_id) + _compact(cluster_id) + secrets.token_bytes(16)
        body += b"\2" + listener + bytes([len(features) + 1]) + levels
        body += b"\0\0" + b"\2" + secrets.token_bytes(16) + struct.pack(">q", -1) + b"\0"
        answer = self._ask(_REGISTER_BROKER, 4, body, flexible=True)
        answer.number(4)  # throttled for
        _fail_on(answer.number(2))

    def create_topic(self, name: str, partitions: int) -> None:
        """Create a topic whose partitions have one replica each."""
        topic = _string(name) + struct.pack(">ihii", partitions, 1, 0, 0)
        body = b"\0\0\0\1" + topic + struct.pack(">ib", ANSWER_SECONDS * 1000, 0)
        answer = self._ask(_CREATE_TOPICS, 2, body)
        answer.number(4)  # throttled for

        def created(one: _Reader) -> None:
            one.text()
            one.fail_on_error()

        answer.array(created)

    def produce(self, topic: str, batch: bytes, partition: int = 0) -> int:
        """Append a batch to a partition of a topic; return the offset that it got."""
        body = _string(topic) + struct.pack(">iii", 1, partition, len(batch)) + batch
        head = struct.pack(">hhii", -1, -1, ANSWER_SECONDS * 1000, 1)
        answer = self._ask(_PRODUCE, 3, head + body)

        def appended(one: _Reader) -> int:
            one.number(4)  # partition
            _fail_on(one.number(2))
            offset = one.number(8)
            one.number(8)  # time of the log
            return offset

        def of_topic(one: _Reader) -> list[int]:
            one.text()
            return one.array(appended)

        return answer.array(of_topic)[0][0]

    def topics(self) -> dict[str, int]:
        """Return all topics, and how many of their partitions have a leader."""
        answer = self._ask(_METADATA, 1, b"\xff\xff\xff\xff")

        def broker(one: _Reader) -> None:
            one.number(4)
            one.text()
            one.number(4)
            one.string()

        def led(one: _Reader) -> bool:
            error, _, leader = one.number(2), one.number(4), one.number(4)
            for _ in range(2):  # replicas, those in sync
                one.array(lambda ids: ids.number(4))
            return not error and leader >= 0

        def topic(one: _Reader) -> tuple[str, int]:
            _fail_on(one.number(2))
            name = one.text()
            one.number(1)  # internal
            return name, sum(one.array(led))

        answer.array(broker)
        answer.number(4)  # controller
        return dict(answer.array(topic))

    def logs_in(self, user: str, password: str, mechanism: str = "SCRAM-SHA-256") -> bool:
        """Tell whether the node takes the password, and proves that it knows it too (RFC 5802).

        Raises:
            AnswerError: it does not get so far.
        """
        handshake = self._ask(_SASL_HANDSHAKE, 1, _string(mechanism))
        _fail_on(handshake.number(2))
        try:
            return self._exchange_proofs(user, password, mechanism)
        except AnswerError as refused:
            if refused.code == _AUTHENTICATION_FAILED:
                return False
            raise

    def _exchange_proofs(self, user: str, password: str, mechanism: str) -> bool:
        digest = mechanism.removeprefix("SCRAM-").replace("-", "").lower()
        escaped = user.replace("=", "=3D").replace(",", "=2C")
        bare = f"n={escaped},r={secrets.token_hex(12)}"
        first = self._token(f"n,,{bare}")
        fields = _fields(first)
        final = f"c=biws,r={fields['r']}"
        signed = f"{bare},{first},{final}".encode()
        salt, rounds = base64.b64decode(fields["s"]), int(fields["i"])
        salted = hashlib.pbkdf2_hmac(digest, password.encode(), salt, rounds)
        client_key = hmac.digest(salted, b"Client Key", digest)
        signature = hmac.digest(hashlib.new(digest, client_key).digest(), signed, digest)
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        last = self._token(f"{final},p={base64.b64encode(proof).decode()}")
        server_key = hmac.digest(salted, b"Server Key", digest)
        proved = base64.b64decode(_fields(last)["v"])
        return hmac.compare_digest(proved, hmac.digest(server_key, signed, digest))

    def _token(self, text: str) -> str:
        token = text.encode()
        body = struct.pack(">i", len(token)) + token
        answer = self._ask(_SASL_AUTHENTICATE, 0, body)
        answer.fail_on_error()
        return answer.take(answer.number(4)).decode()

    def _ask(
        self,
        key: int,
        version: int,
        body: bytes,
        *,
        flexible: bool = False,
        tagged_answer: bool = True,
    ) -> _Reader:
        header = struct.pack(">hhih", key, version, 0, -1) + (b"\0" if flexible else b"")
        self._socket.sendall(struct.pack(">i", len(header + body)) + header + body)
        size = int.from_bytes(self._receive(4))
        answer = _Reader(self._receive(size))
        answer.number(4)  # correlation
        if flexible and tagged_answer:
            answer.tags()
        return answer

    def _receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            if not part:
                raise ConnectionError("the node closed the connection")
            data += part
        return data


def _fail_on(code: int) -> None:
    if code:
        raise AnswerError(code)


def _string(text: str) -> bytes:
    return struct.pack(">h", len(text.encode())) + text.encode()


def _compact(text: str) -> bytes:
    assert len(text) < 127
    return bytes([len(text) + 1]) + text.encode()


def _fields(message: str) -> dict[str, str]:
    return dict(field.split("=", 1) for field in message.split(","))
