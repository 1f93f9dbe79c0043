"""Disks that are older than the last run of their broker are named, with what only they had."""

from contextlib import chdir
from pathlib import Path

import pytest

from kraftops.image.verify.assignments import newest_images
from kraftops.image.verify.older_disks import older_disks
from tests.helpers.logs.random_logs import MetadataRecord, new_record, uuid
from tests.helpers.nodes.assigned_partitions import D1, assigned, broker, read, topic

OTHER = uuid(1 << 99)
BACKUP = [topic(), assigned(0, {1: D1}), assigned(1, {1: D1, 2: OTHER})]
EPOCH = len(BACKUP)
"""The offset of the registration that follows."""
REGISTERED = new_record("RegisterBrokerRecord", 1, brokerId=1, brokerEpoch=EPOCH, fenced=True)
UNFENCED = new_record("UnfenceBrokerRecord", id=1, epoch=EPOCH)


@pytest.mark.parametrize(
    ("own", "newest", "is_older"),
    [
        (BACKUP, [*BACKUP, REGISTERED, UNFENCED], True),
        ([*BACKUP, REGISTERED], [*BACKUP, REGISTERED, UNFENCED], False),
        (BACKUP, [*BACKUP, REGISTERED], False),
    ],
    ids=["backup", "up to the registration", "never unfenced"],
)
def test_disks_that_end_before_the_last_run(
    tmp_path: Path, own: list[MetadataRecord], newest: list[MetadataRecord], is_older: bool
) -> None:
    with chdir(tmp_path):
        node = read(broker(tmp_path / "1", 1, {str(tmp_path / "1" / "d"): D1}, *own))
        other = read(broker(tmp_path / "2", 2, {str(tmp_path / "2" / "d"): OTHER}, *newest))
        (image,) = newest_images([node, other]).values()

        findings = [*older_disks(node, image)]

    assert [finding.code for finding in findings] == ["older-disks"] * is_older
    for finding in findings:
        # Disks of others were not read: one may have what a replica left there.
        assert "is lost of t-0, of which the metadata has no other replica" in finding.text
