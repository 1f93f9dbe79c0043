"""`kafka-storage recover`: recover a cluster that has lost its quorum, or its addresses."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from kraftops.recovery.refusal import PACK
from kraftops_cli.live.kafka_package import skip_kafka_clients
from kraftops_cli.storage.options import NodeOptions, dry_run_option
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import manual
from kraftops_cli.syntax.command import tool_command
from kraftops_cli.syntax.option_fields import flag, option
from kraftops_cli.terminal.answer import print_answer
from kraftops_cli.terminal.streams import Terminal, drop_output
from kraftops_terminal.prompts import asked, can_ask

if TYPE_CHECKING:
    from kraftops.recovery.live_controllers import Addresses, ControllerAnswer
    from kraftops.recovery.plan import RecoveryPlan, RecoveryRequest
    from kraftops.storage.config.server_config import ServerConfig

_OF_A_RECOVERY = ("sources", "choice", "elect_newest", "unseen_brokers", "force", "offline")
_SECONDS = 5.0  # a follower forgets a dead leader after controller.quorum.fetch.timeout.ms, 2 s


@dataclass(frozen=True, kw_only=True)
class QuorumOptions:
    """The values of the options of each recovery."""

    choice: str | None = option(
        "--choose DIR",
        type=click.Path(),
        help="The name of the log that goes on, instead of the best one.",
    )
    elect_newest: bool = flag(
        "--elect-newest",
        help="Make the brokers with the newest copies of partitions their leaders, where records "
        "would otherwise be lost.",
    )
    unseen_brokers: str = option(
        "--unseen-broker ID,…",
        default="",
        show_default=False,
        help="Registered brokers whose disks are not all at hand; what only they have may be lost.",
    )
    force: bool = flag(
        "--force", help="Give up voters although the given logs are enough for a quorum."
    )
    offline: bool = flag(
        "--offline",
        help=(
            "Do not ask the controllers whether one leads. Otherwise all voters of the logs "
            "and of the configuration are asked, for 5 seconds."
        ),
    )

    def request(self, voters: str | None) -> RecoveryRequest:
        """Return what is asked for, yet without logs.

        Raises:
            UsageError: --unseen-broker has something else than ids.
        """
        from kraftops.errors import UsageError
        from kraftops.recovery.plan import RecoveryRequest

        ids = [part for part in re.split(r"[,\s]+", self.unseen_brokers) if part]
        if not all(part.isascii() and part.isdecimal() for part in ids):
            text = f"--unseen-broker {self.unseen_brokers}: expected broker ids, such as 101,102"
            raise UsageError(text)
        return RecoveryRequest(
            voters=voters,
            choice=self.choice,
            is_forced=self.force,
            elects_newest=self.elect_newest,
            unseen_brokers=frozenset(map(int, ids)),
            ask=None if self.offline else _ask,
        )


@dataclass(frozen=True, kw_only=True)
class RecoverOptions(NodeOptions, QuorumOptions):
    """The values of the options."""

    sources: tuple[str, ...] = option(
        "--from",
        "--log-dirs DIR",
        type=click.Path(),
        multiple=True,
        help="A log directory of another node that is stopped, a directory that holds all of them, "
        "or a tar or zip archive, for its metadata log and its partitions; may be given more than "
        "once. It is only read.",
    )
    voters: str | None = option(
        "--voters VOTERS", help="The new voters: self, or ID@HOST:PORT:DIRECTORY_ID,…"
    )
    host_changes: str | None = option(
        "--listener-hosts OLD=NEW,…", help="The same voters at other hosts, each HOST or HOST:PORT."
    )
    backup: str | None = option(
        "--backup DIR",
        type=click.Path(),
        help="The directory for the copy of the log. Default: beside the log.",
    )
    no_backup: bool = flag("--no-backup", help="Make no copy; then nothing can be undone.")
    undo: bool = flag("--undo", help="Restore the old log, unless a server has been started.")
    yes: bool = flag("--yes", "-y", help="Do not ask.")
    dry_run: bool = dry_run_option()


@tool_command(
    Argparse4j(
        kafkas=frozenset({"config"}),
        exclusive=(
            ("backup", "no_backup"),
            *(("undo", other) for other in ("no_backup", *_OF_A_RECOVERY)),
        ),
        one_of=(("voters", "host_changes", "undo"),),
    ),
    answer="kraftops.recovery.answer:RECOVER",
    options=RecoverOptions,
    **manual(__file__, PACK=PACK),
)
def recover(terminal: Terminal, options: RecoverOptions) -> int:
    from kraftops.recovery.node_copies import opened_sources
    from kraftops.recovery.target_voters import parse_host_changes

    loaded = options.load()
    if options.undo:
        return _undo(terminal, loaded, options)
    changes = options.host_changes
    with opened_sources(_split(options.sources), terminal.failure) as sources:
        request = replace(
            options.request(options.voters),
            sources=sources,
            host_changes={} if changes is None else parse_host_changes(changes),
        )
        return _recover(terminal, loaded, request, options)


def _ask(path: str, addresses: Addresses, cluster_id: str) -> Sequence[ControllerAnswer]:
    """Ask controllers that may run, with the login in a server.properties."""
    skip_kafka_clients()
    from kraftops.wire.config.client_properties import ClientProperties, read_properties
    from kraftops.wire.config.server_settings import controller_settings
    from kraftops.wire.quorum.survey import survey

    settings = controller_settings(ClientProperties(path, read_properties(path)))
    return survey(addresses, settings, cluster_id, _SECONDS)


def _split(names: tuple[str, ...]) -> list[str]:
    """Return the names of all sources: once --log-dirs took several, separated by commas."""
    return [
        part
        for name in names
        for part in ([name] if os.path.lexists(name) else name.split(","))
        if part
    ]


def _recover(
    terminal: Terminal, config: ServerConfig, request: RecoveryRequest, options: RecoverOptions
) -> int:
    from kraftops.findings.finding import HAS_FINDINGS
    from kraftops.recovery.answer import RECOVER, Recovery
    from kraftops.recovery.execute import backup_folder, execute
    from kraftops.recovery.plan import plan_recovery
    from kraftops.recovery.procedure import work_steps
    from kraftops_cli.storage.recover_text import done_text, plan_text, steps_text, writes_text

    now = time.time_ns() // 1_000_000
    plan = plan_recovery(config, request, now)
    if options.form == "text":
        terminal.write(plan_text(terminal.console, plan) + writes_text(plan))
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
            RECOVER.fields,
            recovery,
            lambda: (
                done_text(plan, backup, is_dry=options.dry_run)
                + "Next:\n"
                + steps_text(recovery.next_steps)
            ),
        )
        terminal.end_answer()
        terminal.flush()
    if not (options.dry_run and plan.steps and plan.unseen_brokers):
        return HAS_FINDINGS if options.dry_run and plan.partitions.cuts_needlessly else 0
    refusal = plan.unseen_refusal()
    terminal.failure(refusal)
    return refusal.exit_code


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
        RecoveryRefused: the answer is another, or there is no terminal to ask on.
    """
    from kraftops.answers.fields import json_of
    from kraftops.recovery.answer import RECOVER, Recovery
    from kraftops.recovery.refusal import RecoveryRefused

    answer = json_of(RECOVER.fields, Recovery(is_changed=False, backup=None, plan=plan))
    if plan.unseen_brokers and not _is_typed(
        terminal,
        plan.unseen_brokers,
        "Records that only the brokers below have are lost if they do not lead.",
        "Type the ids of the brokers whose disks cannot be read",
    ):
        raise plan.unseen_refusal(**answer)
    if not is_confirmed and not _is_typed(
        terminal,
        plan.lost_ids,
        "If most of the old voters ever start with their old disks, there are two clusters with "
        "the same id.",
        "Type the ids of the voters, to confirm that their disks are wiped first",
    ):
        expected = ",".join(map(str, plan.lost_ids)) or "yes"
        text = f"nothing was written: the question was not answered with {expected}"
        hint = "--yes says that no other voter starts with its old disk"
        raise RecoveryRefused("not-confirmed", text, hint, **answer)


def _is_typed(terminal: Terminal, ids: Sequence[int], warning: str, question: str) -> bool:
    """Ask on a terminal for ids, for `yes` without any; tell whether they are typed.

    Off a terminal it is false.
    """
    if not can_ask():
        return False
    if not ids:
        return asked("Type yes to write this") == "yes"
    terminal.line(warning)
    expected = [*map(str, ids)]
    return re.split(r"[,\s]+", asked(f"{question} ({','.join(expected)})")) == expected


def _undo(terminal: Terminal, config: ServerConfig, options: RecoverOptions) -> int:
    from kraftops.recovery.answer import UNDO, Recovery
    from kraftops.recovery.execute import undo
    from kraftops_cli.storage.recover_text import undone_text

    folder, changed = undo(config, options.backup, is_dry=options.dry_run)
    print_answer(
        terminal,
        UNDO,
        Recovery(changed and not options.dry_run, folder),
        lambda: undone_text(folder, changed=changed, is_dry=options.dry_run),
    )
    return 0
