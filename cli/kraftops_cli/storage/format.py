"""`kafka-storage format`: format the log directories of a node."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kraftops.errors import KraftopsError, SourceError, UsageError
from kraftops_cli.storage.options import NodeOptions, dry_run_option, metadata_option, warn_of_id
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import tool_command
from kraftops_cli.syntax.option_fields import flag, option
from kraftops_cli.terminal.answer import print_answer
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.server.log_directory import LogDirectory
    from kraftops.storage.format.plan import FormatPlan, FormatRequest, Target


@dataclass(frozen=True, kw_only=True)
class FormatOptions(NodeOptions):
    """The values of the options; *scram_files* have one of *scrams* a line."""

    cluster_id: str = option(
        "--cluster-id",
        "-t ID",
        required=True,
        help="The cluster id, the same on all nodes; random-uuid makes one.",
    )
    scrams: tuple[str, ...] = option(
        "--add-scram",
        "-S MECHANISM=[NAME=VALUE,…]",
        multiple=True,
        help="A SCRAM user, such as SCRAM-SHA-256=[name=alice,password=…]; may be given more than "
        "once.",
    )
    ignore_formatted: bool = flag(
        "--ignore-formatted", "-g", help="Leave formatted directories alone."
    )
    release_version: str | None = option(
        "--release-version",
        "-r RELEASE",
        help="The release of the cluster's first features, such as 3.9.  [default: the newest]",
    )
    features: tuple[str, ...] = option(
        "--feature",
        "-f NAME=LEVEL",
        multiple=True,
        help="The level of a feature; may be given more than once.",
    )
    standalone: bool = flag(
        "--standalone", "-s", help="Begin a dynamic quorum with this controller alone."
    )
    no_initial_controllers: bool = flag(
        "--no-initial-controllers",
        "-N",
        help="Begin without voters: this node joins a quorum that others begin.",
    )
    initial_controllers: str | None = option(
        "--initial-controllers",
        "-I ID@HOST:PORT:DIRECTORY_ID,…",
        help="Begin a dynamic quorum with these controllers; the same list on each of them.",
    )
    scram_files: tuple[str, ...] = option(
        "--add-scram-file FILE",
        multiple=True,
        help="A file of SCRAM users, one -S argument a line; - is standard input.",
    )
    ensure: bool = flag(
        "--ensure", help="Format empty directories, accept equal ones, refuse different ones."
    )
    dry_run: bool = dry_run_option()
    strict: bool = flag(
        "--strict",
        help="Refuse a cluster id that is not a UUID, and directories that cannot be read.",
    )
    force: bool = flag(
        "--force",
        help="Format directories that hold partitions, too, and begin a new quorum beside an old"
        " one.",
    )
    metadata: tuple[str, ...] = metadata_option()


@tool_command(
    Argparse4j(
        ours=frozenset(
            {"overrides", "scram_files", "ensure", "dry_run", "strict", "force", "metadata", "form"}
        ),
        exclusive=(("standalone", "no_initial_controllers", "initial_controllers"),),
    ),
    options=FormatOptions,
    answer="kraftops.storage.format.describe:FORMAT",
)
def format_(terminal: Terminal, options: FormatOptions) -> int:
    from kraftops.storage.format.describe import FORMAT, FormatOutcome
    from kraftops.storage.format.execute import format_directories
    from kraftops.storage.format.plan import plan_format

    request = _request(options)
    config, form, is_dry = options.load(), options.form, options.dry_run
    plan = plan_format(config, request)
    warn_of_id(terminal, request.cluster_id, strict=request.strict)
    if plan.mended:
        from kraftops.image.verify.mending import known_directory_ids

        ids_by_path = known_directory_ids(config)
        plan = plan_format(config, replace(request, directory_ids=ids_by_path))
        _warn_of_mending(terminal, plan, ids_by_path)
    _check(terminal, plan, request, form)
    _check_losses(terminal, plan, options.metadata)
    _warn(terminal, plan, request)
    done: list[Target] = []
    try:
        if not is_dry:
            done.extend(format_directories(plan))
    except KraftopsError:
        if form == "text":
            for line in _as_text(plan, done, terminal.shown, is_dry=is_dry):
                terminal.write(line)
        raise
    for path in _with_foreign_files(done):
        terminal.error(
            f"warning: the files in {path} are not its owner's",
            hint="give them to the user of the server; changing owners is not allowed here",
        )
    # After the work: a closed pipe must not interrupt it.
    print_answer(
        terminal,
        FORMAT.fields,
        FormatOutcome(plan, done, is_dry),
        lambda: _as_text(plan, done, terminal.shown, is_dry=is_dry),
    )
    return 0


def _check(terminal: Terminal, plan: FormatPlan, request: FormatRequest, form: str) -> None:
    """Check a plan, and with `--ensure` what is there; name the directories that are passed over.

    Raises:
        StorageError: the plan cannot be executed, or what is there differs.
    """
    from kraftops.storage.format.checks import check_plan

    if form == "text":
        for directory in plan.unreadable:
            warning = f"I/O error trying to read log directory {directory.path}. Ignoring..."
            terminal.write(f"{warning}\n")
    check_plan(plan, strict=request.strict or request.ensure)
    if request.ensure:
        from kraftops.storage.format.checks import check_as_requested

        check_as_requested(plan, is_standalone=request.standalone)


def _check_losses(terminal: Terminal, plan: FormatPlan, metadata: tuple[str, ...]) -> None:
    """Refuse losses; with `--force`, warn of them.

    Raises:
        LossRefused: data would be lost.
        KraftopsError: a directory of *metadata* is of another cluster, or cannot be read.
    """
    if not metadata and not any(map(_holds_partitions, plan.directories)):
        return
    from kraftops.image.verify.losses import format_losses

    for loss in format_losses(plan, metadata):
        if not plan.force:
            raise loss
        terminal.error(f"warning: {loss.message}")


def _holds_partitions(directory: LogDirectory) -> bool:
    from kraftops.server.formatted import partition_data

    with suppress(OSError):  # it does not exist, or is none of those that are formatted
        return partition_data(directory.path) is not None
    return False


def _warn_of_mending(
    terminal: Terminal, plan: FormatPlan, ids_by_path: Mapping[str, bytes]
) -> None:
    from kraftops.uuids import to_text

    for target in plan.targets:
        path = target.directory.path
        if path in plan.mended:
            kind = "the id that the metadata has of it" if path in ids_by_path else "a new id"
            terminal.error(
                f"warning: {path} holds partitions, and has lost its meta.properties: it gets "
                f"{kind}, {to_text(target.directory_id)}",
                hint="kafka-storage verify tells what a server makes of the partitions",
            )


def _with_foreign_files(done: list[Target]) -> list[str]:
    """Return the directories whose new files could not be given to the directory's owner."""
    foreign = []
    for target in done:
        with suppress(OSError):
            path = target.directory.path
            if os.stat(target.files[-1].path).st_uid != os.stat(path).st_uid:
                foreign.append(path)
    return foreign


