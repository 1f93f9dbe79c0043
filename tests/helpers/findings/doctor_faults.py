"""Faults that the doctor finds, by code: nodes, metadata logs and running clusters."""

import datetime as dt
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir
from functools import partial
from pathlib import Path
from threading import Event
from unittest.mock import patch

from kraftops.checkup import cluster_checks, examination
from kraftops.checkup.checks import CHECKS, run_checks
from kraftops.checkup.examination import Examination
from kraftops.log.indexes import TimeEntry
from kraftops.placement.disks import DiskReplica, LogDirectory
from kraftops.placement.placement import TopicPartition
from kraftops.recovery.node_copies import LogSource
from kraftops.storage.config.host import LocalKafka
from kraftops.storage.releases.table import releases
from kraftops.storage.verify.release import Target
from tests.helpers.logs.incidents import INCIDENT, Incident, config, incident_directory
from tests.helpers.logs.incidents import broker as registration
from tests.helpers.logs.incidents import change as partition_change
from tests.helpers.logs.metadata_logs import feature, records_batch, write_log
from tests.helpers.logs.random_logs import new_record, uuid
from tests.helpers.logs.written import time_index_bytes
from tests.helpers.nodes.assigned_partitions import D1, assigned, broker, topic, write_meta
from tests.helpers.nodes.example_cluster import example_cluster
from tests.helpers.nodes.node_directories import PROPERTIES, STATIC, format_node, make_node
from tests.helpers.wire.certificates import authority
from tests.helpers.wire.moving_cluster import MovingCluster
from tests.helpers.wire.voting_quorum import VotingQuorum

Raise = Callable[[Path], set[str]]
NOW = 1_795_500_000_000
DAY = 86_400_000
MARK = "kraftops.decommission"
"""The mark of an operation whose author is not known, as 0.2 left it."""


def examined(
    *sources: Path, configs: Sequence[Path] = (), now: int = NOW, **fields: object
) -> set[str]:
    """Return the codes that an examination of directories and configurations finds."""
    what = Examination(
        [LocalKafka(str(path)) for path in configs],
        [LogSource(str(path), str(path)) for path in sources],
        now=now,
        **fields,  # type: ignore[arg-type]
    )
    runs = list(run_checks(what, CHECKS))
    failed = [(run.check.name, run.reason) for run in runs if run.has_failed]
    assert failed == []
    return {finding.code for run in runs for finding in run.findings}


def logged(incident: Incident) -> Raise:
    """Return what examines the metadata log of an incident."""
    return lambda folder: examined(incident_directory(folder, incident))


def _silent(folder: Path) -> set[str]:
    """A disk that hangs: nothing that is asked of it comes back."""
    hung = Event()
    with (
        patch.object(examination, "SILENT_SECONDS", 0.05),
        patch.object(examination, "_probe", lambda _: hung.wait(20)),
    ):
        what = Examination(sources=[LogSource(str(folder), str(folder))], now=NOW)
        runs = list(run_checks(what, CHECKS))
    hung.set()
    return {finding.code for run in runs for finding in run.findings}


def _full(folder: Path) -> set[str]:
    node = broker(folder, 1, {"d1": D1}, topic(), assigned(0, {1: D1}))
    real = os.statvfs(node)
    full = os.statvfs_result((real.f_bsize, real.f_frsize, 1000, 9, 9, *real[5:]))
    with patch("os.statvfs", lambda _: full):
        return examined(node / "d1")


def segment(log: Path, days_ago: float) -> None:
    """Write a segment whose last write was some days ago."""
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(b"x" * 100)
    seconds = (NOW - days_ago * DAY) / 1000
    os.utime(log, (seconds, seconds))


def _stuck(folder: Path) -> set[str]:
    """The oldest segment has a timestamp of next year, and the next ones are old."""
    directory = folder / "d1"
    for number, days in enumerate((90, 60, 0)):
        segment(directory / "t-0" / f"{number:020}.log", days)
    index = time_index_bytes([TimeEntry(NOW + 365 * DAY, 0)], 0)
    (directory / "t-0" / f"{0:020}.timeindex").write_bytes(index)
    write_meta(directory, 1, D1)
    return examined(directory)


def _certificate(folder: Path) -> set[str]:
    node = make_node(folder, STATIC)
    assert format_node(node).code == 0
    root = authority()
    (folder / "store.pem").write_text(root.pem)
    end = root.certificate.not_valid_after_utc - dt.timedelta(days=3)
    keys = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(folder / "store.pem")}
    with (node / PROPERTIES).open("a") as file:
        file.writelines(f"{key}={value}\n" for key, value in keys.items())
    with chdir(node):
        return examined(configs=[Path(PROPERTIES)], now=int(end.timestamp() * 1000))


