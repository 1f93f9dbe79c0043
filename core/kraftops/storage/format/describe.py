"""What `kafka-storage format` and `rewrite` answer."""

import os
import stat
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kraftops.answers.fields import (
    Answer,
    boolean,
    in_some_forms,
    json_of,
    levels,
    number,
    part,
    parts,
    size,
    text,
    text_map,
    texts,
)
from kraftops.fileio.atomic import StagedFile
from kraftops.java.text import path_text
from kraftops.server.locks import FILE_NAME as LOCK_NAME
from kraftops.storage.bootstrap.releases import METADATA_VERSION
from kraftops.storage.format.plan import FormatPlan, Target
from kraftops.storage.format.rewrite import Rewrite
from kraftops.uuids import to_text


class NewEntry(NamedTuple):
    """A file or directory that a format makes; *bytes* is None of a directory."""

    path: str
    bytes: int | None
    mode: int


_CREATED = (
    text("path", "path of the file or directory"),
    size("bytes?", "size of a file; null of a directory"),
    text("mode", "permissions in octal digits", get=lambda created: f"{created.mode:04o}"),
)
_FORMATTED = (
    text("path", "log directory"),
    boolean("isMetadata", "whether it has the metadata log"),
    text("action", "what is, or would be, done", values=("format", "formatted", "keep", "ignore")),
    *in_some_forms(
        text("kind", "kind of directory, in Kafka's words"),
        text("directoryId?", "directory id"),
        boolean("mends", "whether it holds partitions and has lost its meta.properties"),
        texts("removes", "files that go"),
        text("problem?", "why it is ignored"),
        parts("creates", "with --dry-run: files and directories that would be made", _CREATED),
    ),
)
_BOOTSTRAP = (
    part(
        "metadataVersion",
        "level of metadata.version",
        (number("level", "level"), text("name", "name as 4.3-IV0")),
        get="bootstrap.version",
    ),
    levels(
        "features",
        "levels of the other features",
        get=lambda plan: {
            name: level
            for name, level in plan.bootstrap.features.items()
            if name != METADATA_VERSION
        },
    ),
    texts(
        "scramUsers",
        "users with SCRAM credentials",
        get=lambda plan: [credential.name for credential in plan.bootstrap.credentials],
    ),
    texts(
        "voters?",
        "voters of a dynamic quorum, ID@HOST:PORT:DIRECTORY_ID",
        get=lambda plan: None if plan.voters is None else [*map(str, plan.voters)],
    ),
)
FORMAT = Answer(
    (
        boolean("dryRun", "whether nothing was changed", get="is_dry"),
        boolean(
            "changed",
            "whether a directory was, or would be, formatted",
            get=lambda form: bool(form.plan.targets if form.is_dry else form.done),
        ),
        text("clusterId", "cluster id", get="plan.cluster_id"),
        number("nodeId", "node id", get="plan.config.node_id"),
        part(
            "bootstrap?",
            "first records of the cluster; null if all directories are formatted",
            _BOOTSTRAP,
            get=lambda form: form.plan if form.plan.targets else None,
        ),
        parts(
            "directories",
            "the log directories",
            _FORMATTED,
            get=lambda form: _directories(form.plan, form.done),
        ),
    )
)
_REWRITTEN = (
    text("path", "log directory", get="directory.path"),
    boolean("isMetadata", "whether it has the metadata log", get="directory.is_metadata"),
    parts(
        "changes",
        "keys of meta.properties that change",
        (
            text("key", "key", get=lambda change: change[0]),
            text("before?", "old value", get=lambda change: change[1][0]),
            text("after?", "new value", get=lambda change: change[1][1]),
        ),
        get=lambda rewrite: rewrite.changes.items(),
    ),
    text_map("properties", "all properties after it", get="after"),
)
REWRITE = Answer(
    (
        boolean("dryRun", "whether nothing was changed", get="is_dry"),
        boolean(
            "changed",
            "whether a file was changed",
            get=lambda done: not done.is_dry and any(rewrite.changes for rewrite in done.rewrites),
        ),
        parts("directories", "the formatted log directories", _REWRITTEN, get="rewrites"),
    )
)


class FormatOutcome(NamedTuple):
    """A format; *done* are the directories that it has formatted."""

    plan: FormatPlan
    done: Sequence[Target]
    is_dry: bool


class RewriteOutcome(NamedTuple):
    """The rewrites that are done, or would be."""

    rewrites: Sequence[Rewrite]
    is_dry: bool


def _directories(plan: FormatPlan, done: Sequence[Target]) -> list[dict[str, object]]:
    targets = {target.directory.path: target for target in plan.targets}
    creates = dict(zip(targets, new_entries(plan.targets), strict=True))
    directories: list[dict[str, object]] = []
    for directory in plan.directories:
        data: dict[str, object] = {"path": directory.path, "isMetadata": directory.is_metadata}
        target = targets.get(directory.path)
        if target:
            entries = None if target in done else creates[target.directory.path]
            data |= _target(target, entries)
            data["mends"] = directory.path in plan.mended
        elif directory.meta:
            identity = directory.meta.directory_id
            data |= {"action": "keep", "directoryId": identity and to_text(identity)}
        else:
            data |= {"action": "ignore", "problem": directory.problem}
        directories.append(data)
    return directories


def new_entries(targets: Sequence[Target]) -> list[list[NewEntry]]:
    """Return the files and directories that a format makes, for each target, none twice."""
    umask = os.umask(0)
    os.umask(umask)
    new_modes: dict[str, int] = {}  # of directories that do not exist yet
    entries_by_target = []
    for target in targets:
        path = path_text(target.directory.path)
        folders = [path, *(os.path.dirname(file.path) for file in target.files)]
        entries = [entry for folder in folders for entry in _new_folders(folder, umask, new_modes)]
        lock = os.path.join(path, LOCK_NAME)
        if not os.path.exists(lock):
            entries.append(NewEntry(lock, 0, 0o666 & ~umask))
        entries += [
            NewEntry(path_text(file.path), len(file.data), _mode(file, umask))
            for file in target.files
        ]
        entries_by_target.append(entries)
    return entries_by_target


def _new_folders(path: str, umask: int, new_modes: dict[str, int]) -> Iterator[NewEntry]:
    """Yield the missing directories of *path*, the outermost first."""
    path = path_text(path)
    normal_path = os.path.normpath(path)
    if os.path.isdir(path) or normal_path in new_modes:
        return
    parent = os.path.dirname(path) or "."
    yield from _new_folders(parent, umask, new_modes)
    above = new_modes.get(os.path.normpath(parent))
    if above is None:
        above = os.stat(parent).st_mode if os.path.isdir(parent) else 0
    # The group of a directory goes on to those below it.
    new_modes[normal_path] = 0o777 & ~umask | above & stat.S_ISGID
    yield NewEntry(path, None, new_modes[normal_path])


def _mode(file: StagedFile, umask: int) -> int:
    return 0o666 & ~umask if file.mode is None else file.mode


def _target(target: Target, entries: Sequence[NewEntry] | None) -> dict[str, object]:
    data: dict[str, object] = {
        "action": "formatted" if entries is None else "format",
        "kind": target.kind,
        "directoryId": to_text(target.directory_id),
    }
    if target.removes:
        data["removes"] = list(target.removes)
    if entries is not None:
        data["creates"] = [json_of(_CREATED, entry) for entry in entries]
    return data
