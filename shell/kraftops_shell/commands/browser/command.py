"""The command browse: the tree on a full screen, with details beside it."""

from kraftops.errors import UsageError
from kraftops_shell.commands.browser.browser import Browser
from kraftops_shell.commands.browser.moments import Moments
from kraftops_shell.grammar.arguments import Call
from kraftops_shell.session.session import Session
from kraftops_terminal.descriptors import is_terminal
from kraftops_terminal.screen import Screen

_KEYBOARD = 0
_PAUSE = 1.0  # seconds between two looks for news


def browse(session: Session, call: Call) -> None:
    """Show the tree until somebody quits.

    Raises:
        UsageError: there is no terminal for it.
    """
    console = session.table_console
    if not (console.has_screen and is_terminal(_KEYBOARD)):
        raise UsageError(
            "browse needs a terminal that can move its cursor",
            hint="tree -L 2 and find show the same as text",
        )
    start = session.working
    for _, match in session.targets(call, call.words):
        start = match.names
    if session.first_error:
        return
    browser = Browser(Moments(session), start, console)
    with Screen(console.fd, _KEYBOARD) as screen:
        waiting: list[str] = []

        def is_interrupted() -> bool:
            screen.draw(browser.lines(screen.size))
            waiting.extend(screen.wait(0))
            return bool(waiting)

        while not browser.is_over:
            try:
                screen.draw(browser.lines(screen.size))
                waiting += screen.wait(_PAUSE)
                browser.refresh()
                while waiting and not browser.is_over:
                    browser.press(waiting.pop(0), is_interrupted)
            except KeyboardInterrupt:
                if not browser.leave_search():
                    raise
