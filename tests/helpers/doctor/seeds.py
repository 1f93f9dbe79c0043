"""Nodes and clusters with one or two faults, and the code that the doctor must tell first.

Those in `REAL_DISKS` are the disks of a real server, Kafka 4.3.1, with faults; the others are metadata
logs and nodes made by tests. `HEALTHY` have no fault. The table is made before the order of findings is
tuned by it; `UNSEEN` is made afterwards, and nothing is tuned by that.
"""

import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from kraftops.log.indexes import TimeEntry
from kraftops.log.producers import ProducerState
from kraftops.server.loader.contract import LoadRequest
from tests.helpers.kafka.loader import faults
from tests.helpers.kafka.loader.partitions import Partition
from tests.helpers.logs.incidents import INCIDENT, Incident, config, incident_directory
from tests.helpers.logs.incidents import change as partition_change
from tests.helpers.logs.log_directories import REAL
from tests.helpers.logs.written import producers_bytes, time_index_bytes
from tests.helpers.nodes.node_directories import PROPERTIES, STATIC, format_node, make_node

DAY = 86_400
Change = Callable[[Path], object]
"""Makes a fault in the log directory `d` of the folder of a node."""


class Seed(NamedTuple):
    """A node or a cluster: *build* makes it in a folder, and returns the arguments for the doctor."""

    code: str | None
    """The code of the cause; None for a healthy one."""
    build: Callable[[Path], Sequence[str]]
    faults: int = 1


def real(code: str | None, *changes: Change) -> Seed:
    """Return the disk of a real server with changes, and its configuration."""

    def build(folder: Path) -> Sequence[str]:
        shutil.copytree(REAL / "stopped", folder / "d")
        make_node(folder, STATIC, log_dirs="d")
        for change in changes:
            change(folder)
        return ["-c", PROPERTIES]

    return Seed(code, build, len(changes))


def alone(code: str | None, *changes: Change) -> Seed:
    """Return the same without a configuration, by its directory."""

    def build(folder: Path) -> Sequence[str]:
        real(code, *changes).build(folder)
        return ["d"]

    return Seed(code, build, len(changes))


def drawn(fault: faults.Fault, seed: int) -> Change:
    """Return what makes a fault of the comparison with Kafka's loader in a partition."""

    def change(folder: Path) -> None:
        path = folder / "d/plain-0"
        files = {file.name: file.read_bytes() for file in path.iterdir()}
        request = LoadRequest(path.name, recovery_point=24, was_clean=True)
        partition = Partition(request, files)
        fault(Random(seed), partition)
        shutil.rmtree(path)
        partition.write(path.parent)

    return change


def read_whole(seed: Seed) -> Seed:
    """Return a seed of which everything is read."""
    return seed._replace(build=lambda folder: [*seed.build(folder), "--deep"])


def logged(code: str | None, incident: Incident, faults: int = 1) -> Seed:
    """Return the metadata log of an incident."""

    def build(folder: Path) -> Sequence[str]:
        return [str(incident_directory(folder / "meta", incident))]

    return Seed(code, build, faults)


def cut(path: str, size: int) -> Change:
    return lambda folder: os.truncate(folder / "d" / path, size)


def write(path: str, text: str | bytes) -> Change:
    content = text.encode() if isinstance(text, str) else text

    def change(folder: Path) -> None:
        (folder / "d" / path).parent.mkdir(exist_ok=True)
        (folder / "d" / path).write_bytes(content)

    return change


def remove(path: str) -> Change:
    def change(folder: Path) -> None:
        there = folder / "d" / path
        if there.is_dir():
            shutil.rmtree(there)
        else:
            there.unlink()

    return change


def replace(path: str, old: str, new: str) -> Change:
    def change(folder: Path) -> None:
        there = folder / "d" / path
        text = there.read_text()
        assert old in text
        there.write_text(text.replace(old, new))

    return change


def flip(path: str, position: int) -> Change:
    """Return what changes a byte."""

    def change(folder: Path) -> None:
        content = bytearray((folder / "d" / path).read_bytes())
        content[position] ^= 0xFF
        (folder / "d" / path).write_bytes(content)

    return change


def aged(path: str, days: float) -> Change:
    """Return what makes the last write of a segment older than its timestamps."""

    def change(folder: Path) -> None:
        seconds = time.time() - days * DAY
        os.utime(folder / "d" / path, (seconds, seconds))

    return change


def together(*changes: Change) -> Change:
    def change(folder: Path) -> None:
        for each in changes:
            each(folder)

    return change


def second_copy(folder: Path) -> None:
    """Have a partition in two log directories."""
    (folder / "e").mkdir()
    text = (folder / "d/meta.properties").read_text()
    other = text.replace("qsbfIilcoC-bKkzi751tUw", "rsbfIilcoC-bKkzi751tUw")
    (folder / "e/meta.properties").write_text(other)
    shutil.copytree(folder / "d/plain-0", folder / "e/plain-0")
    make_node(folder, STATIC, log_dirs="d,e", metadata_log_dir="d")


