"""`kafka-dump-log` as a whole: damage, exit codes, options; the corpus tests its text."""

from pathlib import Path

import pytest

from kraftops.engine.choice import engine_name
from kraftops.log.batch import Record
from kraftops.records.dialects import DIALECTS
from kraftops.schema.compile import compiled
from tests.helpers.logs.costly_files import measured
from tests.helpers.logs.messages import table
from tests.helpers.logs.segments import IN, batch_around, plain_record
from tests.helpers.logs.written import batch_bytes, compress
from tests.helpers.tools.console import DUMP_LOG, KRAFTOPS, run_command, run_here
from tests.helpers.tools.corpus import listing

GOOD = batch_bytes([Record(0, 10, b"k", b"good")])
LAST = batch_bytes([Record(9, 90, b"k", b"last")])
BAD = batch_around(b"\xff" * 20, 1)


def write(directory: Path, **files: bytes) -> None:
    for name, data in files.items():
        (directory / f"{name.removeprefix('_')}.log").write_bytes(data)


def test_file_that_cannot_be_read_does_not_stop_the_next(tmp_path: Path) -> None:
    """Kafka's tool ends with an exception."""
    write(tmp_path, _0=GOOD, _9=LAST)

    done = run_here("--files", "0.log,5.log,9.log", cwd=tmp_path)

    assert done.code == 1
    assert done.text.count("baseOffset: ") == 2
    assert done.text.count("Dumping ") == 3
    assert done.errors == ["kafka-dump-log: cannot read 5.log: No such file or directory"]
    ours = run_here("dump-log", "--files", "0.log,5.log", cwd=tmp_path, program=KRAFTOPS)
    assert ours.errors[0] == "kraftops: cannot read 5.log: No such file or directory [not-found]"


def test_damage_is_a_line_with_file_position_and_reason(tmp_path: Path) -> None:
    write(tmp_path, _0=GOOD + BAD + LAST)

    done = run_here("--files", "0.log", "--deep-iteration", cwd=tmp_path)

    assert done.code == 1
    assert done.text.count("| offset: ") == 2
    (first, *_) = done.errors
    assert first.startswith(f"0.log: position {len(GOOD)}: ")


def test_damage_that_kafkas_tool_prints_keeps_exit_code_0(tmp_path: Path) -> None:
    flipped = GOOD[:-3] + b"x" + GOOD[-2:]
    write(tmp_path, _0=flipped + b"tail")

    done = run_here("--files", "0.log", cwd=tmp_path)

    assert done.code == 0
    assert done.text.splitlines()[2].endswith(" isvalid: false")
    assert done.text.splitlines()[3] == "Found 4 invalid bytes at the end of 0.log"
    assert done.errors == []


def test_zero_padding_is_a_note_and_exit_code_0(tmp_path: Path) -> None:
    write(tmp_path, _0=GOOD + bytes(1000))

    done = run_here("--files", "0.log", cwd=tmp_path)

    assert done.code == 0
    assert done.errors == [f"0.log: position {len(GOOD)}: 1000 bytes of zero padding"]


def test_empty_file_is_fine(tmp_path: Path) -> None:
    write(tmp_path, _0=b"")

    done = run_here("--files", "0.log", "--cluster-metadata-decoder", cwd=tmp_path)

    assert (done.code, done.errors) == (0, [])
    assert done.text == "Dumping 0.log\nLog starting offset: 0\n"


def test_wrong_decoder_is_reported_record_by_record(tmp_path: Path) -> None:
    write(tmp_path, _0=batch_bytes([Record(n, 0, None, b"v") for n in range(3)]))

    done = run_here("--files", "0.log", "--offsets-decoder", cwd=tmp_path)

    assert done.code == 1
    assert done.text.count("| offset: ") == 3
    assert done.text.count("<undecodable: ") == 3
    assert len(done.errors) == 3
    assert all("is offsets the right decoder?" in line for line in done.errors)


def test_gaps_are_reported_behind_all_files(tmp_path: Path) -> None:
    """Kafka's tool also reports that the first offset follows -1."""
    write(tmp_path, _0=GOOD + LAST, _9=LAST)

    done = run_here("--files", "0.log,9.log", "--deep-iteration", cwd=tmp_path)

    assert done.code == 0
    assert done.errors == [
        f"Non-consecutive offsets in {tmp_path / '0.log'}",
        "  0 is followed by 9",
    ]


def test_limit_of_inflation_can_be_set(tmp_path: Path) -> None:
    inflating = batch_bytes([Record(0, 0, None, bytes(17 << 20))], attributes=4)
    write(tmp_path, _0=inflating + LAST)
    arguments = ["--files", "0.log", "--deep-iteration", "--max-memory"]

    refused = run_here(*arguments, "64m", cwd=tmp_path)
    read = run_here(*arguments, "80m", cwd=tmp_path)

    assert refused.code == 2
    assert refused.errors == [
        "0.log: position 0: the batch inflates beyond 16777216 bytes, a quarter of --max-memory"
    ]
    assert [line.split(" ")[0] for line in refused.text.splitlines()[2:]] == [
        "baseOffset:",
        "baseOffset:",
        "|",
    ]
    assert (read.code, read.text.count("| offset: ")) == (0, 2)


