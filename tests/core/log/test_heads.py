"""Heads of batches, beside the batches that a reader gives."""

from pathlib import Path

import pytest

from kraftops.log import heads as module
from kraftops.log.batch import Record
from kraftops.log.heads import Head, heads
from kraftops.log.log_file import LogFile
from tests.helpers.logs.segments import batches_of, patched, segments
from tests.helpers.logs.written import batch_bytes, message_bytes

ONE = batch_bytes([Record(0, 10, b"k", b"first")])
TWO = batch_bytes([Record(1, 20, b"k", b"second"), Record(2, 30, None, bytes(300))])
LEGACY = message_bytes(Record(3, 40, b"k", b"third"), 1)
LOG = ONE + TWO + LEGACY
_LENGTH_AT = 8


def heads_of(path: Path, data: bytes) -> list[Head]:
    path.write_bytes(data)
    with LogFile(str(path)) as log:
        return list(heads(log, 0, len(data)))


def test_places_and_offsets(tmp_path: Path) -> None:
    found = heads_of(tmp_path / "0.log", LOG)

    assert [head[:5] for head in found] == [
        (0, len(ONE), 0, 0, 0),
        (len(ONE), len(TWO), 1, 2, 0),
        (len(ONE + TWO), len(LEGACY), -1, 3, -1),
    ]
    assert found[-1].end == len(LOG)


@pytest.mark.parametrize("block", [64, 100, 1000])
def test_real_segments(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are those of the reader, whatever is read at once."""
    monkeypatch.setattr(module, "_BLOCK", block)
    for path in segments("craft/*/*.log"):
        data = path.read_bytes()

        found = [(head.position, head.size) for head in heads_of(tmp_path / "0.log", data)]

        assert found == [(batch.position, batch.size) for batch in batches_of(data)], path


@pytest.mark.parametrize("cut", range(0, len(LOG), 7))
def test_cut_keeps_whole_batches(cut: int, tmp_path: Path) -> None:
    found = [(head.position, head.size) for head in heads_of(tmp_path / "0.log", LOG[:cut])]

    assert found == [(batch.position, batch.size) for batch in batches_of(LOG[:cut])]


def test_impossible_length_is_an_end(tmp_path: Path) -> None:
    data = patched(LOG, len(ONE) + _LENGTH_AT, bytes(4))

    assert [head.position for head in heads_of(tmp_path / "0.log", data)] == [0]