def set_key(**keys: str) -> Change:
    return lambda folder: make_node(folder, STATIC, log_dirs="d", **keys)


LOG = f"{0:020}.log"
FUTURE = together(
    write(
        f"plain-0/{0:020}.timeindex",
        time_index_bytes([TimeEntry(4_000_000_000_000, 8)], 0),
    ),
    *(aged(f"plain-0/{base:020}.log", days) for base, days in ((0, 90), (9, 80), (18, 1))),
)
HANGING = write(
    f"txn-0/{72:020}.snapshot",
    producers_bytes([ProducerState(7, 0, 0, 70, 0, 1_700_000_000_000, 0, 64)]),
)
SHORT = cut(f"plain-0/{18:020}.log", 100)
BAD_EPOCHS = write("cut-0/leader-epoch-checkpoint", "what?\n")
BAD_CHECKPOINT = write("recovery-point-offset-checkpoint", "nothing\n")
UNCLEAN = remove(".kafka_cleanshutdown")
BEGIN = INCIDENT[:7]
OUT = (10, [partition_change(0, isr=[1, 2])])

REAL_DISKS: Mapping[str, Seed] = {
    "the end of a log is cut": real("missing-end", SHORT),
    "the end of a log is cut, without a configuration": alone("missing-end", SHORT),
    "a log is gone": real("missing-end", remove(f"plain-1/{18:020}.log")),
    "a checkpoint is damaged": real("bad-checkpoint", BAD_CHECKPOINT),
    "a high watermark file is damaged": real(
        "bad-checkpoint", write("replication-offset-checkpoint", "0\n1\nplain\n")
    ),
    "epochs are damaged": real("start-refused", BAD_EPOCHS),
    "epochs are damaged, without a configuration": alone("start-refused", BAD_EPOCHS),
    "a topic id is damaged": real(
        "start-refused", write("kept-0/partition.metadata", "version: 7")
    ),
    "a folder of another kind": real("unknown-directory", write("backup/file", "x")),
    "no meta.properties": real("not-formatted", remove("meta.properties")),
    "meta.properties is damaged": real("bad-meta", write("meta.properties", "version=9\n")),
    "meta.properties of another node": real(
        "other-node-id", replace("meta.properties", "node.id=1", "node.id=5")
    ),
    "a partition is gone": real("missing-partition", remove("plain-1")),
    "a topic has another id": real(
        "unknown-topic",
        write("kept-0/partition.metadata", "version: 0\ntopic_id: WmCtq1ycVk9dBfdep1ym9A\n"),
    ),
    "a partition is twice": real("partition-twice", second_copy),
    "a metadata log is cut": real("metadata-log-lost", cut(f"__cluster_metadata-0/{LOG}", 2000)),
    "a batch of the metadata log is damaged": real(
        "damage", flip(f"__cluster_metadata-0/{LOG}", 3000)
    ),
    "a key is wrong": real("bad-configuration", set_key(num_partitions="many")),
    "a class does not exist": real(
        "missing-class", set_key(authorizer_class_name="org.apache.kafka.NoSuchAuthorizer")
    ),
    "timestamps in the future": real("retention-stuck", FUTURE),
    "a transaction hangs": real("hanging-transaction", HANGING),
    "a damaged batch after an unclean stop": real(
        "start-cuts-log", together(UNCLEAN, flip(f"plain-0/{18:020}.log", 80))
    ),
    "quorum-state is damaged": real(
        "bad-quorum-state", write("__cluster_metadata-0/quorum-state", "{")
    ),
    # Two faults: the worse one, or the cause.
    "cut, and a transaction hangs": real("missing-end", SHORT, HANGING),
    "cut, and timestamps in the future": real("missing-end", FUTURE, SHORT),
    "epochs, and a transaction hangs": real("start-refused", HANGING, BAD_EPOCHS),
    "a folder, and timestamps in the future": real(
        "unknown-directory", write("backup/file", "x"), FUTURE
    ),
    "cut, and a damaged checkpoint": real("missing-end", BAD_CHECKPOINT, SHORT),
    "a partition gone, and a folder": real(
        "missing-partition", remove("plain-1"), write("backup/file", "x")
    ),
    "a metadata log cut, and a transaction": real(
        "metadata-log-lost", cut(f"__cluster_metadata-0/{LOG}", 2000), HANGING
    ),
    "no meta.properties, and a log cut": real("not-formatted", remove("meta.properties"), SHORT),
    "wrong key, and a topic's id": alone(
        "unknown-topic",
        write("kept-0/partition.metadata", "version: 0\ntopic_id: WmCtq1ycVk9dBfdep1ym9A\n"),
        HANGING,
    ),
}
CLUSTERS: Mapping[str, Seed] = {
    "a broker is down": logged("broker-down", INCIDENT[:9]),
    "a broker is down, under min ISR": logged("broker-down", INCIDENT[:10]),
    "a broker is down, a partition offline": logged("broker-down", INCIDENT[:11]),
    "a follower is behind": logged("follower-behind", [*BEGIN, OUT]),
    "the min ISR is too large": logged(
        "min-isr-above-replicas", [*BEGIN, (9, [config("4", "min.insync.replicas")])]
    ),
    "unclean elections": logged("unclean-elections", INCIDENT),
    "a follower behind, and a min ISR too large": logged(
        "min-isr-above-replicas", [*BEGIN, (9, [config("4", "min.insync.replicas")]), OUT], 2
    ),
    "a broker is down, and a follower is behind": logged(
        "broker-down", [*INCIDENT[:9], (12, [partition_change(0, isr=[2], leader=2)])], 2
    ),
}
# Drawn with the weights of the comparison with Kafka's loader by Random(431128), without those that
# a start mends; the numbers are those that were drawn. Codes are by what Kafka's loader does there.
DRAWN: Mapping[str, Seed] = {
    "drawn: a segment has another name": real(
        "start-refused", drawn(faults.renamed_segment, 17290)
    ),
    "drawn: the last segment is gone": real(
        "missing-end", UNCLEAN, drawn(faults.last_segment_gone, 11936)
    ),
    "drawn: epochs are empty": real("start-refused", drawn(faults.empty_epochs, 33902)),
    "drawn: odd metadata, and a transaction hangs": real(
        "start-refused", HANGING, drawn(faults.odd_metadata, 13972)
    ),
    "drawn: a log is compressed, and a folder": real(
        "missing-start", drawn(faults.compressed_log, 34077), write("backup/file", "x")
    ),
    "drawn: files of a swap, and a damaged checkpoint": real(
        "bad-checkpoint", BAD_CHECKPOINT, drawn(faults.swap_files, 16609)
    ),
    "drawn: no metadata, and timestamps in the future": real(
        "no-topic-id", FUTURE, drawn(faults.metadata_gone, 538)
    ),
    "drawn: a bit of a header": read_whole(real("bad-batch", drawn(faults.bit_in_a_header, 53443))),
    "drawn: a batch is lost": read_whole(real("missing-offsets", drawn(faults.lost_batch, 56092))),
    "drawn: zeros, and a transaction hangs": read_whole(
        real("bad-batch", drawn(faults.zeros_in_a_log, 14170), HANGING)
    ),
}
SEEDS = {**REAL_DISKS, **CLUSTERS, **DRAWN}


