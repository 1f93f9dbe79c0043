"""The interactive shell in our form: prompts, redirections, history and exit codes."""

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kraftops_shell.repl.beginning import About
from kraftops_shell.repl.our_form import OurShell
from kraftops_shell.session.history import HistoryFile
from tests.helpers.tools.memory_console import Streams
from tests.helpers.tree.small_trees import session

NOTHING = About(lambda _: "", lambda width: [f"of {width} columns", "and so on"])
TREE = {"image": {"a b": {"c": 2}}, "local": {}}


class Shell:
    """A shell on streams in memory, with a terminal that cannot edit lines, or without one."""

    def __init__(self, text: str = "", *, is_terminal: bool = True) -> None:
        self.session, _, _ = session(TREE)
        self.streams = Streams(is_terminal=is_terminal, environment={"TERM": "dumb"})
        console = replace(self.streams.console, read=io.StringIO(text).readline)
        self.shell = OurShell(self.session, console, NOTHING, None)

    @property
    def out(self) -> str:
        return self.streams.out.getvalue()


def test_terminal_has_a_welcome_and_a_prompt_with_the_working_directory() -> None:
    shell = Shell("pwd\n")
    shell.session.working = ("image", "a b")

    assert shell.shell.read() == "pwd"

    *welcome, prompt = shell.out.split("\n")
    assert welcome == ["of 80 columns", "and so on"]
    assert prompt.endswith("/image/a b> ")


def test_pipe_has_neither() -> None:
    shell = Shell("pwd\n", is_terminal=False)

    assert shell.shell.read() == "pwd"
    assert shell.out == ""


@pytest.mark.parametrize(("is_terminal", "end"), [(True, "> \n"), (False, "")])
def test_end_of_input_ends_the_line_of_a_terminal(is_terminal: bool, end: str) -> None:
    shell = Shell(is_terminal=is_terminal)

    with pytest.raises(EOFError):
        shell.shell.read()

    assert shell.out[-3:] == end


@pytest.mark.parametrize(("is_terminal", "code"), [(True, 0), (False, 1)])
def test_failed_command_counts_only_without_a_terminal(is_terminal: bool, code: int) -> None:
    shell = Shell(is_terminal=is_terminal)

    for line in ("ls /nowhere", "ls '", "ls /image"):
        shell.shell.run_line(line)

    assert shell.shell.code == code
    assert len(shell.streams.errors) == 2


def test_output_goes_to_a_file_or_is_added_to_it(tmp_path: Path) -> None:
    shell, path = Shell(is_terminal=False), tmp_path / "out"

    for line in (f"ls / > {path}", f"ls /image >> {path}"):
        shell.shell.run_line(line)

    assert path.read_text() == "image\nlocal\na b\n"
    assert shell.out == ""
    shell.shell.run_line("ls /image")
    assert shell.out == "a b\n"


def test_output_goes_through_a_program(tmp_path: Path) -> None:
    shell, path = Shell(is_terminal=False), tmp_path / "out"

    shell.shell.run_line(f"ls / | tr a-z A-Z > {path}")
    assert (path.read_text(), shell.shell.code) == ("IMAGE\nLOCAL\n", 0)

    shell.shell.run_line("ls / | exit 3")
    assert shell.shell.code == 1


def test_empty_line_does_nothing() -> None:
    shell = Shell(is_terminal=False)

    shell.shell.run_line("   ")

    assert (shell.out, shell.shell.code, len(shell.session.history)) == ("", 0, 0)


def test_interrupt_begins_a_new_line_on_a_terminal_and_ends_a_pipe() -> None:
    shell = Shell()
    before = shell.out
    shell.shell.interrupted(is_reading=True)
    assert shell.out == f"{before}\n"

    with pytest.raises(KeyboardInterrupt):
        Shell(is_terminal=False).shell.interrupted(is_reading=False)


class TestEditing:
    @pytest.fixture(autouse=True)
    def _no_terminal(self) -> Iterator[None]:
        create = pytest.importorskip("prompt_toolkit.application").create_app_session
        inputs = pytest.importorskip("prompt_toolkit.input")
        outputs = pytest.importorskip("prompt_toolkit.output")
        with (
            inputs.create_pipe_input() as pipe,
            create(input=pipe, output=outputs.DummyOutput()),
        ):
            yield

    def test_history_of_the_file_is_continued(self, tmp_path: Path) -> None:
        path = tmp_path / "history"
        path.write_text("ls\n")
        found, _, _ = session(TREE)
        console = replace(Streams().console, environment={"TERM": "xterm", "PAGER": ""})
        shell = OurShell(found, console, NOTHING, HistoryFile(str(path)))
        assert list(found.history) == ["ls"]

        for line in ("pwd", "pwd", " hidden"):
            shell.run_line(line)

        assert path.read_text() == "ls\npwd\n"
        assert list(found.history) == ["ls", "pwd"]
