"""Faults at the calls of a writer: one fails, all fail from one on, or the process dies there."""

import os
import shutil
from collections.abc import Callable, Iterator
from errno import EIO
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pyarrow.fs import FileSelector, LocalFileSystem

R = TypeVar("R")
KINDS = ("refused", "unanswered", "outage", "killed")
"""A call that does nothing, one that does its work and fails, failures from then on, and no end."""
_CALLS = ("rename", "mkdir", "unlink", "rmdir", "fsync", "listdir")


class Killed(BaseException):
    """The process is dead: nothing that it does has an effect any more."""


class Faults:
    """Calls, numbered from 1; *look* is called after each that has had an effect."""

    def __init__(self, at: int, kind: str, look: Callable[[], object]) -> None:
        """Have something happen at call *at*; never, if there are fewer."""
        self._at = at
        self._kind = kind
        self._look = look
        self.calls = 0

    def call(self, do: Callable[[], R]) -> R:
        """Do something, or fail."""
        self.calls += 1
        if self.calls >= self._at and self._kind == "killed":
            raise Killed
        if self.calls > self._at and self._kind == "outage":
            raise OSError(EIO, os.strerror(EIO))
        is_fault = self.calls == self._at
        if is_fault and self._kind != "unanswered":
            raise OSError(EIO, os.strerror(EIO))
        result = do()
        self._look()
        if is_fault:
            raise OSError(EIO, os.strerror(EIO))
        return result


def fail_system_calls(patch: pytest.MonkeyPatch, faults: Faults) -> None:
    """Have calls of the system, which change directories or sync, be those of *faults*."""

    def wrapped(real: Callable[..., R]) -> Callable[..., R]:
        return lambda *args, **named: faults.call(lambda: real(*args, **named))

    for name in _CALLS:
        patch.setattr(os, name, wrapped(getattr(os, name)))


class _Upload(BytesIO):
    """Object that is written; it is there, whole, when it is closed, as that of pyarrow."""

    def __init__(self, put: Callable[[bytes], None]) -> None:
        super().__init__()
        self._put = put

    def close(self) -> None:
        if not self.closed:
            data = self.getvalue()
            super().close()
            self._put(data)


class FaultyStore:
    """File system of pyarrow that has objects in a local directory; its requests are *faults*'."""

    type_name = "s3"

    def __init__(self, faults: Faults) -> None:
        """Send requests."""
        self._faults = faults
        self._local = LocalFileSystem()

    def get_file_info(self, asked: Any) -> Any:
        if isinstance(asked, FileSelector):
            asked = FileSelector(asked.base_dir, allow_not_found=True, recursive=asked.recursive)
        return self._faults.call(lambda: self._local.get_file_info(asked))

    def create_dir(self, path: str, *, recursive: bool) -> None:
        self._faults.call(lambda: os.makedirs(path, exist_ok=recursive))

    def open_output_stream(self, path: str) -> _Upload:
        return _Upload(lambda data: self._faults.call(lambda: _put(path, data)))

    def open_input_stream(self, path: str) -> Any:
        return self._faults.call(lambda: BytesIO(Path(path).read_bytes()))

    def copy_file(self, source: str, path: str) -> None:
        self._faults.call(lambda: _put(path, Path(source).read_bytes()))

    def delete_file(self, path: str) -> None:
        self._faults.call(lambda: os.unlink(path))

    def delete_dir_contents(self, path: str) -> None:
        for found in _below(path):
            self._faults.call(found.unlink)

    def delete_dir(self, path: str) -> None:
        self.delete_dir_contents(path)
        shutil.rmtree(path, ignore_errors=True)


def _put(path: str, data: bytes) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(data)


def _below(path: str) -> Iterator[Path]:
    """Yield files in an order that nobody has thought of."""
    yield from sorted((one for one in Path(path).rglob("*") if one.is_file()), reverse=True)
