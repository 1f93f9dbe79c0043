"""Sessions on a real terminal of 40 to 200 columns, compared with recorded screens."""

import re
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from tests.helpers.logs.metadata_logs import write_log
from tests.helpers.logs.random_logs import LogBatch, new_record, uuid
from tests.helpers.project.imports import REPOSITORY
from tests.helpers.tools.emulator import Emulator
from tests.helpers.tools.our_shell import KRAFTOPS
from tests.helpers.tools.screen_files import SCREENS, RecordedScreens
from tests.helpers.tools.terminal_program import Screen

LOG = "tests/data/shell/in/n431"
ROWS = 18
DELETE, SEARCH, TAKE_SUGGESTION, INTERRUPT, UP = "\x15", "\x14", "\x05", "\x03", "\x1b[A"
_NOW = re.compile(r"^\d{4}-\d\d-\d\dT[\d:.]+Z  (?=ls)", re.MULTILINE)
_SETTLED = 1.5  # seconds, before a screen is recorded
LINE = (
    ("the welcome, a prompt and a toolbar", ""),
    ("a menu of commands with phrases", "l"),
    ("a menu of flags", "s -"),
    ("Tab completes a path, and shows what follows", DELETE + "ls /im\t"),
    ("Ctrl-T searches a path", DELETE + "ls " + SEARCH + "pay0"),
    ("Enter takes the best", "\r"),
    ("Enter runs the line", "\r"),
    ("a suggestion from history is taken", "ls /" + TAKE_SUGGESTION),
    ("what was meant", DELETE + "lss /\r"),
    ("usage where an argument is missing", "clear\rcat\r"),
    ("an alias, ; and |", "alias two='ls /; pwd'\rtwo; ls /image | head -2\r"),
    ("help by task", "clear\rhelp session\r"),
    ("watch", "clear\rwatch -n 60 ls /image/cluster\r"),
    ("Ctrl-C ends it", INTERRUPT),
)
TIME = (
    ("a loss", "clear\rwhat-if --lose 1 --limit 3\r"),
    ("a moment", "clear\rat @290\r"),
    ("the next change", "next\r"),
    ("where one stands", "clear\rat\r"),
    ("the change of a broker before", "clear\rprev --path /image/cluster/brokers/2\r"),
    ("who did it", "clear\rat @300 blame /image/topics/byName/a.many/0 | head -4\r"),
    ("another moment for one command", "clear\rat @300 ls /image/topics/byState/leaderless\r"),
    ("and back", "at now; ls /image/topics/byState/leaderless\r"),
)
SESSIONS = {
    "line": (("-s", LOG), LINE),
    "time": (("-s", "tests/data/dump-4.3.1/in/meta"), TIME),
}


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    monkeypatch.chdir(REPOSITORY)
    return {"HOME": str(tmp_path), "PAGER": "cat"}


def _masked(text: str) -> str:
    """Return a screen without the time of day and the height of the empty part."""
    return re.sub(r"\n{3,}", "\n\n", _NOW.sub("NOW  ", text)).strip("\n")


