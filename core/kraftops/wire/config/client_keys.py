"""Keys of Java client configurations: honoured, unsupported, and without a meaning here.

From Kafka 4.3's AdminClientConfig, ProducerConfig, ConsumerConfig, SslConfigs and SaslConfigs.
"""

from __future__ import annotations

INTS = frozenset(
    {"default.api.timeout.ms", "request.timeout.ms", "socket.connection.setup.timeout.ms"}
)
"""Keys with a time in ms, at least 1, checked as Kafka checks an INT."""

HONOURED = frozenset(
    {
        *INTS,
        "client.id",
        "sasl.jaas.config",
        "sasl.kerberos.service.name",
        "sasl.mechanism",
        "sasl.oauthbearer.client.credentials.client.id",
        "sasl.oauthbearer.client.credentials.client.secret",
        "sasl.oauthbearer.scope",
        "sasl.oauthbearer.token.endpoint.url",
        "security.protocol",
        "ssl.cipher.suites",
        "ssl.enabled.protocols",
        "ssl.endpoint.identification.algorithm",
        "ssl.key.password",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.keystore.type",
        "ssl.protocol",
        "ssl.truststore.certificates",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.type",
    }
)

_OAUTH_HANDLERS = frozenset(
    {
        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler",
        "org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerLoginCallbackHandler",
    }
)
_NONE: frozenset[str] = frozenset()
SECURITY: dict[str, frozenset[str]] = {
    "config.providers": _NONE,
    "sasl.client.callback.handler.class": frozenset(
        {"software.amazon.msk.auth.iam.IAMClientCallbackHandler"}
    ),
    "sasl.login.callback.handler.class": _OAUTH_HANDLERS,
    "sasl.login.class": _NONE,
    "sasl.oauthbearer.assertion.algorithm": _NONE,
    "sasl.oauthbearer.assertion.claim.aud": _NONE,
    "sasl.oauthbearer.assertion.claim.iss": _NONE,
    "sasl.oauthbearer.assertion.claim.sub": _NONE,
    "sasl.oauthbearer.assertion.file": _NONE,
    "sasl.oauthbearer.assertion.private.key.file": _NONE,
    "sasl.oauthbearer.assertion.private.key.passphrase": _NONE,
    "sasl.oauthbearer.assertion.template.file": _NONE,
    "sasl.oauthbearer.jwt.retriever.class": frozenset(
        {
            "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
            "org.apache.kafka.common.security.oauthbearer.ClientCredentialsJwtRetriever",
            "org.apache.kafka.common.security.oauthbearer.FileJwtRetriever",
        }
    ),
    "security.providers": _NONE,
    "ssl.engine.factory.class": _NONE,
    "ssl.keymanager.algorithm": frozenset({"SunX509", "PKIX"}),
    "ssl.provider": _NONE,
    "ssl.secure.random.implementation": _NONE,
    "ssl.trustmanager.algorithm": frozenset({"SunX509", "PKIX"}),
}
"""Keys that have no meaning here, and the values that may be given nevertheless: the defaults."""

PASSED_OVER = frozenset(
    """
    acks allow.auto.create.topics auto.commit.interval.ms auto.include.jmx.reporter
    auto.offset.reset batch.size bootstrap.controllers bootstrap.servers buffer.memory check.crcs
    client.dns.lookup client.rack compression.gzip.level compression.lz4.level compression.type
    compression.zstd.level connections.max.idle.ms delivery.timeout.ms enable.auto.commit
    enable.idempotence enable.metrics.push exclude.internal.topics fetch.max.bytes
    fetch.max.wait.ms fetch.min.bytes group.id group.instance.id group.protocol
    group.remote.assignor heartbeat.interval.ms interceptor.classes isolation.level
    key.deserializer key.serializer linger.ms max.block.ms max.in.flight.requests.per.connection
    max.partition.fetch.bytes max.poll.interval.ms max.poll.records max.request.size
    metadata.max.age.ms metadata.max.idle.ms metadata.recovery.rebootstrap.trigger.ms
    metadata.recovery.strategy metric.reporters metrics.num.samples metrics.recording.level
    metrics.sample.window.ms partition.assignment.strategy partitioner.adaptive.partitioning.enable
    partitioner.availability.timeout.ms partitioner.class partitioner.ignore.keys
    receive.buffer.bytes reconnect.backoff.max.ms reconnect.backoff.ms retries
    retry.backoff.max.ms retry.backoff.ms sasl.kerberos.kinit.cmd
    sasl.kerberos.min.time.before.relogin sasl.kerberos.ticket.renew.jitter
    sasl.kerberos.ticket.renew.window.factor sasl.login.connect.timeout.ms
    sasl.login.read.timeout.ms sasl.login.refresh.buffer.seconds
    sasl.login.refresh.min.period.seconds sasl.login.refresh.window.factor
    sasl.login.refresh.window.jitter sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms
    sasl.oauthbearer.assertion.claim.exp.seconds sasl.oauthbearer.assertion.claim.jti.include
    sasl.oauthbearer.assertion.claim.nbf.seconds sasl.oauthbearer.clock.skew.seconds
    sasl.oauthbearer.expected.audience sasl.oauthbearer.expected.issuer
    sasl.oauthbearer.header.urlencode sasl.oauthbearer.jwks.endpoint.refresh.ms
    sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms
    sasl.oauthbearer.jwks.endpoint.retry.backoff.ms sasl.oauthbearer.jwks.endpoint.url
    sasl.oauthbearer.jwt.validator.class sasl.oauthbearer.scope.claim.name
    sasl.oauthbearer.sub.claim.name send.buffer.bytes session.timeout.ms
    share.acknowledgement.mode share.acquire.mode socket.connection.setup.timeout.max.ms
    transaction.timeout.ms transaction.two.phase.commit.enable transactional.id
    value.deserializer value.serializer
    """.split()  # noqa: SIM905 - a literal would take a line for each
)
"""Keys of admin clients, producers and consumers that change nothing here."""
