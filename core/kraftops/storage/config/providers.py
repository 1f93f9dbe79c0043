"""Placeholders `${PROVIDER:PATH:KEY}` in a configuration (Kafka's `ConfigTransformer`)."""

import os.path
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from kraftops.errors import DecodeError
from kraftops.fileio.reading import CONFIG_BYTES, read_whole
from kraftops.java.hash_order import map_order
from kraftops.java.properties import properties
from kraftops.java.text import split, string_hash
from kraftops.storage.config.values import ConfigRefused

Provider = Callable[[str, Iterable[str]], Mapping[str, str]]
"""Function of a path and keys; returns the values that it has."""

_PLACEHOLDER = r"\$\{([^}]*?):(?:([^}]*?):)?([^}]*?)\}"
PROVIDERS = "config.providers"
_PACKAGE = "org.apache.kafka.common.config.provider."


class Resolved(NamedTuple):
    """A configuration with the values of its placeholders.

    Attributes:
        originals: the texts by key.
        unresolved: the keys whose values only a foreign provider has, with the provider's class.
    """

    originals: dict[str, str]
    unresolved: Mapping[str, str]


def resolve_placeholders(originals: Mapping[str, str], environment: Mapping[str, str]) -> Resolved:
    """Return *originals* with the values of placeholders.

    A placeholder without a provider, or with a key that the provider lacks, stays as it is. So
    does one of a foreign provider: Kafka would load its class, which cannot be run here.

    Raises:
        ConfigRefused: a provider of Kafka's cannot read a value.
    """
    classes = provider_classes(originals)
    if not classes:
        return Resolved(dict(originals), {})
    providers = _providers(originals, classes, environment)
    values = _looked_up(originals, providers)

    def replacement(placeholder: re.Match[str]) -> str:
        name, path, key = placeholder.groups()
        return values.get((name, path or ""), {}).get(key, placeholder[0])

    foreign = classes.keys() - providers.keys()
    unresolved = {
        key: classes[name]
        for key, text in originals.items()
        for name, *_ in re.findall(_PLACEHOLDER, text)
        if name in foreign
    }
    resolved = {key: re.sub(_PLACEHOLDER, replacement, text) for key, text in originals.items()}
    return Resolved(resolved, unresolved)


def provider_classes(originals: Mapping[str, str]) -> dict[str, str]:
    """Return the class of each provider in `config.providers`, by name, in the order of Kafka."""
    listed = originals.get(PROVIDERS, "")
    # Names are not trimmed; one without a class does not count.
    keys = {name: provider_class_key(name) for name in split(listed, ",") if listed}
    names = dict.fromkeys(name for name, key in keys.items() if key in originals)
    return {name: originals[keys[name]] for name in map_order(names, string_hash, capacity=16)}


def provider_class_key(name: str) -> str:
    return f"{PROVIDERS}.{name}.class"


def has_placeholder(value: str) -> bool:
    return bool(re.search(_PLACEHOLDER, value))


def _looked_up(
    originals: Mapping[str, str], providers: Mapping[str, Provider]
) -> dict[tuple[str, str], Mapping[str, str]]:
    """Return the values of placeholders, by provider and path."""
    requests: dict[str, dict[str, dict[str, str]]] = {}  # provider, path, key: configuration key
    for original in map_order(originals, string_hash, capacity=16):
        for name, path, key in re.findall(_PLACEHOLDER, originals[original]):
            requests.setdefault(name, {}).setdefault(path, {}).setdefault(key, original)
    values_by_provider = {}
    # `computeIfAbsent` puts a new entry before the others of its bucket, hence `reversed`.
    for name in map_order(reversed(requests), string_hash, capacity=16):
        if name not in providers:
            continue
        for path in map_order(reversed(requests[name]), string_hash, capacity=16):
            keys = requests[name][path]
            try:
                values_by_provider[name, path] = providers[name](path, keys)
            except ConfigRefused as error:
                raise ConfigRefused(error.message, *keys.values(), hint=error.hint) from None
    return values_by_provider


def _providers(
    originals: Mapping[str, str], classes: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, Provider]:
    """Return the providers of Kafka's own among *classes*."""
    providers = {}
    for name, class_name in classes.items():
        prefix = f"{PROVIDERS}.{name}.param."
        parameters = {
            key.removeprefix(prefix): value
            for key, value in originals.items()
            if key.startswith(prefix) and key != prefix
        }
        try:
            if provider := _provider(class_name, parameters, environment):
                providers[name] = provider
        except ConfigRefused as error:
            keys = (prefix + key for key in error.keys)
            raise ConfigRefused(
                error.message, *keys, provider_class_key(name), hint=error.hint
            ) from None
    return providers


