"""Checks of directories and files: of partitions, of all in log directories, of files alone."""

import os
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain

from kraftops.dump.check.files import grouped
from kraftops.dump.check.findings import PartitionCheck
from kraftops.dump.check.log_directory import (
    log_directory_findings,
    misnamed_findings,
    missing_partitions,
)
from kraftops.dump.check.partition import check_absent_tier
from kraftops.dump.check.start import (
    DirectoryLoads,
    Start,
    foretold,
    placed,
    server_findings,
)
from kraftops.dump.check.tier import Surroundings
from kraftops.dump.check.topics import Topics, read_topics
from kraftops.dump.check.units import RunUnits, Unit, run_units
from kraftops.dump.sources.names import names_below
from kraftops.dump.sources.partition_directory import no_log, partition_log
from kraftops.errors import SourceError
from kraftops.fileio.mounts import is_directory, names_in
from kraftops.findings.catalogue import with_cure
from kraftops.findings.finding import Finding, Place, Severity
from kraftops.log.files import (
    METADATA_PARTITION,
    METADATA_TOPIC,
    PARTITION_NAME,
    TIERED_TOPIC,
    partition_of,
    tiered_topic_id,
)
from kraftops.memory import USUAL, Budget
from kraftops.records.internal_topics import REMOTE_TOPIC
from kraftops.server import meta_properties
from kraftops.server.loader.load_plan import FolderKind, FolderName, PartitionLoad
from kraftops.server.log_directory import LogDirectory, duplicates, read_log_directory
from kraftops.server.nearby import log_directories_in
from kraftops.server.partition_files import TOPIC_ID, has_tiered_name, partition_files

_NAMELESS = ("", os.curdir, os.pardir)
_NAMELESS_ENDS = tuple(f"{os.sep}{name}" for name in _NAMELESS)


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """A request for a check.

    *paths* are directories of partitions, log directories, parents of these, or directories of
    tiers; *partitions* are known to be of partitions. *files* are files alone, with records of a
    *decoder*. *remote_metadata* are logs of `__remote_log_metadata`, or directories with them;
    those among *paths* are used as well.
    """

    paths: Sequence[str] = ()
    files: Sequence[str] = ()
    decoder: str | None = None
    remote_metadata: Sequence[str] = ()
    partitions: Sequence[str] = ()
    budget: Budget = USUAL


def check_directories(
    request: CheckRequest, run: RunUnits = run_units
) -> tuple[list[PartitionCheck], tuple[Finding, ...]]:
    """Check files alone, then all partitions in directories, those of tiers last.

    Args:
        request: what to check.
        run: checks the units.

    Returns:
        The checks, and the findings about log directories.

    Raises:
        UsageError: a directory holds no log.
        SourceError: a directory or remote log metadata cannot be read.
    """
    paths = [inner for path in request.paths for inner in log_directories_in(path)]
    by_path = {path: partition_folders(path) for path in paths}
    # A partition and its log directory may both be named.
    named = {os.path.abspath(folder): folder for folder in chain.from_iterable(by_path.values())}
    folders = [*named.values(), *request.partitions]
    tiered = dict.fromkeys(folder for folder in folders if _is_tiered(folder))
    local = [folder for folder in folders if folder not in tiered]
    surroundings = _surroundings(request, folders)
    whole_paths = [path for path, inner in by_path.items() if inner != [path]]
    directories, whole, common = _log_directories(folders, whole_paths)
    units = [
        Unit(files[0], files=files, decoder=request.decoder) for files in grouped(request.files)
    ]
    units += [Unit(folder, directories[folder]) for folder in local]
    checks = [*run(units, surroundings)]
    if tiered:
        surroundings.locals += (check for check in checks if check.path in directories)
        surroundings.read_metadata()
        checks += run([Unit(folder, directories[folder]) for folder in tiered], surroundings)
    checks = [check for check in checks if not _is_deleted(check, directories)]
    for path, reason in surroundings.metadata.damage:
        if os.path.dirname(path) not in folders:
            finding = Finding("bad-remote-metadata", Severity.RISK, reason, Place(file=path))
            common.append(with_cure(finding, path))
    checks += _absent_tiers(by_path, tiered, surroundings)
    _note_wrong_topic_ids(checks, surroundings.topics)
    for directory in whole:
        missing, unknown = missing_partitions(directory, whole, surroundings.topics)
        checks += missing
        common += unknown
    common += chain.from_iterable(map(misnamed_findings, whole))
    common += _start_findings(whole, directories, checks, surroundings.topics)
    return checks, tuple(common)


