"""Log directories as plain data for JSON."""

from __future__ import annotations

from kraftops.storage.logdirs.inspector import DirectoryState
from kraftops.uuids import to_text


def describe_state(state: DirectoryState) -> dict[str, object]:
    """Return a log directory as plain data; unknown values are null."""
    meta, status, holder, log = state.meta, state.status, state.holder, state.log
    data: dict[str, object] = {
        "path": state.directory.path,
        "isMetadata": state.directory.is_metadata,
        "exists": state.exists,
        "isFormatted": meta is not None,
        "version": meta and meta.version,
        "clusterId": meta and meta.cluster_id,
        "nodeId": meta and meta.node_id,
        "directoryId": meta and meta.directory_id and to_text(meta.directory_id),
        "problem": state.directory.problem or state.problem,
        "partitions": state.partitions,
        "user": status and _user_name(status.user),
        "group": status and _group_name(status.group),
        "mode": status and f"{status.mode:04o}",
        "freeBytes": status and status.free,
        "sizeBytes": status and status.size,
        "lockHolder": holder and {**holder._asdict(), "text": str(holder)},
        "bootstrap": None,
        "metadataLog": None,
    }
    if state.bootstrap:
        data["bootstrap"] = {
            "features": state.bootstrap.features,
            "scramUsers": list(state.bootstrap.scram_users),
            "damage": state.bootstrap.damage,
            "isUsable": state.bootstrap.is_usable,
        }
    if log:
        voters = log.quorum.voters
        data["metadataLog"] = {
            "endOffset": log.end_offset,
            "snapshots": [
                {"endOffset": each.end_offset, "epoch": each.epoch, "bytes": each.size}
                for each in log.snapshots
            ],
            "segments": [
                {"baseOffset": each.base_offset, "bytes": each.size} for each in log.segments
            ],
            "kraftVersion": log.quorum.kraft_version,
            "voters": None if voters is None else [str(voter) for voter in voters],
            "damage": [str(damage) for damage in log.damage],
        }
    return data


def _user_name(number: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _group_name(number: int) -> str:
    import grp

    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
