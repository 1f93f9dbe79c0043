"""A real Kafka's tools, from the jars of its release."""

import re
import subprocess
from collections.abc import Iterator

import pytest

from tests.kafka.dump_tool import KafkaDump
from tests.kafka.jars import MissingJarsError, resolved_jars


@pytest.fixture(scope="session")
def kafka_dump() -> Iterator[KafkaDump]:
    """Kafka's `DumpLogSegments`, in a JVM that all tests share."""
    try:
        jars = resolved_jars("4.3.1")
    except MissingJarsError as missing:
        pytest.skip(f"no jars of Kafka: {missing}")
    modules = subprocess.run(
        ["java", "--list-modules"], capture_output=True, text=True, check=False
    ).stdout
    version = re.search(r"^jdk\.compiler@(\d+)", modules, re.MULTILINE)
    if version is None or int(version[1]) < 17:
        pytest.skip("java is no JDK of 17 or later, which runs source code too")
    with KafkaDump(jars) as tool:
        yield tool
