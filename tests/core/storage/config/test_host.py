"""The Kafka of a host, by a tree like /proc and by the usual places."""

from pathlib import Path

import pytest

from kraftops.errors import UsageError
from kraftops.storage.config.host import LocalKafka, kafka_of_this_host


def process(root: Path, pid: int, *words: str, cwd: str = "/") -> None:
    folder = root / "proc" / str(pid)
    folder.mkdir(parents=True)
    (folder / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in words))
    (folder / "cwd").symlink_to(cwd)


def test_running_server_tells_its_configuration_and_overrides(tmp_path: Path) -> None:
    process(tmp_path, 1, "/sbin/init")
    java = ("java", "-Xmx1G", "-cp", "/opt/kafka/libs/*", "kafka.Kafka")
    overrides = ("--override", "node.id=7", "--override", "log.dirs=/a")
    process(tmp_path, 42, *java, "config/server.properties", *overrides, cwd="/opt/kafka")

    (kafka,) = kafka_of_this_host(str(tmp_path))

    assert kafka == LocalKafka(
        "/opt/kafka/config/server.properties", ("node.id=7", "log.dirs=/a"), 42
    )
    assert str(kafka).endswith("with which process 42 runs")


def test_usual_places_are_for_a_server_that_is_stopped(tmp_path: Path) -> None:
    place = tmp_path / "etc/kafka/server.properties"
    place.parent.mkdir(parents=True)
    place.touch()

    assert kafka_of_this_host(str(tmp_path)) == [LocalKafka(str(place))]


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    process(tmp_path, 9, "java", "kafka.Kafka")  # without a file it does not start

    with pytest.raises(UsageError, match="no Kafka runs here"):
        kafka_of_this_host(str(tmp_path))
