"""Directories and patterns of URIs, found as directories and patterns of paths are."""

from collections.abc import Callable, Iterator

import pytest

from kraftops.dump.sources import remote
from kraftops.dump.sources.partition_directory import Log
from kraftops.errors import SourceError, UsageError
from kraftops.log.remote import Entry

SEGMENT, NEXT = "00000000000000000000.log", "00000000000000000100.log"
SNAPSHOT = "00000000000000000100-0000000001.checkpoint"
ID = "LEFzPNdpQ3iPGVFX1yLGRQ"
OBJECTS = (
    f"s3://lake/east/orders-0/{SEGMENT}",
    f"s3://lake/east/orders-0/{NEXT}",
    f"s3://lake/east/orders-1/{SEGMENT}",
    f"s3://lake/east/orders-10/{SEGMENT}",
    "s3://lake/east/gone-0.0123456789abcdef0123456789abcdef-delete/" + SEGMENT,
    f"s3://lake/meta/__cluster_metadata-0/{SEGMENT}",
    f"s3://lake/meta/__cluster_metadata-0/{SNAPSHOT}",
    f"s3://lake/meta/__cluster_metadata-0/{NEXT}",
    "s3://lake/notes/readme.txt",
    "s3://lake/odd/a[1].log",
    f"s3://lake/tier/bills-2-{ID}/00000000000000000007-{ID}.log",
    f"s3://lake/tier/orders-{ID}/7/00000000000000000000-{ID}.log",
    f"s3://lake/tier/orders-{ID}/7/00000000000000000009-{ID}.log",
    f"s3://lake/tier/orders-{ID}/7/00000000000000000009-{ID}.indexes",
)


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Log]]:
    """The logs of a URI in a store that holds `OBJECTS`."""
    monkeypatch.setattr(remote, "list_directory", list_directory)
    monkeypatch.setattr(remote, "sizes_of", sizes_of)
    return lambda uri, *, from_start=False: remote.remote_logs(uri, from_start=from_start)


def sizes_of(uris: list[str]) -> list[int | None]:
    return [1 if uri in OBJECTS else None for uri in uris]


def list_directory(uri: str, *, recursive: bool = False) -> list[Entry] | None:
    base = uri.rstrip("/") + "/"
    entries = sorted(set(entries_below(base)))
    if not entries:
        return None
    return [entry for entry in entries if recursive or "/" not in entry.uri.removeprefix(base)]


def entries_below(base: str) -> Iterator[Entry]:
    for name in OBJECTS:
        if name.startswith(base):
            yield Entry(name, 1)
            folder = name.rpartition("/")[0]
            while len(folder) > len(base):
                yield Entry(folder, None)
                folder = folder.rpartition("/")[0]


def test_partition_directory_is_its_segments(logs: Callable[..., list[Log]]) -> None:
    (log,) = logs("s3://lake/east/orders-0/")

    assert log == Log([OBJECTS[0], OBJECTS[1]], "orders", 0, (1, 1))


def test_tiered_segments_are_found_in_both_layouts(logs: Callable[..., list[Log]]) -> None:
    assert logs("s3://lake/tier") == [
        Log([OBJECTS[10]], "bills", 2, (1,)),
        Log([OBJECTS[11], OBJECTS[12]], "orders", 7, (1, 1)),
    ]


def test_metadata_directory_from_its_start_is_all_segments(
    logs: Callable[..., list[Log]],
) -> None:
    directory = "s3://lake/meta/__cluster_metadata-0"

    (log,) = logs(directory, from_start=True)

    assert log.paths == [f"{directory}/{SEGMENT}", f"{directory}/{NEXT}"]


def test_log_directory_is_its_partitions_by_number_without_deleted_ones(
    logs: Callable[..., list[Log]],
) -> None:
    found = logs("s3://lake/east")

    assert [(log.topic, log.partition) for log in found] == [
        ("orders", 0),
        ("orders", 1),
        ("orders", 10),
    ]


def test_other_name_is_a_file(logs: Callable[..., list[Log]]) -> None:
    assert logs("s3://lake/nothing.log") == [Log(["s3://lake/nothing.log"])]


def test_directory_without_logs_is_refused(logs: Callable[..., list[Log]]) -> None:
    with pytest.raises(UsageError, match="s3://lake/notes holds no log"):
        logs("s3://lake/notes")


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        pytest.param("s3://lake/east/orders-?", [*OBJECTS[:3]], id="one character, directories"),
        pytest.param("s3://lake/east/orders-[!0]", [OBJECTS[2]], id="no such character"),
        pytest.param("s3://lake/*/orders-0/*100.log", [OBJECTS[1]], id="a star in each part"),
        pytest.param("s3://lake/**/*.txt", [OBJECTS[8]], id="any depth"),
        pytest.param("s3://lake/odd/a[[]1].log", [OBJECTS[9]], id="a bracket itself"),
    ],
)
def test_pattern_is_the_files_and_directories_that_match(
    pattern: str, paths: list[str], logs: Callable[..., list[Log]]
) -> None:
    assert [path for log in logs(pattern) for path in log.paths] == paths


def test_directory_inside_a_matching_directory_is_read_once(
    logs: Callable[..., list[Log]],
) -> None:
    found = [path for log in logs("s3://lake/east/**") for path in log.paths]

    assert len(found) == len(set(found))
    assert OBJECTS[0] in found


def test_pattern_without_a_match_is_refused(logs: Callable[..., list[Log]]) -> None:
    with pytest.raises(SourceError, match="nothing matches"):
        logs("s3://lake/west/*")


@pytest.mark.parametrize("size", range(1, 20))
def test_logs_are_in_the_same_order_however_the_listing_is_cut(size: int) -> None:
    """Whatever is told of a page is complete, and nothing that comes later belongs before it."""
    directories = [
        *("a-0", "a-1", "a-10", "a-2", "a-1.b-0", "a-1-0", "a-1-b-0", "a-b-0", "a-b-11", "a-b-3"),
        *("a.b-0", "a", "0-0", "7", "orders", "orders-1", "under_score-0", "Upper-0", "z z-0"),
        *(f"bills-2-{ID}", f"bills-10-{ID}", f"orders-{ID}/7", f"orders-{ID}/11"),
    ]
    names = [f"{SEGMENT[:20]}-{ID}.log", SEGMENT, NEXT]
    uris = sorted(f"s3://lake/c/{directory}/{name}" for directory in directories for name in names)
    entries = [Entry(uri, 1) for uri in uris]

    def cut(size: int) -> list[tuple[list[Log], bool]]:
        pages = [entries[at : at + size] for at in range(0, len(entries), size)]
        found = [remote.EntryPage(page, page[-1] == entries[-1]) for page in pages]
        return [*remote.remote_log_pages("s3://lake/c", lambda _: iter(found), from_start=False)]

    ((whole, _),) = cut(len(entries))
    pages = cut(size)

    assert [log for logs, _ in pages for log in logs] == whole
    assert len(whole) == len(directories)


def test_partition_is_its_segments_however_the_listing_is_cut() -> None:
    """Directories in it, which come first or later, are no logs."""
    uris = [
        f"s3://lake/c/t-0/{name}" for name in (f"-1/{SEGMENT}", SEGMENT, NEXT, f"a-0/{SEGMENT}")
    ]
    pages = [remote.EntryPage([Entry(uri, 1)], is_last=uri == uris[-1]) for uri in uris]

    found = remote.remote_log_pages("s3://lake/c/t-0", lambda _: iter(pages), from_start=False)

    assert [log.paths for logs, _ in found for log in logs] == [uris[1:3]]
