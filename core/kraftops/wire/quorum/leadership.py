"""Search for the leader of the quorum among the known controllers."""

import time
from collections.abc import Collection

from kraftops.errors import AnswerError, WireError
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.deadline import PAUSE, Deadline
from kraftops.wire.quorum.fetch import WRONG_LEADER_CODES, FetchPosition, FetchRequest, fetch
from kraftops.wire.rpc.bootstrap import all_failed, answering
from kraftops.wire.rpc.connection import Connection, NodeKind
from kraftops.wire.rpc.endpoints import Endpoints
from kraftops.wire.rpc.leader import no_leader

_MAX_EPOCH_CORRECTIONS = 4  # by answers of one controller: each takes another election


class Leadership:
    """The known leader and epoch, and all addresses of controllers that were named.

    The answer of any controller to a Fetch names the leader, and needs only the permission to
    read the log.
    """

    def __init__(self, target: Endpoints) -> None:
        """Begin with the addresses of *target*."""
        self.epoch = 0
        self.leader = -1
        self._has_answer = False
        self._target = target
        self._known = {bootstrap.address: None for bootstrap in target.bootstrap}  # in their order
        self._addresses = {
            bootstrap.node_id: bootstrap.address
            for bootstrap in target.bootstrap
            if bootstrap.node_id is not None
        }

    def connect(self, position: FetchPosition, deadline: Deadline) -> Connection:
        """Ask one controller after another for a Fetch from *position*; only the leader answers.

        Once a controller has answered, the others are tried again until the deadline.

        Raises:
            WireError: no controller leads by then, or none answers; the message has the reasons.
            AuthError: a controller refuses the login.
        """
        failed: dict[Address, WireError] = {}
        followers: set[Address] = set()  # of all rounds: the deadline may cut the last one short
        while True:
            for connection in answering(
                self._addresses_besides(failed), self._target.settings, deadline, failed
            ):
                if self._is_leader(connection, position, deadline, failed):
                    return connection
                if self._addresses.get(self.leader, connection.address) not in failed:
                    break  # the leader that it names has a head start then
            else:
                followers |= {
                    address for address, error in failed.items() if error.code == "no-leader"
                }
                if deadline.left < PAUSE or not self._has_answer:
                    if followers and self.leader < 0:
                        raise no_leader(len(followers), len(followers | failed.keys()))
                    raise all_failed([*failed.values()], len(failed))
                time.sleep(PAUSE)
                failed = {}

    def _addresses_besides(self, failed: Collection[Address]) -> list[Address]:
        """Order the addresses that have not *failed*: the named leader comes first."""
        named = self._addresses.get(self.leader)
        addresses = dict.fromkeys([named] if named else []) | self._known
        return [address for address in addresses if address not in failed]

    def _is_leader(
        self,
        connection: Connection,
        position: FetchPosition,
        deadline: Deadline,
        failed: dict[Address, WireError],
    ) -> bool:
        """Tell whether the leader answers there; otherwise close it, and put the reason there."""
        address = connection.address
        try:
            if connection.kind is NodeKind.BROKER:
                failed[address] = WireError.at(
                    address,
                    "a broker answers there, not a controller",
                    hint="the metadata log is read from controllers only",
                    code="wrong-node",
                )
            else:
                leads = self._leads(connection, position, deadline)
                self._has_answer = True
                if leads:
                    return True
                failed[address] = WireError.at(
                    address,
                    f"it does not lead the quorum: controller {self.leader} leads, it says",
                    hint="give the addresses of all controllers",
                    code="no-leader",
                )
        except AnswerError:
            connection.close()
            raise  # it refuses, and so would the others
        except WireError as error:
            failed[address] = error
        connection.close()
        return False

    def _leads(self, connection: Connection, position: FetchPosition, deadline: Deadline) -> bool:
        """Tell whether a controller leads; otherwise take leader and epoch from its answer."""
        for _ in range(_MAX_EPOCH_CORRECTIONS):
            request = FetchRequest(
                position=position,
                leader_epoch=self.epoch,
                max_bytes=1,
                wait_ms=0,
                cluster_id=self._target.cluster_id,
            )
            fetched = fetch(connection, request, deadline)
            if fetched.error not in WRONG_LEADER_CODES:
                if fetched.error:
                    raise connection.error_of(fetched.error, None)
                self._known.setdefault(connection.address)
                return True
            is_new = fetched.epoch > self.epoch
            self.epoch = max(fetched.epoch, self.epoch)
            self.leader = fetched.leader
            if fetched.leader >= 0 and fetched.leader_address:
                self._addresses[fetched.leader] = fetched.leader_address
                self._known.setdefault(fetched.leader_address)
            if not is_new:
                return False
        return False
