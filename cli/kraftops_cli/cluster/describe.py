"""`kafka-cluster describe`: brokers, quorum, features and lag, once or again and again."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import click

from kraftops_cli.cluster.description import Picture, as_json, as_text
from kraftops_cli.cluster.target import Target, cluster_syntax, target_of, target_options
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.syntax.values import Seconds
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
def describe(terminal: Terminal, /, form: str, *, watch: float | None, **target: Any) -> int:
    """Run the subcommand; return its exit code."""
    from kraftops.errors import AnswerError, AuthError, WireError
    from kraftops.wire.net.deadline import Deadline
    from kraftops.wire.rpc.cluster import LEADERLESS

    found = target_of(terminal, **target)
    is_first = True
    while True:
        try:
            picture = _picture(terminal if is_first else None, found)
        except AuthError:
            raise
        except WireError as error:
            lasts = isinstance(error, AnswerError) and error.code not in LEADERLESS
            if watch is None or lasts:
                raise
            terminal.error(error.message, error.hint)
        else:
            _show(terminal, form, picture, stamp=watch is not None, is_first=is_first)
            is_first = False
            if picture.failed and watch is None:
                raise picture.failed
            if picture.failed:
                terminal.error(picture.failed.message, picture.failed.hint)
        if watch is None:
            return 0
        terminal.flush()
        time.sleep(watch)
        found = replace(found, deadline=Deadline(found.settings.timeout))


def _show(terminal: Terminal, form: str, picture: Picture, *, stamp: bool, is_first: bool) -> None:
    if form == "json":
        terminal.json("describe", {"time": int(time.time() * 1000), **as_json(picture)})
        return
    if stamp:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        terminal.write(f"{'' if is_first else chr(10)}{now}\n")
    terminal.write(as_text(picture))


def _picture(terminal: Terminal | None, target: Target) -> Picture:
    """Ask for everything; what is not permitted is a note on the terminal, and missing."""
    from kraftops.errors import AnswerError, AuthError, WireError
    from kraftops.wire.rpc.cluster import (
        CLUSTER_AUTHORIZATION_FAILED,
        NOT_LEADER,
        abilities,
        ask_leader,
        describe_quorum,
    )

    def skip(what: str, error: AnswerError) -> None:
        # Without the permission to see who leads, any controller was asked.
        is_hidden = described is None and error.code == NOT_LEADER
        if error.code != CLUSTER_AUTHORIZATION_FAILED and not is_hidden:
            raise error
        if terminal:
            terminal.error(f"note: {what}: {error.message}", error.hint)

    described = quorum = live = failed = None
    with target.connect() as connection:
        features = abilities(connection).features
        try:
            both = connection.serves("DescribeCluster")
            tells = not target.is_of_controllers and both is not None and both.last >= 2
            described = target.described(connection, with_fenced=tells)
        except AnswerError as error:
            skip("the nodes", error)
        if target.is_of_controllers:
            try:
                live = target.live_image()
            except AnswerError as error:
                skip("the brokers", error)
        try:
            if described:
                quorum = ask_leader(connection, target.connect_to, describe_quorum)
            elif live:  # which only the leader hands out
                with target.connect_to(live.endpoint) as leader:
                    quorum = describe_quorum(leader)
            else:
                quorum = describe_quorum(connection)
        except AnswerError as error:
            skip("the quorum", error)
        except WireError as error:
            if target.is_of_controllers or isinstance(error, AuthError):
                raise
            failed = WireError(
                f"the quorum is not known: {error.message}",
                hint="brokers hand on to controllers what is asked of it: do these run?",
            )
    return Picture(target.is_of_controllers, described, quorum, features, live, failed)
