from collections.abc import Callable, Sequence
from typing import Any

VERSION: str

class Decoder:
    def __init__(self, described: dict[str, Any]) -> None: ...
    def count(
        self, data: bytes, start: int, count: int
    ) -> list[tuple[int | None, int | None, int, int]] | None: ...

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
