"""Run of a line: find its command, import and call it."""

from collections.abc import Sequence
from importlib import import_module

from kraftops.errors import KraftopsError
from kraftops_shell.grammar.arguments import BadLineError, read_call
from kraftops_shell.session.session import FAILED, OK, Session

_COMMANDS = "kraftops_shell.commands"


def failure_fields(error: KraftopsError) -> dict[str, object]:
    return {"error": error.code, "message": error.message, "hint": error.hint}


def run_line(session: Session, line: Sequence[str]) -> int:
    """Run the words of a line; return the exit code of its command.

    Raises:
        KraftopsError: the source can no longer be read.
    """
    session.first_error = session.answer = None
    try:
        call = read_call(line, session.commands, kafka=session.is_kafka, ours=session.words)
        if call is None:
            return OK
        session.refresh()
        module, _, name = call.command.function.partition(":")
        command = getattr(import_module(f"{_COMMANDS}.{module}"), name)
        code: int = command(session, call) or OK
    except BadLineError as error:
        session.print_error(str(error), error.usage, code="usage")
        code = FAILED
    except KraftopsError as error:
        if session.answer:
            session.answer.end(failure_fields(error))
        raise
    if session.answer:
        failure = session.first_error
        session.answer.end(failure_fields(failure) if failure else {})
    if session.is_kafka:
        return OK
    return code or (OK if session.first_error is None else FAILED)
