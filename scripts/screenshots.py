"""Write the screenshots in README; a test compares their words with what the commands print.

The commands run on a terminal of their own, on small made data; rich draws what they print as SVG.
"""

import html
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from kraftops.uuids import to_text  # noqa: E402
from tests.helpers.logs.metadata_logs import feature  # noqa: E402
from tests.helpers.logs.random_logs import uuid  # noqa: E402
from tests.helpers.tools.console import CLUSTER, DUMP_LOG, KRAFTOPS, STORAGE, run_command  # noqa: E402
from tests.helpers.tools.terminal_program import Screen  # noqa: E402
from tests.helpers.wire.metadata_quorums import MetadataLog  # noqa: E402
from tests.helpers.wire.peers import answer, described  # noqa: E402
from tests.helpers.wire.quorums import quorum  # noqa: E402

FOLDER = REPOSITORY / "docs" / "pictures"
LOGS, LOG = "tests/data/log-directories/4.3.1/running", "tests/data/dump-4.3.1/in/meta"
PARTITION = "/image/topics/byName/a.gzip/0"
COLUMNS, ROWS = 120, 60
HOSTS = {1: "c1.example", 2: "c2.example", 3: "c3.example"}
RACKS = {101: "north", 102: "south", 103: "north", 104: "south"}
TOPICS = {"orders": 3, "payments": 2, "mail": 1}
OTHER_ID = "9rD8UTSGTTmgS3yB1Pxllw"
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qk"
_CSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-ln-z]")


class Shot(NamedTuple):
    """A command, as it is shown and as it runs in a folder with *setup* done."""

    shown: str
    program: str
    setup: Callable[[Path, ExitStack], Sequence[str]]


def metadata_log() -> MetadataLog:
    """Make the metadata log of a cluster one of whose four brokers is down."""
    log = MetadataLog()
    log.add(feature("kraft.version", 1), feature("transaction.version", 2))
    for number, rack in RACKS.items():
        log.add(("RegisterBrokerRecord", registration(number, rack)))
        log.add(("BrokerRegistrationChangeRecord", change(number, fenced=-1)))
    for at, (name, partitions) in enumerate(TOPICS.items(), 1):
        log.add(("TopicRecord", {"name": name, "topicId": uuid(at)}))
        for each in range(partitions):
            replicas = [101 + (at + each + step) % len(RACKS) for step in range(3)]
            isr = [broker for broker in replicas if broker != 103]
            log.add(("PartitionRecord", {
                "partitionId": each, "topicId": uuid(at), "replicas": replicas, "isr": isr,
                "removingReplicas": [], "addingReplicas": [], "leader": isr[0], "leaderEpoch": 4,
                "partitionEpoch": 7, "directories": [uuid(broker) for broker in replicas],
            }))  # fmt: skip
    log.add(("ConfigRecord", config("orders", "min.insync.replicas", "2")))
    log.add(("ConfigRecord", config("orders", "retention.ms", "604800000")))
    log.add(("BrokerRegistrationChangeRecord", change(103, fenced=1)))
    return log


