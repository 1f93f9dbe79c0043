"""The history of lines, in a session and in its file."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftops_shell.session.history import History, HistoryFile, expanded, history_path

LINES = ("pwd", "ls /image", "cat /local/version")


def test_lines_have_numbers_from_0() -> None:
    history = History()

    assert [history.add(line) for line in ("pwd", "ls", "pwd")] == [True, True, True]
    assert history.last() == [(0, "pwd"), (1, "ls"), (2, "pwd")]
    assert history.end == 3


def test_some_lines_are_not_kept() -> None:
    """Empty ones, those that begin with a blank, and those like the one before."""
    history = History()

    assert [history.add(line) for line in ("", "  ", " ls", "ls", "ls", "ls  ")] == [
        False,
        False,
        False,
        True,
        False,
        False,
    ]
    assert list(history) == ["ls"]


@pytest.mark.parametrize(
    ("count", "numbers"), [(None, [0, 1, 2]), (2, [1, 2]), (9, [0, 1, 2]), (0, []), (-1, [])]
)
def test_last_lines(count: int | None, numbers: list[int]) -> None:
    history = History(lines=["a", "b", "c"])

    assert [number for number, _ in history.last(count)] == numbers


def test_oldest_lines_are_forgotten_and_numbers_stay() -> None:
    history = History(limit=2)
    for line in "abcd":
        history.add(line)

    assert history.last() == [(2, "c"), (3, "d")]
    assert [history.at(number) for number in (1, 2, 3, 4)] == [None, "c", "d", None]


@pytest.mark.parametrize(
    ("environment", "path"),
    [
        ({"HOME": "/h"}, "/h/.local/state/kraftops/metadata-shell-history"),
        ({"HOME": "/h", "XDG_STATE_HOME": "/s"}, "/s/kraftops/metadata-shell-history"),
        ({"XDG_STATE_HOME": "/s"}, "/s/kraftops/metadata-shell-history"),
        ({"HOME": "/h", "XDG_STATE_HOME": "s"}, "/h/.local/state/kraftops/metadata-shell-history"),
        ({"HOME": ""}, None),
        ({"HOME": "h"}, None),
        ({}, None),
    ],
)
def test_place_of_the_file(environment: dict[str, str], path: str | None) -> None:
    assert history_path(environment) == path


def test_file_keeps_lines_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "state" / "kraftops" / "history"
    file = HistoryFile(str(path))

    file.add("ls /image")
    file.add("cat 'ü' \udcff")

    assert HistoryFile(str(path)).load() == ["ls /image", "cat 'ü' \udcff"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_file_that_others_can_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text("old\n")
    path.chmod(0o644)

    HistoryFile(str(path)).add("new")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == "old\nnew\n"


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("/dev/null"), os.mkfifo])
def test_what_is_no_file_is_left_alone(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """A link to /dev/null is how users switch a history off; its mode is for all users."""
    path = tmp_path / "history"
    make(path)
    before = path.stat().st_mode

    HistoryFile(str(path)).add("ls")

    assert HistoryFile(str(path)).load() == []
    assert path.stat().st_mode == before


def test_directories_are_for_their_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    path = tmp_path / ".local" / "state" / "kraftops" / "history"
    before = os.umask(0)
    try:
        HistoryFile(str(path)).add("ls")
    finally:
        os.umask(before)

    for made in (path.parents[0], path.parents[1], path.parents[2]):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_file_that_is_too_long_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text("".join(f"{number}\n" for number in range(20_001)))
    file = HistoryFile(str(path))

    lines = file.load()

    assert lines[0] == "10001"
    assert len(lines) == 10_000
    assert len(path.read_text().splitlines()) == 10_000
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["history"]


def test_place_that_cannot_be_written_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    file = HistoryFile(str(tmp_path / "file" / "kraftops" / "history"))

    file.add("ls")

    assert file.load() == []


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("!!", "cat /local/version"),
        ("!! x", "cat /local/version x"),
        ("!1", "pwd"),
        ("!2", "ls /image"),
        ("!-1", "cat /local/version"),
        ("!-3", "pwd"),
        ("ls !1", "ls pwd"),
        ("ls !1x y", "ls pwd y"),
        ("!p", "pwd"),
        ("!ls", "ls /image"),
        ("!?imag?", "ls /image"),
        ("!?imag? x", "ls /image x"),
        ("!$", "/local/version"),
        ("ls !$ x", "ls /local/version x"),
        ("ls !#", "ls ls "),
        ("^cat^ls", "ls /local/version"),
        ("^cat^ls^", "ls /local/version"),
        ("^nope^ls", "cat /local/version"),
        ("ls \\!1", "ls \\!1"),
        ("ls '!1'", "ls '!1'"),
        ('ls "!1"', 'ls "pwd'),
        ("ls ! x", "ls ! x"),
        ("ls !", "ls !"),
        ("!99", "!99"),
        ("!0", "!0"),
        ("!-", "!-"),
        ("!12345678901", "!12345678901"),
        ("!nope", "!nope"),
        ("!?nope", "!?nope"),
        ("ls ^a^b", "ls ^a^b"),
        ("^a", "^a"),
        ("\\u0041!1", "\\u0041!1"),
        ("\\u0041x!1", "\\u0041xpwd"),
        ("", ""),
    ],
)
def test_line_stands_for_others(line: str, meant: str) -> None:
    assert expanded(line, History(lines=LINES)) == meant


@pytest.mark.parametrize("line", ["!!", "!$", "!1", "!-1", "!p", "^a^b"])
def test_nothing_is_put_in_before_the_first_line(line: str) -> None:
    assert expanded(line, History()) == line