def _is_deleted(check: PartitionCheck, directories: Container[str]) -> bool:
    """Tell whether a server has deleted a partition's directory in the meantime."""
    return bool(check.unreadable) and check.path in directories and not is_directory(check.path)


def _surroundings(request: CheckRequest, folders: list[str]) -> Surroundings:
    remote_metadata = [*request.remote_metadata, *_of_topic(REMOTE_TOPIC, folders)]
    surroundings = Surroundings(remote_metadata, request.budget)
    surroundings.read_metadata()
    surroundings.topics = read_topics(_metadata_folders(folders), request.budget)
    return surroundings


def _metadata_folders(folders: Iterable[str]) -> list[str]:
    """Return the directories of the metadata log among partitions, else beside them."""
    logs = list(dict.fromkeys(_of_topic(METADATA_TOPIC, folders)))
    if not logs:
        parents = dict.fromkeys(os.path.dirname(_whole(folder)) for folder in folders)
        beside = (os.path.join(parent, METADATA_PARTITION) for parent in parents)
        logs = list(filter(is_directory, beside))
    return logs


def _log_directories(
    folders: Iterable[str], whole_paths: Iterable[str]
) -> tuple[dict[str, LogDirectory], list[LogDirectory], list[Finding]]:
    directories: dict[str, LogDirectory] = {}

    @cache
    def log_directory(path: str) -> LogDirectory:
        absolute = os.path.abspath(path)
        if absolute not in directories:
            directories[absolute] = read_log_directory(path)
        return directories[absolute]

    whole = [log_directory(path) for path in whole_paths]
    by_folder = {
        folder: log_directory(os.path.dirname(_whole(folder)) or os.curdir) for folder in folders
    }
    findings = map(log_directory_findings, directories.values())
    return by_folder, whole, list(chain.from_iterable(findings))


def _start_findings(
    whole: Sequence[LogDirectory],
    directories: Mapping[str, LogDirectory],
    checks: Iterable[PartitionCheck],
    topics: Topics,
) -> Iterator[Finding]:
    """Yield what the loading of all partitions means for the servers of the log directories.

    *whole* are those whose partitions are all checked.
    """
    loads: dict[str, list[PartitionLoad]] = {
        directory.path: [] for directory in directories.values()
    }
    for check in checks:
        if check.load is not None and check.path in directories:
            loads[directories[check.path].path].append(check.load)
    for directory in whole:
        for start, name in _renamed_starts(directory, topics):
            for refusal in start.refusals():
                yield placed(refusal, start.path, name.topic, name.partition, directory)
            loads[directory.path] += [start.load] if start.load else []
    by_directory = {directory.path: directory for directory in directories.values()}
    twice = [
        duplicate
        for server in _servers(whole)
        for duplicate in duplicates(server)
        # A broker renames what the metadata lacks before (`LogManager.loadLog`).
        if not topics.is_known or duplicate.partition.topic in topics.names
    ]
    yield from server_findings(
        [DirectoryLoads(directory, loads[path]) for path, directory in by_directory.items()],
        twice,
        is_whole_server=False,
    )


def _servers(directories: Iterable[LogDirectory]) -> list[list[LogDirectory]]:
    """Return the log directories of each server.

    A copy has the directory id of another one. Without an id, as before Kafka 3.7, that is unknown,
    and the directory is left out.
    """
    servers: dict[tuple[str | None, int | None], dict[bytes, LogDirectory]] = defaultdict(dict)
    for directory in directories:
        if (meta := directory.meta) and meta.directory_id:
            servers[meta.cluster_id, meta.node_id].setdefault(meta.directory_id, directory)
    return [list(by_id.values()) for by_id in servers.values()]


def _renamed_starts(directory: LogDirectory, topics: Topics) -> Iterator[tuple[Start, FolderName]]:
    """Yield what a start makes of partitions that are deleted or moved, or strays.

    `LogManager.loadLogs` loads them like all others, and fails with them.
    """
    for folder, name in directory.plan.folders.items():
        if name.kind is not FolderKind.CURRENT:
            with suppress(SourceError):  # a server has deleted it
                files = partition_files(os.path.join(directory.path, folder))
                is_tiered = directory.is_topic_tiered(name.topic)
                settings = topics.settings(name.topic, is_tiered=is_tiered)
                yield foretold(files, directory, settings), name


