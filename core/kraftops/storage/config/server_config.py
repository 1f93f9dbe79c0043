"""Configuration file of a server, checked as by the tools of Kafka 4.3.1."""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from kraftops.errors import ConfigError, DecodeError, SourceError, UsageError
from kraftops.fileio.reading import CONFIG_BYTES, read_whole
from kraftops.java.properties import Property, properties
from kraftops.records.secrets.rules import BROKER, REDACTED, is_secret_config
from kraftops.server.meta_properties import FILE_NAME as META_FILE
from kraftops.storage.config.endpoints import CONTROLLER_NAMES, Endpoints, advertised_controllers
from kraftops.storage.config.keys import ServerKey
from kraftops.storage.config.listeners import (
    BOOTSTRAP_SERVERS,
    VOTERS,
    Listener,
    parse_static_voters,
)
from kraftops.storage.config.providers import has_placeholder, resolve_placeholders
from kraftops.storage.config.rules import check_rules
from kraftops.storage.config.settings import METADATA_DIR, Settings, read_settings
from kraftops.storage.config.values import ConfigRefused

_HIDDEN = f"Invalid value {REDACTED} for configuration"
_OF_DISKS = {"broker.id", "log.dir", "log.dirs", METADATA_DIR, "node.id", "process.roles"}
_SYNONYMS = {"broker.id": "node.id", "node.id": "broker.id"}  # one stands for the other


DEFAULT_HOST = "localhost"
"""Host of a `--standalone` voter with a listener without host, as in Kafka."""


