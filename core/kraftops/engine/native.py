"""The compiled engine: descriptions of decoders and queries for it, its scans and counts.

`_native` contains no messages: it interprets the tables of `kraftops.schema.tables` and
`kraftops.records`.
"""

from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Any, TypeVar, TypeVarTuple, cast

from kraftops.engine import _native
from kraftops.engine.count_contract import (
    LONGEST_KEY,
    MOST_LARGEST,
    BatchTally,
    Counted,
    CountRequest,
    HistoryTally,
    LargeBatch,
    LargeRecord,
    LogCount,
    OffsetTally,
    ProducerTally,
    Tally,
    Tops,
    TransactionTally,
    Window,
)
from kraftops.engine.heavy_hitters import MOST_KEYS, HeavyHitters
from kraftops.engine.native_values import named, named_all, named_if_any
from kraftops.engine.scan_contract import Column, Note, Outcome, Request, SeenBatch
from kraftops.errors import DecodeError, KraftopsError
from kraftops.log.batch import Batch, Header
from kraftops.log.codecs import decompress
from kraftops.memory import LEAST_SHARE, MOST_RATIO, Meter
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.query.record_rows import origin_of
from kraftops.query.row import COLUMNS
from kraftops.records.control import definitions
from kraftops.records.decoder import Decoder
from kraftops.records.meaning import Label

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")

_NO_UNTIL = 1 << 63  # above every int64: no limit


def line_count(text: bytes) -> int:
    return _native.line_count(text)


class NativeScan:
    """Reads the batches of one file; a `kraftops.engine.scan_contract.Scan`."""

    def __init__(self, request: Request, meter: Meter) -> None:
        """Open the engine's scan for a request; *meter* counts what batches inflate to."""
        query = request.query
        self._scan = _native.Scan(
            _decoder(query.record_decoder), _control(), _inflater(meter), _description(request)
        )

    @property
    def first_offset(self) -> int | None:
        """See `Scan`."""
        return self._scan.first_offset

    @first_offset.setter
    def first_offset(self, offset: int | None) -> None:
        self._scan.first_offset = offset

    @property
    def last_offset(self) -> int | None:
        """See `Scan`."""
        return self._scan.last_offset

    @last_offset.setter
    def last_offset(self, offset: int | None) -> None:
        self._scan.last_offset = offset

    def feed(self, data: bytes, start: int, position: int) -> Outcome:
        """Read the whole batches in *data*; see `Scan.feed`.

        Raises:
            KraftopsError: the engine failed, which is a bug of it.
        """
        outcome = _called(position, self._scan.feed, data, start, position)
        table = None
        if outcome.columns is not None:
            table = {name: named(Column, column) for name, column in outcome.columns.items()}
        return named(Outcome, outcome)._replace(notes=named_all(Note, outcome.notes), columns=table)

    def texts(self, buffer: bytes, stops: list[int]) -> list[bytes | None]:
        """Return the text of each of many small logs; see `Scan.texts`.

        Raises:
            KraftopsError: the engine failed, which is a bug of it.
        """
        return _called(0, self._scan.texts, buffer, stops)

    def look(self, buffer: bytes, start: int, position: int) -> tuple[int, list[SeenBatch]]:
        """Look at the sound batches in *buffer*; see `Scan.look`.

        Raises:
            KraftopsError: the engine failed, which is a bug of it.
        """
        end, batches = _called(position, self._scan.look, buffer, start, position)
        # The engine's own values: named tuples of them take three times as long as the look.
        return end, cast("list[SeenBatch]", batches)

    def ends(self, buffer: bytes, stops: list[int], base_offsets: list[int]) -> list[int | None]:
        """Return where each of many small logs ends, if it is plain; see `Scan.ends`.

        Raises:
            KraftopsError: the engine failed, which is a bug of it.
        """
        return _called(0, self._scan.ends, buffer, stops, base_offsets)


