"""Kafka's own loader of partitions, in one JVM."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kraftops.server.loader.contract import LoadRequest
from tests.helpers.kafka.jvm.driver import Driver

DRIVER = Path(__file__).with_name("LoadLogs.java")
HEAP = "-Xmx512m"


class KafkaLoader(Driver[dict[str, Any]]):
    """Loads partitions, and changes their directories; a context manager."""

    def __init__(self, jars: Path) -> None:
        """Start the JVM; errors are those of `Driver`."""
        super().__init__(jars, DRIVER, options=(HEAP,))

    def ask(self, question: bytes) -> dict[str, Any]:
        """Return the answer to a line."""
        return super().ask(question + b"\n")

    def load(self, path: Path, request: LoadRequest) -> dict[str, Any]:
        """Load a partition; errors are those of `ask`."""
        settings: Mapping[str, object] = {
            "index.interval.bytes": request.index_interval_bytes,
            "segment.index.bytes": request.segment_index_bytes,
            "remote.storage.enable": str(request.is_tiered).lower(),
        }
        fields = [
            str(path),
            str(request.log_start_checkpoint),
            str(request.recovery_point),
            "clean" if request.was_clean else "unclean",
            *(f"{key}={value}" for key, value in settings.items()),
        ]
        return self.ask("\t".join(fields).encode())

    def answer(self) -> dict[str, Any]:
        """Read an answer."""
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise EOFError(f"the JVM ended: {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer
