"""A real Kafka's tools and servers, from the jars of its releases.

`KRAFTOPS_KAFKA_RELEASES` has the earlier releases whose quorums are recovered, separated by commas.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.kafka.cases.configs import ENVIRONMENT
from tests.helpers.kafka.jvm.jars import MissingJarsError, resolved_jars
from tests.helpers.kafka.jvm.jvm import has_compiler, java_release
from tests.helpers.kafka.tools.config_tool import KafkaSettings
from tests.helpers.kafka.tools.dump_tool import KafkaDump
from tests.helpers.kafka.tools.storage_tool import KafkaStorage


def _jars(version: str) -> Path:
    try:
        jars = resolved_jars(version)
    except MissingJarsError as missing:
        pytest.skip(f"no jars of Kafka: {missing}")
    if java_release() < 17:
        pytest.skip("java is older than 17, which Kafka 4 needs")
    return jars


def _jars_for_driver(version: str) -> Path:
    jars = _jars(version)
    if not has_compiler():
        pytest.skip("java is no JDK, which runs source code too")
    return jars


@pytest.fixture(scope="session")
def jars() -> Path:
    """The directory of the jars of Kafka 4.3.1."""
    return _jars("4.3.1")


@pytest.fixture(scope="session")
def older_jars() -> Path:
    """The directory of the jars of Kafka 3.9.1."""
    return _jars("3.9.1")


@pytest.fixture(scope="session")
def middle_jars() -> Path:
    """The directory of the jars of Kafka 4.1.1."""
    return _jars("4.1.1")


@pytest.fixture(
    scope="session", params=os.environ.get("KRAFTOPS_KAFKA_RELEASES", "3.9.1").split(",")
)
def earlier_jars(request: pytest.FixtureRequest) -> tuple[str, Path]:
    """An earlier release of Kafka that has dynamic quorums, and the directory of its jars."""
    return request.param, _jars(request.param)


@pytest.fixture(scope="session")
def kafka_dump() -> Iterator[KafkaDump]:
    """Kafka's `DumpLogSegments`, in a JVM that all tests share."""
    with KafkaDump(_jars_for_driver("4.3.1")) as tool:
        yield tool


@pytest.fixture(scope="session")
def kafka_storage() -> Iterator[KafkaStorage]:
    """Kafka's `StorageTool`, in a JVM that all tests share."""
    with KafkaStorage(_jars_for_driver("4.3.1")) as tool:
        yield tool


@pytest.fixture(scope="session")
def kafka_settings() -> Iterator[KafkaSettings]:
    """Kafka's configuration classes, in a JVM that all tests share."""
    with KafkaSettings(_jars_for_driver("4.3.1"), ENVIRONMENT) as tool:
        yield tool
