"""Log directories in archives are read in place."""

import io
import os
import random
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftops.errors import SourceError
from kraftops.fileio.mounts import is_directory, names_in
from kraftops.fileio.reading import read_small
from kraftops.recovery.node_copies import LogSource, opened_sources
from kraftops.recovery.refusal import RecoveryRefused
from tests.helpers.logs.bundles import KINDS, Files, under
from tests.helpers.logs.metadata_logs import no_ops, write_log
from tests.helpers.nodes.lost_quorums import write_meta

LOG = "__cluster_metadata-0"
SEGMENT = f"{LOG}/00000000000000000000.log"


def content(folder: Path) -> Files:
    """Return the files of a node with a log and a topic."""
    write_log(folder, {0: [no_ops(0, 1)]})
    write_meta(folder, 1)
    names = [SEGMENT, "meta.properties"]
    return {name: (folder / name).read_bytes() for name in names} | {"notes/0.log": b"x"}


def read(path: Path) -> Files:
    """Return the files of the log directory in an archive; nothing leads there later."""
    with opened_sources([str(path)], refuse) as (source,):
        assert (source.name, source.is_packed) == (str(path), True)
        files = dict(mounted_files(source.folder))
    assert not is_directory(source.folder)
    return files


def mounted_files(folder: str, inner: str = "") -> Iterator[tuple[str, bytes]]:
    for name in names_in(folder):
        if is_directory(f"{folder}/{name}"):
            yield from mounted_files(f"{folder}/{name}", f"{inner}{name}/")
        else:
            yield f"{inner}{name}", read_small(f"{folder}/{name}")


def refuse(error: SourceError) -> None:
    raise AssertionError(error.message)


def refused(path: Path) -> str:
    with pytest.raises(RecoveryRefused) as error, opened_sources([str(path)], refuse):
        pass
    assert str(path) in error.value.message
    return error.value.code


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("top", ["", "./", "backup/data-0/"])
def test_log_and_its_meta_properties_are_read_in_place(tmp_path: Path, name: str, top: str) -> None:
    files = content(tmp_path)
    KINDS[name](tmp_path / name, under(top, files))

    assert read(tmp_path / name) == files


def test_files_of_a_log_may_be_at_the_top(tmp_path: Path) -> None:
    data = content(tmp_path)[SEGMENT]
    KINDS["log.zip"](
        tmp_path / "log.zip", {Path(SEGMENT).name: data, "quorum-state": b"{}", "notes": b"x"}
    )

    assert {
        name: content for name, content in read(tmp_path / "log.zip").items() if "/" in name
    } == {SEGMENT: data, f"{LOG}/quorum-state": b"{}"}


def test_meta_properties_of_other_directories_are_not_taken(tmp_path: Path) -> None:
    files = {**under("data-0/", content(tmp_path)), "data-1/meta.properties": b"version=0\n"}
    KINDS["log.tar"](tmp_path / "log.tar", files)

    assert read(tmp_path / "log.tar")["meta.properties"] == files["data-0/meta.properties"]


def test_logs_of_two_nodes_have_their_paths_in_the_archive(tmp_path: Path) -> None:
    files = content(tmp_path)
    archive = str(tmp_path / "log.tar")
    KINDS["log.tar"](tmp_path / "log.tar", {**under("n1/", files), **under("n2/", files)})

    with opened_sources([archive], refuse) as sources:
        assert [source.name for source in sources] == [f"{archive}!/n1", f"{archive}!/n2"]
        assert {source.archive for source in sources} == {archive}
        assert all(dict(mounted_files(source.folder)) == files for source in sources)


