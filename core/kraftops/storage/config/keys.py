"""Keys of a server configuration (Kafka 4.3.1's `KafkaConfig`): types, defaults, limits.

A line a key, in the order in which Kafka reads them and so meets the errors in them:

    NAME TYPE[!] [CHECK] [=DEFAULT]

`!` marks a key that must be given; without a default the value is null. A check is one of

    MIN..[MAX]      a number from MIN to MAX, both included
    text            a string that is not empty
    one-of:A|B      one of these strings
    any-case:A|B    one of these strings, in capitals or not
    items[+][:A|B]  a list without empty items, none twice, not empty (`+`), only of these
    gzip            a level of gzip
    voters          `{id}@{host}:{port}` each
    servers         `{host}:{port}` each
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple


class ServerKey(NamedTuple):
    """A key; *type*, *check* and *default* are those of the table, *default* None for null."""

    name: str
    type: str
    required: bool
    check: str
    default: str | None


@cache
def server_keys() -> Mapping[str, ServerKey]:
    """Return every key by its name, in Kafka's order."""
    keys = {}
    for line in _TABLE.splitlines():
        text, has_default, default = line.partition(" =")
        name, kind, *check = text.split(" ")
        keys[name] = ServerKey(
            name,
            kind.removesuffix("!"),
            kind[-1] == "!",
            check[0] if check else "",
            default if has_default else None,
        )
    return keys


