"""The files of the log in the directory of a partition."""

import gzip
from pathlib import Path

import pytest

from kraftops.dump.sources.names import Source, expand
from kraftops.errors import SourceError, UsageError
from tests.helpers.logs.log_directories import DATA, HEADER, SNAPSHOT, log, make, paths, snapshot
from tests.helpers.logs.segments import IN, patched


def test_directory_of_a_partition_is_its_segments_by_offset(tmp_path: Path) -> None:
    """Renamed segments and other files are skipped."""
    renamed = [f"{log(1)}{suffix}" for suffix in (".deleted", ".swap", ".cleaned", ".part")]
    others = ["00000000000000000000.index", "server.log", "x.log.gz", "5.LOG", "quorum-state"]
    make(tmp_path / "t-0", [log(100), log(20), "3.log", log(9) + ".gz", *renamed, *others])

    assert paths("t-0/", cwd=tmp_path) == [
        "t-0/3.log",
        f"t-0/{log(9)}.gz",
        f"t-0/{log(20)}",
        f"t-0/{log(100)}",
    ]


def test_segment_with_a_copy_in_an_archive_is_taken_once(tmp_path: Path) -> None:
    make(tmp_path / "t-0", [log(0) + ".xz", log(0), log(5) + ".zst", log(5) + ".gz"])

    assert paths("t-0", cwd=tmp_path) == [f"t-0/{log(0)}", f"t-0/{log(5)}.gz"]


# The metadata log


@pytest.mark.parametrize(
    ("names", "taken", "from_start"),
    [
        pytest.param([log(0)], [log(0)], [log(0)], id="no snapshot"),
        pytest.param(
            [snapshot(0, 0), log(0)], [snapshot(0, 0), log(0)], [log(0)], id="the first voters"
        ),
        pytest.param(
            [snapshot(0, 0), snapshot(30), snapshot(20, 9), log(0), log(10), log(30), log(31)],
            [snapshot(30), log(30), log(31)],
            [log(0), log(10), log(30), log(31)],
            id="the newest by offset",
        ),
        pytest.param(
            [snapshot(20, 2), snapshot(20, 10), log(0)],
            [snapshot(20, 10), log(0)],
            [log(0)],
            id="then by epoch",
        ),
        pytest.param(
            [snapshot(30), log(0), log(10), log(29), log(31)],
            [snapshot(30), log(29), log(31)],
            [log(0), log(10), log(29), log(31)],
            id="inside of a segment",
        ),
        pytest.param(
            [snapshot(30), log(0), log(10)],
            [snapshot(30), log(10)],
            [log(0), log(10)],
            id="inside of the last segment",
        ),
        pytest.param(
            [snapshot(30), log(40), log(50)],
            [snapshot(30), log(40), log(50)],
            [log(40), log(50)],
            id="before all segments",
        ),
        pytest.param(
            [snapshot(30), snapshot(40) + ".part", snapshot(50) + ".deleted", log(0)],
            [snapshot(30), log(0)],
            [log(0)],
            id="not the unfinished and deleted",
        ),
        pytest.param(
            [snapshot(30), "50-1.checkpoint", "bootstrap.checkpoint", log(0)],
            [snapshot(30), log(0)],
            [log(0)],
            id="not those of other names",
        ),
    ],
)
def test_metadata_log_is_its_newest_snapshot_and_what_follows(
    names: list[str], taken: list[str], from_start: list[str], tmp_path: Path
) -> None:
    folder = make(tmp_path / "__cluster_metadata-0", names)

    assert paths(".", cwd=folder) == [f"./{name}" for name in taken]
    assert paths(".", cwd=folder, from_start=True) == [f"./{name}" for name in from_start]


def test_snapshot_alone_is_a_metadata_log(tmp_path: Path) -> None:
    """In a directory of any name: no other log has snapshots."""
    folder = make(tmp_path / "backup-7", [snapshot(30), snapshot(20)])

    assert expand([str(folder)]) == [
        Source(str(folder / snapshot(30)), "metadata", "__cluster_metadata", None, 0)
    ]
    with pytest.raises(UsageError, match="holds no log"):
        expand([str(folder)], from_start=True)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\0", id="a byte"),
        pytest.param(bytes(1_000), id="zeros"),
        pytest.param(HEADER + DATA, id="no footer"),
        pytest.param(HEADER, id="a header alone"),
        pytest.param(SNAPSHOT[:-1], id="cut short"),
        pytest.param(SNAPSHOT + b"\1", id="something behind it"),
        pytest.param(patched(SNAPSHOT, len(SNAPSHOT) - 2, b"\7"), id="a damaged footer"),
        pytest.param((IN / "craft/magic1/00000000000000000000.log").read_bytes(), id="a log"),
    ],
)
def test_damaged_snapshot_is_skipped(content: bytes, tmp_path: Path) -> None:
    folder = make(tmp_path / "__cluster_metadata-0", [snapshot(30), log(0), log(29), log(31)])
    (folder / snapshot(40)).write_bytes(content)

    assert paths(".", cwd=folder) == [f"./{n}" for n in (snapshot(30), log(29), log(31))]


def test_snapshot_in_an_archive_is_taken(tmp_path: Path) -> None:
    folder = make(tmp_path / "__cluster_metadata-0", [snapshot(30), log(0), log(40)])
    (folder / f"{snapshot(40)}.gz").write_bytes(gzip.compress(SNAPSHOT))

    assert paths(".", cwd=folder) == [f"./{snapshot(40)}.gz", f"./{log(40)}"]


@pytest.mark.parametrize("name", ["meta", "meta-follower", "v3.3.2/meta", "v3.9.1/meta"])
def test_real_snapshot_is_taken_for_whole(name: str) -> None:
    newest = max(path.name for path in (IN / name).glob("*.checkpoint"))

    first = expand([str(IN / name)])[0]

    assert first.path == str(IN / name / newest)


def test_snapshot_that_cannot_be_read_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its dump fails then; Kafka makes snapshots readable for their owner alone."""
    folder = make(tmp_path / "__cluster_metadata-0", [snapshot(30), log(0)])

    def refuse(path: str) -> None:
        raise SourceError(f"cannot read {path}: Permission denied")

    monkeypatch.setattr("kraftops.dump.sources.partition_directory.open_log", refuse)

    assert paths(".", cwd=folder) == [f"./{snapshot(30)}", f"./{log(0)}"]