@pytest.mark.parametrize("columns", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("session", SESSIONS)
def test_session_shows_what_was_recorded(
    session: str,
    columns: int,
    environment: dict[str, str],
    recorded: RecordedScreens,
    request: pytest.FixtureRequest,
) -> None:
    name, renews = f"shell-{session}-{columns}", request.config.getoption("--renew-screens")
    expected = [] if renews else (SCREENS / f"{name}.txt").read_text().split("\n=== ")
    seen = []
    options, steps = SESSIONS[session]
    with Emulator(
        KRAFTOPS, "metadata-shell", *options, columns=columns, rows=ROWS, environment=environment
    ) as terminal:
        terminal.wait_for("/>")
        for step, (title, keys) in enumerate(steps):
            terminal.send(keys)
            if renews:
                end = monotonic() + _SETTLED
                terminal.wait(lambda _, end=end: monotonic() > end)
            else:
                text = expected[step].partition("\n")[2].strip("\n")
                terminal.wait(lambda now, text=text: _masked(now.text) == text)
            seen.append(f"{title}\n{_masked(terminal.text).rstrip()}\n")
        terminal.send(DELETE + "quit\r")

        assert terminal.wait_for_end() == 0
        assert terminal.is_as_before
    recorded.check(name, "\n=== ".join(seen).splitlines())


def test_a_session_follows_a_log_that_grows(tmp_path: Path, environment: dict[str, str]) -> None:
    batches = [
        bytes(
            LogBatch(number, [new_record("TopicRecord", name=f"t{number}", topicId=uuid(number))])
        )
        for number in range(3)
    ]
    write_log(tmp_path, {0: batches[:1]})
    with Emulator(
        KRAFTOPS, "metadata-shell", "-s", str(tmp_path), columns=200, environment=environment
    ) as terminal:
        terminal.wait_for("offset 0  ")
        write_log(tmp_path, {0: batches[:2]})
        terminal.send("ls /image/topics/byName\r")
        terminal.wait_for("t0  t1")
        terminal.send("at @0\r")
        terminal.wait_for("offset 0 of 1  ")
        write_log(tmp_path, {0: batches})
        terminal.send("at now; ls /image/topics/byName\r")
        terminal.wait_for("t0  t1  t2")
        terminal.wait_for("offset 2  ")
        next(tmp_path.rglob("*.log")).unlink()
        terminal.send("pwd\r")
        terminal.wait_for("; this is the state at offset 2")
        terminal.send("quit\r")

        assert terminal.wait_for_end() == 0


def test_what_is_typed_at_the_first_prompt_waits_for_the_editor(
    environment: dict[str, str],
) -> None:
    """The prompt is there before the editor is imported."""
    with Emulator(KRAFTOPS, "metadata-shell", "-s", LOG, environment=environment) as terminal:
        terminal.wait(lambda now: b"/> " in now.raw)
        assert b"\x1b[?2004h" not in terminal.raw.partition(b"/> ")[0]
        terminal.send("cd /image\rl")

        terminal.wait(lambda now: "/image> l" in now.text and "ls " in now.text)
        terminal.send(DELETE + "exit\r")
        assert terminal.wait_for_end() == 0
        assert terminal.is_as_before


def test_alias_and_setting_are_kept_for_the_next_session(environment: dict[str, str]) -> None:
    for lines in (["alias here=pwd", "set editing-mode vi"], ["here"]):
        with Screen(KRAFTOPS, "metadata-shell", "-s", LOG, environment=environment) as screen:
            answers = [screen.run(f"{line}\r") for line in lines]
            screen.wait_for_editor()
            screen.send("exit\r")
            assert screen.wait_for_end() == 0

    assert answers == ["/\n"]


def test_terminal_without_a_cursor_has_the_same_words(environment: dict[str, str]) -> None:
    with Screen(KRAFTOPS, "metadata-shell", "-s", LOG, term="dumb", environment=environment) as one:
        one.wait_for("Try summary")
        one.wait(lambda now: now.text.endswith("/> "))
        for line, shown in (
            ("ll /image/provenance", "-  -\n/> "),
            ("clear", "clear\n/> "),
            ("? keys", "Ctrl-T"),
            ("lss", "did you mean ls?"),
            ("ls /; pwd", "image\nlocal\n/\n/> "),
            ("watch -n 60 pwd", "every 60 s, Ctrl-C ends\n/\n"),
            ("\x03", "/> "),
        ):
            one.clear()
            one.send(f"{line}\r" if line != "\x03" else line)
            one.wait_for(shown)
        one.send("quit\r")

        assert one.wait_for_end() == 0


def test_kafkas_form_takes_the_words_on_a_terminal(environment: dict[str, str]) -> None:
    with Screen(
        KRAFTOPS,
        "metadata-shell",
        "--format=kafka",
        "-s",
        LOG,
        term="dumb",
        environment=environment,
    ) as one:
        one.wait_for(">> ")
        for line, shown in (
            ("ll /image/provenance", "-"),
            ("ls -la /image/provenance", "-"),
            ("ls --help", "usage: ls [targets"),
            ("?", "Welcome to the Apache Kafka metadata shell."),
            ("alias here=pwd", ">> "),
            ("here", "/\n>> "),
            ("ls -l", "unrecognized arguments: '-l'\n>> "),
            ("topics", "invalid choice: 'topics' (choose from 'cat', "),
        ):
            one.clear()
            one.send(f"{line}\r")
            one.wait_for(shown)
            one.wait(lambda now: now.text.endswith(">> "))
        one.send("quit\r")

        assert one.wait_for_end() == 0
