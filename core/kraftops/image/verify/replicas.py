"""Comparison of the replicas of one metadata log: a quorum's logs are equal, batch by batch.

Segments are compared where they overlap. A log that ends before another is only behind it, and one
that begins later has been cleaned up earlier.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from google_crc32c import value as crc32c

from kraftops.errors import DecodeError, KraftopsError
from kraftops.findings.finding import Finding, Place
from kraftops.image.load.sources import files_of
from kraftops.image.state.findings import REPLICA, log_finding
from kraftops.log.batch import CRC_START, Batch, Record, records
from kraftops.log.streams import open_log
from kraftops.memory import Budget, Meter


class _Replica:
    """A replica, and its next batch; None at its end."""

    def __init__(self, source: str, meter: Meter) -> None:
        """Begin with the first batch of the segments of *source*."""
        self.source = source
        self.path = source
        self.batch: Batch | None = None
        self.has_begun = False
        self._meter = meter
        self._batches = self._walk()
        self._go_on()

    @property
    def offset(self) -> int:
        """The base offset of the next batch."""
        return self._next.header.base_offset

    @property
    def identity(self) -> tuple[int, int, int]:
        """Last offset, epoch and computed checksum of the next batch, equal in all replicas."""
        batch = self._next
        header = batch.header
        crc = crc32c(batch.data[CRC_START:]) if batch.crc is None else batch.crc
        return header.last_offset, header.leader_epoch, crc

    def step(self) -> None:
        """Go on to the next batch."""
        self.has_begun = True
        self._go_on()

    def records(self) -> list[Record] | None:
        """Return the records of the next batch; None if they cannot be read."""
        try:
            return list(records(self._next, self._meter))
        except DecodeError:
            return None

    @property
    def _next(self) -> Batch:
        assert self.batch is not None
        return self.batch

    def _go_on(self) -> None:
        self.path, self.batch = next(self._batches, (self.path, None))

    def _walk(self) -> Iterator[tuple[str, Batch | None]]:
        for segment in files_of([self.source]).segments:
            with open_log(segment.path) as log:
                for batch in log.batches(meter=self._meter):
                    try:
                        _ = batch.header
                    except KraftopsError:
                        return
                    yield segment.path, batch


def replica_findings(sources: Sequence[str], budget: Budget) -> Iterator[Finding]:
    """Yield the first differences between replicas of one log.

    A replica that differs from the majority is named, and left out from there on; without a
    majority all replicas are named, and the comparison ends.

    Raises:
        SourceError: one of the sources cannot be read.
    """
    replicas = [_Replica(source, budget.meter()) for source in dict.fromkeys(sources)]
    while True:
        replicas = [replica for replica in replicas if replica.batch is not None]
        if len(replicas) < 2:
            return
        offset = min(replica.offset for replica in replicas)
        present = [replica for replica in replicas if replica.offset == offset]
        absent = [replica for replica in replicas if replica.offset > offset and replica.has_begun]
        identities: dict[int, tuple[int, int, int] | None] = dict.fromkeys(map(id, absent))
        identities |= {id(replica): replica.identity for replica in present}
        groups = Counter(identities.values()).most_common(2)
        if len(groups) > 1:
            if groups[0][1] == groups[1][1]:
                yield _disagreement(offset, present, absent)
                return
            is_usual = {number: identity == groups[0][0] for number, identity in identities.items()}
            usual = next(replica for replica in present + absent if is_usual[id(replica)])
            odd = [replica for replica in present + absent if not is_usual[id(replica)]]
            for replica in odd:
                yield _deviation(offset, replica, usual, is_present=replica in present)
            replicas = [replica for replica in replicas if replica not in odd]
        for replica in replicas:
            if replica in present:
                replica.step()


def _deviation(offset: int, odd: _Replica, usual: _Replica, *, is_present: bool) -> Finding:
    there = _described(usual) if usual.offset == offset else "nothing"
    here = _described(odd) if is_present else f"nothing before offset {odd.offset}"
    first = _first_difference(odd, usual) if is_present and usual.offset == offset else offset
    position = odd.batch.position if odd.batch and is_present else None
    reason = f"{odd.source} has {here}, where the others have {there}"
    place = Place(file=odd.path, position=position, offset=first)
    return log_finding(REPLICA, reason, place, "remove it: it is fetched again")


def _disagreement(offset: int, present: Sequence[_Replica], absent: Sequence[_Replica]) -> Finding:
    """Return a finding: replicas differ, and no majority agrees."""
    parts = [f"{replica.source} has {_described(replica)}" for replica in present]
    parts += [f"{replica.source} has nothing before offset {replica.offset}" for replica in absent]
    first = offset
    if len(present) > 1:
        first = min(_first_difference(present[0], other) for other in present[1:])
    return log_finding(REPLICA, "; ".join(parts), Place(offset=first))


def _described(replica: _Replica) -> str:
    last, epoch, crc = replica.identity
    return f"offsets {replica.offset} to {last}, epoch {epoch}, CRC {crc:#010x}"


def _first_difference(replica: _Replica, other: _Replica) -> int:
    """Return the first offset at which batches of the same base offset differ."""
    mine, theirs = replica.records(), other.records()
    for a, b in zip(mine or (), theirs or (), strict=False):
        if a != b:
            return a.offset
    if mine and theirs and len(mine) != len(theirs):
        shorter, longer = sorted((mine, theirs), key=len)
        return longer[len(shorter)].offset
    return replica.offset
