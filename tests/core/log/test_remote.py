"""Remote files: ranges that are fetched, and errors of the store."""

from collections.abc import Iterator
from pathlib import Path
from threading import enumerate as enumerate_threads

import pyarrow as pa
import pytest
from pyarrow.fs import LocalFileSystem

from kraftops.errors import SourceError, UsageError
from kraftops.log import remote
from kraftops.log.log_file import LogFile
from kraftops.log.remote import AHEAD, RemoteFile, filesystem, reading
from tests.helpers.logs.segments import IN

LOG = IN / "meta/00000000000000000000.log"


def fetched(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Return a list that will hold start and end of all ranges that files fetch."""
    ranges: list[tuple[int, int]] = []
    fetch = RemoteFile._fetch

    def seen(file: RemoteFile, start: int, size: int) -> bytes:
        ranges.append((start, start + size))
        return fetch(file, start, size)

    monkeypatch.setattr(RemoteFile, "_fetch", seen)
    return ranges


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, bytes]]:
    """Return the URI and content of a log of several ranges, in a store that is a local disk."""
    data = LOG.read_bytes() * (40_000_000 // LOG.stat().st_size)
    path = tmp_path_factory.mktemp("store") / LOG.name
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remote, "filesystem", lambda uri: (LocalFileSystem(), uri[len("s3://") :]))
        yield f"s3://{path}", data


def test_reading_in_order_fetches_each_byte_once(
    large: tuple[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    uri, data = large
    unit = LOG.stat().st_size
    start, stop = unit * 10, unit * 800
    ranges = fetched(monkeypatch)

    with LogFile(uri) as log:
        read = b"".join(batch.data for batch in log.batches(start, stop))
    with LogFile(uri) as unfinished:
        next(iter(unfinished.batches(start, stop)))

    whole, begun = ranges[:4], ranges[4:]
    assert read == data[start:stop]
    assert [start, *(end for _, end in whole)] == [*(begin for begin, _ in whole), stop]
    assert len(begun) <= 2
    assert [thread for thread in enumerate_threads() if thread.name == AHEAD] == []


def test_any_order_gives_the_same_bytes(large: tuple[str, bytes]) -> None:
    """Reads that begin anew, elsewhere, and reads of other places meanwhile."""
    uri, data = large
    unit = LOG.stat().st_size
    with LogFile(uri) as log:
        for start, stop in ((0, 900), (100, 400), (99, 101), (700, 1100), (0, 1)):
            read = []
            for number, batch in enumerate(log.batches(start * unit, stop * unit)):
                read.append(batch.data)
                if not number % 5000:
                    place = number * 100
                    assert log.read_at(place, 70_000) == data[place : place + 70_000]
                if number > 40_000:
                    break

            found = b"".join(read)
            assert found == data[start * unit : start * unit + len(found)]
            assert len(found) >= unit


def test_reads_out_of_order_fetch_small_ranges(
    large: tuple[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cutting a log reads the headers of large batches."""
    uri, data = large
    ranges = fetched(monkeypatch)
    places = [0, 5_000_000, 9_000_000, 30_000_000, len(data) - 10]

    with LogFile(uri) as log:
        found = [log.read_at(place, 12) for place in places]

    assert found == [data[place : place + 12] for place in places]
    assert sum(end - start for start, end in ranges) <= len(places) * 65536


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (pa.ArrowException("Unknown error: no token\nSee the log"), "Unknown error: no token"),
        (OSError("Status(UNAVAILABLE: with a last message of no login. See x)"), "no login"),
        (OSError("AWS Error: ..."), "AWS Error: ..."),
    ],
)
def test_error_of_a_store_is_one_line(error: Exception, reason: str) -> None:
    with pytest.raises(SourceError) as caught, reading("abfs://c@a/x"):
        raise error

    assert caught.value.message == f"cannot read abfs://c@a/x: {reason}"


def test_object_that_does_not_exist_has_the_code_of_a_missing_file(tmp_path: Path) -> None:
    system = LocalFileSystem()

    with pytest.raises(SourceError) as caught, reading("s3://b/x"):
        system.open_input_file(str(tmp_path / "x"))

    assert (caught.value.code, caught.value.exit_code) == ("not-found", 4)
    assert caught.value.message == "cannot read s3://b/x: No such file or directory"


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("s3://AKIA:hunter2@bucket/log", "s3://…@bucket"),
        ("s3://AKIA:hunter/2@bucket/log", "s3://AKIA:…"),
        ("s3://AKIA:hunter2", "s3://AKIA:…"),
        ("abfss://a:hunter2@account.dfs/x", "abfss://…@account.dfs"),
    ],
)
def test_password_in_a_uri_is_refused_and_not_shown(uri: str, shown: str) -> None:
    with pytest.raises(UsageError, match=f"^{shown} has a password") as caught:
        filesystem(uri)

    assert "hunter" not in f"{caught.value.message}{caught.value.hint}"
