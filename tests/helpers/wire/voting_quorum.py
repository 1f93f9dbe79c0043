"""A quorum in memory whose voters change, behind connections that can be cut at any request."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch
from uuid import UUID

from kraftops.errors import AnswerError, UnknownOutcomeError
from kraftops.reassign.access import ClusterAccess
from kraftops.reassign.events import Event
from kraftops.voters.access import QuorumAccess
from kraftops.voters.change import VoterChanges
from kraftops.voters.rules import majority
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address, Bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.endpoints import Endpoints

Answer = SimpleNamespace
_EPOCH, _START, _STEP = 3, 1_000_000, 300
_BROKER = 101


class Killed(BaseException):
    """The process ends here."""


def directory(node: int, number: int = 1) -> bytes:
    """Return the id of a metadata directory of a node."""
    return bytes([number, *[0] * 14, node])


def _address(node: int) -> Address:
    return Address(f"c{node}", 9093)


def _registration(node: int) -> tuple[int, dict[str, object]]:
    host, port = _address(node)
    return 0, {"endPoints": [{"name": "CONTROLLER", "host": host, "port": port}]}


class VotingQuorum:
    """Voters by id with their directories, and observers; the leader's clock goes on by requests.

    A controller that is down does not fetch; one that is *behind* fetches and never catches up.
    Changes that would take the majority away fail the test. *cut_at* is the request at which the
    process is killed: with its effect if it is even, before it if it is odd; *mute* changes have
    no answer, with their effect if true. *servers* are the controllers at whose addresses nodes look
    for the quorum, by node.
    """

    def __init__(self, voters: int, *, is_static: bool = False) -> None:
        self.voters = {node: directory(node) for node in range(1, voters + 1)}
        self.observers: list[tuple[int, bytes]] = []
        self.is_static = is_static
        self.down: set[int] = set()
        self.behind: set[int] = set()
        self.joining: set[int] = set()
        self.servers: dict[int, set[int]] = {}
        self.leader = 1
        self.requests = 0
        self.cut_at: int | None = None
        self.mute: list[bool] = []
        self.errors: list[int] = []
        self.changes: list[str] = []
        self.events: list[Event] = []
        self._now = _START
        self._fetched: dict[tuple[int, bytes], int] = {}

    def observe(self, node: int, number: int = 1) -> None:
        self.observers.append((node, directory(node, number)))

    def access(self, seconds: float | None = None) -> QuorumAccess:
        endpoints = Endpoints([Bootstrap(Address("b", 1))], Settings())
        deadline = None if seconds is None else Deadline(seconds)
        cluster = _Cluster(endpoints, deadline=deadline)
        cluster.quorum = self
        return QuorumAccess(cluster)

    def run(self, action: str, *nodes: int, seconds: float | None = None) -> bool:
        """Change the voters; return whether something was to be done."""
        access = self.access(seconds)
        listeners = [("CONTROLLER", Address("c", 9093))]
        changes = VoterChanges(access, self.events.append, listeners)
        registered = {*self.voters, *(node for node, _ in self.observers), *self.down} - {_BROKER}
        image = SimpleNamespace(
            controllers={node: node for node in registered},
            read=_registration,
            brokers={_BROKER: 0},
        )
        servers = {node: frozenset(map(_address, nodes)) for node, nodes in self.servers.items()}
        with (
            patch.object(QuorumAccess, "image", lambda _: image),
            patch.object(QuorumAccess, "servers_by_node", lambda *_: servers),
            patch.object(QuorumAccess, "joins_itself", lambda _, node, __: node in self.joining),
            patch("time.sleep"),
            patch("kraftops.voters.quorum._LOOK_SECONDS", 0.002),
            patch("kraftops.voters.change._UNKNOWN_SECONDS", 0.002),
        ):
            return bool(getattr(changes, action)(*nodes))

    def answer(self, api: str, values: dict[str, Any]) -> Answer:
        self.requests += 1
        self._advance()
        if self.cut_at is not None and self.requests * 2 - 1 == self.cut_at:
            raise Killed
        found: Answer
        found = self._describe() if api == "DescribeQuorum" else self._changed(api, values)
        if self.cut_at is not None and self.requests * 2 == self.cut_at:
            raise Killed
        return found

    def _advance(self) -> None:
        self._now += _STEP
        for key in [*self.voters.items(), *self.observers]:
            if key[0] not in self.down or key in self.observers:
                self._fetched[key] = self._now

    def _describe(self) -> Answer:
        partition = Answer(
            error_code=0, leader_id=self.leader, leader_epoch=_EPOCH, high_watermark=100,
            current_voters=[self._state(*key) for key in self.voters.items()],
            observers=[self._state(*key) for key in self.observers],
        )  # fmt: skip
        return Answer(error_code=0, topics=[Answer(partitions=[partition])], nodes=[])

    def _state(self, node: int, directory_id: bytes) -> Answer:
        fetched = self._fetched.get((node, directory_id), _START - 1)
        return Answer(
            replica_id=node,
            replica_directory_id=UUID(bytes=bytes(16) if self.is_static else directory_id),
            log_end_offset=60 if node in self.behind else 100,
            last_fetch_timestamp=fetched,
            last_caught_up_timestamp=_START - 1 if node in self.behind else fetched,
        )

    def _changed(self, api: str, values: dict[str, Any]) -> Answer:
        if self.errors:
            return Answer(error_code=self.errors.pop(), error_message=None)
        has_effect = self.mute.pop() if self.mute else None
        code = 0 if has_effect is False else self._apply(api, values)
        if has_effect is not None:
            raise UnknownOutcomeError("it gives no answer")
        return Answer(error_code=code, error_message=None)

    def _apply(self, api: str, values: dict[str, Any]) -> int:
        node, key = values["voter_id"], values["voter_directory_id"].bytes
        if self.is_static:
            return 35
        if api == "AddRaftVoter":
            if node in self.voters:
                return 126
            assert (node, key) in self.observers
            assert node not in self.behind, "a voter is added that has not caught up"
            self.voters[node] = key
            self.observers.remove((node, key))
            self.down.discard(node)
        else:
            if self.voters.get(node) != key or len(self.voters) == 1:
                return 127
            del self.voters[node]
            if node not in self.down:
                self.observers.append((node, key))
        self.changes.append(f"{'+' if api == 'AddRaftVoter' else '-'}{node}")
        assert len(self.running) >= majority(len(self.voters)), "the majority is lost"
        if self.leader not in self.voters:
            self.leader = min(self.running)
        return 0

    @property
    def running(self) -> set[int]:
        return {*self.voters} - self.down - self.behind


class _Cluster(ClusterAccess):
    quorum: VotingQuorum

    def ask(self, request: Callable[[Any], Any]) -> Any:
        return request(_Connection(self.quorum))


class _Connection:
    address = Address("b", 1)

    def __init__(self, quorum: VotingQuorum) -> None:
        self.deadline = Deadline(1)
        self._quorum = quorum

    def ask(self, api: str, /, **values: Any) -> Answer:
        return self._quorum.answer(api, values)

    def change(self, api: str, /, **values: Any) -> Answer:
        return self._quorum.answer(api, values)

    def error_of(self, code: int, message: str | None, _: str = "") -> AnswerError:
        return AnswerError(f"{self.address}: {message}", error_code=code)
