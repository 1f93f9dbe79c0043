"""`kafka-cluster describe`: brokers, quorum, features and lag, once or repeatedly."""

from __future__ import annotations

import time
from typing import Any

import click

from kraftops.errors import AnswerError, AuthError, WireError
from kraftops_cli.cluster.description import ClusterDescription, ask_description
from kraftops_cli.cluster.description_output import description_json, description_text
from kraftops_cli.cluster.target import cluster_syntax, target_of, target_options
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.syntax.values import Seconds
from kraftops_cli.terminal.answer import print_answer
from kraftops_cli.terminal.streams import Terminal

EXAMPLES = (
    ("all that controllers know", "kafka-cluster describe -C localhost:9093"),
    ("every five seconds", "kafka-cluster describe -b localhost:9092 --watch 5"),
)


@click.command(
    cls=ToolCommand,
    syntax=cluster_syntax("watch"),
    name="describe",
    examples=EXAMPLES,
    help="""\
Show the brokers and their states, who votes and who leads, features, and how far who is behind.

With -C all of it, from the metadata log, which takes CLUSTER_ACTION on the cluster besides DESCRIBE
and ALTER; with -b what a broker knows, which takes DESCRIBE for the quorum. What the one that is
asked, or the permissions, do not give is shown as a dash.""",
)
@target_options
@click.option(
    "--watch",
    metavar="SECONDS",
    type=Seconds(),
    help="Show it again every so many seconds, until interrupted.",
)
@click.pass_obj
def describe(terminal: Terminal, /, form: str, *, watch: float | None, **options: Any) -> int:
    """Run the subcommand; return its exit code."""

    def note(part: str, error: AnswerError) -> None:
        if is_first:
            terminal.error(f"note: {part}: {error.message}", error.hint)

    target = target_of(terminal, **options)
    is_first = True
    while True:
        try:
            description = ask_description(target, note)
        except AuthError:
            raise
        except WireError as error:
            if watch is None or not _may_recover(error):
                raise
            terminal.error(error.message, error.hint)
        else:
            _print(terminal, form, description, has_time=watch is not None, is_first=is_first)
            is_first = False
            if failure := description.quorum_error:
                if watch is None:
                    raise failure
                terminal.error(failure.message, failure.hint)
        if watch is None:
            return 0
        terminal.flush()
        time.sleep(watch)
        target = target.restarted()


def _may_recover(error: WireError) -> bool:
    """Tell whether a later description may succeed: a refusal stays, an election ends."""
    from kraftops.wire.rpc.answer_errors import NO_LEADER_CODES

    return not isinstance(error, AnswerError) or error.code in NO_LEADER_CODES


def _print(
    terminal: Terminal,
    form: str,
    description: ClusterDescription,
    *,
    has_time: bool,
    is_first: bool,
) -> None:
    print_answer(
        terminal,
        form,
        "describe",
        lambda: {"time": int(time.time() * 1000), **description_json(description)},
        lambda: _time_line(is_first=is_first) * has_time + description_text(description),
    )


def _time_line(*, is_first: bool) -> str:
    """Return a line with the time, after an empty line unless it is the first."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return f"{now}\n" if is_first else f"\n{now}\n"
