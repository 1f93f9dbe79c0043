"""What the checks look at: nodes, copies of directories, metadata, a running cluster."""

import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from kraftops.checkup.identities import Copy, as_registered, of_each_server, without_copies
from kraftops.disk.usage import DirectoryUsage, read_usage
from kraftops.errors import KraftopsError
from kraftops.fileio.mounts import ARCHIVE_ROOT, archive_of, exists, names_in
from kraftops.findings.finding import Finding
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.assignments import newest_images
from kraftops.image.verify.identity import Identities, read_identities
from kraftops.log.files import METADATA_PARTITION
from kraftops.memory import USUAL, Budget
from kraftops.parallel.background import BackgroundCall
from kraftops.reassign.access import ClusterAccess
from kraftops.recovery.node_copies import LogSource, sources_of
from kraftops.recovery.partitions.comparison import Comparison
from kraftops.recovery.partitions.disk_comparison import compare_disks
from kraftops.recovery.refusal import RecoveryRefused
from kraftops.server.log_directory import LogDirectory, read_log_directory
from kraftops.storage.config.host import LocalKafka
from kraftops.storage.config.nearby import configurations_in, moved, without_disks
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.logdirs.directories import read_directories
from kraftops.storage.logdirs.node import Node, read_node, voters_not_given
from kraftops.storage.verify.configurations import load_configs
from kraftops.storage.verify.formatting import common_cluster_id
from kraftops.storage.verify.release import Target

SILENT_SECONDS = 5.0
"""A local disk lists a directory in ms, a slow network in a second: later ones hang."""
UNKNOWN_NODE = -1
"""The id of a node whose directories have no meta.properties; Kafka's own ids begin at 0."""


