"""What a check looks at in batches is the same by both engines."""

from pathlib import Path
from struct import pack

import pytest

from kraftops.dump.check.batches import LogBatches
from kraftops.dump.check.records import Reading, scan_of
from kraftops.engine.choice import why_not_native
from kraftops.engine.native_values import named
from kraftops.engine.scan_contract import SeenBatch
from kraftops.log.batch import CONTROL, DELETE_HORIZON, TRANSACTIONAL, Record
from kraftops.log.damage.salvage import Gap
from kraftops.log.log_file import LogFile
from kraftops.memory import Budget
from tests.helpers.engine.choice import using
from tests.helpers.logs.segments import patched, resealed, segments
from tests.helpers.logs.written import batch_bytes, message_bytes

LARGEST_INT = (1 << 31) - 1
LENGTH_POSITION, MAGIC_POSITION, DELTA_POSITION = 8, 16, 23


def batch(first: int, *deltas: int, attributes: int = 0, **fields: int) -> bytes:
    records = [Record(first + delta, 1_700_000_000_000 + delta, b"k", b"v" * 9) for delta in deltas]
    return batch_bytes(records, attributes=attributes, **fields)


def marker(offset: int, kind: int, producer_id: int = 7) -> bytes:
    record = Record(offset, 0, pack(">hh", 0, kind), pack(">hi", 0, 1))
    return batch_bytes([record], attributes=CONTROL | TRANSACTIONAL, producer_id=producer_id)


EMPTY = resealed(patched(batch(60, 0)[:57] + bytes(4), LENGTH_POSITION, pack(">i", 61 - 12)))
ODD_BATCHES = [
    batch(0, 0, 1, 2),
    batch(3, 0, 1, leader_epoch=4, producer_id=7, producer_epoch=1, base_sequence=LARGEST_INT),
    batch(5, 0, attributes=TRANSACTIONAL, producer_id=7, base_sequence=1),
    marker(6, 0),
    marker(7, 1),
    marker(8, 3),
    marker(9, 0, producer_id=-1),
    *(batch(10 * codec, 0, 1, 2, attributes=codec) for codec in (1, 2, 3, 4)),
    batch(50, 0, 4),
    resealed(patched(batch(58, 0), DELTA_POSITION, pack(">i", 1))),
    batch(59, 0, attributes=DELETE_HORIZON),
    EMPTY,
]
OTHERS = {
    "none": b"",
    "zeros": bytes(100),
    "message of magic 1": message_bytes(Record(70, 1, None, b"x"), 1),
    "unknown magic": patched(batch(70, 0), MAGIC_POSITION, b"\x05"),
    "wrong checksum": patched(batch(70, 0), 80, b"?"),
    "torn": batch(70, 0, 1)[:-3],
    "too many records counted": resealed(patched(batch(70, 0), 57, pack(">i", 2))),
}


def looked_at(path: Path, decoder: str | None) -> tuple[list[object], list[tuple[int, str]]]:
    reading = Reading(decoder, Budget())
    with LogFile(str(path)) as log, scan_of(reading.request(log.path)) as scan:
        batches = LogBatches(log, scan, reading.meter())
        seen = [part if isinstance(part, Gap) else named(SeenBatch, part) for part in batches]
        return seen, [(note.position, note.reason) for note in batches.notes]


@pytest.mark.skipif(why_not_native() is not None, reason="there is one engine")
class TestEngines:
    @pytest.mark.parametrize("other", OTHERS)
    def test_see_the_same_before_and_after_what_is_not_sound(
        self, other: str, tmp_path: Path
    ) -> None:
        path = tmp_path / f"{0:020}.log"
        following = b"" if other in ("zeros", "torn") else batch(80, 0, 1)
        path.write_bytes(b"".join([*ODD_BATCHES, OTHERS[other], following]))

        ours = looked_at(path, None)
        with using("reference"):
            assert ours == looked_at(path, None)

        assert bool(ours[1]) == (other in ("too many records counted", "unknown magic"))

    def test_see_the_same_in_all_logs_that_servers_wrote(self) -> None:
        for path in segments():
            for decoder in (None, "metadata"):
                ours = looked_at(path, decoder)
                with using("reference"):
                    assert ours == looked_at(path, decoder), path

    def test_note_records_that_a_decoder_refuses(self, tmp_path: Path) -> None:
        path = tmp_path / f"{0:020}.log"
        path.write_bytes(batch(0, 0) + batch(1, 0))

        assert looked_at(path, None)[1] == []
        ours = looked_at(path, "metadata")[1]
        with using("reference"):
            assert ours == looked_at(path, "metadata")[1]
        assert [position for position, _ in ours] == [0, len(batch(0, 0))]
