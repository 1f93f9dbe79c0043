"""One copy of each partition, of log directories of several brokers."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from kraftops.log.batch import Record
from kraftops.spark.datasource import KraftopsDataSource
from kraftops.uuids import to_text
from tests.helpers.logs.written import batch_bytes

pytest.importorskip("pyarrow")

Epochs = Sequence[tuple[int, int]]
"""Epochs with their start offsets."""


def copy(
    broker: Path,
    end: int,
    *,
    epochs: Epochs = ((0, 0),),
    topic_id: bytes = b"orders-topic-id!",
    cluster: str | None = "c",
) -> None:
    """Write a copy of orders-0, with values that name the broker."""
    folder = broker / "orders-0"
    folder.mkdir(parents=True)
    if cluster:
        text = f"version=1\ncluster.id={cluster}\nnode.id={broker.name}\n"
        (broker / "meta.properties").write_text(text)
    (folder / "partition.metadata").write_text(f"version: 0\ntopic_id: {to_text(topic_id)}\n")
    lines = ["0", str(len(epochs)), *(f"{epoch} {start}" for epoch, start in epochs), ""]
    (folder / "leader-epoch-checkpoint").write_text("\n".join(lines))
    value = broker.name.encode()
    records = [Record(offset, 1, None, value) for offset in range(end)]
    (folder / f"{0:020}.log").write_bytes(batch_bytes(records) if records else b"")


def rows(*brokers: Path, **options: str) -> list[tuple[int, str]]:
    """Return offsets with the brokers that have written them."""
    paths = json.dumps([str(path) for path in brokers])
    fixed = {"paths": paths, "decoder": "user", "columns": "offset,value", "tries": "4"}
    source = KraftopsDataSource({**fixed, **options})
    reader = source.reader(source.schema())
    return [
        (row["offset"], row["value"].decode())
        for partition in reader.partitions()
        for batch in reader.read(partition)
        for row in batch.to_pylist()
    ]


@pytest.fixture
def brokers(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "101", tmp_path / "102"


def test_the_copy_with_the_newest_epoch_is_read(
    brokers: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = brokers
    copy(one, 5)
    copy(other, 3, epochs=[(0, 0), (4, 2)])

    assert rows(one, other) == [(offset, "102") for offset in range(3)]
    assert (
        "one copy of each partition is read, and 1 others with replicas=all"
        in capsys.readouterr().err
    )
    assert len(rows(one, other, replicas="all")) == 8


def test_of_one_epoch_the_longer_copy_is_read(brokers: tuple[Path, Path]) -> None:
    one, other = brokers
    copy(one, 5)
    copy(other, 3)

    assert rows(other, one) == [(offset, "101") for offset in range(5)]


def test_an_empty_copy_with_a_later_epoch_is_not_read(brokers: tuple[Path, Path]) -> None:
    one, other = brokers
    copy(one, 5)
    copy(other, 0, epochs=[(7, 0)])

    assert rows(one, other) == [(offset, "101") for offset in range(5)]


@pytest.mark.parametrize(
    "fields",
    [{"cluster": "d"}, {"cluster": None}, {"topic_id": b"another-topic-id"}],
    ids=["another cluster", "no meta.properties", "another topic of the name"],
)
def test_partitions_of_one_name_may_be_others(
    brokers: tuple[Path, Path], fields: dict[str, str]
) -> None:
    one, other = brokers
    copy(one, 2)
    copy(other, 2, **fields)  # type: ignore[arg-type]

    assert len(rows(one, other)) == 4
