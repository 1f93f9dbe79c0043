"""`kafka-dump-log --format`: rows in all formats, from files, directories, archives, streams."""

import csv
import gzip
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from kraftops.engine.choice import ENGINES
from kraftops.log.batch import Record
from kraftops.log.codecs import CODECS
from kraftops.origin import extra_remedy
from kraftops.query.formats import CSV
from kraftops.query.row import COLUMNS
from tests.helpers.logs.corpus_rows import engine_json, lines_of, parsed, query_of
from tests.helpers.logs.metadata_logs import no_ops, records_batch
from tests.helpers.logs.segments import IN
from tests.helpers.logs.written import batch_bytes, compress
from tests.helpers.tools.console import DUMP_LOG, ENVIRONMENT, run_command, run_here
from tests.helpers.tools.corpus import DUMPS, cases, listing

LOG_NAME = "00000000000000000000.log"
META = "--cluster-metadata-decoder"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log directory with partitions of the corpus under their original names."""
    root = tmp_path_factory.mktemp("logs")
    for name, source in {
        "__cluster_metadata-0": "meta",
        "__consumer_offsets-3": "consumer_offsets",
        "orders-1": "user/txn",
        "orders-0": "user/none",
    }.items():
        shutil.copytree(IN / source, root / name)
    return root


def rows_of(text: str, form: str) -> list[dict[str, Any]]:
    if form == "json":
        return parsed(text)
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


# The same in all forms


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--limit", "7"],
        ["--tail", "7"],
        ["--type", "partition,topic"],
        ["--type", "partition", "--limit", "3"],
        ["--type", "partition", "--tail", "3"],
        ["--offset", "100..120"],
        ["--limit", "0"],
        ["--tail", "0"],
        ["--limit", "100000"],
    ],
)
def test_all_forms_carry_the_same_records(arguments: list[str], tmp_path: Path) -> None:
    source = str(IN / "meta" / LOG_NAME)
    table = tmp_path / "rows.parquet"
    given = ["--files", source, META, *arguments]

    text, lines, sheet = (run_here(*given, "--format", f) for f in ("text", "json", "csv"))
    saved = run_here(*given, "--format", "parquet", "--output", str(table))

    found = parsed(lines.text)
    places = [(row["position"], row["offset"]) for row in found]
    assert {done.code for done in (text, lines, sheet, saved)} == {0}
    assert text.errors == lines.errors == sheet.errors == saved.errors == []
    assert [int(one.split()[2]) for one in text.text.splitlines() if one[0] == "|"] == [
        offset for _, offset in places
    ]
    assert [(int(r["position"]), int(r["offset"])) for r in rows_of(sheet.text, "csv")] == places
    rows = pq.read_table(table).to_pylist()
    assert [(row["position"], row["offset"]) for row in rows] == places
    assert [row["value"] and json.loads(row["value"]) for row in rows] == [
        row["value"] for row in found
    ]


@pytest.mark.parametrize("form", ["json", "csv", "text"])
def test_limit_is_the_beginning_and_tail_the_end(form: str) -> None:
    source = str(IN / "meta" / LOG_NAME)
    given = ["--files", source, META, "--format", form]
    everything = run_here(*given).text
    start = 2 if form == "text" else int(form == "csv")

    for count in (1, 5, 40):
        first = run_here(*given, "--limit", str(count)).text
        last = run_here(*given, "--tail", str(count)).text

        assert everything.startswith(first)
        assert lines_of(first)[:start] == lines_of(everything)[:start]
        if form == "text":
            kept = [one for one in lines_of(last) if one.startswith("| ")]
            assert [one for one in lines_of(everything) if one.startswith("| ")][-count:] == kept
            assert lines_of(last)[2].startswith("baseOffset: ")
        else:
            assert lines_of(last)[start:] == lines_of(everything)[-count:]
        assert sum(one.startswith("| ") for one in lines_of(first)) == count * (form == "text")


def test_limit_counts_batches_where_no_records_are_shown() -> None:
    source = str(IN / "meta" / LOG_NAME)

    done = run_here("--files", source, "--limit", "3")

    assert done.text == "".join(
        f"{line}\n" for line in lines_of(run_here("--files", source).text)[:5]
    )


def test_limit_holds_for_all_files_together(logs: Path) -> None:
    names = [str(logs / "orders-1"), str(logs / "orders-0")]
    everything = parsed(run_here(*names, "--format", "json").text)
    first = sum("orders-1" in row["file"] for row in everything)

    done = run_here(*names, "--format", "json", "--limit", str(first + 2))

    assert parsed(done.text) == everything[: first + 2]


def test_csv_has_one_line_of_names_for_all_files(logs: Path) -> None:
    names = [str(logs / "orders-1"), str(logs / "orders-0")]

    for arguments in ([], ["--limit", "5"], ["--jobs", "2"]):
        text = run_here(*names, "--format", "csv", *arguments).text

        assert text.startswith(CSV.head)
        assert text.count(CSV.head) == 1


# Output


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_output_file_has_the_bytes_of_standard_output(form: str, tmp_path: Path) -> None:
    given = ["--files", str(IN / "meta" / LOG_NAME), META, "--format", form]

    done = run_here(*given, "--output", str(tmp_path / "out"))

    assert (done.code, done.out) == (0, b"")
    assert (tmp_path / "out").read_bytes() == run_here(*given).out
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("form", ["text", "json", "csv", "parquet"])
def test_output_is_not_one_of_the_sources(form: str, tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME
    shutil.copy(IN / "meta" / LOG_NAME, path)
    before = path.read_bytes()
    (tmp_path / "link").symlink_to(path)

    for name in (path, tmp_path / "link"):
        done = run_here("--files", str(path), META, "--format", form, "--output", str(name))

        assert done.code == 1
        code = "" if form == "text" else " [not-writable]"  # as Kafka's tool says it, or we
        assert done.errors == [f"kafka-dump-log: cannot write {name}: it is being read{code}"]
        assert path.read_bytes() == before


def test_parquet_needs_a_file() -> None:
    done = run_here("--files", str(IN / "meta" / LOG_NAME), "--format", "parquet")

    assert (done.code, done.out) == (1, b"")
    assert done.errors[0] == "kafka-dump-log: --format parquet needs --output FILE"


def test_parquet_is_the_same_from_any_number_of_jobs(large_log: Path, tmp_path: Path) -> None:
    log = tmp_path / LOG_NAME
    size = 3 << 20
    size -= size % len(no_ops(0, 1000))
    log.write_bytes(large_log.read_bytes()[:size] + b"\0\1")
    size += 2
    tables = []
    for jobs in ("1", "2"):
        output = tmp_path / f"{jobs}.parquet"

        done = run_command(
            str(log), META, "--format", "parquet", "--jobs", jobs, "--output", str(output)
        )

        assert done.errors == [f"{log}: position {size - 2}: 2 bytes that are not a whole batch"]
        tables.append(pq.read_table(output))
    assert tables[0].num_rows == engine_json(log, query_of(IN / "meta" / LOG_NAME)).count("\n")
    assert tables[0].equals(tables[1])


def test_parquet_without_pyarrow_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    output = tmp_path / "rows.parquet"

    done = run_here(
        "--files", str(IN / "meta" / LOG_NAME), "--format", "parquet", "--output", str(output)
    )

    assert done.code == 1
    message, hint = done.errors
    assert (
        message == "kafka-dump-log: Parquet needs pyarrow, which is not installed [missing-package]"
    )
    assert hint.startswith(
        f"hint: {extra_remedy('arrow')}; DuckDB, Polars and pandas also read CSV"
    )
    assert not output.exists()


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_output_is_replaced_only_if_asked_and_secrets_are_for_their_owner(
    form: str, tmp_path: Path
) -> None:
    path = tmp_path / "out"
    path.write_text("mine")
    command = ("--files", str(IN / "meta" / LOG_NAME), META, "--format", form, "--limit", "1")
    command = (*command, "--show-secrets", "--output", str(path))

    refused = run_here(*command)
    kept = path.read_text()
    replaced = run_here(*command, "--overwrite")

    assert (refused.code, kept) == (3, "mine")
    assert refused.errors == [
        f"kafka-dump-log: {path} exists [exists]",
        "hint: --overwrite replaces it",
    ]
    assert replaced.code == 0
    assert (path.stat().st_mode & 0o777, path.stat().st_size > 100) == (0o600, True)


def test_overwrite_needs_an_output() -> None:
    done = run_here("--overwrite", "--files", str(IN / "meta" / LOG_NAME))

    assert (done.code, done.errors[0]) == (1, "kafka-dump-log: --overwrite needs --output")


@pytest.fixture(scope="module")
def large_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of some MB: its dump takes a while."""
    path = tmp_path_factory.mktemp("large") / LOG_NAME
    batch = no_ops(0, 1000)
    path.write_bytes(batch * ((12 << 20) // len(batch)))
    return path


@pytest.mark.parametrize(
    ("form", "replaces"),
    [("text", False), ("json", False), ("json", True), ("csv", False), ("parquet", True)],
)
def test_output_file_is_absent_or_whole_after_a_kill(
    form: str, replaces: bool, large_log: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out" / "rows"
    target.parent.mkdir()
    if replaces:
        target.write_bytes(b"before")
    command = [DUMP_LOG, "--files", str(large_log), META, "--format", form]

    with subprocess.Popen(
        [*command, "--output", str(target), *["--overwrite"] * replaces],
        env=ENVIRONMENT,
        stderr=subprocess.DEVNULL,
    ) as process:
        wait_until_written(process, 10_000 if form == "parquet" else 100_000)
        process.kill()
    left = {one.name: one.read_bytes() for one in target.parent.iterdir()}

    assert process.returncode == -signal.SIGKILL
    assert left == ({"rows": b"before"} if replaces else {})


def wait_until_written(process: subprocess.Popen[bytes], size: int) -> None:
    """Wait until a process and its children have written some output."""
    deadline = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < deadline:
        if any(written(pid) > size for pid in family(process.pid)):
            return
    pytest.fail("it wrote nothing")


def family(pid: int) -> Iterator[int]:
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            yield from map(int, task.read_text().split())
        except OSError:
            continue


def written(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/io").read_text().split()
    except OSError:
        return 0
    return int(fields[fields.index("wchar:") + 1])


# The head of it


@pytest.mark.parametrize("form", ["text", "json", "csv"])
@pytest.mark.parametrize("jobs", [[], ["--jobs", "1"], ["--jobs", "4"]])
def test_closed_pipe_ends_it_at_once_and_silently(
    form: str, jobs: list[str], large_log: Path
) -> None:
    command = [DUMP_LOG, "--files", str(large_log), META, "--format", form, *jobs]

    with subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        line = process.stdout.readline()
        process.stdout.close()
        code = process.wait(timeout=60)

        assert line.endswith(b"\n")
        assert code in (0, 141)
        assert process.stderr.read() == b""


# Sources


def test_directory_of_the_metadata_log_is_its_snapshot_and_what_came_after(logs: Path) -> None:
    done = run_here(str(logs / "__cluster_metadata-0"), "--format", "json")

    files = list(dict.fromkeys(row["file"].rpartition("/")[2] for row in parsed(done.text)))
    assert (done.code, done.errors) == (0, [])
    assert files == ["00000000000000000391-0000000001.checkpoint", LOG_NAME]
    assert {row["kind"] for row in parsed(done.text)} == {"metadata", "control"}


def test_from_start_is_every_segment_and_no_snapshot(logs: Path) -> None:
    done = run_here(str(logs / "__cluster_metadata-0"), "--format", "json", "--from-start")

    assert {row["file"].rpartition("/")[2] for row in parsed(done.text)} == {LOG_NAME}


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("slash", ["", "/", "//"])
def test_directory_chooses_its_decoder(form: str, slash: str, logs: Path) -> None:
    name = f"{logs}/__consumer_offsets-3{slash}"

    chosen = run_here(name, "--format", form)
    given = run_here(name, "--format", form, "--offsets-decoder")
    other = run_here(name, "--format", form, META)

    assert chosen.out == given.out
    assert b"OFFSET_COMMIT" in chosen.out or form == "text"
    assert other.out != chosen.out


def test_raw_chooses_no_decoder(logs: Path) -> None:
    name = str(logs / "__consumer_offsets-3")

    rows = parsed(run_here(name, "--format", "json", "--raw").text)
    text = run_here(name, "--raw")

    assert {row["kind"] for row in rows if not row["control"]} == {"user"}
    assert "| offset" not in text.text
    assert text.text.count("baseOffset: ") > 1


def test_plain_file_chooses_no_decoder(logs: Path) -> None:
    path = logs / "__cluster_metadata-0" / LOG_NAME

    done = run_here("--files", str(path), "--format", "json")

    assert {row["kind"] for row in parsed(done.text)} == {"user", "control"}


def test_segments_of_a_partition_come_in_order_of_offsets(logs: Path) -> None:
    rows = parsed(run_here(str(logs / "orders-1"), "--format", "json").text)

    offsets = [row["offset"] for row in rows]
    assert offsets == sorted(offsets)
    assert len({row["file"] for row in rows}) == 4


def test_log_directory_is_all_its_partitions_each_with_its_decoder(logs: Path) -> None:
    rows = parsed(run_here(str(logs), "--format", "json").text)

    kinds = {(row["file"].split("/")[-2], row["kind"]) for row in rows if row["kind"] != "control"}
    assert kinds == {
        ("__cluster_metadata-0", "metadata"),
        ("__consumer_offsets-3", "offsets"),
        ("orders-0", "user"),
        ("orders-1", "user"),
    }


@pytest.mark.parametrize("jobs", ["1", "2", "4"])
def test_jobs_change_nothing_of_rows(jobs: str, logs: Path) -> None:
    for form in ("json", "csv"):
        given = [str(logs), "--format", form]

        assert run_here(*given, "--jobs", jobs).out == run_here(*given).out


def test_patterns_and_bare_paths_add_to_files(logs: Path) -> None:
    both = run_here("--files", f"{logs}/orders-?", f"{logs}/__consumer*-3", "--format", "json").text

    one = run_here("--files", f"{logs}/orders-?", "--format", "json").text
    two = run_here(f"{logs}/__consumer*-3", "--format", "json").text
    assert both == one + two
    assert one
    assert two


ZSTD = CODECS.index("zstd")


@pytest.mark.parametrize("ending", [".gz", ".zst", ".xz"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_archived_segment_is_read_as_it_is(form: str, ending: str, tmp_path: Path) -> None:
    import lzma

    plain = tmp_path / "00000000000000000018.log"
    shutil.copy(IN / "user/txn" / plain.name, plain)
    pack = {
        ".gz": gzip.compress,
        ".xz": lzma.compress,
        ".zst": lambda data: compress(ZSTD, data),
    }[ending]
    (tmp_path / f"{plain.name}{ending}").write_bytes(pack(plain.read_bytes()))

    expected = run_here("--files", plain.name, "--print-data-log", "--format", form, cwd=tmp_path)
    done = run_here(
        "--files", f"{plain.name}{ending}", "--print-data-log", "--format", form, cwd=tmp_path
    )

    assert done.text.replace(f"{plain.name}{ending}", plain.name) == expected.text
    assert done.code == expected.code == 0


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_standard_input_is_a_log(form: str) -> None:
    path = IN / "meta" / LOG_NAME
    given = [META, "--format", form]

    done = run_command("--files", "-", *given, stdin=path.read_bytes())

    expected = run_here("--files", str(path), *given).text.replace(str(path), "-")
    assert (done.code, done.errors) == (0, [])
    assert done.text == expected


def test_broken_archive_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    raw = gzip.compress((IN / "meta" / LOG_NAME).read_bytes())
    (tmp_path / f"{LOG_NAME}.gz").write_bytes(raw[: len(raw) // 2])

    done = run_here("--files", f"{LOG_NAME}.gz", META, "--format", "json", cwd=tmp_path)

    found = parsed(done.text)
    assert done.code == 2
    assert len(found) > 10
    assert found[-1]["kind"] == "damage"
    assert len(done.errors) == 1


# What has no rows


@pytest.mark.parametrize("form", ["json", "csv", "parquet"])
@pytest.mark.parametrize("arguments", [[], ["--limit", "1000"], ["--jobs", "2"]])
def test_file_without_rows_is_one_line_and_the_others_are_dumped(
    form: str, arguments: list[str], tmp_path: Path
) -> None:
    shutil.copytree(IN / "meta", tmp_path / "x")
    (tmp_path / "x" / "notes.txt").touch()
    output = ["--output", str(tmp_path / "out")] if form == "parquet" else []
    names = "00000000000000000000.index,00000000000000000438.snapshot,notes.txt"

    done = run_here(
        "--files",
        f"{names},{LOG_NAME}",
        META,
        "--format",
        form,
        *arguments,
        *output,
        cwd=tmp_path / "x",
    )

    assert done.code == 1
    assert done.errors == [
        "kafka-dump-log: 00000000000000000000.index: only logs and snapshots have records",
        "kafka-dump-log: 00000000000000000438.snapshot: only logs and snapshots have records",
        "kafka-dump-log: notes.txt: its name is that of no log or snapshot",
    ]
    if form == "parquet":
        assert pq.read_table(tmp_path / "out").num_rows > 100
    else:
        assert len(rows_of(done.text, form)) > 100


@pytest.mark.parametrize("name", ["0.index", "0.snapshot"])
def test_file_without_records_has_none_to_limit(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()

    done = run_here("--files", name, "--limit", "1", cwd=tmp_path)

    assert (done.code, done.out) == (1, b"")
    assert done.errors == [f"kafka-dump-log: {name}: only logs and snapshots have records"]


def test_small_files_are_objects_each(tmp_path: Path) -> None:
    shutil.copy(IN / "meta/partition.metadata", tmp_path)
    shutil.copy(IN / "meta/quorum-state", tmp_path)

    done = run_here("--files", "quorum-state,partition.metadata", "--format", "json", cwd=tmp_path)

    assert done.code == 0
    assert [row["kind"] for row in parsed(done.text)] == ["quorum-state", "partition.metadata"]


def test_small_file_that_is_missing_is_told_first(tmp_path: Path) -> None:
    shutil.copy(IN / "meta/quorum-state", tmp_path)

    done = run_here("quorum-state", "quorum-stat", "--format", "json", cwd=tmp_path)

    [failure] = parsed(done.text)
    assert (done.code, failure["error"], failure["path"]) == (4, "not-found", "quorum-stat")
    assert failure["hint"] == "is it quorum-state?"


def test_small_files_do_not_go_together_with_logs() -> None:
    done = run_here("--files", f"{LOG_NAME},quorum-state", "--format", "json", cwd=IN / "meta")

    assert (done.code, parsed(done.text)[0]["error"]) == (1, "usage")
    assert "do not go together" in done.errors[0]


def test_name_that_is_no_text_is_text_in_every_form(tmp_path: Path) -> None:
    name = b"caf\xe9.log"
    with open(bytes(tmp_path) + b"/" + name, "wb") as file:
        file.write(batch_bytes([Record(0, 0, None, b"v")]) + b"tail")

    for form in ("json", "csv"):
        done = run_command(b"--files", name, "--format", form, cwd=tmp_path)

        assert done.code == 0
        assert {row["file"] for row in rows_of(done.out.decode(), form)} == {"caf\ufffd.log"}
    done = run_command(
        b"--files", name, "--format", "parquet", "--output", "rows.parquet", cwd=tmp_path
    )
    assert {r["file"] for r in pq.read_table(tmp_path / "rows.parquet").to_pylist()} == {
        "caf\ufffd.log"
    }


# Secrets


def test_secrets_are_shown_only_if_asked_for(tmp_path: Path) -> None:
    data = {"resourceType": 4, "resourceName": "1", "name": "sasl.jaas.config", "value": "hunter2"}
    (tmp_path / LOG_NAME).write_bytes(records_batch(0, ("ConfigRecord", data)))
    given = ["--files", LOG_NAME, META]

    for form in ("json", "csv"):
        hidden = run_here(*given, "--format", form, cwd=tmp_path)
        shown = run_here(*given, "--format", form, "--show-secrets", cwd=tmp_path)

        assert b"hunter2" not in hidden.out
        assert b"<redacted>" in hidden.out
        assert b"hunter2" in shown.out
    assert b"hunter2" in run_here(*given, cwd=tmp_path).out


# A plain file with Kafka's flags


PLAIN = [
    case
    for case in cases(DUMPS, "dump-log")
    if case.expected is not None and not case.prefix and not case.stdin and case.exit == 0
][::12]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in PLAIN])
def test_nothing_else_changes_kafkas_text(case: Any, tmp_path: Path) -> None:
    root = DUMPS / "in"
    before = listing(root)
    expected = case.masked(run_here(*case.args, cwd=root).out)
    target = tmp_path / "out"

    for arguments in (
        ["--jobs", "1"],
        ["--jobs", "2"],
        ["--jobs", "4"],
        ["--check"],
        ["--output", str(target)],
        ["--output", str(target), "--jobs", "2", "--check"],
    ):
        done = run_here(*case.args, *arguments, cwd=root)

        raw = target.read_bytes() if "--output" in arguments else done.out
        assert case.masked(raw) == expected
        assert done.code == 0 or "--check" in arguments
    assert listing(root) == before


def test_columns_are_all_there_in_a_run(logs: Path) -> None:
    text = run_here(str(logs), "--format", "json").text

    assert {tuple(json.loads(line)) for line in lines_of(text)} == {COLUMNS}


def test_rows_of_a_command_are_those_of_the_library() -> None:
    path = IN / "consumer_offsets" / LOG_NAME

    done = run_here("--files", str(path), "--offsets-decoder", "--format", "json")

    assert done.text == engine_json(path, query_of(path))


def test_nothing_is_read_of_a_pipe_in_the_place_of_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "0.log")

    done = run_here("--files", "0.log", "--format", "json", cwd=tmp_path)

    assert done.code == 1
    assert done.errors == ["kafka-dump-log: cannot read 0.log: it is not a regular file"]


@pytest.mark.parametrize("arguments", [[], ["--print-data-log"], ["--format", "json"]])
def test_pipe_and_archive_are_salvaged_too(arguments: list[str], tmp_path: Path) -> None:
    data = (IN / "dmg/hole/00000000000000000000.log").read_bytes()
    (tmp_path / "0.log").write_bytes(data)
    (tmp_path / "0.log.gz").write_bytes(gzip.compress(data))

    plain, packed, piped = (
        run_command("--files", name, "--salvage", *arguments, cwd=tmp_path, stdin=data)
        for name in ("0.log", "0.log.gz", "-")
    )

    is_text = "--format" not in arguments
    assert packed.code == piped.code == plain.code == (1 if is_text else 2)
    assert packed.text.replace("0.log.gz", "0.log") == plain.text
    for line, expected in zip(piped.errors, plain.errors, strict=True):
        assert line == expected.replace("0.log", "-")
        assert "300 bytes could not be salvaged, 4 offsets are missing" in line
    for line in piped.text.splitlines():
        assert line == "Dumping -" or line.replace('"file":"-"', '"file":"0.log"') in plain.text


@pytest.mark.parametrize("engine", ENGINES)
def test_key_finds_a_record_whose_value_has_an_unknown_version(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KRAFTOPS_ENGINE", engine)
    group = b"\0\2\0\3grp"  # the key of GROUP_METADATA
    batch = batch_bytes([Record(0, 0, group, b"\0\x63"), Record(1, 0, b"\0\x63", b"\0\7")])
    (tmp_path / "0.log").write_bytes(batch)
    asked = ("--files", "0.log", "--offsets-decoder", "--format", "json")

    (row,) = parsed(run_here(*asked, "--key", "grp", cwd=tmp_path).text)
    unknown = parsed(run_here(*asked, cwd=tmp_path).text)[1]
    summary = run_here("--files", "0.log", "--offsets-decoder", "--summary", cwd=tmp_path).text

    assert (row["type"], row["version"], row["key"]) == ("GROUP_METADATA", 99, {"group": "grp"})
    assert (row["keyEncoding"], row["valueEncoding"]) == (None, "base64")
    assert "unknown record version 99" in row["error"]
    assert (unknown["type"], unknown["version"]) == ("UNKNOWN(99)", 7)
    assert "UNKNOWN(99)" in summary
