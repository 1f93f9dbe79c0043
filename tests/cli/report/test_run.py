"""`kraftops report`: files, archives and several logs, and what it refuses."""

import json
import shlex
import shutil
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.logs.incidents import SECRET, at, incident_bytes, incident_directory
from tests.helpers.logs.metadata_logs import records_batch, snapshot_bytes, write_log
from tests.helpers.project.json_schemas import problems
from tests.helpers.tools.console import KRAFTOPS, Done, run_here
from tests.helpers.wire.metadata_quorums import MetadataLog, topic
from tests.helpers.wire.quorums import quorum

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return incident_directory(tmp_path_factory.mktemp("incident") / "meta data")


def _run(*args: object) -> Done:
    return run_here("report", *map(str, args), program=KRAFTOPS)


def _data(*args: object, code: int = 0) -> dict[str, Any]:
    done = _run(*args, "--format", "json")
    assert done.code == code, done.err
    assert problems("report", done.text) == []
    found: dict[str, Any] = json.loads(done.text)
    return found


def test_a_directory_is_told_with_its_cluster(log: Path) -> None:
    found = _data(log, "--title", "Tuesday\nnight")

    assert found["title"] == "Tuesday night"
    assert found["cluster"]["clusterId"] == "abc"
    (source,) = found["sources"]
    assert (source["kind"], source["records"], source["damage"]) == ("metadata", 35, 0)
    assert source["name"] == str(log / "__cluster_metadata-0")
    assert found["worst"]["partitions"][0]["offlineMs"] == 120_000
    assert SECRET not in json.dumps(found)


def test_commands_of_a_report_run_in_a_copy_of_its_folder(log: Path, tmp_path: Path) -> None:
    found = _data(log)
    assert found["folder"] == log.name
    copy = shutil.copytree(log, tmp_path / "copy")
    change = found["timeline"]["changes"][-1]
    words = shlex.split(change["command"])
    assert words[0] == "kraftops"
    done = run_here(*words[1:], program=KRAFTOPS, cwd=copy)
    assert done.code == 0
    assert f"| offset: {change['offset']} " in done.text

    words = shlex.split(found["worst"]["partitions"][0]["command"])
    done = run_here(*words[1:], program=KRAFTOPS, cwd=copy)
    assert done.code == 0
    assert "PARTITION_CHANGE_RECORD" in done.text

    template = found["timeline"]["bucketCommand"]
    shown = template.replace("{from}", str(at(12))).replace("{to}", str(at(13) + 1))
    done = run_here(*shlex.split(shown)[1:], program=KRAFTOPS, cwd=copy)
    assert done.code == 0
    assert done.text.count("PARTITION_CHANGE_RECORD") == 2


def test_commands_tell_logs_of_several_nodes_apart(log: Path, tmp_path: Path) -> None:
    for node in ("-node", "node"):
        shutil.copytree(log, tmp_path / node)

    found = _data(*(tmp_path / node for node in ("-node", "node")))

    assert found["folder"] == tmp_path.name
    commands = [shlex.split(source["command"]) for source in found["logs"]]
    assert sorted(words[2] for words in commands) == [
        "./-node/__cluster_metadata-0", "node/__cluster_metadata-0",
    ]  # fmt: skip
    for words in commands:
        assert run_here(*words[1:], program=KRAFTOPS, cwd=tmp_path).code == 0


def test_an_archive_is_told_as_its_directory(log: Path, tmp_path: Path) -> None:
    path = tmp_path / "bundle.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(log, "node")
    found, plain = _data(path), _data(log)

    assert found["sources"][0]["name"].startswith(f"{path}!/")
    assert found["cluster"]["clusterId"] == "abc"
    assert found["folder"] == tmp_path.name
    for one in (found, plain):
        for name in ("generatedAt", "sources", "folder", "logs"):
            del one[name]
    without = json.loads(json.dumps(plain), object_hook=_without_command)
    assert json.loads(json.dumps(found), object_hook=_without_command) == without


