"""Fixtures of formats."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty directory, and skip the syncs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    """Set the umask until the test is over."""
    before = os.umask(0o22)
    yield os.umask
    os.umask(before)
