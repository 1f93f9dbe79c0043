"""The checkpoint files of a format as text, without what differs from run to run."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kraftops.log.batch import HEADER_SIZE, Batch, Record, is_valid, record_bytes, records
from kraftops.log.log_file import LogFile
from kraftops.log.reader import EndReason
from kraftops.records import control
from kraftops.records.meaning import Decoded
from kraftops.schema.compile import compiled
from kraftops.schema.tables import messages
from kraftops.uuids import to_text
from kraftops.varint import read_uvarint, read_varint

_SIZES = re.compile(r"\b(bytes|at|length|size)=\d+")
_FIRST_TIME = 1_000_000_000_000
_CONTROLS = {
    "SNAPSHOT_HEADER": ("SnapshotHeader", "SnapshotHeaderRecord"),
    "SNAPSHOT_FOOTER": ("SnapshotFooter", "SnapshotFooterRecord"),
    "KRAFT_VERSION": ("KRaftVersion", "KRaftVersionRecord"),
    "KRAFT_VOTERS": ("KRaftVoters", "VotersRecord"),
}


def checkpoint_text(path: Path, *, any_directory_id: bool = False, any_salt: bool = False) -> str:
    """Return a checkpoint as the corpus has it, every field but times and checksums.

    Args:
        path: of the file.
        any_directory_id: whether those of the voters do not matter.
        any_salt: whether salts, what is derived from them, and all sizes do not matter.
    """
    lines = [f"file bytes={path.stat().st_size}"]
    with LogFile(str(path)) as log:
        reader = log.batches()
        for batch in reader:
            lines.append(_batch_text(batch))
            lines += _record_lines(batch, any_directory_id=any_directory_id, any_salt=any_salt)
        assert reader.end
        assert reader.end.reason is EndReason.END
    text = "".join(f"{line}\n" for line in lines)
    return _SIZES.sub(r"\1=*", text) if any_salt else text


def _batch_text(batch: Batch) -> str:
    header = batch.header
    times = header.base_timestamp, header.max_timestamp
    time = "{},{}".format(*times)
    if times[0] == times[1] > _FIRST_TIME:
        time = "SAME"
    assert not header.codec
    return (
        f"batch at={batch.position} baseOffset={header.base_offset} length={header.length} "
        f"epoch={header.leader_epoch} magic={header.magic} "
        f"crc={'ok' if is_valid(batch, header.crc) else 'BAD'} "
        f"attributes={header.attributes:#06x} lastOffsetDelta={header.last_offset_delta} "
        f"time={time} producer={header.producer_id},{header.producer_epoch} "
        f"baseSequence={header.base_sequence} records={header.record_count}"
    )


def _record_lines(batch: Batch, *, any_directory_id: bool, any_salt: bool) -> Iterator[str]:
    header, pos = batch.header, HEADER_SIZE
    for record in records(batch):
        raw = record_bytes(record, header.base_offset, header.base_timestamp)
        # It comes back as it was, in the shortest form and with record attributes 0.
        assert batch.data[pos : pos + len(raw)] == raw
        pos += len(raw)
        if header.is_control:
            shown = _control_text(record, any_directory_id=any_directory_id)
        else:
            shown = _metadata_text(record, any_salt=any_salt)
        yield (
            f"  record size={read_varint(raw, 0)[0]} attributes=0 "
            f"timestampDelta={record.timestamp - header.base_timestamp} "
            f"offsetDelta={record.offset - header.base_offset} "
            f"headers={len(record.headers)} {shown}"
        )


def _control_text(record: Record, *, any_directory_id: bool) -> str:
    found = control.decode(record.key, record.value)
    assert isinstance(found, Decoded)
    assert record.key
    name, message = _CONTROLS[found.type]
    assert compiled(messages("control")[message], 0).write(found.data) == record.value
    key_version, rest = int.from_bytes(record.key[:2]), record.key[4:].hex()
    text = f"{name} keyVersion={key_version} keyRest={rest!r} version={found.version}"
    data: Any = found.data
    if found.type == "SNAPSHOT_HEADER":
        is_timed = data["lastContainedLogTimestamp"]
        text += f" lastContainedLogTimestamp={'TIME' if is_timed else 0}"
    elif found.type == "KRAFT_VERSION":
        text += f" kRaftVersion={data['kRaftVersion']}"
    elif found.type == "KRAFT_VOTERS":
        for voter in data["voters"]:
            directory = "DIR" if any_directory_id else to_text(voter["voterDirectoryId"])
            endpoints = ",".join(
                f"{one['name']}://{one['host']}:{one['port']}" for one in voter["endpoints"]
            )
            levels = voter["kRaftVersionFeature"]
            text += (
                f" voter={voter['voterId']} directory={directory} endpoints={endpoints} "
                f"kraft={levels['minSupportedVersion']}..{levels['maxSupportedVersion']}"
            )
    return text


def _metadata_text(record: Record, *, any_salt: bool) -> str:
    value = record.value
    assert value
    frame, pos = read_uvarint(value, 0)
    number, pos = read_uvarint(value, pos)
    version, pos = read_uvarint(value, pos)
    message = next(message for message in messages("metadata").values() if message.key == number)
    face = compiled(message, version)
    data, end = face.read(value, pos)
    assert end == len(value)
    assert face.write(data) == value[pos:]
    text = f"frame={frame} apiKey={number} version={version} key={record.key!r} "
    if message.name == "FeatureLevelRecord":
        return text + f"FeatureLevel name={data['name']} level={data['featureLevel']}"
    assert message.name == "UserScramCredentialRecord"
    secrets: Any = {name: data[name] for name in ("salt", "storedKey", "serverKey")}
    shown = [f"{name}={'*' if any_salt else raw.hex()}" for name, raw in secrets.items()]
    return (
        text + f"UserScramCredential name={data['name']!r} mechanism={data['mechanism']} "
        f"{' '.join(shown)} iterations={data['iterations']}"
    )
