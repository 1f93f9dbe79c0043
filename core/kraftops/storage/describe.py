"""Formats, rewrites, directories and findings as plain data for JSON."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kraftops.storage.locks import FILE_NAME as LOCK_NAME
from kraftops.storage.releases import METADATA_VERSION
from kraftops.uuids import to_text

if TYPE_CHECKING:
    from kraftops.storage.files import NewFile
    from kraftops.storage.formatter import FormatPlan, Target
    from kraftops.storage.inspector import DirectoryState, Finding
    from kraftops.storage.rewrite import Rewrite


def describe(plan: FormatPlan, done: list[Target]) -> dict[str, object]:
    """Return what a format changed: *done* are the directories that it formatted."""
    targets = {target.directory.path: target for target in plan.targets}
    directories: list[dict[str, object]] = []
    for directory in plan.directories:
        told: dict[str, object] = {"path": directory.path, "isMetadata": directory.is_metadata}
        target = targets.get(directory.path)
        if target:
            told |= _target(target, is_done=target in done)
        elif directory.meta:
            identity = directory.meta.directory_id
            told |= {"action": "keep", "directoryId": identity and to_text(identity)}
        else:
            told |= {"action": "ignore", "problem": directory.problem}
        directories.append(told)
    return {
        "changed": bool(done),
        "clusterId": plan.cluster_id,
        "nodeId": plan.config.node_id,
        "bootstrap": _bootstrap(plan) if targets else None,
        "directories": directories,
    }


def _bootstrap(plan: FormatPlan) -> dict[str, object]:
    initial = plan.bootstrap
    levels = {name: level for name, level in initial.features.items() if name != METADATA_VERSION}
    return {
        "metadataVersion": {"level": initial.version.level, "name": initial.version.name},
        "features": levels,
        "scramUsers": [credential.name for credential in initial.credentials],
        "voters": None if plan.voters is None else [str(voter) for voter in plan.voters],
    }


def describe_state(state: DirectoryState) -> dict[str, object]:
    """Return all that is known of a log directory; what is not known is null."""
    meta, place, holder, log = state.meta, state.place, state.holder, state.log
    told: dict[str, object] = {
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
        "user": place and _user_name(place.user),
        "group": place and _group_name(place.group),
        "mode": place and f"{place.mode:04o}",
        "freeBytes": place and place.free,
        "sizeBytes": place and place.size,
        "lockHolder": holder and {**holder._asdict(), "text": str(holder)},
        "bootstrap": None,
        "metadataLog": None,
    }
    if state.bootstrap:
        told["bootstrap"] = {
            "features": state.bootstrap.features,
            "scramUsers": list(state.bootstrap.scram_users),
            "damage": state.bootstrap.damage,
            "isUsable": state.bootstrap.is_usable,
        }
    if log:
        voters = log.quorum.voters
        told["metadataLog"] = {
            "endOffset": log.end_offset,
            "snapshots": [
                {"endOffset": one.end_offset, "epoch": one.epoch, "bytes": one.size}
                for one in log.snapshots
            ],
            "segments": [
                {"baseOffset": one.base_offset, "bytes": one.size} for one in log.segments
            ],
            "kraftVersion": log.quorum.kraft_version,
            "voters": None if voters is None else [str(voter) for voter in voters],
            "damage": [str(damage) for damage in log.damage],
        }
    return told


def describe_finding(finding: Finding) -> dict[str, object]:
    """Return a finding; its path is null where it is of no one directory."""
    return {**finding._asdict(), "path": finding.path or None}


def describe_rewrites(rewrites: Sequence[Rewrite], *, is_dry: bool) -> dict[str, object]:
    """Return what a rewrite changed, or would change."""
    return {
        "dryRun": is_dry,
        "changed": not is_dry and any(one.changes for one in rewrites),
        "directories": [
            {
                "path": one.directory.path,
                "isMetadata": one.directory.is_metadata,
                "changes": [
                    {"key": key, "before": before, "after": after}
                    for key, (before, after) in one.changes.items()
                ],
                "properties": dict(one.after),
            }
            for one in rewrites
        ],
    }


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


def new_entries(target: Target) -> list[tuple[str, int | None, int]]:
    """Return path, bytes (None: a directory) and mode of everything that formatting makes."""
    umask = os.umask(0)
    os.umask(umask)
    path = target.directory.path
    folders = [path] if not os.path.isdir(path) else []
    while folders and not os.path.isdir(os.path.dirname(folders[0]) or "."):
        folders.insert(0, os.path.dirname(folders[0]))
    folders += sorted({os.path.dirname(file.path) for file in target.files} - {path})
    lock = os.path.join(path, LOCK_NAME)
    found: list[tuple[str, int | None, int]] = [
        (folder, None, 0o777 & ~umask) for folder in folders if not os.path.isdir(folder)
    ]
    if not os.path.exists(lock):
        found.append((lock, 0, 0o666 & ~umask))
    return found + [(file.path, len(file.data), _mode(file, umask)) for file in target.files]


def _mode(file: NewFile, umask: int) -> int:
    return 0o666 & ~umask if file.mode is None else file.mode


def _target(target: Target, *, is_done: bool) -> dict[str, object]:
    told: dict[str, object] = {
        "action": "formatted" if is_done else "format",
        "kind": target.kind,
        "directoryId": to_text(target.directory_id),
    }
    if not is_done:
        told["creates"] = [
            {"path": path, "bytes": size, "mode": f"{mode:04o}"}
            for path, size, mode in new_entries(target)
        ]
    return told
