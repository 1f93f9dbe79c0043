"""Voters that would elect a leader without committed records are found, and lost majorities."""

import shlex
import shutil
from pathlib import Path

import pytest

from kraftops.findings.finding import Finding
from kraftops.log.batch import Record
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.node import read_node
from kraftops.storage.verify.voter_logs import voter_log_findings
from tests.helpers.logs.metadata_logs import (
    kraft_version_batch,
    no_ops,
    records_batch,
    snapshot_bytes,
    voters_batch,
    write_log,
)
from tests.helpers.logs.written import batch_bytes
from tests.helpers.nodes.assigned_partitions import D1, broker, partition
from tests.helpers.nodes.lost_quorums import VOTERS, controller, topic, write_meta
from tests.helpers.nodes.node_directories import PROPERTIES

BEGINNING = [kraft_version_batch(0, 1), voters_batch(1, *VOTERS)]


def node(folder: Path, node_id: int, *batches: bytes, **changes: str) -> Path:
    """Make a controller of three voters; without batches its log is as formatted."""
    made = controller(
        folder / f"n{node_id}", node_id, log_dirs=f"{folder}/n{node_id}/meta", **changes
    )
    if batches:
        write_log(made / "meta", {0: [*BEGINNING, *batches]})
    else:
        write_log(made / "meta", {}, {(0, 0): snapshot_bytes(voters_batch(0, *VOTERS))})
    return made


def found_in(*nodes: Path) -> list[Finding]:
    read = [read_node(load_config(str(path / PROPERTIES))) for path in nodes]
    return list(voter_log_findings(read))


def codes(*nodes: Path) -> list[str]:
    return [finding.code for finding in found_in(*nodes)]


def test_equal_logs_are_sound(tmp_path: Path) -> None:
    nodes = [node(tmp_path, number, no_ops(2, 398)) for number in (1, 2, 3)]

    assert found_in(*nodes) == []
    assert found_in(nodes[0]) == []


def test_voters_that_were_only_formatted_are_sound(tmp_path: Path) -> None:
    assert found_in(*[node(tmp_path, number) for number in (1, 2, 3)]) == []


def test_newest_log_is_no_rival_of_itself_where_another_node_has_its_id(tmp_path: Path) -> None:
    newest = node(tmp_path, 1, no_ops(2, 398))
    copies = [node(tmp_path / name, 1) for name in ("a", "b")]

    found = found_in(newest, node(tmp_path, 2), *copies)

    assert str(newest / "meta") not in [finding.place.path for finding in found]
    assert not any(" 0 offsets " in finding.text for finding in found)


def test_two_of_three_formatted_again_could_win_an_election(tmp_path: Path) -> None:
    nodes = [node(tmp_path, 1, no_ops(2, 398)), node(tmp_path, 2), node(tmp_path, 3)]

    found = found_in(*nodes)

    assert [(finding.code, finding.severity) for finding in found] == [
        ("rival-history", "loss")
    ] * 2
    assert [each.place.path for each in found] == [
        f"{tmp_path}/n{number}/meta" for number in (2, 3)
    ]
    assert found[0].text == (
        f"its metadata log is empty, {tmp_path}/n1/meta ends at offset 400: with the voters 2, 3 "
        "it could win an election, and the records of 400 offsets would be lost"
    )
    command = f"kafka-storage recover -c {tmp_path}/n1/{PROPERTIES} --voters self --dry-run"
    assert found[0].commands == (command,)


def test_one_empty_log_of_three_is_a_note(tmp_path: Path) -> None:
    nodes = [
        node(tmp_path, 1, no_ops(2, 398)),
        node(tmp_path, 2, no_ops(2, 398)),
        node(tmp_path, 3),
    ]

    (finding,) = found_in(*nodes)

    assert (finding.code, finding.severity) == ("behind", "note")
    assert finding.place.path == f"{tmp_path}/n3/meta"


def test_logs_below_a_snapshot_lack_committed_records(tmp_path: Path) -> None:
    nodes = [node(tmp_path, number, no_ops(2, 8)) for number in (1, 2)]
    made = node(tmp_path, 3, no_ops(2, 398))
    snapshot = snapshot_bytes(voters_batch(0, *VOTERS), end=300)
    write_log(made / "meta", {}, {(300, 1): snapshot})

    assert codes(*nodes, made) == ["rival-history", "rival-history"]
    assert codes(nodes[0], made) == ["behind"]


