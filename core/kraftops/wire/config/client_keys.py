"""Keys of Java client configurations: honoured, unsupported, and without a meaning here.

From Kafka 4.3's AdminClientConfig, ProducerConfig, ConsumerConfig, SslConfigs and SaslConfigs.
"""

from __future__ import annotations

INTS = frozenset(
    {"default.api.timeout.ms", "request.timeout.ms", "socket.connection.setup.timeout.ms"}
)
"""Keys with a time in ms, at least 1, checked as Kafka checks an INT."""

HONOURED = INTS | frozenset(
    """
    client.id sasl.jaas.config sasl.kerberos.service.name sasl.mechanism
    sasl.oauthbearer.client.credentials.client.id
    sasl.oauthbearer.client.credentials.client.secret sasl.oauthbearer.scope
    sasl.oauthbearer.token.endpoint.url security.protocol ssl.cipher.suites
    ssl.enabled.protocols ssl.endpoint.identification.algorithm ssl.key.password
    ssl.keystore.certificate.chain ssl.keystore.key ssl.keystore.location ssl.keystore.password
    ssl.keystore.type ssl.protocol ssl.truststore.certificates ssl.truststore.location
    ssl.truststore.password ssl.truststore.type
    """.split()  # noqa: SIM905 - a literal would take a line for each
)

_OAUTH = "org.apache.kafka.common.security.oauthbearer"
_ALGORITHMS = frozenset({"SunX509", "PKIX"})
_WITHOUT_DEFAULT = """
    config.providers sasl.login.class sasl.oauthbearer.assertion.algorithm
    sasl.oauthbearer.assertion.claim.aud sasl.oauthbearer.assertion.claim.iss
    sasl.oauthbearer.assertion.claim.sub sasl.oauthbearer.assertion.file
    sasl.oauthbearer.assertion.private.key.file
    sasl.oauthbearer.assertion.private.key.passphrase sasl.oauthbearer.assertion.template.file
    security.providers ssl.engine.factory.class ssl.provider ssl.secure.random.implementation
    """
SECURITY: dict[str, frozenset[str]] = dict.fromkeys(_WITHOUT_DEFAULT.split(), frozenset()) | {
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
