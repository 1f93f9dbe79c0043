"""Archives of directories, such as those for support: they are read as the directories in them."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from kraftops.dump.small_files import is_small_file
from kraftops.dump.sources.partition_directory import MANIFEST, Log, partition_log
from kraftops.errors import SourceError, UsageError
from kraftops.fileio.mounts import Mount
from kraftops.log.bundles.spool import Skipped, mounted_archive
from kraftops.log.files import METADATA_PARTITION, PARTITION_NAME, file_name, has_bundle_name
from kraftops.log.reader import DamagedArchive

_TOPIC_ID = "partition.metadata"

OnSkipped = Callable[[SourceError], None]
"""Takes the error of a member that is not read, while the others are.

It is a `DamagedArchive` where the archive is damaged.
"""


@dataclass(frozen=True, slots=True)
class Bundle:
    """Archive of directories."""

    mount: Mount
    kind: str = "log"
    """What was looked for in it."""

    def logs(self, *, from_start: bool) -> list[Log]:
        """Return its logs, those of each directory by topic and partition.

        Raises:
            UsageError: it holds no log.
            SourceError: a file in it cannot be read.
        """
        logs = [
            (place, log)
            for place, folder, names in self._folders()
            if (log := partition_log(folder, names, from_start=from_start))
        ]
        if not logs:
            raise self._no_log()
        return [log for _, log in sorted(logs, key=lambda placed: placed[0])]

    def partition_folders(self) -> list[str]:
        """Return the directories of partitions, also of those without segments.

        Raises:
            UsageError: there is none.
        """
        placed = [
            (place, folder)
            for place, folder, names in self._folders()
            if _TOPIC_ID in names or partition_log(folder, names, from_start=True)
        ]
        if not placed:
            raise self._no_log()
        return [folder for _, folder in sorted(placed)]

    def _folders(self) -> Iterator[tuple[tuple[str, str, int], str, list[str]]]:
        """Yield each directory: its place among the others, its path, and the names of its files.

        Partitions that a server deletes or moves are left out.
        """
        for inner, folder in self.mount.folders.items():
            if "." in inner and any(map(_is_renamed, inner.split("/"))):
                continue
            path = f"{self.mount.root}/{inner}" if inner else self.mount.root
            parent, name = os.path.split(path)
            match = PARTITION_NAME.fullmatch(name)
            place = (parent, match[1], int(match[2])) if match else (parent, name, 0)
            yield place, path, sorted(folder.files)

    def _no_log(self) -> UsageError:
        return UsageError(
            f"{self.mount.path} holds no {self.kind}",
            "name an archive of a log directory or of a partition",
        )


def _is_renamed(name: str) -> bool:
    match = PARTITION_NAME.fullmatch(name)
    return bool(match and match[3])


@contextmanager
def opened(
    paths: Iterable[str], on_skipped: OnSkipped, *, only_metadata: bool = False
) -> Iterator[dict[str, Bundle]]:
    """Yield archives by their paths; paths lead into them as long as the context lasts.

    With *only_metadata*, partitions but that of the metadata log are left out.

    Raises:
        SourceError: nothing in an archive can be read, it is a bomb, or there is no room for it.
    """
    with ExitStack() as stack:
        yield {
            path: _opened(path, stack, on_skipped, only_metadata=only_metadata) for path in paths
        }


def _opened(path: str, stack: ExitStack, on_skipped: OnSkipped, *, only_metadata: bool) -> Bundle:
    nested: list[str] = []

    def is_wanted(name: str) -> bool:
        if has_bundle_name(name):
            nested.append(name)
        folder, _, base = name.rpartition("/")
        if only_metadata and _is_of_other_partition(folder):
            return False
        return file_name(base) is not None or is_small_file(base) or base.endswith(MANIFEST)

    try:
        mount, skipped = stack.enter_context(mounted_archive(path, is_wanted))
    except DamagedArchive as error:
        raise SourceError(f"cannot read {path}: {error.message}", error.hint) from None
    skipped += (Skipped(name, "it is an archive in an archive") for name in nested)
    for skip in skipped:
        on_skipped(skip.error(path))
    return Bundle(mount, "metadata log" if only_metadata else "log")


def _is_of_other_partition(folder: str) -> bool:
    name = folder.rpartition("/")[2]
    return name != METADATA_PARTITION and PARTITION_NAME.fullmatch(name) is not None
