"""`kafka-cluster unregister`: have brokers forgotten, after a look at what they are."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from kraftops_cli.cluster.target import Target, cluster_syntax, target_of, target_options
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.errors import KraftopsError
    from kraftops.wire.rpc.connection import Connection

EXAMPLES = (
    ("a broker that is gone", "kafka-cluster unregister -b localhost:9092 --id 3"),
    ("what would be done", "kafka-cluster unregister -C localhost:9093 -i 3 -i 4 --dry-run"),
    ("in a script", "kafka-cluster unregister -b localhost:9092 --id 3 --if-registered --yes"),
)
_MOST_TOPICS = 5  # that a message names


class JavaInt(click.ParamType[int]):
    """A number as `Integer.parseInt` reads it, refused in argparse4j's words."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number that *value* names."""
        text = str(value)
        if re.fullmatch(r"[+-]?[0-9]{1,40}", text) and -(1 << 31) <= int(text) < 1 << 31:
            return int(text)
        spelled = "/".join(sorted(param.opts, key=len, reverse=True)) if param else "number"
        raise click.UsageError(
            f"argument {spelled}: could not convert '{text}' to Integer"
            f' (For input string: "{text}")',
            ctx,
        )


class Look(NamedTuple):
    """What is known of the brokers at a place; None where it is not, and *missing* says why.

    Of the brokers in *fenced*, the value tells whether it is.
    """

    place: str
    cluster_id: str | None
    fenced: Mapping[int, bool] | None
    is_complete: bool
    replicas: Mapping[int, Counter[str]] | None
    missing: str


@click.command(
    cls=ToolCommand,
    syntax=cluster_syntax("force", "dry_run", "if_registered", "yes"),
    name="unregister",
    examples=EXAMPLES,
    help="Have the registration of brokers removed, which are gone and hold no replicas.",
)
@target_options
@click.option(
    "--id",
    "-i",
    "ids",
    metavar="ID",
    type=JavaInt(),
    multiple=True,
    required=True,
    help="The broker; may be given more than once.",
)
@click.option("--force", is_flag=True, help="Also a broker that runs, or holds replicas.")
@click.option("--dry-run", "-n", is_flag=True, help="Look at everything, change nothing.")
@click.option("--if-registered", is_flag=True, help="End well if there is no such broker.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask; off a terminal nobody is asked.")
@click.pass_obj
def unregister(
    terminal: Terminal,
    /,
    form: str,
    ids: tuple[int, ...],
    *,
    force: bool,
    dry_run: bool,
    if_registered: bool,
    yes: bool,
    **target: Any,
) -> int:
    """Run the subcommand; return its exit code."""
    from kraftops.errors import AnswerError, UsageError

    found = target_of(terminal, **target)
    wanted = [*dict.fromkeys(ids)]
    done: dict[int, bool] = {}
    with found.connect() as connection:
        look = _look(found, connection, is_forced=force)
        there = [each for each in wanted if _is_there(look, each, if_registered=if_registered)]
        if not force:
            for each in there:
                if (refusal := _refusal(look, each)) is not None:
                    raise refusal
        if there and not (yes or dry_run) and not _is_agreed(there):
            raise UsageError("nothing is changed")
        for each in wanted:
            try:
                done[each] = each in there and not dry_run and _unregister(found, connection, each)
            except AnswerError as error:
                _finish(terminal, form, look, done, dry_run=dry_run, there=there)
                raise _with_ids(error, look) from error
            if each in there and not dry_run and not done[each] and not if_registered:
                _finish(terminal, form, look, done, dry_run=dry_run, there=there)
                raise _not_registered(look, each)
    _finish(terminal, form, look, done, dry_run=dry_run, there=there, is_whole=True)
    return 0


def _look(target: Target, connection: Connection, *, is_forced: bool) -> Look:
    """Return what can be seen of the brokers."""
    from kraftops.errors import AnswerError
    from kraftops.wire.rpc.cluster import (
        CLUSTER_AUTHORIZATION_FAILED,
        replica_counts,
        sees_everything,
    )
    from kraftops_cli.cluster.state import fenced_of, replicas_of

    place, cluster_id = str(connection.address), _cluster_id(target, connection)
    if target.is_of_controllers:
        try:
            image = target.live_image().image
        except AnswerError as error:
            if error.code != CLUSTER_AUTHORIZATION_FAILED and not is_forced:
                raise
            missing = "CLUSTER_ACTION on the cluster"
            return Look(place, cluster_id, None, False, None, missing)
        return Look(place, cluster_id, fenced_of(image), True, replicas_of(image), "")
    both = connection.serves("DescribeCluster")
    tells = both is not None and both.last >= 2
    described = target.described(connection, with_fenced=tells)
    fenced = {node.node_id: bool(node.is_fenced) for node in described.nodes}
    replicas = replica_counts(connection)
    if not replicas and not sees_everything(connection):
        return Look(place, cluster_id, fenced, tells, None, "DESCRIBE on the topics")
    return Look(place, cluster_id, fenced, tells, replicas, "")


