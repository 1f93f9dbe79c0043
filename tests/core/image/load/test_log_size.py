"""The size of a metadata log."""

from pathlib import Path

from kraftops.image.load.log_size import log_size
from tests.helpers.logs.metadata_logs import no_ops, snapshot_bytes, write_log
from tests.helpers.tools.corpus import SHELL


def test_lag_counts_offsets_after_the_newest_snapshot() -> None:
    size = log_size([str(SHELL / "in/n431")])

    assert (size.segments, size.segment_bytes) == (1, 44056)
    assert (size.snapshots, size.snapshot_bytes) == (2, 5935 + 8321)
    assert (size.end_offset, size.snapshot_end_offset, size.lag) == (584, 413, 171)
    assert size.snapshot_timestamp == 1795258144636


def test_missing_files_have_no_size(tmp_path: Path) -> None:
    write_log(tmp_path, {0: [no_ops(0, 3)]})

    size = log_size([str(tmp_path)])

    assert (size.end_offset, size.snapshot_end_offset, size.lag) == (3, None, None)


def test_snapshot_alone_has_no_lag(tmp_path: Path) -> None:
    write_log(tmp_path, {}, {(5, 1): snapshot_bytes(no_ops(1, 1), end=2)})

    size = log_size([str(tmp_path)])

    assert (size.end_offset, size.snapshot_end_offset, size.lag) == (None, 5, None)
