"""Mark that `kafka-storage recover` leaves in a metadata log: an epoch that begins with voters.

A leader begins its epoch with a LeaderChangeMessage, and only after that writes other control
records (`LeaderState.appendStartOfEpochControlRecords`, 3.9.1 to 4.3.1; so did all 570 epochs of
real logs of these releases). A recovery elects no leader: its epoch begins with the VotersRecord.
The mark is in every replica, until a snapshot takes the place of the segment.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from kraftops.log.batch import Batch, Header
from kraftops.memory import LEAST
from kraftops.records import control
from kraftops.records.meaning import Decoded
from kraftops.server.metadata_log.content import voters_of
from kraftops.server.metadata_log.files import Snapshot, metadata_records
from kraftops.server.voters import Voter


class RecoveryMark(NamedTuple):
    """Place of a recovery in a log, the voters that it wrote, and whether others came since."""

    offset: int
    epoch: int
    voters: tuple[Voter, ...]
    is_superseded: bool = False


def voter_identities(voters: Iterable[Voter]) -> frozenset[tuple[int, bytes]]:
    """Return the node and directory ids of voters: their addresses may change."""
    return frozenset((voter.node_id, voter.directory_id) for voter in voters)


class RecoveryMarks:
    """The newest recovery of the batches of a log in order.

    *electors* are the ids of the voters at the newest election: of a static quorum, no other record
    names them.
    """

    def __init__(self, snapshot: Snapshot | None) -> None:
        self._snapshot = snapshot
        self._meter = LEAST.meter()
        self._epoch: int | None = None
        self.newest: RecoveryMark | None = None
        self.electors: frozenset[int] = frozenset()

    def observe(self, header: Header, batch: Batch) -> None:
        begins_epoch = header.leader_epoch > self._epoch_before(header)
        self._epoch = header.leader_epoch
        if not header.is_control:
            return
        voters: tuple[Voter, ...] | None = None
        for record in metadata_records(batch, self._meter):
            decoded = control.decode(record.key, record.value)
            if isinstance(decoded, Decoded) and decoded.type == "LEADER_CHANGE":
                begins_epoch = False
                election: Any = decoded.data
                self.electors = frozenset(voter["voterId"] for voter in election["voters"])
            elif isinstance(decoded, Decoded) and decoded.type == "KRAFT_VOTERS":
                voters = voters_of(decoded.data)
        if voters is None:
            return
        if begins_epoch:
            self.newest = RecoveryMark(header.base_offset, header.leader_epoch, voters)
        elif self.newest and voter_identities(voters) != voter_identities(self.newest.voters):
            self.newest = self.newest._replace(is_superseded=True)

    def _epoch_before(self, header: Header) -> int:
        """Return the epoch before a batch; its own where that is unknown."""
        if self._epoch is not None:
            return self._epoch
        snapshot = self._snapshot
        follows = snapshot and 0 < snapshot.end_offset == header.base_offset
        return snapshot.epoch if snapshot and follows else header.leader_epoch
