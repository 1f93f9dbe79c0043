"""Keys of Java client configurations: honoured, unsupported, and without a meaning here.

From Kafka 4.3's AdminClientConfig, ProducerConfig, ConsumerConfig, SslConfigs and SaslConfigs.
"""

from kraftops.fileio.packaged import packaged_parts

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
