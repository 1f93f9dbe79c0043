"""Kafka's own dump tool in one JVM, and a comparison with ours."""

import re
from pathlib import Path

from tests.helpers.kafka.jvm.resident_tool import ResidentTool, ToolResult
from tests.helpers.tools.console import Done

Dumped = ToolResult


class KafkaDump(ResidentTool):
    """Kafka's `DumpLogSegments`; a context manager."""

    def __init__(self, jars: Path) -> None:
        """Start the JVM; see `ResidentTool`."""
        super().__init__(jars, "org.apache.kafka.tools.DumpLogSegments")


_DOUBLE = re.compile(rb'("value":)(-?[0-9.]+(?:E-?[0-9]+)?)(?=[,}])')
_NULL_POINTER = re.compile(
    rb"skipping\. (null|Cannot invoke .*? is null|the record has no value)\n"
)
_LEGACY_SIZE = re.compile(rb"((?:key|value)Size: -)[0-9]+(?= (?:valueSize: -?[0-9]+ )?isValid)")
_SUMMARY = re.compile(r" +(Index|-?\d+ is followed)|Indexed offset:")
_FIRST_GAP = "  -1 is followed by "  # Kafka's tool counts from -1 in every file


def masked(out: bytes) -> bytes:
    """Return output without what may differ.

    Those are doubles, of which JVMs before 19 do not always print the shortest text, what a JVM
    says of its null pointers, and sizes below -1 of legacy messages.
    """
    if b'"value":' in out:
        out = _DOUBLE.sub(lambda found: found[1] + repr(float(found[2])).encode(), out)
    if b"isValid" in out:
        out = _LEGACY_SIZE.sub(rb"\g<1>1", out)
    return _NULL_POINTER.sub(b"skipping. null\n", out)


def summary(err: str) -> list[str]:
    """Return the findings in standard error, without the files they are about."""
    return sorted(
        line for line in err.splitlines() if _SUMMARY.match(line) and _FIRST_GAP not in line
    )


def common_start(one: bytes, other: bytes) -> bytes:
    """Return the longest common prefix."""
    pairs = enumerate(zip(one, other, strict=False))
    return one[: next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))]


def difference(kafka: Dumped, ours: Done) -> str | None:
    """Return the first difference between our tool and Kafka's, or None.

    Where Kafka's tool dies, our output begins with its output, and ours fails; but zero padding
    fails only in Kafka's tool.
    """
    if "Traceback (most recent call last)" in ours.err:
        return f"a traceback:\n{ours.err[-2000:]}"
    wanted, got = masked(kafka.out), masked(ours.out)
    if not (got.startswith(wanted) if kafka.threw else got == wanted):
        return _where(wanted, got)
    if kafka.threw:
        has_failed = ours.code or "zero padding" in ours.err
        return None if has_failed else f"Kafka's tool died, ours did not fail:\n{kafka.err[:1000]}"
    if ours.code:
        return f"Kafka's tool did not die, ours failed:\n{ours.err[-1000:]}"
    findings = summary(kafka.err), summary(ours.err)
    if findings[0] == findings[1]:
        return None
    return f"other findings:\nKafka: {findings[0]}\n ours: {findings[1]}"


def _where(wanted: bytes, got: bytes) -> str:
    pairs = zip([*wanted.split(b"\n"), b""], [*got.split(b"\n"), b""], strict=False)
    for number, (kafkas, ours) in enumerate(pairs, 1):
        if kafkas != ours:
            at = len(common_start(kafkas, ours))
            shown = slice(max(0, at - 200), at + 200)
            return f"line {number}, byte {at}:\nKafka: {kafkas[shown]!r}\n ours: {ours[shown]!r}"
    return f"{len(got)} instead of {len(wanted)} bytes of output"