def _behind(folder: Path) -> set[str]:
    node = make_node(folder, STATIC)
    assert format_node(node, "--release-version", "3.9").code == 0
    log = records_batch(0, feature("metadata.version", 21))
    write_log(node / "d1", {0: [log]})
    with chdir(node):
        return examined(configs=[Path(PROPERTIES)], target=Target(releases()[-1]))


def _cordoned(_: Path) -> set[str]:
    partition = TopicPartition("a", 0)
    moving = MovingCluster(range(1, 3), {partition: (1, 2)}, is_old=False)
    moving.partitions[partition] = moving.partitions[partition]._replace(isr=(1,))
    told = {
        1: [LogDirectory("/d", {partition: DiskReplica(1)})],
        2: [LogDirectory("/d", is_cordoned=True)],
    }
    with moving.reached() as access, patch.object(cluster_checks, "disks_of", lambda *_: told):
        return {finding.code for finding in cluster_checks.problems(Examination(access=access))}


def _three_disks(change: Callable[[Sequence[Path]], object], folder: Path) -> set[str]:
    """Examine the disks of the documentation's brokers after a change."""
    example_cluster(folder)
    disks = [folder / f"cluster/node-{broker}/data" for broker in (101, 102, 103)]
    change(disks)
    return examined(*disks)


def _damaged_copies(disks: Sequence[Path]) -> None:
    for disk in disks[:2]:
        shutil.rmtree(disk / "orders-1")


def _other_content(disks: Sequence[Path]) -> None:
    log = f"{0:020}.log"
    shutil.copy(disks[1] / "payments-0" / log, disks[0] / "payments-1" / log)


def _voters(_: Path, down: Sequence[int] = (), behind: Sequence[int] = ()) -> set[str]:
    voters = VotingQuorum(3)
    voters.down, voters.behind = {*down}, {*behind}
    what = Examination(access=voters.access().cluster)
    with patch("time.sleep"), patch("kraftops.voters.quorum._LOOK_SECONDS", 0.002):
        return {finding.code for finding in cluster_checks.quorum(what)}


BEGIN = INCIDENT[:7]
_MARKED = (30, [new_record("ConfigRecord", resourceType=4, resourceName="", name=MARK, value="x")])
_WITH_DISKS = [registration(number, logDirs=[uuid(201), uuid(202)]) for number in (1, 2, 3)]
_PLACED = partition_change(0, directories=[uuid(202), uuid(201), uuid(201)])
_LOST = new_record("BrokerRegistrationChangeRecord", brokerId=1, brokerEpoch=1, logDirs=[uuid(201)])
_OUT = partition_change(0, isr=[2, 3], leader=2)
FAULTS: Mapping[str, Raise] = {
    "damaged-copies": partial(_three_disks, _damaged_copies),
    "content-differs": partial(_three_disks, _other_content),
    "directory-silent": _silent,
    "disk-full-soon": _full,
    "retention-stuck": _stuck,
    "certificate-ends": _certificate,
    "feature-behind": _behind,
    "operation-left": logged([*BEGIN, _MARKED]),
    "incident": logged(INCIDENT),
    "no-leader": partial(_voters, down=[2, 3]),
    "voter-down": partial(_voters, down=[3]),
    "voter-behind": partial(_voters, behind=[3]),
    "broker-down": logged([*BEGIN, *INCIDENT[7:9]]),
    "directory-failed": logged(
        [*BEGIN[:1], (0.0, _WITH_DISKS), BEGIN[2], (5.0, [_PLACED]), (6.0, [_LOST, _OUT])]
    ),
    "broker-cordoned": _cordoned,
    "follower-behind": logged([*BEGIN, (10, [partition_change(0, isr=[1, 2])])]),
    "min-isr-above-replicas": logged([*BEGIN, (9, [config("4", "min.insync.replicas")])]),
    "reassignment": logged(
        [
            *BEGIN,
            (
                10,
                [
                    partition_change(
                        0, replicas=[1, 2, 3], isr=[1, 2], addingReplicas=[3], removingReplicas=[]
                    )
                ],
            ),
        ]
    ),
    "other-leader": logged([*BEGIN, (10, [partition_change(0, leader=2)])]),
}