def registration(number: int, rack: str) -> Mapping[str, object]:
    """Return the values of a broker's registration."""
    endpoint = {"name": "PLAINTEXT", "host": f"b{number}.example", "port": 9092,
                "securityProtocol": 0}  # fmt: skip
    level = {"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 29}
    return {
        "brokerId": number, "isMigratingZkBroker": False, "incarnationId": uuid(number),
        "brokerEpoch": number, "endPoints": [endpoint], "features": [level], "rack": rack,
        "fenced": True, "inControlledShutdown": False, "logDirs": [uuid(number)],
    }  # fmt: skip


def change(number: int, fenced: int) -> Mapping[str, object]:
    """Return the values of a broker's change to fenced (1) or unfenced (-1)."""
    return {"brokerId": number, "brokerEpoch": number, "fenced": fenced}


def config(topic: str, key: str, value: str) -> Mapping[str, object]:
    """Return the values of a topic's configuration."""
    return {"resourceType": 2, "resourceName": topic, "name": key, "value": value}


def describe(_: Path, stack: ExitStack) -> Sequence[str]:
    """Serve the quorum of three controllers."""
    log = metadata_log()
    controllers = stack.enter_context(quorum(log))
    end = log.end

    def replica(number: int, behind: int) -> Mapping[str, object]:
        return {"replica_id": number, "replica_directory_id": None, "log_end_offset": end - behind,
                "last_fetch_timestamp": -1, "last_caught_up_timestamp": -1}  # fmt: skip

    def described_quorum(version: int, correlation: int, _: bytes) -> bytes:
        partition = {
            "partition_index": 0, "error_code": 0, "error_message": None, "leader_id": 1,
            "leader_epoch": 6, "high_watermark": end,
            "current_voters": [replica(1, 0), replica(2, 0), replica(3, 12)],
            "observers": [replica(each, 0) for each in RACKS if each != 103],
        }  # fmt: skip
        topic = {"topic_name": "__cluster_metadata", "partitions": [partition]}
        nodes = [
            {"node_id": each, "listeners": [{"name": "CONTROLLER", "host": host, "port": 9093}]}
            for each, host in HOSTS.items()
        ]
        return answer("DescribeQuorum", version, correlation, error_code=0, error_message=None,
                      topics=[topic], nodes=nodes)  # fmt: skip

    def described_cluster(version: int, correlation: int, _: bytes) -> bytes:
        nodes = [{"broker_id": 1, "host": "localhost", "port": controllers.address(1).port,
                  "rack": None, "is_fenced": False}]  # fmt: skip
        return described(correlation, version, brokers=nodes)

    controllers.more = {55: described_quorum, 60: described_cluster}
    return ["describe", "-C", f"localhost:{controllers.address(1).port}"]


def summary(_: Path, __: ExitStack) -> Sequence[str]:
    """Return the arguments: the logs are in the tests' data."""
    return ["--summary", str(REPOSITORY / LOGS)]


def verify(folder: Path, _: ExitStack) -> Sequence[str]:
    """Format three controllers of which one gets another directory id, and one is wiped."""
    voters = ",".join(
        f"{each}@{host}:9093:{to_text(uuid(1000 + each))}" for each, host in HOSTS.items()
    )
    for each, host in HOSTS.items():
        (folder / f"c{each}.properties").write_text(
            f"process.roles=controller\nnode.id={each}\n"
            f"listeners=CONTROLLER://{host}:9093\n"
            "controller.listener.names=CONTROLLER\n"
            f"controller.quorum.bootstrap.servers={HOSTS[1]}:9093\n"
            f"log.dirs=c{each}\n"
        )
        options = ("-t", CLUSTER_ID, "-c", f"c{each}.properties", "--initial-controllers", voters)
        done = run_command("format", *options, program=STORAGE, cwd=folder)
        assert done.code == 0, done.err
    meta = folder / "c2" / "meta.properties"
    meta.write_text(
        re.sub("directory.id=.*", "directory.id=9rD8UTSGTTmgS3yB1Pxllw", meta.read_text())
    )
    (folder / "c3" / "meta.properties").unlink()
    return ["verify", *(word for each in HOSTS for word in ("-c", f"c{each}.properties"))]


def shell(_: Path, __: ExitStack) -> Sequence[str]:
    """Return the arguments: the log is in the tests' data."""
    return ["metadata-shell", "-s", str(REPOSITORY / LOG), "cat", PARTITION]


SHOTS = {
    "describe": Shot("kafka-cluster describe -C c1.example:9093", CLUSTER, describe),
    "summary": Shot(f"kafka-dump-log --summary {LOGS}", DUMP_LOG, summary),
    "verify": Shot(
        "kafka-storage verify -c c1.properties -c c2.properties -c c3.properties", STORAGE, verify
    ),
    "shell": Shot(
        f"kraftops metadata-shell -s {LOG} cat {PARTITION}",
        KRAFTOPS,
        shell,
    ),
}


def printed(shot: Shot) -> str:
    """Return what a command prints on a terminal, with its colours."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        arguments = shot.setup(Path(name), stack)
        with Screen(shot.program, *arguments, columns=COLUMNS, rows=ROWS, folder=name) as screen:
            screen.wait_for_end()
            text = screen.raw
    return _CSI.sub("", text).replace("\r", "").strip("\n")


def svg(shot: Shot, text: str) -> str:
    """Return the picture of a terminal with the command and what it prints."""
    from io import StringIO

    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "dim"), (shot.shown, "bold")))
    console.print(Text.from_ansi(text))
    return console.export_svg(title="kraftops", unique_id="kraftops")


def words(picture: str) -> list[str]:
    """Return the words in a picture, without numbers, which may be ages."""
    text = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", picture))
    return re.sub(r"\d+", "0", html.unescape(text).replace("\xa0", " ")).split()


def path_of(name: str) -> Path:
    """Return the path of a picture."""
    return FOLDER / f"{name}.svg"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each, shot in SHOTS.items():
        path_of(each).write_text(svg(shot, printed(shot)), "utf-8")
