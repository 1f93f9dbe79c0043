"""Faults in partitions and log directories that `kafka-dump-log --check` finds, by code.

A fault changes a copy of the log directories of a real broker, `stopped` and `running` (as it was
before the stop), or `stopped` and `tier` of one with tiered storage.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from kraftops.dump.check import partition
from kraftops.dump.check.directories import CheckRequest, check_directories
from kraftops.findings.catalogue import catalogue
from kraftops.log.batch import Record
from kraftops.log.log_file import LogFile
from kraftops.log.producers import read_producers
from tests.helpers.logs.log_directories import REAL, SNAPSHOT, snapshot
from tests.helpers.logs.metadata_logs import records_batch
from tests.helpers.logs.written import batch_bytes, producers_bytes
from tests.helpers.tools.console import run_here

TIERED = REAL.parents[1] / "tiered-4.3.1"
_ORDERS = "tier/orders-0-vq1rZ-PmTouT54XRx2xKNw"
_OF_16 = "00000000000000000016-SN_xpPYARLe5sqDSuJ2AXQ"
Fault = Callable[[Path], object]


def codes_of(folder: Path, *names: str, remote_metadata: str | None = None) -> set[str]:
    """Return the codes of the findings of a check.

    A risk of a file for which a start is refused is evidence of the refusal.
    """
    paths = [str(folder / name) for name in names] or [str(folder)]
    more = [] if remote_metadata is None else [str(folder / remote_metadata)]
    with patch.object(partition, "_LOOKS", 1):  # no server changes anything meanwhile
        checks, common = check_directories(CheckRequest(paths, remote_metadata=more))
    findings = [*common, *(finding for check in checks for finding in check.findings)]
    facts = [fact.fact for finding in findings for fact in finding.evidence]
    causes = {code for code in catalogue() if any(fact.endswith(f"[{code}]") for fact in facts)}
    return {finding.code for finding in findings} | causes


def changed(data: bytes, at: int) -> bytes:
    """Return bytes of which one has another lowest bit."""
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def rewrite(path: str, change: Callable[[bytes], bytes]) -> Fault:
    """Return the fault that changes the content of a file."""

    def fault(folder: Path) -> None:
        (file,) = folder.glob(path)
        file.write_bytes(change(file.read_bytes()))

    return fault


def flip(path: str, at: int) -> Fault:
    return rewrite(path, lambda data: changed(data, at))


def write(path: str, text: str) -> Fault:
    return rewrite(path, lambda _: text.encode())


def append(path: str, data: bytes) -> Fault:
    return rewrite(path, lambda before: before + data)


def remove(*patterns: str) -> Fault:
    def fault(folder: Path) -> None:
        for pattern in patterns:
            for path in list(folder.glob(pattern)):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    return fault


def add(path: str, data: bytes) -> Fault:
    def fault(folder: Path) -> None:
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(data)

    return fault


def in_batches(path: str, change: Callable[[list[bytes]], Iterable[bytes]]) -> Fault:
    """Return the fault that changes the batches of a log."""

    def fault(folder: Path) -> None:
        with LogFile(str(folder / path)) as log:
            batches = [batch.data for batch in log.batches()]
        (folder / path).write_bytes(b"".join(change(batches)))

    return fault


def swap(path: str, size: int) -> Fault:
    """Return the fault that swaps the first two entries of an index."""
    return rewrite(path, lambda data: data[size : 2 * size] + data[:size] + data[2 * size :])


@dataclass(frozen=True, slots=True)
class Faulty:
    """A log directory of the real broker with faults; called, it returns the codes of its check."""

    name: str
    faults: tuple[Fault, ...]

    def __call__(self, folder: Path) -> set[str]:
        copy = Path(shutil.copytree(REAL / self.name, folder / self.name))
        self.make(copy)
        return codes_of(copy)

    def make(self, copy: Path) -> None:
        """Make the faults in a copy of the directory."""
        for fault in self.faults:
            fault(copy)


def stopped(*faults: Fault) -> Faulty:
    return Faulty("stopped", faults)


def running(*faults: Fault) -> Faulty:
    return Faulty("running", faults)


def tiered(
    *faults: Fault,
    names: tuple[str, ...] = ("stopped", "tier"),
    remote_metadata: str | None = None,
) -> Callable[[Path], set[str]]:
    """Return what makes faults in a broker's log directory and its tier, and checks them."""

    def found(folder: Path) -> set[str]:
        copy = Path(shutil.copytree(TIERED, folder / "broker"))
        for fault in faults:
            fault(copy)
        return codes_of(copy, *names, remote_metadata=remote_metadata)

    return found


def _with_later_sequence(data: bytes) -> bytes:
    return producers_bytes(
        [state._replace(last_sequence=state.last_sequence + 5) for state in read_producers(data)]
    )


