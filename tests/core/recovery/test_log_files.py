"""Files of a log are written from parts, removed, and listed with their states."""

from pathlib import Path

import pytest

from kraftops.recovery.file_steps import (
    TEMPORARY,
    file_states,
    remove_file,
    whole_file,
    write_parts,
)


def test_file_is_made_of_ranges_and_new_bytes(tmp_path: Path) -> None:
    source, path = tmp_path / "source", tmp_path / "made"
    source.write_bytes(b"0123456789")
    part = whole_file(str(source))._replace(start=2, stop=5)

    write_parts(str(path), [part, b"new", whole_file(str(source))], None, 10**18)

    assert path.read_bytes() == b"234new0123456789"
    assert path.stat().st_mtime_ns == 10**18


def test_source_that_shrinks_meanwhile_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"01")
    part = whole_file(str(source))._replace(stop=5)

    with pytest.raises(OSError, match="it has shrunk"):
        write_parts(str(tmp_path / "made"), [part], None)

    assert list(tmp_path.iterdir()) == [source]


def test_states_are_of_finished_regular_files(tmp_path: Path) -> None:
    for name in ("a.log", f"b.log{TEMPORARY}"):
        (tmp_path / name).write_bytes(b"xy")
    (tmp_path / "folder").mkdir()

    assert file_states(str(tmp_path)) == {"a.log": (2, (tmp_path / "a.log").stat().st_mtime_ns)}
    assert file_states(str(tmp_path / "missing")) == {}


def test_missing_file_may_be_removed(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"")

    remove_file(str(path))
    remove_file(str(path))

    assert not path.exists()
