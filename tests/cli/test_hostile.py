"""Files that a server never writes, and numbers that no tool expects."""

import os
import resource
import struct
import subprocess
from pathlib import Path

import pytest

from kraftops.log.batch import Record
from tests.helpers.logs.written import batch_bytes, compress
from tests.helpers.tools.console import DUMP_LOG, ENVIRONMENT, run_command, run_here

GOOD = batch_bytes([Record(0, 0, None, b"good")])
LINE = "payload: good"


def test_log_beyond_two_gibibytes_is_read_to_its_end(tmp_path: Path) -> None:
    """Kafka's tool reads none of it, so its exit code stays."""
    path = tmp_path / "0.log"
    with path.open("wb") as file:
        for number in range(3):
            file.seek(number * 1_000_000_012)
            file.write(struct.pack(">qiib", number, 1_000_000_000, 0, 2) + bytes(44))
        file.truncate(3_000_000_036)

    done = run_here("--files", str(path))

    assert done.code == 1
    assert done.text.count("baseOffset: ") == 3
    assert "position 2147483647: " in done.err


def test_fifo_without_a_writer_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "0.log")
    (tmp_path / "1.log").write_bytes(GOOD)

    done = run_command("--print-data-log", "--files", "0.log,1.log", cwd=tmp_path)

    assert done.code == 1
    assert done.errors == ["kafka-dump-log: cannot read 0.log: it is not a regular file"]
    assert LINE in done.text


def test_device_is_refused(tmp_path: Path) -> None:
    (tmp_path / "0.log").symlink_to("/dev/zero")

    done = run_here("--files", str(tmp_path / "0.log"))

    assert done.code == 1
    assert done.err.endswith("it is not a regular file\n")


def limited(megabytes: int, *args: str) -> subprocess.CompletedProcess[str]:
    """Run the tool with a bound on its address space; count what it prints."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    return subprocess.run(
        ["bash", "-c", '"$0" "$@" | wc -l; exit ${PIPESTATUS[0]}', DUMP_LOG, *args],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        preexec_fn=limit,
        timeout=120,
        check=False,
    )


def small_records(count: int) -> bytes:
    """Return the bytes of *count* records with neither key nor value, all of one offset."""
    return b"\x0c\0\0\0\x01\x01\0" * count


def batch_of(body: bytes, count: int, codec: int = 0) -> bytes:
    """Return a batch around the bytes of records; its CRC is wrong."""
    if codec:
        body = compress(codec, body)
    head = struct.pack(
        ">qiibIhiqqqhii", 0, 49 + len(body), 0, 2, 0, codec, 0, 0, 0, -1, -1, -1, count
    )
    return head + body


def test_batch_of_a_million_records_takes_no_more_memory_than_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(batch_of(small_records(1_000_000), 1_000_000) + GOOD)

    done = limited(200, "--deep-iteration", "--files", str(path))

    assert done.returncode == 0, done.stderr[-500:]
    assert int(done.stdout) == 1_000_005


def test_million_records_in_a_few_bytes_are_read_in_part(tmp_path: Path) -> None:
    batch = batch_of(small_records(1_000_000), 1_000_000, 4)
    (tmp_path / "0.log").write_bytes(batch + GOOD)

    done = run_command("--deep-iteration", "--files", "0.log", cwd=tmp_path)

    assert done.code == 1
    assert 16 <= done.text.count("\n| offset: ") <= len(batch)
    assert f"position: {len(batch)} " in done.text
    assert "of 1000000: no more are read of " in done.err


def test_record_of_millions_of_headers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    headers = b"\0\x01" * 3_000_000
    record = b"\0\0\0\x01\x01" + b"\x80\x9b\xee\x02" + headers
    size = len(record) * 2
    length = bytes(
        (size >> shift & 0x7F) | (0x80 if size >> shift + 7 else 0) for shift in (0, 7, 14, 21)
    )
    path.write_bytes(batch_of(length + record, 1, 4) + GOOD)

    done = limited(200, "--print-data-log", "--files", str(path))

    assert done.returncode == 1
    assert "3000000 headers, more than the 65536 that are read" in done.stderr


@pytest.mark.parametrize("number", ["1_000", " 5", "0x10", "", "-1", "99999999999999999999"])
def test_number_that_java_does_not_read_is_refused(number: str) -> None:
    done = run_here("--files", "0.log", f"--max-bytes={number}")

    assert done.code == 1
    assert done.out == b""
    assert f"{number!r} is not a number from 0 to 2147483647" in done.err


def test_largest_limit_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(batch_bytes([Record(0, 0, None, b"good")], attributes=4))

    done = run_here("--print-data-log", "--files", str(path), "--max-memory", "1024t")

    assert LINE in done.text


def test_three_dashes_are_not_an_option() -> None:
    assert run_here("---files", "0.log").code == 1


def test_group_without_a_command_is_one_line() -> None:
    program = str(Path(DUMP_LOG).with_name("kraftops"))

    done = run_command("cluster", program=program)

    assert done.code == 1
    assert done.errors == [
        "kraftops: too few arguments [usage]",
        "hint: kraftops cluster --help shows how it is used",
    ]


def test_record_too_large_to_decode_is_named_and_the_next_follows(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    large = batch_bytes([Record(0, 0, None, b"\x01" * (8 * 1024 * 1024 + 1))])
    path.write_bytes(large + batch_bytes([Record(1, 0, None, b"\x01\x14\0\0")]))

    done = run_here("--cluster-metadata-decoder", "--files", str(path))

    assert done.code == 1
    assert (
        "<undecodable: a record of 8388609 bytes is not decoded, only up to 8388608>" in done.text
    )
    assert "NO_OP_RECORD" in done.text


def test_dialect_implies_the_metadata_decoder(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(batch_bytes([Record(0, 0, None, b"\0\x09\0" + bytes(17))]))

    done = run_here("--dialect", "kip-631", "--files", str(path))

    assert done.code == 0
    assert '{"type":"REMOVE_TOPIC_RECORD","version":0,' in done.text
