"""The Kafka of this host: configurations of running servers, else those in the usual places."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

from kraftops.errors import UsageError

_PROC = "/proc"
_MAIN_CLASSES = (
    "kafka.Kafka",
    "io.confluent.support.metrics.SupportedKafka",
    "io.confluent.support.metrics.SupportedServerStartable",
)
"""The main classes of `kafka-server-start` of Apache Kafka and of Confluent Platform."""
_USUAL_PLACES = (
    "/etc/kafka/server.properties",
    "/etc/kafka/broker.properties",
    "/etc/kafka/controller.properties",
    "/etc/kafka/kraft/server.properties",
    "/etc/kafka/kraft/broker.properties",
    "/etc/kafka/kraft/controller.properties",
    "/opt/kafka/config/server.properties",
    "/opt/kafka/config/broker.properties",
    "/opt/kafka/config/controller.properties",
    "/opt/kafka/config/kraft/server.properties",
    "/opt/bitnami/kafka/config/server.properties",
    "/usr/local/etc/kafka/server.properties",
    "/tmp/strimzi.properties",  # noqa: S108 - it is read, and the path is Strimzi's
)
"""Of packages, tarballs and container images; a Strimzi pod makes its own at each start."""


@dataclass(frozen=True, slots=True)
class LocalKafka:
    """A configuration file with overrides, `KEY=VALUE` each, and the process that runs with it."""

    path: str
    overrides: tuple[str, ...] = ()
    pid: int | None = None

    def __str__(self) -> str:
        if self.pid is None:
            return self.path
        return f"{self.path}, with which process {self.pid} runs"


def kafka_of_this_host(root: str = "/") -> list[LocalKafka]:
    """Return the running servers; without any, the configurations in the usual places.

    *root* is another top of the file system, for tests.

    Raises:
        UsageError: there is none.
    """
    running = sorted(_running(os.path.join(root, _PROC.lstrip("/"))), key=lambda kafka: kafka.path)
    if running:
        return running
    paths = (os.path.join(root, place.lstrip("/")) for place in _USUAL_PLACES)
    kafkas = [LocalKafka(path) for path in paths if os.path.isfile(path)]
    if not kafkas:
        raise UsageError(
            "no Kafka runs here, and no server.properties is in the usual places",
            hint="name log directories, or a running cluster",
        )
    return kafkas


def _running(proc: str) -> Iterator[LocalKafka]:
    with suppress(OSError):
        for name in os.listdir(proc):
            if not name.isdecimal():
                continue
            with suppress(OSError):  # it has ended, or is another user's
                words = _command_line(os.path.join(proc, name, "cmdline"))
                if kafka := _server(words, int(name), os.path.join(proc, name, "cwd")):
                    yield kafka


def _command_line(path: str) -> list[str]:
    with open(path, "rb") as file:
        return [os.fsdecode(word) for word in file.read().split(b"\0")]


def _server(words: list[str], pid: int, working_directory: str) -> LocalKafka | None:
    """Return the server that a command line runs: `kafka.Kafka FILE [--override KEY=VALUE]*`."""
    main = next((index for index, word in enumerate(words) if word in _MAIN_CLASSES), None)
    if main is None or len(words) <= main + 1 or not words[main + 1]:
        return None
    path, *rest = words[main + 1 :]
    if not os.path.isabs(path):
        path = os.path.join(os.readlink(working_directory), path)
    overrides = [value for option, value in pairwise(rest) if option == "--override"]
    overrides += [word.partition("=")[2] for word in rest if word.startswith("--override=")]
    return LocalKafka(path, tuple(overrides), pid)