def test_short_end_that_may_be_uncommitted_is_a_note(tmp_path: Path) -> None:
    nodes = [
        node(tmp_path, 1, no_ops(2, 3)),
        node(tmp_path, 2, no_ops(2, 3)),
        node(tmp_path, 3, no_ops(2, 4)),
    ]

    (finding,) = found_in(*nodes)

    assert (finding.code, finding.severity) == ("ends-differ", "note")
    assert "the voters 1, 2 could go on without the end of" in finding.text
    assert finding.text.endswith("from offset 5 to 6")
    assert found_in(nodes[0], nodes[2]) == []


def test_higher_epoch_wins_over_a_longer_log(tmp_path: Path) -> None:
    nodes = [
        node(tmp_path, 1, no_ops(2, 3), no_ops(5, 1, epoch=2)),
        node(tmp_path, 2, no_ops(2, 9)),
        node(tmp_path, 3, no_ops(2, 9)),
    ]

    (finding,) = found_in(*nodes)

    assert finding.code == "ends-differ"
    assert f"{tmp_path}/n1/meta" in finding.text


def test_log_of_a_broker_is_newer_than_all_controllers(tmp_path: Path) -> None:
    nodes = [node(tmp_path, number) for number in (1, 2, 3)]
    broker = node(
        tmp_path,
        7,
        no_ops(2, 98),
        process_roles="broker",
        listeners="PLAINTEXT://localhost:29092",
    )

    found = found_in(*nodes, broker)

    assert {finding.code for finding in found} == {"rival-history"}
    assert (
        f"kafka-storage recover -c {nodes[0]}/{PROPERTIES} --from {broker}/meta/__cl"
        in (found[0].commands[-1])
    )


def test_lost_majority_is_found_with_its_cure(tmp_path: Path) -> None:
    folder = tmp_path / "it's here"
    nodes = [node(folder, number, no_ops(2, 8)) for number in (1, 2, 3)]
    write_meta(nodes[1] / "meta", 2, directory_id="vOKEv8VrQAyGbyFDxfFCwA")
    shutil.rmtree(nodes[2] / "meta")

    found = found_in(*nodes)

    assert [(each.code, each.place.path) for each in found] == [("quorum-lost", "")]
    assert found[0].text.startswith("the quorum is lost: voters 2 and 3 of 1, 2, 3 do not have")
    (command,) = found[0].commands
    assert shlex.split(command) == [
        "kafka-storage",
        "recover",
        "-c",
        f"{nodes[0]}/{PROPERTIES}",
        "--from",
        f"{nodes[1]}/meta/__cluster_metadata-0",
        "--voters",
        "self",
        "--dry-run",
    ]


def test_one_lost_voter_of_three_is_no_lost_quorum(tmp_path: Path) -> None:
    nodes = [node(tmp_path, number, no_ops(2, 8)) for number in (1, 2, 3)]
    shutil.rmtree(nodes[2] / "meta")

    assert found_in(*nodes) == []


@pytest.mark.parametrize("count", [1, 2])
def test_static_voters_count_without_directory_ids(tmp_path: Path, count: int) -> None:
    static = {"controller_quorum_bootstrap_servers": "", "controller_quorum_voters": VOTER_LIST}
    full = node(tmp_path, 1, **static)
    write_log(full / "meta", {0: [no_ops(0, 100)]})
    (full / "meta/__cluster_metadata-0" / f"{0:020}-{0:010}.checkpoint").unlink()
    empty = [node(tmp_path, number, **static) for number in (2, 3)[:count]]
    for each in empty:
        shutil.rmtree(each / "meta/__cluster_metadata-0")

    assert codes(full, *empty) == (["behind"] if count == 1 else ["rival-history"] * 2)


def timed(offset: int, *seconds: int, epoch: int = 1, value: bytes = b"") -> list[bytes]:
    """Return a batch of one record for each time."""
    records = [Record(offset + at, second * 1000, None, value) for at, second in enumerate(seconds)]
    return [batch_bytes([record], leader_epoch=epoch) for record in records]


