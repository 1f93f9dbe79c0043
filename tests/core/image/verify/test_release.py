"""Records and features that a release cannot read are found."""

from pathlib import Path

import pytest

from kraftops.errors import UsageError
from kraftops.image.load.loading import load
from kraftops.image.verify.release import release_findings
from kraftops.records.readability import RELEASES, last_version, release_of
from kraftops.schema.tables import messages
from tests.helpers.image.verifying import TOPIC, image_of, told, version
from tests.helpers.logs.metadata_logs import kraft_version_batch, write_log
from tests.helpers.logs.random_logs import LogBatch, new_record
from tests.helpers.tools.corpus import SHELL


def test_records_that_a_release_cannot_read_are_counted(tmp_path: Path) -> None:
    image = image_of(
        tmp_path,
        version(7),
        new_record("TopicRecord", name="t", topicId=TOPIC),
        *(
            new_record("PartitionRecord", 1, partitionId=number, topicId=TOPIC, replicas=[1])
            for number in range(3)
        ),
        new_record("ClearElrRecord", topicName="t"),
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
        bytes(
            LogBatch(1, [version(22), new_record("FeatureLevelRecord", name="x", featureLevel=1)])
        ),
        bytes(
            LogBatch(3, [new_record("FeatureLevelRecord", name="group.version", featureLevel=1)])
        ),
    ]
    write_log(tmp_path, {0: log})
    image = load(tmp_path)

    assert told(release_findings(image, "3.8")) == [
        (2, "Kafka 3.8 does not know x=1"),
        (3, "Kafka 3.8 does not know group.version=1"),
        (1, "Kafka 3.8 does not know metadata.version=22"),
        (0, "Kafka 3.8 does not know kraft.version=1"),
    ]
    assert [offset for offset, _ in told(release_findings(image, "4.0"))] == [2]


@pytest.mark.parametrize(("node", "release"), [("n332", "3.3"), ("n391", "3.9"), ("n431", "4.3")])
def test_real_logs_are_what_their_own_releases_can_read(node: str, release: str) -> None:
    assert told(release_findings(load(SHELL / "in" / node), release)) == []


def test_release_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nothing is known of Kafka '2\.8'"):
        list(release_findings(image_of(tmp_path, version(7)), "2.8"))


def test_readability_has_all_records_in_their_last_versions() -> None:
    for name, message in messages("metadata").items():
        assert last_version(name, RELEASES[-1]) == message.versions.last
    assert last_version("NoSuchRecord", "4.3") is None
    assert last_version("ClearElrRecord", "3.9") is None
    assert release_of("3.9.1") == "3.9"
