"""How to reach a cluster: client properties as Kafka's Java tools take them, checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kraftops.errors import ConfigError, DecodeError
from kraftops.java.properties import Property, properties
from kraftops.wire.config.client_keys import HONOURED, INTS, PASSED_OVER, SECURITY
from kraftops.wire.config.jaas import Login, parse_login

TIMEOUT = 15.0
CONNECT_TIMEOUT = 5.0
PROTOCOLS = ("SASL_SSL", "PLAINTEXT", "SSL", "SASL_PLAINTEXT")
LOGIN_MODULES = {
    "PLAIN": "PlainLoginModule",
    "SCRAM-SHA-256": "ScramLoginModule",
    "SCRAM-SHA-512": "ScramLoginModule",
    "OAUTHBEARER": "OAuthBearerLoginModule",
    "GSSAPI": "Krb5LoginModule",
}
"""By mechanism: the login module that its `sasl.jaas.config` names."""
TLS_VERSIONS = ("TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3")

_NO_MECHANISM = (
    f"sasl.mechanism is missing, which means GSSAPI; it can be {', '.join(LOGIN_MODULES)}"
)
_LARGEST_FILE = 1 << 22
_STORE_TYPES = ("JKS", "PKCS12", "PEM")
_INT = re.compile(r"[+-]?[0-9]{1,10}")
_LARGEST_INT = 0x7FFFFFFF


@dataclass(frozen=True, slots=True)
class Sasl:
    """How to log in; nothing of it that is secret is shown."""

    mechanism: str
    login: Login = field(repr=False)
    service_name: str = ""
    token_url: str = ""
    client_id: str = field(default="", repr=False)
    client_secret: str = field(default="", repr=False)
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Store:
    """A key store or trust store: a file, or PEM text in the configuration; and passwords."""

    key: str
    location: str = ""
    password: str | None = field(default=None, repr=False)
    certificates: str = ""
    private_key: str = field(default="", repr=False)
    key_password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Tls:
    """Whom to trust, None for those the system trusts; our own certificate; versions."""

    trust: Store | None = None
    own: Store | None = None
    checks_host: bool = True
    versions: tuple[str, ...] = ()
    ciphers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """How to reach the servers of a cluster; times in seconds."""

    protocol: str = "PLAINTEXT"
    sasl: Sasl | None = None
    tls: Tls | None = None
    timeout: float = TIMEOUT
    connect_timeout: float = CONNECT_TIMEOUT
    client_id: str = "kraftops"
    software_version: str = "unknown"
    source: str = ""


class _Given(NamedTuple):
    """The properties of a file, and how to refuse one of them."""

    path: str
    found: Mapping[str, Property]

    def value(self, key: str, default: str = "") -> str:
        found = self.found.get(key)
        return found.value.strip() if found else default

    def secret(self, key: str) -> str | None:
        found = self.found.get(key)
        return found.value if found else None

    def refuse(self, key: str, reason: str, hint: str | None = None) -> ConfigError:
        at = self.found.get(key)
        place = f"{self.path}: line {at.line}: " if at and at.line else f"{self.path}: "
        return ConfigError(f"{place}{reason}", hint)

    def invalid(self, key: str, reason: str) -> ConfigError:
        shown = self.value(key)
        return self.refuse(key, f"Invalid value {shown} for configuration {key}: {reason}")


def load_settings(path: str, warn: Callable[[str], None]) -> Settings:
    """Return what a file of client properties says; *warn* gets a line for each unknown key.

    Raises:
        ConfigError: it cannot be read, or says what cannot be done; no secret is in the message.
    """
    found = properties_of(path)
    known = HONOURED | PASSED_OVER | SECURITY.keys()
    for key, entry in found.items():
        if key not in known and not key.startswith(("config.providers.", "metrics.context.")):
            warn(f"{path}: line {entry.line}: the key {key} is unknown and means nothing")
    return settings_of(path, found)


def properties_of(path: str) -> dict[str, Property]:
    """Return the properties in a file.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise ConfigError(f"cannot read {path or repr(path)}: {error.strerror}") from error
    if len(data) > _LARGEST_FILE:
        raise ConfigError(f"{path}: it is too long for a configuration")
    try:
        return properties(data)
    except DecodeError as error:
        raise ConfigError(f"{path}: {error.message}") from error


def settings_of(path: str, found: Mapping[str, Property]) -> Settings:
    """Return what properties say, which are those of the file *path*.

    Raises:
        ConfigError: as `load_settings`.
    """
    given = _Given(path, found)
    _refuse_what_cannot_be(given)
    times = {key: _int(given, key) for key in INTS if given.value(key)}
    protocol = given.value("security.protocol", "PLAINTEXT").upper()
    if protocol not in PROTOCOLS:
        shown = ", ".join(PROTOCOLS)
        reason = f"String must be one of (case insensitive): {shown}"
        raise given.invalid("security.protocol", reason)
    return Settings(
        protocol=protocol,
        sasl=_sasl(given) if protocol.startswith("SASL") else None,
        tls=_tls(given) if protocol.endswith("SSL") else None,
        timeout=times.get("default.api.timeout.ms", TIMEOUT * 1000) / 1000,
        connect_timeout=times.get("socket.connection.setup.timeout.ms", CONNECT_TIMEOUT * 1000)
        / 1000,
        client_id=given.value("client.id", "kraftops") or "kraftops",
        source=path,
    )


def _refuse_what_cannot_be(given: _Given) -> None:
    for key in given.found:
        value = given.value(key)
        if key in SECURITY and value and value not in SECURITY[key]:
            raise given.refuse(key, f"{key} cannot be honoured here", "leave it out for this tool")
        if value.startswith("${") and key in HONOURED:
            reason = f"{key} refers to a configuration provider, which cannot be asked here"
            raise given.refuse(key, reason, "put the value itself into a file of its own")