_TABLE = """\
remote.log.storage.system.enable boolean =false
remote.log.storage.manager.impl.prefix string text =rsm.config.
remote.log.metadata.manager.impl.prefix string text =rlmm.config.
remote.log.storage.manager.class.name string text
remote.log.storage.manager.class.path string
remote.log.metadata.manager.class.name string text =org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager
remote.log.metadata.manager.class.path string
remote.log.metadata.manager.listener.name string text
remote.log.metadata.custom.metadata.max.bytes int 0.. =128
remote.log.index.file.cache.total.size.bytes long 1.. =1073741824
remote.log.index.file.cache.ttl.ms long -1.. =900000
remote.log.manager.thread.pool.size int 1.. =2
remote.log.manager.copier.thread.pool.size int 1.. =10
remote.log.manager.expiration.thread.pool.size int 1.. =10
remote.log.manager.follower.thread.pool.size int 1.. =2
remote.log.manager.task.interval.ms long 1.. =30000
remote.log.manager.task.retry.backoff.ms long 1.. =500
remote.log.manager.task.retry.backoff.max.ms long 1.. =30000
remote.log.manager.task.retry.jitter double 0..0.5 =0.2
remote.log.reader.threads int 1.. =10
remote.log.reader.max.pending.tasks int 1.. =100
log.local.retention.ms long -2.. =-2
log.local.retention.bytes long -2.. =-2
remote.log.manager.copy.max.bytes.per.second long 1.. =9223372036854775807
remote.log.manager.copy.quota.window.num int 1.. =11
remote.log.manager.copy.quota.window.size.seconds int 1.. =1
remote.log.manager.fetch.max.bytes.per.second long 1.. =9223372036854775807
remote.log.manager.fetch.quota.window.num int 1.. =11
remote.log.manager.fetch.quota.window.size.seconds int 1.. =1
remote.fetch.max.wait.ms int 1.. =500
remote.list.offsets.request.timeout.ms long 1.. =30000
broker.id int =-1
message.max.bytes int 0.. =1048588
num.io.threads int 1.. =8
num.replica.alter.log.dirs.threads int
background.threads int 1.. =10
request.timeout.ms int =30000
socket.connection.setup.timeout.ms long =10000
socket.connection.setup.timeout.max.ms long =30000
config.providers list items =
authorizer.class.name string =
early.start.listeners list items
broker.rack string
controlled.shutdown.enable boolean =true
delete.topic.enable boolean =true
compression.type string one-of:uncompressed|zstd|lz4|snappy|gzip|producer =producer
compression.gzip.level int gzip =-1
compression.lz4.level int 1..17 =9
compression.zstd.level int -131072..22 =3
max.incremental.fetch.session.cache.slots int 0.. =1000
fetch.max.bytes int 1024.. =57671680
max.request.partition.size.limit int 1.. =2000
unstable.api.versions.enable boolean =false
unstable.feature.versions.enable boolean =false
process.roles list! items+:broker|controller
node.id int! 0..
initial.broker.registration.timeout.ms int =60000
broker.heartbeat.interval.ms int =2000
broker.session.timeout.ms int =9000
controller.listener.names list! items+
sasl.mechanism.controller.protocol string =GSSAPI
controller.performance.sample.period.ms long 100.. =60000
controller.performance.always.log.threshold.ms long 0.. =2000
server.max.startup.time.ms long 0.. =9223372036854775807
metadata.log.max.record.bytes.between.snapshots long 1.. =20971520
metadata.log.max.snapshot.interval.ms long 0.. =3600000
metadata.log.dir string
metadata.log.segment.bytes int 8388608.. =1073741824
metadata.log.segment.ms long =604800000
metadata.max.retention.bytes long =104857600
metadata.max.retention.ms long =604800000
metadata.max.idle.interval.ms int 0.. =500
internal.metadata.log.segment.bytes int
internal.metadata.max.batch.size.in.bytes int =8388608
internal.metadata.delete.delay.millis long =60000
listeners list items+ =PLAINTEXT://:9092
advertised.listeners list items+
listener.security.protocol.map string =SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT
socket.send.buffer.bytes int =102400
socket.receive.buffer.bytes int =102400
socket.request.max.bytes int 1.. =104857600
socket.listen.backlog.size int 1.. =50
max.connections.per.ip int 0.. =2147483647
max.connections.per.ip.overrides string =
max.connections int 0.. =2147483647
max.connection.creation.rate int 0.. =2147483647
connections.max.idle.ms long =600000
connection.failed.authentication.delay.ms int 0.. =100
queued.max.requests int 1.. =500
queued.max.request.bytes long =-1
num.network.threads int 1.. =3
controller.socket.timeout.ms int =30000
default.replication.factor int =1
replica.lag.time.max.ms long =30000
replica.socket.timeout.ms int =30000
replica.socket.receive.buffer.bytes int =65536
replica.fetch.max.bytes int 0.. =1048576
replica.fetch.wait.max.ms int =500
replica.fetch.backoff.ms int 0.. =1000
replica.fetch.min.bytes int =1
replica.fetch.response.max.bytes int 0.. =10485760
num.replica.fetchers int 1.. =1
replica.high.watermark.checkpoint.interval.ms long =5000
fetch.purgatory.purge.interval.requests int =1000
producer.purgatory.purge.interval.requests int =1000
delete.records.purgatory.purge.interval.requests int =1
auto.leader.rebalance.enable boolean =true
leader.imbalance.check.interval.seconds long 1.. =300
unclean.leader.election.interval.ms long 1.. =300000
unclean.leader.election.enable boolean =false
security.inter.broker.protocol string one-of:PLAINTEXT|SSL|SASL_PLAINTEXT|SASL_SSL =PLAINTEXT
inter.broker.listener.name string
replica.selector.class string
follower.fetch.last.tiered.offset.enable boolean =false
group.coordinator.rebalance.protocols list items+:consumer|classic|share|streams =classic,consumer,streams
group.coordinator.threads int 1.. =4
group.coordinator.background.threads int 1.. =2
group.coordinator.append.linger.ms int -1.. =-1
offsets.commit.timeout.ms int 1.. =5000
offsets.load.buffer.size int 1.. =5242880
offsets.topic.replication.factor short 1.. =3
offsets.topic.num.partitions int 1.. =50
offsets.topic.segment.bytes int 1.. =104857600
offsets.topic.compression.codec int =0
group.coordinator.cached.buffer.max.bytes int 524288.. =1048588
offset.metadata.max.bytes int =4096
offsets.retention.minutes int 1.. =10080
offsets.retention.check.interval.ms long 1.. =600000
group.min.session.timeout.ms int =6000
group.max.session.timeout.ms int =1800000
group.initial.rebalance.delay.ms int =3000
group.max.size int 1.. =2147483647
group.consumer.session.timeout.ms int 1.. =45000
group.consumer.min.session.timeout.ms int 1.. =45000
group.consumer.max.session.timeout.ms int 1.. =60000
group.consumer.heartbeat.interval.ms int 1.. =5000
group.consumer.min.heartbeat.interval.ms int 1.. =5000
group.consumer.max.heartbeat.interval.ms int 1.. =15000
group.consumer.max.size int 1.. =2147483647
group.consumer.assignors list items+ =uniform,range
group.consumer.migration.policy string any-case:DISABLED|DOWNGRADE|UPGRADE|BIDIRECTIONAL =bidirectional
group.consumer.assignment.interval.ms int 0.. =1000
group.consumer.min.assignment.interval.ms int 0.. =0
group.consumer.max.assignment.interval.ms int 0.. =15000
group.consumer.regex.refresh.interval.ms int 10000.. =600000
group.share.session.timeout.ms int 1.. =45000
group.share.min.session.timeout.ms int 1.. =45000
group.share.max.session.timeout.ms int 1.. =60000
group.share.heartbeat.interval.ms int 1.. =5000
group.share.min.heartbeat.interval.ms int 1.. =5000
group.share.max.heartbeat.interval.ms int 1.. =15000
group.share.max.size int 1..1000 =200
group.share.assignors list items+ =simple
group.share.assignment.interval.ms int 0.. =1000
group.share.min.assignment.interval.ms int 0.. =0
group.share.max.assignment.interval.ms int 0.. =15000
group.share.initialize.retry.interval.ms int 1.. =30000
group.streams.session.timeout.ms int 1.. =45000
group.streams.min.session.timeout.ms int 1.. =45000
group.streams.max.session.timeout.ms int 1.. =60000
group.streams.heartbeat.interval.ms int 1.. =5000
group.streams.min.heartbeat.interval.ms int 1.. =5000
group.streams.max.heartbeat.interval.ms int 1.. =15000
group.streams.max.size int 1.. =2147483647
group.streams.num.standby.replicas int 0.. =0
group.streams.max.standby.replicas int 0.. =2
group.streams.initial.rebalance.delay.ms int 0.. =3000
group.streams.assignment.interval.ms int 0.. =1000
group.streams.min.assignment.interval.ms int 0.. =0
group.streams.max.assignment.interval.ms int 0.. =15000
log.cleaner.threads int 0.. =1
log.cleaner.io.max.bytes.per.second double =1.7976931348623157E308
log.cleaner.dedupe.buffer.size long =134217728
log.cleaner.io.buffer.size int 0.. =524288
log.cleaner.io.buffer.load.factor double =0.9
log.cleaner.backoff.ms long 0.. =15000
log.cleaner.min.cleanable.ratio double 0..1 =0.5
log.cleaner.enable boolean =true
log.cleaner.delete.retention.ms long 0.. =86400000
log.cleaner.min.compaction.lag.ms long 0.. =0
log.cleaner.max.compaction.lag.ms long 1.. =9223372036854775807
num.partitions int 1.. =1
log.dir list items+ =/tmp/kafka-logs
log.dirs list items+
cordoned.log.dirs list items =
log.segment.bytes int 1048576.. =1073741824
log.roll.ms long
log.roll.hours int 1.. =168
log.roll.jitter.ms long
log.roll.jitter.hours int 0.. =0
log.retention.ms long
log.retention.minutes int
log.retention.hours int =168
log.retention.bytes long =-1
log.retention.check.interval.ms long 1.. =300000
log.cleanup.policy list items:compact|delete =delete
log.index.size.max.bytes int 4.. =10485760
log.index.interval.bytes int 0.. =4096
log.flush.interval.messages long 1.. =9223372036854775807
log.segment.delete.delay.ms long 0.. =60000
log.flush.scheduler.interval.ms long =9223372036854775807
log.flush.interval.ms long
log.flush.offset.checkpoint.interval.ms int 0.. =60000
log.flush.start.offset.checkpoint.interval.ms int 0.. =60000
log.preallocate boolean =false
num.recovery.threads.per.data.dir int 1.. =2
auto.create.topics.enable boolean =true
min.insync.replicas int 1.. =1
log.message.timestamp.type string one-of:CreateTime|LogAppendTime =CreateTime
log.message.timestamp.before.max.ms long 0.. =9223372036854775807
log.message.timestamp.after.max.ms long 0.. =3600000
create.topic.policy.class.name class
alter.config.policy.class.name class
log.dir.failure.timeout.ms long 1.. =30000
log.initial.task.delay.ms long 0.. =30000
group.share.delivery.count.limit int 2..10 =5
group.share.max.delivery.count.limit int 5..25 =10
group.share.min.delivery.count.limit int 2..5 =2
group.share.record.lock.duration.ms int 1000..3600000 =30000
group.share.min.record.lock.duration.ms int 1000..30000 =15000
group.share.max.record.lock.duration.ms int 30000..3600000 =60000
group.share.partition.max.record.locks int 100..10000 =2000
group.share.max.partition.max.record.locks int 2000..10000 =4000
group.share.min.partition.max.record.locks int 100..2000 =100
share.fetch.purgatory.purge.interval.requests int =1000
group.share.max.share.sessions int 1.. =2000
group.share.persister.class.name string =org.apache.kafka.server.share.persister.DefaultStatePersister
share.coordinator.state.topic.num.partitions int 1.. =50
share.coordinator.state.topic.replication.factor short 1.. =3
share.coordinator.state.topic.min.isr short 1.. =2
share.coordinator.state.topic.segment.bytes int 1.. =104857600
share.coordinator.threads int 1.. =1
share.coordinator.snapshot.update.records.per.snapshot int 0..500 =500
share.coordinator.load.buffer.size int 1.. =5242880
share.coordinator.state.topic.compression.codec int =0
share.coordinator.append.linger.ms int -1.. =-1
share.coordinator.write.timeout.ms int 1.. =5000
share.coordinator.state.topic.prune.interval.ms int 1.. =300000
share.coordinator.cold.partition.snapshot.interval.ms int 1.. =300000
share.coordinator.cached.buffer.max.bytes int 524288.. =1048588
transaction.state.log.min.isr int 1.. =2
transaction.state.log.load.buffer.size int 1.. =5242880
transaction.state.log.replication.factor short 1.. =3
transaction.state.log.num.partitions int 1.. =50
transaction.state.log.segment.bytes int 1.. =104857600
transaction.partition.verification.enable boolean =true
producer.id.expiration.ms int 1.. =86400000
producer.id.expiration.check.interval.ms int 1.. =600000
transactional.id.expiration.ms int 1.. =604800000
transaction.max.timeout.ms int 1.. =900000
transaction.abort.timed.out.transaction.cleanup.interval.ms int 1.. =10000
transaction.remove.expired.transaction.cleanup.interval.ms int 1.. =3600000
transaction.two.phase.commit.enable boolean =false
controller.quorum.voters list voters =
controller.quorum.bootstrap.servers list servers =
controller.quorum.election.timeout.ms int 0.. =1000
controller.quorum.fetch.timeout.ms int 0.. =2000
controller.quorum.election.backoff.max.ms int 0.. =1000
controller.quorum.append.linger.ms int 0.. =25
controller.quorum.request.timeout.ms int 0.. =2000
controller.quorum.retry.backoff.ms int 0.. =20
controller.quorum.auto.join.enable boolean =false
controller.quorum.fetch.snapshot.max.bytes int 1.. =1048576
controller.quorum.fetch.max.bytes int 1.. =1048576
metrics.num.samples int 1.. =2
metrics.sample.window.ms long 1.. =30000
metric.reporters list items =org.apache.kafka.common.metrics.JmxReporter
metrics.recording.level string =INFO
kafka.metrics.reporters list items =
kafka.metrics.polling.interval.secs int 1.. =10
telemetry.max.bytes int 1.. =1048576
quota.window.num int 1.. =11
replication.quota.window.num int 1.. =11
alter.log.dirs.replication.quota.window.num int 1.. =11
controller.quota.window.num int 1.. =11
quota.window.size.seconds int 1.. =1
replication.quota.window.size.seconds int 1.. =1
alter.log.dirs.replication.quota.window.size.seconds int 1.. =1
controller.quota.window.size.seconds int 1.. =1
client.quota.callback.class class
connections.max.reauth.ms long =0
sasl.server.max.receive.size int =524288
security.providers string
principal.builder.class class =org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder
ssl.client.auth string one-of:required|requested|none =none
ssl.principal.mapping.rules string =DEFAULT
ssl.allow.dn.changes boolean =false
ssl.allow.san.changes boolean =false
ssl.protocol string =TLSv1.3
ssl.provider string
ssl.enabled.protocols list items =TLSv1.2,TLSv1.3
ssl.keystore.type string =JKS
ssl.keystore.location string
ssl.keystore.password password
ssl.key.password password
ssl.keystore.key password
ssl.keystore.certificate.chain password
ssl.truststore.type string =JKS
ssl.truststore.location string
ssl.truststore.password password
ssl.truststore.certificates password
ssl.keymanager.algorithm string =SunX509
ssl.trustmanager.algorithm string =PKIX
ssl.endpoint.identification.algorithm string =https
ssl.secure.random.implementation string
ssl.cipher.suites list items =
ssl.engine.factory.class class
sasl.mechanism.inter.broker.protocol string =GSSAPI
sasl.enabled.mechanisms list items =GSSAPI
sasl.server.callback.handler.class class
sasl.kerberos.principal.to.local.rules list items =DEFAULT
sasl.jaas.config password
sasl.client.callback.handler.class class
sasl.login.class class
sasl.login.callback.handler.class class
sasl.kerberos.service.name string
sasl.kerberos.kinit.cmd string =/usr/bin/kinit
sasl.kerberos.ticket.renew.window.factor double =0.8
sasl.kerberos.ticket.renew.jitter double =0.05
sasl.kerberos.min.time.before.relogin long =60000
sasl.login.refresh.window.factor double =0.8
sasl.login.refresh.window.jitter double =0.05
sasl.login.refresh.min.period.seconds short =60
sasl.login.refresh.buffer.seconds short =300
sasl.login.connect.timeout.ms int
sasl.login.read.timeout.ms int
sasl.login.retry.backoff.max.ms long =10000
sasl.login.retry.backoff.ms long =100
sasl.oauthbearer.jwt.retriever.class class =org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever
sasl.oauthbearer.jwt.validator.class class =org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator
sasl.oauthbearer.scope string
sasl.oauthbearer.client.credentials.client.id string
sasl.oauthbearer.client.credentials.client.secret password
sasl.oauthbearer.assertion.algorithm string any-case:ES256|RS256 =RS256
sasl.oauthbearer.assertion.claim.aud string
sasl.oauthbearer.assertion.claim.exp.seconds int 0..86400 =300
sasl.oauthbearer.assertion.claim.iss string
sasl.oauthbearer.assertion.claim.jti.include boolean =false
sasl.oauthbearer.assertion.claim.nbf.seconds int 0..3600 =60
sasl.oauthbearer.assertion.claim.sub string
sasl.oauthbearer.assertion.file string
sasl.oauthbearer.assertion.private.key.file string
sasl.oauthbearer.assertion.private.key.passphrase password
sasl.oauthbearer.assertion.template.file string
sasl.oauthbearer.scope.claim.name string =scope
sasl.oauthbearer.sub.claim.name string =sub
sasl.oauthbearer.token.endpoint.url string
sasl.oauthbearer.jwks.endpoint.url string
sasl.oauthbearer.jwks.endpoint.refresh.ms long =3600000
sasl.oauthbearer.jwks.endpoint.retry.backoff.ms long =100
sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms long =10000
sasl.oauthbearer.clock.skew.seconds int =30
sasl.oauthbearer.expected.audience list items =
sasl.oauthbearer.expected.issuer string
delegation.token.secret.key password
delegation.token.max.lifetime.ms long 1.. =604800000
delegation.token.expiry.time.ms long 1.. =86400000
delegation.token.expiry.check.interval.ms long 1.. =3600000
add.partitions.to.txn.retry.backoff.max.ms int 0.. =100
add.partitions.to.txn.retry.backoff.ms int 1.. =20
"""  # noqa: E501
