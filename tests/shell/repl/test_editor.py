"""The line editor: typed and pasted lines, history and completion."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from kraftops.errors import SourceError
from kraftops_shell.repl.editor import Editor
from kraftops_shell.session.history import History
from tests.helpers.tools.memory_console import Streams
from tests.helpers.tree.small_trees import session

pytest.importorskip("prompt_toolkit")
TREE = {"image": {"a": 1, "or d;er": 2}, "local": {}}
SEARCH, LEAVE, VI_BEGINNING = "\x14", "\x07", "\x1b0ix"
UP, ENTER, PASTE, END = "\x1b[A", "\r", "\x1b[200~", "\x1b[201~"


@contextmanager
def editor(*history: str, mode: str = "emacs") -> Iterator[tuple[Editor, Any, Streams]]:
    """Yield an editor, the pipe that it reads keys from, and its console."""
    from prompt_toolkit.application import create_app_session
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    found, _, _ = session(TREE)
    found.history = History(lines=history)
    found.settings.chosen["editing-mode"] = mode
    streams = Streams()
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        yield Editor(found, streams.console, toolbar=None, has_color=False), keys, streams


def test_typed_line_is_returned() -> None:
    with editor() as (found, keys, streams):
        keys.send_text("ls x\x7f/" + ENTER)

        assert found.read("> ") == "ls /"
        assert streams.out.getvalue() == "> "


def test_pasted_lines_come_one_by_one() -> None:
    with editor() as (found, keys, streams):
        keys.send_text(f"{PASTE}ls\npwd\nexit{END}{ENTER}")

        lines = [found.read("> ") for _ in range(3)]

        assert lines == ["ls", "pwd", "exit"]
        assert streams.out.getvalue() == "> > pwd\n> exit\n"


def test_first_prompt_is_there_before_the_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    """The import takes longer than a small log; an interrupt of it abandons the line."""
    with editor() as (found, keys, streams):
        shown = []

        def interrupted(**_: object) -> None:
            shown.append(streams.out.getvalue())
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr("prompt_toolkit.PromptSession", interrupted)
            with pytest.raises(KeyboardInterrupt):
                found.read("> ")
        keys.send_text(f"ls /{ENTER}")

        assert found.read("> ") == "ls /"
        assert shown == ["> "]
        assert streams.out.getvalue() == "> \n> "


def test_first_prompt_that_fills_the_terminal_is_left_to_the_editor() -> None:
    with editor() as (found, keys, streams):
        keys.send_text(f"ls /{ENTER}")

        assert found.read("x" * streams.console.size().columns) == "ls /"
        assert streams.out.getvalue() == ""


def test_history_of_the_session_is_there() -> None:
    with editor("pwd", "ls /image") as (found, keys, _):
        keys.send_text(UP + UP + ENTER)

        assert found.read("> ") == "pwd"


def test_only_kept_lines_are_in_the_history() -> None:
    with editor() as (found, keys, _):
        keys.send_text(f"first{ENTER}")
        found.keep(found.read("> "))
        keys.send_text(f"second{ENTER}")
        found.read("> ")

        keys.send_text(UP + ENTER)

        assert found.read("> ") == "first"


def test_tab_completes_a_path() -> None:
    with editor() as (found, keys, _):
        keys.send_text(f"ls /im\t{ENTER}")

        assert found.read("> ") == "ls /image/"


@pytest.mark.parametrize(("key", "error"), [("\x03", KeyboardInterrupt), ("\x04", EOFError)])
def test_control_keys_end_the_line_or_the_input(key: str, error: type[BaseException]) -> None:
    with editor() as (found, keys, _):
        keys.send_text(key)

        with pytest.raises(error):
            found.read("> ")


def test_letters_behind_ctrl_t_find_a_path() -> None:
    with editor() as (found, keys, _):
        keys.send_text("ls " + SEARCH + "ga" + ENTER)
        keys.send_text(ENTER)

        assert found.read("> ") == "ls /image/a"


def test_escape_leaves_a_search_and_the_line() -> None:
    with editor() as (found, keys, _):
        keys.send_text("ls " + SEARCH + "ga" + LEAVE + " x" + ENTER)

        assert found.read("> ") == "ls ga x"


def test_keys_may_be_those_of_vi() -> None:
    with editor(mode="vi") as (found, keys, _):
        keys.send_text(f"two{VI_BEGINNING}{ENTER}")

        assert found.read("> ") == "xtwo"


def test_path_that_was_found_is_quoted() -> None:
    with editor() as (found, keys, _):
        keys.send_text(f"cat {SEARCH}or{ENTER}{ENTER}")

        assert found.read("> ") == r"cat /image/or\ d\;er"


def test_blank_ends_a_search() -> None:
    with editor() as (found, keys, _):
        keys.send_text(f"ls {SEARCH}ga x\t{ENTER}")

        assert found.read("> ") == "ls ga x"


def test_source_that_cannot_be_read_completes_nothing() -> None:
    def changed(_: str) -> None:
        raise SourceError("it has changed")

    with editor() as (found, keys, _):
        root = found._session.root
        found._session.root = replace(root, get=changed)
        keys.send_text(f"ls /image/\t{ENTER}")

        assert found.read("> ") == "ls /image/"