def _is_tiered(folder: str) -> bool:
    try:
        return has_tiered_name(names_in(folder))
    except OSError:
        return False


def _of_topic(topic: str, folders: Iterable[str]) -> Iterator[str]:
    for folder in folders:
        whole = _whole(folder)
        match = PARTITION_NAME.fullmatch(os.path.basename(whole)) if topic in whole else None
        if match and match[1] == topic:
            yield folder


def _whole(folder: str) -> str:
    """Return a path that ends with the name of the directory, which `.` and `..` have not."""
    has_name = folder not in _NAMELESS and not folder.endswith(_NAMELESS_ENDS)
    return folder if has_name else os.path.abspath(folder)


def _absent_tiers(
    by_path: dict[str, list[str]], tiered: Container[str], surroundings: Surroundings
) -> Iterator[PartitionCheck]:
    """Yield the checks of partitions that have remote segments, and no directory in a tier."""
    tiers = {
        path: folders
        for path, folders in by_path.items()
        if any(folder != path and folder in tiered for folder in folders)
        and not TIERED_TOPIC.fullmatch(os.path.basename(os.path.abspath(path)))
    }
    if not tiers:
        return
    there = {_tier_place(folder) for folders in tiers.values() for folder in folders}
    for (topic_id, partition), remote in surroundings.metadata.partitions.items():
        if (topic_id, partition) in there or remote.is_deleted or not remote.live:
            continue
        root, folders = next(iter(tiers.items()))
        is_flat = os.path.dirname(folders[-1]) == os.path.normpath(root)
        name = f"{remote.topic}-{partition}-{topic_id}"
        folder = os.path.join(root, name if is_flat else f"{remote.topic}-{topic_id}/{partition}")
        yield check_absent_tier(folder, remote, surroundings)


def _tier_place(folder: str) -> tuple[str | None, int | None]:
    place = partition_of(os.path.join(folder, f"{'0' * 20}-{'0' * 22}.log"))
    return tiered_topic_id(folder), place[1] if place else None


def partition_folders(path: str) -> list[str]:
    """Return the directory of a partition itself, or the partitions in a log directory.

    One that was only formatted has none yet.

    Raises:
        UsageError: it holds no log.
        SourceError: it cannot be listed.
    """
    names = names_below(path)
    if partition_log(path, names, from_start=True) or TOPIC_ID in names:
        return [path]
    partitions = []
    for name in names:
        folder = os.path.join(path, name)
        match = PARTITION_NAME.fullmatch(name)
        if match and not match[3] and is_directory(folder):
            partitions.append((match[1], int(match[2]), folder))
        elif not match and is_directory(folder):
            partitions += [(name, 0, inner) for inner in _tiered_folders(folder)]
    if not partitions and meta_properties.FILE_NAME not in names:
        raise no_log(path, names)
    return [folder for _, _, folder in sorted(partitions)]


def _tiered_folders(path: str) -> list[str]:
    """Return the directories with tiered segments in a directory: itself, or one each partition."""
    try:
        names = names_below(path)
        if partition_log(path, names, from_start=True):
            return [path]
        if not TIERED_TOPIC.fullmatch(os.path.basename(path)):
            return []
        inner = [os.path.join(path, name) for name in names if name.isdecimal()]
        return [
            folder
            for folder in inner
            if partition_log(folder, names_below(folder), from_start=True)
        ]
    except SourceError:
        return []


def _note_wrong_topic_ids(checks: list[PartitionCheck], topics: Topics) -> None:
    """Add the findings about topic ids that the metadata log, or most partitions, contradict."""
    by_topic: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for index, check in enumerate(checks):
        if check.topic and check.topic_id and check.topic != METADATA_TOPIC:
            by_topic[check.topic][check.topic_id].append(index)
    for topic, ids in by_topic.items():
        right = set(topics.ids.get(topic, ())) or {max(ids, key=lambda text: len(ids[text]))}
        for topic_id in ids.keys() - right:
            reason = f"the topic id {topic_id}, where {topic} has {' or '.join(sorted(right))}"
            for index in ids[topic_id]:
                check = checks[index]
                place = Place(file=os.path.join(check.path, TOPIC_ID))
                finding = Finding("topic-id-differs", Severity.RISK, reason, place)
                finding = with_cure(finding, check.path)
                checks[index] = replace(check, findings=(*check.findings, finding))
