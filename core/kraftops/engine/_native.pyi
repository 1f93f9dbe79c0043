from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from kraftops.engine.fold_contract import BatchBounds
from kraftops.engine.timeline_contract import TimelineRequest

VERSION: str
POSITION_BITS: int
RANGE_BITS: int
BATCH_FIELDS: int
CONDITIONS: list[tuple[str, int]]
ROLES: list[tuple[str, int]]

def line_count(text: bytes, /) -> int: ...

class Decoder:
    def __init__(self, described: dict[str, Any]) -> None: ...

class Control:
    def __init__(self, described: Sequence[tuple[int, str, str | None, Any]]) -> None: ...

class Inflater:
    def __init__(
        self, python: Callable[[int, bytes], bytes | None], most: int, ratio: int
    ) -> None: ...

class Scan:
    first_offset: int | None
    last_offset: int | None
    def __init__(
        self,
        decoder: Decoder,
        control: Control,
        inflater: Inflater,
        described: dict[str, Any],
    ) -> None: ...
    def feed(self, data: bytes, start: int, position: int) -> Outcome: ...
    def look(self, buffer: bytes, start: int, position: int) -> tuple[int, list[SeenBatch]]: ...
    def texts(self, buffer: bytes, stops: list[int]) -> list[bytes | None]: ...
    def ends(
        self, buffer: bytes, stops: list[int], base_offsets: list[int]
    ) -> list[int | None]: ...

class SeenBatch:
    position: int
    size: int
    base_offset: int
    last_offset: int
    max_timestamp: int
    epoch: int
    producer_id: int
    last_sequence: int
    is_transactional: bool
    is_thinned: bool
    is_empty: bool
    marker: int | None
    magic: int

class Outcome:
    out: bytes
    next: int
    why: int
    notes: list[Note]
    gaps: bytes
    marks: bytes
    rows: int
    columns: dict[str, Column] | None

class Note:
    kind: int
    position: int
    reason: str
    output_position: int

class Column:
    data: bytes
    offsets: bytes | None
    valid: bytes | None

class Counter:
    def __init__(
        self,
        decoder: Decoder,
        control: Control,
        inflater: Inflater,
        described: dict[str, Any],
        limits: tuple[int, int, int] | None,
    ) -> None: ...
    def add_window(self, data: bytes, start: int, position: int) -> int: ...
    def count_logs(self, buffer: bytes, stops: list[int]) -> list[LogCount | None]: ...
    def tally(self) -> Tally | None: ...
    def add(
        self, batch: bytes, records: bytes, position: int, limits: tuple[int, int]
    ) -> Counted | None: ...
    def tops(self) -> Tops | None: ...

_Amount: TypeAlias = tuple[int | None, int | None, int, int]
_Begin: TypeAlias = tuple[int, int]
_Ends: TypeAlias = tuple[int, int]

class Counted:
    records: int
    size: int
    skipped: int
    offsets: _Ends | None
    times: _Ends | None
    amounts: list[_Amount]
    numbers: list[int] | None
    errors: list[tuple[int, int, str]]

class LogCount:
    size: int
    records: int
    offsets: _Ends | None
    end: int | None
    times: _Ends | None

class Tally:
    reach: int | None
    batches: BatchTally
    records: tuple[int, int]
    offsets: OffsetTally | None
    times: _Ends | None
    history: HistoryTally
    epochs: list[tuple[int, int, int, int]]
    codecs: list[tuple[int, tuple[int, int, int]]]
    amounts: list[_Amount]
    controls: list[tuple[int | None, tuple[int, int]]]
    errors: list[tuple[int, int, int, str]]
    transactions: TransactionTally

class BatchTally:
    amount: tuple[int, int]
    control: int
    transactional: int
    magics: dict[int, int]
    sizes: dict[int, int]
    records: dict[int, int]

class OffsetTally:
    first: int
    last: int
    gaps: tuple[list[_Ends], int, int]
    backward: int
    removed: int

class HistoryTally:
    shift: int
    first: int
    buckets: list[tuple[int, int]]

class TransactionTally:
    committed: int
    aborted: int
    durations: list[tuple[int, int]]
    producers: list[ProducerTally]
    idempotent: list[int]

class ProducerTally:
    producer_id: int
    epoch: int
    numbers: tuple[int, int, int, int]
    head: _Begin | None
    first_end: int | None
    tail: _Begin | None

class Tops:
    keys: HeavyHitters
    keyless: int
    largest: list[LargeRecord]
    producers: HeavyHitters
    batches: list[LargeBatch]

class HeavyHitters:
    counts: dict[Any, int]
    total: int
    error: int

class LargeRecord:
    size: int
    position: int
    offset: int
    timestamp: int
    key_size: int | None
    value_size: int | None
    label: tuple[int | None, int | None]

class LargeBatch:
    size: int
    position: int
    base_offset: int
    records: int
    codec: str
    producer_id: int | None

class Rules:
    def __init__(self, described: Sequence[dict[str, Any]]) -> None: ...
    def index(self, data: bytes, position: int, number: int, stop: int) -> list[RecordGroup]: ...

class RecordGroup:
    number: int
    total: int
    start: int
    end: int
    type: int | None
    version: int | None
    topic_id: bytes | None
    partition: int | None

