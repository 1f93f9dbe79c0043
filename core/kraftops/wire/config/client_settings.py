"""Client properties as Kafka's Java tools take them, checked and made into settings."""

import re
from collections.abc import Callable
from dataclasses import replace

from kraftops.errors import DecodeError
from kraftops.java.properties import Property
from kraftops.wire.config.client_properties import (
    HONOURED,
    INTS,
    PASSED_OVER,
    SECURITY,
    ClientProperties,
    read_properties,
)
from kraftops.wire.config.jaas import Login, parse_login
from kraftops.wire.config.settings import CONNECT_TIMEOUT, TIMEOUT, Sasl, Settings, Store, Tls

PROTOCOLS = ("SASL_SSL", "PLAINTEXT", "SSL", "SASL_PLAINTEXT")
_INT = re.compile(r"[+-]?[0-9]{1,10}")
_MAX_INT = 0x7FFFFFFF  # `Integer.MAX_VALUE`, the most of a key of the type INT
_LOGIN_MODULES = {
    "PLAIN": "PlainLoginModule",
    "SCRAM-SHA-256": "ScramLoginModule",
    "SCRAM-SHA-512": "ScramLoginModule",
    "OAUTHBEARER": "OAuthBearerLoginModule",
    "GSSAPI": "Krb5LoginModule",
    "AWS_MSK_IAM": "IAMLoginModule",
}
"""The login module in `sasl.jaas.config`, by mechanism."""
_NO_MECHANISM = (
    f"sasl.mechanism is missing, which means GSSAPI; it can be {', '.join(_LOGIN_MODULES)}"
)
TLS_VERSIONS = ("TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3")
_STORE_TYPES = ("JKS", "PKCS12", "PEM")
_HOST_CHECK = "ssl.endpoint.identification.algorithm"


def load_settings(path: str, warn: Callable[[str], None]) -> Settings:
    """Read a file of client properties; call *warn* for each key that clients do not have.

    Raises:
        ConfigError: it cannot be read, or has an invalid or unsupported value; the message holds
            no secret.
    """
    entries = read_properties(path)
    accepted = HONOURED | PASSED_OVER | SECURITY.keys()
    for key, entry in entries.items():
        if key not in accepted and not key.startswith(("config.providers.", "metrics.context.")):
            warn(f"{path}: line {entry.line}: the key {key} is unknown, and ignored")
    return client_settings(ClientProperties(path, entries))


def client_settings(properties: ClientProperties) -> Settings:
    """Check the client properties that we honour; a missing one has Kafka's default.

    Raises:
        ConfigError: a value is invalid or unsupported; the message holds no secret.
    """
    _check_support(properties)
    times = {key: _int(properties, key) for key in INTS if properties.value(key)}
    protocol = properties.value("security.protocol", "PLAINTEXT").upper()
    if protocol not in PROTOCOLS:
        protocols = ", ".join(PROTOCOLS)
        reason = f"String must be one of (case insensitive): {protocols}"
        raise properties.invalid("security.protocol", reason)
    return Settings(
        protocol=protocol,
        sasl=_sasl_settings(properties) if protocol.startswith("SASL") else None,
        tls=_tls_settings(properties) if protocol.endswith("SSL") else None,
        timeout=times.get("default.api.timeout.ms", TIMEOUT * 1000) / 1000,
        connect_timeout=times.get("socket.connection.setup.timeout.ms", CONNECT_TIMEOUT * 1000)
        / 1000,
        client_id=properties.value("client.id", "kraftops") or "kraftops",
        source=properties.path,
    )


def _check_support(properties: ClientProperties) -> None:
    """Refuse security keys and configuration providers that have no meaning here."""
    for key in properties.entries:
        value = properties.value(key)
        if key in SECURITY and value and value not in SECURITY[key]:
            raise properties.error(
                key, f"{key} cannot be honoured here", "leave it out for this tool"
            )
        if value.startswith("${") and key in HONOURED:
            reason = f"{key} refers to a configuration provider, which cannot be asked here"
            raise properties.error(key, reason, "put the value itself into a file of its own")


def _int(properties: ClientProperties, key: str) -> int:
    text = properties.value(key)
    if not _INT.fullmatch(text) or abs(int(text)) > _MAX_INT:
        raise properties.invalid(key, "Not a number of type INT")
    if int(text) <= 0:
        raise properties.invalid(key, "Value must be at least 1")
    return int(text)


def _sasl_settings(properties: ClientProperties) -> Sasl:
    """Check mechanism (GSSAPI by default, as Kafka's) and login; both must fit.

    Raises:
        ConfigError: a value is missing, invalid or unsupported; the message holds no secret.
    """
    mechanism = properties.value("sasl.mechanism") or "GSSAPI"
    if mechanism not in _LOGIN_MODULES:
        raise properties.unsupported("sasl.mechanism", f"these can: {', '.join(_LOGIN_MODULES)}")
    protocol = properties.value("security.protocol").upper()
    if mechanism == "AWS_MSK_IAM" and protocol != "SASL_SSL":
        raise properties.error("security.protocol", "AWS_MSK_IAM needs security.protocol SASL_SSL")
    login = _login(properties, mechanism)
    _check_options(properties, mechanism, login)
    return Sasl(
        mechanism=mechanism,
        login=login,
        protocol=protocol,
        source=properties.path,
        token_tls=_token_tls(properties, login) if mechanism == "OAUTHBEARER" else None,
        service_name=properties.value("sasl.kerberos.service.name")
        or login.options.get("serviceName", ""),
        token_url=properties.value("sasl.oauthbearer.token.endpoint.url"),
        client_id=properties.value("sasl.oauthbearer.client.credentials.client.id"),
        client_secret=properties.raw_value("sasl.oauthbearer.client.credentials.client.secret")
        or "",
        scope=properties.value("sasl.oauthbearer.scope"),
    )


