"""`--spark` on the command line: what is refused, shown, cut short and left behind."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kraftops.dump.sources.names import expand
from kraftops.spark.dump.dump_task import MOST_LINES
from kraftops.spark.session.session import Session
from tests.helpers.logs.corpus_rows import EVERY_LOG, parsed
from tests.helpers.logs.segments import IN, batch_around, plain_record
from tests.helpers.spark.java import java_options
from tests.helpers.tools.console import DUMP_LOG, ENVIRONMENT, KRAFTOPS, run_command, run_here
from tests.helpers.tools.distribution import long_after
from tests.spark.dump.test_dump_job import LOG, METADATA, SMALL, SMALLEST, on_spark, parts, same

OFFSETS = str(IN / "v3.9.1/consumer_offsets/00000000000000000000.log")
DAMAGED = str(IN / "dmg")
BROKER = str(IN.parents[1] / "log-directories/4.3.1/stopped")
EVERY = "KRAFTOPS_TRACED" in os.environ

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--spark", LOG], "--spark needs --output DIR"),
        (
            ["--spark", "--limit", "3", "--output", "o", LOG],
            "--limit and --spark do not go together",
        ),
        (["--spark", "--tail", "3", "--output", "o", LOG], "--tail and --spark do not go together"),
        (["--spark", "--follow", LOG], "--follow and --spark do not go together"),
        (["--spark", "--output", "o", "-"], "Spark cannot read standard input"),
        (
            ["--spark", "--partition-by", "type", "--output", "o", LOG],
            "--partition-by needs --format",
        ),
        (["--master", "local[2]", LOG], "--master needs --spark"),
        (["--overwrite", LOG], "--overwrite needs --output"),
        *(
            (["--spark", "--conf", conf, "--output", "o", LOG], reason)
            for conf, reason in (
                ("a=b", "'a' is not a configuration"),
                ("spark.master=local[1]", "'spark.master=local[1]' is not a configuration of ours"),
                ("spark.kraftops.split=1", "there is no configuration spark.kraftops.split"),
            )
        ),
        (
            ["--spark", "--master", "spark://127.0.0.1:9", "--shared-paths", "--output", "o", LOG],
            "cannot reach the master spark://127.0.0.1:9: 127.0.0.1:9: Connection refused",
        ),
        (
            ["--spark", "--master", "spark://127.0.0.1:9", "--output", "o", LOG],
            f"{LOG} is a path of this machine",
        ),
        *(
            (["--spark", "--master", master, "--output", "o", LOG], f"'{master}' is not a master")
            for master in ("local[0]", "local[2,0]", "nonsense", "", "spark://")
        ),
        (
            ["--spark", "--master", "k8s://h:x", "--shared-paths", "--output", "o", LOG],
            "'k8s://h:x' is not a master",
        ),
        (
            ["--spark", "--master", "k8s://127.0.0.1:9", "--shared-paths", "--output", "o", LOG],
            "cannot reach the master k8s://127.0.0.1:9: 127.0.0.1:9: Connection refused",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_before_spark_starts(
    tmp_path: Path, arguments: list[str], reason: str
) -> None:
    started = time.monotonic()

    done = run_command(*arguments, cwd=tmp_path)

    assert done.code == (5 if reason.startswith("cannot reach") else 1)
    assert done.errors[0].startswith(f"kafka-dump-log: {reason}")
    assert len(done.errors) <= 2
    assert os.listdir(tmp_path) == []
    assert time.monotonic() - started < 120


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        *(
            (["--sql", "SELECT 1", "--output", "o", other], f"--sql and {other} do not go together")
            for other in ("--check", "--summary", "--single-file")
        ),
        (
            ["--sql", "SELECT 1", "--output", "o", "--format", "json", "--partition-by", "type"],
            "--partition-by and --sql go together only with --sink",
        ),
        *(
            (["--summary", "--output", "o", *other], f"--summary and {other[0]} do not go together")
            for other in (["--single-file"], ["--partition-by", "type"])
        ),
        (
            ["--single-file", "--output", "o", "--partition-by", "type"],
            "--single-file and --partition-by do not go together",
        ),
        (["--check", "--single-file"], "--single-file needs --output"),
        (["--check", "--partition-by", "type"], "--partition-by needs --output"),
    ],
)
def test_no_option_is_passed_over(tmp_path: Path, arguments: list[str], reason: str) -> None:
    """As `--explain` says, too, which starts nothing."""
    done = run_command("--spark", "--dry-run", *arguments, LOG, cwd=tmp_path)

    assert (done.code, done.errors[0].removesuffix(" [usage]")) == (1, f"kafka-dump-log: {reason}")


def test_pattern_that_nothing_matches_is_told_before_spark_starts(tmp_path: Path) -> None:
    done = run_command("--spark", "--output", "o", "/nowhere/*.log", cwd=tmp_path)

    assert (done.code, done.err) == (
        4,
        "kafka-dump-log: nothing matches /nowhere/*.log [not-found]\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_explain_starts_nothing(tmp_path: Path) -> None:
    output = str(tmp_path / "o")

    done = run_command(METADATA, "--spark", "--dry-run", "--type", "topic", "--output", output, LOG)

    assert done.code == 0
    assert done.errors == []
    assert f"0  {LOG} 0..end" in done.text
    assert "filter    types=topic" in done.text
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "form"),
    long_after(
        6,
        [
            (["--where", "partitionId=0"], "text"),
            (["--since", "2020-01-01", "--until", "2100-01-01"], "json"),
            (["--type", "topic", "--offset", "..100"], "csv"),
            (["--skip-record-metadata"], "text"),
            (["--max-bytes", "3000"], "json"),
            (["--check", "--deep-iteration"], "text"),
            (["--type", "topic,partition"], "text"),
            (["--offset", "10..50"], "json"),
            (["--topic", "a.none"], "csv"),
            (["--key", "nothing"], "text"),
            (["--salvage"], "text"),
            (["--topic", "a.none", "--type", "partition"], "json"),
            (["--offset", "900000.."], "csv"),
            (["--show-secrets"], "json"),
        ],
    ),
)
def test_filters_and_forms(
    session: Session, tmp_path: Path, arguments: list[str], form: str
) -> None:
    same(tmp_path, METADATA, "--format", form, *arguments, LOG, spark=SMALL)


@pytest.mark.parametrize(
    ("asked", "log"),
    [
        (("--topic", "nosuch", METADATA), LOG),
        (("--group", "nosuch", "--offsets-decoder"), OFFSETS),
        (("--topic", "nosuch", "--offsets-decoder"), OFFSETS),
    ],
    ids=["topic", "group", "topic of groups"],
)
def test_name_that_no_log_knows_is_an_error_as_locally(
    session: Session, tmp_path: Path, asked: tuple[str, ...], log: str
) -> None:
    local = run_here(*asked, log)

    done = run_here("--spark", *asked, log, "--output", str(tmp_path / "out"))

    assert (done.code, local.code) == (4, 4)
    assert local.errors[0] in done.errors
    assert not (tmp_path / "out").exists()


def test_small_files_of_a_log_directory(session: Session, tmp_path: Path) -> None:
    """In JSON what they say, damaged ones too; in another form as the local tool has it."""
    (tmp_path / "quorum-state").write_text('{"data_version":1}')
    (tmp_path / "meta.properties").write_text("version=1\nnode.id=3\n")
    (tmp_path / "replication-offset-checkpoint").write_text("0\n1\ntopic 0 17\n")
    (tmp_path / "partition.metadata").write_text("version: 0\n")
    files = [str(path) for path in sorted(tmp_path.iterdir())]

    same(tmp_path, "--format", "json", *files)
    (tmp_path / "text").mkdir()
    text, written = on_spark(tmp_path / "text", *files)
    mixed = run_here("--spark", "--format", "json", "--output", "o", *files, LOG)

    assert written == run_here(*files).out
    assert text.code == run_here(*files).code
    assert mixed.errors[0] == "kafka-dump-log: logs and small files do not go together [usage]"


def test_gaps_beyond_some_are_counted(session: Session, tmp_path: Path) -> None:
    """A compacted log is full of them."""
    log = tmp_path / "00000000000000000000.log"
    found = [
        batch_around(plain_record(0, b"x"), 1, base_offset=offset)
        for offset in range(0, 2 * (MOST_LINES + 501), 2)
    ]
    log.write_bytes(b"".join(found))
    local = run_here("--deep-iteration", str(log))

    done, written = on_spark(tmp_path, "--deep-iteration", str(log))

    assert written == local.out
    assert done.code == local.code == 0
    assert done.errors[1:-1] == local.errors[: MOST_LINES + 1]
    assert len(local.errors) == MOST_LINES + 501
    assert ", 500 more offsets not listed" in done.errors[-1]


def test_salvage_of_damaged_logs(session: Session, tmp_path: Path) -> None:
    same(tmp_path, "--salvage", "--format", "json", *map(str, EVERY_LOG))


def test_one_file_has_all(session: Session, tmp_path: Path) -> None:
    for form in ("text", "json", "csv"):
        local = run_here(METADATA, "--format", form, LOG)
        output = tmp_path / form

        run_here(
            *(METADATA, "--format", form, "--spark", "--single-file", LOG, *SMALL),
            *("--output", str(output)),
        )

        assert output.read_bytes() == local.out
    assert sorted(os.listdir(tmp_path)) == ["csv", "json", "text"]


def test_parquet_is_that_of_the_local_tool(session: Session, tmp_path: Path) -> None:
    local, one = tmp_path / "local", tmp_path / "one"
    arguments = (METADATA, "--format", "parquet", LOG)
    run_here(*arguments, "--output", str(local))

    run_here(*arguments, "--spark", "--output", str(tmp_path / "many"), *SMALL)
    run_here(*arguments, "--spark", "--single-file", "--output", str(one), *SMALL)

    assert pq.read_table(tmp_path / "many").equals(pq.read_table(local))
    assert pq.read_table(one).equals(pq.read_table(local))


def test_parquet_of_nothing_has_the_schema(session: Session, tmp_path: Path) -> None:
    output = tmp_path / "out"

    done = run_here(
        *(METADATA, "--format", "parquet", "--offset", "900000..", "--spark", LOG),
        *("--output", str(output)),
    )

    table = pq.read_table(output)
    assert (done.code, table.num_rows, table.num_columns) == (0, 0, 30)


def test_output_that_is_there_is_replaced_only_when_asked(session: Session, tmp_path: Path) -> None:
    _, first = on_spark(tmp_path, METADATA, LOG)
    arguments = ("--spark", METADATA, "--output", str(tmp_path / "out"), "--type", "topic", LOG)

    refused = run_here(*arguments)
    kept = parts(tmp_path / "out")
    replaced = run_here(*arguments, "--overwrite")
    (tmp_path / "out/mine").touch()
    foreign = run_here(*arguments, "--overwrite")

    assert (refused.code, replaced.code, foreign.code) == (3, 0, 1)
    assert "out exists" in refused.errors[1]
    assert kept == first
    assert "mine in it comes from no dump" in foreign.errors[1]
    assert sorted(os.listdir(tmp_path)) == ["out"]


def test_summary_is_that_of_the_local_tool(session: Session) -> None:
    logs = [str(path) for path in EVERY_LOG]
    arguments = (METADATA, "--summary", "--format", "json", *logs)

    done = run_here(*arguments, "--spark", *SMALL)

    local = run_here(*arguments)
    assert (done.code, done.text) == (local.code, local.text)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--sort", "bytes", "--top", "3"],
        ["--format", "json", "--topic", "plain", "--offset", "5.."],
        ["--format", "json", "--log", "txn", "--where", "control=false"],
    ],
    ids=" ".join,
)
def test_summary_of_a_log_directory_is_that_of_the_local_tool(
    session: Session, arguments: list[str]
) -> None:
    done = run_here("--summary", *arguments, "--spark", BROKER, *SMALL)

    local = run_here("--summary", *arguments, BROKER)
    assert (done.code, done.text) == (local.code, local.text)
    assert len(local.text.splitlines()) > 2 or "json" in arguments


@pytest.mark.parametrize("form", ["text", "json"])
def test_check_is_that_of_the_local_tool(session: Session, form: str, tmp_path: Path) -> None:
    """Of directories, and of files alone."""
    broker = shutil.copytree(BROKER, tmp_path / "broker")
    index = broker / "txn-0/00000000000000000016.index"
    index.write_bytes(index.read_bytes()[:-3])
    names = [str(broker), str(index), DAMAGED]

    local = run_here("--check", "--format", form, *names)
    done = run_here("--check", "--format", form, "--spark", *names)

    assert (done.code, done.text) == (local.code, local.text)
    assert (local.code, "index-torn" in local.text) == (2, True)


def test_check_of_what_is_dumped_has_a_row_for_each_damage(session: Session) -> None:
    files = [source.path for source in expand([DAMAGED])]
    local = run_here("--check", "--deep-iteration", *files)

    done = run_here("--check", "--deep-iteration", "--spark", *files, *SMALL)
    asked = ["--check", "--deep-iteration", "--spark", "--format", "json", DAMAGED]
    rows = parsed(run_here(*asked).text)

    notes = ("zero padding", "the file lost")
    expected = [
        line
        for line in local.errors
        if ": position " in line and not any(note in line for note in notes)
    ]
    assert done.code == local.code == 2
    assert done.text.splitlines() == expected
    assert {row["kind"] for row in rows} == {"damage"}
    assert len(rows) > 50


def test_sql_in_all_forms(session: Session, tmp_path: Path) -> None:
    query = "SELECT type, count(*) AS n FROM log GROUP BY type ORDER BY n DESC, type LIMIT 3"
    arguments = (METADATA, "--spark", "--sql", query, LOG)

    table = run_here(*arguments)
    lines = run_here(*arguments, "--format", "json")
    comma = run_here(*arguments, "--format", "csv")
    run_here(*arguments, "--format", "parquet", "--output", str(tmp_path / "out"))

    rows = [json.loads(line) for line in lines.text.splitlines()]
    assert [line.split() for line in table.text.splitlines()] == [
        ["type", "n"],
        *([row["type"], str(row["n"])] for row in rows),
    ]
    assert comma.text.splitlines() == ["type,n", *(f"{row['type']},{row['n']}" for row in rows)]
    assert pq.read_table(tmp_path / "out").to_pylist() == rows


def test_sql_has_the_list_of_segments(session: Session, tmp_path: Path) -> None:
    shutil.copytree(IN / "user/none", tmp_path / "orders-0")
    sql = ("--spark", "--sql", "SELECT sum(records) AS n FROM kraftops_segments")
    without = run_here(*sql, str(tmp_path))
    assert f"hint: kraftops spark index {tmp_path}" in without.err

    run_here("spark", "index", str(tmp_path), program=KRAFTOPS)
    done = run_here(*sql, "--format", "json", str(tmp_path))

    rows = run_here("--format", "json", str(tmp_path)).text.splitlines()
    assert json.loads(done.text) == {"n": len(rows)}


def test_json_of_sql_is_that_of_the_output(session: Session, tmp_path: Path) -> None:
    query = """SELECT 1.50 AS price, double('nan') AS none, unhex('ff') AS raw, current_date() AS day,
                      map(date '2020-01-02', 0.10) AS m, map(unhex('ff'), unhex('41')) AS b,
                      null AS no, array(struct(2.0 AS x)) AS list, timestamp AS t
               FROM log LIMIT 1"""
    arguments = (METADATA, "--spark", "--sql", query, LOG)

    shown = run_here(*arguments, "--format", "json")
    comma = run_here(*arguments, "--format", "csv")
    done = run_here(*arguments, "--format", "json", "--output", str(tmp_path / "out"))

    assert (shown.code, comma.code, done.code) == (0, 0, 0), shown.err + comma.err + done.err
    assert b"".join(path.read_bytes() for path in (tmp_path / "out").glob("part-*")) == shown.out
    for part in (
        '"price":1.50,"none":"NaN","raw":"/w=="',
        '"m":{"2020-01-02":0.10},"b":{"/w==":"QQ=="}',
        '"no":null,"list":[{"x":2.0}]',
    ):
        assert part in shown.text
    assert '"{""2020-01-02"":0.10}","{""/w=="":""QQ==""}",,"[{""x"":2.0}]"' in comma.text


def test_sql_with_columns_of_one_name(session: Session) -> None:
    query = "SELECT a.offset, b.offset FROM log a JOIN log b ON a.offset = b.offset + 7 ORDER BY 1"
    arguments = ("--spark", "--sql", query, LOG)

    table = run_here(*arguments)
    comma = run_here(*arguments, "--format", "csv")
    lines = run_here(*arguments, "--format", "json")

    assert comma.text.splitlines()[:2] == ["offset,offset", "7,0"]
    assert [line.split() for line in table.text.splitlines()[:2]] == [["offset"] * 2, ["7", "0"]]
    assert (lines.code, parsed(lines.text)[-1]["error"]) == (1, "usage")
    assert "several columns are called 'offset'" in lines.err


def test_csv_of_sql_has_nested_values_whatever_their_names(
    session: Session, tmp_path: Path
) -> None:
    query = """SELECT struct(`offset`, type) AS `a.b`, array(type) AS `c``d`, '=1' AS e, 2 AS e
               FROM log ORDER BY `offset` LIMIT 1"""
    arguments = (METADATA, "--spark", "--sql", query, LOG, "--format", "csv")

    plain = run_here(*arguments, "--output", str(tmp_path / "plain"))
    safe = run_here(*arguments, "--csv-safe", "--output", str(tmp_path / "safe"))

    assert (plain.code, safe.code) == (0, 0), plain.err + safe.err
    nested = '"{""offset"":0,""type"":""LEADER_CHANGE""}","[""LEADER_CHANGE""]"'
    for name, text in (("plain", "=1"), ("safe", "'=1")):
        (part,) = (tmp_path / name).glob("part-*")
        assert part.read_text() == f"a.b,c`d,e,e\n{nested},{text},2\n"


def test_sql_that_cannot_be_planned_is_one_line(session: Session) -> None:
    """Spark's text about the plan has several rows then."""
    done = run_here("--spark", "--sql", "SELECT 1 / 0 FROM log", LOG)

    assert (done.code, len(done.errors)) == (1, 2)
    assert "[DIVIDE_BY_ZERO]" in done.errors[-1]


