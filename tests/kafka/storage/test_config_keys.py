"""Configurations are secret as Kafka's own definitions have it.

`KRAFTOPS_KAFKA_RELEASES` has the releases to ask, separated by commas.
"""

import os

import pytest

from kraftops.records.secrets.rules import is_secret_config
from kraftops.storage.config.keys import server_keys
from tests.helpers.kafka.jvm.jars import MissingJarsError
from tests.helpers.kafka.tools.config_keys import config_keys, sensitive_server_configs

pytestmark = pytest.mark.kafka

RELEASES = os.environ.get("KRAFTOPS_KAFKA_RELEASES", "4.3.1").split(",")
LEADS = ("", "listener.name.internal.", "listener.name.internal.plain.", "controller.")
ODD = (
    *("", "my.custom.api.token", "LOG.DIRS", "listener.name.a.my.token", "listener.name.log.dirs"),
    *(
        "listener.name..log.dirs",
        "listener.name.a.b.log.dirs",
        "listener.name.a.b.sasl.login.class",
    ),
    *("listener.name.a.xsasl.login.class", "listener.name.a.b\n.sasl.login.class"),
    *("listener.name.a\n.sasl.login.class", "listener.name.a.\u2028sasl.login.class"),
    *("listener.name.a.\x85sasl.login.class", "listener.name.a.sasl.login.class "),
)


@pytest.mark.parametrize("release", RELEASES)
def test_values_are_secret_as_in_kafka(release: str) -> None:
    try:
        keys = config_keys(release)
    except MissingJarsError as missing:
        pytest.skip(f"no jars of Kafka {release}: {missing}")

    assert len(keys) > 300
    for code, name, kind in keys:
        assert is_secret_config(code, name) is (kind == "PASSWORD"), (code, name)


def test_keys_of_listeners_are_secret_as_in_kafka() -> None:
    listeners = [f"{lead}{key}" for key in server_keys() for lead in LEADS]
    names = [*ODD, *listeners]
    try:
        kafka = sensitive_server_configs("4.3.1", names)
    except MissingJarsError as missing:
        pytest.skip(f"no jars of Kafka 4.3.1: {missing}")

    ours = [is_secret_config(4, name) for name in names]

    assert len(kafka) == len(names)
    assert [one for one in zip(names, kafka, ours, strict=True) if one[1] is not one[2]] == []
