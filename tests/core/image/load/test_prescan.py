"""A dry replay finds what counts of a log, and names, without a state; parts of it add up."""

import re
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.engine.index_contract import RANGE_BITS
from kraftops.errors import KraftopsError
from kraftops.image.load.loader import Loader
from kraftops.image.load.loading import loaded, loaded_by
from kraftops.image.load.prescan import DryLoader, Run, Stretch, range_of, run_of
from kraftops.image.replay.replay import Limits, Replay
from kraftops.image.state.changes import Provenance
from kraftops.image.state.findings import Finding
from kraftops.image.state.image import MetadataImage
from kraftops.log.batch import Batch
from kraftops.log.ranges import ByteRange, cut_file
from kraftops.log.reader import LogFile
from tests.helpers.image.model import state_of
from tests.helpers.logs.metadata_logs import snapshot_bytes
from tests.helpers.logs.random_logs import (
    Lot,
    Made,
    leader_change,
    log_bytes,
    lots,
    made,
    random_log,
    uuid,
)
from tests.helpers.tools.corpus import SHELL

T = uuid(1)
TOPIC = made("TopicRecord", topicId=T, name="t")
BEGIN, END, ABORT = (made(f"{name}TransactionRecord") for name in ("Begin", "End", "Abort"))


class Seen(NamedTuple):
    """What a load finds of a log, but for its state."""

    findings: list[Finding]
    provenance: Provenance
    offset: int


def seen(loader: Loader) -> Seen:
    image = loader.image
    findings = [one._replace(address=None) for one in image.log_findings]
    return Seen(findings, image.provenance, image.offset)


def dry(
    path: Path, limits: Limits | None = None, runs: list[tuple[ByteRange, Run | None]] | None = None
) -> DryLoader:
    known = {} if runs is None else {str(path): runs}
    chosen = limits or Limits()
    return loaded_by(
        lambda may_grow: DryLoader(MetadataImage(), chosen, may_grow=may_grow, runs=known),
        [str(path)],
        chosen,
    )


def runs_of(path: Path, size: int) -> list[tuple[ByteRange, Run | None]]:
    return [
        (split, run_of(split, "kafka", is_snapshot=False)) for split in cut_file(str(path), size)
    ]


def replayed(stretches: list[Stretch]) -> MetadataImage:
    """Return the image that stretches of a log make."""
    image = MetadataImage()
    replay = Replay(image)
    for source, path, end_offset, start, stop, after, records in stretches:
        while source not in image.store.sources():
            image.store.add_source(path, None, end_offset)
        with LogFile(path) as log:
            for batch in log.batches(start, stop):
                replay.limits = Limits(after)
                if records:
                    offset = batch.header.base_offset
                    replay.limits = Limits(
                        max(after, offset + records[0] - 1), offset + records[1] - 1
                    )
                list(replay.add(Batch(batch.position, batch.size, batch.data), source))
    return image


@given(st.integers(min_value=0, max_value=1 << 32))
def test_dry_load_finds_what_a_load_finds(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    random = Random(seed)
    log = random_log(random)
    path = tmp_path_factory.getbasetemp() / "dry.log"
    path.write_bytes(log_bytes(log))
    runs = runs_of(path, random.choice((1, 300)))
    for limits in (Limits(), Limits(until=random.randrange(log[-1].end))):
        try:
            whole = loaded([str(path)], limits, "kafka")
        except KraftopsError as error:
            with pytest.raises(type(error), match=re.escape(error.message)):
                dry(path, limits)
            continue
        for known in (None, runs):
            found = dry(path, limits, known)
            assert seen(found) == seen(whole)
            image, expected = state_of(replayed(found.dry.stretches)), state_of(whole.image)
            del image["provenance"], expected["provenance"]  # of a batch that is cut short
            assert image == expected


@pytest.mark.parametrize("node", ["n332", "n391", "n431"])
def test_parts_of_real_logs_are_taken_as_they_are(node: str) -> None:
    path = SHELL / "in" / node / "__cluster_metadata-0/00000000000000000000.log"
    runs = runs_of(path, 4096)
    assert len(runs) > 3

    found, alone = dry(path, runs=runs), dry(path)

    assert seen(found) == seen(alone)
    assert found.dry.names == alone.dry.names
    assert found.dry.stretches == alone.dry.stretches


def written(path: Path, *batches: list[Made]) -> Path:
    path.write_bytes(log_bytes(lots(*batches)))
    return path


def test_names_are_those_of_all_that_counts(tmp_path: Path) -> None:
    other = made("TopicRecord", topicId=uuid(2), name="aborted")
    far = made("PartitionRecord", partitionId=5 << RANGE_BITS, topicId=T)
    near = made("PartitionRecord", partitionId=1, topicId=T)
    path = written(
        tmp_path / "log", [TOPIC, near, far], [BEGIN, other], [ABORT], [BEGIN, far, END, TOPIC]
    )

    names = dry(path).dry.names

    assert list(names.pairs) == [(T, "t")]
    assert names.ranges == {T: 1 << range_of(5 << RANGE_BITS)}


def test_transactions_that_are_cut_through_are_known_by_nobody(tmp_path: Path) -> None:
    path = written(tmp_path / "log", [TOPIC, BEGIN], [TOPIC], [END])

    runs = [run for _, run in runs_of(path, 1)]

    assert runs[0] is None
    assert [bool(run) for run in runs[1:]] == [True, True]
    assert seen(dry(path, runs=runs_of(path, 1))) == seen(dry(path))


def test_batches_that_count_in_part_are_stretches_of_their_own(tmp_path: Path) -> None:
    no_op = made("NoOpRecord")
    path = written(tmp_path / "log", [no_op, no_op], [no_op, no_op, no_op])

    first, second = dry(path, Limits(until=3)).dry.stretches

    assert (first.start, first.records) == (0, None)
    assert (second.start, second.records) == (first.stop, (0, 2))


def test_snapshot_is_one_run(tmp_path: Path) -> None:
    path = tmp_path / f"{5:020}-{1:010}.checkpoint"
    path.write_bytes(snapshot_bytes(bytes(Lot(1, [TOPIC])), end=2))
    (split,) = cut_file(str(path), 1 << 20)

    run = run_of(split, "kafka", is_snapshot=True)

    assert run
    assert run.has_footer
    assert list(run.names.pairs) == [(T, "t")]
    found = dry(path, runs=[(split, run)])
    assert seen(found) == seen(dry(path))
    assert found.image.offset == 4


def test_control_batches_behind_a_snapshot_count(tmp_path: Path) -> None:
    (tmp_path / f"{0:020}.log").write_bytes(leader_change(0, 1) + bytes(Lot(1, [TOPIC])))
    (tmp_path / f"{2:020}-{1:010}.checkpoint").write_bytes(
        snapshot_bytes(bytes(Lot(1, [TOPIC])), end=2)
    )

    stretches = dry(tmp_path).dry.stretches

    assert [(one.source, one.start, one.after) for one in stretches] == [(0, 0, -1), (1, 0, 1)]


def test_many_transactions_in_a_batch_are_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kraftops.image.load import prescan as dryreplay

    calls: list[int] = []
    real = dryreplay.index_records

    def counted(*arguments: object) -> object:
        calls.append(1)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(dryreplay, "index_records", counted)
    path = written(tmp_path / "log", [BEGIN, TOPIC, END] * 100)

    assert list(dry(path).dry.names.pairs) == [(T, "t")]
    assert len(calls) <= 101  # and once for what each of them has
