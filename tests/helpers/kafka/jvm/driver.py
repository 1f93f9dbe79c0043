"""A JVM that stays running and answers questions through pipes."""

import subprocess
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Generic, Self, TypeVar

from tests.helpers.kafka.jvm.jvm import OPTIONS, classpath

SILENCE = 60  # seconds after which the JVM is given up
_QUIET = ("-Dlog4j2.level=OFF", "-Dlog4j2.StatusLogger.level=OFF")  # it logs to standard output

A = TypeVar("A")


class Driver(ABC, Generic[A]):
    """A running JVM that answers questions; a context manager."""

    def __init__(
        self,
        jars: Path,
        source: Path,
        *args: str,
        options: tuple[str, ...] = ("-Xmx256m",),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start the JVM on a source file beside this one; its first answer says that it runs.

        Raises:
            EOFError: it does not run the driver.
        """
        command = ["java", *options, *OPTIONS, *_QUIET, "-cp", classpath(jars), str(source), *args]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        try:
            self.ask(b"")
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

    def ask(self, question: bytes) -> A:
        """Return the answer to a question.

        Raises:
            EOFError: the JVM died, or was silent for so long that it was killed.
        """
        assert self._process.stdin
        self._process.stdin.write(question)
        self._process.stdin.flush()
        guard = threading.Timer(SILENCE, self._process.kill)
        guard.start()
        try:
            return self.answer()
        finally:
            guard.cancel()

    @abstractmethod
    def answer(self) -> A:
        """Read an answer."""

    def read(self, size: int) -> bytes:
        """Return the next bytes of an answer."""
        assert self._process.stdout
        data = self._process.stdout.read(size)
        if len(data) < size:
            raise EOFError(f"{type(self).__name__}: the JVM ended: {self._process.wait()}")
        return data
