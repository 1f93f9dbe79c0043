"""`kafka-storage recover`: recover a cluster that has lost its quorum, or its addresses."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from kraftops.recovery.refusal import CODES
from kraftops_cli.storage.options import (
    CONFIG,
    DRY_RUN,
    ELECT_NEWEST,
    OVERRIDE,
    UNSEEN_BROKER,
    NodeOptions,
)
from kraftops_cli.storage.recover_asking import asking
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.syntax.exit_status import exit_status
from kraftops_cli.terminal.answer import FORM, print_answer
from kraftops_cli.terminal.streams import Terminal, drop_output
from kraftops_terminal.prompts import asked, can_ask

if TYPE_CHECKING:
    from kraftops.recovery.plan import RecoveryPlan, RecoveryRequest
    from kraftops.storage.config.server_config import ServerConfig

EXAMPLES = (
    (
        "the records that would be lost, with this controller's log alone",
        "kafka-storage recover -c server.properties --voters self --dry-run",
    ),
    (
        "all controllers are lost: from a broker's copy",
        "kafka-storage recover -c server.properties --from data/__cluster_metadata-0 --voters self",
    ),
    (
        "the same controllers under other names",
        "kafka-storage recover -c server.properties --from c2 --listener-hosts old-1=new-1",
    ),
    (
        "the old log again, before a server is started",
        "kafka-storage recover -c server.properties --undo",
    ),
)
SECTIONS = (
    (
        "A quorum is lost",
        """\
Most controllers are gone, nobody leads, and Kafka's own tools need the majority that is gone. What
no remaining log has is lost, and the partitions of topics that are lost with it are set aside by
their brokers. kafka-storage recover-plan writes all of this as scripts, one for each host, and a
page; where several controllers are left, use it. By hand, for one that is left, in this order:

1: Stop the controllers and brokers that are left, and keep the lost controllers from starting.

2: Pack the metadata logs and checkpoints of all nodes that are left, also of brokers, for one
controller: find /var/lib/kafka -type f \\( -path '/var/lib/kafka/__cluster_metadata-0/*' -o ! -name
'*.log' ! -name '*index' \\) | tar -czf node-101.tar.gz /etc/hostname /etc/kafka/server.properties
-T -

3: If all controllers are lost, format one with --no-initial-controllers and the old --cluster-id.

4: Look there what would be lost: kafka-storage recover -c server.properties --voters self --from
node-101.tar.gz --dry-run

5: The same without --dry-run writes the new voters, once this is confirmed. To go back, until a
server has been started: kafka-storage recover -c server.properties --undo

6: Follow the steps that it prints, in their order, each with its command and its check: this
controller starts, then the brokers, and at last each lost controller is wiped, formatted, started
and added. Lost controllers that are brokers too keep their partitions.

An old controller that starts with its old disk follows the recovered one while that leads. It has
no vote until it is added; with controller.quorum.auto.join.enable it is added by itself. If most of
the old ones start while it is down, they are a second cluster with the same id.""",
    ),
    (
        "How recover works",
        """\
A server takes the newest voters of its log, committed or not, and an only voter elects itself. So
one batch is written behind the chosen log: the voters, and before the first voters kraft.version 1.
Its epoch is 1,000,000 above the highest in any log or quorum-state, and so above those that lost
controllers may have had: a replica takes two batches of one offset and epoch for equal.

Before, all voters of the logs and the controllers of the configuration are asked, with the login of
the configuration. A leader of this cluster that answers forbids the recovery, and so do most voters
of a log that run without one, as during an election: they can elect one. Fewer voters without a
leader are alive, and need not be lost. --offline asks none.

All logs are read as a server reads them, and compared batch by batch. The log of the highest epoch,
then of the highest offset, is chosen; the names that would be lost with the others are listed. Give
the logs of all nodes that are left: also of brokers, which often have more records than a
controller that was down for a while. If the chosen log is another node's, the records that this
node lacks are copied. --choose names another log: the old one where voters with empty disks have
elected a leader, whose epoch is higher; or one with a damaged end, which goes on from the batches
before the damage.

Nothing is appended to a file. New records come as new segments, each by one rename: at any time a
server would find the old log, a beginning of the new log, or all of it. Before, the log is copied
to before-recover-TIME in its own directory, or in the directory of --backup. recover --undo
restores the old log, also after a killed recovery, until a server has been started.

If several voters remain, kafka-storage recover-plan gives all of them the same log, byte by byte.
By hand: the same --voters, with their ids and addresses, on each of them; on the first with the
logs of all, on the others with the recovered log of the first. Never --voters self on two: each
would lead a cluster of its own. A recovery beside a log that was recovered to other voters is
refused, unless --choose names the log that goes on. A static quorum becomes dynamic (Kafka 3.9 and
later), never static again.""",
    ),
    (
        "Records that brokers would cut",
        """\
A metadata log that lags may have a broker lead that lacks records. What a start would cut is worked
out for each partition: the brokers that may lead by the chosen log (its ISR and ELR), and the
leader epochs and ends of all copies that --from gives. Records are acknowledged below a high
watermark that a broker has noted, others are possibly so. Of a killed broker, give the directory,
not an archive without logs: only they tell where they end.

