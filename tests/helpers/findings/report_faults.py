"""Incidents and logs about which a report has findings, by code."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kraftops.log.batch import TRANSACTIONAL, Record
from tests.helpers.logs.incidents import at, incident_directory
from tests.helpers.logs.metadata_logs import records_batch, snapshot_bytes, write_log
from tests.helpers.logs.written import batch_bytes
from tests.helpers.nodes.lost_quorums import topic
from tests.helpers.tools.console import KRAFTOPS, run_here

Raise = Callable[[Path], set[str]]


def codes_of(*args: object) -> set[str]:
    """Return the codes of the findings of a report."""
    done = run_here("report", *map(str, args), "--format", "json", program=KRAFTOPS)
    return {finding["code"] for finding in json.loads(done.text)["findings"]}


def _incident(folder: Path) -> set[str]:
    return codes_of(incident_directory(folder))


def user_log(batches: Sequence[bytes], *args: object) -> Raise:
    """Return what reports on the log of a partition."""

    def found(folder: Path) -> set[str]:
        (folder / "orders-3").mkdir()
        (folder / f"orders-3/{0:020}.log").write_bytes(b"".join(batches))
        return codes_of(folder, *args)

    return found


def batch(offset: int, minute: float, **fields: int) -> bytes:
    return batch_bytes([Record(offset, at(minute), b"k", b"v")], **fields)


def _snapshot(folder: Path) -> set[str]:
    snapshot = snapshot_bytes(records_batch(0, topic("t", 1)), end=5)
    return codes_of(write_log(folder, {}, {(5, 1): snapshot}))


def _clock_back(folder: Path) -> set[str]:
    batches = [
        batch_bytes([Record(offset, at(minute), None, b"\1\x14\0\0")])
        for offset, minute in enumerate((0, 5, 2))
    ]
    return codes_of(write_log(folder, {0: [records_batch(0, topic("t", 1)), *batches]}))


FAULTS: Mapping[str, Raise] = {
    **dict.fromkeys(
        (
            "offline-partitions",
            "under-min-isr",
            "under-replicated",
            "unclean-elections",
            "flapping-broker",
            "quorum-instability",
        ),
        _incident,
    ),
    "offset-gaps": user_log([batch(0, 0), batch(5, 1)]),
    "hanging-transaction": user_log(
        [
            batch(0, 0, producer_id=1, producer_epoch=0, attributes=TRANSACTIONAL),
            batch(1, 60),
        ]
    ),
    "transactions-since": user_log([batch(0, 0), batch(1, 9)], "--since", at(3)),
    "known-since": _snapshot,
    "odd-times": _clock_back,
}
