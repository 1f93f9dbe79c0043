"""Client properties: the keys and values of a file, and errors that name file and line."""

from collections.abc import Mapping
from dataclasses import dataclass

from kraftops.errors import ConfigError, DecodeError
from kraftops.fileio.reading import CONFIG_BYTES, read_whole
from kraftops.java.properties import Property, properties


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
