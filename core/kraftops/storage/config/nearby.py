"""The configurations in directories and archives, with the log directories that lie there."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from kraftops.fileio.mounts import exists, is_directory, is_file, names_in, opened
from kraftops.fileio.reading import CONFIG_BYTES
from kraftops.log.files import METADATA_PARTITION
from kraftops.server.loader.load_plan import HIGH_WATERMARK
from kraftops.server.meta_properties import FILE_NAME as META_FILE
from kraftops.storage.config.server_config import ServerConfig

ROLES = b"process.roles"
"""Every KRaft server has it; other .properties files are of clients."""
_OF_LOG_DIRECTORY = (META_FILE, METADATA_PARTITION, HIGH_WATERMARK)
_DEEPEST = 6  # as HOST/opt/kafka/config/kraft/server.properties


def configurations_in(folder: str, depth: int = _DEEPEST) -> Iterator[str]:
    """Yield the configurations of servers below a directory, which may be in an archive.

    Log directories are not looked into: they have thousands of partitions.
    """
    if any(exists(os.path.join(folder, name)) for name in _OF_LOG_DIRECTORY):
        return
    with suppress(OSError):  # it cannot be listed
        for name in names_in(folder):
            path = os.path.join(folder, name)
            if name.endswith(".properties"):
                if is_file(path) and _is_of_server(path):
                    yield path
            elif depth and is_directory(path):
                yield from configurations_in(path, depth - 1)


def _is_of_server(path: str) -> bool:
    with suppress(OSError), opened(path) as file:
        return ROLES in file.read_at(0, CONFIG_BYTES)
    return False


def moved(
    config: ServerConfig, top: str, directories: Mapping[int | None, Sequence[str]]
) -> ServerConfig | None:
    """Return a configuration in *top* with its log directories there; None if there are none.

    They keep their paths below some directory around the configuration, or else they have its node
    id: *directories* are those in *top* by node id.
    """
    bases = [os.path.dirname(config.path)]
    while bases[-1] not in (top, ""):
        bases.append(os.path.dirname(bases[-1]))

    def place(path: str) -> str | None:
        paths = (os.path.join(base, path.lstrip("/")) for base in bases)
        return next(filter(is_directory, paths), None)

    places = [place(path) for path in config.log_dirs]
    paths = tuple(path for path in places if path) or tuple(directories.get(config.node_id, ()))
    if not paths:
        return None
    metadata = place(config.metadata_log_dir) or next(
        (path for path in paths if is_directory(os.path.join(path, METADATA_PARTITION))), paths[0]
    )
    return replace(config, log_dirs=paths, metadata_log_dir=metadata)


def without_disks(config: ServerConfig) -> ServerConfig:
    """Return the configuration of a copied node with the paths of its disks, which were not copied.

    What this host has there is of another server, and is not looked at.
    """

    def lost(path: str) -> str:
        below = os.path.join(os.path.dirname(config.path), path.lstrip("/"))
        return below if exists(path) else path

    paths = tuple(map(lost, config.log_dirs))
    return replace(config, log_dirs=paths, metadata_log_dir=lost(config.metadata_log_dir))
