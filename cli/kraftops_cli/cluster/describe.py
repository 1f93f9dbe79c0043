"""`kafka-cluster describe`: brokers, quorum, features and lag, once or repeatedly."""

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from kraftops.answers.fields import Field, json_of
from kraftops.errors import KraftopsError, WireError
from kraftops.reassign.answer import OPERATION
from kraftops.wire.rpc.error_codes import may_pass
from kraftops_cli.cluster.description import (
    BrokerDescription,
    BrokerFilter,
    ClusterDescription,
    KeptAnswers,
    ask_description,
)
from kraftops_cli.cluster.description_fields import BROKER, DESCRIPTION, FEATURE, REPLICA
from kraftops_cli.cluster.health import Health
from kraftops_cli.cluster.options import TargetOptions, ids_option, names_option, subcommand
from kraftops_cli.cluster.target import cluster_of
from kraftops_cli.syntax.option_fields import flag, option
from kraftops_cli.syntax.values import Seconds
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.tables import NO_VALUE, table_of, table_text


@dataclass(frozen=True, kw_only=True)
class DescribeOptions(TargetOptions):
    """The values of the options."""

    ids: tuple[int, ...] = ids_option(text="Only these brokers; may be given more than once.")
    racks: tuple[str, ...] = names_option(
        "--rack", "Only brokers of this rack; may be given more than once."
    )
    fenced: bool = flag("--fenced", help="Only brokers that are fenced.")
    watch: float | None = option(
        "--watch",
        metavar="[SECONDS]",
        type=Seconds(),
        is_flag=False,
        flag_value="2",
        help="Repeat it after this time (2), until interrupted; on a terminal as a screen, see"
        " below. --format json prints an object on a line each time.",
    )


@subcommand(DescribeOptions, answer="DESCRIPTION")
def describe(terminal: Terminal, options: DescribeOptions) -> int:
    cluster, watch = cluster_of(terminal, options), options.watch
    chosen = BrokerFilter(frozenset(options.ids), frozenset(options.racks), options.fenced)
    if watch is not None and options.form == "text" and terminal.console.has_screen:
        from kraftops_cli.cluster.watch.run import watch_screen

        return watch_screen(terminal, cluster, chosen, watch)
    kept = KeptAnswers(
        lambda part, error: terminal.error(f"note: {part}: {error.message}", error.hint)
    )
    if watch is None:
        description = ask_description(cluster, kept)
        _print(terminal, options, chosen, description)
        if description.brokers is not None:
            _refuse_unlisted(options.ids, description.brokers)
        return 0
    blank = ""  # between two descriptions
    while True:
        try:
            description = ask_description(cluster, kept)
            if options.form == "text":
                moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(description.now / 1000))
                terminal.write(f"{blank}{moment}\n")
                blank = "\n"
            _print(terminal, options, chosen, description)
        except WireError as error:
            if not may_pass(error):
                raise
            terminal.failure(error)
        terminal.flush()
        time.sleep(watch)
        cluster.renew_deadline()


def _print(
    terminal: Terminal,
    options: DescribeOptions,
    chosen: BrokerFilter,
    description: ClusterDescription,
) -> None:
    """Print a description, with the chosen brokers.

    Raises:
        WireError: after the rest is printed, there is none about the quorum.
    """
    brokers = description.brokers
    if brokers is not None:
        description = replace(description, brokers=[*filter(chosen.allows, brokers)])
    if options.form == "text":
        terminal.write(description_text(description, terminal.console))
    else:
        # A watch never ends: each description is an object of its own.
        answer = terminal.answer if options.watch is None else terminal.json
        answer("describe", json_of(DESCRIPTION.fields, description))
    if description.quorum_error:
        raise description.quorum_error


def _refuse_unlisted(ids: Collection[int], brokers: Sequence[BrokerDescription]) -> None:
    """Refuse ids that no broker has.

    Raises:
        KraftopsError: there is one.
    """
    unlisted = sorted({*ids} - {broker.id for broker in brokers})
    if unlisted:
        names = ", ".join(map(str, unlisted))
        message = f"no broker has the id{'s' * (len(unlisted) > 1)} {names}"
        raise KraftopsError(message, code="broker-not-registered", brokerIds=unlisted)


def description_text(description: ClusterDescription, console: Console) -> str:
    """Draw a table a part; a dash is what could not be asked, `none` an empty list."""

    def table(name: str, fields: Sequence[Field], rows: Iterable[object] | None) -> str:
        if rows is None:
            return f"{name}  {NO_VALUE}\n"
        return table_text(console, table_of(fields, rows)) or f"{name}  none\n"

    operations = description.operations
    return "\n".join(
        (
            _summary_text(description, console),
            table("brokers", BROKER, description.brokers),
            *([table("operations", OPERATION, operations)] if operations else []),
            table("quorum", REPLICA, description.members),
            table("features", FEATURE, description.features),
        )
    )


def _summary_text(description: ClusterDescription, console: Console) -> str:
    quorum, health, snapshot_lag = description.quorum, description.health, description.snapshot_lag
    leader = None if description.leader is None else str(description.leader)
    if quorum:
        leader = f"{leader}, epoch {quorum.epoch}, high watermark {quorum.high_watermark}"
    snapshot = f"{description.snapshot or 'none'}, {snapshot_lag} records behind"
    is_bad = health is not None and (health.counts.offline or health.counts.under_min_isr)
    lines = (
        ("cluster id", description.cluster_id, ""),
        ("quorum leader", leader, ""),
        ("snapshot", None if snapshot_lag is None else snapshot, ""),
        ("partitions", None if health is None else _health_text(health), "bad" if is_bad else ""),
    )
    return "".join(
        f"{name:<13}  {console.painted(escaped(text or NO_VALUE), style or 'value')}\n"
        for name, text, style in lines
    )


def _health_text(health: Health) -> str:
    counts = health.counts
    assumed = " (of 1, which is assumed)" if health.is_min_isr_assumed else ""
    return (
        f"{counts.partitions}, {counts.under_replicated} under-replicated,"
        f" {counts.offline} offline, {counts.under_min_isr} under min ISR{assumed},"
        f" {counts.moving} in reassignment"
    )