def restored(folder: Path, *end: bytes) -> list[Path]:
    """Make three controllers; two have lost the end of the log, as from copies of yesterday."""
    nodes = [node(folder, number, *timed(2, 0, 0, 0)) for number in (1, 2)]
    return [*nodes, node(folder, 3, *timed(2, 0, 0, 0), *end)]


class TestCommittedEnd:
    """The newest log goes on from offset 5; the two others are a majority without that."""

    def test_leader_that_went_on_was_followed(self, tmp_path: Path) -> None:
        found = found_in(*restored(tmp_path, *timed(5, 10, 20, 31)))

        assert [each.code for each in found] == ["rival-history"] * 2
        assert found[0].text.endswith(
            "the records of 3 offsets would be lost (their leader went on for more than 20 s)"
        )

    def test_leader_that_resigned_at_once_may_not_have_been_followed(self, tmp_path: Path) -> None:
        assert codes(*restored(tmp_path, *timed(5, 10, 20, 29))) == ["ends-differ"]

    def test_each_leader_counts_for_itself(self, tmp_path: Path) -> None:
        later = timed(6, 100, 119, epoch=2)

        assert codes(*restored(tmp_path, *timed(5, 10), *later)) == ["ends-differ"]

    def test_timeout_of_the_configuration_counts(self, tmp_path: Path) -> None:
        nodes = restored(tmp_path, *timed(5, 10, 20, 31))
        changed = "\ncontroller.quorum.fetch.timeout.ms=5000\n"
        path = nodes[2] / PROPERTIES
        path.write_text(path.read_text() + changed)

        assert codes(*nodes) == ["ends-differ"]

    def test_one_voter_of_three_that_lacks_committed_records_is_a_note(
        self, tmp_path: Path
    ) -> None:
        nodes = restored(tmp_path, *timed(5, 10, 20, 31))
        full = node(tmp_path / "more", 2, *timed(2, 0, 0, 0), *timed(5, 10, 20, 31))

        assert codes(nodes[0], full, nodes[2]) == ["behind"]

    def test_topic_on_the_disk_of_a_broker_was_committed(self, tmp_path: Path) -> None:
        nodes = restored(tmp_path, records_batch(5, topic("late", 1)))
        disk = broker(tmp_path / "broker", 7, {str(tmp_path / "broker/d"): D1})

        assert codes(*nodes, disk) == ["ends-differ"]
        partition(disk / "d", "late-0", topic_id=bytes([0x41]) * 16)
        found = found_in(*nodes, disk)

        assert [each.code for each in found] == ["rival-history"] * 2
        assert "a broker has partitions of a topic that they create" in found[0].text


def test_committed_records_of_two_histories_are_found(tmp_path: Path) -> None:
    """Two voters that were formatted again have had a leader of their own since."""
    nodes = [node(tmp_path, 1, *timed(2, 0, 30, 60))]
    for number in (2, 3):
        made = node(tmp_path, number)
        write_log(made / "meta", {0: timed(0, 70, 80, epoch=5)})
        nodes.append(made)

    (finding,) = found_in(*nodes)

    assert (finding.code, finding.severity) == ("two-histories", "loss")
    assert finding.place.path == f"{tmp_path}/n1/meta"
    assert "two histories from offset 0 on" in finding.text
    assert "committed records of this one to offset 4 would be lost" in finding.text


def test_uncommitted_end_of_an_old_leader_is_no_history(tmp_path: Path) -> None:
    old = node(tmp_path, 1, *timed(2, 0, 1, 2))
    new = [node(tmp_path, number, *timed(2, 0), *timed(3, 9, epoch=2)) for number in (2, 3)]

    assert found_in(old, *new) == []


VOTER_LIST = ",".join(f"{number}@localhost:29093" for number in (1, 2, 3))


def test_recovered_node_waits_for_nobody(tmp_path: Path) -> None:
    alone = [*BEGINNING, no_ops(2, 98), voters_batch(100, VOTERS[0])]
    recovered = node(tmp_path, 1, no_ops(2, 98))
    write_log(recovered / "meta", {0: alone})
    other = node(tmp_path, 2, no_ops(2, 398))

    assert not {"behind", "ends-differ", "rival-history"} & {*codes(recovered, other)}
