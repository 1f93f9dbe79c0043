"""Names of files in a log directory."""

from pathlib import Path

import pytest

from kraftops.errors import UsageError
from kraftops.log.files import FileKind, FileName, file_name, partition_of


@pytest.mark.parametrize(
    ("name", "kind", "renamed"),
    [
        ("00000000000000000000.log", FileKind.LOG, ""),
        ("00000000000000000000.index", FileKind.INDEX, ""),
        ("00000000000000000000.timeindex", FileKind.TIME_INDEX, ""),
        ("00000000000000000000.txnindex", FileKind.TXN_INDEX, ""),
        ("00000000000000000000.snapshot", FileKind.PRODUCER_SNAPSHOT, ""),
        ("00000000000000000042-0000000007.checkpoint", FileKind.CHECKPOINT, ""),
        ("bootstrap.checkpoint", FileKind.CHECKPOINT, ""),
        ("7.extra.log", FileKind.LOG, ""),
        (".log", FileKind.LOG, ""),
        ("00.log.deleted", FileKind.LOG, ".deleted"),
        ("00.log.swap", FileKind.LOG, ".swap"),
        ("00.index.cleaned", FileKind.INDEX, ".cleaned"),
        ("00-1.checkpoint.part", FileKind.CHECKPOINT, ".part"),
    ],
)
def test_suffix_says_the_kind(name: str, kind: FileKind, renamed: str) -> None:
    assert file_name(f"some.dir/{name}") == FileName(f"some.dir/{name}", kind, renamed)


@pytest.mark.parametrize(
    ("name", "proper_name", "kind", "renamed", "archive"),
    [
        ("42.log.gz", "42.log", FileKind.LOG, "", ".gz"),
        ("42.log.zst", "42.log", FileKind.LOG, "", ".zst"),
        ("42.log.xz", "42.log", FileKind.LOG, "", ".xz"),
        ("42.log.deleted.gz", "42.log", FileKind.LOG, ".deleted", ".gz"),
        ("bootstrap.checkpoint.xz", "bootstrap.checkpoint", FileKind.CHECKPOINT, "", ".xz"),
    ],
)
def test_archived_log_is_known_by_the_name_less_the_ending(
    name: str, proper_name: str, kind: FileKind, renamed: str, archive: str
) -> None:
    found = file_name(f"some.gz/{name}")

    assert found == FileName(f"some.gz/{name}", kind, renamed, archive)
    assert found.proper_name == proper_name
    assert found.is_bootstrap or found.base_offset == 42


def test_archived_checkpoint_has_its_offset_and_epoch() -> None:
    found = file_name("00000000000000000042-0000000007.checkpoint.zst")

    assert found
    assert found.snapshot_id == (42, 7)


def test_standard_input_is_a_log_without_an_offset() -> None:
    found = file_name("-")

    assert found == FileName("-", FileKind.LOG, "")
    assert found.is_stdin
    with pytest.raises(UsageError):
        _ = found.base_offset
    assert file_name("./-") is None


@pytest.mark.parametrize(
    "name",
    [
        "",
        "log",
        "00.LOG",
        "00.log.bak",
        "00.deleted",
        "00.log.deleted.deleted",
        "00.log.gz.gz",
        "00.log.gz.deleted",
        "00.log.bz2",
        "00.index.gz",
        "00.timeindex.zst",
        "00.txnindex.gz",
        "00.snapshot.xz",
        "log.gz",
        ".gz",
        "quorum-state",
        "leader-epoch-checkpoint",
        "partition.metadata",
        "topic.log/",
    ],
)
def test_other_names_are_not_known(name: str) -> None:
    assert file_name(name) is None


@pytest.mark.parametrize(
    ("name", "offset"),
    [
        ("00000000000000004711.log", 4711),
        ("7.extra.log", 7),
        ("-5.log", -5),
        ("+7.log", 7),
        ("９.log", 9),  # noqa: RUF001 - Java reads digits of any script
        ("9223372036854775807.log", (1 << 63) - 1),
        ("00000000000000004711.log.deleted", 4711),
    ],
)
def test_offset_is_the_number_before_the_first_dot(name: str, offset: int) -> None:
    found = file_name(f"1.dir/{name}")

    assert found is not None
    assert found.base_offset == offset


@pytest.mark.parametrize(
    "name",
    [
        "abc.log",
        ".log",
        "12x.log",
        " 5.log",
        "1_000.log",
        "--5.log",
        "+.log",
        "9223372036854775808.log",
        "99999999999999999999.log",
        pytest.param("9" * 5000 + ".log", id="5000 digits"),
    ],
)
def test_name_without_an_offset_is_an_error(name: str) -> None:
    found = file_name(name)

    assert found is not None
    with pytest.raises(UsageError):
        _ = found.base_offset


def test_checkpoint_has_an_end_offset_and_an_epoch() -> None:
    for suffix in ("", ".deleted"):
        found = file_name(f"x/00000000000000000042-0000000007.checkpoint{suffix}")
        assert found is not None
        assert found.snapshot_id == (42, 7)
        assert not found.is_bootstrap


@pytest.mark.parametrize(
    "name",
    [
        "1-2.checkpoint",
        "odd.checkpoint",
        ".checkpoint",
        "00000000000000000042-9999999999.checkpoint",
        "0000000000000000004x-0000000007.checkpoint",
    ],
)
def test_checkpoint_of_another_name_is_an_error(name: str) -> None:
    found = file_name(name)

    assert found is not None
    with pytest.raises(UsageError):
        _ = found.snapshot_id


def test_bootstrap_checkpoint_is_known_by_its_name() -> None:
    named = [file_name(f"x/{name}") for name in ("bootstrap.checkpoint", "a-bootstrap.checkpoint")]

    assert [name.is_bootstrap for name in named if name] == [True, False]


def test_sibling_has_the_same_offset() -> None:
    name = file_name("some.dir/0042.timeindex")

    assert name is not None
    assert name.sibling(FileKind.LOG) == "some.dir/0042.log"
    assert name.sibling(FileKind.INDEX) == "some.dir/0042.index"


def test_sibling_is_renamed_alike_where_there_is_such_a_file(tmp_path: Path) -> None:
    """A segment is renamed file by file."""
    (tmp_path / "5.log.deleted").touch()
    name = file_name(str(tmp_path / "5.index.deleted"))

    assert name is not None
    assert name.sibling(FileKind.LOG) == str(tmp_path / "5.log.deleted")
    assert name.sibling(FileKind.TIME_INDEX) == str(tmp_path / "5.timeindex")


@pytest.mark.parametrize(
    ("folder", "partition"),
    [("t-0", ("t", 0)), ("t-2147483647", ("t", (1 << 31) - 1)), ("t-2147483648", None)],
)
def test_number_of_a_partition_has_32_bits(folder: str, partition: tuple[str, int] | None) -> None:
    assert partition_of(f"/data/{folder}/{0:020}.log") == partition
