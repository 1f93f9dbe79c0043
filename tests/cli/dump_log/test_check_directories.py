"""`kafka-dump-log --check` of directories: findings, states of partitions, exit codes."""

import errno
import json
import os
import shutil
from multiprocessing.context import ForkContext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.helpers.logs.log_directories import REAL
from tests.helpers.logs.segments import IN
from tests.helpers.tools.console import KRAFTOPS, Done, run_here


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """A copy of the log directory of a broker that was stopped."""
    return Path(shutil.copytree(REAL / "stopped", tmp_path / "stopped"))


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A copy of the log directory of a broker that ran, as a crash would leave it."""
    return Path(shutil.copytree(REAL / "running", tmp_path / "killed"))


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def told(done: Done) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the partitions and the findings in JSON."""
    answer = json.loads(done.text)
    return answer["partitions"], answer["findings"]


def severities(done: Done) -> dict[str, str]:
    """Return the severities of the findings in a text by their codes."""
    lines = [line for line in done.text.splitlines() if line.endswith("]")]
    return {line.rpartition(" [")[2][:-1]: line.partition(":")[0] for line in lines}


def test_sound_partitions_are_a_table(stopped: Path) -> None:
    done = run_here("--check", "stopped", cwd=stopped.parent)

    assert (done.code, done.errors) == (0, [])
    head, *rows, total = done.text.splitlines()
    assert head.split()[:2] == ["PARTITION", "STATE"]
    assert rows[-1].split() == ["stopped/txn-0", "clean", "5", "4008", "0", "72", "0", "0"]
    assert total == "7 partitions: 7 clean"


def test_check_without_semaphores_is_done_in_one_process(stopped: Path) -> None:
    """A full /dev/shm has no room for the lock of several processes, nor has one that is missing."""
    error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with patch.object(ForkContext, "Lock", side_effect=error) as lock:
        done = run_here("--check", "stopped", "--jobs", "2", cwd=stopped.parent)

    assert lock.called
    assert done == run_here("--check", "stopped", cwd=stopped.parent)


def test_missing_partition_is_lost_where_the_metadata_log_has_its_topic(stopped: Path) -> None:
    """Without the metadata log it may have been deleted; while it is deleted it is renamed."""
    shutil.rmtree(stopped / "plain-0")

    lost = run_here("--check", str(stopped))
    (stopped / f"plain-0.{'0' * 32}-delete").mkdir()
    deleted = run_here("--check", str(stopped))
    (stopped / f"plain-0.{'0' * 32}-delete").rmdir()
    shutil.rmtree(stopped / "__cluster_metadata-0")
    alone = run_here("--check", str(stopped))
    of_another = run_here("--check", str(stopped / "txn-0"))

    place = f"loss: {stopped}/plain-0: it is missing, its high watermark was 24; the metadata log "
    (line,) = [line for line in lost.text.splitlines() if line.startswith(place)]
    assert line.endswith(" [missing-partition]")
    (row,) = [line for line in lost.text.splitlines() if line.startswith(f"{stopped}/plain-0 ")]
    assert row.split()[1:3] + row.split()[-2:] == ["data", "lost", "24", "0"]
    assert (lost.code, deleted.code, alone.code, of_another.code) == (2, 0, 0, 0)
    assert "missing-partition" not in deleted.text + of_another.text
    assert alone.text.count("[missing-partition]") == 1