def test_sql_in_a_session_that_refuses_pushdown(session: Session) -> None:
    name = "spark.sql.python.filterPushdown.enabled"
    query = "SELECT count(*) AS n FROM log WHERE offset < 5"
    session.spark.conf.set(name, "false")
    try:
        done = run_here("--spark", "--sql", query, LOG)
    finally:
        session.spark.conf.set(name, "true")

    assert (done.code, done.text.split()) == (0, ["n", "5"])


def test_wrong_sql_is_one_line(session: Session) -> None:
    done = run_here(METADATA, "--spark", "--sql", "SELECT nothing FROM log", LOG)

    assert done.code == 1
    assert len(done.errors) <= 3
    assert "`nothing` cannot be resolved" in done.err


@pytest.mark.parametrize("by", long_after(1, ["date", "type", "topic"]))
def test_partitions_hold_all_rows(session: Session, tmp_path: Path, by: str) -> None:
    local = run_here(METADATA, "--format", "json", LOG)
    output = tmp_path / "out"

    done = run_here(
        *(METADATA, "--spark", "--format", "json", "--partition-by", by, LOG),
        *("--output", str(output)),
    )

    assert f"{len(local.text.splitlines()):,} records in " in done.errors[-1]
    folders = [path for path in output.iterdir() if path.is_dir()]
    rows = [line for path in output.rglob("*.json") for line in path.read_text().splitlines()]
    assert done.code == 0
    assert folders
    assert all(path.name.startswith(f"{by}=") for path in folders)
    assert len(rows) == len(local.text.splitlines())
    assert not list(output.rglob("*.crc"))


