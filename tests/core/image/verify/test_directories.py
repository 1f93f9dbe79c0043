"""Stray partitions on disk are found."""

from pathlib import Path

import pytest

from kraftops.errors import SourceError
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.directories import stray_findings
from kraftops.uuids import to_text
from tests.helpers.image.verifying import DIRECTORY, OTHER, TOPIC, image_of, told
from tests.helpers.logs.random_logs import MetadataRecord, new_record, uuid


def data_directory(path: Path, node_id: int, *partitions: tuple[str, bytes | None]) -> str:
    path.mkdir()
    (path / "meta.properties").write_text(
        f"version=1\ncluster.id=x\nnode.id={node_id}\ndirectory.id={to_text(DIRECTORY)}\n"
    )
    for name, topic_id in partitions:
        (path / name).mkdir()
        if topic_id:
            text = f"version: 0\ntopic_id: {to_text(topic_id)}\n"
            (path / name / "partition.metadata").write_text(text)
    return str(path)


@pytest.fixture
def image(tmp_path: Path) -> MetadataImage:
    def partition(number: int, directory: bytes) -> MetadataRecord:
        return new_record(
            "PartitionRecord",
            partitionId=number,
            topicId=TOPIC,
            replicas=[1, 2],
            isr=[1, 2],
            leader=1,
            directories=[directory, uuid(77)],
        )

    return image_of(
        tmp_path,
        new_record("TopicRecord", name="orders", topicId=TOPIC),
        partition(0, DIRECTORY),
        partition(1, uuid(1 << 98)),
        partition(2, uuid(1)),
    )


def test_partitions_where_they_belong_are_no_strays(tmp_path: Path, image: MetadataImage) -> None:
    directory = data_directory(
        tmp_path / "d",
        1,
        ("orders-0", TOPIC),
        ("orders-2", TOPIC),
        ("__cluster_metadata-0", None),
        ("lost+found", None),
    )

    assert list(stray_findings(image, [directory])) == []


@pytest.mark.parametrize(
    ("partition", "offset", "reason"),
    [
        (("orders-1", TOPIC), 2, f"it is assigned to directory {to_text(uuid(1 << 98))}"),
        (("orders-9", TOPIC), 0, "the topic orders has no partition 9"),
        (("orders-0", OTHER), 0, f"topic orders has another id now: {to_text(TOPIC)}"),
        (("gone-0", OTHER), None, f"there is no topic gone with the id {to_text(OTHER)}"),
        (("gone-0", TOPIC), 0, f"its topic id {to_text(TOPIC)} is that of orders"),
        (("orders-0", None), None, "it has no topic id"),
        ((f"orders-0.{'a' * 32}-stray", TOPIC), None, "already set aside as a stray"),
        ((f"orders-0.{'a' * 32}-delete", TOPIC), None, "about to be deleted"),
        ((f"orders-9.{'a' * 32}-future", TOPIC), 0, "the topic orders has no partition 9"),
    ],
)
def test_stray_partitions_are_found(
    tmp_path: Path,
    image: MetadataImage,
    partition: tuple[str, bytes | None],
    offset: int | None,
    reason: str,
) -> None:
    directory = data_directory(tmp_path / "d", 1, partition)

    (found,) = stray_findings(image, [directory])

    assert found.place.file == f"{directory}/{partition[0]}"
    assert found.place.offset == offset
    assert found.text.startswith(reason)


def test_partitions_of_other_nodes_are_strays(tmp_path: Path, image: MetadataImage) -> None:
    directory = data_directory(tmp_path / "d", 7, ("orders-0", TOPIC))

    reason = "node 7 is not among the replicas [1, 2] of orders (0 records, 0 bytes)"
    assert told(stray_findings(image, [directory])) == [
        (1, f"{reason}; a broker sets it aside as a stray")
    ]


def test_directories_that_nobody_formatted_are_errors(tmp_path: Path, image: MetadataImage) -> None:
    with pytest.raises(SourceError, match=r"meta\.properties: No such file"):
        list(stray_findings(image, [str(tmp_path)]))
