"""Any keys at any size of the terminal."""

from random import Random

import pytest

from kraftops_shell.commands.browser import browser as browser_module
from kraftops_shell.commands.browser.browser import Browser
from kraftops_shell.commands.browser.moments import Moments
from kraftops_terminal.console import Console
from kraftops_terminal.widths import width_of_text
from tests.helpers.logs.segments import IN
from tests.helpers.tools.corpus import DATA
from tests.helpers.tools.shell_session import Shell

PIPE = Console(lambda _: None, -1, is_terminal=False)
KEYS = (
    *("up", "down", "left", "right", "enter", "page-up", "page-down", "home", "end", " ", "["),
    *("]", "{", "}", "=", "/", "n", "a", "0", "backspace", "escape", "shift-left", "日", "x"),
    *("?", "d"),
)


def test_frames_fit_after_any_keys() -> None:
    session = Shell(IN / "meta/00000000000000000000.log").session
    browser, rng = Browser(Moments(session), ("image",), PIPE), Random(5)
    chosen = set()
    for _ in range(1500):
        columns, rows = rng.choice(((1, 1), (5, 3), (40, 10), (59, 24), (60, 24), (80, 24)))

        browser.press(rng.choice(KEYS), lambda: False)
        browser.refresh()
        lines = browser.lines((columns, rows))

        assert len(lines) == rows
        assert max(map(width_of_text, lines)) <= columns
        assert rows < 10 or sum(line.startswith(">") for line in lines[1:-1]) == 1
        chosen.add(browser.path)
    assert not browser.is_over
    assert len(chosen) > 20


def test_keys_lead_to_pages_of_the_moment_and_back() -> None:
    session = Shell(DATA / "incidents/three").session
    browser = Browser(Moments(session), ("image", "topics"), PIPE)

    def page(key: str) -> list[str]:
        browser.press(key, lambda: False)
        return browser.lines((100, 30))[2:]

    assert page("p")[:2] == ["problems", "partitions: 1 offline, 6 under-min-isr"]
    assert page("o")[:2] == ["operations", "partitions: none"]
    assert page("c")[1] == "changes of the last hour, the newest first"
    assert "broker 102" in " ".join(page("end"))
    assert any(line.startswith(">") for line in page("escape"))
    assert browser.path == ("image", "topics")
    browser.press("{", lambda: False)
    assert page("p")[1] != "partitions: 1 offline, 6 under-min-isr"


def test_a_search_that_runs_can_be_left(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Shell(IN / "meta/00000000000000000000.log").session
    browser = Browser(Moments(session), ("image",), PIPE)
    monkeypatch.setattr(browser_module, "_NODES_PER_LOOK", 1)

    def interrupt() -> bool:
        raise KeyboardInterrupt

    for key in ("/", *"no such name"):
        browser.press(key, interrupt)
    with pytest.raises(KeyboardInterrupt):
        browser.press("enter", interrupt)

    assert browser.leave_search()
    assert not browser.leave_search()
    assert "q quit" in browser.lines((80, 24))[-1]
