"""Archives of directories, such as those for support: they are read as the directories in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from kraftops.dump.small_files import is_small_file
from kraftops.dump.sources.partition_directory import MANIFEST, Log, partition_log
from kraftops.errors import KraftopsError, SourceError, UsageError
from kraftops.log.bundles.unpacking import Skipped, unpack
from kraftops.log.files import PARTITION_NAME, file_name, has_bundle_name
from kraftops.log.reader import DamagedArchive
from kraftops.log.streams import PackedName

_TOPIC_ID = "partition.metadata"

OnSkipped = Callable[[SourceError], None]
"""Takes the error of a member that is not read, while the others are.

It is a `DamagedArchive` where the archive is damaged.
"""


class Bundle(NamedTuple):
    """Archive of directories, with the temporary directory that it lies unpacked in."""

    path: str
    folder: str

    def shown(self, text: str) -> str:
        """Return a text with paths as `ARCHIVE!/PATH`."""
        return text.replace(self.folder, f"{self.path}!")

    def logs(self, *, from_start: bool) -> list[Log]:
        """Return its logs, those of each directory by topic and partition.

        Raises:
            UsageError: it holds no log.
            SourceError: a file in it cannot be read.
        """
        logs = []
        for place, folder, names in self._folders():
            try:
                log = partition_log(folder, names, from_start=from_start)
            except KraftopsError as error:
                raise type(error)(self.shown(error.message), error.hint) from None
            if log:
                paths: list[str] = [
                    PackedName.of(self.path, os.path.relpath(path, self.folder), path)
                    for path in log.paths
                ]
                logs.append((place, log._replace(paths=paths)))
        if not logs:
            raise self._no_log()
        return [log for _, log in sorted(logs, key=lambda placed: placed[0])]

    def partition_folders(self) -> list[str]:
        """Return the unpacked directories of partitions, also of those without segments.

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
        for folder, inner, names in os.walk(self.folder):
            parent, name = os.path.split(folder)
            match = PARTITION_NAME.fullmatch(name)
            if match and match[3]:
                inner.clear()
                continue
            place = (parent, match[1], int(match[2])) if match else (parent, name, 0)
            yield place, folder, sorted(names)

    def _no_log(self) -> UsageError:
        return UsageError(
            f"{self.path} holds no log", "name an archive of a log directory or of a partition"
        )


@contextmanager
def unpacked(paths: Iterable[str], on_skipped: OnSkipped) -> Iterator[dict[str, Bundle]]:
    """Yield archives by their paths, unpacked; the temporary directories are removed at the end.

    Raises:
        SourceError: nothing in an archive can be read, it is a bomb, or there is no room for it.
    """
    with ExitStack() as stack:
        yield {path: _unpacked(path, stack, on_skipped) for path in paths}


def _unpacked(path: str, stack: ExitStack, on_skipped: OnSkipped) -> Bundle:
    from tempfile import TemporaryDirectory

    nested: list[str] = []

    def is_wanted(name: str) -> bool:
        if has_bundle_name(name):
            nested.append(name)
        base = os.path.basename(name)
        return file_name(base) is not None or is_small_file(base) or base.endswith(MANIFEST)

    try:
        scratch = stack.enter_context(TemporaryDirectory(prefix="kraftops-"))
        bundle = Bundle(path, os.path.join(scratch, "unpacked"))  # no name of a partition
        os.mkdir(bundle.folder)
    except OSError as error:
        raise SourceError(f"cannot unpack {path}: {error.strerror}") from None
    try:
        skipped = unpack(path, bundle.folder, is_wanted)
    except DamagedArchive as error:
        raise SourceError(
            f"cannot read {path}: {bundle.shown(error.message)}", error.hint
        ) from None
    skipped += (Skipped(name, "it is an archive in an archive") for name in nested)
    for skip in skipped:
        place = f"{path}!/{skip.name}" if skip.name else f"the rest of {path}"
        kind = DamagedArchive if skip.is_damaged else SourceError
        reason = bundle.shown(skip.reason)
        name = place if skip.name else path
        on_skipped(kind(f"cannot read {place}: {reason}", path=name, reason=reason))
    return bundle
