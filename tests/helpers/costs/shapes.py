"""Files of up to 1 MB that cost much time, by shape, and the commands that read them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from kraftops.log.batch import CONTROL, Record
from kraftops.log.codecs import CODECS
from kraftops.varint import varint_bytes
from tests.helpers.logs.costly_files import MIB, control_key, packed
from tests.helpers.logs.random_logs import new_record, uuid
from tests.helpers.logs.segments import batch_around, plain_record
from tests.helpers.logs.written import batch_bytes, compress, message_bytes

SIZE = 1_000_000
_SMALLEST = b"\x0c\0\0\0\x01\x01\0"
_NO_OP = b"\x01\x14\0\0"

Shape = Callable[[Random], bytes]


def _repeated(batch: bytes, size: int = SIZE) -> bytes:
    """Return as many copies of a batch as fit, one at least, with offsets that grow."""
    count = max(size // len(batch), 1)
    return b"".join((number << 20).to_bytes(8) + batch[8:] for number in range(count))


def _codec(random: Random) -> str:
    return random.choice(CODECS[1:])


def _incompressible(random: Random, most: int) -> bytes:
    return random.randbytes(random.randrange(most))


def _records(random: Random, record: bytes, attributes: int = 0) -> bytes:
    """Return batches of equal records, about as many as are read of their size."""
    codec = _codec(random)
    padding = plain_record(0, _incompressible(random, 100_000))
    number = CODECS.index(codec)
    size = 61 + len(compress(number, padding))
    most = size // 2 if attributes & CONTROL else 8 * size
    count = min(int(most * random.choice((0.2, 0.9, 0.99, 1.5))), 62 * MIB // len(record) - 1)
    batch = packed(record * count + padding, codec, count=count + 1, attributes=attributes)
    return _repeated(batch)


def _broken_records(random: Random) -> bytes:
    """Return batches whose last record is damaged."""
    padding = plain_record(0, _incompressible(random, 100_000))
    size = 61 + len(padding)
    count = size * random.randrange(1, 8)
    return _repeated(packed(_SMALLEST * count + padding + b"\x0c", "zstd", count=count + 2))


def _zeros(random: Random) -> bytes:
    size = random.choice((1 << 16, MIB, 20 * MIB, 61 * MIB))
    fill = random.choice((b"\0", b"a", b"\xff", b'"', b"\n"))
    return _repeated(packed(plain_record(0, fill * size), _codec(random)))


def _large_keys(random: Random) -> bytes:
    size = random.choice((1 << 16, MIB, 20 * MIB, 61 * MIB))
    return _repeated(packed(plain_record(0, b"v", bytes(size)), _codec(random)))


def _headers(random: Random) -> bytes:
    count = random.choice((10, 1000, 65_000))
    body = b"\0\0\0\1\1" + varint_bytes(count) + count * (varint_bytes(1) + b"k" + varint_bytes(0))
    record = varint_bytes(len(body)) + body
    times = random.choice((1, 10, 100))
    return _repeated(packed(record * times, _codec(random), count=times))


def _old_messages(random: Random) -> bytes:
    magic, codec = random.randrange(2), random.choice(CODECS[1:4])
    value = bytes(random.choice((0, 0, 10, 1000)))
    message = message_bytes(Record(0, 0, None, value), magic)
    padding = message_bytes(Record(0, 0, None, _incompressible(random, 50_000)), magic)
    count = int(len(padding) * random.choice((0.1, 0.45, 2)))
    number = CODECS.index(codec)
    inner = compress(number, message * count + padding, magic)
    return _repeated(message_bytes(Record(0, 0, None, inner), magic, number))


def _old_single_messages(random: Random) -> bytes:
    return _repeated(message_bytes(Record(0, 0, None, b""), random.randrange(2)))


def _smallest_batches(random: Random) -> bytes:
    return _repeated(batch_around(_SMALLEST, 1, attributes=random.choice((0, 8, 16, 32))))


def _one_batch(random: Random) -> bytes:
    count = SIZE // 7
    return batch_around(_SMALLEST * count, count, attributes=random.choice((0, 8, 16, CONTROL)))


def _noops(random: Random) -> bytes:
    many = random.choice((1, 100, 10_000))
    records = [Record(offset, 0, None, _NO_OP) for offset in range(many)]
    return _repeated(batch_bytes(records, attributes=random.randrange(5)))


def _topics(random: Random) -> bytes:
    """Return records of topics with long names."""
    name = "t" * random.choice((1, 200, 30_000))
    count = SIZE // (len(name) + 60)
    values = [
        new_record("TopicRecord", name=f"{name}{number}", topicId=uuid(number)).value
        for number in range(count)
    ]
    return batch_bytes([Record(at, 0, None, value) for at, value in enumerate(values)])


def _false_heads(random: Random) -> bytes:
    """Return damage with many heads of batches that are none, for the search behind it."""
    length = random.choice((14, 100, 5_000, 60_000, 200_000, 900_000))
    step = random.choice((1, 17, 61, 300))
    magic = random.randrange(3)
    head = b"\0" * 8 + length.to_bytes(4) + bytes(4) + bytes([magic]) + random.randbytes(4)
    head += bytes(2) + bytes(4) + bytes(40)
    if step < 61:
        head = head[:17] + random.randbytes(step - 1)
    else:
        head += bytes(step - 61)
    return (head * (SIZE // len(head) + 1))[:SIZE]


def _mutated(random: Random) -> bytes:
    made = bytearray(random.choice([SHAPES[name] for name in SHAPES if name != "mutated"])(random))
    for _ in range(random.choice((1, 10, 1000))):
        at = random.randrange(len(made))
        made[at] = random.randrange(256)
    return bytes(made)


def _text_values(random: Random) -> bytes:
    """Return values that are hard for patterns: JSON in JSON, and repetitions."""
    value = random.choice((b"[" * 10_000, b'{"a":' * 5_000, b"a" * 100_000, b"ab" * 50_000))
    return _repeated(batch_around(plain_record(0, value), 1))


SHAPES: dict[str, Shape] = {
    "records": lambda random: _records(random, _SMALLEST),
    "records with a value": lambda random: _records(random, plain_record(0, b"v" * 20, b"k")),
    "control records": lambda random: _records(
        random, plain_record(0, bytes(6), control_key(random.randrange(7))), CONTROL
    ),
    "damaged records": _broken_records,
    "zeros": _zeros,
    "keys": _large_keys,
    "headers": _headers,
    "old messages": _old_messages,
    "old single messages": _old_single_messages,
    "smallest batches": _smallest_batches,
    "one batch": _one_batch,
    "no-ops": _noops,
    "topics": _topics,
    "false heads": _false_heads,
    "text values": _text_values,
    "mutated": _mutated,
}
"""Makes a log of at most about 1 MB by random choices."""

_DUMP, _SHELL = "dump-log", "metadata-shell"
COMMANDS: dict[str, tuple[str, ...]] = {
    "text": (_DUMP, "--print-data-log"),
    "deep": (_DUMP, "--deep-iteration"),
    "metadata": (_DUMP, "--cluster-metadata-decoder"),
    "offsets": (_DUMP, "--offsets-decoder"),
    "json": (_DUMP, "--format", "json"),
    "csv": (_DUMP, "--format", "csv"),
    "parquet": (_DUMP, "--format", "parquet", "--overwrite", "--output", "out.parquet"),
    "where": (_DUMP, "--format", "json", "--where", "value ~ '(a|b|ab)*c$' or key ~ '(x+x+)+y'"),
    "tail": (_DUMP, "--format", "json", "--tail", "5"),
    "check": (_DUMP, "--print-data-log", "--check"),
    "salvage": (_DUMP, "--print-data-log", "--salvage"),
    "summary": (_DUMP, "--summary"),
    "metadata summary": (_DUMP, "--cluster-metadata-decoder", "--summary", "--format", "json"),
    "offsets summary": (_DUMP, "--offsets-decoder", "--summary"),
    "transaction summary": (_DUMP, "--transaction-log-decoder", "--summary"),
    "directory check": (_DUMP, "--check", "DIRECTORY"),
    "ls": (_SHELL, "-s", "LOG", "ls", "-lR", "/"),
    "find": (_SHELL, "-s", "LOG", "find", "/", "-name", "*a*b*c*d*e*f*g*h*"),
    "grep": (_SHELL, "-s", "LOG", "grep", "(a|aa)+$", "/image"),
    "shell summary": (_SHELL, "-s", "LOG", "summary"),
    "history": (_SHELL, "-s", "LOG", "history-of", "/image/topics"),
    "verify": (_SHELL, "-s", "LOG", "verify"),
    "export": (_SHELL, "-s", "LOG", "export", "/image"),
    "report": ("report", "DIRECTORY", "--output", "out.html", "--overwrite"),
}
"""Arguments of `kraftops` by name; a dump has the log behind them."""


def arguments(command: str, log: str, directory: str) -> list[str]:
    """Return the arguments of a command for a log in its directory."""
    words = COMMANDS[command]
    found = [{"LOG": log, "DIRECTORY": directory}.get(word, word) for word in words]
    return found if {"LOG", "DIRECTORY"}.intersection(words) else [*found, log]
