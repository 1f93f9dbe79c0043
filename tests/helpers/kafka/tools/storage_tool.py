"""Kafka's own storage tool in one JVM."""

from pathlib import Path

from tests.helpers.kafka.jvm.resident_tool import ResidentTool


class KafkaStorage(ResidentTool):
    """Kafka's `StorageTool`; a context manager. Paths in its arguments are absolute."""

    def __init__(self, jars: Path) -> None:
        """Start the JVM; see `ResidentTool`."""
        super().__init__(jars, "kafka.tools.StorageTool")
