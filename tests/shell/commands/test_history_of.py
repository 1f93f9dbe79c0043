"""The commands history-of, diff and export."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kraftops.errors import SourceError, UsageError
from kraftops.fileio.output import OutputError
from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from tests.helpers.logs.metadata_logs import write_log
from tests.helpers.logs.random_logs import Lot, made, uuid
from tests.helpers.tools.shell_session import LOG, NODE, SNAPSHOT, Shell

ORDERS = "/image/topics/byName/orders"


@pytest.fixture(scope="module")
def shell() -> Shell:
    return Shell(LOG)


# history-of


def test_history_has_a_line_for_each_change(shell: Shell) -> None:
    found = shell("history-of", f"{ORDERS}/0")

    assert [line.split()[0] for line in found.lines] == ["75", "121", "145", "350", "555"]
    assert found.lines[0].startswith(
        f'75  2026-11-21T10:47:56.840Z  PARTITION_RECORD  {ORDERS}/0  {{"partitionId":0,'
    )
    assert found.lines[3] == (
        f"350  2026-11-21T10:48:49.846Z  PARTITION_CHANGE_RECORD  {ORDERS}/0  isr [4,1] → [1]; "
        "eligibleLeaderReplicas [] → [4]; leader 4 → 1; leaderEpoch 0 → 1; partitionEpoch 2 → 3"
    )


def test_history_of_what_is_gone_is_there(shell: Shell) -> None:
    found = shell("history-of", "/image/scram/SCRAM-SHA-256/zed")

    assert [line.split()[2] for line in found.lines] == [
        "USER_SCRAM_CREDENTIAL_RECORD",
        "REMOVE_USER_SCRAM_CREDENTIAL_RECORD",
    ]
    assert found.lines[1].endswith("/zed  removed")
    assert shell("history-of", "../image/./scram/SCRAM-SHA-256/zed").out == found.out


def test_history_has_a_form_for_programs(shell: Shell) -> None:
    told = [
        json.loads(line) for line in shell("history-of", f"{ORDERS}/0", "--format", "json").lines
    ]

    assert [one["offset"] for one in told] == [75, 121, 145, 350, 555]
    assert told[3]["fields"][0] == {"field": "isr", "old": [4, 1], "new": [1]}
    assert told[3]["type"] == "PARTITION_CHANGE_RECORD"
    assert told[3]["timestampMs"] == 1795258129846
    assert told[0]["change"] == "added"
    assert told[0]["fields"] is None


def test_history_of_all_that_a_pattern_matches_is_told(shell: Shell) -> None:
    both = shell("history-of", f"{ORDERS}/{{0,1}}").out

    assert both == shell("history-of", f"{ORDERS}/0").out + shell("history-of", f"{ORDERS}/1").out


def test_history_ends_where_the_state_does() -> None:
    found = Shell(LOG, at_offset=200)("history-of", f"{ORDERS}/0")

    assert [line.split()[0] for line in found.lines] == ["75", "121", "145"]


def test_history_of_a_directory_reads_the_log_and_not_the_snapshot() -> None:
    assert Shell(NODE)("history-of", f"{ORDERS}/0").lines[0].split()[0] == "75"
    assert Shell(SNAPSHOT)("history-of", f"{ORDERS}/0").lines[0].split()[0] == "<=412"


def test_what_was_never_there_has_no_history(shell: Shell) -> None:
    found = shell("history-of", "/image/topics/byName/nope")

    assert (found.out, found.code) == ("", 1)
    assert found.err == ["history-of: /image/topics/byName/nope: nothing of it is in the log."]
    with pytest.raises(UsageError, match="no history of its own"):
        shell("history-of", "/local/version")


def test_records_that_say_the_same_again_are_told(tmp_path: Path) -> None:
    config = made("ConfigRecord", resourceType=4, resourceName="1", name="k", value="v")
    write_log(tmp_path, {0: [bytes(Lot(0, [config, config]))]})

    found = Shell(tmp_path)("history-of", "/image/configs/BROKER:1/k")

    assert found.lines[1].endswith("/image/configs/BROKER:1/k  said again")


# diff


def test_differences_of_two_moments_are_told(shell: Shell) -> None:
    found = shell("diff", "@300", "@350", f"{ORDERS}/0")

    assert found.code == 2
    assert found.out == (
        f"~ {ORDERS}/0  isr [4,1] → [1]; eligibleLeaderReplicas [] → [4]; leader 4 → 1; "
        "leaderEpoch 0 → 1; partitionEpoch 2 → 3\n"
    )


def test_whole_states_are_compared_without_what_says_it_again(shell: Shell) -> None:
    found = shell("diff", "@278", "@279")

    assert len(found.lines) == 1
    assert found.lines[0].startswith("- /image/scram/SCRAM-SHA-256/zed  {")
    assert shell("diff", "@279", "@278").lines[0].startswith("+ /image/scram/SCRAM-SHA-256/zed  {")


def test_equal_states_do_not_differ(shell: Shell) -> None:
    assert shell("diff", "@413", f"source:{SNAPSHOT}", "/image/topics").code == 0
    assert shell("diff", f"source:{LOG}", "@583").out == ""


def test_times_are_moments_too(shell: Shell) -> None:
    by_time = shell("diff", "@2026-11-21T10:48:00Z", "@2026-11-21T10:49:00Z")

    assert by_time.code == 2
    assert by_time.lines


def test_nodes_are_compared_with_nodes_and_with_other_moments(shell: Shell) -> None:
    assert shell("diff", ORDERS, ORDERS).code == 0
    assert (
        f'~ {ORDERS}/name  "orders" → "payments"'
        in shell("diff", ORDERS, "/image/topics/byName/payments").lines
    )
    assert shell("diff", "@350", f"{ORDERS}/0").lines[0].startswith(f"~ {ORDERS}/0  isr [1] → []")
    assert shell("diff", f"{ORDERS}/0", "@350").lines[0].startswith(f"~ {ORDERS}/0  isr [] → [1]")


def test_what_only_the_newer_of_two_nodes_has_is_named_where_it_is(shell: Shell) -> None:
    small, large = "/image/topics/byName/a", ORDERS

    added = [line.split()[1] for line in shell("diff", small, large).lines if line[0] == "+"]
    removed = [line.split()[1] for line in shell("diff", large, small).lines if line[0] == "-"]

    assert added
    assert added == removed
    assert all(path.startswith(f"{large}/") for path in added)


def test_differences_have_a_form_for_programs(shell: Shell) -> None:
    (told,) = [
        json.loads(line)
        for line in shell("diff", "@300", "@350", f"{ORDERS}/0", "--format", "json").lines
    ]

    assert told["change"] == "changed"
    assert told["path"] == f"{ORDERS}/0"
    assert told["fields"][0] == {"field": "isr", "old": [4, 1], "new": [1]}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["/nope", "@1"], "diff: /nope: no such file or directory."),
        (["/image/*", "@1"], "diff: /image/*: several nodes"),
        (["@x", "@1"], "'x' is no time"),
        (["source:/nope", "@1"], "cannot read /nope: No such file or directory"),
        ([ORDERS, "@1", "/image"], "a path belongs behind two states, and not behind nodes"),
    ],
)
def test_what_cannot_be_compared_is_an_error(shell: Shell, words: list[str], message: str) -> None:
    with pytest.raises((UsageError, SourceError)) as raised:
        shell("diff", *words)

    assert raised.value.message == message


def test_paths_that_neither_state_has_are_complained_about(shell: Shell) -> None:
    found = shell("diff", "@1", "@2", "/image/nope")

    assert (found.err, found.code) == (["diff: /image/nope: no such file or directory."], 1)


# export


def test_export_is_the_tree_as_json(shell: Shell) -> None:
    told = json.loads(shell("export", "/").out)

    assert told["image"]["topics"]["byName"]["orders"]["name"] == "orders"
    assert told["image"]["features"]["metadataVersion"] == "4.3-IV0"
    assert told["image"]["cluster"]["failedReplicas"] == {}
    assert json.loads(shell("export", "/local/version").out) == "1"
    assert json.loads(shell("export", ORDERS, "--format", "json").out)["id"]


def test_export_has_lines_of_paths_and_values(shell: Shell) -> None:
    told = [json.loads(line) for line in shell("export", "--format", "ndjson").lines]

    assert {"path": f"{ORDERS}/name", "value": "orders"} in told
    assert len(told) == len(shell("find", "/", "-type", "f").lines)


def test_export_writes_whole_files(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "out.json"

    found = shell("export", "/image", "--output", str(path))

    assert (found.out, found.code) == ("", 0)
    assert path.read_text("utf-8") == shell("export", "/image").out
    assert [one.name for one in tmp_path.iterdir()] == ["out.json"]


def test_export_leaves_the_file_as_it_was_where_it_fails(tmp_path: Path) -> None:
    topics = [
        made("TopicRecord", name="t", topicId=uuid(1)),
        made("PartitionRecord", topicId=uuid(1)),
    ]
    folder = write_log(tmp_path / "log", {0: [bytes(Lot(0, topics))]})
    shell = Shell(tmp_path / "log")
    path = tmp_path / "out.json"
    path.write_text("before")
    for log in folder.iterdir():
        log.write_bytes(b"")

    with pytest.raises(SourceError, match="has changed since it was read"):
        shell("export", "/image", "--output", str(path))

    assert path.read_text() == "before"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["log", "out.json"]
    with pytest.raises(OutputError):
        shell("export", "/local", "--output", str(tmp_path / "nope" / "out.json"))


def test_export_of_nothing_is_an_error(shell: Shell, tmp_path: Path) -> None:
    found = shell("export", "/nope", "--output", str(tmp_path / "x"))

    assert (found.err, found.code) == (["export: /nope: no such file or directory."], 1)
    assert list(tmp_path.iterdir()) == []


def test_states_that_come_from_no_files_cannot_be_read_again() -> None:
    session = Shell(LOG).session
    assert session.image_source
    live = Shell(LOG)
    live.session.image_source = replace(session.image_source, sources=())

    assert live("verify").out == "the quorum: nothing is wrong\n"
    assert live("summary").code == 0
    for words in (["history-of", f"{ORDERS}/0"], ["diff", "@1", "@2"]):
        with pytest.raises(UsageError, match="comes from no files") as refused:
            live(*words)
        assert refused.value.hint == "--snapshot with the files of a node can"


class Quorum:
    """What was read of a quorum whose log is that of the files."""

    names = (str(LOG),)

    def state(self, *, at_offset: int | None = None, at_time: int | None = None) -> MetadataImage:
        return load(self.names, at_offset=at_offset, at_time=at_time)


def test_what_was_read_of_a_quorum_is_read_again() -> None:
    files, live = Shell(LOG), Shell(LOG)
    live.session.image_source = replace(files.session.source, sources=(), quorum=Quorum())

    for words in (["history-of", f"{ORDERS}/0"], ["diff", "@5", "/"]):
        assert live(*words).out == files(*words).out != ""
    live.session.image_source = replace(live.session.source, at_offset=20)
    with pytest.raises(UsageError, match="no more was read than for --at-offset"):
        live("diff", "@5", "@30")
