"""`kafka-storage recover`: let a cluster go on that has lost its quorum, or its addresses."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, NamedTuple

import click

from kraftops.recovery.refusal import CODES
from kraftops_cli.storage.options import CONFIG, DRY_RUN, OVERRIDE
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.terminal.answer import FORM, print_answer
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.recovery.plan import RecoveryPlan, RecoveryRequest
    from kraftops.storage.config.server_config import ServerConfig

EXAMPLES = (
    (
        "what would be lost, with this controller's log alone",
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
    ("back, before a server was started", "kafka-storage recover -c server.properties --undo"),
)
SECTIONS = (
    (
        "How recover works",
        """\
A server takes the newest voters of its log, committed or not, and an only voter elects itself. So
one batch is written behind the log that goes on: the voters, and before the first of them
kraft.version 1. Its epoch is 1 above the highest in any log or quorum-state that was given.

All logs are read as a server reads them, and compared batch by batch. The one of the highest epoch,
then of the highest offset, goes on; of the others, what would be lost is listed by name. Give
the logs of all that is left: of brokers too, which often have more than a controller that was
down for a while. Another log than this node's is copied as far as this node's is not equal to it.

Nothing is appended to a file. What is new comes as segments of their own, each by one rename: at
any time a server would find the log as it was, a beginning of the one that goes on, or all of it.
Before, the log is copied to before-recover-TIME in its own directory, or in the one of --backup.
recover --undo puts back what was there, also after a recovery that was killed, until a server has
been started.

If several voters go on, run it on each of them: on the first with the logs of all, on the others
with that of the first. Then their logs are equal, byte by byte. A quorum that is static becomes
dynamic (Kafka 3.9 and later), and never static again.

Lost controllers that start with their old disks while the recovered one leads follow it; where most
of them start without it, they are another cluster with the same id.""",
    ),
    (
        "Codes of recover in JSON",
        "\n\n".join(f"{code}: {meaning}." for code, meaning in CODES.items()),
    ),
    (
        "Exit status",
        """\
0: done, or nothing was to be done.
1: bad arguments or configuration, or a file cannot be written.
3: refused, with the reason.
4: what was named does not exist.""",
    ),
)


@click.command(
    cls=ToolCommand,
    syntax=Argparse4j(
        ours=frozenset(
            {
                "overrides",
                "sources",
                "voters",
                "moves",
                "log_dirs",
                "backup",
                "no_backup",
                "undo",
                "dry_run",
                "yes",
                "form",
            }
        ),
        exclusive=(("backup", "no_backup"), ("undo", "no_backup")),
        one_of=(("voters", "moves", "undo"),),
    ),
    name="recover",
    examples=EXAMPLES,
    sections=SECTIONS,
    help="""\
Write new voters to the metadata log of a stopped controller whose quorum is lost.

