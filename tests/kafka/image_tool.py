"""Kafka's image and tree of a log, by the classes of its metadata shell, in a JVM kept running."""

import subprocess
import threading
from pathlib import Path
from typing import NamedTuple, Self

from tests.kafka.jvm import OPTIONS, classpath

DRIVER = Path(__file__).with_name("ImageDriver.java")
SILENCE = 60  # seconds after which the JVM is given up


class Shown(NamedTuple):
    """What Kafka's shell would show of a log."""

    leaves: dict[str, str]
    """Texts by path."""
    directories: list[str]
    faults: list[str]
    """What it logged of records and batches that it left out."""


class KafkaImages:
    """Loads logs; a context manager."""

    def __init__(self, jars: Path) -> None:
        """Start the JVM.

        Raises:
            EOFError: it does not run the driver.
        """
        utf8 = ("-Dfile.encoding=UTF-8", "-Dlog4j2.level=OFF", "-Dlog4j2.StatusLogger.level=OFF")
        self._process = subprocess.Popen(
            ["java", "-Xmx256m", *OPTIONS, *utf8, "-cp", classpath(jars), str(DRIVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        try:
            self._answer()
        except EOFError:
            self.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def __call__(self, log: bytes) -> Shown:
        """Return the tree of a log.

        Raises:
            EOFError: the JVM died, or was silent for so long that it was killed.
        """
        assert self._process.stdin
        self._process.stdin.write(len(log).to_bytes(4) + log)
        self._process.stdin.flush()
        shown = Shown({}, [], [])
        for line in self._answer().split("\0")[:-1]:
            path, tab, text = line.partition("\t")
            if line.startswith("!"):
                shown.faults.append(line[1:])
            elif tab:
                shown.leaves[path] = text.removesuffix("\n")
            else:
                shown.directories.append(path)
        return shown

    def _answer(self) -> str:
        guard = threading.Timer(SILENCE, self._process.kill)
        guard.start()
        try:
            return self._read(int.from_bytes(self._read(4))).decode()
        finally:
            guard.cancel()

    def _read(self, size: int) -> bytes:
        assert self._process.stdout
        data = self._process.stdout.read(size)
        if len(data) < size:
            raise EOFError(f"the JVM of Kafka's image ended: {self._process.wait()}")
        return data
