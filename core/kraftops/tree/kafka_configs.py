"""Configuration names that Kafka 4.3.1 keeps when it loads an image; it drops all others.

The tables are from its `LogConfig`, `ClientMetricsConfigs` and `GroupConfig`. None stands for
all names.
"""

_TOPIC = """
    cleanup.policy compression.gzip.level compression.lz4.level compression.type
    compression.zstd.level delete.retention.ms file.delete.delay.ms flush.messages flush.ms
    follower.replication.throttled.replicas index.interval.bytes internal.segment.bytes
    leader.replication.throttled.replicas local.retention.bytes local.retention.ms
    max.compaction.lag.ms max.message.bytes message.timestamp.after.max.ms
    message.timestamp.before.max.ms message.timestamp.type min.cleanable.dirty.ratio
    min.compaction.lag.ms min.insync.replicas preallocate remote.log.copy.disable
    remote.log.delete.on.disable remote.storage.enable retention.bytes retention.ms segment.bytes
    segment.index.bytes segment.jitter.ms segment.ms unclean.leader.election.enable
"""
_GROUP = """
    consumer.assignment.interval.ms consumer.heartbeat.interval.ms consumer.session.timeout.ms
    share.assignment.interval.ms share.auto.offset.reset share.delivery.count.limit
    share.heartbeat.interval.ms share.isolation.level share.partition.max.record.locks
    share.record.lock.duration.ms share.renew.acknowledge.enable share.session.timeout.ms
    streams.assignment.interval.ms streams.heartbeat.interval.ms
    streams.initial.rebalance.delay.ms streams.num.standby.replicas streams.session.timeout.ms
"""
CONFIGS_ON_LOAD: dict[int, frozenset[str] | None] = {
    2: frozenset(_TOPIC.split()),
    4: None,
    16: frozenset({"interval.ms", "match", "metrics"}),
    32: frozenset(_GROUP.split()),
}
"""Names by type of resource; Kafka drops other types as a whole."""