Of all logs that are given the one goes on that has the highest epoch, then the highest offset; what
it lacks is listed by name. Nothing is written before that was shown and confirmed.""",
)
@CONFIG
@click.option(
    "--from",
    "sources",
    metavar="DIR",
    type=click.Path(),
    multiple=True,
    help="Another log: a metadata directory of a controller or broker that is stopped, its "
    "__cluster_metadata-0, or a tar archive of that; may be given more than once. It is only read.",
)
@click.option(
    "--voters",
    metavar="VOTERS",
    help="The voters that there will be: self, or ID@HOST:PORT:DIRECTORY_ID,…",
)
@click.option(
    "--listener-hosts",
    "moves",
    metavar="OLD=NEW,…",
    help="The same voters at other hosts, each HOST or HOST:PORT.",
)
@click.option(
    "--log-dirs",
    metavar="DIR,…",
    default="",
    help="Log directories of brokers: list the partitions there that would turn stray.",
)
@click.option(
    "--backup",
    metavar="DIR",
    type=click.Path(),
    help="Where the copy of the log goes; else beside it.",
)
@click.option("--no-backup", is_flag=True, help="Make no copy; then nothing can be undone.")
@click.option("--undo", is_flag=True, help="Put back what was there before; no server has run yet.")
@DRY_RUN
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@OVERRIDE
@FORM
@click.pass_obj
def recover(
    terminal: Terminal,
    /,
    config: str,
    sources: tuple[str, ...],
    voters: str | None,
    moves: str | None,
    log_dirs: str,
    backup: str | None,
    *,
    no_backup: bool,
    undo: bool,
    dry_run: bool,
    yes: bool,
    overrides: tuple[str, ...],
    form: str,
) -> int:
    """Run the subcommand; return its exit code."""
    from kraftops.errors import KraftopsError, UsageError
    from kraftops.recovery.archives import unpacked
    from kraftops.recovery.plan import RecoveryRequest
    from kraftops.recovery.wanted import parse_moves
    from kraftops.storage.config.server_config import load_config

    try:
        loaded = load_config(config, overrides, os.environ)
        if undo:
            return _undo(terminal, loaded, backup, form)
        with unpacked(sources) as folders:
            request = RecoveryRequest(
                sources=folders,
                voters=voters,
                moves=parse_moves(moves) if moves else {},
                log_dirs=[one for one in log_dirs.split(",") if one],
            )
            how = _How(form, backup, not no_backup, dry_run, yes)
            return _recover(terminal, loaded, request, how)
    except KraftopsError as error:
        if form == "json":
            code = "usage" if isinstance(error, UsageError) else getattr(error, "code", "failed")
            told = {"error": code, "message": error.message}
            terminal.json("recover", {**told, "hint": error.hint, "changed": False})
            return error.exit_code
        raise


class _How(NamedTuple):
    """How it is done, and told."""

    form: str
    backup: str | None
    is_saved: bool
    is_dry: bool
    is_agreed: bool


def _recover(terminal: Terminal, config: ServerConfig, request: RecoveryRequest, how: _How) -> int:
    from kraftops.recovery.advice import advice
    from kraftops.recovery.describe import describe_plan
    from kraftops.recovery.doing import recover as do
    from kraftops.recovery.plan import plan_recovery
    from kraftops_cli.storage.recover_text import done_text, next_text, plan_text

    now = time.time_ns() // 1_000_000
    plan = plan_recovery(config, request, now)
    if how.form == "text":
        terminal.write(plan_text(plan))
    place = None
    changes = bool(plan.steps) and not how.is_dry
    if changes:
        if not (how.is_agreed or _is_agreed(terminal, plan)):
            return _refuse(terminal, plan, how)
        place = do(plan, backup=how.backup, is_saved=how.is_saved, now=now)
    steps = advice(plan, _arguments(request))
    print_answer(
        terminal,
        how.form,
        "recover",
        lambda: describe_plan(plan, steps, changed=changes, backup=place),
        lambda: done_text(plan, place, is_dry=how.is_dry) + next_text(steps),
    )
    return 0


def _arguments(request: RecoveryRequest) -> list[str]:
    """Return the arguments that say the same to another voter."""
    if request.voters:
        return ["--voters", request.voters]
    return ["--listener-hosts", ",".join(f"{old}={new}" for old, new in request.moves.items())]


def _is_agreed(terminal: Terminal, plan: RecoveryPlan) -> bool:
    """Have the voters that are lost typed, or `yes` where there are none; off a terminal, no."""
    if not (os.isatty(0) and os.isatty(2)):
        return False
    wanted = ",".join(map(str, plan.lost_ids)) or "yes"
    if plan.lost_ids:
        terminal.line(
            "If one of the other voters ever starts with its old disk, there are two clusters with "
            "one id."
        )
        terminal.line(f"Type the ids of those whose disks will be wiped first ({wanted}):")
    else:
        terminal.line("Type yes to write this:")
    try:
        typed = input()
    except EOFError:
        return False
    return re.split(r"[,\s]+", typed.strip()) == wanted.split(",")


def _refuse(terminal: Terminal, plan: RecoveryPlan, how: _How) -> int:
    """Say that nothing was written, since nobody has agreed; return the exit code."""
    from kraftops.recovery.refusal import Refused

    error = Refused(
        "not-confirmed",
        "nothing was written: nobody has agreed",
        "--yes says that no other voter starts with its old disk",
    )
    if how.form != "json":
        raise error
    from kraftops.recovery.describe import describe_plan

    told = {"error": error.code, "message": error.message, "hint": error.hint}
    terminal.json("recover", told | describe_plan(plan, [], changed=False, backup=None))
    return error.exit_code


def _undo(terminal: Terminal, config: ServerConfig, backup: str | None, form: str) -> int:
    from kraftops.recovery.doing import undo

    place, changed = undo(config, backup)
    print_answer(
        terminal,
        form,
        "recover",
        lambda: {"changed": changed, "backup": place},
        lambda: (
            f"the metadata log is as it was before; the copy stays in {place}\n"
            if changed
            else f"nothing to undo: the metadata log is as in {place}\n"
        ),
    )
    return 0
