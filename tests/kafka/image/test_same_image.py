"""Kafka's own image classes give the same image of any log, and its shell the same tree."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest

from kraftops.image.load.loader import Loader
from kraftops.image.load.loading import load
from kraftops.image.replay.replay import Replay
from kraftops.image.state.findings import RECORD
from kraftops.image.state.image import MetadataImage
from kraftops.tree.layout import tree_of
from kraftops.tree.view import Form
from tests.helpers.kafka.jvm.jvm import has_compiler
from tests.helpers.kafka.tools.image_tool import KafkaImages, Shown
from tests.helpers.logs.random_logs import (
    LogBatch,
    MetadataRecord,
    Taste,
    log_batches,
    log_bytes,
    new_record,
    random_log,
    uuid,
)
from tests.helpers.logs.segments import batches_of
from tests.helpers.tools.corpus import SHELL
from tests.helpers.tree.leaves import leaves_of

pytestmark = pytest.mark.kafka

SEED = int(os.environ.get("KRAFTOPS_FUZZ_SEED_KAFKA", "431"))
COUNT = int(os.environ.get("KRAFTOPS_FUZZ_LOGS_KAFKA", "500"))
MOST_FAILURES = 3
REPLAYS = sorted((SHELL / "in" / "replay").glob("*.log"))
REAL = sorted((SHELL / "in").glob("n*/**/*.log")) + sorted(
    (SHELL / "in").glob("n*/**/*.checkpoint")
)
DEFECTS = {
    "r02-same-name-then-remove-old": "names follow the topics",
    "r04-same-id-twice": "names follow the topics",
    "r05-partition-of-unknown-topic": "an unknown topic costs its record alone",
    "r07-change-of-unknown-topic": "an unknown topic costs its record alone",
    "r13-transaction-begin-mid-batch": "what is aborted is gone",
    "r23-quotas": "odd quotas have names",
}
WITHOUT_DEFECTS = Taste(
    unknown_topics=False,
    shared_names=False,
    after_abort=False,
    double_begin=False,
    mixed_scram=False,
    odd_quotas=False,
)
"""Logs that Kafka reads without errors of its own."""
T, U = uuid(1), uuid(2)
TOPIC = new_record("TopicRecord", topicId=T, name="a")
REMOVAL = new_record("RemoveTopicRecord", topicId=T)
BEGIN, END, ABORT = (new_record(f"{name}TransactionRecord") for name in ("Begin", "End", "Abort"))
NO_OP = new_record("NoOpRecord")


@pytest.fixture(scope="module")
def kafka(jars: Path) -> Iterator[KafkaImages]:
    """Kafka's image of a log, in a JVM that the tests here share."""
    if not has_compiler():
        pytest.skip("java is no JDK, which runs source code too")
    with KafkaImages(jars) as images:
        yield images


def image_of(raw: bytes) -> MetadataImage:
    """Return our image of a log."""
    image = MetadataImage()
    source = image.store.add_source("memory", None)
    assert Loader(Replay(image)).add(batches_of(raw), source, "memory")
    return image


def our_leaves(image: MetadataImage) -> dict[str, str]:
    """Return what ours shows in Kafka's form."""
    root = tree_of(image, form=Form.KAFKA)
    return {
        path: leaf.kafka_text for path, leaf in leaves_of(root) if not path.startswith("/local/")
    }


def their_leaves(shown: Shown) -> dict[str, str]:
    return {path: text for path, text in shown.leaves.items() if not path.startswith("/local/")}


def differing(theirs: dict[str, str], ours: dict[str, str]) -> list[str]:
    """Return the differences as text."""
    return [
        f"{path}\nKafka: {theirs.get(path)}\n ours: {ours.get(path)}"
        for path in sorted(theirs.keys() | ours.keys())
        if theirs.get(path) != ours.get(path)
    ]


def unseen(log: Sequence[LogBatch]) -> set[int]:
    """Return the offsets of records in transactions that were aborted, or never ended.

    What is wrong with them does not matter to us; Kafka meets it when it reads them.
    """
    found: set[int] = set()
    inside: set[int] | None = None
    for batch in log:
        for offset, record in enumerate(batch.records, batch.base_offset):
            if record.name == "BeginTransactionRecord" and inside is None:
                inside = set()
            elif record.name == "EndTransactionRecord":
                inside = None
            elif record.name == "AbortTransactionRecord":
                found |= inside or set()
                inside = None
            elif inside is not None:
                inside.add(offset)
    return found | (inside or set())