def _login(properties: ClientProperties, mechanism: str) -> Login:
    """Parse `sasl.jaas.config`; its module must be that of the mechanism."""
    module = _LOGIN_MODULES[mechanism]
    is_named = bool(properties.value("sasl.mechanism"))
    text = properties.value("sasl.jaas.config")
    if not text:
        raise properties.error(
            "security.protocol",
            "sasl.jaas.config is missing, which security.protocol asks for",
            f"{module} is the login module of {mechanism}" if is_named else _NO_MECHANISM,
        )
    try:
        login = parse_login(text)
    except DecodeError as error:
        raise properties.error("sasl.jaas.config", f"sasl.jaas.config: {error.message}") from error
    named = login.module.rpartition(".")[2]
    if named != module:
        raise properties.error(
            "sasl.jaas.config",
            f"sasl.jaas.config names {named}, which is not for the mechanism {mechanism}",
            f"{module} is; sasl.mechanism sets the mechanism" if is_named else _NO_MECHANISM,
        )
    return login


def _token_tls(properties: ClientProperties, login: Login) -> Tls | None:
    """Choose stores for the token endpoint; None trusts what the system trusts.

    Those of the login module's options win over those of the file.

    Raises:
        ConfigError: a key or value cannot be honoured.
    """
    own = {
        key: Property(key, value, 0)
        for key, value in login.options.items()
        if key.startswith("ssl.")
    }
    for key in own:
        if key not in HONOURED:
            raise properties.error("sasl.jaas.config", f"sasl.jaas.config: {key} is not honoured")
    entries = {key: prop for key, prop in properties.entries.items() if key.startswith("ssl.")}
    entries |= own
    if not entries:
        return None
    return _tls_settings(ClientProperties(properties.path, entries))


def _check_options(properties: ClientProperties, mechanism: str, login: Login) -> None:
    """Refuse a login without user or password, and options that have no meaning here."""
    if mechanism == "PLAIN" or mechanism.startswith("SCRAM"):
        for name in ("username", "password"):
            if not login.options.get(name):
                reason = f"sasl.jaas.config has no {name}"
                how = f"{mechanism} logs in with username and password"
                raise properties.error("sasl.jaas.config", reason, how)
    if mechanism == "AWS_MSK_IAM" and login.options:
        name = next(iter(login.options))
        raise properties.error(
            "sasl.jaas.config",
            f"sasl.jaas.config: {name} cannot be honoured here",
            "the environment has it: AWS_PROFILE, AWS_ROLE_ARN, AWS_DEFAULT_REGION",
        )
    for name in ("tokenauth", "useKeyTab"):
        if login.options.get(name, "").lower() == "true":
            hint = "kinit -kt takes a ticket that is used" if name == "useKeyTab" else None
            reason = f"sasl.jaas.config: {name} cannot be honoured here"
            raise properties.error("sasl.jaas.config", reason, hint)


def _tls_settings(properties: ClientProperties) -> Tls:
    """Check stores, versions, cipher suites and whether the host's name is compared.

    Raises:
        ConfigError: a value is missing, or unsupported.
    """
    for key in ("ssl.truststore.type", "ssl.keystore.type"):
        if properties.value(key).upper() not in ("", *_STORE_TYPES):
            raise properties.unsupported(key, f"these can: {', '.join(_STORE_TYPES)}")
    versions = _versions(properties)
    algorithm = properties.value(_HOST_CHECK, "https")
    if algorithm.lower() not in ("", "https"):
        raise properties.unsupported(_HOST_CHECK)
    return Tls(
        trust=_store(properties, "ssl.truststore", "ssl.truststore.certificates"),
        own=_key_store(properties),
        checks_host=bool(algorithm),
        versions=versions,
        ciphers=properties.values("ssl.cipher.suites"),
    )


def _versions(properties: ClientProperties) -> tuple[str, ...]:
    """Choose among TLS versions; an empty tuple allows all that OpenSSL has."""
    key = "ssl.enabled.protocols"
    versions = properties.values(key)
    if not versions:
        key = "ssl.protocol"
        versions = tuple(filter(None, [properties.value(key)]))
    for version in versions:
        if version not in (*TLS_VERSIONS, "TLS"):
            raise properties.error(key, f"{key} {version} cannot be honoured here")
    return tuple(version for version in versions if version != "TLS")


def _store(properties: ClientProperties, prefix: str, text_key: str) -> Store | None:
    """Take a path, or certificates as PEM text; None if neither is given, an error if both are."""
    location, text = properties.value(f"{prefix}.location"), properties.value(text_key)
    if location and text:
        reason = f"{prefix}.location and {text_key} exclude each other"
        raise properties.error(f"{prefix}.location", reason)
    if not location and not text:
        return None
    return Store(
        key=f"{prefix}.location" if location else text_key,
        location=location,
        password=properties.raw_value(f"{prefix}.password"),
        certificates=text,
    )


def _key_store(properties: ClientProperties) -> Store | None:
    """Return our own certificate and key; in PEM, both must be there."""
    chain, key = "ssl.keystore.certificate.chain", "ssl.keystore.key"
    store = _store(properties, "ssl.keystore", chain)
    private_key = properties.value(key)
    has_chain = store is not None and bool(store.certificates)
    if has_chain != bool(private_key):
        present, missing = (chain, key) if has_chain else (key, chain)
        raise properties.error(present, f"{present} is there, but no {missing}")
    key_password = properties.raw_value("ssl.key.password")
    return store and replace(store, private_key=private_key, key_password=key_password)