def test_logs_that_have_no_file_have_no_commands(log: Path, tmp_path: Path) -> None:
    """The tools read no log by its name in an archive."""
    source = DATA / "dump-4.3.1" / "in"
    path = tmp_path / "bundle.tar"
    with tarfile.open(path, "w") as archive:
        archive.add(log, "node")
        for name, inside in (
            ("consumer_offsets", "__consumer_offsets-3"),
            ("user/txn", "orders-0"),
        ):
            archive.add(source / name, inside)

    found = _data(path)

    assert len(found["logs"]) == 3
    assert found["groups"]
    assert found["transactions"]
    for one in (*found["logs"], *found["groups"], *found["transactions"]):
        assert (one["command"], one.get("bucketCommand")) == (None, None)


def _without_command(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if "ommand" not in name}


def test_a_file_is_known_by_its_records(log: Path, tmp_path: Path) -> None:
    path = tmp_path / "what.bin"
    path.write_bytes(incident_bytes())

    found = _data(path)

    assert found["timeline"]["leadership"][0]["leader"] == 100
    assert found["sources"][0]["kind"] == "metadata"
    assert found["cluster"]["topics"] == _data(log)["cluster"]["topics"]


def test_a_snapshot_alone_is_told_without_a_timeline(tmp_path: Path) -> None:
    data = snapshot_bytes(records_batch(0, ("TopicRecord", {"topicId": bytes(16), "name": "t"})))
    folder = write_log(tmp_path, snapshots={(7, 1): data})

    found = _data(folder)

    assert (found["timeline"], found["cluster"]["topics"]) == (None, 1)
    assert [one["code"] for one in found["findings"]] == ["known-since"]


def test_partitions_in_trouble_are_told_without_a_timeline(tmp_path: Path) -> None:
    topic_id, partition = bytes(16), {"replicas": [1, 2], "isr": [2], "leader": -1}
    topic_record = ("TopicRecord", {"topicId": topic_id, "name": "t"})
    state = ("PartitionRecord", {"topicId": topic_id, "partitionId": 0, **partition})
    snapshot = snapshot_bytes(records_batch(0, topic_record, state))
    folder = write_log(tmp_path, snapshots={(7, 1): snapshot})

    found = _data(folder)

    told = {one["code"]: one["text"] for one in found["findings"]}
    assert told["offline-partitions"] == (
        "1 partition without a leader, up to 1 at once; 1 still at the end"
    )
    assert "under-replicated" in told


def test_the_longest_of_several_metadata_logs_is_told(log: Path, tmp_path: Path) -> None:
    short = incident_directory(tmp_path)
    path = short / "__cluster_metadata-0" / f"{0:020}.log"
    path.write_bytes(path.read_bytes()[:600])

    done = _run(log, short, "--format", "json")

    assert done.err.splitlines()[0] == (
        f"kraftops: note: of 2 metadata logs, that of {log}/__cluster_metadata-0 can be read"
        " furthest: to offset 34"
    )
    assert json.loads(done.text)["worst"]["partitions"][0]["offlineMs"] == 120_000


def test_damage_is_told_and_ends_with_2(log: Path, tmp_path: Path) -> None:
    data = bytearray(incident_bytes())
    data[-3] ^= 1
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(data)

    done = _run(path, "--format", "json")

    assert done.code == 2
    assert "note: not all of the logs could be read" in done.err
    found = json.loads(done.text)
    assert [one["code"] for one in found["findings"] if one["code"] == "damage"] == ["damage"]
    (lost,) = [one["text"] for one in found["findings"] if one["code"] == "damage"]
    assert found["story"].endswith(f"Lost: {lost}.")
    assert found["sources"][0]["damage"] == 1


def test_damage_in_an_archive_is_told_by_its_name_there(log: Path, tmp_path: Path) -> None:
    data = bytearray(incident_bytes())
    data[-3] ^= 1
    segment = tmp_path / f"{0:020}.log"
    segment.write_bytes(data)
    path = tmp_path / "bundle.tar"
    with tarfile.open(path, "w") as archive:
        archive.add(segment, f"__cluster_metadata-0/{segment.name}")

    found = _data(path, code=2)

    (damage,) = [one for one in found["findings"] if one["code"] == "damage"]
    assert damage["file"] == f"{path}!/__cluster_metadata-0/{segment.name}"
    assert damage["position"] is not None