def test_batch_that_inflates_too_far_is_refused_within_bounded_memory(tmp_path: Path) -> None:
    """A batch of 1 MB that inflates to 1 GiB: one line, and the next batch is read."""
    members = compress(1, bytes(1 << 20)) * 1024
    inflating = batch_around(members, 1, attributes=1)
    write(tmp_path, _0=inflating + LAST)
    assert len(inflating) < 1_200_000

    log = str(tmp_path / "0.log")
    done, peak = measured(engine_name(), DUMP_LOG, "--print-data-log", "--files", log)

    assert done.code == 2
    assert done.errors == [
        f"{log}: position 0: the batch inflates beyond 67108864 bytes, a quarter of --max-memory"
    ]
    assert done.text.splitlines()[-1].endswith(" payload: last")
    assert peak <= 200_000_000


def test_record_count_of_2_billion_costs_no_memory(tmp_path: Path) -> None:
    body = compress(1, plain_record(0, b"only"))
    write(tmp_path, _0=batch_around(body, (1 << 31) - 1, attributes=1) + LAST)

    log = str(tmp_path / "0.log")
    done, peak = measured(engine_name(), DUMP_LOG, "--print-data-log", "--files", log)

    assert done.code == 1
    assert done.text.count("| offset: ") == 2
    assert len(done.errors) == 1 or done.errors[1].startswith("Non-consecutive")
    assert peak <= 200_000_000


@pytest.mark.parametrize(
    ("name", "folder", "before"),
    [
        ("kafka", "metadata", b"\1"),
        ("kip-631", "kip_631", b"\0"),
        ("kip-631-draft", "kip_631_draft", b""),
    ],
)
def test_dialects_of_the_metadata_log(
    name: str, folder: str, before: bytes, tmp_path: Path
) -> None:
    """Each dialect reads its own log, and no other dialect does."""
    values = [
        before + bytes([message.key or 0, 0]) + compiled(message, 0).write({})
        for message in table(folder).values()
    ]
    write(tmp_path, _0=batch_bytes([Record(n, 0, None, v) for n, v in enumerate(values)]))
    arguments = ["--files", "0.log", "--cluster-metadata-decoder"]

    done = {other: run_here(*arguments, "--dialect", other, cwd=tmp_path) for other in DIALECTS}

    own = done.pop(name)
    assert (own.code, own.errors) == (0, [])
    assert own.text.count('payload: {"type":"') == len(values)
    for other in done.values():
        assert other.code == 0
        assert other.text.count('payload: {"type":"') < len(values)
        assert " payload: Error at " in other.text
    if name == "kafka":
        assert run_here(*arguments, cwd=tmp_path).out == own.out


def test_first_of_several_decoders_counts(tmp_path: Path) -> None:
    path = str(IN / "meta/00000000000000000000.log")
    both = ["--cluster-metadata-decoder", "--print-data-log", "--remote-log-metadata-decoder"]

    several = run_here("--files", path, *both)
    one = run_here("--files", path, "--cluster-metadata-decoder")

    assert several.out == one.out
    assert (several.code, one.code) == (0, 0)


def test_names_that_are_no_text_come_out_as_they_are(tmp_path: Path) -> None:
    name = b"caf\xe9/0.log"
    (tmp_path / "x").mkdir()
    directory = bytes(tmp_path) + b"/caf\xe9"
    (tmp_path / "x").rename(directory.decode("utf-8", "surrogateescape"))
    with open(bytes(tmp_path) + b"/" + name, "wb") as out:
        out.write(GOOD + bytes(100))

    done = run_command(b"--files", name, cwd=tmp_path)

    assert done.code == 0
    assert done.out.startswith(b"Dumping " + name + b"\n")
    assert len(done.errors) == 1
    assert done.errors[0].startswith("caf\\xe9/0.log: position ")


@pytest.mark.parametrize("debug", [{}, {"KRAFTOPS_DEBUG": "1"}], ids=["plain", "debug"])
def test_environment_changes_nothing_of_a_dump(debug: dict[str, str], tmp_path: Path) -> None:
    """Neither the encoding of the locale nor a missing HOME."""
    write(tmp_path, _0=batch_bytes([Record(0, 0, None, "é".encode())]))
    environment = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", **debug}

    done = run_command(
        "--files", "0.log", "--print-data-log", cwd=tmp_path, environment=environment
    )

    assert (done.code, done.errors) == (0, [])
    assert done.out.endswith(" payload: é\n".encode())


def test_directory_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    for suffix in ("log", "index", "timeindex"):
        source = IN / "user/none" / f"00000000000000000000.{suffix}"
        (tmp_path / source.name).write_bytes(source.read_bytes())
        (tmp_path / source.name).chmod(0o444)
    tmp_path.chmod(0o555)
    before = listing(tmp_path)
    try:
        names = sorted(path.name for path in tmp_path.iterdir())
        done = run_here("--files", ",".join(names), cwd=tmp_path)
    finally:
        tmp_path.chmod(0o755)

    assert (done.code, done.errors) == (0, [])
    assert listing(tmp_path) == before