class Endpoint(NamedTuple):
    """A listener that others can reach."""

    name: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Configuration of a server; what has a default is empty where only its directories are known.

    Attributes:
        path: the path of the file, as on the command line.
        given: the keys of the file and the overrides, placeholders resolved; an override is in
            line 0.
        values: the value of every key of Kafka, defaults included: int, float, bool, str, tuple
            of str, or None.
        node_id: the id of this node.
        roles: `broker`, `controller` or both.
        log_dirs: the data directories as written, none twice.
        metadata_log_dir: the directory of the metadata log; it may not be one of *log_dirs*.
        voters: the static voters, host and port by id.
        bootstrap_servers: the addresses of controllers to connect to.
        controller_listener_names: the names as written; VotersRecord has the first.
        listeners: the listeners of this node.
        advertised_controllers: the advertised controller listeners.
        unstable_feature_versions: whether features under development are allowed.
        unresolved: the keys whose values only a foreign config provider has, with its class.
    """

    path: str
    node_id: int
    roles: frozenset[str]
    log_dirs: tuple[str, ...]
    metadata_log_dir: str
    given: Mapping[str, Property] = field(default_factory=dict, repr=False)  # passwords too
    values: Mapping[str, object] = field(default_factory=dict, repr=False)
    voters: Mapping[int, tuple[str, int]] = field(default_factory=dict)
    bootstrap_servers: tuple[str, ...] = ()
    controller_listener_names: tuple[str, ...] = ()
    listeners: tuple[Listener, ...] = ()
    advertised_controllers: tuple[Listener, ...] = ()
    unstable_feature_versions: bool = False
    unresolved: Mapping[str, str] = field(default_factory=dict)
    _overrides: Mapping[str, Property] = field(default_factory=dict, repr=False)

    @property
    def is_whole(self) -> bool:
        """Whether more is known than its identity and directories."""
        return bool(self.values)

    @property
    def controller_listener(self) -> Endpoint:
        """The address of this controller for a VotersRecord (KIP-853)."""
        listener = self.advertised_controllers[0]  # a controller has one
        return Endpoint(listener.name, listener.host or DEFAULT_HOST, listener.port)

    def place(self, key: str) -> str:
        """Return the place of *key* for messages: a line of the file, an override, or the file."""
        return _place(self.path, {**self.given, **self._overrides}, key)


def load_config(
    path: str,
    overrides: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    changed_keys: Mapping[str, ServerKey | None] | None = None,
    ignored_keys: Collection[str] = (),
) -> ServerConfig:
    """Read the configuration in the properties file at *path*.

    Args:
        path: the path of the file.
        overrides: `KEY=VALUE` each, which replace those of the file; the last of a key counts.
        environment: the variables for `EnvVarConfigProvider`.
        changed_keys: the keys that another release defines otherwise, None where it ignores them.
        ignored_keys: the keys that have their defaults, whatever the file says.

    Raises:
        SourceError: the file cannot be read.
        UsageError: an override is not KEY=VALUE.
        ConfigRefused: Kafka refuses the configuration, with Kafka's message; or `metadata.log.dir`
            is empty.
        ConfigError: the file is not one of properties.
    """
    raw = _read(path, overrides)
    raw = {key: prop for key, prop in raw.items() if key not in ignored_keys}
    texts = _texts(raw)
    originals: Mapping[str, str] = texts
    try:
        originals, foreign = resolve_placeholders(texts, environment or {})
        unresolved = {key: provider for key, provider in foreign.items() if key in raw}
        settings = read_settings(originals, unresolved, changed_keys)
        endpoints = check_rules(settings)
        _check_metadata_dir(settings)
        return _server_config(path, raw, settings, endpoints, unresolved)
    except ConfigRefused as error:
        provided = [text for key, text in originals.items() if text != texts[key]]
        refusal = _located(_without_values(error, provided), path, raw)
        if os.path.basename(path) == META_FILE:
            refusal.hint = "-c is a server.properties; this has the identity of a log directory"
        raise refusal from None


def keys_in(path: str, overrides: Sequence[str]) -> list[str]:
    """Return the keys of a configuration. Errors as for `load_config`."""
    return [*_read(path, overrides)]


def disks_config(
    path: str, overrides: Sequence[str], environment: Mapping[str, str]
) -> ServerConfig | None:
    """Return the identity and the directories in a configuration that is refused for other keys.

    None if they have no valid values. Errors as for `load_config`.
    """
    with suppress(ConfigRefused):
        originals, foreign = resolve_placeholders(_texts(_read(path, overrides)), environment)
        if foreign.keys().isdisjoint(_OF_DISKS):
            of_disks = {key: originals[key] for key in _OF_DISKS & originals.keys()}
            settings = read_settings(of_disks | {CONTROLLER_NAMES: "CONTROLLER"})  # it is required
            _check_metadata_dir(settings)
            return ServerConfig(
                path=path,
                node_id=settings.node_id,
                roles=settings.roles,
                log_dirs=settings.log_dirs,
                metadata_log_dir=settings.metadata_dir,
            )
    return None


def _texts(raw: Mapping[str, Property]) -> dict[str, str]:
    texts = {key: prop.value for key, prop in raw.items()}
    for key, other in _SYNONYMS.items():
        if other in raw:
            texts.setdefault(key, raw[other].value)
    return texts


def _read(path: str, overrides: Sequence[str]) -> dict[str, Property]:
    replaced = {key: Property(key, text, 0) for key, text in map(_override, overrides)}
    try:
        return properties(read_whole(path, CONFIG_BYTES)) | replaced
    except IsADirectoryError as error:
        refusal = SourceError.of(path, error)
        file = os.path.join(path, "server.properties")
        refusal.hint = f"is it {file}?" if os.path.exists(file) else "-c is a server.properties"
        raise refusal from error
    except OSError as error:
        raise SourceError.of(path, error) from error
    except DecodeError as error:
        raise ConfigError(f"{path}: {error.message}") from error


def _override(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise UsageError(f"--override {key}: expected KEY=VALUE")
    return key, value


def _check_metadata_dir(settings: Settings) -> None:
    if settings.values[METADATA_DIR] == "":
        raise ConfigRefused(
            f"{METADATA_DIR} is empty",
            METADATA_DIR,
            hint="Kafka takes that for the root directory: without the key it is in log.dirs",
        )


def _server_config(
    path: str,
    raw: Mapping[str, Property],
    settings: Settings,
    endpoints: Endpoints,
    unresolved: Mapping[str, str],
) -> ServerConfig:
    originals = settings.originals
    return ServerConfig(
        path=path,
        given={key: prop._replace(value=originals[key]) for key, prop in raw.items()},
        values=settings.values,
        node_id=settings.node_id,
        roles=settings.roles,
        log_dirs=settings.log_dirs,
        metadata_log_dir=settings.metadata_dir,
        voters=parse_static_voters(settings.items(VOTERS)),
        bootstrap_servers=settings.items(BOOTSTRAP_SERVERS),
        controller_listener_names=settings.controller_names,
        listeners=endpoints.listeners,
        advertised_controllers=advertised_controllers(settings, endpoints),
        unstable_feature_versions=bool(settings.values["unstable.feature.versions.enable"]),
        unresolved=unresolved,
        _overrides={key: prop for key, prop in raw.items() if not prop.line},
    )


def _without_values(error: ConfigRefused, provided: Sequence[str]) -> ConfigRefused:
    """Return the error without values of config providers: they may be secret under any key.

    A number is shown as it was read, not as it was written: hence the first pattern.
    """
    if not provided:
        return error
    message = error.message
    parts = {part for text in provided for part in (text, *re.split(r"[^\w.-]+", text)) if part}
    if any(key in error.message for key in error.keys):
        message = re.sub(
            r"^Invalid value .*? for configuration", _HIDDEN, message, count=1, flags=re.DOTALL
        )
    texts = [message, error.hint or ""]
    for part in sorted(parts, key=len, reverse=True):
        pattern = rf"(?<!\w){re.escape(part)}(?!\w)"
        texts = [re.sub(pattern, REDACTED, text) for text in texts]
    return ConfigRefused(texts[0], *error.keys, hint=texts[1] or None)


def _located(
    error: ConfigRefused, path: str, properties_by_key: Mapping[str, Property]
) -> ConfigRefused:
    """Return the error with the place of its first key in the configuration."""
    keys = [*error.keys, *(_SYNONYMS[key] for key in error.keys if key in _SYNONYMS)]
    key = next((key for key in keys if key in properties_by_key), "")
    hint = error.hint
    if hint is None and key and has_placeholder(properties_by_key[key].value):
        hint = "a placeholder is resolved by the provider of that name in config.providers only"
    message = f"{_place(path, properties_by_key, key)}: {error.message}"
    return ConfigRefused(message, *error.keys, hint=hint)


def _place(path: str, properties_by_key: Mapping[str, Property], key: str) -> str:
    if key not in properties_by_key:
        return path
    if properties_by_key[key].line:
        return f"{path}: line {properties_by_key[key].line}"
    # An unknown key may be secret, such as a parameter of a config provider.
    if is_secret_config(BROKER, key):
        return f"--override {key}"
    return f"--override {key}={properties_by_key[key].value}"
