"""TLS stores, versions and cipher suites from client properties."""

from __future__ import annotations

from kraftops.wire.config.client_properties import ClientProperties
from kraftops.wire.config.settings import Store, Tls

TLS_VERSIONS = ("TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3")
_STORE_TYPES = ("JKS", "PKCS12", "PEM")
_HOST_CHECK = "ssl.endpoint.identification.algorithm"


def tls_settings(properties: ClientProperties) -> Tls:
    """Return the stores, the versions and the cipher suites.

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
        trust=_trust_store(properties),
        own=_key_store(properties),
        checks_host=bool(algorithm),
        versions=versions,
        ciphers=properties.values("ssl.cipher.suites"),
    )


def _versions(properties: ClientProperties) -> tuple[str, ...]:
    """Return the enabled TLS versions; none for all that OpenSSL has."""
    key = "ssl.enabled.protocols"
    versions = properties.values(key)
    if not versions:
        key = "ssl.protocol"
        versions = tuple(filter(None, [properties.value(key)]))
    for version in versions:
        if version not in (*TLS_VERSIONS, "TLS"):
            raise properties.error(key, f"{key} {version} cannot be honoured here")
    return tuple(version for version in versions if version != "TLS")


def _trust_store(properties: ClientProperties) -> Store | None:
    prefix, certificates = "ssl.truststore", "ssl.truststore.certificates"
    location, text = _location_or_text(properties, prefix, certificates)
    if not location and not text:
        return None
    return Store(
        key=f"{prefix}.location" if location else certificates,
        location=location,
        password=properties.raw_value(f"{prefix}.password"),
        certificates=text,
    )


def _key_store(properties: ClientProperties) -> Store | None:
    """Return our own certificate and key; in PEM, both must be there."""
    prefix, chain, key = "ssl.keystore", "ssl.keystore.certificate.chain", "ssl.keystore.key"
    location, text = _location_or_text(properties, prefix, chain)
    private_key = properties.value(key)
    if private_key and not text:
        raise properties.error(key, f"{key} is there, but no {chain}")
    if not location and not text:
        return None
    if text and not private_key:
        raise properties.error(chain, f"{chain} is there, but no {key}")
    return Store(
        key=f"{prefix}.location" if location else chain,
        location=location,
        password=properties.raw_value(f"{prefix}.password"),
        certificates=text,
        private_key=private_key,
        key_password=properties.raw_value("ssl.key.password"),
    )


def _location_or_text(properties: ClientProperties, prefix: str, text_key: str) -> tuple[str, str]:
    """Return the path of a store, or its certificates as PEM text; only one may be given."""
    location, text = properties.value(f"{prefix}.location"), properties.value(text_key)
    if location and text:
        reason = f"{prefix}.location and {text_key} exclude each other"
        raise properties.error(f"{prefix}.location", reason)
    return location, text
