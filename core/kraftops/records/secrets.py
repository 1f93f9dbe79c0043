"""What must not be shown: fields of records and values of configurations."""

from __future__ import annotations

import re

REDACTED = "<redacted>"
SECRET_FIELDS = {
    "UserScramCredentialRecord": frozenset({"salt", "storedKey", "serverKey"}),
}
"""Fields of type bytes, by message."""
CONFIGURATION = "ConfigRecord"
"""The message whose values are secret where its name is."""
_WORDS = r"password|passphrase|secret|credential|jaas\.config|ssl\.(keystore|truststore)\."
_SECRET_CONFIG = re.compile(_WORDS, re.IGNORECASE)
_SECRET_BYTES = re.compile(_WORDS.encode(), re.IGNORECASE)
_NOT_SECRET = re.compile(r"ssl\.(keystore|truststore)\.(location|type)$")


def may_hold_secrets(message: str) -> bool:
    """Tell whether the bytes of a message, which nobody could read, may hold secrets."""
    return message in SECRET_FIELDS or message == CONFIGURATION


def is_secret_config(name: str) -> bool:
    """Tell whether the values of a configuration key are secret, as Kafka's PASSWORD keys are."""
    return bool(_SECRET_CONFIG.search(name)) and not _NOT_SECRET.search(name)


def may_name_secret(buffer: bytes, start: int, end: int) -> bool:
    """Tell whether bytes hold what a secret configuration key would."""
    return _SECRET_BYTES.search(buffer, start, end) is not None
