"""Voters added, removed and replaced, one at a time; each can be killed and run again."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kraftops.display.sizes import many
from kraftops.errors import AnswerError, KraftopsError, RefusedError, UnknownOutcomeError, WireError
from kraftops.reassign.events import Event, Report
from kraftops.uuids import ZERO, to_text
from kraftops.voters.access import SERVERS, QuorumAccess, listeners_in
from kraftops.voters.quorum import Quorum, end_offset, voter_keys
from kraftops.voters.rules import why_not_add, why_not_remove
from kraftops.wire.cluster import PATIENCE_SECONDS
from kraftops.wire.net.deadline import PAUSE, Deadline
from kraftops.wire.rpc.cluster import QuorumInfo, ReplicaState
from kraftops.wire.rpc.connection import Connection
from kraftops.wire.rpc.error_codes import may_pass
from kraftops.wire.rpc.voters import STATIC_HINT, Listener, NewVoter, add_voter, remove_voter

_DUPLICATE_VOTER, _VOTER_NOT_FOUND = 126, 127  # `Errors` of Kafka (KIP-853)
_PROGRESS_SECONDS = 10.0  # between two lines about the same wait: six lines a minute in a log
_REGISTRATION_SECONDS = 10.0  # ControllerRegistrationManager registers once it has caught up
_UNKNOWN_SECONDS = 5.0  # for a change without an answer to show in the quorum


@dataclass(frozen=True, slots=True)
class VoterChanges:
    """Changes of a quorum's voters; *report* gets each step.

    *listeners* are those of the new voter, if its registration in the metadata log cannot be read.
    """

    access: QuorumAccess
    report: Report
    listeners: Sequence[Listener] = ()

    def add(self, node: int) -> bool:
        """Add a voter when it has caught up; return False if it votes already.

        Raises:
            RefusedError: the voters are static, or too few of them are up.
            KraftopsError: it has not caught up in time, or has no listeners.
            WireError: no server answers, or none leads.
        """
        quorum = self._dynamic()
        voter = quorum.voter(node)
        if voter is not None:
            newer = quorum.observers(node)
            if newer and node not in quorum.voter_set.caught_up:
                raise RefusedError(
                    f"controller {node} votes with another directory than it runs with:"
                    f" {_directory(voter)}, not {_directory(newer[0])}",
                    hint=f"kafka-cluster controllers replace --id {node} exchanges them",
                )
            return False
        _refuse(why_not_add(quorum.voter_set, node), f"controller {node} must not be added")
        self._add(node, self._caught_up(node))
        return True

    def remove(self, node: int) -> bool:
        """Remove a voter; return False if it does not vote, and has done so or could.

        Raises:
            RefusedError: the voters are static, the rest would be no majority, or it would join
                again.
            KraftopsError: there is no such controller.
            WireError: no server answers, or none leads.
        """
        quorum = self._dynamic()
        voter = quorum.voter(node)
        if voter is None:
            self._check_exists(quorum, node)
            return False
        self._check_removable(quorum, voter)
        self._refuse_losing_nodes(quorum, node)
        self._remove(voter)
        return True

    def replace(self, old: int, new: int) -> bool:
        """Replace a voter by a controller, or by the same one with a new directory.

        A voter that is up is removed when the other one votes. One that is down is removed first,
        so that it does not count among those that must agree: its successor has caught up then.
        Return False if that is done already; errors as `add` and `remove`.
        """
        quorum = self._dynamic()
        before, after = quorum.voter(old), quorum.voter(new)
        if before is not None:
            self._refuse_losing_nodes(quorum, old, new)
        if old == new:
            return self._exchange(quorum, old)
        if before is None:
            self._check_exists(quorum, old)
            return self.add(new)
        if after is None and old in quorum.voter_set.caught_up:
            self._refuse_joining(old, quorum)
            self.add(new)
            self.remove(old)
            return True
        self._check_removable(quorum, before)
        replica = None if after else self._caught_up(new)
        self._remove(before)
        if replica:
            self._add(new, replica)
        return True

    def _exchange(self, quorum: Quorum, node: int) -> bool:
        voter = quorum.voter(node)
        if voter is None:
            return self.add(node)
        if node in quorum.voter_set.caught_up:
            return False
        self._check_removable(quorum, voter)
        replica = self._caught_up(node)
        if replica.directory_id == voter.directory_id:
            return False
        self._remove(voter)
        self._add(node, replica)
        return True

    def _dynamic(self) -> Quorum:
        quorum = self.access.quorum()
        if not quorum.is_dynamic:
            raise RefusedError(
                "the voters of this quorum are static: each node has them in"
                " controller.quorum.voters",
                STATIC_HINT,
                code="static-quorum",
            )
        return quorum

    def _check_exists(self, quorum: Quorum, node: int) -> None:
        """Refuse an id that no controller has or had; nothing is known without the log."""
        try:
            image = self.access.image()
        except WireError:
            return
        controllers = image.controllers
        if node not in controllers and not (quorum.observers(node) and node not in image.brokers):
            raise KraftopsError(
                f"no controller has the id {node}",
                hint=f"controllers are {', '.join(map(str, sorted(controllers)))}",
                code="not-found",
            )

    def _check_removable(self, quorum: Quorum, voter: ReplicaState) -> None:
        node = voter.node_id
        _refuse(why_not_remove(quorum.voter_set, node), f"controller {node} must not be removed")
        self._refuse_joining(node, quorum)

    def _refuse_joining(self, node: int, quorum: Quorum) -> None:
        """Refuse to remove a controller that runs, and would add itself again."""
        is_up = node in quorum.voter_set.caught_up
        if is_up and self.access.joins_itself(node, quorum.info.listeners.get(node, ())):
            raise RefusedError(
                f"controller {node} would join again: it has controller.quorum.auto.join.enable",
                hint="stop it first",
            )

    def _refuse_losing_nodes(self, quorum: Quorum, old: int, *successors: int) -> None:
        """Refuse to remove the last voter at the addresses where nodes look for the quorum.

        They find no other leader then, until they are restarted with others (measured: brokers of
        3.9.1 and 4.3.1 answer nothing that needs a leader). An address that no controller is known
        by may be another name of one, and decides nothing.
        """
        addresses = self.access.listeners_of(quorum)
        voters = quorum.voter_set.voters - {old} | {*successors}
        staying = {address for node in voters for address in addresses.get(node, ())}
        staying.update(address for _, address in self.listeners)
        gone = {address for points in addresses.values() for address in points} - staying
        servers = self.access.servers_by_node(quorum, old)
        if lost := [node for node, points in servers.items() if points <= gone]:
            names = ", ".join(map(str, sorted(lost)))
            raise RefusedError(
                f"no voter would be left at the addresses where nodes look for the quorum: {names}",
                hint=f"add those of other voters to their {SERVERS}, and restart them",
                code="quorum-not-found",
                nodes=sorted(lost),
            )
        if not servers:
            self.access.cluster.note(
                f"{SERVERS} of the nodes cannot be seen: it must lead to a voter that stays"
            )

    def _caught_up(self, node: int) -> ReplicaState:
        """Wait until a node observes the log, has all of it and has listeners; return it.

        Raises:
            KraftopsError: it does not appear within a minute, or has not caught up in time.
        """
        deadline = self.access.cluster.deadline
        first = Deadline(PATIENCE_SECONDS) if deadline is None else deadline
        quorum, next_line = self.access.quorum(), 0.0
        while True:
            replicas = quorum.observers(node)
            if len(replicas) > 1:
                raise RefusedError(
                    f"two controllers run with the id {node}, with the directories"
                    f" {' and '.join(map(_directory, replicas))}",
                    hint="stop one of them",
                )
            if replicas and quorum.is_caught_up(replicas[0]):
                self._listeners_of(node)  # nothing is changed without them
                return replicas[0]
            reason = "does not follow the metadata log yet: is it running?"
            if replicas:
                records = end_offset(quorum.info) - replicas[0].end_offset
                reason = f"is {many(records, 'record')} behind"
            limit = deadline if replicas else first
            if limit is not None and limit.is_over:
                raise KraftopsError(
                    f"after {limit.seconds:g} s, controller {node} {reason}",
                    hint="run it again to wait on; --timeout SECONDS waits longer",
                    code="not-in-time",
                )
            if time.monotonic() >= next_line:
                next_line = time.monotonic() + _PROGRESS_SECONDS
                self.report(Event("waiting", f"controller {node} {reason}", {"id": node}))
            time.sleep(PAUSE)
            try:
                quorum = quorum.later(self.access.describe())
            except WireError:
                if limit is None or not limit.is_over:
                    raise

    def _add(self, node: int, replica: ReplicaState) -> None:
        directory_id = replica.directory_id
        assert directory_id
        quorum = self.access.quorum()  # the newcomer may have been waited for
        _refuse(why_not_add(quorum.voter_set, node), f"controller {node} must not be added")

        def add(connection: Connection) -> None:
            # A controller that has just started on another host registers its listeners again.
            add_voter(connection, NewVoter(node, directory_id, self._listeners_of(node)))

        def is_done(info: QuorumInfo) -> bool:
            return (node, directory_id) in voter_keys(info)

        self._change(add, is_done)
        self.report(Event("added", f"controller {node} votes: {_directory(replica)}", {"id": node}))

    def _listeners_of(self, node: int) -> Sequence[Listener]:
        """Wait for a new voter to register its listeners; an option can name them.

        Raises:
            KraftopsError: it has none, or they cannot be read.
        """
        if self.listeners:
            return self.listeners
        hint = "--listener CONTROLLER://HOST:PORT gives them"
        for _ in Deadline(_REGISTRATION_SECONDS).attempts():
            try:
                image = self.access.image()
            except WireError as error:
                message = f"the listeners of controller {node} are not known: {error.message}"
                raise KraftopsError(message, hint, code=error.code) from error
            if listeners := listeners_in(image, node):
                return listeners
        raise KraftopsError(
            f"node {node} has not registered as a controller", hint, code="not-found"
        )

    def _remove(self, voter: ReplicaState) -> None:
        node, directory_id = voter.node_id, voter.directory_id
        assert directory_id
        quorum = self.access.quorum()  # its successor may have been waited for
        _refuse(why_not_remove(quorum.voter_set, node), f"controller {node} must not be removed")

        def is_done(info: QuorumInfo) -> bool:
            return (node, directory_id) not in voter_keys(info)

        self._change(lambda connection: remove_voter(connection, node, directory_id), is_done)
        self.report(
            Event("removed", f"controller {node} no longer votes: {_directory(voter)}",
                  {"id": node})
        )  # fmt: skip

    def _change(
        self, request: Callable[[Connection], None], is_done: Callable[[QuorumInfo], bool]
    ) -> None:
        """Ask for a change until the quorum shows it, and until it is committed.

        Raises:
            UnknownOutcomeError: there was no answer, and the quorum does not show it.
            AnswerError: it is refused, or the leader could not do it for a minute.
        """
        deadline = self.access.cluster.deadline
        patience = Deadline(PATIENCE_SECONDS) if deadline is None else deadline
        while True:
            reason: WireError | None = None
            try:
                self.access.ask(request)
            except (UnknownOutcomeError, AnswerError) as error:
                if isinstance(error, AnswerError) and not _is_worth_a_look(error):
                    raise
                reason = error
            is_unknown = isinstance(reason, UnknownOutcomeError)
            shows = Deadline(_UNKNOWN_SECONDS if is_unknown or reason is None else 0.0)
            while not is_done(info := self.access.describe()) and not shows.is_over:
                time.sleep(PAUSE)
            if is_done(info):
                self._commit(info)
                return
            if reason is not None and (is_unknown or patience.is_over):
                raise reason
            time.sleep(PAUSE)

    def _commit(self, info: QuorumInfo) -> None:
        """Wait until the log is committed up to where the leader has it now.

        A leader uses a set of voters as soon as it has written it (KRaftControlRecordStateMachine).
        """
        end = end_offset(info)
        patience = Deadline(PATIENCE_SECONDS)
        while info.high_watermark < end:
            if patience.is_over:
                raise UnknownOutcomeError(
                    "the leader has written the change, and the voters have not agreed to it",
                    hint="kafka-cluster controllers shows who is behind",
                )
            time.sleep(PAUSE)
            info = self.access.describe()


def _is_worth_a_look(error: AnswerError) -> bool:
    return error.error_code in (_DUPLICATE_VOTER, _VOTER_NOT_FOUND) or may_pass(error)


def _refuse(reason: str | None, what: str) -> None:
    if reason is not None:
        raise RefusedError(
            f"{what}: {reason}",
            hint="start the voters that are down, or remove them first",
            code="majority-at-risk",
        )


def _directory(replica: ReplicaState) -> str:
    return f"directory {to_text(replica.directory_id or ZERO)}"