def test_bad_names_links_and_devices_are_a_line_each_and_the_rest_is_read(tmp_path: Path) -> None:
    files = content(tmp_path)
    with tarfile.open(tmp_path / "log.tar", "w") as archive:
        for name, kind in {
            "../0.log": tarfile.REGTYPE,
            f"{LOG}/1.log": tarfile.SYMTYPE,
            f"{LOG}/2.log": tarfile.FIFOTYPE,
            "notes/latest": tarfile.SYMTYPE,
        }.items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))

    lines: list[SourceError] = []
    with opened_sources([str(tmp_path / "log.tar")], lines.append) as (source,):
        assert dict(mounted_files(source.folder)) == files

    place = f"{tmp_path}/log.tar!"
    assert [line.message for line in lines] == [
        f"cannot read {place}/../0.log: its path leads out of the archive",
        f"cannot read {place}/{LOG}/1.log: it is a link",
        f"cannot read {place}/{LOG}/2.log: it is a device",
    ]


@pytest.mark.parametrize(
    ("place", "config"),
    [
        ("var/lib/kafka/data-0/kafka-log7/", "tmp/strimzi.properties"),
        ("var/lib/kafka/data/", "etc/kafka/kafka.properties"),
        ("bitnami/kafka/data/", "opt/bitnami/kafka/config/server.properties"),
        ("kraft-combined-logs/", "config/server.properties"),
    ],
    ids=["Strimzi", "cp-kafka", "bitnami", "Kafka's own"],
)
def test_places_of_distributions_are_found(tmp_path: Path, place: str, config: str) -> None:
    log = {SEGMENT: content(tmp_path)[SEGMENT]}
    around = {
        config: b"process.roles=broker,controller\nnode.id=7\n",
        "reports/pods.yaml": b"kind: Pod\n",
        "opt/kafka/config/producer.properties": b"acks=all\n",
        "var/log/kafka/server.log": b"[2026-11-28] INFO started\n",
    }
    KINDS["log.zip"](tmp_path / "log.zip", under(place, log) | around)

    with opened_sources([str(tmp_path / "log.zip")], refuse) as (source,):
        assert source.folder == f"{tmp_path}/log.zip!/{place.rstrip('/')}"
        assert source.node_id == 7


def test_directory_is_taken_as_it_is(tmp_path: Path) -> None:
    with opened_sources([str(tmp_path)], refuse) as sources:
        assert sources == [LogSource(str(tmp_path), str(tmp_path))]


@pytest.mark.parametrize("name", KINDS)
def test_archive_without_a_log_is_refused(tmp_path: Path, name: str) -> None:
    KINDS[name](tmp_path / name, {"meta.properties": b""})

    assert refused(tmp_path / name) == "no-log"


@pytest.mark.parametrize("name", KINDS)
def test_damaged_archive_is_refused(tmp_path: Path, name: str) -> None:
    """Cut short, or with a bit flipped somewhere: it is refused, or the damage hides nothing."""
    files = {SEGMENT: random.Random(1).randbytes(3000)}
    path = tmp_path / name
    KINDS[name](path, files)
    whole = path.read_bytes()
    codes = set()
    for number in range(20):
        data = bytearray(whole)
        data[number * len(whole) // 20] ^= 1 << number % 8
        for damaged in (bytes(data), whole[: number * len(whole) // 20]):
            path.write_bytes(damaged)
            try:
                with opened_sources([str(path)], refuse):
                    pass
            except RecoveryRefused as error:
                codes.add(error.code)

    assert "no-archive" in codes
    assert codes <= {"no-archive", "no-log", "unreadable"}


def test_encrypted_archive_is_refused(tmp_path: Path) -> None:
    KINDS["log.zip"](tmp_path / "log.zip", content(tmp_path))
    data = bytearray((tmp_path / "log.zip").read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "log.zip").write_bytes(data)

    assert refused(tmp_path / "log.zip") == "no-archive"


def test_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"no archive")

    with pytest.raises(RecoveryRefused) as error, opened_sources([str(tmp_path / "x")], refuse):
        pass
    assert error.value.message == f"cannot read {tmp_path}/x: truncated header"
    assert error.value.code == "no-archive"


def test_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x")

    assert refused(tmp_path / "x") == "no-archive"


def test_missing_archive_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(RecoveryRefused, match="does not exist"),
        opened_sources([str(tmp_path / "missing")], refuse),
    ):
        pass
