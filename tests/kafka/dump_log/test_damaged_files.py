"""`kafka-dump-log` and Kafka's own tool print the same for damaged and odd files."""

import os
import re
import time
import zlib
from base64 import b85encode
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.helpers.kafka.cases.odd_files import Case, case
from tests.helpers.kafka.tools.dump_tool import Dumped, KafkaDump, common_start, difference, masked
from tests.helpers.tools.console import Done, run_here

pytestmark = pytest.mark.kafka

SEED = int(os.environ.get("KRAFTOPS_FUZZ_SEED_KAFKA", "431"))
SECONDS = float(os.environ.get("KRAFTOPS_FUZZ_SECONDS_KAFKA", "6"))
MOST_FAILURES = 5


class Known(NamedTuple):
    """An intended difference, or one caused by Kafka's tool."""

    reason: str
    applies: Callable[[Case, Dumped, Done], bool]


def _is_prefix(kafka: Dumped, ours: Done) -> bool:
    return masked(ours.out).startswith(masked(kafka.out))


def _has_overrun(_: Case, kafka: Dumped, ours: Done) -> bool:
    if not re.search(r"(a|the length of a) (key|value)( of \d+ bytes)? where", ours.err):
        return False
    same = common_start(masked(kafka.out), masked(ours.out))
    magics = re.findall(rb" magic: (\d+) compresscodec", same)
    return bool(magics) and magics[-1] in (b"0", b"1")


KNOWN = (
    Known(
        "Kafka reserves memory for what a length or a count claims, and has not got it",
        lambda _, kafka, ours: "OutOfMemoryError" in kafka.err and _is_prefix(kafka, ours),
    ),
    Known(
        "Kafka begins to print a legacy message whose key or value ends behind it",
        _has_overrun,
    ),
    Known(
        "Kafka reads all batches behind the one that an entry of a time index is about",
        lambda case, kafka, ours: (
            case.name.endswith(".timeindex")
            and "CorruptRecordException" in kafka.err
            and _is_prefix(kafka, ours)
        ),
    ),
)


def test_tools_agree_about_damaged_files(kafka_dump: KafkaDump, tmp_path: Path) -> None:
    """The seed and the number of a case reproduce it."""
    failures: list[str] = []
    number = 0
    end = time.monotonic() + SECONDS

    while time.monotonic() < end and len(failures) < MOST_FAILURES:
        tried = case(SEED, number)
        found = _differs(kafka_dump, tried, tmp_path)
        if found:
            kept = tmp_path / f"kept-{number}-{tried.name}"
            kept.write_bytes(tried.data)
            text = b85encode(zlib.compress(tried.data, 9)).decode()
            failures.append(
                f"seed {SEED}, case {number} ({tried.note}), {kept}, {' '.join(tried.options)}\n"
                f"{found}\nzlib, b85: {text if len(text) < 5000 else 'too long'}\n"
            )
        number += 1

    assert not failures, "\n".join(failures)
    assert number


def _differs(kafka_dump: KafkaDump, tried: Case, folder: Path) -> str | None:
    path = folder / tried.name
    paths = {path: tried.data, **{folder / name: data for name, data in tried.siblings.items()}}
    for other, data in paths.items():
        other.write_bytes(data)
    args = ("--files", str(path), *tried.options)
    ours = run_here(*args)  # first: Kafka's tool writes to indexes
    kafka = kafka_dump(*args)
    for other in paths:
        other.unlink()
    found = difference(kafka, ours)
    if found and any(known.applies(tried, kafka, ours) for known in KNOWN):
        return None
    return found
