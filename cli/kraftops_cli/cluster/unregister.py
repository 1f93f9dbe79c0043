"""`kafka-cluster unregister`: remove the registrations of brokers, after a check."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import click

from kraftops.errors import AnswerError, UsageError
from kraftops_cli.cluster.options import cluster_syntax, target_options
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.syntax.values import JavaInteger
from kraftops_cli.terminal.answer import print_answer
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.wire.rpc.connection import Connection
    from kraftops_cli.cluster.target import Target
    from kraftops_cli.cluster.unregister_check import Registrations

EXAMPLES = (
    ("a broker that is gone", "kafka-cluster unregister -b localhost:9092 --id 3"),
    ("what would be done", "kafka-cluster unregister -C localhost:9093 -i 3 -i 4 --dry-run"),
    ("in a script", "kafka-cluster unregister -b localhost:9092 --id 3 --if-registered --yes"),
)


@dataclass(frozen=True, slots=True)
class _Flags:
    """The flags of the command line."""

    force: bool
    dry_run: bool
    if_registered: bool
    yes: bool


@dataclass(frozen=True, slots=True)
class _Session:
    """A connection to a cluster, and its registrations."""

    target: Target
    connection: Connection
    registrations: Registrations


@dataclass(slots=True)
class _Outcome:
    """The brokers that are or may be registered; and by id whether a broker was removed."""

    registered: Sequence[int]
    removed: dict[int, bool] = field(default_factory=dict)
    is_complete: bool = False


@click.command(
    cls=ToolCommand,
    syntax=cluster_syntax("force", "dry_run", "if_registered", "yes"),
    name="unregister",
    examples=EXAMPLES,
    help="Unregister brokers that are stopped and hold no replicas.",
)
@target_options
@click.option(
    "--id",
    "-i",
    "ids",
    metavar="ID",
    type=JavaInteger(),
    multiple=True,
    required=True,
    help="The broker; may be given more than once.",
)
@click.option(
    "--force", is_flag=True, help="Also unregister a broker that runs, or holds replicas."
)
@click.option("--dry-run", "-n", is_flag=True, help="Check everything, change nothing.")
@click.option("--if-registered", is_flag=True, help="Succeed if there is no such broker.")
@click.option(
    "--yes",
    "-y",
    is_flag=True,
    help="Do not ask for confirmation; without a terminal nobody is asked.",
)
@click.pass_obj
def unregister(
    terminal: Terminal,
    /,
    form: str,
    ids: tuple[int, ...],
    **options: Any,
) -> int:
    """Run the subcommand; return its exit code."""
    from kraftops_cli.cluster.target import target_of
    from kraftops_cli.cluster.unregister_check import ask_registrations

    flags = _Flags(**{each.name: options.pop(each.name) for each in fields(_Flags)})
    target = target_of(terminal, **options)
    wanted = [*dict.fromkeys(ids)]
    with target.connect() as connection:
        registrations = ask_registrations(target, connection, is_forced=flags.force)
        session = _Session(target, connection, registrations)
        outcome = _Outcome(_checked(registrations, wanted, flags))
        try:
            _unregister_all(session, wanted, flags, outcome)
        except AnswerError as error:
            _print(terminal, form, registrations.cluster_id, outcome, is_dry=flags.dry_run)
            raise registrations.with_ids(error) from error
    _print(terminal, form, registrations.cluster_id, outcome, is_dry=flags.dry_run)
    return 0


def _checked(registrations: Registrations, wanted: Sequence[int], flags: _Flags) -> list[int]:
    """Return the brokers that are, or may be, registered and can be unregistered.

    Raises:
        AnswerError: a broker is not registered, without --if-registered.
        UsageError: a broker must not be unregistered, or the user does not agree.
    """
    registered = []
    for broker in wanted:
        if registrations.may_have(broker):
            registered.append(broker)
        elif not flags.if_registered:
            raise registrations.not_registered(broker)
    for broker in registered if not flags.force else ():
        if (refusal := registrations.refusal(broker)) is not None:
            raise refusal
    if registered and not (flags.yes or flags.dry_run) and not _is_agreed(registered):
        raise UsageError("nothing is changed")
    return registered


def _is_agreed(ids: Sequence[int]) -> bool:
    """Ask the user on a terminal; without one nobody is asked, as by Kafka's tool."""
    if not (os.isatty(0) and os.isatty(2)):
        return True
    brokers = f"broker{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids))}"
    try:
        return click.confirm(f"Unregister {brokers}?", err=True)
    except click.Abort as error:
        if not isinstance(error.__context__, EOFError):
            raise
        click.echo(err=True)  # Ctrl-D leaves the line open
        return False


def _unregister_all(
    session: _Session, wanted: Sequence[int], flags: _Flags, outcome: _Outcome
) -> None:
    """Unregister brokers one by one, and record each in *outcome*.

    Raises:
        AnswerError: a request fails, or a broker is not registered, without --if-registered.
    """
    for broker in wanted:
        is_sent = broker in outcome.registered and not flags.dry_run
        outcome.removed[broker] = is_sent and _unregister(session, broker)
        if is_sent and not outcome.removed[broker] and not flags.if_registered:
            raise session.registrations.not_registered(broker)
    outcome.is_complete = True


def _unregister(session: _Session, broker: int) -> bool:
    """Unregister a broker; tell whether it was registered."""
    from kraftops.wire.rpc.cluster import unregister_broker
    from kraftops.wire.rpc.error_codes import BROKER_ID_NOT_REGISTERED
    from kraftops.wire.rpc.leader import ask_leader

    try:
        ask_leader(
            session.connection,
            session.target.connect_to,
            lambda node: unregister_broker(node, broker),
        )
    except AnswerError as error:
        if error.error_code != BROKER_ID_NOT_REGISTERED:
            raise
        return False
    return True


def _print(
    terminal: Terminal, form: str, cluster_id: str | None, outcome: _Outcome, *, is_dry: bool
) -> None:
    """Print what was done with each broker."""
    print_answer(
        terminal,
        form,
        "unregister",
        lambda: {
            "clusterId": cluster_id,
            "changed": any(outcome.removed.values()),
            "dryRun": is_dry,
            "brokers": [
                {"id": broker, "wasRegistered": broker in outcome.registered if is_dry else was}
                for broker, was in outcome.removed.items()
            ],
        },
        lambda: _lines(outcome, is_dry=is_dry),
    )


def _lines(outcome: _Outcome, *, is_dry: bool) -> Iterator[str]:
    for broker, was_registered in outcome.removed.items():
        if was_registered:
            yield f"Broker {broker} is no longer registered.\n"
        elif is_dry and broker in outcome.registered:
            yield f"Broker {broker} would be unregistered.\n"
        elif outcome.is_complete:
            yield f"Broker {broker} is not registered.\n"