class Fold:
    dropped: int
    def __init__(
        self, rules: Rules, described: dict[str, Any], fetch: Callable[[int], bytes]
    ) -> None: ...
    def copy(self, fetch: Callable[[int], bytes]) -> Fold: ...
    def size(self) -> int: ...
    def begin_unit(self) -> None: ...
    def seed(self, is_seeded: bool) -> None: ...
    def apply(
        self, data: bytes, address: int, position: int, number: int, stop: int
    ) -> FoldProgress: ...
    def skim(self, data: bytes, position: int, number: int, stop: int) -> FoldProgress: ...
    def apply_window(
        self, window: bytes, start: int, first: int, bounds: BatchBounds
    ) -> WindowResult: ...
    def drop(self, address: int, reason: str) -> None: ...
    def dropped_record(self, number: int) -> tuple[int, str]: ...
    def forget_dropped(self) -> None: ...
    def watch(self, keys: list[tuple[str, tuple[object, ...]]]) -> None: ...
    def changes(self) -> list[EntryChange]: ...
    def keep_time(self, request: TimelineRequest, tables: list[str]) -> None: ...
    def set_clock(self, base: int, append_time: int | None) -> None: ...
    def start_timeline(self, time: int | None) -> None: ...
    def end_timeline(self) -> Timeline | None: ...
    def topic_names(self) -> dict[str, bytes]: ...
    def topic_ids(self) -> list[bytes]: ...
    def topic_id(self, name: str) -> bytes | None: ...
    def topic(self, topic_id: bytes) -> tuple[str, int] | None: ...
    def partition_count(self, topic_id: bytes | None = None) -> int: ...
    def topic_count(self) -> int: ...
    def numbers(self, topic_id: bytes) -> list[int]: ...
    def newest(self, topic_id: bytes, number: int) -> NewestRecord | None: ...
    def newest_below(self, topic_id: bytes | None, exact: Fold | None) -> NewestRecord | None: ...
    def partition(self, topic_id: bytes, number: int) -> PartitionState | None: ...
    def partitions(self, topic_id: bytes) -> list[tuple[int, PartitionState]]: ...
    def states(self, chosen: list[tuple[bytes, int]]) -> list[PartitionState | None]: ...
    def count_with(self, condition: int) -> int: ...
    def partitions_with(self, condition: int) -> list[tuple[bytes, list[int]]]: ...
    def suspects(self, directories: dict[int, list[bytes]]) -> list[tuple[bytes, list[int]]]: ...
    def different(self, other: Fold) -> list[tuple[bytes, list[int]]]: ...
    def replica_counts(self) -> dict[int, dict[bytes, int]]: ...
    def broker_loads(self) -> dict[int, tuple[int, int]]: ...
    def with_role(
        self, role: int, brokers: set[int], topics: list[bytes] | None
    ) -> list[tuple[bytes, list[int]]]: ...
    def in_directory(
        self, directory: bytes, topics: list[bytes] | None
    ) -> list[tuple[bytes, list[int]]]: ...
    def directories(self) -> dict[bytes, dict[int, int]]: ...
    def under_min_isr(
        self, needed: dict[bytes, int], usual: int
    ) -> list[tuple[bytes, list[int]]]: ...
    def state_columns(
        self,
    ) -> tuple[
        list[tuple[bytes, int]],
        bytes,
        bytes,
        list[bytes],
        list[tuple[bytes, bytes, bytes, bytes]],
        list[bytes],
    ]: ...
    def brokers(self) -> list[BrokerEntry]: ...
    def tables(self) -> Tables: ...
    def cluster_tables(self) -> ClusterTables: ...

class FoldProgress:
    position: int
    number: int
    last: int
    marker: int | None
    is_malformed: bool
    has_changes: bool
    applied: int
    dropped: int
    unreadable: int

class WindowResult:
    next: int
    batches: bytes
    transactions: list[tuple[int, int, int, int]]
    last: BatchHead | None
    inside: FoldProgress | None
    newest: int

class BatchHead:
    base_offset: int
    last_offset: int
    epoch: int
    time: int
    records: int

class EntryChange:
    table: str
    key: tuple[object, ...]
    before: int | None
    after: int | None

class NewestRecord:
    address: int
    records: int
    is_certain: bool

class PartitionState:
    replicas: list[int]
    directories: list[bytes]
    isr: list[int]
    removing_replicas: list[int]
    adding_replicas: list[int]
    eligible_leader_replicas: list[int]
    last_known_elr: list[int]
    leader: int
    leader_recovery_state: int
    leader_epoch: int
    partition_epoch: int

class BrokerEntry:
    id: int
    epoch: int
    addresses: list[int]
    newest: NewestRecord

class ClusterTables:
    controllers: dict[int, int]
    features: dict[str, tuple[int, int]]
    metadata_version: tuple[int, int] | None
    producer_ids: int | None

class Tables:
    controllers: dict[int, int]
    failed_replicas: dict[int, int]
    configs: dict[tuple[int, str], dict[str, int]]
    quotas: dict[tuple[tuple[str, str | None], ...], dict[str, int]]
    acls: dict[bytes, int]
    scram: dict[int, dict[str, int]]
    tokens: dict[str, int]
    features: dict[str, tuple[int, int]]
    metadata_version: tuple[int, int] | None
    producer_ids: int | None

class TimedChange:
    time: int
    address: int
    change: EntryChange

class Timeline:
    start: int | None
    step: int | None
    began: int | None
    end: int | None
    series: dict[tuple[str, int | None], list[int]]
    firsts: dict[str, tuple[int, int]]
    changes: list[TimedChange]
    left_out: dict[str, int]
    touched: dict[str, int]
    levels: dict[str, int]
    replicas: int
    partitions: list[Loss]
    partitions_left_out: int
    topics: list[Loss]
    topics_left_out: int
    odd: int
    jump: int
    first_odd: int | None

class Loss:
    topic: str
    number: int
    is_deleted: bool
    offline: int
    under_min_isr: int
    under_replicated: int
    elections: int
    isr_changes: int
    address: int | None