def _bad_archive(folder: Path) -> set[str]:
    shutil.make_archive(str(folder / "bundle"), "tar", REAL / "stopped")
    os.truncate(folder / "bundle.tar", (folder / "bundle.tar").stat().st_size // 3)
    done = run_here("--check", "--format", "json", str(folder / "bundle.tar"))
    return {"bad-archive"} if '"code": "bad-archive"' in done.text else set()


_LOG_9 = "plain-0/00000000000000000009.log"
_LOG_18 = "plain-0/00000000000000000018.log"
_INDEX, _TIME_INDEX = (f"txn-0/00000000000000000016.{kind}" for kind in ("index", "timeindex"))
_TXN_INDEX = "txn-0/00000000000000000016.txnindex"
_OFFSETS = "__consumer_offsets-0"
_DELETED = records_batch(
    0,
    (
        "ConfigRecord",
        {"resourceType": 2, "resourceName": "plain", "name": "cleanup.policy", "value": "delete"},
    ),
)

FAULTS: Mapping[str, Callable[[Path], set[str]]] = {
    "start-refused": stopped(write("plain-0/partition.metadata", "")),
    "server-stops": stopped(write("plain-0/partition.metadata", "")),
    "directory-goes-offline": stopped(
        remove("__cluster_metadata-0"), write("plain-0/leader-epoch-checkpoint", "words\n")
    ),
    "start-cuts-log": running(flip(_LOG_18, 175)),
    "bad-batch": stopped(flip(_LOG_9, 175)),
    "bad-record": stopped(
        add(f"{_OFFSETS}/{0:020}.log", batch_bytes([Record(0, 0, b"\0\x02\0", b"\0\x63")]))
    ),
    "magic-unknown": stopped(
        in_batches(
            _LOG_18, lambda batches: [*batches[:-1], batches[-1][:16] + b"\5" + batches[-1][17:]]
        )
    ),
    "missing-offsets": stopped(
        in_batches(
            f"__cluster_metadata-0/{0:020}.log", lambda batches: [*batches[:5], *batches[6:]]
        )
    ),
    "repeated-offsets": stopped(in_batches(_LOG_18, lambda batches: [*batches, batches[-1]])),
    "torn-tail": stopped(append(_LOG_18, b"\0" * 7 + b"\x20" + b"\0\0\1\0")),
    "zero-tail": stopped(append(_LOG_18, bytes(100))),
    "missing-end": running(in_batches(_LOG_18, lambda batches: batches[:-1])),
    "missing-start": stopped(remove(f"plain-0/{0:020}.*")),
    "no-log": stopped(remove(f"plain-0/{0:020}.log")),
    "unfinished-swap": stopped(
        lambda folder: shutil.copy(folder / _LOG_9, folder / f"{_LOG_9}.swap")
    ),
    "bad-archive": _bad_archive,
    "index-differs": stopped(flip(_INDEX, 7)),
    "index-missing": stopped(remove(_INDEX)),
    "index-order": stopped(swap(_INDEX, 8)),
    "index-torn": stopped(append(_INDEX, b"x")),
    "index-zeros": stopped(append(_INDEX, bytes(8))),
    "time-index-differs": stopped(flip(_TIME_INDEX, 3)),
    "time-index-missing": stopped(remove(_TIME_INDEX)),
    "time-index-order": stopped(swap(_TIME_INDEX, 12)),
    "time-index-short": stopped(rewrite(_TIME_INDEX, lambda data: data[:-12])),
    "time-index-torn": stopped(append(_TIME_INDEX, b"x")),
    "time-index-zeros": stopped(append(_TIME_INDEX, bytes(12))),
    "txn-index-differs": stopped(flip(_TXN_INDEX, 20)),
    "txn-index-short": stopped(write(_TXN_INDEX, "")),
    "txn-index-torn": stopped(append(_TXN_INDEX, b"x")),
    "bad-epochs": stopped(write("plain-0/leader-epoch-checkpoint", "words\n")),
    "epochs-differ": stopped(write("plain-0/leader-epoch-checkpoint", "0\n1\n7 0\n")),
    "no-epochs": stopped(remove("plain-0/leader-epoch-checkpoint")),
    "bad-producers": stopped(flip(f"txn-0/{30:020}.snapshot", 20)),
    "no-producers": stopped(remove("txn-0/*.snapshot")),
    "producers-differ": stopped(rewrite(f"txn-0/{30:020}.snapshot", _with_later_sequence)),
    "bad-topic-id": stopped(write("plain-0/partition.metadata", "words\n")),
    "no-topic-id": stopped(remove("plain-0/partition.metadata")),
    "topic-id-differs": stopped(
        write("plain-0/partition.metadata", "version: 0\ntopic_id: vOKEv8VrQAyGbyFDxfFCwA\n")
    ),
    "bad-snapshot": stopped(add(f"__cluster_metadata-0/{snapshot(5)}", SNAPSHOT[:-5])),
    "bad-checkpoint": stopped(write("recovery-point-offset-checkpoint", "words\n")),
    "checkpoint-differs": stopped(write("cleaner-offset-checkpoint", "0\n1\nkept 0 999\n")),
    "no-checkpoint": stopped(remove("cleaner-offset-checkpoint")),
    "missing-partition": stopped(remove("plain-0")),
    "no-segments": stopped(remove("*-0/*.log", "*-0/*index", "*-1/*.log", "*-1/*index")),
    "bad-remote-metadata": tiered(
        flip(f"stopped/__remote_log_metadata-1/{0:020}.log", 200),
        names=(_ORDERS,),
        remote_metadata="stopped/__remote_log_metadata-1",
    ),
    "remote-differs": tiered(rewrite(f"{_ORDERS}/{_OF_16}.log", lambda data: data[: 4 * 231])),
    "remote-gap": tiered(
        remove("stopped/orders-0/*40.*", "stopped/orders-0/*48.*", f"{_ORDERS}/*48-*"),
        names=("stopped/orders-0", "tier"),
    ),
    "remote-incomplete": tiered(remove(f"{_ORDERS}/{_OF_16}.index")),
    "remote-left": tiered(add(f"{_ORDERS}/{0:020}-9TuFlcl9Q0uAayi5bqAY4A.log", b"")),
    "remote-missing": tiered(remove(f"{_ORDERS}/{_OF_16}.log")),
    "remote-unknown": tiered(
        add(
            f"{_ORDERS}/{16:020}-AAAAAAAAAAAAAAAAAAAAAA.log",
            batch_bytes([Record(16, 0, None, b"")]),
        )
    ),
}
