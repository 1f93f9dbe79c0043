"""`kafka-dump-log --controllers` prints the same for controllers as for their files."""

import csv
import io
import itertools
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.logs.corpus_rows import logs_of, parsed
from tests.helpers.tools.console import DUMP_LOG, ENVIRONMENT, Done, run_here
from tests.helpers.wire.metadata_quorums import MetadataLog, topic
from tests.helpers.wire.quorums import Controllers, quorum


def filled(*topics: int) -> MetadataLog:
    log = MetadataLog()
    for number in topics:
        log.add(*topic(number))
    return log


@pytest.fixture
def log() -> MetadataLog:
    log = filled(1, 2)
    log.snapshot(drop=True)
    log.add(*topic(3))
    return log


@pytest.fixture
def controllers(log: MetadataLog) -> Iterator[Controllers]:
    with quorum(log) as found:
        yield found


def live(controllers: Controllers, *options: str) -> Done:
    return run_here("--controllers", str(controllers.address(1)), *options)


def without_places(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "file": None, "position": None} for row in rows]


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--topic", "t2"),
        ("--type", "partition"),
        ("--offset", "4..7"),
        ("--where", "value.name='t3'"),
        ("--where", "position=7"),
        ("--limit", "3"),
        ("--tail", "2"),
        ("--raw",),
    ],
    ids=" ".join,
)
def test_rows_are_those_of_the_files(
    options: tuple[str, ...], log: MetadataLog, controllers: Controllers, tmp_path: Path
) -> None:
    files = run_here(str(log.write(tmp_path)), "--format", "json", *options)

    found = live(controllers, "--format", "json", *options)

    assert (found.code, found.err) == (0, "")
    rows = parsed(found.text)
    assert {(row["file"], row["position"]) for row in rows} <= {(str(controllers.address(1)), None)}
    if "position=7" not in options:
        assert without_places(rows) == without_places(parsed(files.text))
        assert rows


@pytest.mark.parametrize("options", [(), ("--format", "json"), ("--summary",), ("--tail", "2")])
def test_topic_that_the_log_does_not_know_is_said(
    options: tuple[str, ...], controllers: Controllers
) -> None:
    done = live(controllers, "--topic", "nosuch", *options)
    checked = live(controllers, "--topic", "nosuch", "--check", *options)
    known = live(controllers, "--topic", "nosuch", "--topic", "t2", "--offset", "900..", *options)

    assert done.code == 4
    assert done.errors == ["kafka-dump-log: none of these logs knows a topic nosuch [not-found]"]
    assert "note: none of these logs knows a topic nosuch" in checked.err
    assert (known.code, known.errors) == (0, [])


@pytest.mark.parametrize("options", [(), ("--topic", "t2"), ("--limit", "5"), ("--tail", "2")])
def test_text_is_that_of_the_files(
    options: tuple[str, ...], log: MetadataLog, controllers: Controllers, tmp_path: Path
) -> None:
    place = str(log.write(tmp_path))

    def plain(text: str) -> list[str]:
        words = (line.split() for line in text.replace(place, "X").splitlines())
        return [
            " ".join(
                word for at, word in enumerate(line) if at == 0 or line[at - 1] != "position:"
            )
            for line in words
        ]  # fmt: skip

    files, found = run_here(place, *options), live(controllers, *options)

    assert (found.code, found.err) == (0, "")
    named = found.text.replace(str(controllers.address(1)), "X")
    assert plain(named) == plain(files.text)
    assert "position: -1" in found.text


