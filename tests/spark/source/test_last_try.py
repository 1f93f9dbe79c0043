"""The last try of a task reads, too: earlier ones may have failed behind the reader."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from kraftops.errors import SourceError
from kraftops.spark.jobs import range_process
from tests.helpers.logs.segments import IN

LOG = str(IN / "v3.9.1/meta/00000000000000000000.log")
DAMAGED = str(IN / "dmg/crc/00000000000000000000.log")


def batches(patch: pytest.MonkeyPatch, attempt: int, path: str = LOG, **options: str) -> Any:
    """Yield what a task of a table reads in one of four tries."""
    pyspark = pytest.importorskip("pyspark")
    from kraftops.spark.datasource import KraftopsDataSource

    context = SimpleNamespace(attemptNumber=lambda: attempt)
    patch.setattr(pyspark.TaskContext, "get", lambda: context)
    source = KraftopsDataSource({"path": path, "decoder": "metadata", "tries": "4", **options})
    schema: Any = source.schema()
    reader = source.reader(schema)
    found: Iterator[Any] = (one for part in reader.partitions() for one in reader.read(part))
    return found


def test_last_try_has_the_rows_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """They were `its worker died`, and a full disk made an output of nothing else."""
    first = pa.Table.from_batches(batches(monkeypatch, 0))

    last = pa.Table.from_batches(batches(monkeypatch, 3))

    assert last.num_rows > 40
    assert last.equals(first)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_last_try_that_has_no_room_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    full = Path("/dev/full").open("r+b", 0)  # noqa: SIM115 - the reader closes it
    monkeypatch.setattr(range_process, "TemporaryFile", lambda: full)

    with pytest.raises(SourceError, match="No space left on device"):
        list(batches(monkeypatch, 3))


@pytest.mark.parametrize("attempt", [0, 3])
def test_strict_mode_names_the_damage(monkeypatch: pytest.MonkeyPatch, attempt: int) -> None:
    with pytest.raises(Exception, match="CRC") as failed:
        list(batches(monkeypatch, attempt, DAMAGED, decoder="user", mode="FAILFAST"))

    assert "worker died" not in str(failed.value)
