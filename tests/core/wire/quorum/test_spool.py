"""Spools of logs."""

import os
import tempfile
from pathlib import Path

import pytest

from kraftops.errors import SourceError
from kraftops.log.batch import Batch
from kraftops.log.streams import open_log
from kraftops.wire.quorum.spool import Spool
from tests.helpers.wire.quorums import batch


def made(base: int) -> Batch:
    data = batch(base)
    return Batch(-1, len(data), data)


def offsets(spool: Spool) -> list[int]:
    with open_log(spool.name) as log:
        return [each.header.base_offset for each in log.batches()]


def test_batches_are_read_at_their_positions() -> None:
    spool = Spool("one:1", "x.log")
    added = [spool.add(made(offset)) for offset in range(3)]

    assert [each.position for each in added] == [0, added[0].size, 2 * added[0].size]
    assert spool.size == 3 * added[0].size
    assert str(spool.name) == "one:1/x.log"
    assert offsets(spool) == offsets(spool) == [0, 1, 2]


def test_growing_spool_is_read_to_its_end() -> None:
    spool = Spool("one:1", "x.log")
    coming = [made(offset) for offset in range(5)]

    def add_next() -> Batch | None:
        return spool.add(coming.pop(0)) if coming else None

    with spool.growing(add_next):
        assert offsets(spool) == [0, 1, 2, 3, 4]
    coming.append(made(5))
    assert offsets(spool) == [0, 1, 2, 3, 4]


def test_full_disk_is_an_error_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool("one:1", "x.log")

    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", fail)
    with pytest.raises(SourceError, match="cannot keep what one:1 sends: No space") as failed:
        spool.add(made(0))

    assert failed.value.hint == "TMPDIR names a directory with more room"


def test_no_directory_of_temporary_files_is_an_error_with_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container whose root is read-only."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(tmp_path / "absent")])

    with pytest.raises(SourceError, match="no directory of temporary files can be") as failed:
        Spool("one:1", "x.log")

    assert failed.value.hint == "TMPDIR names one"
