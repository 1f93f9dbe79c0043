"""Settings from files of client properties."""

from pathlib import Path

import pytest

from kraftops.errors import ConfigError
from kraftops.wire.config.client_settings import load_settings
from kraftops.wire.config.settings import Settings

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
SECRET = "s3cr3t-do-not-show"
LOGIN = f'sasl.jaas.config={PLAIN} required username="u" password="{SECRET}";'


def loaded(folder: Path, *lines: str) -> tuple[Settings, list[str]]:
    """Return the settings of a file, and its warnings."""
    path = folder / "client.properties"
    path.write_text("\n".join(lines) + "\n")
    warnings: list[str] = []
    return load_settings(str(path), warnings.append), warnings


def refusal(folder: Path, *lines: str) -> str:
    with pytest.raises(ConfigError) as refused:
        loaded(folder, *lines)
    message = f"{refused.value.message} {refused.value.hint}"
    assert SECRET not in message
    assert "\n" not in refused.value.message
    return refused.value.message
