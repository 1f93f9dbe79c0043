"""TLS stores and versions from client properties."""

from pathlib import Path

import pytest

from tests.helpers.wire.client_files import SECRET, loaded, refusal


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("security.protocol=SSL\nssl.truststore.type=BCFKS", "ssl.truststore.type BCFKS cannot be honoured"),
        ("security.protocol=SSL\nssl.truststore.location=a\nssl.truststore.certificates=b", "exclude each other"),
        ("security.protocol=SSL\nssl.keystore.certificate.chain=b", "no ssl.keystore.key"),
        ("security.protocol=SSL\nssl.enabled.protocols=SSLv3", "ssl.enabled.protocols SSLv3 cannot be honoured"),
    ],
)  # fmt: skip
def test_unsupported_value_is_refused_by_its_key(tmp_path: Path, line: str, expected: str) -> None:
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
