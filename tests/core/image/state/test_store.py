"""Records are read again by their addresses."""

from pathlib import Path

import pytest

from kraftops.errors import SourceError
from kraftops.image.state.store import RecordStore, inflated_batch
from kraftops.log.batch import Batch
from kraftops.log.log_file import LogFile
from kraftops.memory import Budget
from tests.helpers.logs.metadata_logs import no_ops
from tests.helpers.logs.segments import batches_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "0.log"
    found.write_bytes(no_ops(0, 2) + no_ops(2, 1))
    return found


def added(store: RecordStore, source: int, path: Path) -> list[int]:
    """Return the addresses of the first records of the batches of a file."""
    found = []
    for batch in batches_of(path.read_bytes()):
        copy = Batch(batch.position, batch.size, bytes(batch.data))
        address = store.add(source, copy, inflated_batch(copy, Budget().meter()))
        found.append(address + store.batch(address >> 28).start)
    return found


@pytest.mark.parametrize("is_stream", [False, True])
def test_record_has_its_position_in_the_log(path: Path, is_stream: bool) -> None:
    store = RecordStore(Budget())
    source = store.add_source(str(path), None if is_stream else LogFile(str(path)), 9)

    first, second = added(store, source, path)

    assert (store.record(first).offset, store.head(second)[0]) == (0, 2)
    assert store.place(second)[0] == str(path)
    assert store.place(second)[1:] == (len(path.read_bytes()) - len(no_ops(2, 1)), 9)
    assert store.can_read_again(source) is not is_stream


def test_changed_file_is_an_error(path: Path) -> None:
    store = RecordStore(Budget())
    source = store.add_source(str(path), LogFile(str(path)))
    (address, _) = added(store, source, path)
    store.drop_inflated()
    raw = bytearray(path.read_bytes())
    raw[60] ^= 1
    path.write_bytes(raw)

    with pytest.raises(SourceError, match="has changed since it was read"):
        store.batch(address >> 28)
