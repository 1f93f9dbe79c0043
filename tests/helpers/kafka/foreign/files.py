"""The files of a broker, and copies under names that Kafka's tool knows."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from kraftops.log.files import FileKind, file_name, partition_of
from kraftops.records.internal_topics import INTERNAL_TOPICS
from tests.helpers.kafka.nodes.nodes import until

_FLAGS = {topic.name: topic.option for topic in INTERNAL_TOPICS}
_INDEX_MODES: tuple[tuple[str, ...], ...] = ((), ("--index-sanity-check",))


class Example(NamedTuple):
    """A file of a broker, its copy for Kafka's tool, and the options to dump it with."""

    path: Path
    copy: Path
    modes: tuple[tuple[str, ...], ...]

    @property
    def kind(self) -> str:
        """Its suffix, without that of its deletion."""
        return self.copy.suffix

    @property
    def content(self) -> tuple[str, bytes, tuple[tuple[str, ...], ...]]:
        """All that its dump depends on but for its name."""
        beside = self.copy.parent.iterdir() if "index" in self.kind else (self.copy,)
        data = b"".join(path.read_bytes() for path in sorted(beside))
        return self.copy.name, data, self.modes


def copy_directory(source: Path, target: Path) -> None:
    """Copy the directory of a running broker, in which no file is made or deleted meanwhile.

    Logs are last: they grow before their indexes do.
    """

    def is_copied() -> bool:
        shutil.rmtree(target, ignore_errors=True)
        names = _names(source)
        for path in sorted(names, key=lambda path: (path.suffix == ".log", path)):
            copied = target / path.relative_to(source)
            with suppress(FileNotFoundError):
                if path.is_dir():
                    copied.mkdir(parents=True, exist_ok=True)
                else:
                    copied.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, copied)
        return _names(source) == names

    assert until(is_copied)


def _names(folder: Path) -> set[Path]:
    return {*folder.rglob("*")}


def examples(folder: Path, copies: Path) -> Iterator[Example]:
    """Yield the files in a directory that a dump reads, each copied for Kafka's tool.

    That tool cuts and creates indexes, and knows no names of deleted and tiered segments: each of
    those has a directory of its own, with the files that belong to it.
    """
    for number, path in enumerate(sorted(folder.rglob("*"))):
        name = file_name(str(path))
        if name is None or not path.is_file():
            continue
        place = copies / str(number)
        place.mkdir(parents=True)
        copy = place / _plain(path)
        for kind in FileKind:
            sibling = Path(name.sibling(kind))
            if sibling.exists():
                shutil.copyfile(sibling, place / _plain(sibling))
        shutil.copyfile(path, copy)
        yield Example(path, copy, _modes(path, name.kind))


def _plain(path: Path) -> str:
    name = path.name.removesuffix(".deleted")
    stem, suffix = name.split(".", 1)
    return name if suffix == "checkpoint" else f"{stem[:20]}.{suffix}"


def _modes(path: Path, kind: FileKind) -> tuple[tuple[str, ...], ...]:
    if kind in (FileKind.INDEX, FileKind.TIME_INDEX):
        return _INDEX_MODES
    if kind is FileKind.CHECKPOINT:
        return (("--cluster-metadata-decoder",),)
    if kind is not FileKind.LOG:
        return ((),)
    partition = partition_of(str(path))
    return ((_FLAGS.get(partition[0] if partition else "", "--print-data-log"),),)
