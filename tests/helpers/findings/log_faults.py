"""Faults in metadata logs that the shell's `verify` and a recovery find, by code."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import chdir
from pathlib import Path

from kraftops.findings.finding import Finding
from kraftops.image.load.loading import load
from kraftops.image.verify.directories import stray_findings
from kraftops.image.verify.release import release_findings, upgrade_findings
from kraftops.image.verify.replicas import replica_findings
from kraftops.image.verify.verify import verify
from kraftops.memory import Budget
from kraftops.recovery.live_controllers import AskControllers, ControllerAnswer
from kraftops.recovery.node_copies import opened_sources
from kraftops.recovery.plan import RecoveryRequest, plan_recovery
from kraftops.storage.bootstrap.releases import by_name
from kraftops.storage.config.server_config import load_config
from kraftops.uuids import to_text
from tests.helpers.image.verifying import TOPIC, image_of, version
from tests.helpers.logs.metadata_logs import no_ops, records_batch, voters_batch, write_log
from tests.helpers.logs.random_logs import MetadataRecord, new_record
from tests.helpers.nodes.assigned_partitions import D1, write_meta
from tests.helpers.nodes.broker_disks import ORDERS, broker_disk
from tests.helpers.nodes.lost_quorums import (
    BEGINNING,
    IDS,
    MORE,
    broker,
    controller,
    nobody_runs,
    other_node,
    survivor,
)
from tests.helpers.nodes.node_directories import META, PROPERTIES, storage

Raise = Callable[[Path], set[str]]


def codes_of(findings: Iterable[Finding]) -> set[str]:
    return {finding.code for finding in findings}


def records(*records: MetadataRecord) -> Raise:
    """Return what verifies a log of these records."""
    return lambda folder: codes_of(verify(image_of(folder, *records)))


def batches(*batches: bytes, base_offset: int = 0) -> Raise:
    """Return what verifies a log of these batches."""
    return lambda folder: codes_of(
        verify(load(write_log(folder, {base_offset: [b"".join(batches)]})))
    )


def _blocked(folder: Path) -> set[str]:
    return codes_of(upgrade_findings(image_of(folder, version(30)), by_name("4.0")))


def _unread(folder: Path) -> set[str]:
    image = image_of(folder, version(22), new_record("ClearElrRecord", topicName="t"))
    return codes_of(release_findings(image, "3.5"))


def _replicas(folder: Path) -> set[str]:
    sources = [str(folder / f"c{number}") for number in range(3)]
    for source, epoch in zip(sources, (1, 2, 2), strict=True):
        write_log(Path(source), {0: [no_ops(0, 2, epoch=epoch)]})
    return codes_of(replica_findings(sources, Budget()))


def _set_aside(folder: Path) -> set[str]:
    (folder / f"d/t-0.{'a' * 32}-stray").mkdir(parents=True)
    write_meta(folder / "d", 1, D1)
    image = image_of(folder, new_record("TopicRecord", name="t", topicId=TOPIC))
    return codes_of(stray_findings(image, [str(folder / "d")]))


_LATER_EPOCHS = ((0, 90), (4, 100))
"""Of two copies that agree: nothing is lost, but the log knows epoch 2 only."""


def with_disks(
    epochs: Sequence[tuple[int, int]],
    producer: int = -1,
    *,
    leader_epochs: Sequence[tuple[int, int]] = ((0, 100),),
) -> Callable[[Path], object]:
    """Return what makes a survivor, broker 101 that leads, and broker 102 with these epochs."""

    def make(node: Path) -> None:
        survivor(node, *ORDERS)
        broker_disk(node / "b101", 101, {"orders-0": leader_epochs})
        broker_disk(node / "b102", 102, {"orders-0": epochs}, producer=producer)

    return make


def recovered(
    make: Callable[[Path], object],
    *sources: str,
    voters: str = "self",
    ask: AskControllers | None = nobody_runs,
) -> Raise:
    """Return what plans the recovery of a node."""

    def found(folder: Path) -> set[str]:
        make(folder / "node")
        with chdir(folder / "node"), opened_sources(sources, print) as logs:
            request = RecoveryRequest(sources=logs, voters=voters, is_forced=True, ask=ask)
            planned = plan_recovery(load_config(PROPERTIES), request, 1_763_720_000_123)
        return codes_of(planned.findings)

    return found


def _two(node: Path) -> None:
    survivor(node, no_ops(5, 2, epoch=3))
    other_node(node / "c2", 2, *MORE)


def _nameless(node: Path) -> None:
    survivor(node)
    (other_node(node / "c2", 2) / META).unlink()


def _minority(folder: Path) -> set[str]:
    voters = voters_batch(5, *IDS.items())
    for node_id in (1, 2):
        place = folder / f"n{node_id}"
        controller(place, node_id, log_dirs=f"{place}/meta")
        write_log(place / "meta", {0: [*BEGINNING, voters]})
    sources = [f"--from={folder}/n{node_id}/{PROPERTIES}" for node_id in (1, 2)]
    args = ("--voters", "1,2", "--output", str(folder / "plan"), "--format", "json")
    done = storage(folder, "recover-plan", *sources, *args)
    return {finding["code"] for finding in json.loads(done.text)["findings"]}


def _without_host(node: Path) -> None:
    controller(node, listeners="CONTROLLER://0.0.0.0:29093")
    write_log(node / "meta", {0: [no_ops(0, 3), BEGINNING[3]]})


FAULTS: Mapping[str, Raise] = {
    "late-start": batches(no_ops(4, 2), base_offset=4),
    "epoch-back": batches(no_ops(0, 2, epoch=3), no_ops(2, 1, epoch=2)),
    "open-transaction": records(version(30), new_record("BeginTransactionRecord", name="t")),
    "record-left-out": records(version(30), new_record("RemoveTopicRecord", topicId=TOPIC)),
    "impossible-state": records(new_record("TopicRecord", name="t", topicId=TOPIC)),
    "newer-record": _unread,
    "blocks-upgrade": _blocked,
    "replicas-differ": _replicas,
    "set-aside": _set_aside,
    "records-given-up": recovered(_two, "c2"),
    "records-cut": recovered(with_disks([(0, 100), (4, 303)]), "b101", "b102"),
    "leader-epochs-behind": recovered(
        with_disks(_LATER_EPOCHS, leader_epochs=_LATER_EPOCHS), "b101", "b102"
    ),
    "producer-ids-raised": recovered(with_disks([(0, 100)], producer=7), "b101", "b102"),
    "unknown-cluster": recovered(_nameless, "c2"),
    "other-listener": recovered(survivor, voters=f"1@elsewhere:29093:{to_text(IDS[1])}"),
    "voters-not-given": _minority,
    "not-asked": recovered(survivor, ask=None),
    "voter-alive": recovered(survivor, ask=lambda *_: [ControllerAnswer("localhost:9093", 2)]),
    "no-host": recovered(_without_host),
    "brokers-not-given": recovered(lambda node: survivor(node, records_batch(5, broker(4)))),
}
