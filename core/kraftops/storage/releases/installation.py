"""Installation of Kafka on disk: its release, and the classes in its jars."""

import os
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from kraftops.errors import SourceError, UsageError
from kraftops.storage.releases.table import Release, release_named, releases

# The jar of the server, named for its Scala; kafka-run-class.sh looks for the same one.
_SERVER_JAR = re.compile(r"kafka_\d+\.\d+-(\d+\.\d+)\.\S+\.jar")


@dataclass(frozen=True)
class Installation:
    """Jars in the directory `libs` of an installation."""

    home: str
    release: Release
    jars: tuple[str, ...]

    @cached_property
    def _classes(self) -> frozenset[str]:
        return classes_in(self.jars)

    def has_class(self, name: str, class_path: str = "") -> bool:
        """Tell whether a class is in the jars, or in those of a class path of its own.

        Raises:
            SourceError: a jar cannot be read.
        """
        return name in self._classes or name in classes_in(_jars_of(class_path))


def read_installation(home: str) -> Installation:
    """Look for the release and the jars of an installation.

    Raises:
        SourceError: its directory `libs` cannot be read.
        UsageError: it has no server of a release that is known.
    """
    libs = os.path.join(home, "libs")
    try:
        names = sorted(os.listdir(libs))
    except OSError as error:
        raise SourceError.of(libs, error) from error
    numbers = [match[1] for name in names if (match := _SERVER_JAR.fullmatch(name))]
    release = release_named(numbers[0]) if numbers else None
    if release is None:
        supported = f"{releases()[0].name} to {releases()[-1].name}"
        hint = f"expected a jar such as kafka_2.13-{releases()[-1].name}.0.jar of Kafka {supported}"
        raise UsageError(f"{libs} has no server of Kafka that is known", hint)
    jars = tuple(os.path.join(libs, name) for name in names if name.endswith(".jar"))
    return Installation(home, release, jars)


def classes_in(jars: Iterable[str]) -> frozenset[str]:
    """Return the names of the classes in jars, by their directories.

    Raises:
        SourceError: a jar cannot be read.
    """
    names: set[str] = set()
    for path in jars:
        try:
            with zipfile.ZipFile(path) as jar:
                entries = jar.namelist()
        except (OSError, zipfile.BadZipFile) as error:
            raise SourceError(f"cannot read {path}: {error}") from error
        names.update(
            entry.removesuffix(".class").replace("/", ".")
            for entry in entries
            if entry.endswith(".class")
        )
    return frozenset(names)


def _jars_of(class_path: str) -> list[str]:
    """Return the jars that a class path names; `DIR/*` stands for all in a directory."""
    jars: list[str] = []
    for part in filter(None, class_path.split(":")):
        directory, _, name = part.rpartition("/")
        if name == "*" and os.path.isdir(directory):
            jars += (os.path.join(directory, jar) for jar in sorted(os.listdir(directory)))
        elif os.path.isfile(part):
            jars.append(part)
    return [jar for jar in jars if jar.lower().endswith(".jar")]