def _provider(
    class_name: str, parameters: Mapping[str, str], environment: Mapping[str, str]
) -> Provider | None:
    """Return a provider of Kafka's; None for a foreign one."""
    kind = class_name.removeprefix(_PACKAGE)
    if kind == "EnvVarConfigProvider":
        return _environment_provider(environment, parameters.get("allowlist.pattern"))
    if kind not in ("FileConfigProvider", "DirectoryConfigProvider") or kind == class_name:
        return None
    allowed = _allowed_paths(parameters.get("allowed.paths", ""))
    read = _file_values if kind == "FileConfigProvider" else _directory_values

    def provider(path: str, keys: Iterable[str]) -> Mapping[str, str]:
        trusted = _trusted(path, allowed) if path else None
        return {} if trusted is None else read(path, trusted, keys)

    return provider


def _environment_provider(environment: Mapping[str, str], pattern: str | None) -> Provider:
    allowed = None if pattern is None else _java_pattern(pattern)

    def provider(path: str, keys: Iterable[str]) -> Mapping[str, str]:
        if path:
            raise ConfigRefused(
                f"Path is not supported for EnvVarConfigProvider, invalid value '{path}'",
                hint="write ${PROVIDER:VARIABLE}",
            )
        return {
            key: environment[key]
            for key in keys
            if key in environment and (allowed is None or allowed.fullmatch(key))
        }

    return provider


def _java_pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern of Java, where Python gives it the same meaning."""
    import warnings

    try:
        with warnings.catch_warnings():
            # Python warns of Java's unions and intersections of classes.
            warnings.simplefilter("error")
            return re.compile(text, re.ASCII)
    except (re.error, FutureWarning, OverflowError, RecursionError) as error:
        raise ConfigRefused(
            f"the pattern {text} cannot be used here: {error}", "allowlist.pattern"
        ) from None


def _allowed_paths(listed: str) -> list[str] | None:
    """Return the directories that a provider may read; None for all."""
    if not listed:
        return None
    allowed = []
    for item in split(listed, ","):
        path = _normalized(item)
        if not path.startswith("/"):
            raise ConfigRefused(f"Path {path} is not absolute", "allowed.paths")
        if not os.path.exists(path):
            raise ConfigRefused(f"Path {path} does not exist", "allowed.paths")
        allowed.append(path)
    return allowed


def _trusted(path: str, allowed: list[str] | None) -> str | None:
    """Return the path to read for *path*; None if it may not be read."""
    if "\0" in path:
        raise ConfigRefused(f"Nul character not allowed: {path}")
    if allowed is None:
        return path
    path = _normalized(path)
    return path if any(_is_within(path, directory) for directory in allowed) else None


def _normalized(path: str) -> str:
    """Return a path as Java's `normalize` does, without regard to links."""
    return os.path.normpath(re.sub("/+", "/", path)) if path else ""


def _is_within(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def _file_values(path: str, trusted: str, keys: Iterable[str]) -> Mapping[str, str]:
    try:
        file_properties = properties(_text(trusted))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigRefused(
            f"Could not read properties from file {path}", hint=_reason(error)
        ) from None
    except DecodeError as error:
        raise ConfigRefused(
            error.message.partition(": ")[2], hint=f"{path}: {error.message}"
        ) from None
    return {key: file_properties[key].value for key in keys if key in file_properties}


def _directory_values(_: str, directory: str, keys: Iterable[str]) -> Mapping[str, str]:
    if not os.path.isdir(directory):
        return {}
    try:
        names = os.listdir(directory)
    except OSError as error:
        raise ConfigRefused(f"Could not list directory {directory}", hint=_reason(error)) from None
    values = {}
    for name in set(keys).intersection(names):
        path = os.path.join(directory, name)
        if os.path.isfile(path):
            try:
                values[name] = _text(path)
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigRefused(
                    f"Could not read file {path} for property {name}", hint=_reason(error)
                ) from None
    return values


def _text(path: str) -> str:
    return read_whole(path, CONFIG_BYTES).decode()


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8"
