"""Small files that cost much memory or time to read, and their measured cost."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from kraftops.log.batch import CONTROL, Record
from kraftops.log.codecs import CODECS
from kraftops.schema.compile import compiled
from kraftops.schema.tables import messages
from kraftops.varint import uvarint_bytes
from tests.helpers.engine.choice import VARIABLE
from tests.helpers.logs.random_logs import new_record, uuid
from tests.helpers.logs.segments import batch_around, plain_record
from tests.helpers.logs.written import batch_bytes, compress
from tests.helpers.tools.console import Done, run_command

MIB = 1 << 20
LEADER_CHANGE, SNAPSHOT_HEADER, SNAPSHOT_FOOTER = 2, 3, 4
UNKNOWN_CONTROL = 9

_MARKERS = {SNAPSHOT_HEADER: "SnapshotHeaderRecord", SNAPSHOT_FOOTER: "SnapshotFooterRecord"}


@cache
def inflating_to(size: int, codec: str) -> bytes:
    """Return a batch with one record of *size* zero bytes."""
    return packed(plain_record(0, bytes(size)), codec)


def packed(
    records: bytes, codec: str = "zstd", *, count: int = 1, first: int = 0, attributes: int = 0
) -> bytes:
    """Return a batch of these records, compressed unless the codec is none."""
    number = CODECS.index(codec)
    body = compress(number, records) if number else records
    return batch_around(body, count, base_offset=first, attributes=attributes | number)


@cache
def broker_with_endpoints(size: int) -> bytes:
    """Return a registration of about *size* bytes, with as many endpoints as fit."""
    endpoint = {"name": "", "host": "", "port": 0, "securityProtocol": 0}
    record = new_record(
        "RegisterBrokerRecord", brokerId=1, incarnationId=uuid(1), endPoints=[endpoint]
    )
    assert record.value is not None
    return _swollen(record.value, b"\1\1\0\0\0\0\0", size)


@cache
def leader_with_voters(size: int) -> bytes:
    """Return the value of a LeaderChange of about *size* bytes, with as many voters as fit."""
    data = {"version": 0, "leaderId": 1, "voters": [{"voterId": 16_909_060}], "grantingVoters": []}
    value = compiled(messages("control")["LeaderChangeMessage"], 0).write(data)
    return _swollen(value, b"\1\2\3\4\0", size)


def _swollen(value: bytes, element: bytes, size: int) -> bytes:
    """Return a message with an element of a list repeated up to *size* bytes."""
    count = size // len(element)
    before, after = value.split(uvarint_bytes(2) + element)
    return before + uvarint_bytes(count + 1) + element * count + after


def control_key(number: int) -> bytes:
    """Return the key of a control record of this type."""
    return bytes(2) + number.to_bytes(2)


def snapshot_around(batch: bytes, end: int) -> bytes:
    """Return a snapshot of a batch with the offsets from 1 up to *end*."""
    return _marker(SNAPSHOT_HEADER, 0) + batch + _marker(SNAPSHOT_FOOTER, end)


def _marker(number: int, offset: int) -> bytes:
    message = messages("control")[_MARKERS[number]]
    data = {"version": 0, "lastContainedLogTimestamp": 0}
    value = compiled(message, 0).write(data)
    return batch_bytes([Record(offset, 0, control_key(number), value)], attributes=CONTROL)


# Run by a fresh Python: a child process starts with the peak memory of its parent.
_MEASURED = """
import resource, subprocess, sys
if addresses := int(sys.argv[1]):
    resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))
done = subprocess.run(sys.argv[2:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(done.returncode)
"""

_WITHOUT_OUTPUT = _MEASURED.replace("sys.argv[2:]", "sys.argv[2:], stdout=subprocess.DEVNULL")


def measured(
    engine: str,
    program: str,
    *args: str,
    keeps_output: bool = True,
    cwd: Path | str = ".",
    addresses: int = 0,
) -> tuple[Done, int]:
    """Run a tool with an engine; return the result and the peak resident size in bytes.

    *addresses* bounds its address space in bytes, if it is not 0.
    """
    done = run_command(
        *("-c", _MEASURED if keeps_output else _WITHOUT_OUTPUT, str(addresses), program, *args),
        program=sys.executable,
        cwd=cwd,
        environment={VARIABLE: engine},
    )
    *errors, peak = done.err.splitlines(keepends=True)
    return Done(done.code, done.out, "".join(errors)), int(peak) * 1024