@dataclass(frozen=True)
class Examination:
    """All that was named; what is read of it is read once, when a check first needs it.

    *configs* are of nodes, *sources* log directories, also in archives, *parents* directories that
    may have configurations beside these. *access* is to a running cluster. *target* is the release
    that is to run the nodes, *now* is in ms. *is_deep* asks to read everything.
    The *budget* is that of the reading.
    """

    configs: Sequence[LocalKafka] = ()
    sources: Sequence[LogSource] = ()
    access: ClusterAccess | None = None
    target: Target | None = None
    is_deep: bool = False
    now: int = 0
    parents: Sequence[str] = ()
    budget: Budget = USUAL
    _usages: dict[str, DirectoryUsage | None] = field(default_factory=dict)

    @cached_property
    def loaded(self) -> tuple[list[ServerConfig], list[Finding]]:
        """The configurations, and the findings about those that Kafka refuses."""
        configs, findings = load_configs(self.configs, self.target)
        named = {os.path.realpath(config.path) for config in configs}
        has_copies, lost = False, list[ServerConfig]()
        for top in self._tops:
            paths = [
                LocalKafka(path)
                for path in configurations_in(top)
                if os.path.realpath(path) not in named
            ]
            directories: dict[int | None, list[str]] = defaultdict(list)
            for source in self.sources if paths else ():
                if f"{source.folder}/".startswith(f"{top.rstrip('/')}/"):
                    node_id = read_log_directory(source.folder).node_id
                    directories[node_id].append(source.folder)
            nearby, refused = load_configs(paths, self.target)
            used = [config for other in nearby if (config := moved(other, top, directories))]
            has_copies |= bool(used)
            lost += nearby if not used and self._is_empty(top) else ()
            files = {config.path for config in used}
            configs += used
            findings += [finding for finding in refused if finding.place.file in files]
        for config in lost:
            if has_copies or not any(map(exists, config.log_dirs)):
                configs.append(without_disks(config))
        return configs, findings

    def _is_empty(self, top: str) -> bool:
        """Tell whether a named directory neither is a log directory nor holds one."""
        is_source = any(source.folder.rstrip("/") == top for source in self.sources)
        return is_source and not read_log_directory(top).is_kafkas

    @property
    def damaged_archives(self) -> set[str]:
        """The archives that were read in part."""
        return {source.archive for source in self.sources if source.archive and source.is_damaged}

    @property
    def _tops(self) -> list[str]:
        """The directories that are named, and the archives."""
        archives = dict.fromkeys(source.archive for source in self.sources if source.archive)
        folders = [path.rstrip("/") or "/" for path in self.parents if os.path.isdir(path)]
        return [*folders, *(archive + ARCHIVE_ROOT for archive in archives)]

    @property
    def _configured_paths(self) -> list[str]:
        configs, _ = self.loaded
        return [path for config in configs for path in (*config.log_dirs, config.metadata_log_dir)]

    @cached_property
    def silent(self) -> list[str]:
        """The log directories that do not answer in `SILENT_SECONDS`: no check waits for them."""
        paths = [*(source.folder for source in self.sources), *self._configured_paths]
        probes = {path: BackgroundCall(partial(_probe, path)) for path in paths}
        return [path for path, probe in probes.items() if not probe.wait(SILENT_SECONDS)]

    @cached_property
    def alone(self) -> list[LogSource]:
        """The sources that answer and that no configuration names, by whatever spelling."""
        # The real path of a directory that hangs would be waited for.
        named = {
            os.path.realpath(path) for path in self._configured_paths if path not in self.silent
        }
        sources = {
            os.path.realpath(source.folder): source
            for source in reversed(self.sources)
            if source.folder not in self.silent
        }
        return [source for path, source in reversed(sources.items()) if path not in named]

    @cached_property
    def _without_data(self) -> list[LogSource]:
        """The directories that are named, and show nothing of a log directory."""
        return [
            source
            for source in self.alone
            if not source.is_packed and not read_log_directory(source.folder).is_kafkas
        ]

    @cached_property
    def foreign(self) -> list[str]:
        """The names of those that do not have the configuration of a node either."""
        paths = [config.path for config in self.loaded[0]]
        return [
            source.name
            for source in self._without_data
            if not any(path.startswith(f"{source.folder.rstrip('/')}/") for path in paths)
        ]

    @cached_property
    def configured(self) -> list[Node]:
        """The nodes with a configuration of which more is known than the directories."""
        return [node for node in self.named if node.config.is_whole]

    @cached_property
    def named(self) -> list[Node]:
        """The nodes with a configuration, whose directories answer."""
        configs, _ = self.loaded
        return [
            read_node(config, self.budget)
            for config in configs
            if not {*config.log_dirs, config.metadata_log_dir}.intersection(self.silent)
        ]

    @cached_property
    def _distinct(self) -> tuple[list[LogDirectory], list[Copy]]:
        """The directories without a configuration, and those that only copy another one."""
        configured = [directory for node in self.named for directory in node.directories]
        directories = [
            read_log_directory(source.folder)
            for source in self.alone
            if source not in self._without_data
        ]
        return without_copies(directories, configured)

    @property
    def duplicates(self) -> list[Copy]:
        """The directories that copy another one, which is examined instead."""
        return self._distinct[1]

    @cached_property
    def copied(self) -> list[Node]:
        """Directories without a whole configuration, as nodes: those of one server are one."""
        directories: dict[tuple[str | None, int | None, str], list[LogDirectory]] = defaultdict(
            list
        )
        packed_ids = {source.folder: source.node_id for source in self.alone}
        for directory in self._distinct[0]:
            meta, path = directory.meta, directory.path
            node_id = packed_ids[path] if directory.node_id is None else directory.node_id
            alone = "" if meta else path
            directories[meta.cluster_id if meta else None, node_id, alone].append(directory)
        nodes = [
            _node_of(node_id, of_server)
            for (_, node_id, _), of_node in directories.items()
            for of_server in of_each_server(of_node)
        ]
        refused = [node for node in self.named if not node.config.is_whole]
        return [*refused, *as_registered(nodes, self.named)]

    @cached_property
    def nodes(self) -> list[Node]:
        return [*self.configured, *self.copied]

    @cached_property
    def clusters(self) -> list[list[Node]]:
        """The nodes by cluster, if a node id that stands under several cluster ids proves several.

        Otherwise they are one cluster, and a node with another cluster id is the fault.
        """
        nodes_by_cluster: dict[str | None, list[Node]] = defaultdict(list)
        common = common_cluster_id(self.nodes)
        for node in self.nodes:
            nodes_by_cluster[node.cluster_id or common].append(node)
        clusters = [*nodes_by_cluster.values()]
        uses_of_id = Counter[int]()
        for nodes in clusters:
            uses_of_id.update({node.config.node_id for node in nodes})
        return clusters if max(uses_of_id.values(), default=1) > 1 else [list(self.nodes)]

    @cached_property
    def whole_nodes(self) -> list[Node]:
        """The nodes with all their files: archives of brokers often lack all logs of topics."""
        return [
            node
            for node in self.nodes
            if not is_packed(node)
            or (
                archive_of(node.config.log_dirs[0]) not in self.damaged_archives
                and (not node.is_broker or _has_logs(node))
            )
        ]

    @cached_property
    def comparable(self) -> list[Node]:
        """The nodes whose copies of partitions can be compared.

        Without logs only the checkpoints of a clean stop tell where these end.
        """
        return [
            node
            for node in self.nodes
            if node in self.whole_nodes
            or (
                archive_of(node.config.log_dirs[0]) not in self.damaged_archives
                and all(directory.plan.was_clean for directory in node.data_directories)
            )
        ]

    @cached_property
    def compared_sources(self) -> list[LogSource]:
        """The log directories whose copies are compared, of nodes with their own identity."""
        identified = {
            directory.path
            for node in self.comparable
            for directory in node.directories
            if node.config.node_id != UNKNOWN_NODE and self.identities.is_sound(node)
        }
        sources = [source for source in self.alone if source.folder in identified]
        for node in filter(self.identities.is_sound, self.named):
            if node in self.comparable or not is_packed(node):
                sources += sources_of(node.config)
        return sources

    @cached_property
    def comparison(self) -> Comparison | None:
        """The copies of partitions on all nodes; None without any, as of controllers."""
        try:
            return compare_disks(self.compared_sources, is_deep=self.is_deep)
        except RecoveryRefused as refusal:
            if refusal.code != "no-partitions":
                raise
            return None

    @cached_property
    def directories(self) -> list[tuple[Node, LogDirectory]]:
        """The log directories of whole nodes that can be read."""
        return [
            (node, directory)
            for node in self.whole_nodes
            for directory in node.directories
            if directory.is_readable
        ]

    @cached_property
    def images(self) -> Mapping[str | None, MetadataImage]:
        """The newest metadata on disk, by cluster id."""
        return newest_images(self.nodes)

    @cached_property
    def identities(self) -> Identities:
        """The nodes that have directories of others."""
        return read_identities(self.nodes, self.images)

    @cached_property
    def metadata_log(self) -> str | None:
        """The directory of the newest metadata log on disk."""
        used = [node for node in self.nodes if node.log.is_used]
        newest = max(used, key=lambda node: node.content.rank, default=None)
        if newest is None:
            return None
        return os.path.join(newest.metadata.path, METADATA_PARTITION)

    @cached_property
    def image(self) -> MetadataImage | None:
        """The newest metadata on disk, also of a log that begins late."""
        return next(iter(self.images.values()), None)

    def usage(self, node: Node, directory: LogDirectory) -> DirectoryUsage | None:
        """Return what takes the room in a log directory; None if it can no longer be read."""
        if directory.path not in self._usages:
            now = self.now if self.is_running(node) else None
            try:
                self._usages[directory.path] = read_usage(directory.path, now)
            except KraftopsError:
                self._usages[directory.path] = None
        return self._usages[directory.path]

    @property
    def answers(self) -> ClusterAccess | None:
        """The running cluster, if its quorum has a leader, as the check of the quorum finds."""
        access = self.access
        return access if access and (access.brokers or access.controllers) else None

    @property
    def voters_not_given(self) -> Sequence[int]:
        """The other voters, where no running cluster and no majority of configurations is named."""
        return voters_not_given(self.nodes) if self.configs and self.access is None else ()

    def is_copy(self, node: Node) -> bool:
        """Tell whether a node has no configuration, so that some directories may be missing."""
        return all(node.config.path != kafka.path for kafka in self.configs)

    def is_running(self, node: Node) -> bool:
        """Tell whether a server holds the lock of one of the node's log directories."""
        return any(directory.holder for directory in node.directories)


def is_packed(node: Node) -> bool:
    return archive_of(node.config.log_dirs[0]) is not None


def _has_logs(node: Node) -> bool:
    return any(
        name.endswith(".log")
        for directory in node.data_directories
        for partition in directory.partitions()
        for name in names_in(partition.path)
    )


def _probe(path: str) -> None:
    """Ask for what each check asks for first."""
    try:
        os.statvfs(path)
        os.listdir(path)
        read_log_directory(path)
    except (OSError, KraftopsError):
        return


def _node_of(node_id: int | None, directories: Sequence[LogDirectory]) -> Node:
    """Make a node of log directories without a configuration: they show its roles."""
    paths = tuple(directory.path for directory in directories)
    metadata = next(
        (directory.path for directory in directories if directory.is_metadata), paths[0]
    )
    is_voter = exists(os.path.join(metadata, METADATA_PARTITION, "quorum-state"))
    has_data = any(directory.has_checkpoints for directory in directories)
    config = ServerConfig(
        path=paths[0],
        node_id=UNKNOWN_NODE if node_id is None else node_id,
        roles=frozenset({"controller"} if is_voter and not has_data else {"broker"}),
        log_dirs=paths,
        metadata_log_dir=metadata,
    )
    return Node(config, read_directories(config))
