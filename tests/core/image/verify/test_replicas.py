"""The first difference between replicas is found, and the odd replica."""

from collections.abc import Sequence
from pathlib import Path

from kraftops.image.verify.replicas import replica_findings
from kraftops.memory import Budget
from tests.helpers.logs.metadata_logs import write_log
from tests.helpers.logs.random_logs import LogBatch, log_batches, log_bytes, new_record


def replicas(tmp_path: Path, *logs: Sequence[LogBatch] | bytes) -> list[str]:
    found = []
    for number, log in enumerate(logs):
        data = log if isinstance(log, bytes) else log_bytes(log)
        write_log(tmp_path / f"c{number}", {0: [data]})
        found.append(str(tmp_path / f"c{number}"))
    return found


def log(*, altered: int | None = None, epoch: int = 1, count: int = 6) -> list[LogBatch]:
    """Return batches of two records, one of them altered."""
    records = [
        new_record("ProducerIdsRecord", nextProducerId=99 if at == altered else at)
        for at in range(count)
    ]
    found = log_batches(*(records[at : at + 2] for at in range(0, count, 2)))
    return [batch._replace(epoch=epoch if batch.base_offset == 2 else 1) for batch in found]


def test_equal_replicas_have_nothing_to_tell(tmp_path: Path) -> None:
    sources = replicas(tmp_path, log(), log(), log(count=2))

    assert list(replica_findings(sources, Budget())) == []
    assert list(replica_findings(sources[:1] * 2, Budget())) == []


def test_replica_that_differs_from_two_others_is_named(tmp_path: Path) -> None:
    sources = replicas(tmp_path, log(), log(altered=3), log())

    (found,) = replica_findings(sources, Budget())

    assert found.place.offset == 3
    assert found.place.file == str(
        Path(sources[1], "__cluster_metadata-0/00000000000000000000.log")
    )
    assert found.place.position == len(bytes(log()[0]))
    assert found.text.startswith(f"{sources[1]} has offsets 2 to 3, epoch 1, CRC 0x")
    assert "where the others have offsets 2 to 3, epoch 1, CRC 0x" in found.text


def test_epochs_that_differ_are_reported(tmp_path: Path) -> None:
    (found,) = replica_findings(replicas(tmp_path, log(epoch=7), log(), log()), Budget())

    assert found.place.offset == 2
    assert "offsets 2 to 3, epoch 7" in found.text


def test_of_two_replicas_nobody_knows_which_is_right(tmp_path: Path) -> None:
    sources = replicas(tmp_path, log(), log(altered=0))

    (found,) = replica_findings(sources, Budget())

    assert found.place.offset == 0
    assert all(source in found.text for source in sources)


def test_damage_counts_by_what_the_bytes_are(tmp_path: Path) -> None:
    damaged = bytearray(log_bytes(log()))
    damaged[-3] ^= 1

    (found,) = replica_findings(replicas(tmp_path, log(), bytes(damaged), log()), Budget())

    assert (found.place.offset, "c1" in str(found.place.file)) == (5, True)


def test_gaps_are_differences_and_late_beginnings_are_not(tmp_path: Path) -> None:
    whole = log()
    sources = replicas(tmp_path, whole, [whole[0], whole[2]], whole)
    write_log(tmp_path / "late", {2: [log_bytes(whole[1:])]})

    (found,) = replica_findings([*sources, str(tmp_path / "late")], Budget())

    assert found.place.offset == 2
    assert f"{sources[1]} has nothing before offset 4" in found.text


def test_three_that_differ_are_all_named(tmp_path: Path) -> None:
    sources = replicas(tmp_path, log(altered=1), log(altered=0), log())

    (found,) = replica_findings(sources, Budget())

    assert found.place.offset == 0
    assert all(source in found.text for source in sources)
