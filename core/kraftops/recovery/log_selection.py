"""What a recovery begins with: a directory that is stopped, the logs, and the one that goes on."""

from __future__ import annotations

import os
from collections.abc import Sequence

from kraftops.errors import StorageError
from kraftops.recovery.given import GivenLog, folder_of, read_given
from kraftops.recovery.refusal import Refused
from kraftops.recovery.walk import agreement
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.logdirs.directories import (
    METADATA_PARTITION,
    LogDirectory,
    check_ids,
    has_metadata_log,
    read_directories,
)
from kraftops.storage.logdirs.locks import InUse, refuse_locked
from kraftops.uuids import random_uuid, to_text


def own_directory(config: ServerConfig) -> LogDirectory:
    """Return the metadata directory of a controller that is stopped and formatted.

    Raises:
        Refused: it is none of these.
    """
    if "controller" not in config.roles:
        raise Refused(
            "no-controller",
            f"{config.path}: node {config.node_id} is no controller",
            "run it with the configuration of one; what a broker has is given with --from",
        )
    directories = read_directories(config)
    found = next(one for one in directories if one.is_metadata)
    if found.problem or not found.meta:
        raise Refused(
            "not-formatted",
            f"{found.path} is not formatted" + (f": {found.problem}" if found.problem else ""),
            "kafka-storage format --no-initial-controllers formats it"
            + (", with --force, which keeps the log" if has_metadata_log(found.path) else ""),
        )
    if found.meta.cluster_id is None or found.meta.directory_id is None:
        raise Refused(
            "no-identity",
            f"{found.meta_path} has no cluster.id or no directory.id",
            "kafka-storage rewrite --to-v1 --cluster-id writes them"
            if found.meta.version == 0
            else f"add directory.id={to_text(random_uuid())} to it",
        )
    try:
        check_ids(directories, found.meta.cluster_id, config.node_id)
    except StorageError as error:
        raise Refused("other-identity", error.message, error.hint) from None
    for one in directories:
        _refuse_running(one.path)
    return found


def _refuse_running(directory: str) -> None:
    try:
        refuse_locked(directory, "recover")
    except InUse as error:
        raise Refused("running", error.message, error.hint) from None


def read_logs(directory: LogDirectory, sources: Sequence[str]) -> list[GivenLog]:
    """Return this node's log, and the others."""
    assert directory.meta
    found = [
        read_given(directory.path, os.path.join(directory.path, METADATA_PARTITION), directory.meta)
    ]
    for name in dict.fromkeys(sources):
        folder = folder_of(name)
        if os.path.basename(os.path.realpath(folder)) == METADATA_PARTITION:
            _refuse_running(os.path.dirname(os.path.realpath(folder)))
        log = read_given(name, folder)
        if os.path.realpath(folder) == os.path.realpath(found[0].folder):
            continue
        cluster_id = log.owner.cluster_id
        if cluster_id not in (None, directory.meta.cluster_id):
            raise Refused(
                "other-cluster",
                f"{name} is of the cluster {cluster_id}, {directory.path} of "
                f"{directory.meta.cluster_id}",
                "give the logs of one cluster",
            )
        found.append(log)
    return found


def best_of(logs: Sequence[GivenLog]) -> GivenLog:
    """Return the log that goes on: of those that are sound, the highest in epoch, then offset."""
    sound = [one for one in logs if not one.is_empty and not one.damage]
    if sound:
        return max(sound, key=lambda one: one.rank)
    for one in logs:
        if one.damage:
            raise Refused(
                "damaged",
                f"{one.name}: {one.damage}",
                "give a sound log with --from: another controller's, or a broker's",
            )
    raise Refused(
        "no-records",
        "none of the logs has a record",
        "give one with --from: another controller's, or a broker's __cluster_metadata-0",
    )


def common_end(log: GivenLog, chosen: GivenLog) -> int:
    """Return the offset up to which a log is equal to the chosen one, as far as that can be seen.

    Raises:
        Refused: it never was.
    """
    found = agreement(log.segments, chosen.segments)
    if found.is_other:
        raise Refused(
            "other-log",
            f"{log.name} and {chosen.name} differ in their first batch: they are of two clusters",
            "give the logs of one cluster",
        )
    if found.one:
        return found.offset
    # What was cleaned up was equal: it is in a snapshot, and so was committed.
    return min(log.end, chosen.end, max(log.start, chosen.start))