class NativeCounter:
    """Counts the records of one file; a `kraftops.engine.count_contract.RecordCounter`."""

    def __init__(self, request: CountRequest, meter: Meter) -> None:
        """Open the engine's counter for a request; *meter* counts what batches inflate to."""
        query = request.query
        decoder = query.record_decoder
        self._label_of = cache(decoder.label_of)
        limits = (MOST_KEYS, LONGEST_KEY, MOST_LARGEST) if request.tops else None
        self._counter = _native.Counter(
            _decoder(decoder),
            _control(),
            _inflater(meter),
            _description(Request(request.path, query)),
            limits,
        )

    def add_window(self, data: bytes, start: int, position: int) -> int:
        """Count the ordinary batches of a window; see `RecordCounter`.

        Raises:
            KraftopsError: the engine failed, which is a bug of it.
        """
        end: int = _called(position, self._counter.add_window, data, start, position)
        return end

    def count_logs(self, buffer: bytes, stops: list[int]) -> list[LogCount | None]:
        """Count each of many small logs that is plain; see `RecordCounter`.

        Raises:
            KraftopsError: the engine failed, which is a bug of it.
        """
        counts = _called(0, self._counter.count_logs, buffer, stops)
        return [named_if_any(LogCount, count) for count in counts]

    def tally(self) -> Tally | None:
        """Return the numbers of the batches of windows; see `RecordCounter`."""
        tally = self._counter.tally()
        if tally is None:
            return None
        transactions = named(TransactionTally, tally.transactions)
        return named(Tally, tally)._replace(
            batches=named(BatchTally, tally.batches),
            offsets=named_if_any(OffsetTally, tally.offsets),
            history=named(HistoryTally, tally.history),
            amounts=self._labelled(tally.amounts),
            transactions=transactions._replace(
                producers=named_all(ProducerTally, transactions.producers)
            ),
        )

    def add(
        self,
        batch: Batch,
        header: Header,  # noqa: ARG002 - the engine reads it in the batch
        buffer: bytes,
        pos: int,  # noqa: ARG002 - as the codec says
        window: Window,
    ) -> Counted | None:
        """Count the selected records of a batch; see `RecordCounter`.

        Raises:
            KraftopsError: the engine failed, which is a bug of it.
        """
        counted = _called(
            batch.position, self._counter.add, batch.data, buffer, batch.position, window
        )
        if counted is None:
            return None
        return named(Counted, counted)._replace(amounts=self._labelled(counted.amounts))

    def tops(self) -> Tops:
        tops = self._counter.tops()
        if tops is None:
            return Tops(
                keys=HeavyHitters(), keyless=0, largest=[], producers=HeavyHitters(), batches=[]
            )
        largest = named_all(LargeRecord, tops.largest)
        return Tops(
            keys=HeavyHitters(tops.keys.counts, tops.keys.total, tops.keys.error),
            keyless=tops.keyless,
            largest=[record._replace(label=self._label_of(*record.label)) for record in largest],
            producers=HeavyHitters(
                tops.producers.counts, tops.producers.total, tops.producers.error
            ),
            batches=named_all(LargeBatch, tops.batches),
        )

    def _labelled(
        self, amounts: Iterable[tuple[int | None, int | None, int, int]]
    ) -> list[tuple[Label, int, int]]:
        return [
            (self._label_of(number, version), count, size)
            for number, version, count, size in amounts
        ]


def _inflater(meter: Meter) -> _native.Inflater:
    """Make the engine's inflater, which calls back for batches that need a share of the budget."""

    def inflated(codec: int, data: bytes) -> bytes | None:
        try:
            return decompress(codec, data, meter, is_first_try=True)
        except (DecodeError, MemoryError):
            return None  # the reference reports the reason

    return _native.Inflater(inflated, min(LEAST_SHARE, meter.budget.batch), MOST_RATIO)


def _called(position: int, method: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
    """Call the engine for bytes at a position of a file.

    Raises:
        KraftopsError: the engine failed, which is a bug of it.
    """
    try:
        return method(*arguments)
    except RuntimeError as error:
        raise KraftopsError(
            f"at byte {position}: {error}", hint="KRAFTOPS_ENGINE=reference reads it slower"
        ) from error


def _description(request: Request) -> dict[str, Any]:
    origin = origin_of(request.path)
    return {
        **_query_description(request.query),
        "chosen": request.is_chosen,
        "marks": request.marks,
        "file": origin.file.encode(),
        "log": None if origin.topic is None else (origin.topic.encode(), origin.partition),
    }


@lru_cache(16)  # a command has few queries, for perhaps thousands of files
def _query_description(query: Query) -> dict[str, Any]:
    columns = COLUMNS if query.columns is None else query.columns
    return {
        "form": query.output_format.layout,
        "deep": query.deep_iteration,
        "skip_metadata": query.skip_record_metadata,
        "payload": query.decoder is not None,
        "check": query.check,
        "notes_crc": query.notes_crc,
        "skip_invalid": query.skip_invalid,
        "is_one_line": query.is_one_line,
        "columns": [name for name in COLUMNS if name in columns],
        "redacts": not query.show_secrets,
        **_conditions(query.filter),
    }


def _conditions(filter_: Filter) -> dict[str, Any]:
    until = None if filter_.until >= _NO_UNTIL else filter_.until
    where = None
    if filter_.where:
        from kraftops.engine.native_conditions import native_condition

        where = native_condition(filter_.where)
    return {
        "types": list(filter_.types),
        "offsets": (filter_.first_offset, filter_.last_offset),
        "times": (filter_.since, until),
        "keys": list(map(_bytes, filter_.keys)),
        "topics": list(map(_bytes, filter_.topics)),
        "topic_ids": list(map(_bytes, filter_.topic_ids)),
        "where": where,
    }


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@cache
def _decoder(decoder: Decoder) -> _native.Decoder:
    return _native.Decoder(decoder.native_description())


@cache
def _control() -> _native.Control:
    return _native.Control(definitions())
