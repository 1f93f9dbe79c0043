from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

VERSION: str
POSITION_BITS: int
RANGE_BITS: int
BATCH_FIELDS: int
CONDITIONS: list[tuple[str, int]]

class Decoder:
    def __init__(self, described: dict[str, Any]) -> None: ...

class Control:
    def __init__(self, described: Sequence[tuple[int, str, str | None, Any]]) -> None: ...

class Scan:
    first_offset: int | None
    last_offset: int | None
    def __init__(
        self,
        decoder: Decoder,
        control: Control,
        inflate: Callable[[int, bytes], bytes | None],
        described: dict[str, Any],
    ) -> None: ...
    def feed(
        self, data: bytes, start: int, position: int
    ) -> tuple[
        bytes,
        int,
        int,
        list[tuple[int, int, str, int]],
        bytes,
        bytes,
        int,
        dict[str, tuple[bytes, bytes | None, bytes | None]] | None,
    ]: ...

_Label: TypeAlias = tuple[int | None, int | None]
_Ends: TypeAlias = tuple[int, int] | None

class Counter:
    def __init__(
        self,
        decoder: Decoder,
        control: Control,
        described: dict[str, Any],
        limits: tuple[int, int, int] | None,
    ) -> None: ...
    def add(
        self, batch: bytes, records: bytes, position: int, limits: tuple[int, int]
    ) -> (
        tuple[
            int,
            int,
            int,
            _Ends,
            _Ends,
            list[tuple[int | None, int | None, int, int]],
            list[int] | None,
            list[tuple[int, int, str]],
        ]
        | None
    ): ...
    def tops(
        self,
    ) -> (
        tuple[
            list[tuple[bytes, int]],
            int,
            int,
            int,
            list[tuple[int, int, int, int, int | None, int | None, _Label]],
        ]
        | None
    ): ...

_Newest: TypeAlias = tuple[int, int, bool]
_Progress: TypeAlias = tuple[int, int, int, int | None, bool, bool, int, int, int]

class Rules:
    def __init__(self, described: Sequence[dict[str, Any]]) -> None: ...
    def index(
        self, data: bytes, position: int, number: int, stop: int
    ) -> list[tuple[int, int, int, int, int | None, int | None, bytes | None, int | None]]: ...

class Fold:
    dropped: int
    def __init__(
        self, rules: Rules, described: dict[str, Any], fetch: Callable[[int], bytes]
    ) -> None: ...
    def begin_unit(self) -> None: ...
    def seed(self, is_seeded: bool) -> None: ...
    def apply(
        self, data: bytes, address: int, position: int, number: int, stop: int
    ) -> _Progress: ...
    def skim(self, data: bytes, position: int, number: int, stop: int) -> _Progress: ...
    def apply_window(
        self,
        window: bytes,
        start: int,
        first: int,
        bounds: tuple[int | None, int, int, int, int],
    ) -> tuple[
        int,
        bytes,
        list[tuple[int, int, int, int]],
        tuple[int, int, int, int, int] | None,
        _Progress | None,
    ]: ...
    def drop(self, address: int, reason: str) -> None: ...
    def dropped_record(self, number: int) -> tuple[int, str]: ...
    def forget_dropped(self) -> None: ...
    def watch(self, keys: list[tuple[str, tuple[object, ...]]]) -> None: ...
    def changes(self) -> list[tuple[str, tuple[object, ...], int | None, int | None]]: ...
    def topic_names(self) -> dict[str, bytes]: ...
    def topic_ids(self) -> list[bytes]: ...
    def topic_id(self, name: str) -> bytes | None: ...
    def topic(self, topic_id: bytes) -> tuple[str, int] | None: ...
    def partition_count(self, topic_id: bytes | None = None) -> int: ...
    def topic_count(self) -> int: ...
    def numbers(self, topic_id: bytes) -> list[int]: ...
    def newest(self, topic_id: bytes, number: int) -> _Newest | None: ...
    def newest_below(self, topic_id: bytes | None, exact: Fold | None) -> _Newest | None: ...
    def partition(self, topic_id: bytes, number: int) -> tuple[Any, ...] | None: ...
    def partitions(self, topic_id: bytes) -> list[tuple[int, tuple[Any, ...]]]: ...
    def states(self, chosen: list[tuple[bytes, int]]) -> list[tuple[Any, ...] | None]: ...
    def count_with(self, condition: int) -> int: ...
    def partitions_with(self, condition: int) -> list[tuple[bytes, list[int]]]: ...
    def suspects(self, directories: dict[int, list[bytes]]) -> list[tuple[bytes, list[int]]]: ...
    def different(self, other: Fold) -> list[tuple[bytes, list[int]]]: ...
    def replica_counts(self) -> dict[int, dict[bytes, int]]: ...
    def broker_loads(self) -> dict[int, tuple[int, int]]: ...
    def brokers(self) -> list[tuple[int, int, list[int], tuple[int, int]]]: ...
    def tables(self) -> tuple[Any, ...]: ...
