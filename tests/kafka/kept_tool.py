"""A tool of Kafka's, kept running in one JVM: a run costs milliseconds instead of a second."""

import os
import subprocess
import threading
from pathlib import Path
from typing import NamedTuple, Self

from tests.kafka.jvm import OPTIONS, classpath

DRIVER = Path(__file__).with_name("ToolDriver.java")
SILENCE = 60  # seconds after which the JVM is given up
_OPTIONS = (
    "-Xmx512m",
    *OPTIONS,
    "-Dfile.encoding=UTF-8",
    "-Dstdout.encoding=UTF-8",
    "-Dstderr.encoding=UTF-8",
    "-Dlog4j2.level=OFF",  # which goes to standard output otherwise
    "-Dlog4j2.StatusLogger.level=OFF",
)


class Ran(NamedTuple):
    """What a run of Kafka's tool left behind; its code is 1 where an exception ended it."""

    code: int
    out: bytes
    err: str

    @property
    def threw(self) -> bool:
        """Whether it died, or said that it failed."""
        return self.code != 0

    @property
    def text(self) -> str:
        """Standard output as text."""
        return self.out.decode("utf-8", "surrogateescape")


class KeptTool:
    """A tool that runs when it is called; a context manager.

    All runs share the working directory of this process, and what the tool keeps in static fields.
    """

    def __init__(self, jars: Path, main_class: str) -> None:
        """Start the JVM.

        Raises:
            EOFError: it does not run the driver.
        """
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        environment.pop("COLUMNS", None)  # which sets how wide a usage is
        self._process = subprocess.Popen(
            ["java", *_OPTIONS, "-cp", classpath(jars), str(DRIVER), main_class],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
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

    def __call__(self, *args: str) -> Ran:
        """Run the tool.

        Raises:
            EOFError: the JVM died, or was silent for so long that it was killed.
        """
        assert self._process.stdin
        self._process.stdin.write(("\t".join(args) if args else "\0").encode() + b"\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Ran:
        guard = threading.Timer(SILENCE, self._process.kill)
        guard.start()
        try:
            code = int.from_bytes(self._read(4), signed=True)
            out = self._read(int.from_bytes(self._read(4)))
            err = self._read(int.from_bytes(self._read(4)))
        finally:
            guard.cancel()
        return Ran(code, out, err.decode("utf-8", "replace"))

    def _read(self, size: int) -> bytes:
        assert self._process.stdout
        data = self._process.stdout.read(size)
        if len(data) < size:
            raise EOFError(f"the JVM of Kafka's tool ended: {self._process.wait()}")
        return data
