"""Log directories of a broker that are not among its copies: what they may have is not missing."""

import shutil
from pathlib import Path

import pytest

from kraftops.checkup.diagnosis import Diagnosis
from kraftops.library.questions import doctor
from kraftops.recovery.node_copies import LogSource
from kraftops.recovery.partitions.disk_comparison import compare_disks
from kraftops.uuids import to_text
from tests.helpers.logs.random_logs import new_record, uuid
from tests.helpers.nodes.assigned_partitions import (
    D1,
    D2,
    D9,
    assigned,
    broker,
    partition,
    topic,
    write_meta,
)

OTHER = uuid(1 << 99)
FEATURE = new_record("FeatureLevelRecord", name="metadata.version", featureLevel=25)
REGISTERED = [
    new_record("RegisterBrokerRecord", 3, brokerId=node_id, brokerEpoch=1, logDirs=ids)
    for node_id, ids in ((1, [D1, D2]), (2, [OTHER]))
]


@pytest.fixture
def disks(tmp_path: Path) -> list[Path]:
    """Broker 1 has t-0 and t-3 in d1, t-1 alone and t-2 in d2; broker 2 has t-2 and t-3."""
    records = [
        FEATURE,
        topic(),
        assigned(0, {1: D1}),
        assigned(1, {1: D2}),
        assigned(2, {1: D2, 2: OTHER}),
    ]
    records.append(assigned(3, {1: D1, 2: OTHER}))
    node = broker(tmp_path / "n1", 1, {"d1": D1, "d2": D2}, *records, *REGISTERED)
    other = broker(tmp_path / "n2", 2, {"d": OTHER})
    directories = [node / "d1", node / "d2", other / "d"]
    for directory, numbers in zip(directories, [(0, 3), (1, 2), (2, 3)], strict=True):
        for number in numbers:
            partition(directory, f"t-{number}")
        (directory / "replication-offset-checkpoint").write_text("0\n0\n")
    for properties in tmp_path.glob("*/*.properties"):
        properties.unlink()
    return directories


def diagnosed(*directories: Path) -> Diagnosis:
    return doctor([*map(str, directories)])


def test_directory_that_was_not_copied_is_told_once_and_has_lost_nothing(disks: list[Path]) -> None:
    diagnosis = diagnosed(disks[0])

    (finding,) = (finding for finding in diagnosis.findings if finding.is_severe)
    assert (finding.code, finding.place.node) == ("brokers-not-given", None)
    assert finding.evidence[0].fact == f"directory.id {to_text(D2)}"
    assert diagnosis.verdict.startswith("incomplete: 1 risk")
    assert diagnosis.exit_code == 2


def test_all_directories_of_a_node_leave_nothing_to_tell(disks: list[Path]) -> None:
    assert not any(finding.is_severe for finding in diagnosed(*disks).findings)


def test_comparison_tells_the_directory_and_counts_nothing_of_it_as_nowhere_else(
    disks: list[Path],
) -> None:
    sources = [LogSource(path, path) for path in map(str, (disks[0], disks[2]))]

    table = compare_disks(sources)

    told = [finding.code for finding in table.findings if finding.is_severe]
    assert told == ["brokers-not-given"]
    assert {name for row in table.brokers for name in row.gone.partitions} == {"t-0"}


def test_directory_formatted_anew_is_named_where_what_it_had_is_missing(disks: list[Path]) -> None:
    """Seen with 4.3.1: the broker makes t-1 anew, and its acknowledged records are lost."""
    shutil.rmtree(disks[1])
    disks[1].mkdir()
    write_meta(disks[1], 1, D9)
    sources = [LogSource(path, path) for path in map(str, disks)]

    told = [
        [finding for finding in findings if finding.code == "missing-partition"]
        for findings in (diagnosed(*disks).findings, compare_disks(sources).findings)
    ]

    for findings in told:
        (finding,) = (finding for finding in findings if finding.place.partition == 1)
        assert f"{disks[1]} was reformatted" in finding.text
        assert finding.severity == "loss"