def test_a_torn_end_and_a_damaged_replica_are_told(log: Path, tmp_path: Path) -> None:
    """What the replay does not tell: an end that may be growing, and a log that is not chosen."""
    torn = incident_directory(tmp_path / "torn") / "__cluster_metadata-0"
    segment = torn / f"{0:020}.log"
    segment.write_bytes(segment.read_bytes()[:-20])

    for sources in ([torn], [log, torn]):
        found = _data(*sources, code=2)
        (damage,) = [one for one in found["findings"] if one["code"] == "damage"]
        assert (damage["severity"], damage["count"]) == ("loss", 1)
        assert damage["file"] == str(segment)


def test_a_log_that_is_named_twice_is_counted_once(log: Path) -> None:
    once, twice = _data(log), _data(log, log / "__cluster_metadata-0")

    assert twice["sources"] == once["sources"]


def test_a_page_is_written_whole(log: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"

    assert _run(log, "--output", page).code == 0
    text = page.read_text("utf-8")
    assert text.lower().startswith("<!doctype html>")
    assert SECRET not in text
    assert "<img src=x" not in text


def test_a_window_is_told(log: Path) -> None:
    found = _data(log, "--since", at(14), "--until", at(16) + 1)

    assert found["window"] == {"since": at(14), "until": at(16) + 1}
    assert found["timeline"]["start"] <= at(14) < found["timeline"]["end"]
    assert found["sources"][0]["records"] == 2


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        ([], 1, "no logs are named"),
        (["nothing-here"], 4, "nothing-here: No such file or directory"),
        (["-"], 1, "standard input"),
        (["x", "--output", "nowhere/report.html"], 1, "nowhere/report.html: No such file"),
        (["--command-config", "x"], 1, "--controllers"),
        (["x", "--controllers", "localhost:1"], 1, "do not go together"),
    ],
)
def test_what_cannot_be_told_is_refused(args: list[str], code: int, text: str) -> None:
    done = _run(*args, "--format", "json")

    assert done.code == code
    assert text in done.err
    assert json.loads(done.text.splitlines()[-1])["message"]


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (["--since", "tomorrow"], "'tomorrow' is not a valid time"),
        (["--since", "1h", "--until", "2h"], "--since 1h is after --until 2h"),
    ],
)
def test_a_span_that_is_none_is_refused(log: Path, span: list[str], text: str) -> None:
    done = _run(log, *span, "--format", "json")

    assert done.code == 1
    assert text in done.err


def test_times_of_day_are_those_of_the_log_in_an_archive(tmp_path: Path) -> None:
    """And a command of the report reads the archive."""
    archive = tmp_path / "bundle.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(DATA / "incidents/three", "node/__cluster_metadata-0")

    (first, *_) = _data(archive, "--since", "23:51:10")["incidents"]
    command = shlex.split(first["command"])
    done = run_here(*command[1:], "--format", "json", program=KRAFTOPS, cwd=tmp_path)

    assert first["cause"] == "topic-created-again"
    assert command[:3] == ["kraftops", "changes", archive.name]
    assert [(change["kind"], change["what"]) for change in json.loads(done.text)["changes"]] == [
        ("topic", "topic single"), ("topic", "topic single"),
    ]  # fmt: skip


def test_a_page_needs_a_file(log: Path) -> None:
    done = _run(log)

    assert done.code == 1
    assert "--output report.html" in done.err


def test_other_logs_are_told(tmp_path: Path) -> None:
    from kraftops.log.batch import Record
    from tests.helpers.logs.written import batch_bytes

    folder = tmp_path / "orders-3"
    folder.mkdir()
    batches = [
        batch_bytes([Record(offset + n, at(offset), b"k", b"v" * 100) for n in range(3)])
        for offset in (0, 3, 9)
    ]
    (folder / f"{0:020}.log").write_bytes(b"".join(batches))

    found = _data(tmp_path)

    (one,) = found["logs"]
    assert (one["topic"], one["partition"], one["records"]) == ("orders", 3, 9)
    assert one["gaps"] == {"count": 1, "offsets": 3}
    assert sum(one["sizes"]["counts"]) == one["batches"] == 3
    totals = {series["name"]: sum(series["values"]) for series in one["series"]}
    assert totals["records"] == 9
    assert totals["bytes"] >= 900
    assert found["timeline"] is None
    assert found["cluster"] is None
    assert "transactions-since" not in {each["code"] for each in found["findings"]}

    found = _data(tmp_path, "--since", at(3))

    (since,) = [each for each in found["findings"] if each["code"] == "transactions-since"]
    assert since["time"] == at(3)


