"""TLS stores, versions and cipher suites from client properties."""

from dataclasses import replace

from kraftops.wire.config.client_properties import ClientProperties
from kraftops.wire.config.settings import Store, Tls

TLS_VERSIONS = ("TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3")
_STORE_TYPES = ("JKS", "PKCS12", "PEM")
_HOST_CHECK = "ssl.endpoint.identification.algorithm"


def tls_settings(properties: ClientProperties) -> Tls:
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