def _request(options: FormatOptions) -> FormatRequest:
    from kraftops.storage.format.plan import FormatRequest

    return FormatRequest(
        cluster_id=options.cluster_id,
        release=options.release_version,
        features=options.features,
        credentials=(*options.scrams, *_credential_lines(options.scram_files)),
        standalone=options.standalone,
        initial_controllers=options.initial_controllers,
        no_initial_controllers=options.no_initial_controllers,
        ignore_formatted=options.ignore_formatted,
        ensure=options.ensure,
        strict=options.strict,
        force=options.force,
    )


def _credential_lines(paths: tuple[str, ...]) -> list[str]:
    import sys

    lines: list[str] = []
    for path in paths:
        try:
            if path == "-" and sys.stdin is None:
                raise SourceError("cannot read -: standard input is closed")
            if path == "-":
                text = sys.stdin.read().removeprefix("\ufeff")
            else:
                with open(path, encoding="utf-8-sig", newline="\n") as file:
                    text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise SourceError(f"cannot read {path}: {reason}") from None
        credentials = [line.rstrip("\r") for line in text.split("\n") if line.strip()]
        if not credentials:
            raise UsageError(f"{path} names no SCRAM user", hint="one -S argument a line")
        lines += credentials
    return lines


def _warn(terminal: Terminal, plan: FormatPlan, request: FormatRequest) -> None:
    from kraftops.server.formatted import has_metadata_log
    from kraftops.storage.config.server_config import DEFAULT_HOST

    for directory in plan.unreadable:
        terminal.error(f"warning: passed over {directory.meta_path}: {directory.problem}")
    for directory in plan.formatted:
        if directory.meta and directory.meta.version == 0:
            terminal.error(
                f"warning: {directory.meta_path} is of version 0, which is left as it is",
                hint="a server starts on it; kafka-storage rewrite --to-v1 makes it version 1",
            )
    if request.standalone and not plan.config.advertised_controllers[0].host and plan.targets:
        terminal.error(
            f"warning: the voter's host is {DEFAULT_HOST}: no other node can reach it there",
            hint="name the host in listeners or advertised.listeners",
        )
    metadata = next(directory for directory in plan.directories if directory.is_metadata)
    flags: dict[str, object] = {
        "--release-version": request.release,
        "--feature": request.features,
        "--add-scram, --add-scram-file": request.credentials,
    }
    if metadata.meta:
        _warn_of(terminal, flags, f"{metadata.path} is formatted already")
    elif has_metadata_log(metadata.path):
        flags["--standalone"] = request.standalone
        flags["--initial-controllers"] = request.initial_controllers
        _warn_of(terminal, flags, f"{metadata.path} has a metadata log, which counts")
    elif any(target.directory.is_metadata for target in plan.targets):
        for directory in filter(_holds_partitions, plan.formatted):
            terminal.error(
                f"warning: {directory.path} holds partitions, but {metadata.path} is new",
                hint="if the metadata was lost, restore it before a server starts here",
            )


def _warn_of(terminal: Terminal, flags: Mapping[str, object], reason: str) -> None:
    for name in [name for name, value in flags.items() if value]:
        terminal.error(f"warning: {name} has no effect: {reason}")


def _as_text(
    plan: FormatPlan, done: list[Target], escape: Callable[[str], str], *, is_dry: bool
) -> Iterator[str]:
    """Yield the lines of an answer; *shown* makes names fit for where they are written."""
    from kraftops.storage.format.describe import new_entries

    if not plan.targets:
        yield "All of the log directories are already formatted.\n"
        return
    version = plan.bootstrap.version.name
    if is_dry or done:
        yield f"Bootstrap metadata: {plan.bootstrap}\n"
    entries = new_entries(plan.targets) if is_dry else [[]] * len(done)
    for target, new in zip(plan.targets if is_dry else done, entries, strict=True):
        verb = "Would format" if is_dry else "Formatting"
        path = escape(target.directory.path)
        yield f"{verb} {target.kind} {path} with metadata.version {version}.\n"
        for stale in target.removes if is_dry else ():
            yield f"  removes {escape(stale)}\n"
        for entry, size, mode in new:
            name = escape(entry)
            named = f"{name}/" if size is None else f"{name} ({size} bytes)"
            yield f"  {named} mode {mode:04o}\n"