def test_archive_that_is_cut_is_not_taken_for_a_damaged_disk(stopped: Path) -> None:
    archive = Path(shutil.make_archive(str(stopped), "tar", stopped))
    os.truncate(archive, archive.stat().st_size // 2)

    text = run_here("--check", str(archive))
    partitions, findings = told(run_here("--check", "--format", "json", str(archive)))

    assert "[bad-archive]" in text.text
    assert partitions
    of_partitions = [finding for finding in findings if finding["code"] != "bad-archive"]
    assert all(finding["isPossible"] for finding in of_partitions)
    assert all(finding["evidence"][-1]["source"] == str(archive) for finding in of_partitions)


@pytest.mark.parametrize("options", [["--files"], ["--print-data-log"]])
def test_directory_is_checked_however_it_is_named(stopped: Path, options: list[str]) -> None:
    done = run_here("--check", *options, str(stopped))

    assert (done.code, done.text.splitlines()[-1]) == (0, "7 partitions: 7 clean")


def test_broken_index_and_snapshot_in_a_directory_are_found(stopped: Path) -> None:
    """Files named alone were found, and in a directory not."""
    flip(stopped / "txn-0/00000000000000000016.index", 7)
    flip(stopped / "txn-0/00000000000000000030.snapshot", 20)

    done = run_here("--check", str(stopped))
    alone = run_here("--check", str(stopped / "txn-0/00000000000000000016.index"))

    assert (done.code, alone.code) == (2, 2)
    assert severities(done) == {"index-differs": "risk", "bad-producers": "note"}
    assert done.text.splitlines()[-1] == "7 partitions: 6 clean, 1 damaged"


def test_index_that_a_start_makes_anew_is_no_damage(killed: Path) -> None:
    """Behind the recovery point of a broker that was killed."""
    flip(killed / "txn-0/00000000000000000060.index", 7)

    done = run_here("--check", str(killed))

    assert done.code == 0
    assert severities(done) == {"index-differs": "note"}
    assert done.text.splitlines()[-1] == "7 partitions: 6 clean, 1 mended by a start"


def test_torn_end_is_mended_after_a_crash_and_not_after_a_clean_stop(
    stopped: Path, killed: Path
) -> None:
    states = []
    for folder in (stopped, killed):
        with (folder / "plain-0/00000000000000000018.log").open("ab") as log:
            log.write((folder / "plain-0/00000000000000000018.log").read_bytes()[:50])
        done = run_here("--check", str(folder / "plain-0"))
        states.append((done.code, severities(done)["torn-tail"]))

    assert states == [(2, "risk"), (0, "note")]


def test_end_that_the_high_watermark_knows_of_is_lost(killed: Path) -> None:
    path = killed / "plain-1/00000000000000000018.log"
    path.write_bytes(path.read_bytes()[:490])  # the last of six batches is cut off

    done = run_here("--check", "--format", "json", str(killed / "plain-1"))

    (partition,), findings = told(done)
    assert done.code == 2
    assert {finding["code"] for finding in findings} >= {"missing-end"}
    assert (partition["state"], partition["losses"]) == ("data lost", [{"first": 23, "last": 23}])


def test_log_whose_segments_are_all_gone_is_lost(stopped: Path, killed: Path) -> None:
    """It was clean, or recoverable on start where its indexes were left."""
    for folder, kept in ((stopped, ("partition.metadata",)), (killed, (".index", ".timeindex"))):
        for path in (folder / "plain-0").iterdir():
            if not path.name.endswith(kept):
                path.unlink()

        done = run_here("--check", "--format", "json", str(folder))

        (lost,) = [partition for partition in told(done)[0] if partition["lostOffsets"]]
        assert done.code == 2
        assert (lost["topic"], lost["partition"], lost["lostOffsets"]) == ("plain", 0, 24)
        assert (lost["state"], lost["segments"]) == ("data lost", 0)


def test_log_without_records_has_lost_nothing(stopped: Path) -> None:
    """A server makes the directory of a partition before its first segment."""
    (stopped / "new-0").mkdir()
    (stopped / "new-0/partition.metadata").write_text("version: 0\ntopic_id: " + "A" * 21 + "Q")

    assert run_here("--check", str(stopped)).code == 0


def test_partition_with_names_of_other_layouts_is_not_clean(stopped: Path) -> None:
    (stopped / "other-0").mkdir()
    (stopped / "other-0/seg-0-9.log").write_bytes(b"")

    done = run_here("--check", str(stopped))

    assert done.code == 1
    assert "other-0 holds no log: seg-0-9.log is not a name of a segment" in done.err
    assert done.text.splitlines()[-1] == "8 partitions: 7 clean, 1 unreadable"


def test_damage_in_the_middle_says_what_is_lost(stopped: Path) -> None:
    flip(stopped / "plain-0/00000000000000000009.log", 175)

    done = run_here("--check", "--format", "json", str(stopped))

    partitions, findings = told(done)
    partition = next(row for row in partitions if (row["topic"], row["partition"]) == ("plain", 0))
    assert done.code == 2
    assert (partition["lostOffsets"], partition["losses"]) == (1, [{"first": 10, "last": 10}])
    assert partition["lostBytes"] > 90
    assert [finding["code"] for finding in findings] == ["bad-batch"]


def test_start_cuts_a_log_at_damage_and_loses_what_follows(killed: Path) -> None:
    flip(killed / "plain-0/00000000000000000018.log", 175)

    done = run_here("--check", "--format", "json", str(killed / "plain-0"))

    (partition,), findings = told(done)
    assert "a start ends the log at offset 19" in findings[0]["text"]
    assert (partition["starts"], partition["outcome"], partition["endOffset"]) == (
        True,
        "loads",
        19,
    )
    assert partition["losses"][0] == {"first": 19, "last": 23}


def test_compacted_log_has_no_findings(stopped: Path) -> None:
    """Its offsets are no notes, too."""
    done = run_here("--check", str(stopped / "kept-0"), str(IN / "user/compact"))

    assert done.code == 0
    assert len(done.text.splitlines()) == 4


def test_active_indexes_are_preallocated(killed: Path) -> None:
    """Naming them made 53 lines and exit code 2 on a healthy broker."""
    assert (killed / "txn-0/00000000000000000060.index").read_bytes().endswith(bytes(64))

    assert run_here("--check", str(killed / "txn-0")).code == 0


def test_files_are_in_the_table_beside_directories(stopped: Path) -> None:
    log = stopped / "plain-0/00000000000000000000.log"
    flip(log, 100)
    alone = run_here("--check", str(log))

    done = run_here("--check", str(log), str(stopped / "txn-0"))

    assert (alone.code, done.code) == (2, 2)
    assert alone.text.splitlines()[0] in done.text.splitlines()
    assert alone.text.splitlines()[-1] == "1 file: 1 data lost"
    assert done.text.splitlines()[-1] == "2 partitions and files: 1 clean, 1 data lost"


@pytest.mark.parametrize(
    ("name", "at", "code", "exit_code"),
    [
        ("{}.log", -3, "bad-batch", 2),
        ("{}.index", 7, "index-differs", 2),
        ("{}.timeindex", 3, "time-index-differs", 2),
        ("{}.txnindex", 20, "txn-index-differs", 2),
        ("{}.snapshot", 20, "bad-producers", 2),
    ],
)
def test_file_alone_has_the_codes_of_directories(
    name: str, at: int, code: str, exit_code: int, stopped: Path
) -> None:
    path = stopped / "txn-0" / name.format(f"{16:020}")
    sound = run_here("--check", str(path))
    flip(path, at)

    done = run_here("--check", "--format", "json", str(path))

    partitions, findings = told(done)
    assert (sound.code, sound.text.splitlines()[-1]) == (0, "1 file: 1 clean")
    assert done.code == exit_code
    assert code in {finding["code"] for finding in findings}
    assert len(partitions) == 1


def test_files_of_a_segment_are_one_line(stopped: Path) -> None:
    """And an unfinished end is mended by a start; Kafka's form of the files is as it was."""
    log = stopped / "txn-0" / f"{60:020}.log"
    log.write_bytes(log.read_bytes()[:-5])
    names = [str(log), str(log.with_suffix(".index")), str(log.with_suffix(".timeindex"))]

    done = run_here("--check", *names)
    kafkas = run_here("--check", "--files", str(log))

    assert severities(done) == {"torn-tail": "note"}
    assert done.text.splitlines()[-1] == "1 file: 1 mended by a start"
    assert kafkas.code == 2
    assert kafkas.text.startswith("Dumping ")


def test_large_check_is_the_same_in_processes(stopped: Path) -> None:
    flip(stopped / "txn-0/00000000000000000016.index", 7)

    one, two = (run_here("--check", "--jobs", jobs, str(stopped)) for jobs in ("1", "2"))

    assert one == two
    assert one.code == 2


def test_unreadable_partition_does_not_refuse_the_rest(
    stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.scandir

    def scandir(path: str) -> Any:
        if str(path).endswith("kept-0"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    done = run_here("--check", str(stopped))

    assert done.code == 1
    assert "Permission denied" in done.err
    assert done.text.splitlines()[-1] == "7 partitions: 6 clean, 1 unreadable"


def test_pattern_stands_for_directories(stopped: Path) -> None:
    done = run_here("--check", "stopped/plain-*", cwd=stopped.parent)

    assert done.text.splitlines()[-1] == "2 partitions: 2 clean"


# Names of nothing


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("orders-1", "hint: is it node-1/data/orders-1?"),
        ("data/orders-1", "hint: is it node-1/data/orders-1?"),
        ("node-1/orders-1", "hint: is it node-1/data/orders-1?"),
        ("node-1/data/orders-2", "hint: is it node-1/data/orders-1?"),
        ("nodes-1", "hint: is it node-1?"),
        ("mode", None),
    ],
)
def test_name_that_is_missing_is_looked_for_in_the_directories_below(
    name: str, hint: str | None, tmp_path: Path
) -> None:
    (tmp_path / "node-1/data/orders-1").mkdir(parents=True)

    done = run_here("dump-log", "summary", name, cwd=tmp_path, program=KRAFTOPS)

    assert (done.code, [line for line in done.errors if "hint" in line]) == (4, [hint] * bool(hint))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["stoped"], 4),
        (["--check", "stoped"], 4),
        (["--files", "stoped", "--format", "json"], 4),
        (["--files", "stoped"], 0),
        (["--files", "stoped", "--format", "csv"], 4),
        (["stopped", "stoped", "--format", "json"], 4),
        (["nothing-*"], 4),
    ],
)
def test_path_that_names_nothing_is_an_error(
    arguments: list[str], code: int, stopped: Path
) -> None:
    """After --files in Kafka's form it is ignored, as by Kafka's tool, with a line."""
    done = run_here(*arguments, cwd=stopped.parent)

    assert done.code == code
    if code:
        assert "No such file or directory" in done.err or "nothing matches" in done.err
        assert ("hint: is it stopped?" in done.errors) == ("nothing-*" not in arguments)
    else:
        assert done.errors == [
            "Ignoring unknown file stoped",
            "stoped: No such file or directory",
        ]


def test_other_arguments_beside_files_are_ignored_if_they_name_nothing(stopped: Path) -> None:
    """As by Kafka's tool, which reads no other arguments."""
    log = "stopped/plain-0/00000000000000000000.log"

    done = run_here("--files", log, "extra", cwd=stopped.parent)

    assert done.code == 0
    assert "Ignoring unknown file extra" in done.errors
