"""The command verify."""

import json
import os
import shutil
from pathlib import Path

import pytest

from kraftops.errors import UsageError
from tests.helpers.logs.log_directories import REAL
from tests.helpers.logs.metadata_logs import write_log
from tests.helpers.logs.random_logs import LogBatch, new_record, uuid
from tests.helpers.tools.console import METADATA_SHELL, run_command, run_here
from tests.helpers.tools.shell_session import LOG, NODE, Shell

CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"


@pytest.fixture
def controllers(tmp_path: Path) -> list[Path]:
    """The directories of a quorum's three replicas, one with a log that was altered."""
    found = []
    for number in range(3):
        place = tmp_path / f"c{number}"
        shutil.copytree(NODE, place)
        found.append(place)
    log = found[1] / "__cluster_metadata-0" / LOG.name
    raw = bytearray(log.read_bytes())
    raw[20_000] ^= 0x10
    log.chmod(0o644)
    log.write_bytes(raw)
    return found


def test_sound_log_has_no_findings() -> None:
    found = Shell(NODE)("verify")

    assert (found.out, found.code) == (f"{NODE}: nothing is wrong\n", 0)


def test_findings_are_lines_and_a_code(tmp_path: Path) -> None:
    records = [
        new_record("FeatureLevelRecord", name="metadata.version", featureLevel=30),
        new_record("TopicRecord", name="t", topicId=uuid(1)),
        new_record(
            "PartitionRecord", partitionId=0, topicId=uuid(1), replicas=[7], isr=[7], leader=7
        ),
        new_record("RemoveTopicRecord", topicId=uuid(9)),
    ]
    folder = write_log(tmp_path, {0: [bytes(LogBatch(0, records))]})
    log = folder / LOG.name
    shell = Shell(tmp_path)

    found = shell("verify")

    assert found.code == 2
    assert found.lines == [
        f"risk: {log}, offset 3, position 0: there is no topic with this id [record-left-out]",
        (
            f"risk: {log}, offset 2, position 0: partition t-0: it has replicas on broker 7, not "
            "registered [impossible-state]"
        ),
    ]
    findings = json.loads(shell("verify", "--format", "json").out)["findings"]
    assert [(finding["code"], finding["offset"]) for finding in findings] == [
        ("record-left-out", 3),
        ("impossible-state", 2),
    ]


def test_altered_replica_is_named(controllers: list[Path]) -> None:
    """Once because its checksum is wrong, and once because the others are not like it."""
    found = Shell(NODE)("verify", *map(str, controllers))

    assert found.code == 2
    assert found.lines[0] == f"{controllers[0]}: nothing is wrong"
    assert "the checksum of a batch is wrong" in found.lines[1]
    assert found.lines[2] == f"{controllers[2]}: nothing is wrong"
    assert f"{controllers[1]} has offsets" in found.lines[3]
    assert "CRC 0x" in found.lines[3]
    assert len(found.lines) == 4


def test_log_cut_short_below_its_snapshot_is_not_sound(tmp_path: Path) -> None:
    place = Path(shutil.copytree(REAL / "stopped", tmp_path / "c1"))
    log = place / "__cluster_metadata-0" / LOG.name
    os.truncate(log, log.stat().st_size // 3)

    found = Shell(place)("verify")

    assert found.code == 2
    assert [line.rsplit(" ", 1)[1] for line in found.lines] == [
        "[torn-tail]",
        "[metadata-log-lost]",
    ]


def test_several_sources_replace_the_browsed_one(controllers: list[Path]) -> None:
    done = run_here("--format", "json", "verify", *map(str, controllers), program=METADATA_SHELL)

    assert done.code == 2
    assert "c1 has offsets" in done.text.replace(str(controllers[1].parent) + "/", "")


def test_equal_replicas_have_no_findings(controllers: list[Path]) -> None:
    assert Shell(NODE)("verify", str(controllers[0]), str(controllers[2])).code == 0


def test_unreadable_source_does_not_hide_others(tmp_path: Path, controllers: list[Path]) -> None:
    found = Shell(NODE)("verify", str(tmp_path / "nope"), str(controllers[0]))

    assert found.lines[0] == f"{controllers[0]}: nothing is wrong"
    assert found.code == 1
    assert "nope" in found.err[0]


def test_release_is_checked_on_request() -> None:
    shell = Shell(NODE)

    assert shell("verify", "--upgrade", "4.3", "--for", "4.3").code == 0
    older = shell("verify", "--for", "4.0")
    assert older.code == 2
    assert any("Kafka 4.0 does not know metadata.version=30" in one for one in older.lines)
    with pytest.raises(UsageError, match="nothing is known of Kafka"):
        shell("verify", "--for", "1.0")
    with pytest.raises(UsageError, match=r"Unknown metadata\.version"):
        shell("verify", "--upgrade", "1.0")


def test_upgrade_names_blocking_registrations() -> None:
    found = Shell(NODE.parent / "n391")("verify", "--upgrade", "4.3")

    assert found.code == 2
    assert any("broker 7 supports metadata.version 1-21, blocks 30" in one for one in found.lines)
    assert all("; upgrade it" in one for one in found.lines)


def test_log_directories_are_checked_on_request(tmp_path: Path) -> None:
    for name, partition in (("d1", "nope-0"), ("d2", "gone-1")):
        place = tmp_path / name / partition
        place.mkdir(parents=True)
        (place / "partition.metadata").write_text(f"version: 0\ntopic_id: {CLUSTER_ID}\n")
        (place / f"{0:020}.log").write_bytes(b"x" * 100)
        (place.parent / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=x\n")

    found = Shell(NODE)("verify", "--log-dirs", str(tmp_path / "d1"), str(tmp_path / "d2"))

    assert found.code == 2
    assert [line.split(": ")[:2] for line in found.lines] == [
        ["loss", str(tmp_path / "d1/nope-0")],
        ["loss", str(tmp_path / "d2/gone-1")],
    ]
    both = ("--log-dirs", str(tmp_path / "d1"), "--log-dirs", str(tmp_path / "d2"))
    assert Shell(NODE)("verify", *both, "--format", "text").out == found.out


def test_other_directories_are_an_error(tmp_path: Path) -> None:
    found = Shell(NODE)("verify", "--log-dirs", str(tmp_path))

    assert found.code == 1
    assert "meta.properties" in found.err[0]


# As programs


def test_commands_keep_their_own_options() -> None:
    done = run_command(
        *("--format", "json", "-s", str(NODE), "summary", "--format", "json"),
        program=METADATA_SHELL,
    )

    assert json.loads(done.text)["partitions"] == 36


def test_kafkas_form_has_no_verify_and_summary() -> None:
    done = run_here("-s", str(NODE), "verify", program=METADATA_SHELL)

    assert done.text.startswith("invalid choice: 'verify' (choose from 'cat', 'find', 'ls', 'tree'")
    assert done.code == 0