With --elect-newest, records behind the voters make the broker with the newest copy the leader of
each such partition, alone in its ISR, in a leader epoch above all on disks; followers truncate to
it and join. So nothing is cut that the disks show as acknowledged. --dry-run lists the elections.
Without it, the order in which brokers start decides only among the replicas that are eligible by
then. The recovered controller fences all brokers first: with min.insync.replicas 1 the one that it
fences last is the only one, with more and ELR (Kafka 4.0) the first of them that starts leads.

A lost end of the log has moved counters, too. Leader epochs are raised by the elections; clients
ignore older ones. The next producer id is raised above all ids in other logs, producer snapshots
and last batches, with two blocks for each broker. Broker epochs are offsets of registrations, which
brokers get anew; of a broker that had stopped cleanly the controller thinks otherwise.

Each registered broker must be given, or named with --unseen-broker; one that had been fenced for a
day counts for nothing.""",
    ),
    (
        "Codes of refusals in JSON",
        "\n\n".join(f"{code}: {meaning}." for code, meaning in CODES.items()),
    ),
    exit_status({0: "done, or nothing was to be done."}),
)


@dataclass(frozen=True, kw_only=True)
class RecoverOptions(NodeOptions):
    """The values of the options."""

    sources: tuple[str, ...] = ()
    choice: str | None = None
    voters: str | None = None
    host_changes: str | None = None
    elect_newest: bool = False
    unseen_brokers: str = ""
    offline: bool = False
    backup: str | None = None
    no_backup: bool = False
    undo: bool = False
    dry_run: bool = False
    yes: bool = False


@click.command(
    cls=ToolCommand,
    syntax=Argparse4j(
        kafkas=frozenset({"config"}),
        exclusive=(
            ("backup", "no_backup"),
            ("undo", "no_backup"),
            ("undo", "sources"),
            ("undo", "choice"),
            ("undo", "elect_newest"),
            ("undo", "unseen_brokers"),
            ("undo", "offline"),
        ),
        one_of=(("voters", "host_changes", "undo"),),
    ),
    name="recover",
    answer="kraftops.recovery.answer:RECOVER",
    options=RecoverOptions,
    examples=EXAMPLES,
    sections=SECTIONS,
    help="""\
Write new voters to the metadata log of a stopped controller that has lost its quorum.

