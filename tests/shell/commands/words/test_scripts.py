"""The commands source and watch."""

import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from kraftops_shell.repl.beginning import About
from kraftops_shell.repl.our_form import OurShell
from kraftops_shell.run import run_line
from tests.helpers.tools.memory_console import Streams
from tests.helpers.tree.small_trees import session

NOTHING = About(lambda _: "", lambda _: ())
TREE = {"image": {"a": 1}, "local": {}}


class Shell:
    """A shell of our form that reads no terminal."""

    def __init__(self) -> None:
        self.session, _, _ = session(TREE)
        self.streams = Streams(is_terminal=False)
        self.shell = OurShell(self.session, self.streams.console, NOTHING, None)

    def run(self, line: str) -> str:
        self.shell.run_line(line)
        return self.streams.out.getvalue()

    @property
    def errors(self) -> list[str]:
        return self.streams.errors


def test_lines_of_a_file_are_run_and_errors_name_them(tmp_path: Path) -> None:
    shell, path = Shell(), tmp_path / "script"
    path.write_text(f"# a comment\nls /\nls /nowhere\ncat\nls > {tmp_path}/no/where\nls /image\n")

    assert shell.run(f"source {path}") == "image\nlocal\na\n"

    assert shell.errors[0] == f"{path}:3: ls: /nowhere: no such file or directory. [not-found]"
    assert shell.errors[1:3] == [
        f"{path}:4: cat needs targets [usage]",
        "usage: cat [--format text|json|ndjson] targets [targets ...]",
    ]
    assert shell.errors[3].startswith(f"{path}:5: cannot write {tmp_path}/no/where: ")
    assert shell.shell.code == 1


def test_output_of_a_file_goes_where_that_of_source_goes(tmp_path: Path) -> None:
    shell, path, out = Shell(), tmp_path / "script", tmp_path / "out"
    path.write_text(f"ls /\nls /image | cat > {tmp_path}/other\npwd\n")

    assert shell.run(f"source {path} > {out}") == ""

    assert out.read_text() == "image\nlocal\n/\n"
    assert (tmp_path / "other").read_text() == "a\n"
    assert shell.run("pwd") == "/\n"


def test_file_that_runs_itself_is_refused(tmp_path: Path) -> None:
    shell, path = Shell(), tmp_path / "script"
    path.write_text(f"pwd\nsource {path}\npwd\n")

    assert shell.run(f"source {path}") == "/\n/\n"
    assert shell.errors == [f"{path}:2: source: {path} is running already [usage]"]


def test_exit_ends_the_file_and_the_session(tmp_path: Path) -> None:
    shell, path = Shell(), tmp_path / "script"
    path.write_text("exit\npwd\n")

    assert shell.run(f"source {path}; pwd") == ""
    assert shell.session.is_over


def test_missing_file_is_one_line() -> None:
    shell = Shell()
    shell.run("source /nowhere")

    assert shell.errors == ["/nowhere: No such file or directory"]


def test_alias_of_a_script_is_not_kept(tmp_path: Path) -> None:
    shell = Shell()

    assert shell.run("alias here=pwd; here") == ""
    assert shell.run("here; here") == "/\n/\n"


def test_watch_needs_a_terminal() -> None:
    shell = Shell()
    shell.run("watch ls /")

    assert shell.errors == ["watch: it needs a terminal, and no | or > after it [usage]"]


@pytest.mark.parametrize("text", ["0", "-1", "x", "nan", "inf", "1e9"])
def test_watch_refuses_other_times(text: str) -> None:
    one, _, err = session(TREE)
    one.console, one.is_on_terminal = Streams().console, True

    assert run_line(one, ["watch", f"-n={text}", "ls"]) == 1
    assert err[0].startswith(f"argument -n: '{text}' is not a time")


@pytest.mark.parametrize("word", ["watch", "browse"])
def test_watch_refuses_commands_that_end_by_a_key(word: str) -> None:
    one, _, err = session(TREE)
    one.console, one.is_on_terminal = Streams().console, True

    assert run_line(one, ["watch", word, "/image"]) == 1
    assert err == [f"watch: it cannot repeat {word}, which ends by a key only [usage]"]


def test_watch_repeats_below_on_a_terminal_without_a_cursor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, out, _ = session(TREE)
    one.console, one.is_on_terminal = Streams(environment={"TERM": "dumb"}).console, True
    one.call = partial(run_line, one)
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            raise KeyboardInterrupt

    clock = SimpleNamespace(sleep=wait, time=time.time)
    monkeypatch.setattr("kraftops_shell.commands.words.scripts.time", clock)

    assert run_line(one, ["watch", "-n", "3", "ls", "/image"]) == 0

    assert waits == [3.0, 3.0]
    assert out.text.count("  ls /image  every 3 s, Ctrl-C ends\na\n") == 2
