"""Kafka's own image and tree of a log, by the classes of its metadata shell in one JVM."""

from pathlib import Path
from typing import NamedTuple

from tests.helpers.kafka.jvm.driver import Driver

DRIVER = Path(__file__).with_name("ImageDriver.java")


class Shown(NamedTuple):
    """The tree that Kafka's shell would show."""

    leaves: dict[str, str]
    """Texts by path."""
    directories: list[str]
    faults: list[str]
    """Its log lines about records and batches that it skipped."""


class KafkaImages(Driver[str]):
    """Loads logs; a context manager."""

    def __init__(self, jars: Path) -> None:
        """Start the JVM; errors are those of `Driver`."""
        super().__init__(jars, DRIVER, options=("-Xmx256m", "-Dfile.encoding=UTF-8"))

    def __call__(self, log: bytes) -> Shown:
        """Return the tree of a log; errors are those of `ask`."""
        shown = Shown({}, [], [])
        for line in self.ask(len(log).to_bytes(4) + log).split("\0")[:-1]:
            path, tab, text = line.partition("\t")
            if line.startswith("!"):
                shown.faults.append(line[1:])
            elif tab:
                shown.leaves[path] = text.removesuffix("\n")
            else:
                shown.directories.append(path)
        return shown

    def answer(self) -> str:
        """Read the text of a tree."""
        return self.read(int.from_bytes(self.read(4))).decode()
