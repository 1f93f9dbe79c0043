"""Directories for parts, which replace others only if asked."""

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kraftops.errors import KraftopsError, UsageError
from kraftops.fileio.output import ExistsError, OutputError, OutputFlags
from kraftops.log.remote import filesystem, list_directory
from kraftops.spark.dump import targets
from kraftops.spark.dump.targets import Target, abandon, commit, prepared_target
from kraftops.spark.session.session import Session

_NUMBERS = count()
REPLACING = OutputFlags(overwrite=True)


def committed(path: Path, *, overwrite: bool) -> None:
    """Write a part, and make another dump's directory of the same name meanwhile."""
    target = prepared_target(str(path), OutputFlags(overwrite))
    with target.writing("a") as file:
        file.write(b"ours")
    path.mkdir()
    (path / "part-00000.txt").write_bytes(b"theirs")
    try:
        commit(target, [("a", "part-00000.txt")], "text")
    except KraftopsError:
        abandon(target)
        raise


def test_directory_that_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out"

    with pytest.raises(ExistsError, match="out exists"):
        committed(path, overwrite=False)

    assert (path / "part-00000.txt").read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == ["out"]


def test_directory_that_appears_meanwhile_is_replaced_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "out"

    committed(path, overwrite=True)

    assert (path / "part-00000.txt").read_bytes() == b"ours"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("is_there", [False, True])
def test_link_is_not_followed(tmp_path: Path, *, is_there: bool) -> None:
    """Somebody else may have put it there; the local tool refuses links to directories, too."""
    link, real = tmp_path / "link", tmp_path / "disk" / "real"
    real.parent.mkdir()
    link.symlink_to(real)
    if is_there:
        real.mkdir()
        (real / "part-00000.txt").write_bytes(b"earlier")

    with pytest.raises(ExistsError):
        prepared_target(str(link))
    with pytest.raises(OutputError, match="link: it is a symbolic link") as refused:
        prepared_target(str(link), REPLACING)

    assert refused.value.hint == f"name the directory itself: {real}"
    assert link.is_symlink()
    assert [path.read_bytes() for path in real.glob("*")] == [b"earlier"] * is_there


def test_link_that_appears_meanwhile_is_not_followed(tmp_path: Path) -> None:
    path, other = tmp_path / "out", tmp_path / "other"
    other.mkdir()
    (other / "part-00000.txt").write_bytes(b"theirs")
    target = prepared_target(str(path), REPLACING)
    path.symlink_to(other)

    with pytest.raises(OutputError, match="out: it is a symbolic link"):
        commit(target, [], "text")

    assert (path.is_symlink(), (other / "part-00000.txt").read_bytes()) == (True, b"theirs")


@pytest.fixture
def output(store: str) -> str:
    """A directory in a store that no other test uses; its parent is empty, too."""
    return f"{store}/targets-{next(_NUMBERS)}/out"


def written(target: Target, parts: int) -> list[tuple[str, str]]:
    """Write parts, each at two attempts; return the present and final names of the second ones."""
    names = []
    for number in range(parts):
        for attempt in (1, 2):
            name = target.attempt_name(f"part-{number:05}", ".txt", attempt)
            with target.writing(name) as file:
                file.write(b"%d of attempt %d" % (number, attempt))
        names.append((name, f"part-{number:05}.txt"))
    return names


def objects(folder: str) -> dict[str, bytes]:
    """Return what a reader finds who lists everything below a directory."""
    found = {}
    for entry in list_directory(folder, recursive=True) or ():
        if entry.size is not None:
            system, path = filesystem(entry.uri)
            with system.open_input_stream(path) as stream:
                found[entry.uri.removeprefix(f"{folder}/")] = bytes(stream.read())
    return found


def test_attempts_in_a_store_are_outside_of_the_target_without_the_ending_of_data(
    output: str,
) -> None:
    target = prepared_target(output)

    written(target, 2)

    parent = output.rpartition("/")[0]
    assert objects(output) == {}
    assert len(objects(parent)) == 4
    assert all(name.startswith(".") and name.endswith(".tmp") for name in objects(parent))


@pytest.mark.spark
def test_spark_reads_no_attempt(session: Session, store: str, tmp_path: Path) -> None:
    """It reads directories in `_` whose names have a `=` or begin as that of Parquet's metadata."""
    table = pa.table({"offset": [1, 2, 3]})
    pq.write_table(table, tmp_path / "part-00000.parquet")
    for name in ("out", "metadata", "day=1"):
        target = prepared_target(f"{store}/targets-{next(_NUMBERS)}/{name}")
        place = tmp_path / target.place.rpartition("/")[2]
        place.mkdir()
        pq.write_table(table, place / target.attempt_name("part-00000", ".parquet", 1))
        abandon(target)

    for options in ({}, {"recursiveFileLookup": "true"}):
        found = session.spark.read.options(**options).parquet(str(tmp_path))
        assert (found.columns, found.count()) == (["offset"], 3)


def test_parts_in_a_store_have_final_names_and_nothing_else_is_left(output: str) -> None:
    target = prepared_target(output)

    commit(target, written(target, 3), "text")

    found = objects(output.rpartition("/")[0])
    assert "out/_SUCCESS" in found
    assert {name: data for name, data in found.items() if name != "out/_SUCCESS"} == {
        f"out/part-0000{number}.txt": b"%d of attempt 2" % number for number in range(3)
    }


def test_part_that_no_store_copies_at_once_is_whole(
    output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "_MOST_COPIED", {"s3": 3})
    target = prepared_target(output)

    commit(target, written(target, 1), "text")

    assert objects(output)["part-00000.txt"] == b"0 of attempt 2"


def test_earlier_output_in_a_store_is_gone_before_the_first_part_is_there(
    output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = prepared_target(output)
    commit(first, written(first, 3), "text")
    before: list[list[str]] = []
    monkeypatch.setattr(targets, "_copy", noting(lambda: before.append([*objects(output)])))
    monkeypatch.setattr(targets, "_COPIES", 1)
    second = prepared_target(output, REPLACING)

    commit(second, written(second, 2), "text")

    assert before == [[], ["part-00000.txt"]]
    assert sorted(objects(output)) == ["_SUCCESS", "part-00000.txt", "part-00001.txt"]


def noting(note: Callable[[], object]) -> Callable[[str, str, int], None]:
    """Return a copier that calls a function first."""
    copy = targets._copy

    def noted(written: str, final: str, size: int) -> None:
        note()
        copy(written, final, size)

    return noted


def test_failure_among_the_copies_leaves_no_part(
    output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = count()

    def fail_late() -> None:
        if next(numbers) > 2:
            raise OSError("the store is full")

    monkeypatch.setattr(targets, "_copy", noting(fail_late))
    target = prepared_target(output)

    with pytest.raises(OutputError, match="the store is full"):
        commit(target, written(target, 5), "text")
    abandon(target)

    assert objects(output.rpartition("/")[0]) == {}


def test_output_that_appears_in_a_store_meanwhile_is_not_replaced(output: str) -> None:
    slow, quick = (prepared_target(output) for _ in range(2))
    commit(quick, written(quick, 1), "text")

    with pytest.raises(ExistsError, match="out exists"):
        commit(slow, written(slow, 2), "text")
    abandon(slow)

    assert sorted(objects(output.rpartition("/")[0])) == ["out/_SUCCESS", "out/part-00000.txt"]


def test_bucket_itself_is_no_target(store: str) -> None:
    with pytest.raises(UsageError, match="whole bucket"):
        prepared_target(store, REPLACING)