def test_partitions_of_damaged_logs_end_as_locally(session: Session, tmp_path: Path) -> None:
    for name in ("len-neg", "codec-5", "all-text"):
        logs = sorted((IN / "dmg" / name).glob("*.log"))
        arguments = ("--format", "json", *map(str, logs))
        if not logs:
            continue

        done = run_here(
            *("--spark", "--partition-by", "type", "--output", str(tmp_path / name), *arguments)
        )

        assert done.code == run_here(*arguments).code
        assert (tmp_path / name / "type=damage").is_dir()


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, -15), (signal.SIGHUP, -1), (signal.SIGINT, 130)][: None if EVERY else 1],
)
def test_signal_leaves_nothing(tmp_path: Path, number: int, code: int) -> None:
    """Neither output nor what was written of it, nor processes and their files.

    Ctrl-C on a terminal is in `test_terminal`; KRAFTOPS_TRACED=1 has all signals.
    """
    logs = [LOG] * 60
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    local = ("--conf", f"spark.local.dir={scratch}")
    output = ("--output", str(tmp_path / "out"))
    command = [DUMP_LOG, METADATA, "--spark", *SMALLEST, *local, *output, *logs]
    environment = {**ENVIRONMENT, "JDK_JAVA_OPTIONS": java_options()}
    with subprocess.Popen(
        command,
        env=environment,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # noqa: PLW1509 - under nohup
    ) as process:
        try:
            latest = time.monotonic() + 120
            while not list(tmp_path.glob(".out.*.tmp/part-*")) and process.poll() is None:
                assert time.monotonic() < latest
                time.sleep(0.05)
            children = [path for path in Path("/proc").glob("[0-9]*") if is_of(path, process.pid)]
            process.send_signal(number)
            errors = process.communicate(timeout=60)[1].decode()
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)

    assert process.returncode == code
    assert "Traceback" not in errors
    assert os.listdir(tmp_path) == ["scratch"]
    assert os.listdir(scratch) == []
    assert len(children) > 1
    assert not [path for path in children if is_of(path, process.pid)]


def is_of(process: Path, session_id: int) -> bool:
    """Tell whether a process runs in a session."""
    try:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return int(fields[3]) == session_id and fields[0] != "Z"
