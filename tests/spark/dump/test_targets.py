"""Directories for parts, which replace others only if asked."""

import os
from pathlib import Path

import pytest

from kraftops.errors import UsageError
from kraftops.spark.dump.targets import abandon, commit, prepared_target


def committed(path: Path, *, overwrite: bool) -> None:
    """Write a part, and make another dump's directory of the same name meanwhile."""
    target = prepared_target(str(path), overwrite=overwrite)
    with target.writing("a") as file:
        file.write(b"ours")
    path.mkdir()
    (path / "part-00000.txt").write_bytes(b"theirs")
    try:
        commit(target, [("a", "part-00000.txt")], "text")
    except UsageError:
        abandon(target)
        raise


def test_directory_that_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out"

    with pytest.raises(UsageError, match="out exists"):
        committed(path, overwrite=False)

    assert (path / "part-00000.txt").read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == ["out"]


def test_directory_that_appears_meanwhile_is_replaced_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "out"

    committed(path, overwrite=True)

    assert (path / "part-00000.txt").read_bytes() == b"ours"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("is_there", [False, True])
def test_link_stays_and_what_it_names_is_written(tmp_path: Path, *, is_there: bool) -> None:
    link, real = tmp_path / "link", tmp_path / "disk" / "real"
    real.parent.mkdir()
    link.symlink_to(real)
    if is_there:
        real.mkdir()
        (real / "part-00000.txt").write_bytes(b"earlier")

    target = prepared_target(str(link), overwrite=is_there)
    with target.writing("a") as file:
        file.write(b"ours")
    commit(target, [("a", "part-00000.txt")], "text")

    assert link.is_symlink()
    assert (real / "part-00000.txt").read_bytes() == b"ours"
    assert sorted(os.listdir(tmp_path)) == ["disk", "link"]
    assert os.listdir(real.parent) == ["real"]
