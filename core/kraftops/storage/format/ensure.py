"""Whether directories that are formatted already are what `format --ensure` asks for."""

from __future__ import annotations

from collections.abc import Sequence

from kraftops.errors import StorageError
from kraftops.storage.bootstrap.voters import Voter
from kraftops.storage.format.plan import FormatPlan
from kraftops.storage.logdirs.directories import LogDirectory, partition_data
from kraftops.storage.logdirs.metadata_log import MetadataLog, read_metadata_log
from kraftops.uuids import to_text

_CURE = "format with what is there, or empty the directory"


def check_as_asked(plan: FormatPlan, *, is_standalone: bool) -> None:
    """Refuse formatted directories that differ from what is asked, beyond cluster and node.

    Raises:
        StorageError: it names what is asked and what is there.
    """
    _check_no_lost_metadata(plan)
    for directory in plan.formatted:
        meta = directory.meta
        assert meta
        for what, there in (("cluster.id", meta.cluster_id), ("node id", meta.node_id)):
            if there is None:
                raise StorageError(
                    f"{directory.meta_path} is of version {meta.version} and has no {what}",
                    hint="kafka-storage rewrite --to-v1 --cluster-id ID --node-id N adds it",
                )
        if directory.is_metadata:
            _check_quorum(plan, directory, is_standalone=is_standalone)


def _check_no_lost_metadata(plan: FormatPlan) -> None:
    """Refuse to begin a quorum where partitions are: their metadata is lost, not new."""
    begins = plan.voters and any(target.directory.is_metadata for target in plan.targets)
    for directory in plan.formatted if begins and not plan.force else ():
        try:
            found = partition_data(directory.path)
        except OSError as error:
            raise StorageError(f"cannot read {directory.path}: {error.strerror}") from None
        if found:
            metadata = next(one for one in plan.directories if one.is_metadata)
            raise StorageError(
                f"{directory.path} holds partitions ({found}), but the metadata directory "
                f"{metadata.path} is empty",
                hint="restore the metadata, or let this node join others with "
                "--no-initial-controllers; --force begins anew without it",
            )


def _check_quorum(plan: FormatPlan, directory: LogDirectory, *, is_standalone: bool) -> None:
    try:
        log = read_metadata_log(directory.path) or MetadataLog()
    except OSError as error:
        raise StorageError(f"cannot read {error.filename}: {error.strerror}") from None
    for damage in log.damage:
        if not damage.is_harmless:
            raise StorageError(f"cannot tell the voters of {directory.path}: {damage}")
    there = log.quorum.voters
    if log.is_used:
        # A quorum that has run may have other voters by now, but it does not cease to be dynamic.
        if plan.voters and there is None:
            raise _differs(directory, plan.voters, there)
    elif is_standalone and plan.voters:
        # The directory id of this voter was made up when the directory was formatted.
        (asked,) = plan.voters
        same = asked._replace(directory_id=_directory_id(directory))
        if there != (same,):
            raise _differs(directory, (same,), there)
    elif there != plan.voters:
        raise _differs(directory, plan.voters, there)
    own = [voter for voter in plan.voters or () if voter.node_id == plan.config.node_id]
    if own and not is_standalone and own[0].directory_id != _directory_id(directory):
        raise StorageError(
            f"{directory.path} has the directory id {to_text(_directory_id(directory))}, "
            f"--initial-controllers gives it {to_text(own[0].directory_id)}",
            hint=_CURE,
        )


def _directory_id(directory: LogDirectory) -> bytes:
    assert directory.meta
    return directory.meta.directory_id or bytes(16)


def _differs(
    directory: LogDirectory, asked: Sequence[Voter] | None, there: Sequence[Voter] | None
) -> StorageError:
    return StorageError(
        f"{directory.path} was formatted with {_shown(there)}, asked is {_shown(asked)}",
        hint=_CURE,
    )


def _shown(voters: Sequence[Voter] | None) -> str:
    if voters is None:
        return "no voters of its own (a static quorum, or --no-initial-controllers)"
    return f"the voters {', '.join(map(str, voters))}"
