"""Comparison of formatted directories with the request of `format --ensure`."""

from __future__ import annotations

from collections.abc import Sequence

from kraftops.errors import StorageError
from kraftops.server.log_directory import LogDirectory
from kraftops.server.metadata_log.log import MetadataLog, read_metadata_log
from kraftops.server.voters import Voter
from kraftops.storage.format.plan import FormatPlan
from kraftops.uuids import to_text

_CURE = "format with what is there, or empty the directory"


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
