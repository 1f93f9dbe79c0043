"""Find the controller that leads the quorum, by asking those that are known."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Sequence

from kraftops.errors import AnswerError, AuthError, WireError
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address, Bootstrap
from kraftops.wire.net.deadline import PAUSE, Deadline
from kraftops.wire.quorum.fetching import WRONG_LEADER, Place, fetch
from kraftops.wire.rpc.bootstrap import all_failed
from kraftops.wire.rpc.connection import Connection, Kind

_MOST_EPOCHS = 4  # answers of one controller that correct the epoch, before it is left
_LITTLE = 1


class Leadership:
    """Who leads, as far as it is known: the epoch, and all addresses that were ever named.

    A Fetch to any controller tells who leads, with no other permission than to read the log.
    """

    def __init__(
        self, bootstrap: Sequence[Bootstrap], settings: Settings, cluster_id: str | None
    ) -> None:
        self.epoch = 0
        self.leader = -1
        self._is_reached = False
        self._settings = settings
        self._cluster_id = cluster_id
        self._known = {each.address: None for each in bootstrap}  # in their order
        self._ids = {e.node_id: e.address for e in bootstrap if e.node_id is not None}

    def connect(self, place: Place, deadline: Deadline) -> Connection:
        """Return a connection to the leader.

        Once a controller has answered, those that do not are asked again until the deadline.

        Raises:
            WireError: no controller leads by then, or none answers; the message has the reasons.
            AuthError: one does not let us in.
        """
        while True:
            failed: dict[Address, WireError] = {}
            for address in self._to_ask(failed):
                found = self._try(address, place, deadline, failed)
                if found:
                    return found
                if deadline.is_over:
                    break
            if deadline.left < PAUSE or not self._is_reached:
                raise all_failed([*failed.values()], len(failed))
            time.sleep(PAUSE)

    def _to_ask(self, asked: dict[Address, WireError]) -> Iterable[Address]:
        """Yield the addresses that are not *asked*: first who is said to lead, then all others."""
        waiting = deque(self._known)
        while True:
            named = self._ids.get(self.leader)
            if named is not None and named not in asked:
                yield named
            elif waiting:
                address = waiting.popleft()
                if address not in asked:
                    yield address
            else:
                return

    def _try(
        self,
        address: Address,
        place: Place,
        deadline: Deadline,
        failed: dict[Address, WireError],
    ) -> Connection | None:
        try:
            connection = Connection(address, self._settings, deadline)
        except AuthError:
            raise
        except WireError as error:
            failed[address] = error
            return None
        try:
            if connection.kind is Kind.BROKER:
                failed[address] = WireError(
                    f"{address}: a broker answers there, not a controller",
                    hint="the metadata log is read from controllers only",
                )
            elif self._leads(connection, place, deadline):
                self._is_reached = True
                return connection
            else:
                self._is_reached = True
                reason = f"controller {self.leader} leads" if self.leader >= 0 else "no one leads"
                failed[address] = WireError(
                    f"{address}: it does not lead the quorum: {reason}, it says",
                    hint="give the addresses of all controllers",
                )
        except AnswerError:
            connection.close()
            raise  # it refuses, and so would the others
        except WireError as error:
            failed[address] = error
        connection.close()
        return None

    def _leads(self, connection: Connection, place: Place, deadline: Deadline) -> bool:
        """Tell whether a controller leads; learn from its answer who does otherwise."""
        for _ in range(_MOST_EPOCHS):
            found = fetch(
                connection,
                place,
                self.epoch,
                most=_LITTLE,
                wait_ms=0,
                cluster_id=self._cluster_id,
                deadline=deadline,
            )
            if found.error not in WRONG_LEADER:
                if found.error:
                    raise connection.fail(found.error, None)
                self._known.setdefault(connection.address)
                return True
            is_new = found.epoch > self.epoch
            self.epoch = max(found.epoch, self.epoch)
            self.leader = found.leader
            if found.leader >= 0 and found.leader_address:
                self._ids[found.leader] = found.leader_address
                self._known.setdefault(found.leader_address)
            if not is_new:
                return False
        return False
