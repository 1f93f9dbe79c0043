"""A log without the name of its directory: that of offsets is recognized by its first keys."""

import shutil
from pathlib import Path

import pytest

from kraftops.dump.scan.mentions import looks_like_offsets
from kraftops.dump.sources.names import expand
from kraftops.log.batch import Record
from kraftops.memory import USUAL
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.console import DUMP_LOG, KRAFTOPS, run_here

OFFSETS = "tests/data/dump-4.3.1/in/consumer_offsets/00000000000000000000.log"
LINE = f"kraftops: note: {OFFSETS} looks like a log of __consumer_offsets: --offsets-decoder"


@pytest.mark.parametrize("args", [(), ("--print-data-log",), ("--format", "json")])
def test_dump_of_a_bare_log_of_offsets_names_the_decoder(args: tuple[str, ...]) -> None:
    assert run_here("dump-log", OFFSETS, *args, program=KRAFTOPS).err.startswith(LINE)


def test_kafkas_tool_and_a_chosen_decoder_say_nothing() -> None:
    assert run_here("--files", OFFSETS, program=DUMP_LOG).err == ""
    for option in ("--offsets-decoder", "--raw"):
        assert run_here("dump-log", OFFSETS, option, program=KRAFTOPS).err == ""


@pytest.mark.parametrize(
    "key", [None, b"customer-1", b"\0\0\0\0", b"\0\2\0\0", bytes(8), bytes(10)]
)
def test_keys_of_users_are_not_taken_for_offsets(key: bytes | None, tmp_path: Path) -> None:
    log = tmp_path / f"{0:020}.log"
    log.write_bytes(batch_bytes([Record(offset, 1000, key, b"v") for offset in range(3)]))

    assert not looks_like_offsets(expand([str(log)]), USUAL)


def test_directory_that_tells_its_topic_is_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "t-0"
    folder.mkdir()
    shutil.copy(OFFSETS, folder)

    assert not looks_like_offsets(expand([str(folder)]), USUAL)
