"""Kafka's own configuration classes in one JVM, and a comparison with ours."""

import os
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path

from kraftops.errors import ConfigError
from kraftops.storage.config.keys import server_keys
from kraftops.storage.config.listeners import Listener
from kraftops.storage.config.server_config import ServerConfig, load_config
from tests.helpers.kafka.jvm.driver import Driver

DRIVER = Path(__file__).with_name("ConfigDriver.java")
Field = list[str] | None


class KafkaSettings(Driver[list[Field]]):
    """Kafka's configuration classes; a context manager."""

    def __init__(self, jars: Path, environment: Mapping[str, str]) -> None:
        """Start the JVM with these variables beside those of the tests; errors as of `Driver`."""
        super().__init__(
            jars, DRIVER, environment={**os.environ, "LC_ALL": "C.UTF-8", **environment}
        )

    def config(self, data: bytes) -> list[Field]:
        """Return the values that Kafka reads from a configuration; one field if it refuses the file."""
        return self._ask(b"c", data)

    def properties(self, data: bytes) -> list[str]:
        """Return `ok`, keys and values of a properties file, or the error and its message."""
        field = self._ask(b"p", data)[0]
        assert field
        return field

    def stored(self, values: Iterable[tuple[str, str]]) -> bytes:
        """Return the properties file that Java writes."""
        texts = "".join(f"{key}\0{value}\0" for key, value in values)
        field = self._ask(b"s", texts.encode())[0]
        assert field
        return field[0].encode("iso-8859-1")

    def _ask(self, kind: bytes, data: bytes) -> list[Field]:
        return self.ask(kind + len(data).to_bytes(4) + data)

    def answer(self) -> list[Field]:
        """Read the fields of an answer."""
        return [self._field() for _ in range(self._number())]

    def _field(self) -> Field:
        count = self._number()
        return None if count < 0 else [self._text() for _ in range(count)]

    def _text(self) -> str:
        return self.read(2 * self._number()).decode("utf-16-be", "surrogatepass")

    def _number(self) -> int:
        number: int = struct.unpack(">i", self.read(4))[0]
        return number


def our_answer(path: Path, environment: Mapping[str, str]) -> tuple[str, list[Field]]:
    """Return the result of `load_config` in the form of Kafka's answer, and the error's line."""
    try:
        config = load_config(str(path), (), environment)
    except ConfigError as error:
        place, _, message = error.message.removeprefix(str(path)).partition(": ")
        if message.startswith("line ") or place:
            place, _, message = message.partition(": ")
        return place, [["ConfigError", message]]
    return "", _fields(config)


def _fields(config: ServerConfig) -> list[Field]:
    return [
        ["ok"],
        list(config.log_dirs),
        [config.metadata_log_dir],
        [f"{voter}@{host}:{port}" for voter, (host, port) in config.voters.items()],
        _endpoints(config.listeners),
        _endpoints(config.advertised_controllers),
        *(_texts(config.values[key]) for key in sorted(server_keys())),
    ]


def _endpoints(listeners: Iterable[Listener]) -> list[str]:
    return [
        f"{listener.name} {'null' if listener.host is None else listener.host} "
        f"{listener.port} {listener.protocol}"
        for listener in listeners
    ]


def _texts(value: object) -> Field:
    if value is None:
        return None
    if isinstance(value, tuple):
        return list(value)
    return [str(value).lower() if isinstance(value, bool) else str(value)]


def difference(kafka: list[Field], ours: list[Field]) -> str | None:
    """Return the first difference between our answer and Kafka's, or None."""
    if len(kafka) == 1 or len(ours) == 1:
        wanted, got = kafka[0], ours[0]
        assert wanted
        assert got
        return None if wanted[1:] == got[1:] else f"Kafka: {wanted}\n ours: {got}"
    names = ["", "log dirs", "metadata log dir", "voters", "listeners", "controllers"]
    names += sorted(server_keys())
    for name, wanted, got in zip(names, kafka, ours, strict=True):
        if name == "voters" and wanted is None:  # Kafka would resolve 0.0.0.0
            continue
        if wanted != got and not _is_one_number(name, wanted, got):
            return f"{name}\nKafka: {wanted}\n ours: {got}"
    return None


def _is_one_number(name: str, kafka: Field, ours: Field) -> bool:
    """Tell whether two texts are one double."""
    if name not in server_keys() or server_keys()[name].type != "double":
        return False
    assert kafka
    assert ours
    return repr(float(kafka[0])) == repr(float(ours[0]))
