"""Archives as the tools of vendors lay them out.

Strimzi: `tools/report.sh` and `tools/cold-backup`. Confluent: data and configuration of the image
cp-kafka, and `kubectl confluent support-bundle`. Amazon MSK: the logs of brokers in S3.
"""

import gzip
from pathlib import Path

import pytest

from tests.helpers.logs.bundles import KINDS, Files, files_in, under
from tests.helpers.logs.log_directories import REAL
from tests.helpers.tools.console import KRAFTOPS, run_here

STOPPED = REAL / "stopped"
LINES = b"2026-11-28 12:00:00 INFO  [main] KafkaServer:66 - [KafkaServer id=1] started\n" * 50
CONFIG = b"process.roles=broker\nnode.id=1\nlog.dirs=/var/lib/kafka/data\n"
NODE = files_in(STOPPED)
WITH_LOGS: dict[str, tuple[str, Files]] = {
    "backup.zip": (
        "data/data-0-my-cluster-kafka-0/kafka-log0",
        {
            "env": b"declare -x KAFKA_REPLICAS=1\n",
            "resources/kafka-my-cluster.yaml": b"kind: Kafka",
        },
    ),
    "cp-kafka.tar.gz": ("var/lib/kafka/data", {"etc/kafka/kafka.properties": CONFIG}),
}
MSK = "AWSLogs/123456789012/KafkaBrokerLogs/eu-west-1/cluster-c0ffee-1/2026-11-28-12/"
WITHOUT_LOGS: dict[str, Files] = {
    "report.zip": {
        "reports/podlogs/my-cluster-kafka-0.log": LINES,
        "reports/podlogs/my-cluster-kafka-0.log.0": LINES,
        "reports/configs/my-cluster-kafka-0.cfg": CONFIG,
        "reports/events/events.txt": b"LAST SEEN   TYPE\n",
    },
    "support-bundle-ns-confluent.tar.gz": {
        "clusters-resources/kafka/kafka-0.log": LINES,
        "clusters-resources/kafka/configmap.yaml": b"kind: ConfigMap",
    },
    "msk.zip": {f"{MSK}Broker-1_12-00_5f4dcc3b.log.gz": gzip.compress(LINES)},
}


def written(path: Path, files: Files) -> Path:
    """Write an archive of the kind that its name says."""
    KINDS["log.zip" if path.suffix == ".zip" else "log.tar.gz"](path, files)
    return path


@pytest.mark.parametrize("name", WITH_LOGS)
def test_logs_of_a_backup_are_those_of_the_node(tmp_path: Path, name: str) -> None:
    inner, others = WITH_LOGS[name]
    path = written(tmp_path / name, others | under(f"{inner}/", NODE))

    for words in (["--check"], ["--summary"]):
        packed = run_here("dump-log", *words, str(path), program=KRAFTOPS)
        plain = run_here("dump-log", *words, str(STOPPED), program=KRAFTOPS)
        assert packed.code == plain.code == 0
        named = packed.text.replace(f"{path}!/{inner}", str(STOPPED))
        assert [line.split() for line in named.splitlines()] == [
            line.split() for line in plain.text.splitlines()
        ]
    for words in (["doctor"], ["incidents"], ["metadata-shell", "ls", "-s"]):
        assert run_here(*words, str(path), program=KRAFTOPS).code in (0, 2)


@pytest.mark.parametrize("name", WITHOUT_LOGS)
def test_bundle_without_logs_of_partitions_is_a_line(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name, WITHOUT_LOGS[name])

    for words in (["dump-log"], ["doctor"], ["incidents"], ["metadata-shell", "ls", "-s"]):
        done = run_here(*words, str(path), program=KRAFTOPS)
        assert done.code in (1, 3)
        assert done.out == b""
        assert f"{path} holds no " in done.errors[0]
        assert done.errors[1].startswith("hint: name an archive")
