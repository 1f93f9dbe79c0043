"""Commands that show what a report tells, to be pasted into a shell."""

import os.path
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from kraftops.display.quoting import join
from kraftops.display.times import iso_time
from kraftops.records.internal_topics import INTERNAL_TOPICS

_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
"""Names of topics that need no escapes in a path of the metadata shell."""

_PLAIN = re.compile(r"\w")
"""How names begin that no command takes for options, or for files with arguments."""


@dataclass(frozen=True, slots=True)
class MetadataCommands:
    """The begins of commands about a metadata log, as words.

    *dump* prints its records, *shell* runs a command of the metadata shell, *changes_of* lists its
    changes; without words there is no such command.
    """

    dump: tuple[str, ...] = ()
    shell: tuple[str, ...] = ()
    changes_of: tuple[str, ...] = ()

    def record(self, offset: int | None) -> str | None:
        if offset is None or not self.dump:
            return None
        return f"{_joined(self.dump)} --offset {offset}"

    def changes(self, begin: int, end: int | None) -> str | None:
        """Return the command for the changes from a time to another, both of them too."""
        if not self.changes_of:
            return None
        until = () if end is None else ("--until", iso_time(end + 1) or "")
        return join([*self.changes_of, "--since", iso_time(begin) or "", *until])

    def bucket(self) -> str | None:
        """Return the command for the records from `{from}` to `{to}`."""
        return f"{join(self.dump)} --since {{from}} --until {{to}}" if self.dump else None

    def history(self, topic: str, partition: int | None = None) -> str | None:
        if not self.shell or not _TOPIC.fullmatch(topic):
            return None
        below = "" if partition is None else f"/{partition}"
        return join([*self.shell, "history-of", f"/image/topics/byName/{topic}{below}"])


@cache
def _joined(words: tuple[str, ...]) -> str:
    return join(words)


def folder_of(paths: Iterable[str]) -> str | None:
    """Return the nearest folder that all paths are in; None if none of them is on a disk."""
    folders = [os.path.dirname(os.path.abspath(path)) for path in paths if "://" not in path]
    return os.path.commonpath(folders) if folders else None


def of_metadata_files(
    paths: Sequence[str], directory: str | None, folder: str | None = None
) -> MetadataCommands:
    """Return the commands about the files of a metadata log, or about its directory.

    They name files from *folder* on, or by absolute paths: a page is read elsewhere than where it
    was made.
    """
    paths = [_name(path, folder) for path in paths]
    if directory is not None:
        directory = _name(directory, folder)
        dump = ("kraftops", "dump-log", "--from-start", directory)
        of_directory = ("kraftops", "metadata-shell", "-s", directory)
        return MetadataCommands(dump, of_directory, ("kraftops", "changes", directory))
    decoder = ("kraftops", "dump-log", "--cluster-metadata-decoder")
    shell: tuple[str, ...] = ()
    if len(paths) == 1:
        shell = ("kraftops", "metadata-shell", "-s", paths[0])
    return MetadataCommands((*decoder, *paths), shell, ("kraftops", "changes", *paths))


def of_archive(path: str, folder: str | None = None) -> MetadataCommands:
    """Return the commands about the metadata log in an archive: others read no archives."""
    return MetadataCommands(changes_of=("kraftops", "changes", _name(path, folder)))


def of_controllers(addresses: str, cluster_id: str | None) -> MetadataCommands:
    """Return the commands about the metadata log of running controllers, of one cluster only."""
    expected = () if cluster_id is None else ("--expect-cluster-id", cluster_id)
    options = "-C", addresses, *expected
    return MetadataCommands(
        ("kraftops", "dump-log", *options),
        ("kraftops", "metadata-shell", *options),
        ("kraftops", "changes", *options),
    )


def of_log(paths: Sequence[str], folder: str | None, *options: str) -> str | None:
    """Return the command that prints records of other logs; None without names to read them by."""
    if not paths:
        return None
    return join(["kraftops", "dump-log", *(_name(path, folder) for path in paths), *options])


def bucket_of_log(paths: Sequence[str], folder: str | None, decoder: str) -> str | None:
    """Return the command for records of another log from `{from}` to `{to}`, as `of_log`."""
    options = (topic.option for topic in INTERNAL_TOPICS if topic.decoder == decoder)
    command = of_log(paths, folder, next(options, "--print-data-log"))
    return None if command is None else f"{command} --since {{from}} --until {{to}}"


def _name(path: str, folder: str | None) -> str:
    if "://" in path:
        return path
    if folder is None:
        return os.path.abspath(path)
    name = os.path.relpath(path, folder)
    return name if _PLAIN.match(name) else os.path.join(os.curdir, name)