def _cluster_id(target: Target, connection: Connection) -> str | None:
    """Return the id of the cluster, which is the expected one; None where it may not be seen."""
    from kraftops.errors import AnswerError
    from kraftops.wire.rpc.cluster import CLUSTER_AUTHORIZATION_FAILED

    try:
        return target.described(connection).cluster_id
    except AnswerError as error:
        if error.code != CLUSTER_AUTHORIZATION_FAILED or target.expected_id is not None:
            raise
        return None


def _is_there(look: Look, broker: int, *, if_registered: bool) -> bool:
    """Tell whether a broker is, or may be, registered.

    Raises:
        AnswerError: it is not, and has to be.
    """
    if look.fenced is None or not look.is_complete or broker in look.fenced:
        return True
    if not if_registered:
        raise _not_registered(look, broker)
    return False


def _not_registered(look: Look, broker: int) -> KraftopsError:
    from kraftops.errors import AnswerError
    from kraftops.wire.rpc.cluster import NOT_REGISTERED

    message = f"{look.place}: Broker ID {broker} is not currently registered"
    return _with_ids(AnswerError(message, code=NOT_REGISTERED), look)


def _with_ids(error: KraftopsError, look: Look) -> KraftopsError:
    """Return an error with the ids that exist, where it is about one that does not."""
    from kraftops.wire.rpc.cluster import NOT_REGISTERED

    if getattr(error, "code", None) == NOT_REGISTERED and look.fenced is not None:
        ids = ", ".join(map(str, sorted(look.fenced))) or "none"
        error.hint = f"registered are: {ids}"
    return error


def _refusal(look: Look, broker: int) -> KraftopsError | None:
    """Return why a broker must not be unregistered; None if nothing is against it."""
    from kraftops.errors import UsageError

    if look.fenced is not None and look.fenced.get(broker) is False:
        return UsageError(
            f"{look.place}: broker {broker} is running: it is not fenced, and would go on outside"
            " the cluster",
            hint="stop it first; --force unregisters it nevertheless",
        )
    if look.missing:
        return UsageError(
            f"{look.place}: it cannot be seen whether broker {broker} is still needed:"
            f" {look.missing} would tell",
            hint="--force unregisters it nevertheless",
        )
    held = (look.replicas or {}).get(broker)
    if held:
        names = sorted(held)
        shown = ", ".join(names[:_MOST_TOPICS]) + (", …" if len(names) > _MOST_TOPICS else "")
        return UsageError(
            f"{look.place}: broker {broker} still holds {held.total()} replicas of {len(held)}"
            f" topics: {shown}",
            hint="move them with kafka-reassign-partitions; --force unregisters it nevertheless",
        )
    return None


def _is_agreed(ids: Sequence[int]) -> bool:
    """Ask on a terminal; where there is none nobody is asked, as by Kafka's tool."""
    if not (os.isatty(0) and os.isatty(2)):
        return True
    shown = ", ".join(map(str, ids))
    try:
        return click.confirm(f"Unregister {_brokers(len(ids))} {shown}?", err=True)
    except click.Abort as error:
        if not isinstance(error.__context__, EOFError):
            raise
        click.echo(err=True)  # Ctrl-D, which leaves the line open
        return False


def _brokers(count: int) -> str:
    return "broker" if count == 1 else "brokers"


def _unregister(target: Target, connection: Connection, broker: int) -> bool:
    """Have a broker unregistered; return whether it was registered."""
    from kraftops.errors import AnswerError
    from kraftops.wire.rpc.cluster import NOT_REGISTERED, ask_leader, unregister_broker

    try:
        ask_leader(connection, target.connect_to, lambda node: unregister_broker(node, broker))
    except AnswerError as error:
        if error.code != NOT_REGISTERED:
            raise
        return False
    return True


def _finish(
    terminal: Terminal,
    form: str,
    look: Look,
    done: Mapping[int, bool],
    *,
    dry_run: bool,
    there: Sequence[int],
    is_whole: bool = False,
) -> None:
    """Say what became of each broker."""
    if form == "json":
        told = [
            {"id": broker, "wasRegistered": broker in there if dry_run else was}
            for broker, was in done.items()
        ]
        changed = any(done.values())
        terminal.json(
            "unregister",
            {
                "clusterId": look.cluster_id,
                "changed": changed,
                "dryRun": dry_run,
                "brokers": told,
            },
        )
        return
    for broker, was in done.items():
        if was:
            terminal.write(f"Broker {broker} is no longer registered.\n")
        elif dry_run and broker in there:
            terminal.write(f"Broker {broker} would be unregistered.\n")
        elif is_whole:
            terminal.write(f"Broker {broker} is not registered.\n")