The log of the highest epoch, then of the highest offset, is chosen; the names that it lacks are
listed. Nothing is written before this is confirmed.""",
)
@CONFIG
@click.option(
    "--from",
    "--log-dirs",
    "sources",
    metavar="DIR",
    type=click.Path(),
    multiple=True,
    help="A log directory of another node that is stopped, or a tar or zip archive of one, for its "
    "metadata log and its partitions; may be given more than once. It is only read.",
)
@click.option(
    "--choose",
    "choice",
    metavar="DIR",
    type=click.Path(),
    help="The log that goes on, if it is not to be the best: a DIR of --from, or the log directory "
    "of this node.",
)
@click.option(
    "--voters",
    metavar="VOTERS",
    help="The new voters: self, or ID@HOST:PORT:DIRECTORY_ID,…",
)
@click.option(
    "--listener-hosts",
    "host_changes",
    metavar="OLD=NEW,…",
    help="The same voters at other hosts, each HOST or HOST:PORT.",
)
@ELECT_NEWEST
@UNSEEN_BROKER
@click.option(
    "--offline",
    is_flag=True,
    help="Ask no controller whether it leads; else all voters of the logs and of the configuration "
    "are asked, for 5 seconds.",
)
@click.option(
    "--backup",
    metavar="DIR",
    type=click.Path(),
    help="The directory for the copy of the log; else beside the log.",
)
@click.option("--no-backup", is_flag=True, help="Make no copy; then nothing can be undone.")
@click.option("--undo", is_flag=True, help="Restore the old log, unless a server has been started.")
@DRY_RUN
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@OVERRIDE
@FORM
@click.pass_obj
def recover(terminal: Terminal, options: RecoverOptions) -> int:
    """Run the subcommand; return its exit code."""
    from kraftops.recovery.archives import unpacked
    from kraftops.recovery.plan import RecoveryRequest
    from kraftops.recovery.target_voters import parse_host_changes

    loaded = options.load()
    if options.undo:
        return _undo(terminal, loaded, options)
    changes = options.host_changes
    with unpacked(_split(options.sources)) as sources:
        request = RecoveryRequest(
            sources=sources,
            choice=options.choice,
            voters=options.voters,
            host_changes={} if changes is None else parse_host_changes(changes),
            elects_newest=options.elect_newest,
            unseen_brokers=broker_ids(options.unseen_brokers),
            ask=None if options.offline else asking(loaded.path),
        )
        return _recover(terminal, loaded, request, options)


def _split(names: tuple[str, ...]) -> list[str]:
    """Return the names of all sources: once --log-dirs took several, separated by commas."""
    return [
        part
        for name in names
        for part in ([name] if os.path.lexists(name) else name.split(","))
        if part
    ]


def broker_ids(text: str) -> frozenset[int]:
    """Return the ids of --unseen-broker.

    Raises:
        UsageError: it has something else.
    """
    from kraftops.errors import UsageError

    ids = [part for part in re.split(r"[,\s]+", text) if part]
    if not all(part.isascii() and part.isdecimal() for part in ids):
        raise UsageError(f"--unseen-broker {text}: expected ids of brokers, as 101,102")
    return frozenset(map(int, ids))


def _recover(
    terminal: Terminal, config: ServerConfig, request: RecoveryRequest, options: RecoverOptions
) -> int:
    from kraftops.answers.fields import json_of
    from kraftops.recovery.answer import RECOVER, Recovery
    from kraftops.recovery.backup import backup_folder
    from kraftops.recovery.execute import execute
    from kraftops.recovery.plan import plan_recovery
    from kraftops.recovery.procedure import work_steps
    from kraftops_cli.storage.recover_text import done_text, next_text, plan_text

    now = time.time_ns() // 1_000_000
    plan = plan_recovery(config, request, now)
    if options.form == "text":
        terminal.write(plan_text(terminal.console, plan))
    path = None if options.no_backup else backup_folder(plan.own.folder, options.backup, now)
    changes = bool(plan.steps) and not options.dry_run
    backup = path if changes else None
    if changes:
        _confirm(terminal, plan, is_confirmed=options.yes)
        terminal.flush()
        execute(plan, backup)
    recovery = Recovery(changes, backup, plan, work_steps(plan, {}))
    with _naming(backup):
        print_answer(
            terminal,
            options.form,
            "recover",
            lambda: json_of(RECOVER.fields, recovery),
            lambda: (
                done_text(plan, backup, is_dry=options.dry_run) + next_text(recovery.next_steps)
            ),
        )
        terminal.end_answer()
        terminal.flush()
    return 0


@contextmanager
def _naming(backup: str | None) -> Iterator[None]:
    """Name the copy of the old log, too, where the answer cannot be written.

    Raises:
        StorageError: it cannot.
    """
    from kraftops.errors import StorageError

    try:
        yield
    except OSError as error:
        if backup is None or isinstance(error, BrokenPipeError):
            raise
        drop_output()
        text = f"the log is recovered, but the answer cannot be written: {error.strerror}"
        raise StorageError(text, f"the copy of what was there is in {backup}") from None


def _confirm(terminal: Terminal, plan: RecoveryPlan, *, is_confirmed: bool) -> None:
    """Ask whether to go on without the disks of some brokers, and whether to write new voters.

    A person types ids, or `yes` where no voter is lost. --yes answers the second question only.

    Raises:
        RecoveryRefused: the answer is another, or nobody can answer.
    """
    from kraftops.answers.fields import json_of
    from kraftops.recovery.answer import RECOVER, Recovery
    from kraftops.recovery.refusal import RecoveryRefused

    answer = json_of(RECOVER.fields, Recovery(is_changed=False, backup=None, plan=plan))
    brokers, voters = (",".join(map(str, ids)) for ids in (plan.unseen_brokers, plan.lost_ids))
    warning = "Records that only the brokers below have are lost if they do not lead."
    question = f"Type the ids of the brokers whose disks cannot be read ({brokers})"
    if brokers and not _is_typed(terminal, warning, question, brokers):
        raise plan.unseen_refusal(**answer)
    warning, question = "", "Type yes to write this"
    if voters:
        warning = (
            "If most of the old voters ever start with their old disks, there are two clusters "
            "with one id."
        )
        question = "Type the ids of the voters, to confirm that their disks are wiped first"
        question += f" ({voters})"
    expected = voters or "yes"
    if not (is_confirmed or _is_typed(terminal, warning, question, expected)):
        raise RecoveryRefused(
            "not-confirmed",
            f"nothing was written: the question was not answered with {expected}",
            "--yes says that no other voter starts with its old disk",
            **answer,
        )


def _is_typed(terminal: Terminal, warning: str, question: str, expected: str) -> bool:
    """Ask on a terminal; return whether the answer has the expected words. False off a terminal."""
    if not can_ask():
        return False
    if warning:
        terminal.line(warning)
    return re.split(r"[,\s]+", asked(question)) == expected.split(",")


def _undo(terminal: Terminal, config: ServerConfig, options: RecoverOptions) -> int:
    from kraftops.answers.fields import json_of
    from kraftops.recovery.answer import UNDO, Recovery
    from kraftops.recovery.execute import undo
    from kraftops_cli.storage.recover_text import undone_text

    folder, changed = undo(config, options.backup, is_dry=options.dry_run)
    print_answer(
        terminal,
        options.form,
        "recover",
        lambda: json_of(UNDO, Recovery(changed and not options.dry_run, folder)),
        lambda: undone_text(folder, changed=changed, is_dry=options.dry_run),
    )
    return 0
