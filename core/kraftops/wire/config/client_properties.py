"""Client properties: a file's keys and values, errors with file and line, and what keys mean here.

The keys are from Kafka 4.3's AdminClientConfig, ProducerConfig, ConsumerConfig, SslConfigs and
SaslConfigs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kraftops.errors import ConfigError, DecodeError
from kraftops.fileio.packaged import packaged_parts
from kraftops.fileio.reading import CONFIG_BYTES, read_whole
from kraftops.java.properties import Property, properties

_KEYS = {
    title: keys.split() for title, keys in packaged_parts(__file__, "client_keys.txt", "# ").items()
}
INTS = frozenset(
    {"default.api.timeout.ms", "request.timeout.ms", "socket.connection.setup.timeout.ms"}
)
"""Keys with a time in ms, at least 1, checked as Kafka checks an INT."""
HONOURED = INTS.union(_KEYS["honoured"])

_OAUTH = "org.apache.kafka.common.security.oauthbearer"
_ALGORITHMS = frozenset({"SunX509", "PKIX"})
SECURITY: dict[str, frozenset[str]] = dict.fromkeys(_KEYS["without a default"], frozenset()) | {
    "sasl.client.callback.handler.class": frozenset(
        {"software.amazon.msk.auth.iam.IAMClientCallbackHandler"}
    ),
    "sasl.login.callback.handler.class": frozenset(
        f"{package}.OAuthBearerLoginCallbackHandler" for package in (_OAUTH, f"{_OAUTH}.secured")
    ),
    "sasl.oauthbearer.jwt.retriever.class": frozenset(
        f"{_OAUTH}.{kind}JwtRetriever" for kind in ("Default", "ClientCredentials", "File")
    ),
    "ssl.keymanager.algorithm": _ALGORITHMS,
    "ssl.trustmanager.algorithm": _ALGORITHMS,
}
"""Keys that have no meaning here, and the values that may be given nevertheless: the defaults."""
PASSED_OVER = frozenset(_KEYS["passed over"])
"""Keys of admin clients, producers and consumers that change nothing here."""


@dataclass(frozen=True, slots=True)
class ClientProperties:
    """The properties of the file *path*."""

    path: str
    entries: Mapping[str, Property]

    def value(self, key: str, default: str = "") -> str:
        """Strip blanks, which Kafka ignores in most values; a missing key is *default*."""
        entry = self.entries.get(key)
        return entry.value.strip() if entry else default

    def raw_value(self, key: str) -> str | None:
        """Keep blanks, which belong to a password; None if the key is missing."""
        entry = self.entries.get(key)
        return entry.value if entry else None

    def values(self, key: str) -> tuple[str, ...]:
        return tuple(filter(None, map(str.strip, self.value(key).split(","))))

    def error(self, key: str, reason: str, hint: str | None = None) -> ConfigError:
        entry = self.entries.get(key)
        line = f"line {entry.line}: " if entry and entry.line else ""
        return ConfigError(f"{self.path}: {line}{reason}", hint)

    def unsupported(self, key: str, hint: str | None = None) -> ConfigError:
        return self.error(key, f"{key} {self.value(key)} cannot be honoured here", hint)

    def invalid(self, key: str, reason: str) -> ConfigError:
        return self.error(key, f"Invalid value {self.value(key)} for configuration {key}: {reason}")


def read_properties(path: str) -> dict[str, Property]:
    """Read a file in the syntax of java.util.Properties, by key, with numbers of lines.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        data = read_whole(path, CONFIG_BYTES)
    except OSError as error:
        code = "not-found" if isinstance(error, FileNotFoundError) else None
        message = f"cannot read {path or repr(path)}: {error.strerror}"
        raise ConfigError(message, code=code) from error
    try:
        return properties(data)
    except DecodeError as error:
        raise ConfigError(f"{path}: {error.message}") from error
