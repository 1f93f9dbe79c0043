"""Settings from client properties: times, keys, secrets."""

from pathlib import Path

import pytest

from kraftops.errors import ConfigError
from kraftops.wire.config.client_properties import HONOURED, PASSED_OVER, SECURITY
from tests.helpers.wire.client_files import LOGIN, PLAIN, SCRAM, SECRET, loaded, refusal


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


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN", "sasl.jaas.config is missing"),
        ("security.protocol=SASL_SSL\nsasl.mechanism=CRAM-MD5", "sasl.mechanism CRAM-MD5 cannot be honoured here"),
        (f"security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-256\n{LOGIN}", "names PlainLoginModule, which is not for the mechanism SCRAM-SHA-256"),
        (f"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config={PLAIN} required password={SECRET}", "sasl.jaas.config: it does not end in a semicolon"),
        (f"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config={PLAIN} required password={SECRET};", "sasl.jaas.config has no username"),
        (f"security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config={SCRAM} required username=u password={SECRET} tokenauth=true;", "tokenauth cannot be honoured"),
    ],
)  # fmt: skip
def test_unsupported_login_is_refused_by_its_key(tmp_path: Path, line: str, expected: str) -> None:
    assert expected in refusal(tmp_path, *line.split("\n"))


@pytest.mark.parametrize("lines", [(), (LOGIN,), (LOGIN, "sasl.mechanism=")])
def test_missing_mechanism_is_the_hint(tmp_path: Path, lines: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as refused:
        loaded(tmp_path, "security.protocol=SASL_SSL", *lines)

    hint = refused.value.hint or ""
    assert hint.startswith("sasl.mechanism is missing, which means GSSAPI; it can be PLAIN, ")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("security.protocol=SSL\nssl.truststore.type=BCFKS", "ssl.truststore.type BCFKS cannot be honoured"),
        ("security.protocol=SSL\nssl.truststore.location=a\nssl.truststore.certificates=b", "exclude each other"),
        ("security.protocol=SSL\nssl.keystore.certificate.chain=b", "no ssl.keystore.key"),
        ("security.protocol=SSL\nssl.enabled.protocols=SSLv3", "ssl.enabled.protocols SSLv3 cannot be honoured"),
    ],
)  # fmt: skip
def test_unsupported_store_is_refused_by_its_key(tmp_path: Path, line: str, expected: str) -> None:
    assert expected in refusal(tmp_path, *line.split("\n"))


def test_empty_algorithm_checks_no_host(tmp_path: Path) -> None:
    settings, _ = loaded(
        tmp_path, "security.protocol=SSL", "ssl.endpoint.identification.algorithm="
    )

    assert settings.tls is not None
    assert not settings.tls.checks_host


def test_half_a_pair_of_keys_is_refused(tmp_path: Path) -> None:
    lines = ("security.protocol=SSL", "ssl.keystore.type=PEM", f"ssl.keystore.key={SECRET}")

    assert "no ssl.keystore.certificate.chain" in refusal(tmp_path, *lines)


def test_versions_without_tls_itself_are_taken(tmp_path: Path) -> None:
    lines = ("security.protocol=SSL", "ssl.enabled.protocols=TLSv1.3, TLS", "ssl.protocol=TLSv1.1")

    settings, _ = loaded(tmp_path, *lines)

    assert settings.tls is not None
    assert settings.tls.versions == ("TLSv1.3",)
