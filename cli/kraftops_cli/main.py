"""The entry points: run a command and turn what happens into one line and an exit code."""

import gc
import os
import sys
from typing import NoReturn

import click

from kraftops.errors import KraftopsError
from kraftops_cli.command import LazyGroup
from kraftops_cli.terminal import Terminal, drop_output
from kraftops_cli.version import KAFKA_VERSION, VERSION

INTERRUPTED = 130
CLOSED_PIPE = 141

_COMMANDS = {
    "dump-log": (
        "kraftops_cli.dump_log:dump_log",
        "Print log segments, snapshots and indexes.",
    ),
}


@click.group(
    cls=LazyGroup,
    lazy=_COMMANDS,
    name="kraftops",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="The operator's toolkit for KRaft Kafka.",
    epilog="Each command is also there under the name of Kafka's tool, as kafka-dump-log.",
)
@click.version_option(f"{VERSION} (Kafka {KAFKA_VERSION})", message="%(prog)s %(version)s")
def root() -> None:
    """Do nothing: the commands do the work."""


def kraftops() -> NoReturn:
    """Run `kraftops`."""
    _run(root, "kraftops")


def kafka_dump_log() -> NoReturn:
    """Run `kafka-dump-log`."""
    from kraftops_cli.dump_log import dump_log

    _run(dump_log, "kafka-dump-log")


def _run(command: click.Command, name: str) -> NoReturn:
    gc.disable()  # nothing here makes cycles: looking for them costs a few percent
    terminal = Terminal(name)
    try:
        code = _exit_code(command, name, terminal)
        terminal.flush()
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output()
        code = CLOSED_PIPE
    except OSError as error:
        drop_output()
        terminal.error(f"cannot write to standard output: {error.strerror}")
        code = 1
    except KeyboardInterrupt:
        drop_output()
        code = INTERRUPTED
    # Nothing is left to clean up: the rest of the interpreter's end would only cost time.
    sys.stderr.flush()
    os._exit(code)


def _exit_code(command: click.Command, name: str, terminal: Terminal) -> int:
    try:
        result = command.main(prog_name=name, standalone_mode=False, obj=terminal)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else name
        terminal.error(error.format_message(), hint=f"{path} --help shows how it is used")
        return 1
    except click.Abort:
        return INTERRUPTED
    except KraftopsError as error:
        if os.environ.get("KRAFTOPS_DEBUG"):
            raise
        terminal.error(error.message, error.hint)
        return error.exit_code
    return result if isinstance(result, int) else 0
