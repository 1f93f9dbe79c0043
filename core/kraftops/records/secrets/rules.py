"""Secrets: fields of records, and values of configurations."""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import cache
from typing import Self

from kraftops.fileio.packaged import packaged_text

REDACTED = "<redacted>"
SECRET_FIELDS = {
    "UserScramCredentialRecord": frozenset({"salt", "storedKey", "serverKey", "saltedPassword"}),
}
"""Fields of type bytes, by message; those of structs in it too (`saltedPassword`: KIP-631)."""
CONFIGURATION = "ConfigRecord"
"""The message with values that are secret unless the configuration key is known as public."""
BROKER = 4
"""The code of brokers in `ConfigResource.Type`."""
LISTENER_MECHANISM_CONFIGS = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)
"""Keys with a mechanism between the listener and their name (Kafka's `DynamicBrokerConfig`)."""

# A dot does not end a line here, as in Java.
_LISTENER_CONFIG = re.compile("listener\\.name\\.[^.]*\\.([^\n\r\x85\u2028\u2029]*)")


class Redacted(str):
    """A secret that is shown as `<redacted>`; two are equal only if the secrets are."""

    __slots__ = ("_secret",)
    _secret: object

    def __new__(cls, secret: object) -> Self:
        """Keep the secret beside the text that stands for it."""
        text = super().__new__(cls, REDACTED)
        text._secret = secret
        return text

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Redacted):
            return bool(self._secret == other._secret)
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Pickle as the redaction: the secret must not reach another process."""
        return str, (REDACTED,)


def may_hold_secrets(message: str) -> bool:
    """Tell whether the bytes of an unreadable message may hold secrets."""
    return message in SECRET_FIELDS or message == CONFIGURATION


@cache
def public_configs() -> Mapping[int, Collection[str]]:
    """Return the names of public keys, by the code of the resource type (`ConfigResource.Type`)."""
    public: dict[int, set[str]] = defaultdict(set)
    for line in packaged_text(__file__, "config_keys.txt").splitlines():
        code, _, name = line.partition(" ")
        if code != "#":
            public[int(code)].add(name)
    return public


def is_secret_config(resource_type: int, name: str) -> bool:
    """Tell whether the value of a configuration key is secret, as Kafka's loggers decide it.

    It is if the type of the key is PASSWORD, and if no release knows the key for resources of this
    type: Kafka's `KafkaConfigSchema.isSensitive`. A key of a listener is that of the server which
    it overrides (`DynamicBrokerConfig.brokerConfigSynonyms`).
    """
    public = public_configs().get(resource_type, ())
    if name in public:
        return False
    return resource_type != BROKER or _server_config(name) not in public


def _server_config(name: str) -> str | None:
    """Return the key that a key of a listener overrides; None where there is none."""
    match = _LISTENER_CONFIG.fullmatch(name)
    if match is None:
        return None
    named = (key for key in LISTENER_MECHANISM_CONFIGS if match[1].endswith(key))
    return next(named, match[1])