def findings_differing(log: Sequence[LogBatch], shown: Shown, image: MetadataImage) -> list[str]:
    """Return as text the records that only one of the two images skips."""
    if any(not record.name for batch in log for record in batch.records):
        return []  # Kafka's offsets do not count what it cannot read
    found = (re.search(r"record from offset (\d+)", fault) for fault in shown.faults)
    theirs = {int(one[1]) for one in found if one}
    ours = {finding.place.offset for finding in image.findings if finding.code == RECORD}
    wrong = (theirs ^ ours) - unseen(log)
    return [
        f"record {offset} is left out by one alone"
        for offset in sorted(map(int, filter(None, wrong)))
    ]


def test_random_logs_have_kafkas_tree(kafka: KafkaImages) -> None:
    """All records, all versions; batches, transactions, unknown ids, wrong epochs."""
    failures: list[str] = []
    for seed in range(SEED, SEED + COUNT):
        log = random_log(Random(seed), WITHOUT_DEFECTS)
        raw = log_bytes(log)

        theirs, image = kafka(raw), image_of(raw)

        wrong = differing(their_leaves(theirs), our_leaves(image))
        wrong += findings_differing(log, theirs, image)
        failures += [f"seed {seed}: {one}" for one in wrong]
        if len(failures) >= MOST_FAILURES:
            break
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("path", REAL, ids=lambda path: f"{path.parts[-3]}-{path.name[:20]}")
def test_real_files_have_kafkas_tree(path: Path, kafka: KafkaImages) -> None:
    theirs = kafka(path.read_bytes())

    assert len(theirs.leaves) >= 4
    assert differing(their_leaves(theirs), our_leaves(load(path))) == []


@pytest.mark.parametrize("path", REPLAYS, ids=lambda path: path.stem)
def test_crafted_logs_have_kafkas_tree(path: Path, kafka: KafkaImages) -> None:
    """Except the cases with known errors in Kafka."""
    theirs = kafka(path.read_bytes())

    wrong = differing(their_leaves(theirs), our_leaves(load(path)))

    assert bool(wrong) == (path.stem in DEFECTS), "\n".join(wrong)


def partition(topic_id: bytes = T, number: int = 0) -> MetadataRecord:
    return new_record(
        "PartitionRecord", partitionId=number, topicId=topic_id, replicas=[1], isr=[1]
    )


def scram(user: str, name: str = "UserScramCredential") -> MetadataRecord:
    return new_record(f"{name}Record", name=user, mechanism=1)


def config(name: str, value: str | None = "1") -> MetadataRecord:
    return new_record("ConfigRecord", resourceType=2, resourceName="a", name=name, value=value)


KNOWN = {
    "unknown topic: the batch is lost": (
        [[NO_OP, partition(U), TOPIC]],
        {"/image/topics/byName/a/name", "/image/provenance"},
    ),
    "removed topic comes back by a partition in its batch": (
        [[TOPIC], [REMOVAL, partition()]],
        {"/image/topics/byName/a/name", "/image/topics/byName/a/0"},
    ),
    "records before an abort stay where one follows it in its batch": (
        [[BEGIN, TOPIC], [ABORT, NO_OP]],
        {"/image/topics/byName/a/name"},
    ),
    "name stays after the topic has another": (
        [[TOPIC], [new_record("TopicRecord", topicId=T, name="b")]],
        {"/image/topics/byName/a/name"},
    ),
    "name goes with a topic that had it before": (
        [[TOPIC], [new_record("TopicRecord", topicId=U, name="a")], [REMOVAL]],
        {"/image/topics/byName/a/id", "/image/topics/byName/a/name"},
    ),
    "credential is lost where another empties its mechanism after it": (
        [[scram("v(w)"), scram("", "RemoveUserScramCredential")]],
        {"/image/scram/SCRAM-SHA-256/v(w)"},
    ),
    "second begin in a row takes the first into the image": (
        [[NO_OP], [BEGIN, BEGIN]],
        {"/image/provenance"},
    ),
    "topic's configurations stay where all that it had were unknown": (
        [[TOPIC, config("message.format.version")], [config("retention.ms"), REMOVAL]],
        {"/image/configs/TOPIC:a/retention.ms"},
    ),
}
"""Known errors in Kafka: batches, and some of the paths that differ."""


@pytest.mark.parametrize("name", KNOWN)
def test_known_differences(name: str, kafka: KafkaImages) -> None:
    batches, paths = KNOWN[name]
    raw = log_bytes(log_batches(*batches))

    theirs, ours = their_leaves(kafka(raw)), our_leaves(image_of(raw))

    different = {path for path in theirs.keys() | ours if theirs.get(path) != ours.get(path)}
    assert paths <= different
