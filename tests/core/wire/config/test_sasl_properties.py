"""SASL logins from client properties."""

from pathlib import Path

import pytest

from kraftops.errors import ConfigError
from tests.helpers.wire.client_files import LOGIN, PLAIN, SCRAM, SECRET, loaded, refusal


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
def test_unsupported_value_is_refused_by_its_key(tmp_path: Path, line: str, expected: str) -> None:
    assert expected in refusal(tmp_path, *line.split("\n"))


@pytest.mark.parametrize("lines", [(), (LOGIN,), (LOGIN, "sasl.mechanism=")])
def test_missing_mechanism_is_the_hint(tmp_path: Path, lines: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as refused:
        loaded(tmp_path, "security.protocol=SASL_SSL", *lines)

    hint = refused.value.hint or ""
    assert hint.startswith("sasl.mechanism is missing, which means GSSAPI; it can be PLAIN, ")