def test_running_controllers_are_told_since_their_snapshot() -> None:
    log = MetadataLog()
    for number in (1, 2):
        log.add(*topic(number))
    log.snapshot(drop=True)
    log.add(*topic(3))
    with quorum(log) as controllers:
        address = str(controllers.address(1))
        found = _data("--controllers", address)

    assert found["cluster"]["topics"] == 3
    assert [(one["command"], one["bucketCommand"]) for one in found["logs"]] == [(None, None)]
    assert [one["kind"] for one in found["sources"]] == ["metadata"]
    since = [one for one in found["findings"] if one["code"] == "known-since"]
    assert [one["offset"] for one in since] == [6]
    # Its records have no times: what they changed has no place in a timeline.
    assert found["timeline"] is None
    (odd,) = [one for one in found["findings"] if one["code"] == "odd-times"]
    assert odd["commands"] == [f"kraftops dump-log -C {address} --offset 6"]


def test_a_file_that_is_no_log_is_refused_by_name(log: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    text = tmp_path / "README.md"
    text.write_text("# not a log\n" * 9)

    alone = _run(text, "--output", page)
    beside = _run(log, text, "--format", "json")

    assert alone.code == 1
    assert f"{text} is not a log: it does not begin with a batch" in alone.err
    assert not page.exists()
    assert beside.code == 1
    assert f"{text} is not a log" in beside.err
    assert [one["kind"] for one in json.loads(beside.text)["sources"]] == ["metadata"]


def test_an_empty_report_says_so(log: Path) -> None:
    done = _run(log, "--since", "2099-01-01", "--format", "json")

    assert done.code == 0
    assert "note: no log has a record since --since: the report is empty" in done.err
    assert json.loads(done.text)["sources"][0]["records"] == 0


def test_changes_have_those_who_likely_asked_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = DATA / "incidents/principals"
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    try:
        found = _data(recorded, "--authorizer-log", recorded / "kafka-authorizer.log")
    finally:
        monkeypatch.undo()
        time.tzset()

    likely = {change["what"]: change["likelyPrincipals"] for change in found["timeline"]["changes"]}
    assert likely["topic orders"] == likely["SCRAM-SHA-256 of carol"] == ["User:alice"]
    assert likely["topic team-a"] == likely["TOPIC:team-a retention.ms"] == ["User:bob"]
    assert likely["broker 1"] == likely["metadata.version"] == []


def test_a_log_of_the_authorizer_needs_a_metadata_log(tmp_path: Path) -> None:
    log, authorizer_log = tmp_path / "00000000000000000000.log", tmp_path / "authorizer.log"
    log.write_bytes(b"")
    authorizer_log.write_bytes(b"")
    done = _run(log, "--authorizer-log", authorizer_log, "--format", "json")
    assert done.code == 1
    assert "--authorizer-log needs a metadata log among the sources" in done.text


def test_a_log_of_the_authorizer_without_requests_says_what_to_set(
    log: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty.log").touch()
    done = _run(log, "--authorizer-log", tmp_path / "empty.log", "--format", "json")
    assert done.code == 0
    assert "kafka.authorizer.logger is at DEBUG" in done.err


def test_a_group_and_a_transaction_of_three_copies_count_once() -> None:
    found = json.loads(_run("docs/cluster.tar.gz", "--format", "json").text)

    assert [(group["name"], group["lag"]) for group in found["groups"]] == [("billing", 1300)]
    places = [(open_["topic"], open_["partition"]) for open_ in found["transactions"]]
    assert places == [("payments", 0), ("payments", 1)]
