"""Kafka's own storage tool, kept running in one JVM."""

from pathlib import Path

from tests.helpers.kafka.jvm.resident_tool import KeptTool


class KafkaStorage(KeptTool):
    """Kafka's `StorageTool`; a context manager. Paths in its arguments are absolute."""

    def __init__(self, jars: Path) -> None:
        """Start the JVM; see `KeptTool`."""
        super().__init__(jars, "kafka.tools.StorageTool")
