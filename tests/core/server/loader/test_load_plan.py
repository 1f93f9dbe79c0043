"""How a start loads a log directory; each rule was seen with real brokers of Kafka 4.3.1."""

import pytest

from kraftops.log.batch import TRANSACTIONAL
from kraftops.server.loader.contract import Consequence, LoadRequest
from kraftops.server.loader.load_plan import (
    FolderKind,
    FolderName,
    PartitionLoad,
    ends_server,
    load_plan,
    parse_folder_name,
    possible_consequences,
)
from kraftops.server.loader.partition import foretell_partition
from tests.helpers.nodes.partition_folders import MemoryFolder, batch, partition, segment

RECOVERY, STARTS = "recovery-point-offset-checkpoint", "log-start-offset-checkpoint"
ID = "0" * 32


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("t-0", FolderName("t", 0, FolderKind.CURRENT)),
        ("a-b-12", FolderName("a-b", 12, FolderKind.CURRENT)),
        ("kept--1", FolderName("kept-", 1, FolderKind.CURRENT)),
        (f"t-0.{ID}-delete", FolderName("t", 0, FolderKind.DELETED)),
        (f"t-0.{ID}-future", FolderName("t", 0, FolderKind.FUTURE)),
        (f"t-0.{ID}-stray", FolderName("t", 0, FolderKind.STRAY)),
        ("t.u-3.x-future", FolderName("t.u", 3, FolderKind.FUTURE)),
        ("t-0.a-b-delete", FolderName("t", 0, FolderKind.DELETED)),
        ("t-+1", FolderName("t", 1, FolderKind.CURRENT)),
        ("-5-0", FolderName("-5", 0, FolderKind.CURRENT)),
        ("t 0-1", FolderName("t 0", 1, FolderKind.CURRENT)),
        ("t-2147483647", FolderName("t", 2147483647, FolderKind.CURRENT)),
        ("t-007", FolderName("t", 7, FolderKind.CURRENT)),
        *(
            (name, None)
            for name in (
                *("t", "t-", "-0", "t-x", "t-1_0", "t-2147483648", "t-99999999999999999999999"),
                *("t-0-delete", "t-0.-delete", "t.abc-delete", "t u-0.abc-delete"),
                *("t-0.abc-deleted", "lost+found", "some-folder", ".snapshot"),
                *("remote-log-index-cache", "recovery-point-offset-checkpoint"),
            )
        ),
    ],
)
def test_names_of_folders(name: str, expected: FolderName | None) -> None:
    assert parse_folder_name(name) == expected


def test_offsets_of_checkpoints_are_those_of_the_request() -> None:
    files = {RECOVERY: b"0\n1\nt 0 7\n", STARTS: b"0\n1\nt 0 3\n", ".kafka_cleanshutdown": b""}

    plan = load_plan(MemoryFolder(files, ["t-0", "t-1"]), has_metadata_log=False)

    assert plan.request("t-0") == LoadRequest("t-0", 3, 7, was_clean=True)
    assert plan.request("t-1") == LoadRequest("t-1", 0, 0, was_clean=True)
    assert plan.damaged == ()


@pytest.mark.parametrize("name", [RECOVERY, STARTS, "replication-offset-checkpoint"])
@pytest.mark.parametrize(
    ("content", "consequence"),
    [
        (b"words\n", Consequence.DIRECTORY_OFFLINE),
        (b"0\n9\n", Consequence.DIRECTORY_OFFLINE),
        (b"0\n1\nt x 5\n", Consequence.LOADS),
        (b"0\n-1\n", Consequence.LOADS),
    ],
)
def test_damaged_checkpoint_is_taken_for_empty(
    name: str, content: bytes, consequence: Consequence
) -> None:
    plan = load_plan(MemoryFolder({name: content}, ["t-0"]), has_metadata_log=False)

    assert plan.refusal is None
    assert plan.request("t-0") == LoadRequest("t-0")
    assert [(damage.name, damage.consequence) for damage in plan.damaged] == [(name, consequence)]


@pytest.mark.parametrize("name", ["lost+found", "some-folder", "t-0-delete"])
def test_stray_folder_ends_the_broker(name: str) -> None:
    plan = load_plan(MemoryFolder({}, ["t-0", name]), has_metadata_log=False)

    assert plan.refusal is not None
    assert plan.refusal.consequence is Consequence.BROKER_DIES


def test_files_and_folders_of_others_are_passed_over() -> None:
    directory = MemoryFolder({"notes.txt": b""}, ["remote-log-index-cache", "__cluster_metadata-0"])

    plan = load_plan(directory, has_metadata_log=True)

    assert (plan.refusal, plan.folders) == (None, {})


def test_metadata_log_in_another_directory_ends_the_server() -> None:
    plan = load_plan(MemoryFolder({}, ["__cluster_metadata-0"]), has_metadata_log=False)

    assert plan.refusal is not None
    assert "unexpected metadata location" in plan.refusal.message


WORDS = {"leader-epoch-checkpoint": b"words\n"}
OPEN = partition(segment(0, [batch(0, attributes=TRANSACTIONAL, producer_id=9)]))
QUIET = partition(segment(0, [batch(0)]))
OFFLINE = {Consequence.DIRECTORY_OFFLINE}
DIES = {Consequence.BROKER_DIES}


@pytest.mark.parametrize(
    ("checkpoint", "contents", "expected"),
    [
        (b"", [QUIET, OPEN], {Consequence.LOADS}),
        (b"", [QUIET, WORDS], OFFLINE),
        (b"", [OPEN, WORDS], OFFLINE | DIES),
        (b"", [OPEN, {"x.log": b""}, WORDS], DIES),
        (b"words\n", [QUIET], OFFLINE),
        (b"words\n", [QUIET, OPEN], DIES),
        (b"0\n1\nt x 0\n", [QUIET, OPEN], {Consequence.LOADS}),
        (b"", [{**OPEN, "partition.metadata": b"words"}], OFFLINE),
        (b"", [OPEN, {**OPEN, "partition.metadata": b"words"}], OFFLINE | DIES),
    ],
)
def test_open_transaction_ends_the_broker_in_a_directory_that_has_failed(
    checkpoint: bytes, contents: list[dict[str, bytes]], expected: set[Consequence]
) -> None:
    plan = load_plan(MemoryFolder({RECOVERY: checkpoint}, ["t-0"]), has_metadata_log=False)
    outcomes = [foretell_partition(MemoryFolder(files), LoadRequest("t-0")) for files in contents]

    loads = [PartitionLoad.of(f"t-{index}", outcome) for index, outcome in enumerate(outcomes)]

    assert possible_consequences(plan, loads) == expected


def test_server_needs_a_directory_and_that_of_the_metadata() -> None:
    directories = ["d1", "d2", "d3"]

    assert not ends_server(["d2", "d3"], directories, "d1")
    assert ends_server(["d1"], directories, "d1")
    assert ends_server(directories, directories, "m")
