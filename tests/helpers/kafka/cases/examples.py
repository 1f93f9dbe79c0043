"""Examples of every version of every message, as our writers write them."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis.strategies import SearchStrategy

from kraftops.log.batch import Record
from kraftops.schema.compile import compiled
from kraftops.schema.message import Message
from tests.helpers.logs.messages import data_for, table, uvarint, versions_of
from tests.helpers.logs.written import batch_bytes

EXAMPLES = 25  # of each version of each message
Pair = tuple[bytes | None, bytes | None]


def examples(strategy: SearchStrategy[Any], count: int = EXAMPLES) -> list[Any]:
    """Return examples of a strategy, the same in each run."""
    found: list[Any] = []

    @settings(max_examples=count, derandomize=True, database=None, phases=[Phase.generate])
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


def written(message: Message, version: int) -> Iterator[bytes]:
    """Yield examples of a message as our writer writes them."""
    for data in examples(data_for(message, version, unknown_tags=True)):
        yield compiled(message, version).write(data)


def framed(name: str) -> Iterator[list[Pair]]:
    """Yield keys and values of each version of a message that has a frame."""
    for message in table(name).values():
        for version in versions_of(message):
            assert message.key is not None
            frame = b"\1" + uvarint(message.key) + uvarint(version)
            bodies = list(written(message, version))
            if name == "remote":
                data = map(plausible, examples(data_for(message, version)))
                bodies += map(compiled(message, version).write, data)
            yield [(None, frame + body) for body in bodies]


def plausible(data: dict[str, Any]) -> dict[str, Any]:
    """Return remote log metadata that Kafka's classes accept."""
    changed = dict(data)
    for state in ("remoteLogSegmentState", "remotePartitionDeleteState"):
        if state in data:
            changed[state] = data[state] % 3
    if "startOffset" in data:
        changed["startOffset"] = start = abs(data["startOffset"]) >> 2
        changed["endOffset"] = start + (abs(data["endOffset"]) >> 2)
        epochs = data["segmentLeaderEpochs"]
        changed["segmentLeaderEpochs"] = epochs or [{"leaderEpoch": 3, "offset": start}]
    return changed


def keyed(name: str) -> Iterator[list[Pair]]:
    """Yield keys and values of each version of a coordinator's messages."""
    messages = table(name)
    for message in messages.values():
        if not message.name.endswith("Value"):
            continue
        key = messages[message.name.removesuffix("Value") + "Key"]
        for version in versions_of(message):
            assert message.key is not None
            values = [version.to_bytes(2) + body for body in written(message, version)]
            keys = [message.key.to_bytes(2) + body for body in written(key, 0)]
            count = min(len(keys), len(values))
            yield [(keys[at % count], value) for at, value in enumerate(values)]
            yield [(key, None) for key in keys]


def members() -> Iterator[list[Pair]]:
    """Yield consumer groups; the bytes of their members are consumer protocol messages."""
    group = table("group")["GroupMetadataValue"]
    key = b"\0\2\0\5group"
    for message in table("consumer").values():
        part = "subscription" if message.name.endswith("Subscription") else "assignment"
        for version in versions_of(message):
            bodies = [version.to_bytes(2) + body for body in written(message, version)]
            groups = examples(data_for(group, 4), len(bodies))
            pairs: list[Pair] = []
            for data, body in zip(groups, bodies, strict=False):
                member = {"memberId": "m", "clientId": "c", "clientHost": "h", part: body}
                whole = {**data, "protocolType": "consumer", "members": [member]}
                pairs.append((key, b"\0\4" + compiled(group, 4).write(whole)))
            yield pairs


def controls() -> Iterator[list[Pair]]:
    """Yield control records of each kind, laid out in version 0 as brokers do and Kafka reads."""
    kinds = {
        "EndTxnMarker": (0, 1),
        "LeaderChangeMessage": (2,),
        "SnapshotHeaderRecord": (3,),
        "SnapshotFooterRecord": (4,),
        "KRaftVersionRecord": (5,),
        "VotersRecord": (6,),
    }
    for message in table("control").values():
        for version, number in product(versions_of(message), kinds[message.name]):
            data = examples(data_for(message, 0))
            bodies = [compiled(message, 0).write({**value, "version": version}) for value in data]
            if message.name == "EndTxnMarker":
                bodies = [b"\0\0" + body for body in bodies]
            yield [(b"\0\0" + number.to_bytes(2), body) for body in bodies]


def segment(batches: Sequence[Sequence[Pair]], attributes: int = 0) -> bytes:
    """Return a log with these batches of keys and values."""
    offset, out = 0, []
    for pairs in batches:
        records = [
            Record(at, 1_700_000_000_000 + at, *pair) for at, pair in enumerate(pairs, offset)
        ]
        out.append(batch_bytes(records, attributes=attributes))
        offset += len(pairs)
    return b"".join(out)
