"""The loop of the interactive shell."""

import errno
import io
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from kraftops.errors import SourceError
from kraftops_shell.repl.beginning import About
from kraftops_shell.repl.kafka_form import KafkaShell
from kraftops_shell.repl.our_form import OurShell
from kraftops_shell.repl.repl import PlainLineReader, run_shell
from kraftops_shell.session.console import Console
from kraftops_shell.session.session import Session
from tests.helpers.tools.memory_console import Streams
from tests.helpers.tree.small_trees import session

NOTHING = About(lambda _: "", lambda _: ())
TREE = {"image": {"a": 1, "b": {"c": 2}}, "local": {}}


class Talk:
    """A session that reads given lines, without any terminal."""

    def __init__(self, *lines: str, kafka: bool = False, **environment: str) -> None:
        self.session, self.out, self.err = session(TREE, kafka=kafka)
        self._lines = iter([*lines, ""])
        self.console = Console(
            write=self.out.append,
            flush=lambda: None,
            error=self.err.append,
            read=lambda: next(self._lines),
            encode=str.encode,
            environment=environment,
            is_input_terminal=False,
            is_output_terminal=False,
        )

    def kafkas(self) -> int:
        shell = KafkaShell(self.session, self.console)
        return run_shell(shell, self.session, self.console)

    def ours(self) -> int:
        shell = OurShell(self.session, self.console, NOTHING, None)
        return run_shell(shell, self.session, self.console)


def failing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Let the command `pwd` fail."""

    def fail(_session: Session, _call: object) -> None:
        raise error

    monkeypatch.setattr("kraftops_shell.commands.nodes.pwd", fail)


def test_kafkas_form_prompts_and_ignores_an_unended_line() -> None:
    talk = Talk("ls\n", "\n", "pwd", kafka=True)

    assert talk.kafkas() == 0
    assert talk.out.text == "[ Kafka Metadata Shell ]\n>> image\nlocal\n>> >> "


def test_kafkas_form_expands_earlier_lines() -> None:
    talk = Talk("cd image\n", "cd /\n", "!1\n", "pwd\n", "!9\n", "history\n", kafka=True)

    talk.kafkas()

    assert "/image\n" in talk.out
    assert (
        "    0  cd image\n    1  cd /\n    2  cd image\n    3  pwd\n    4  !9\n    5  history\n"
        in (talk.out.text)
    )


def test_our_form_prints_output_alone() -> None:
    talk = Talk("cd image\r\n", "ls", kafka=False)

    assert talk.ours() == 0
    assert talk.out.text == "a\nb\n"


def test_our_form_expands_no_earlier_lines() -> None:
    talk = Talk("pwd\n", "!!\n")

    assert talk.ours() == 1
    assert talk.out.text == "/\n"


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ((), 0),
        (("ls",), 0),
        (("\n", "  \n"), 0),
        (("cat /nope\n", "ls\n"), 1),
        (("pwd\n", "cat /nope\n"), 2),
        (("ls > /nowhere/x\n",), 1),
        (("ls '\n",), 1),
    ],
)
def test_highest_exit_code_counts(
    lines: Iterable[str], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kraftops_shell.commands.nodes.pwd", lambda _session, _call: 2)

    assert Talk(*lines).ours() == code


@pytest.mark.parametrize("run", [Talk.ours, Talk.kafkas])
def test_session_continues_after_an_error_of_the_library(
    run: Callable[[Talk], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, SourceError("x has changed", "look again"))
    talk = Talk("pwd\n", "ls /\n", kafka=run is Talk.kafkas)

    code = run(talk)

    assert code == (0 if run is Talk.kafkas else 1)
    ours = "standard input:1: x has changed [unreadable]"
    assert talk.err == ["x has changed" if run is Talk.kafkas else ours, "hint: look again"]
    assert "image\nlocal\n" in talk.out


def test_session_continues_after_an_error_about_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, OSError(errno.ENOSPC, "No space left on device", "out.json"))
    talk = Talk("pwd\n", "ls /image\n")

    assert talk.ours() == 1
    assert talk.err == ["standard input:1: out.json: No space left on device"]
    assert talk.out.text == "a\nb\n"


def test_error_of_standard_output_ends_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, BrokenPipeError(errno.EPIPE, "Broken pipe"))

    with pytest.raises(BrokenPipeError):
        Talk("pwd\n").ours()


def test_interrupt_ends_a_session_without_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_session: Session, _call: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kraftops_shell.commands.nodes.pwd", fail)

    with pytest.raises(KeyboardInterrupt):
        Talk("pwd\n").ours()


def test_traceback_is_shown_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, SourceError("x has changed"))
    talk = Talk("pwd\n", KRAFTOPS_DEBUG="1")

    talk.ours()

    assert talk.err[0] == "Traceback (most recent call last):"
    assert talk.err[-1] == "kraftops.errors.SourceError: x has changed"


def test_exit_ends_the_session() -> None:
    talk = Talk("exit\n", "ls\n")

    assert talk.ours() == 0
    assert talk.out.text == ""


@pytest.mark.parametrize(
    ("is_strict", "lines"), [(False, ["ls", "pwd"]), (True, ["ls"])], ids=["ours", "kafka"]
)
def test_strict_reader_ignores_a_line_without_end(is_strict: bool, lines: list[str]) -> None:
    streams = Streams()
    console = replace(streams.console, read=io.StringIO("ls\r\npwd").readline)
    reader = PlainLineReader(console, is_prompting=True, is_strict=is_strict)

    assert [reader.read("> ") for _ in lines] == lines
    with pytest.raises(EOFError):
        reader.read("> ")
    assert streams.out.getvalue() == "> " * (len(lines) + 1)
