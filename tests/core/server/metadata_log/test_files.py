"""Whole batches of a file are read, also behind damaged ones."""

from pathlib import Path

import pytest

from kraftops.memory import Budget
from kraftops.server.metadata_log.files import WholeBatches
from tests.helpers.logs.metadata_logs import no_ops


def damaged(batch: bytes) -> bytes:
    return batch[:-1] + bytes([batch[-1] ^ 1])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "00000000000000000000.log"


def offsets(batches: WholeBatches) -> list[int]:
    return [header.base_offset for header, _ in batches]


def test_damaged_batch_is_skipped_and_reported(path: Path) -> None:
    path.write_bytes(no_ops(0, 1) + damaged(no_ops(1, 1)) + no_ops(2, 1))
    batches = WholeBatches(str(path), Budget().meter())

    assert offsets(batches) == [0, 2]
    assert batches.damage == f"position {len(no_ops(0, 1))}: the CRC does not match"
    assert batches.rest is None


def test_damaged_batch_is_yielded_on_request(path: Path) -> None:
    path.write_bytes(damaged(no_ops(0, 1)))
    batches = WholeBatches(str(path), Budget().meter(), gives_damaged=True)

    assert offsets(batches) == [0]
    assert batches.damage


def test_checksum_before_the_limit_is_not_verified(path: Path) -> None:
    path.write_bytes(damaged(no_ops(0, 2)) + no_ops(2, 1))
    batches = WholeBatches(str(path), Budget().meter(), checked_from=2)

    assert offsets(batches) == [0, 2]
    assert batches.damage is None


@pytest.mark.parametrize(
    ("data", "rest"),
    [(b"", "it is empty"), (no_ops(0, 1)[:-1], "bytes that are not a whole batch")],
)
def test_end_that_is_no_batch_is_the_rest(path: Path, data: bytes, rest: str) -> None:
    path.write_bytes(data)
    batches = WholeBatches(str(path), Budget().meter())

    assert offsets(batches) == []
    assert rest in (batches.rest or "")