def test_csv_and_parquet_have_the_same_rows(controllers: Controllers, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    out = tmp_path / "rows.parquet"

    as_csv = list(csv.DictReader(io.StringIO(live(controllers, "--format", "csv").text)))
    done = live(controllers, "--format", "parquet", "--output", str(out))
    rows = parsed(live(controllers, "--format", "json").text)

    assert (done.code, done.err, done.out) == (0, "", b"")
    table = parquet.read_table(out).to_pylist()
    assert [row["offset"] for row in table] == [row["offset"] for row in rows]
    assert [row["offset"] for row in as_csv] == [str(row["offset"]) for row in rows]
    assert {row["position"] for row in table} == {None}
    assert {row["position"] for row in as_csv} == {""}


def test_summary_counts_what_the_files_have(
    log: MetadataLog, controllers: Controllers, tmp_path: Path
) -> None:
    options = ("--summary", "--format", "json")

    (found,) = logs_of(live(controllers, *options).text)
    (files,) = logs_of(run_here(str(log.write(tmp_path)), *options).text)

    assert found["files"].pop("paths")[0].startswith(f"{controllers.address(1)}/")
    del files["files"]["paths"]
    for one in (found, files):  # a log that is not a file has no positions
        for entry in (*one["largest"]["records"], *one["largest"]["batches"]):
            del entry["file"], entry["position"]
    assert found == files


def test_output_is_written_whole(controllers: Controllers, tmp_path: Path) -> None:
    out = tmp_path / "out"

    done = live(controllers, "--output", str(out), "--format", "json")

    assert (done.code, done.out) == (0, b"")
    assert parsed(out.read_text())


@pytest.mark.parametrize("option", [("-O",), ()], ids=["optimised", "usual"])
def test_log_is_read_by_an_optimised_python(option: tuple[str, ...]) -> None:
    """`python -O` leaves out assertions, in one of which kafka-python reads a byte."""
    log = filled(1, 2)
    log.leader = 2
    with quorum(log, 1, 2) as found:
        done = subprocess.run(
            [sys.executable, *option, DUMP_LOG, "--format", "json", "-C", str(found.address(1))],
            capture_output=True,
            text=True,
            env=ENVIRONMENT,
            timeout=60,
            check=False,
        )

    assert (done.returncode, done.stderr) == (0, "")
    names = [row["value"].get("name") for row in parsed(done.stdout)]
    assert {"t1", "t2"} <= set(names)


def test_nothing_is_written_if_nobody_answers(tmp_path: Path) -> None:
    out = tmp_path / "out"

    done = run_here("-C", "localhost:1", "--output", str(out))

    assert (done.code, done.out) == (5, b"")
    assert done.errors[0] == "kafka-dump-log: localhost:1: connection refused [no-answer]"
    assert not out.exists()


def test_damage_is_found(log: MetadataLog, controllers: Controllers) -> None:
    base, behind, epoch, data = log.batches[-1]
    log.batches[-1] = base, behind, epoch, data[:17] + bytes([data[17] ^ 1]) + data[18:]

    done = live(controllers, "--check", "--format", "json")

    assert done.code == 2
    assert done.errors == [
        f"{controllers.address(1)}/{base:020}.log: the CRC does not match"
    ]  # fmt: skip
    assert live(controllers, "--format", "json").code == 2
    assert live(controllers, "--summary", "--format", "json").code == 2


@pytest.mark.parametrize("spelled", ["-C {}", "-C={}", "--controllers {}", "--controllers=1@{}"])
def test_controllers_are_spelled_in_many_ways(controllers: Controllers, spelled: str) -> None:
    options = spelled.format(controllers.address(1)).split()

    assert run_here(*options, "--tail", "1").code == 0


def test_server_says_where_controllers_are(
    log: MetadataLog, controllers: Controllers, tmp_path: Path
) -> None:
    """The configuration also gives protocol and login, unless client properties do."""
    config = tmp_path / "server.properties"
    lines = [
        f"controller.quorum.bootstrap.servers={controllers.address(1)}",
        "controller.listener.names=CTL",
        "listener.security.protocol.map=CTL:SASL_PLAINTEXT",
        "sasl.mechanism.controller.protocol=PLAIN",
    ]
    config.write_text("\n".join(lines))
    client = tmp_path / "client.properties"
    client.write_text("security.protocol=PLAINTEXT\nno.such.key=1\n")

    alone = run_here("--config", str(config))
    both = run_here("--config", str(config), "--command-config", str(client))

    assert alone.code == 1
    assert "sasl.jaas.config" in alone.errors[0]
    assert both.code == 0
    assert both.errors == [
        f"kafka-dump-log: warning: {client}: line 2: the key no.such.key is unknown, and ignored"
    ]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("x.log",), "--controllers and x.log do not go together"),
        (("--files", "x.log"), "--controllers and --files do not go together"),
        (("--salvage",), "--controllers and --salvage do not go together"),
        (("--from-start",), "--controllers and --from-start do not go together"),
        (("--max-bytes", "7"), "--controllers and --max-bytes do not go together"),
        (("--dialect", "kip-631"), "--controllers and --dialect do not go together"),
        (("--spark",), "--controllers and --spark do not go together"),
        (("--offsets-decoder",), "--controllers and --offsets-decoder do not go together"),
        (("--share-group-state-decoder",), "and --share-group-state-decoder do not go together"),
        (
            ("--cluster-metadata-decoder", "--transaction-log-decoder"),
            "--controllers and --transaction-log-decoder do not go together",
        ),
        (("--value-decoder-class",), "--controllers and --value-decoder-class do not go together"),
        (("--sql", "x"), "--sql needs --spark"),
        (("--follow", "--tail", "1"), "--follow takes no --tail 1: "),
        (("--type", "nonsense"), "nonsense"),
    ],
)
def test_contradictory_options_of_live_dumps_are_refused(
    options: tuple[str, ...], reason: str
) -> None:
    done = run_here("--controllers", "localhost:1", *options)

    assert (done.code, done.out) == (1, b"")
    assert reason in done.errors[0]


