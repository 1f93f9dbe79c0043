"""Checks of a format: its plan, before any directory is written, and what `--ensure` finds."""

import os
from collections.abc import Sequence

from kraftops.errors import StorageError
from kraftops.fileio.directories import existing_parent
from kraftops.server.formatted import partition_data
from kraftops.server.locks import FILE_NAME as LOCK_NAME
from kraftops.server.locks import InUse, check_unlocked
from kraftops.server.log_directory import LogDirectory
from kraftops.server.metadata_log.log import MetadataLog, read_metadata_log
from kraftops.server.voters import Voter
from kraftops.storage.format.plan import FormatPlan, Target
from kraftops.uuids import to_text

_CURE = "format with what is there, or empty the directory"


def check_plan(plan: FormatPlan, *, strict: bool = False) -> None:
    """Refuse a plan that cannot be executed in every directory.

    Raises:
        StorageError: a directory to format cannot be written, is in use, or holds data; or the
            metadata directory, with *strict* any directory, cannot be read.
    """
    _check_readable(plan, strict=strict)
    if plan.targets:
        _check_not_in_use(plan)
    for target in plan.targets:
        _check_writable(target)
        _check_empty(target, force=plan.force or target.directory.path in plan.mended)


def _check_readable(plan: FormatPlan, *, strict: bool) -> None:
    if plan.unreadable and not plan.targets and not plan.formatted:
        raise StorageError(
            "No available log directories to format.",
            hint="; ".join(f"{lost.meta_path}: {lost.problem}" for lost in plan.unreadable),
        )
    for directory in plan.unreadable:
        if directory.is_metadata or strict:
            kind = "the metadata directory" if directory.is_metadata else "a log directory"
            raise StorageError(
                f"cannot read {kind}: {directory.meta_path}: {directory.problem}",
                hint="nothing was written; mend it, or take it out of the configuration",
            )


def _check_not_in_use(plan: FormatPlan) -> None:
    for directory in plan.directories:
        if directory.problem and not os.path.isdir(directory.path):
            continue
        try:
            check_unlocked(directory.path, "format")
        except InUse:
            raise
        except StorageError:
            if not directory.problem:  # one with a problem is passed over
                raise


def _check_writable(target: Target) -> None:
    path = target.directory.path
    parent = existing_parent(path)
    verb = "write to" if parent == os.path.abspath(path) else "make"
    reason = None
    if not os.path.isdir(parent):
        reason = "a symbolic link to nothing" if os.path.islink(parent) else "Not a directory"
    elif not os.access(parent, os.W_OK | os.X_OK, effective_ids=True):
        status = os.stat(parent)
        reason = (
            f"no permission in {parent} (mode {status.st_mode & 0o7777:04o}, "
            f"owner {status.st_uid}, group {status.st_gid}) for user {os.geteuid()}, "
            "or its file system is read-only"
        )
    if reason:
        raise StorageError(f"cannot {verb} {target.kind} {path}: {reason}")
    paths = [path for file in target.files for path in (file.path, file.temporary_path)]
    for name in (os.path.join(path, LOCK_NAME), *paths):
        if os.path.isdir(name):
            raise StorageError(f"{name} is a directory: a file is to be written there")
    for file in target.files:
        folder = os.path.dirname(file.path)
        if os.path.lexists(folder) and not os.path.isdir(folder):
            raise StorageError(f"{folder} is not a directory: files are to be written into it")


def _check_empty(target: Target, *, force: bool) -> None:
    path = target.directory.path
    try:
        data = partition_data(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from None
    if data and not force:
        raise StorageError(
            f"{path} is not formatted, but holds data: {data}",
            hint="if its meta.properties was lost, restore it, or write a new one with --force, "
            "which keeps the data",
            code="holds-data",
        )


def check_as_requested(plan: FormatPlan, *, is_standalone: bool) -> None:
    """Refuse formatted directories that differ from the request, beyond cluster and node.

    Raises:
        StorageError: one differs; the message has both values.
    """
    for directory in plan.formatted:
        meta = directory.meta
        assert meta
        for name, value in (("cluster.id", meta.cluster_id), ("node id", meta.node_id)):
            if value is None:
                raise StorageError(
                    f"{directory.meta_path} is of version {meta.version} and has no {name}",
                    hint="kafka-storage rewrite --to-v1 --cluster-id ID --node-id N adds it",
                )
        if directory.is_metadata:
            _check_quorum(plan, directory, is_standalone=is_standalone)


def _check_quorum(plan: FormatPlan, directory: LogDirectory, *, is_standalone: bool) -> None:
    try:
        log = read_metadata_log(directory.path) or MetadataLog()
    except OSError as error:
        raise StorageError(f"cannot read {error.filename}: {error.strerror}") from None
    for damage in log.damage:
        if not damage.is_harmless:
            raise StorageError(f"cannot tell the voters of {directory.path}: {damage}")
    present = log.quorum.voters
    if log.is_used:
        # A used quorum may have other voters by now, but it stays dynamic.
        if plan.voters and present is None:
            raise _difference(directory, plan.voters, present)
    elif is_standalone and plan.voters:
        # The first format has made the directory id of this voter.
        (voter,) = plan.voters
        expected = (voter._replace(directory_id=_directory_id(directory)),)
        if present != expected:
            raise _difference(directory, expected, present)
    elif present != plan.voters:
        raise _difference(directory, plan.voters, present)
    own = [voter for voter in plan.voters or () if voter.node_id == plan.config.node_id]
    if own and not is_standalone and own[0].directory_id != _directory_id(directory):
        raise StorageError(
            f"{directory.path} has the directory id {to_text(_directory_id(directory))}, "
            f"--initial-controllers gives it {to_text(own[0].directory_id)}",
            hint=_CURE,
            code="differs",
        )


def _directory_id(directory: LogDirectory) -> bytes:
    assert directory.meta
    return directory.meta.directory_id or bytes(16)


def _difference(
    directory: LogDirectory, requested: Sequence[Voter] | None, present: Sequence[Voter] | None
) -> StorageError:
    return StorageError(
        f"{directory.path} was formatted with {_voters(present)}, asked is {_voters(requested)}",
        hint=_CURE,
        code="differs",
    )


def _voters(voters: Sequence[Voter] | None) -> str:
    if voters is None:
        return "no voters of its own (a static quorum, or --no-initial-controllers)"
    return f"the voters {', '.join(map(str, voters))}"
