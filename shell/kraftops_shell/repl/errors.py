"""Errors of a line, as a session prints them."""

from kraftops.errors import KraftopsError, with_code
from kraftops_shell.session.console import Console
from kraftops_shell.session.session import Session


def print_error(session: Session, console: Console, error: KraftopsError | OSError) -> None:
    """Print an error of a line, with the place of the line in a script.

    Raises:
        OSError: it is about standard output: no more can be printed.
    """
    if isinstance(error, KraftopsError):
        message, hint = error.message, error.hint
        if not session.is_kafka:
            message = with_code(message, error.code)
    elif error.filename:
        message, hint = f"{error.filename}: {error.strerror}", None
    else:
        raise error
    if console.is_debugging:
        import traceback

        for line in "".join(traceback.format_exception(error)).splitlines():
            console.error(line)
        return
    console.error(f"{session.place}{message}")
    if hint:
        console.error(f"hint: {hint}")
