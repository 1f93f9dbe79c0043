"""Secrets: fields of records, and values of configurations."""

REDACTED = "<redacted>"
SECRET_FIELDS = {
    "UserScramCredentialRecord": frozenset({"salt", "storedKey", "serverKey"}),
}
"""Fields of type bytes, by message."""
CONFIGURATION = "ConfigRecord"
"""The message with values that are secret if the name of the configuration key is."""
SECRET_WORDS = (
    "password",
    "passphrase",
    "secret",
    "credential",
    "jaas.config",
    "ssl.keystore.",
    "ssl.truststore.",
)
"""Parts of the names of secret configuration keys; the case of ASCII letters is ignored."""
PUBLIC_SUFFIXES = (
    "ssl.keystore.location",
    "ssl.keystore.type",
    "ssl.truststore.location",
    "ssl.truststore.type",
)
"""Ends of names that are public in spite of a secret word in them."""


def may_hold_secrets(message: str) -> bool:
    """Tell whether the bytes of an unreadable message may hold secrets."""
    return message in SECRET_FIELDS or message == CONFIGURATION


def is_secret_config(name: str) -> bool:
    """Tell whether the values of a configuration key are secret, as Kafka's PASSWORD keys are."""
    if name.endswith(PUBLIC_SUFFIXES):
        return False
    lower = name.encode("utf-8", "surrogatepass").lower()  # of bytes: ASCII alone
    return any(word.encode() in lower for word in SECRET_WORDS)
