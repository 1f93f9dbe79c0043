"""The metadata log of a real quorum, as queries of Spark follow it."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pyarrow.parquet as pq
import pytest

from kraftops.spark.session.session import Session
from tests.helpers.kafka.jvm.jars import kafka_jars
from tests.helpers.kafka.nodes.clusters import Cluster, Shape, running_cluster
from tests.helpers.kafka.nodes.live_logs import SNAPSHOTS, change_topics, metadata_folder, topic
from tests.helpers.kafka.nodes.nodes import until
from tests.helpers.spark.streams import write_new

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow]

LISTENER = "CPLAIN"
PASSWORD = "MARKED-of-alice"
_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
SHAPE = Shape(
    is_combined=True,
    is_dynamic=True,
    settings={
        **SNAPSHOTS,
        "listener.name.cplain.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.cplain.plain.sasl.jaas.config": f'{_LOGIN} user_alice="{PASSWORD}";',
    },
    controller_listeners={LISTENER: "SASL_PLAINTEXT"},
)
CLIENT = {
    "kafka.security.protocol": "SASL_PLAINTEXT",
    "kafka.sasl.mechanism": "PLAIN",
    "kafka.sasl.jaas.config": f'{_LOGIN} username="alice" password="{PASSWORD}";',
}
COLUMNS = ("offset", "timestamp", "leaderEpoch", "kind", "type", "version", "keyJson", "valueJson")


def stream_of(spark: Any, cluster: Cluster) -> Any:
    stream = spark.readStream.format("kraftops").options(**CLIENT)
    return stream.option("controllers", cluster.addresses(LISTENER)).load()


def rows(table: Any) -> list[Any]:
    return list(table.select(*COLUMNS).collect())


def test_snapshot_and_log_come_once_and_no_password_is_shown(
    session: Session, tmp_path: Path
) -> None:
    spark: Any = session.spark
    jars = kafka_jars()
    if jars is None:
        pytest.skip("no jars of Kafka")
    with running_cluster(jars, tmp_path, SHAPE) as cluster:
        folder = metadata_folder(cluster.nodes[1])
        change_topics(cluster.brokers, "CreateTopics", [topic(f"t{n}") for n in range(50)])
        assert until(lambda: len([*folder.glob("*.checkpoint")]) > 1, 60)
        first = write_new(stream_of(spark, cluster), tmp_path / "target")
        change_topics(cluster.brokers, "CreateTopics", [topic("late")])
        last = write_new(stream_of(spark, cluster), tmp_path / "target")
        plan = stream_of(spark, cluster)._jdf.queryExecution().toString()
        logs = spark.read.format("kraftops").option("fromStart", "true").load(str(folder))
        known = {row.offset: row for row in rows(logs) if row.offset is not None}
        snapshots = [
            rows(spark.read.format("kraftops").option("decoder", "metadata").load(str(path)))
            for path in folder.glob("*.checkpoint")
        ]

    parts = [*(tmp_path / "target/table").glob("part-*")]  # a snapshot has its own
    types = {str(path): pq.read_table(path).column("type").to_pylist() for path in parts}
    (first_part,) = (path for path in types if types[path][:1] == ["SNAPSHOT_HEADER"])
    snapshot = rows(spark.read.parquet(first_part))
    log = sorted(rows(spark.read.parquet(*(types.keys() - {first_part}))))
    assert snapshot in snapshots
    assert [row.offset for row in log] == [*range(log[0].offset, log[-1].offset + 1)]
    assert log == [known[row.offset] for row in log]
    assert sum("late" in (row.valueJson or "") for row in log) == 1

    shown = [plan, str(first.lastProgress), str(last.lastProgress), events(session)]
    assert "redacted" in plan
    assert cluster.addresses(LISTENER) in plan
    assert [text for text in shown if PASSWORD in text] == []
    assert "QueryStartedEvent" in shown[-1]


def events(session: Session) -> str:
    """Return the event logs of a session."""
    folder = urlparse(dict(session.settings.conf)["spark.eventLog.dir"]).path
    names = (Path(at, name) for at, _, names in os.walk(folder) for name in names)
    return "".join(path.read_text() for path in names)