def _formatted(folder: Path) -> Sequence[str]:
    assert format_node(make_node(folder, STATIC)).code == 0
    return ["-c", PROPERTIES]


def _running(folder: Path) -> Sequence[str]:
    """A copy that was made while the server ran."""
    shutil.copytree(REAL / "running", folder / "d")
    return ["d"]


HEALTHY: Mapping[str, Seed] = {
    "a real server": real(None),
    "a real server, by its directory": alone(None),
    "a copy of a running server": Seed(None, _running, 0),
    "formatted, never started": Seed(None, _formatted, 0),
    "old segments that retention has not met yet": real(None, aged(f"plain-0/{0:020}.log", 1)),
    "a compacted topic of old segments": real(None, aged(f"kept-0/{0:020}.log", 300)),
    "a quiet cluster": logged(None, BEGIN),
    "a cluster after a restart": logged(
        None,
        [
            *INCIDENT[:9],
            (20, INCIDENT[13][1]),
            (20, [partition_change(0, isr=[1, 2, 3], leader=1)]),
            (21, [partition_change(1, isr=[1, 2, 3], leader=1)]),
        ],
    ),
    "a configuration that changed": logged(None, [*BEGIN, *INCIDENT[19:21]]),
    "a topic that was deleted": logged(None, [*BEGIN, INCIDENT[-2]]),
}
UNSEEN: Mapping[str, Seed] = {
    "an internal partition is gone": real("missing-partition", remove("__transaction_state-0")),
    "an internal log is cut": real("missing-end", cut(f"__transaction_state-0/{LOG}", 3000)),
    "epochs of transactions are damaged": real(
        "start-refused", write("txn-0/leader-epoch-checkpoint", "0\nx\n")
    ),
    "the cleaner's checkpoint is damaged": real(
        "bad-checkpoint", write("cleaner-offset-checkpoint", "zero\n")
    ),
    "log starts are damaged, and a transaction hangs": real(
        "bad-checkpoint", write("log-start-offset-checkpoint", "0\n9\n"), HANGING
    ),
    "no metadata log": real("metadata-lost", remove("__cluster_metadata-0")),
    "listeners are wrong": real("bad-configuration", set_key(listeners="PLAINTEXT//localhost")),
    "another topic id": real(
        "unknown-topic",
        write("plain-1/partition.metadata", "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAABQ\n"),
    ),
    "quorum-state is damaged, and a log cut": real(
        "missing-end", write("__cluster_metadata-0/quorum-state", "no"), SHORT
    ),
    "a broker is down, and another leads": logged(
        "broker-down", [*INCIDENT[:9], (14, [partition_change(1, leader=2)])], 2
    ),
}
"""Made after the order of findings was tuned by `SEEDS`."""
