"""A fold of either engine, and the batches that tests apply to it."""

from collections.abc import Callable

from kraftops.engine.fold_contract import POSITION_BITS, Fetch, Fold, FoldProgress
from kraftops.engine.metadata_state import EntryKey
from kraftops.engine.reference.fold import ReferenceFold
from kraftops.log.batch import inflated, read_record
from kraftops.memory import USUAL
from tests.helpers.engine.comparison import has_native
from tests.helpers.logs.random_logs import MetadataRecord, log_batches, log_bytes
from tests.helpers.logs.segments import batches_of

Make = Callable[[str, Fetch], Fold]
FOLDS: dict[str, Make] = {"reference": ReferenceFold}
if has_native():
    from kraftops.engine import native_fold

    FOLDS["native"] = lambda _, fetch: native_fold.NativeFold(fetch)

TABLES = (
    "topic-names",
    "topics",
    "partitions",
    "brokers",
    "controllers",
    "failed-replicas",
    "configs",
    "quotas",
    "acls",
    "scram",
    "tokens",
    "features",
    "producer-ids",
)
ALL = [EntryKey(table) for table in TABLES]


def counted(stop: FoldProgress) -> tuple[object, ...]:
    """Return all but the positions."""
    return stop.number, *stop[3:]


class FoldDriver:
    """A fold, and the batches that it is driver: records are numbered through all of them."""

    def __init__(self, make: Make, dialect: str = "kafka") -> None:
        """Begin without batches."""
        self._batches: list[tuple[bytes, int, int]] = []
        self.addresses: list[int] = []
        self.fold = make(dialect, lambda number: self._batches[number][0])

    def put(self, *records: MetadataRecord) -> int:
        """Add a batch without applying it; return its number."""
        (batch,) = batches_of(log_bytes(log_batches(records)))
        data, position = inflated(batch, batch.header, USUAL.meter())
        self._batches.append((data, position, len(records)))
        number, at = len(self._batches) - 1, position
        for _ in records:
            self.addresses.append((number << POSITION_BITS) + at)
            at = read_record(data, at, 0, 0)[1]
        return number

    def apply(self, batch: int, after: FoldProgress | None = None) -> FoldProgress:
        """Apply a batch, or the rest of it."""
        data, position, count = self._batches[batch]
        position, number = (position, 0) if after is None else (after.position, after.number)
        return self.fold.apply(data, batch << POSITION_BITS, position, number, count)

    def skim(self, batch: int, after: FoldProgress | None = None) -> FoldProgress:
        """Skim a batch, or the rest of it."""
        data, position, count = self._batches[batch]
        position, number = (position, 0) if after is None else (after.position, after.number)
        return self.fold.skim(data, position, number, count)

    def add(self, *records: MetadataRecord) -> FoldProgress:
        """Apply a whole batch as a unit of its own."""
        self.fold.begin_unit()
        batch = self.put(*records)
        stop = self.apply(batch)
        assert stop.number == len(records)
        return stop

    def each(self, *records: MetadataRecord) -> None:
        """Apply a batch for each of the records."""
        for record in records:
            self.add(record)

    def place(self, stop: FoldProgress, batch: int = 0) -> int | None:
        """Return the number of the record before which a fold stopped; None at the batch's end."""
        address = (batch << POSITION_BITS) + stop.position
        return self.addresses.index(address) if address in self.addresses else None

    @property
    def reasons(self) -> dict[int, str]:
        """Why records were dropped, by their numbers."""
        found = map(self.fold.dropped_record, range(self.fold.dropped))
        return {self.addresses.index(address): reason for address, reason in found}

    @property
    def changes(self) -> dict[tuple[str, tuple[object, ...]], tuple[int | None, int | None]]:
        """The changes by the last record, with the numbers of the newest records before and after."""
        changes = self.fold.changes()
        found = {
            (one.table, one.key): (self._number(one.before), self._number(one.after))
            for one in changes
        }
        assert len(found) == len(changes)
        return found

    def _number(self, address: int | None) -> int | None:
        return None if address is None else self.addresses.index(address)
