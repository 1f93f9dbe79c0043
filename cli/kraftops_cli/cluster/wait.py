"""`kafka-cluster wait`: until so many brokers are there."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from kraftops_cli.cluster.target import Target, cluster_syntax, target_of, target_options
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.syntax.values import Number
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.errors import WireError

EXAMPLES = (
    (
        "after a rolling restart",
        "kafka-cluster wait -b localhost:9092 --brokers 3 --unfenced --timeout 300",
    ),
)
_PAUSE = 0.5  # seconds
_MOST = 0x7FFFFFFF


@click.command(
    cls=ToolCommand,
    syntax=cluster_syntax("brokers", "unfenced"),
    name="wait",
    examples=EXAMPLES,
    help="""\
Wait until so many brokers are registered, fenced ones too, or more.

Addresses that refuse connections are asked again until --timeout is over. With -C the metadata log
is read, which takes CLUSTER_ACTION on the cluster; with -b only Kafka 4.0 and later tell of fenced
brokers.""",
)
@target_options
@click.option(
    "--brokers", metavar="N", type=Number(_MOST), required=True, help="How many, at the least."
)
@click.option("--unfenced", is_flag=True, help="Count only those that are not fenced.")
@click.pass_obj
def wait(terminal: Terminal, /, form: str, *, brokers: int, unfenced: bool, **target: Any) -> int:
    """Run the subcommand; return its exit code."""
    from kraftops.errors import AnswerError, AuthError, WireError

    found = target_of(terminal, **target)
    count = 0
    is_answered = False
    last: WireError | None = None
    while True:
        try:
            states = _fenced(found)
        except (AnswerError, AuthError):
            raise
        except WireError as error:
            # What came before tells more than that there was no time left for another try.
            if not found.deadline.is_over or not (is_answered or last):
                last = error
        else:
            is_answered, last = True, None
            count = sum(not (is_fenced and unfenced) for is_fenced in states.values())
            if count >= brokers:
                break
        if found.deadline.is_over:
            raise _late(found, count, brokers, last)
        time.sleep(max(0.0, min(_PAUSE, found.deadline.left)))
    if form == "json":
        told = [{"id": each, "isFenced": is_fenced} for each, is_fenced in states.items()]
        cluster_id = _cluster_id(found)
        terminal.json("wait", {"clusterId": cluster_id, "count": count, "brokers": told})
    else:
        terminal.write(f"{_counted(count)} {'unfenced' if unfenced else 'registered'}.\n")
    return 0


def _fenced(target: Target) -> dict[int, bool]:
    """Return the brokers by id, and whether they are fenced."""
    if target.is_of_controllers:
        from kraftops_cli.cluster.state import fenced_of

        return fenced_of(target.live_image().image)
    with target.connect() as connection:
        both = connection.serves("DescribeCluster")
        tells = both is not None and both.last >= 2
        nodes = target.described(connection, with_fenced=tells).nodes
    return {node.node_id: bool(node.is_fenced) for node in nodes}


def _cluster_id(target: Target) -> str | None:
    """Return the id of the cluster; None where it is not permitted to see it."""
    from kraftops.errors import WireError
    from kraftops.wire.net.deadline import Deadline

    try:
        # Brokers may have been there at the last moment.
        with replace(target, deadline=Deadline(target.settings.timeout)).connect() as connection:
            return target.described(connection).cluster_id
    except WireError:
        return None


def _late(target: Target, count: int, wanted: int, last: WireError | None) -> WireError:
    from kraftops.errors import WireError

    waited = f"{target.deadline.seconds:g} s"
    if last is not None:
        told = "" if f"within {waited}" in last.message else f"; tried for {waited}"
        return WireError(f"{last.message}{told}", last.hint)
    return WireError(
        f"{target.bootstrap[0].address}: {_counted(count)} there after {waited}, not {wanted}",
        hint="--timeout SECONDS waits longer",
    )


def _counted(count: int) -> str:
    return "1 broker is" if count == 1 else f"{count} brokers are"