@pytest.mark.parametrize("option", ["--timeout", "--command-config", "--expect-cluster-id"])
def test_options_of_controllers_need_them(option: str) -> None:
    done = run_here(option, "3", "x.log")

    assert (done.code, done.errors[0]) == (1, f"kafka-dump-log: {option} needs --controllers")


# Following


class Follower:
    """A following run and its output so far."""

    def __init__(self, process: subprocess.Popen[bytes], out: Path, err: Path) -> None:
        self.process = process
        self._out, self._err = out, err

    @property
    def rows(self) -> list[dict[str, Any]]:
        text = self._out.read_text()
        return parsed(text[: text.rfind("\n") + 1])

    @property
    def errors(self) -> str:
        return self._err.read_text()

    def until(self, wanted: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 20
        while not wanted():
            assert time.monotonic() < deadline, self.errors
            assert self.process.poll() is None, self.errors
            time.sleep(0.05)


@contextmanager
def following(controllers: Controllers, scratch: Path, *options: str) -> Iterator[Follower]:
    out, err = scratch / "out", scratch / "err"
    command = [DUMP_LOG, "-C", str(controllers.address(1)), "--follow", "--format", "json"]
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            [*command, *options], stdout=stdout, stderr=stderr, env=ENVIRONMENT
        )
    try:
        yield Follower(process, out, err)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    finally:
        process.kill()
        process.wait()


def test_following_without_a_tail_leaves_out_what_was_there(
    log: MetadataLog, controllers: Controllers, tmp_path: Path
) -> None:
    end, numbers = log.end, itertools.count(4)
    with following(controllers, tmp_path, "--tail", "0", "--type", "topic") as follower:

        def is_printed_after_one_more() -> bool:
            log.add(*topic(next(numbers)))
            return bool(follower.rows)

        follower.until(is_printed_after_one_more)
    assert min(row["offset"] for row in follower.rows) >= end


def test_log_is_followed_across_a_snapshot_that_moves(
    log: MetadataLog, controllers: Controllers, tmp_path: Path
) -> None:
    with following(controllers, tmp_path) as follower:
        follower.until(lambda: bool(follower.rows) and follower.rows[-1]["offset"] == log.end - 1)
        log.add(*topic(4))
        follower.until(lambda: follower.rows[-1]["offset"] == log.end - 1)
        before = len(follower.rows)
        assert follower.errors == ""
        log.add(*topic(5))
        log.snapshot(drop=True)
        log.add(*topic(6))
        follower.until(lambda: '"t6"' in json.dumps(follower.rows).replace("\\", ""))

        rows = follower.rows[before:]

    names = [row["value"]["name"] for row in rows if row["type"] == "TOPIC_RECORD"]
    assert names == ["t1", "t2", "t3", "t4", "t5", "t6"]
    assert rows[0]["type"] == "SNAPSHOT_HEADER"
    assert "is gone; the snapshot" in follower.errors
    assert follower.errors.count("\n") == 1
    assert follower.errors.startswith(f"kafka-dump-log: note: {controllers.address(1)}: ")


def test_topic_that_is_created_meanwhile_is_found_by_its_name(
    log: MetadataLog, controllers: Controllers, tmp_path: Path
) -> None:
    with following(controllers, tmp_path, "--topic", "t4", "--topic", "t1") as follower:
        follower.until(lambda: len(follower.rows) == 2)
        log.add(*topic(4))
        log.add(*topic(5))
        follower.until(lambda: len(follower.rows) == 4)

        types = [row["type"] for row in follower.rows]

    assert types == ["TOPIC_RECORD", "PARTITION_RECORD"] * 2