def _int(given: _Given, key: str) -> int:
    text = given.value(key)
    if not _INT.fullmatch(text) or abs(int(text)) > _LARGEST_INT:
        raise given.invalid(key, "Not a number of type INT")
    if int(text) <= 0:
        raise given.invalid(key, "Value must be at least 1")
    return int(text)


def _sasl(given: _Given) -> Sasl:
    mechanism = given.value("sasl.mechanism") or "GSSAPI"
    if mechanism not in LOGIN_MODULES:
        known = ", ".join(LOGIN_MODULES)
        raise given.refuse(
            "sasl.mechanism",
            f"sasl.mechanism {mechanism} cannot be honoured here",
            f"these can: {known}",
        )
    is_named = bool(given.value("sasl.mechanism"))
    text = given.value("sasl.jaas.config")
    if not text:
        raise given.refuse(
            "security.protocol",
            "sasl.jaas.config is missing, which security.protocol asks for",
            f"{LOGIN_MODULES[mechanism]} is the login module of {mechanism}"
            if is_named
            else _NO_MECHANISM,
        )
    try:
        login = parse_login(text)
    except DecodeError as error:
        raise given.refuse("sasl.jaas.config", f"sasl.jaas.config: {error.message}") from error
    module = login.module.rpartition(".")[2]
    if module != LOGIN_MODULES[mechanism]:
        raise given.refuse(
            "sasl.jaas.config",
            f"sasl.jaas.config names {module}, which is not for the mechanism {mechanism}",
            f"{LOGIN_MODULES[mechanism]} is; sasl.mechanism sets the mechanism"
            if is_named
            else _NO_MECHANISM,
        )
    _check_options(given, mechanism, login)
    return Sasl(
        mechanism=mechanism,
        login=login,
        service_name=given.value("sasl.kerberos.service.name")
        or login.options.get("serviceName", ""),
        token_url=given.value("sasl.oauthbearer.token.endpoint.url"),
        client_id=given.value("sasl.oauthbearer.client.credentials.client.id"),
        client_secret=given.secret("sasl.oauthbearer.client.credentials.client.secret") or "",
        scope=given.value("sasl.oauthbearer.scope"),
    )


def _check_options(given: _Given, mechanism: str, login: Login) -> None:
    if mechanism == "PLAIN" or mechanism.startswith("SCRAM"):
        for name in ("username", "password"):
            if not login.options.get(name):
                reason = f"sasl.jaas.config has no {name}"
                how = f"{mechanism} logs in with username and password"
                raise given.refuse("sasl.jaas.config", reason, how)
    for name in ("tokenauth", "useKeyTab"):
        if login.options.get(name, "").lower() == "true":
            hint = "kinit -kt takes a ticket that is used" if name == "useKeyTab" else None
            reason = f"sasl.jaas.config: {name} cannot be honoured here"
            raise given.refuse("sasl.jaas.config", reason, hint)


def _tls(given: _Given) -> Tls:
    for key in ("ssl.truststore.type", "ssl.keystore.type"):
        kind = given.value(key)
        if kind and kind.upper() not in _STORE_TYPES:
            hint = f"these can: {', '.join(_STORE_TYPES)}"
            raise given.refuse(key, f"{key} {kind} cannot be honoured here", hint)
    versions = _listed(given, "ssl.enabled.protocols") or tuple(
        filter(None, [given.value("ssl.protocol")])
    )
    for version in versions:
        if version not in (*TLS_VERSIONS, "TLS"):
            key = (
                "ssl.enabled.protocols" if given.value("ssl.enabled.protocols") else "ssl.protocol"
            )
            raise given.refuse(key, f"{key} {version} cannot be honoured here")
    algorithm = given.value("ssl.endpoint.identification.algorithm", "https")
    if algorithm.lower() not in ("", "https"):
        key = "ssl.endpoint.identification.algorithm"
        raise given.refuse(key, f"{key} {algorithm} cannot be honoured here")
    return Tls(
        trust=_store(given, "ssl.truststore", certificates="certificates"),
        own=_store(given, "ssl.keystore", certificates="certificate.chain"),
        checks_host=bool(algorithm),
        versions=tuple(version for version in versions if version != "TLS"),
        ciphers=_listed(given, "ssl.cipher.suites"),
    )


def _store(given: _Given, prefix: str, certificates: str) -> Store | None:
    location = given.value(f"{prefix}.location")
    text = given.value(f"{prefix}.{certificates}")
    if location and text:
        reason = f"{prefix}.location and {prefix}.{certificates} exclude each other"
        raise given.refuse(f"{prefix}.location", reason)
    is_own = prefix == "ssl.keystore"
    if is_own and not text and given.value("ssl.keystore.key"):
        key = "ssl.keystore.key"
        raise given.refuse(key, f"{key} is there, but no ssl.keystore.certificate.chain")
    if not location and not text:
        return None
    if is_own and text and not given.value("ssl.keystore.key"):
        key = "ssl.keystore.certificate.chain"
        raise given.refuse(key, f"{key} is there, but no ssl.keystore.key")
    return Store(
        key=f"{prefix}.location" if location else f"{prefix}.{certificates}",
        location=location,
        password=given.secret(f"{prefix}.password"),
        certificates=text,
        private_key=given.value("ssl.keystore.key") if is_own else "",
        key_password=given.secret("ssl.key.password") if is_own else None,
    )


def _listed(given: _Given, key: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, given.value(key).split(","))))
