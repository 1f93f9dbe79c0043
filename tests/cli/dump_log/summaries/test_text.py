"""Summaries as text for people."""

import json
from pathlib import Path

import pytest

from kraftops.dump.summary.logs import Log, fields_of
from kraftops.dump.summary.summary import Summary
from kraftops.log.batch import Record
from kraftops.records.internal_topics import decoder_names
from kraftops_cli.dump_log.summaries.text import summary_text
from tests.helpers.logs.segments import IN, segments
from tests.helpers.logs.summaries import empty_summary, summarised
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.distribution import long_but
from tests.helpers.tools.own_terminal import OwnTerminal, pipe


def text_of(path: str, decoder: str) -> str:
    return shown(summarised(str(IN / path), decoder))


def shown(summary: Summary) -> str:
    (fields,) = fields_of({Log("user"): summary}).values()
    return summary_text([fields], pipe())


def test_summary_of_a_metadata_log_has_a_text() -> None:
    text = text_of("meta/00000000000000000000.log", "metadata")

    assert text.startswith(
        """\
decoder      metadata
files        1, 35.0 KiB
batches      274, 2 control
records      497, 18.6 KiB uncompressed
offsets      0 to 496
times        2026-11-21T11:07:21.922Z to 2026-11-21T11:09:12.721Z (1 min 50 s)
damage       none

PER BATCH  MIN  MEDIAN  P99    MAX
bytes       72      72  951  2,704
records      1       1   19     46

TYPE                                 VERSION  RECORDS      %     SIZE
NO_OP_RECORD                               0      201  40.4%  2.2 KiB
PARTITION_CHANGE_RECORD                    2      145  29.2%  7.5 KiB
"""
    )
    assert text.endswith(
        """\
RECORDS OVER TIME, 2 s 48 ms a column
84 |         █
   |         █
   |         █
   |         █
   |         █       ▆ ▅           ▆      ▆ ▆    ▅      ▅ ▅
   |▂█▄▃▃▄▃▃▃██▃▃▃▃▃▃█▆█▇▃▃▃▃▃▃▃█▂▃█▃▃▃▃▃▃█▃█▃▆▃▄█   ▁▃▃█▃█
 0 +-------------------------------------------------------
    2026-11-21T11:07:21.922Z to 2026-11-21T11:09:12.721Z
"""
    )


def test_text_of_transactions() -> None:
    text = text_of("user/txn/00000000000000000018.log", "user")

    assert "transactions 4 committed, 2 aborted, 3 open\n" in text
    assert "OPEN TRANSACTION  PRODUCER  EPOCH  FIRST OFFSET  SINCE\n" in text
    assert "producer 0               0      2            42  2023-11-14T22:16:40.000Z\n" in text
    assert "PRODUCER  EPOCH  BATCHES  RECORDS  COMMITTED  ABORTED\n" in text


def test_text_of_transactional_ids() -> None:
    text = text_of("transaction_state/00000000000000000000.log", "transaction")

    assert "transactions 10 committed, 5 aborted, 1 open\n" in text
    assert "duration     min 18 ms, median 30 ms, max 72 ms\n" in text
    assert "a.tx-1            CompleteCommit         1      5           0  2026-11" in text


def test_text_of_groups() -> None:
    text = text_of("consumer_offsets/00000000000000000000.log", "offsets")

    assert "a.classic  classic   Empty            0        4    -  2026-11-21T11:08:10" in text
    assert "a.classic  a.none-0       60    -    -  2026-11-21T11:08:10.171Z  -\n" in text


def test_text_of_the_largest_and_hottest() -> None:
    text = text_of("user/txn/00000000000000000018.log", "user")

    assert "LARGEST RECORDS           OFFSET  TYPE  BYTES  KEY  VALUE  TIME\n" in text
    assert "LARGEST BATCHES           OFFSET  BYTES  RECORDS  CODEC  PRODUCER\n" in text
    assert "HOTTEST KEYS  RECORDS\n" in text
    assert "LARGEST PRODUCERS  BYTES UNCOMPRESSED\n" in text


def test_counts_with_an_error_say_so() -> None:
    summary = summarised(str(IN / "user/txn/00000000000000000018.log"))
    (fields,) = fields_of({Log("user"): summary}).values()
    entry = {"keyEncoding": None, "keySize": 3, "records": 0}
    top = [entry | {"key": "hot", "records": 90}, entry | {"key": "lukewarm", "records": 7}]
    fields["keys"] = {"records": 5_000, "keyless": 0, "error": 12, "top": top}

    text = summary_text([fields], pipe())
    fields["keys"]["top"] = top[1:]
    none = summary_text([fields], pipe())

    assert "hot                90\nof 5,000 records; too low by at most 12\n" in text
    assert "lukewarm" not in text
    assert "HOTTEST KEYS: none has more than 12 of 5,000 records for certain\n" in none


def test_text_of_damage() -> None:
    text = text_of("dmg/hole/00000000000000000000.log", "user")

    assert "damage       1 place, 550 B\n" in text
    assert "109    550  a batch length of 0, smaller than any batch's\n" in text


def test_text_of_offsets_that_are_missing() -> None:
    text = text_of("craft/magic-mixed/00000000000000000000.log", "user")

    assert "offsets      0 to 11, 1 gap with 24 offsets, 1 step backward\n" in text


def test_summary_of_an_empty_log_has_a_text() -> None:
    assert shown(empty_summary()) == (
        "decoder      user\nfiles        0, 0 B\nbatches      0\n"
        "records      0, 0 B uncompressed\ndamage       none\n"
    )


def test_times_that_no_calendar_has_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    times = (5, 1 << 62)
    path.write_bytes(b"".join(batch_bytes([Record(n, times[n], None, b"v")]) for n in range(2)))

    text = shown(summarised(str(path)))

    assert "to 4611686018427387904 ms (53375995583 d 15 h)" in text


@pytest.mark.parametrize("decoder", decoder_names())
@pytest.mark.parametrize(
    "path", long_but(segments()[::3], segments()), ids=lambda path: "/".join(path.parts[-3:])
)
def test_text_fits(path: Path, decoder: str) -> None:
    """With every decoder, and also from the parsed JSON of a summary."""
    (found,) = fields_of({Log("user"): summarised(str(path), decoder)}).values()

    with OwnTerminal(columns=60) as terminal:
        text = summary_text([json.loads(json.dumps(found))], terminal.console)
        assert text == summary_text([found], terminal.console)
        tables = [block for block in text.split("\n\n") if block.startswith("\x1b[1m")]
        lines = [line for block in tables for line in terminal.plain(block).splitlines()]

    rows = [line for line in lines if not line.startswith(("no room", "of ", "There are"))]
    assert max(map(len, rows), default=0) <= 60
    assert not [
        line for line in summary_text([found], pipe()).splitlines() if line != line.rstrip()
    ]
