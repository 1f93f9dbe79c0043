"""Entry points: run a command, and turn an error into one line and an exit code."""

from __future__ import annotations

import errno
import gc
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import click

    from kraftops_cli.terminal.failure import Failure
    from kraftops_cli.terminal.streams import Terminal

_OUTPUT_ERRORS = (errno.EAGAIN, errno.EBADF, errno.EFBIG, errno.EIO, errno.ENOSPC, errno.EDQUOT)
_NO_THREAD = "can't start new thread"
INTERRUPTED = 130  # as a shell tells of a process that SIGINT has ended: 128 + 2
CLOSED_PIPE = 141  # 128 + SIGPIPE


def kraftops() -> NoReturn:
    """Run `kraftops`."""
    _run("kraftops_cli.root:root", "kraftops")


def kafka_dump_log() -> NoReturn:
    """Run `kafka-dump-log`."""
    _run("kraftops_cli.dump_log.command:dump_log", "kafka-dump-log")


def kafka_storage() -> NoReturn:
    """Run `kafka-storage`."""
    _run("kraftops_cli.storage.command:storage", "kafka-storage")


def kafka_cluster() -> NoReturn:
    """Run `kafka-cluster`."""
    _run("kraftops_cli.cluster.command:cluster", "kafka-cluster")


def kafka_metadata_shell() -> NoReturn:
    """Run `kafka-metadata-shell`."""
    _run("kraftops_cli.metadata_shell.command:metadata_shell", "kafka-metadata-shell")


def _run(path: str, name: str) -> NoReturn:
    """Import the command at *path* (`module:name`), run it as *name*, and end the process."""
    gc.disable()  # no reference cycles are made, and to look for them takes a few percent
    _occupy_closed_streams()
    try:
        # Imported here, so that an interrupt while Click is loaded is silent, too.
        from importlib import import_module

        from kraftops_cli.terminal.failure import asks_for_json
        from kraftops_cli.terminal.streams import Terminal, wait_for_slow_streams
        from kraftops_terminal.ending import raise_at_signals

        raise_at_signals()
        wait_for_slow_streams()
        module, _, attribute = path.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        code = run(command, name, Terminal(name, is_json=asks_for_json(sys.argv[1:])))
    except KeyboardInterrupt:
        code = INTERRUPTED
    except SystemExit as error:
        code = _code_of(error)
    # Nothing is left to clean up: the interpreter's own end would only take time.
    os._exit(code)


def _occupy_closed_streams() -> None:
    """Keep the numbers of streams that the caller has closed from files that are opened later.

    To use such a stream fails as before.
    """
    for fd, use in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, use)  # the lowest number that is free


def _code_of(error: SystemExit) -> int:
    """Return the exit code; a signal ends the process here."""
    from kraftops_terminal.ending import EndedBySignal, end_by

    if isinstance(error, EndedBySignal):
        end_by(error.number)
    return error.code if isinstance(error.code, int) else 1


def run(command: click.Command, name: str, terminal: Terminal) -> int:
    """Run *command* on the arguments of the process; return the exit code."""
    from kraftops_cli.terminal.failure import Failure, fail
    from kraftops_cli.terminal.streams import drop_output

    try:
        code = _exit_code(command, name, terminal)
        terminal.end_answer()
        terminal.flush()
        if sys.stdout:  # None where the caller closed it
            sys.stdout.flush()
    except BrokenPipeError:
        drop_output()
        code = CLOSED_PIPE
    except KeyboardInterrupt:
        _tell_interruption(terminal)
        drop_output()
        code = INTERRUPTED
    except SystemExit:
        _tell_interruption(terminal)
        raise
    except OSError as error:
        if os.environ.get("KRAFTOPS_DEBUG"):
            raise
        code = fail(terminal, _system_failure(error))
    except MemoryError:
        code = fail(terminal, Failure("failed", "it needs more memory than there is"))
    except RuntimeError as error:
        if str(error) != _NO_THREAD:
            raise
        hint = "its limit is reached: ulimit -u, or pids.max of a container"
        code = fail(terminal, Failure("failed", "the system starts no more threads", hint))
    finally:
        terminal.erase_status()
    return code


def _tell_interruption(terminal: Terminal) -> None:
    """Print the JSON answer so far: programs must know which of several things are done."""
    from kraftops_cli.terminal.failure import Failure, conclude

    if terminal.has_answer:
        with suppress(OSError):
            conclude(terminal, Failure("interrupted", "it was interrupted"))
            terminal.flush()


def _system_failure(error: OSError) -> Failure:
    """Return the failure of a call of the system; where the output is lost, drop the rest of it."""
    from kraftops_cli.terminal.failure import Failure
    from kraftops_cli.terminal.streams import drop_output

    reason = error.strerror or str(error)
    if error.filename:
        path = os.fsdecode(error.filename)
        return Failure("failed", f"{path}: {reason}", known={"path": path})
    if error.errno == errno.ENOENT and _has_lost_directory():
        return Failure("failed", "the working directory no longer exists")
    drop_output()
    if error.errno in _OUTPUT_ERRORS:
        return Failure("not-writable", f"cannot write to standard output: {reason}")
    return Failure("failed", reason)


def _has_lost_directory() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _exit_code(command: click.Command, name: str, terminal: Terminal) -> int:
    import click

    from kraftops.errors import KraftopsError
    from kraftops_cli.root import command_hint
    from kraftops_cli.syntax.errors import UnknownCommand
    from kraftops_cli.terminal.failure import fail, failure_of, usage_failure

    try:
        # Not command.main, which makes an exit code 1 of a closed pipe.
        with command.make_context(name, sys.argv[1:], obj=terminal) as context:
            result = command.invoke(context)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        if os.environ.get("KRAFTOPS_DEBUG"):
            raise
        path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else name
        hint = getattr(error, "hint", "")
        if isinstance(error, UnknownCommand):
            hint = command_hint(error.name) or hint
        hints = [hint, f"{path} --help shows how it is used"]
        failure = usage_failure(error.format_message(), "; ".join(filter(None, hints)))
        return fail(terminal, failure)
    except click.Abort:
        return INTERRUPTED
    except KraftopsError as error:
        if os.environ.get("KRAFTOPS_DEBUG"):
            raise
        return fail(terminal, failure_of(error))
    return result if isinstance(result, int) else 0
