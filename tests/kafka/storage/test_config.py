"""Server configurations and properties files are read as Kafka reads them."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from kraftops.errors import DecodeError
from kraftops.java.properties import properties, properties_bytes
from kraftops.records.secrets.rules import REDACTED
from kraftops.storage.config.keys import server_keys
from tests.helpers.kafka.cases import configs as config_cases
from tests.helpers.kafka.cases.configs import BASE, ENVIRONMENT, SHAPES, Settings
from tests.helpers.kafka.tools.config_tool import Field, KafkaSettings, difference, our_answer

pytestmark = pytest.mark.kafka

SEED = int(os.environ.get("KRAFTOPS_FUZZ_SEED_KAFKA", "431"))
CASES = int(os.environ.get("KRAFTOPS_CONFIG_CASES", "200"))
MOST_FAILURES = 5


class Known(NamedTuple):
    """An intended difference, or one that only a JVM could avoid."""

    reason: str
    applies: Callable[[list[Field], list[Field]], bool]


def _message(answer: list[Field]) -> str:
    return answer[0][1] if len(answer) == 1 and answer[0] else ""


def _is_one_double(kafka: list[Field], ours: list[Field]) -> bool:
    wanted, got = _message(kafka).split(), _message(ours).split()
    if not wanted[:2] == got[:2] == ["Invalid", "value"] or wanted[3:] != got[3:]:
        return False
    try:
        return float(wanted[2]) == float(got[2])
    except ValueError:
        return False


def _is_redacted(kafka: list[Field], ours: list[Field]) -> bool:
    """Tell whether the messages differ only where ours hides what a config provider gave."""
    parts = map(re.escape, _message(ours).split(REDACTED))
    return REDACTED in _message(ours) and bool(
        re.fullmatch(".*".join(parts), _message(kafka), re.DOTALL)
    )


KNOWN = (
    Known(
        "only a JVM knows whether there is such a class",
        lambda kafka, _: "Class no.such.Class could not be found." in _message(kafka),
    ),
    Known(
        "Kafka would write the metadata log to the root directory",
        lambda kafka, ours: kafka[0] == ["ok"] and _message(ours) == "metadata.log.dir is empty",
    ),
    Known("values of config providers may be secrets", _is_redacted),
    Known("JVMs before 19 do not always print the shortest double", _is_one_double),
)


class Compared:
    """The results of both readers, and their unknown differences."""

    def __init__(self, kafka: KafkaSettings, directory: Path) -> None:
        self._kafka = kafka
        self._path = directory / "server.properties"
        self.differences: list[str] = []

    def compare(self, settings: Settings) -> None:
        """Read a configuration with both."""
        data = properties_bytes(settings.items())
        self._path.write_bytes(data)
        wanted = self._kafka.config(data)
        _, got = our_answer(self._path, ENVIRONMENT)
        found = difference(wanted, got)
        if found and not any(known.applies(wanted, got) for known in KNOWN):
            own = {key: value for key, value in settings.items() if BASE.get(key) != value}
            self.differences.append(f"{own}\n{found}")


@pytest.fixture
def compared(kafka_settings: KafkaSettings, tmp_path: Path) -> Compared:
    return Compared(kafka_settings, tmp_path)


def _shown(differences: list[str]) -> str:
    return "\n\n".join(differences[:MOST_FAILURES])


@pytest.mark.parametrize(
    "make",
    [
        config_cases.one_key,
        config_cases.some_keys,
        config_cases.groups,
        config_cases.pairs,
        config_cases.mutated,
        config_cases.listeners,
        config_cases.shared_ports,
        config_cases.many_names,
        config_cases.quorum,
    ],
)
def test_configurations_are_read_or_refused_alike(
    compared: Compared, make: Callable[[Random], Settings]
) -> None:
    random = Random(SEED)

    for _ in range(CASES):
        compared.compare(make(random))

    assert not compared.differences, _shown(compared.differences)


def test_placeholders_are_resolved_alike(compared: Compared, tmp_path: Path) -> None:
    random = Random(SEED)
    secrets = tmp_path / "secrets"
    config_cases.make_secrets(secrets)

    for _ in range(CASES):
        compared.compare(config_cases.placeholders(random, secrets))

    assert not compared.differences, _shown(compared.differences)


def test_every_key_has_kafkas_limits(compared: Compared) -> None:
    """Each key at, below and above its limits."""
    for key in server_keys().values():
        low, dots, high = key.check.partition("..")
        for limit in filter(None, (low, high)) if dots else ():
            for number in (float(limit) - 1, float(limit), float(limit) + 1):
                compared.compare(BASE | {key.name: str(number).removesuffix(".0")})

    assert not compared.differences, _shown(compared.differences)


def test_defaults_are_kafkas(compared: Compared) -> None:
    """All keys are compared; the file gives none."""
    for shape in SHAPES:
        compared.compare(shape)

    assert not compared.differences, _shown(compared.differences)


def test_properties_are_read_as_java_reads_them(kafka_settings: KafkaSettings) -> None:
    random = Random(SEED)

    for _ in range(CASES * 10):
        data = config_cases.properties_file(random)
        assert _java_answer(data)[1:] == kafka_settings.properties(data)[1:], data


def _java_answer(data: bytes) -> list[str]:
    try:
        found = properties(data)
    except DecodeError as error:
        return ["error", error.message.partition(": ")[2]]
    keys = sorted(found, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    return ["ok", *(text for key in keys for text in (key, found[key].value))]


def _texts(random: Random) -> dict[str, str]:
    signs = "ab =:#!\\\t\n\r\f\x01~\x7f\x80éß€😀\u2028"
    return {
        "".join(random.choices(signs, k=random.randint(0, 6))): "".join(
            random.choices(signs, k=random.randint(0, 8))
        )
        for _ in range(random.randint(0, 5))
    }


def test_java_reads_what_we_write(kafka_settings: KafkaSettings) -> None:
    random = Random(SEED)

    for _ in range(CASES):
        values = _texts(random)
        data = properties_bytes(values.items(), ["a comment"])
        assert kafka_settings.properties(data) == _java_answer(data)
        assert {key: found.value for key, found in properties(data).items()} == values


def test_what_java_writes_is_read(kafka_settings: KafkaSettings) -> None:
    random = Random(SEED)

    for _ in range(CASES):
        values = _texts(random)
        data = kafka_settings.stored(values.items())
        assert {key: found.value for key, found in properties(data).items()} == values
