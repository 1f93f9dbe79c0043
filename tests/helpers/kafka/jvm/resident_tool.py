"""A tool of Kafka's in a JVM that stays running: a run costs milliseconds, not a second."""

import os
from pathlib import Path
from typing import NamedTuple

from tests.helpers.kafka.jvm.driver import Driver

DRIVER = Path(__file__).with_name("ToolDriver.java")
_OPTIONS = (
    "-Xmx512m",
    "-Dfile.encoding=UTF-8",
    "-Dstdout.encoding=UTF-8",
    "-Dstderr.encoding=UTF-8",
)


class ToolResult(NamedTuple):
    """Exit code and output of a run of Kafka's tool; the code is 1 after an exception."""

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


class ResidentTool(Driver[ToolResult]):
    """A tool that runs when it is called; a context manager.

    All runs share the working directory of this process, and what the tool keeps in static fields.
    """

    def __init__(self, jars: Path, main_class: str) -> None:
        """Start the JVM; errors are those of `Driver`."""
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        environment.pop("COLUMNS", None)  # which sets how wide a usage is
        super().__init__(jars, DRIVER, main_class, options=_OPTIONS, environment=environment)

    def __call__(self, *args: str) -> ToolResult:
        """Run the tool; errors are those of `ask`."""
        return self.ask(("\t".join(args) if args else "\0").encode() + b"\n")

    def answer(self) -> ToolResult:
        """Read the result of a run."""
        code = int.from_bytes(self.read(4), signed=True)
        out = self.read(int.from_bytes(self.read(4)))
        err = self.read(int.from_bytes(self.read(4)))
        return ToolResult(code, out, err.decode("utf-8", "replace"))
