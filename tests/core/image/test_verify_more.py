"""What keeps a cluster from a release, in either direction, and what is wrong around the log."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from kraftops.errors import SourceError, UsageError
from kraftops.image.findings import Finding
from kraftops.image.image import MetadataImage
from kraftops.image.loading import load
from kraftops.image.verify_directories import stray_findings
from kraftops.image.verify_release import release_findings
from kraftops.image.verify_replicas import replica_findings
from kraftops.image.verify_upgrade import upgrade_findings
from kraftops.records.readability import RELEASES, last_version, release_of
from kraftops.schema.tables.metadata import MESSAGES
from kraftops.storage.releases import by_name
from kraftops.uuids import to_text
from tests.corpus import SHELL
from tests.metadata_logs import kraft_version_batch, write_log
from tests.replays import Lot, Made, log_bytes, lots, made, uuid

TOPIC, OTHER = uuid(1 << 100), uuid(1 << 99)
DIRECTORY = uuid(1 << 101)


def image_of(tmp_path: Path, *records: Made) -> MetadataImage:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(log_bytes(lots(list(records))))
    return load(path)


def told(findings: Iterable[Finding]) -> list[tuple[int | None, str]]:
    return [(one.offset, one.reason) for one in findings]


def version(level: int) -> Made:
    return made("FeatureLevelRecord", name="metadata.version", featureLevel=level)


def ranges(**levels: tuple[int, int]) -> list[dict[str, object]]:
    return [
        {
            "name": name.replace("_", "."),
            "minSupportedVersion": first,
            "maxSupportedVersion": last,
        }
        for name, (first, last) in levels.items()
    ]


# Upgrades


def test_registrations_that_are_too_old_are_found_with_the_cure(tmp_path: Path) -> None:
    image = image_of(
        tmp_path,
        version(20),
        made(
            "RegisterBrokerRecord",
            brokerId=1,
            fenced=False,
            features=ranges(metadata_version=(1, 20)),
        ),
        made(
            "RegisterBrokerRecord",
            brokerId=2,
            fenced=True,
            features=ranges(metadata_version=(1, 7)),
        ),
        made("RegisterControllerRecord", controllerId=5, features=ranges(metadata_version=(1, 20))),
        made("RegisterControllerRecord", controllerId=6, features=[]),
    )

    found = list(upgrade_findings(image, by_name("3.9")))

    assert told(found) == [
        (1, "broker 1 supports metadata.version 1-20, blocks 21"),
        (2, "fenced broker 2 supports metadata.version 1-7, blocks 21"),
        (3, "controller 5 supports metadata.version 1-20, blocks 21"),
        (4, "controller 6 knows no metadata.version, blocks 21"),
    ]
    assert [one.cure and one.cure.partition(",")[0] for one in found] == ["upgrade it"] * 4
    assert "unregister --id 2" in str(found[1].cure)


def test_features_of_a_release_count_too(tmp_path: Path) -> None:
    enough = {"metadata_version": (1, 30), "kraft_version": (0, 1), "group_version": (0, 1)}
    image = image_of(
        tmp_path,
        version(21),
        made("RegisterBrokerRecord", brokerId=1, fenced=False, features=ranges(**enough)),
    )

    assert told(upgrade_findings(image, by_name("4.0"))) == [
        (1, "broker 1 knows no transaction.version, blocks 2")
    ]
    assert told(upgrade_findings(image, by_name("3.9"))) == []


def test_there_is_no_way_back(tmp_path: Path) -> None:
    found = list(upgrade_findings(image_of(tmp_path, version(30)), by_name("4.0")))

    assert told(found) == [(0, "metadata.version is 30 already, above 25 of 4.0-IV3")]


def test_upgrade_needs_something_to_begin_with(tmp_path: Path) -> None:
    nothing = made("NoOpRecord")

    assert told(upgrade_findings(image_of(tmp_path, nothing), by_name("4.0"))) == [
        (None, "there is no metadata.version to begin with")
    ]


def test_real_cluster_is_ready_for_its_own_release() -> None:
    assert told(upgrade_findings(load(SHELL / "in/n431"), by_name("4.3"))) == []


# Older releases


def test_records_that_a_release_cannot_read_are_counted(tmp_path: Path) -> None:
    image = image_of(
        tmp_path,
        version(7),
        made("TopicRecord", name="t", topicId=TOPIC),
        *(
            made("PartitionRecord", 1, partitionId=number, topicId=TOPIC, replicas=[1])
            for number in range(3)
        ),
        made("ClearElrRecord", topicName="t"),
    )

    assert told(release_findings(image, "3.5")) == [
        (
            2,
            "PartitionRecord version 1 (3 in all, the first one here): Kafka 3.5 reads only up to 0",
        ),
        (
            5,
            "ClearElrRecord version 0 (1 in all, the first one here): Kafka 3.5 knows no such records",
        ),
    ]
    assert [offset for offset, _ in told(release_findings(image, "3.7.1"))] == [5]
    assert told(release_findings(image, "4.0")) == []


def test_features_that_a_release_does_not_know_are_found(tmp_path: Path) -> None:
    log = [
        kraft_version_batch(0, 1),
        bytes(Lot(1, [version(22), made("FeatureLevelRecord", name="x", featureLevel=1)])),
        bytes(Lot(3, [made("FeatureLevelRecord", name="group.version", featureLevel=1)])),
    ]
    write_log(tmp_path, {0: log})
    image = load(tmp_path)

    assert told(release_findings(image, "3.8")) == [
        (2, "x=1 is not what Kafka 3.8 knows"),
        (3, "group.version=1 is not what Kafka 3.8 knows"),
        (1, "metadata.version=22 is not what Kafka 3.8 knows"),
        (0, "kraft.version=1 is not what Kafka 3.8 knows"),
    ]
    assert [offset for offset, _ in told(release_findings(image, "4.0"))] == [2]


@pytest.mark.parametrize(("node", "release"), [("n332", "3.3"), ("n391", "3.9"), ("n431", "4.3")])
def test_real_logs_are_what_their_own_releases_can_read(node: str, release: str) -> None:
    assert told(release_findings(load(SHELL / "in" / node), release)) == []


def test_release_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nothing is known of Kafka '2\.8'"):
        list(release_findings(image_of(tmp_path, version(7)), "2.8"))


def test_readability_has_all_records_in_their_last_versions() -> None:
    for name, message in MESSAGES.items():
        assert last_version(name, RELEASES[-1]) == message.versions.last
    assert last_version("NoSuchRecord", "4.3") is None
    assert last_version("ClearElrRecord", "3.9") is None
    assert release_of("3.9.1") == "3.9"


# Replicas


def replicas(tmp_path: Path, *logs: Sequence[Lot] | bytes) -> list[str]:
    found = []
    for number, log in enumerate(logs):
        data = log if isinstance(log, bytes) else log_bytes(log)
        write_log(tmp_path / f"c{number}", {0: [data]})
        found.append(str(tmp_path / f"c{number}"))
    return found


def log(*, altered: int | None = None, epoch: int = 1, count: int = 6) -> list[Lot]:
    """Return batches of two records, one of which says something else."""
    records = [
        made("ProducerIdsRecord", nextProducerId=99 if at == altered else at) for at in range(count)
    ]
    found = lots(*(records[at : at + 2] for at in range(0, count, 2)))
    return [lot._replace(epoch=epoch if lot.base_offset == 2 else 1) for lot in found]


def test_equal_replicas_have_nothing_to_tell(tmp_path: Path) -> None:
    sources = replicas(tmp_path, log(), log(), log(count=2))

    assert list(replica_findings(sources)) == []
    assert list(replica_findings(sources[:1] * 2)) == []


def test_replica_that_differs_from_two_others_is_named(tmp_path: Path) -> None:
    sources = replicas(tmp_path, log(), log(altered=3), log())

    (found,) = replica_findings(sources)

    assert found.offset == 3
    assert found.source == str(Path(sources[1], "__cluster_metadata-0/00000000000000000000.log"))
    assert found.position == len(bytes(log()[0]))
    assert found.reason.startswith(f"{sources[1]} has offsets 2 to 3, epoch 1, CRC 0x")
    assert "where the others have offsets 2 to 3, epoch 1, CRC 0x" in found.reason


def test_epochs_that_differ_are_told(tmp_path: Path) -> None:
    (found,) = replica_findings(replicas(tmp_path, log(epoch=7), log(), log()))

    assert found.offset == 2
    assert "offsets 2 to 3, epoch 7" in found.reason


def test_of_two_replicas_nobody_knows_which_is_right(tmp_path: Path) -> None:
    sources = replicas(tmp_path, log(), log(altered=0))

    (found,) = replica_findings(sources)

    assert found.offset == 0
    assert all(source in found.reason for source in sources)


def test_damage_counts_by_what_the_bytes_are(tmp_path: Path) -> None:
    spoilt = bytearray(log_bytes(log()))
    spoilt[-3] ^= 1

    (found,) = replica_findings(replicas(tmp_path, log(), bytes(spoilt), log()))

    assert (found.offset, "c1" in str(found.source)) == (5, True)


def test_gaps_are_differences_and_late_beginnings_are_not(tmp_path: Path) -> None:
    whole = log()
    sources = replicas(tmp_path, whole, [whole[0], whole[2]], whole)
    write_log(tmp_path / "late", {2: [log_bytes(whole[1:])]})

    (found,) = replica_findings([*sources, str(tmp_path / "late")])

    assert found.offset == 2
    assert f"{sources[1]} has nothing before offset 4" in found.reason


def test_three_that_differ_are_all_named(tmp_path: Path) -> None:
    sources = replicas(tmp_path, log(altered=1), log(altered=0), log())

    (found,) = replica_findings(sources)

    assert found.offset == 0
    assert all(source in found.reason for source in sources)


# Partitions on disk


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
    def partition(number: int, directory: bytes) -> Made:
        return made(
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
        made("TopicRecord", name="orders", topicId=TOPIC),
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
    ("name", "topic_id", "offset", "reason"),
    [
        ("orders-1", TOPIC, 2, f"it is assigned to directory {to_text(uuid(1 << 98))}"),
        ("orders-9", TOPIC, 0, "the topic orders has no partition 9"),
        ("orders-0", OTHER, 0, f"the topic orders is another one now: {to_text(TOPIC)}"),
        ("gone-0", OTHER, None, f"there is no topic gone with the id {to_text(OTHER)}"),
        ("gone-0", TOPIC, 0, f"its topic id {to_text(TOPIC)} is that of orders"),
        ("orders-0", None, None, "it has no topic id"),
        (f"orders-0.{'a' * 32}-stray", TOPIC, None, "set aside as a stray already"),
        (f"orders-0.{'a' * 32}-delete", TOPIC, None, "about to be deleted"),
        (f"orders-9.{'a' * 32}-future", TOPIC, 0, "the topic orders has no partition 9"),
    ],
)
def test_strays_are_found(
    tmp_path: Path,
    image: MetadataImage,
    name: str,
    topic_id: bytes | None,
    offset: int | None,
    reason: str,
) -> None:
    directory = data_directory(tmp_path / "d", 1, (name, topic_id))

    (found,) = stray_findings(image, [directory])

    assert found.source == f"{directory}/{name}"
    assert found.offset == offset
    assert found.reason.startswith(reason)


def test_partitions_of_other_nodes_are_strays(tmp_path: Path, image: MetadataImage) -> None:
    directory = data_directory(tmp_path / "d", 7, ("orders-0", TOPIC))

    assert told(stray_findings(image, [directory])) == [
        (1, "node 7 is not among the replicas [1, 2] of orders")
    ]


def test_directories_that_nobody_formatted_are_errors(tmp_path: Path, image: MetadataImage) -> None:
    with pytest.raises(SourceError, match=r"meta\.properties: No such file"):
        list(stray_findings(image, [str(tmp_path)]))


def test_findings_are_plain_data(tmp_path: Path) -> None:
    (found,) = replica_findings(replicas(tmp_path, log(epoch=7), log(), log()))

    assert json.dumps([found.reason, found.offset, found.source, found.position])
