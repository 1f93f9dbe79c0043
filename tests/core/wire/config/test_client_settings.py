"""Settings from client properties: times, keys, secrets."""

from pathlib import Path

import pytest

from kraftops.wire.config.client_keys import HONOURED, PASSED_OVER, SECURITY
from tests.helpers.wire.client_files import LOGIN, SECRET, loaded, refusal


def test_empty_file_means_defaults(tmp_path: Path) -> None:
    settings, warnings = loaded(tmp_path, "# nothing", "! neither")

    assert (settings.protocol, settings.timeout, settings.connect_timeout) == ("PLAINTEXT", 15, 5)
    assert warnings == []


def test_times_are_taken(tmp_path: Path) -> None:
    settings, _ = loaded(
        tmp_path, "default.api.timeout.ms=5000", "socket.connection.setup.timeout.ms=1500"
    )

    assert (settings.timeout, settings.connect_timeout) == (5, 1.5)


def test_unknown_key_is_a_warning_with_its_line(tmp_path: Path) -> None:
    _, warnings = loaded(tmp_path, "client.id=ops", "no.such.key=1")

    assert len(warnings) == 1
    assert "line 2: the key no.such.key is unknown" in warnings[0]


def test_keys_of_producers_and_consumers_are_passed_over(tmp_path: Path) -> None:
    _, warnings = loaded(tmp_path, "acks=all", "group.id=g", "max.poll.records=1")

    assert warnings == []


def test_tables_of_keys_do_not_overlap() -> None:
    assert not HONOURED & PASSED_OVER
    assert not (HONOURED | PASSED_OVER) & SECURITY.keys()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("request.timeout.ms=soon", "Invalid value soon for configuration request.timeout.ms: Not a number of type INT"),
        ("request.timeout.ms=99999999999", "Not a number of type INT"),
        ("default.api.timeout.ms=0", "Value must be at least 1"),
        ("security.protocol=BOGUS", "Invalid value BOGUS for configuration security.protocol: String must be one of (case insensitive): SASL_SSL, PLAINTEXT, SSL, SASL_PLAINTEXT"),
        ("ssl.engine.factory.class=x.Y", "ssl.engine.factory.class cannot be honoured"),
        ("sasl.login.callback.handler.class=x.Y", "sasl.login.callback.handler.class cannot be honoured"),
        ("ssl.keystore.password=${file:/x:y}", "refers to a configuration provider"),
        ("a=\\u12", "Malformed \\uxxxx encoding."),
    ],
)  # fmt: skip
def test_unsupported_value_is_refused_by_its_key(tmp_path: Path, line: str, expected: str) -> None:
    assert expected in refusal(tmp_path, *line.split("\n"))


def test_refusal_names_file_and_line(tmp_path: Path) -> None:
    assert "client.properties: line 2: " in refusal(tmp_path, "", "request.timeout.ms=x")


def test_secrets_are_in_no_repr(tmp_path: Path) -> None:
    settings, _ = loaded(
        tmp_path,
        "security.protocol=sasl_ssl",
        "sasl.mechanism=PLAIN",
        LOGIN,
        "ssl.truststore.location=t.jks",
        f"ssl.truststore.password={SECRET}",
        "ssl.keystore.location=k.p12",
        f"ssl.keystore.password={SECRET}",
        f"ssl.key.password={SECRET}",
    )

    assert SECRET not in repr(settings)
    assert settings.sasl is not None
    assert settings.sasl.login.options["password"] == SECRET
    assert settings.tls is not None
    assert settings.tls.checks_host
