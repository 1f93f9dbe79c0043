"""`kafka-dump-log` of archives of directories, such as those for support."""

import json
import os
import tempfile
from pathlib import Path

import pytest

from kraftops.log.bundles import members
from tests.helpers.logs.bundles import KINDS, files_in, under
from tests.helpers.logs.log_directories import REAL
from tests.helpers.tools.console import Done, run_here

STOPPED = REAL / "stopped"
FILES = files_in(STOPPED)
FORMS = {
    "text": [],
    "json": ["--format", "json"],
    "csv": ["--format", "csv", "--where", "offset < 3"],
    "summary": ["--summary", "--format", "json"],
    "topic": ["--topic", "plain", "--jobs", "2"],
    "check": ["--check", "--format", "json"],
    "check of records": ["--check", "--limit", "9"],
    "tail": ["--tail", "5", "--format", "json"],
    "salvage": ["--salvage", "--format", "json"],
    "from the start": ["--from-start", "--print-data-log"],
}


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """Temporary directories are gone at the end."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.chdir(tmp_path)
    yield
    assert os.listdir(scratch) == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["log.tar", "log.tar.gz", "log.tar.zst", "log.zip"])
def test_bundle_is_the_directory_in_it(name: str, form: str) -> None:
    KINDS[name](Path(name), under("broker-1/data/", FILES))

    expected = run_here(*FORMS[form], str(STOPPED))
    found = run_here(*FORMS[form], name)

    out = found.out.replace(f"{name}!/broker-1/data".encode(), str(STOPPED).encode())
    assert (found.code, out, found.err) == (0, expected.out, expected.err)
    assert len(out) > 1000
    assert found.out != out


def test_check_shows_each_partition_in_the_table() -> None:
    KINDS["log.tar"](Path("b.tar"), FILES)

    done = run_here("--check", "b.tar")

    assert done.code == 0
    assert "b.tar!/plain-1" in done.text
    assert done.text.endswith("7 partitions: 7 clean\n")


def test_records_of_one_partition_say_nothing_of_the_next() -> None:
    """One scan reads all small files: gaps and damage of the first are not those of the second."""
    data = FILES["plain-0/00000000000000000000.log"]
    partitions = {
        f"t-{number}/00000000000000000000.log": data if number % 2 else data[:-1] + b"?"
        for number in range(6)
    }
    KINDS["log.tar.gz"](Path("b.tgz"), partitions)

    done = run_here("--check", "--format", "json", "b.tgz")

    states = [partition["state"] for partition in json.loads(done.text)["partitions"]]
    assert (done.code, len(states)) == (2, 6)
    assert len(set(states[::2])) == len(set(states[1::2])) == 1
    assert states[0] != states[1] == "clean"


def test_findings_name_the_file_in_the_bundle() -> None:
    name = "plain-0/00000000000000000009.log"
    KINDS["log.tar.gz"](Path("b.tgz"), FILES | {name: FILES[name][:-1] + b"?"})

    done = run_here("--check", "b.tgz")

    assert done.code == 2
    assert f"b.tgz!/{name}, position " in done.text
    assert "kraftops-" not in done.text + done.err


def test_partitions_of_all_nodes_are_found() -> None:
    data = {name: FILES[name] for name in FILES if name.startswith("plain-0/")}
    KINDS["log.zip"](Path("b.zip"), under("b1/", data) | under("b2/logs/", data))

    done = run_here("--summary", "b.zip")

    assert [line.split()[-1] for line in done.text.splitlines()[1:3]] == [
        "b.zip!/b1/plain-0",
        "b.zip!/b2/logs/plain-0",
    ]


def test_pattern_and_directory_go_with_bundles() -> None:
    for name in ("log.tar", "log.zip"):
        KINDS[name](Path(name), under("plain-0/", files_in(STOPPED / "plain-0")))

    done = run_here("--summary", "log.*", str(STOPPED / "plain-0"))

    assert [line.split()[:4] for line in done.text.splitlines()[1:4]] == [
        ["plain", "0", "3", "24"]
    ] * 3


def test_kafkas_words_stay_behind_files() -> None:
    KINDS["log.tar"](Path("b.tar"), FILES)

    done = run_here("--files", "b.tar")

    assert (done.code, done.text) == (0, "Dumping b.tar\n")
    assert done.err == "Ignoring unknown file b.tar\n"
    assert run_here("--files", "b.tar", "--format", "json").out.count(b"\n") == 348


def lines(done: Done, code: int) -> list[str]:
    assert (done.code, done.out) == (code, b"")
    return done.errors


def test_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "ANY_RATIO_BYTES", 1 << 20)
    KINDS["log.tar.zst"](Path("b.tar.zst"), {"t-0/00000000000000000000.log": bytes(64 << 20)})

    first, hint = lines(run_here("--summary", "b.tar.zst"), 1)

    assert first.startswith("kafka-dump-log: cannot read b.tar.zst: its ")
    assert first.endswith("bytes or more [unreadable]")
    assert hint == "hint: unpack it, if that is right, and name the directory"


def test_path_that_leads_out_hides_no_other_file() -> None:
    KINDS["log.zip"](Path("b.zip"), FILES)
    sound = run_here("--format", "csv", "b.zip")
    KINDS["log.zip"](Path("b.zip"), FILES | {"../0.log": b"x"})

    done = run_here("--format", "csv", "b.zip")

    assert (sound.code, done.code, done.out) == (0, 1, sound.out)
    assert done.errors == [
        "kafka-dump-log: cannot read b.zip!/../0.log: its path leads out of the archive [unreadable]"
    ]


@pytest.mark.parametrize("name", ["log.tar", "log.tar.gz", "log.zip"])
def test_bundle_that_is_cut_is_read_up_to_the_cut(name: str) -> None:
    """The rest is said; of a zip archive the list of its members is at its end.

    In the other formats these files are one block.
    """
    KINDS[name](Path(name), FILES)
    whole = Path(name).read_bytes()
    all_rows = set(run_here("--format", "csv", name).text.splitlines())
    Path(name).write_bytes(whole[: len(whole) // 3])

    done = run_here("--format", "csv", name)

    assert done.code == 2
    assert any(f"cannot read the rest of {name}: " in line for line in done.errors), done.err
    assert 10 < len(all_rows.intersection(done.text.splitlines())) < len(all_rows)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("at", [0.1, 0.5, 0.9])
def test_damage_in_a_bundle_is_never_passed_over(name: str, at: float) -> None:
    KINDS[name](Path(name), FILES)
    whole = bytearray(Path(name).read_bytes())
    sound = run_here("--check", name)
    start = int(len(whole) * at)
    whole[start : start + 700] = b"\xa5" * 700
    Path(name).write_bytes(whole)

    done = run_here("--check", name)

    assert sound.code == 0
    assert done.code in (1, 2)


def test_member_with_a_wrong_checksum_does_not_hide_the_others() -> None:
    KINDS["log.zip"](Path("b.zip"), FILES)
    data = bytearray(Path("b.zip").read_bytes())
    data[data.index(b"plain-0/00000000000000000000.log") + 40] ^= 0xFF
    Path("b.zip").write_bytes(data)

    done = run_here("--summary", "b.zip")

    assert done.code == 2
    assert "cannot read b.zip!/plain-0/00000000000000000000.log: " in done.err
    assert {"plain", "txn", "kept"} <= {line.split()[0] for line in done.text.splitlines()}


def test_check_as_json_tells_that_a_bundle_is_cut() -> None:
    KINDS["log.tar"](Path("b.tar"), FILES)
    os.truncate("b.tar", Path("b.tar").stat().st_size // 3)

    done = run_here("--check", "--format", "json", "b.tar")

    findings = json.loads(done.text)["findings"]
    (finding,) = [finding for finding in findings if finding["code"] == "bad-archive"]
    assert done.code == 2
    assert (finding["file"], finding["severity"]) == ("b.tar", "risk")
    assert f"cannot read the rest of b.tar: {finding['text']} [unreadable]\n" in done.err


def test_archive_of_which_nothing_can_be_read_is_refused() -> None:
    for name in ("b.tar", "b.zip", "b.tar.gz"):
        Path(name).write_bytes(b"PK\x03\x04 and nothing else" * 40)

        (line,) = lines(run_here(name), 1)

        assert line.startswith(f"kafka-dump-log: cannot read {name}: ")


def test_archive_in_an_archive_is_refused_and_the_rest_is_read() -> None:
    data = {name: FILES[name] for name in FILES if name.startswith("plain-0/")}
    KINDS["log.tar"](Path("b.tar"), data | {"b2.tar.gz": b"x"})

    done = run_here("--format", "json", "b.tar")

    assert (done.code, done.out.count(b"\n")) == (1, 24)
    assert done.err == (
        "kafka-dump-log: cannot read b.tar!/b2.tar.gz: it is an archive in an archive [unreadable]\n"
    )


def test_bundle_without_a_log_is_refused() -> None:
    KINDS["log.tar"](Path("b.tar"), {"logs/server.log": b"started"})

    for options in ([], ["--check"]):
        assert lines(run_here(*options, "b.tar"), 1) == [
            "kafka-dump-log: b.tar holds no log [usage]",
            "hint: name an archive of a log directory or of a partition",
        ]


def test_bundle_is_neither_followed_nor_replaced() -> None:
    KINDS["log.tar"](Path("b.tar"), under("t-0/", files_in(STOPPED / "plain-0")))

    (line,) = lines(run_here("--follow", "b.tar"), 1)
    assert line.endswith("not b.tar!/t-0/00000000000000000018.log [usage]")
    (line,) = lines(run_here("--output", "b.tar", "b.tar"), 1)
    assert line == "kafka-dump-log: cannot write b.tar: it is being read [not-writable]"


def test_spark_and_object_stores_refuse_bundles() -> None:
    KINDS["log.tar"](Path("b.tar"), FILES)

    assert lines(run_here("--spark", "b.tar"), 1) == [
        "kafka-dump-log: --spark reads no archive of directories: b.tar [usage]",
        "hint: unpack it, and name the directory",
    ]
    for options in ([], ["--check"], ["--spark"]):
        assert lines(run_here(*options, "s3://bucket/b.tar.gz"), 1) == [
            "kafka-dump-log: s3://bucket/b.tar.gz is an archive of directories in an object store",
            "hint: copy it to this machine, or unpack it there, and name the directory",
        ]
