"""A travel shows the states of fresh loads, and finds the changes between them."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kraftops.errors import KraftopsError, UsageError
from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops.image.travel.travel import LogFollower, Travel
from kraftops.log.log_file import LogFile
from tests.helpers.engine.choice import using
from tests.helpers.engine.comparison import has_native
from tests.helpers.engine.fold_pair import answers
from tests.helpers.image.snapshots import snapshot_of
from tests.helpers.logs.random_logs import (
    LogBatch,
    RandomLog,
    Taste,
    log_batches,
    log_bytes,
    new_record,
    uuid,
)
from tests.helpers.logs.segments import IN
from tests.helpers.tools.corpus import DUMPS

LOGS = 40
ENGINES = ["native", "reference"] if has_native() else ["reference"]
LOG = IN / "meta" / "00000000000000000000.log"
DATA = LOG.read_bytes()


class RandomDirectory:
    """A random log in segments, with snapshots of it, and sometimes with damage."""

    def __init__(self, seed: int, folder: Path) -> None:
        random = self.random = Random(seed)
        self.path = str(folder)
        log = RandomLog(random, Taste(runs=False)).log(most_batches=12, most_records=4)
        self.end = log[-1].base_offset + len(log[-1].records) + 3
        whole = folder / "whole.log"
        whole.write_bytes(_bytes_of(log))
        self.has_snapshot = False
        for _ in range(random.choice((0, 1, 2))):
            self._add_snapshot(folder, load(whole, at_offset=random.randrange(1, self.end)))
        whole.unlink()
        cuts = sorted(random.sample(range(len(log)), min(len(log), random.choice((0, 1, 2)))))
        for first, stop in zip([0, *cuts], [*cuts, len(log)], strict=True):
            if part := log[first:stop]:
                data = bytearray(_bytes_of(part))
                if random.random() < 0.1:
                    data[random.randrange(len(data))] ^= 1 << random.randrange(8)
                (folder / f"{part[0].base_offset:020}.log").write_bytes(data)

    def _add_snapshot(self, folder: Path, image: MetadataImage) -> None:
        name = f"{image.offset + 1:020}-{1:010}.checkpoint"
        (folder / name).write_bytes(snapshot_of(image))
        self.has_snapshot = True


def _bytes_of(log: list[LogBatch]) -> bytes:
    return b"".join(map(bytes, log))


def _state(image_of: Callable[[], MetadataImage]) -> object:
    """Return all that an image tells, or the error."""
    try:
        image = image_of()
    except KraftopsError as error:
        return type(error), error.message
    findings = list(map(str, image.findings))
    return image.offset, image.provenance, findings, vars(image.quorum), dict(answers(image.fold))


def _answers(path: str, offset: int) -> dict[str, Any]:
    try:
        image = load(path, at_offset=offset)
    except KraftopsError:
        image = MetadataImage()
    return {what: answer for what, answer in answers(image.fold) if what != "dropped"}


@pytest.fixture
def directories(tmp_path: Path) -> Callable[[int], Iterator[RandomDirectory]]:
    def each(first: int) -> Iterator[RandomDirectory]:
        for seed in range(first, first + LOGS // 4):
            folder = tmp_path / str(seed)
            folder.mkdir()
            try:
                yield RandomDirectory(seed, folder)
            except UsageError:
                continue  # the log has no state at the offset of a snapshot

    return each


@pytest.mark.parametrize("first", range(0, LOGS, LOGS // 4))
def test_states_are_those_of_fresh_loads(
    directories: Callable[[int], Iterator[RandomDirectory]], first: int
) -> None:
    for log in directories(first):
        travel = Travel(log.path, most_bytes=log.random.choice((0, 10_000, 1 << 30)))
        for _ in range(20):
            offset = log.random.randrange(-1, log.end)
            found = _state(lambda travel=travel, offset=offset: travel.at(offset=offset))  # type: ignore[misc]
            wanted = _state(lambda log=log, offset=offset: load(log.path, at_offset=offset))  # type: ignore[misc]
            assert found == wanted, (log.path, offset)


@pytest.mark.parametrize("first", range(0, LOGS, LOGS // 4))
def test_changes_are_where_the_state_differs_from_that_one_offset_before(
    directories: Callable[[int], Iterator[RandomDirectory]], first: int
) -> None:
    for log in directories(first):
        if log.has_snapshot:
            continue
        states = [_answers(log.path, offset) for offset in range(-1, log.end)]
        changed = [offset for offset in range(log.end) if states[offset + 1] != states[offset]]
        travel = Travel(log.path)
        for _ in range(10):
            offset, number = log.random.randrange(log.end), log.random.choice((1, 2, 5))
            try:
                travel.at(offset=offset)
            except KraftopsError:
                continue
            later = [one.offset for one in travel.after(offset, number=number)]
            earlier = [one.offset for one in travel.before(offset, number=number)]
            assert later == [one for one in changed if one > offset][:number], (log.path, offset)
            assert earlier == [one for one in changed if one < offset][-number:], (log.path, offset)


def test_one_comes_back_to_the_beginning_through_snapshots(
    directories: Callable[[int], Iterator[RandomDirectory]],
) -> None:
    steps = 0
    for log in directories(100):
        travel, offset = Travel(log.path), log.end
        while found := travel.before(offset):
            assert found[0].offset < offset
            offset = found[0].offset
            found_state = _state(lambda travel=travel, offset=offset: travel.at(offset=offset))  # type: ignore[misc]
            assert found_state == _state(
                lambda log=log, offset=offset: load(log.path, at_offset=offset)  # type: ignore[misc]
            )
            steps += 1
    assert steps > 50


def test_no_change_follows_a_snapshot_that_is_cut_short() -> None:
    travel = Travel(DUMPS / "in/dmg/ckpt-cut")
    end = travel.at().offset

    assert travel.after(end) == []


def test_a_log_that_grows_is_read_on(tmp_path: Path) -> None:
    log = RandomLog(Random(3), Taste(runs=False)).log(most_batches=40, most_records=4)
    half = len(log) // 2
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(_bytes_of(log[:half]))
    travel = Travel(str(tmp_path))
    travel.at()

    path.write_bytes(_bytes_of(log))

    assert _state(travel.at) == _state(lambda: load(tmp_path))


def test_a_log_that_was_truncated_is_read_anew(tmp_path: Path) -> None:
    one, other = (
        RandomLog(Random(seed), Taste(runs=False)).log(most_batches=40, most_records=4)
        for seed in (3, 4)
    )
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(_bytes_of(one))
    travel = Travel(str(tmp_path))
    travel.at()
    travel.after(3, number=20)

    path.write_bytes(_bytes_of(other))

    assert _state(travel.at) == _state(lambda: load(tmp_path))
    fresh = Travel(str(tmp_path)).after(3, number=20)
    assert [one.offset for one in travel.after(3, number=20)] == [one.offset for one in fresh]


def test_states_take_no_more_bytes_than_they_may(tmp_path: Path) -> None:
    log = RandomLog(Random(5)).log(most_batches=200, most_records=8)
    (tmp_path / "00000000000000000000.log").write_bytes(_bytes_of(log))
    offsets = range(20, log[-1].base_offset, 50)
    largest = max(load(tmp_path, at_offset=offset).fold.size() for offset in offsets)
    travel = Travel(str(tmp_path), most_bytes=2 * largest)

    for offset in offsets:
        travel.at(offset=offset)

        assert 0 < travel.bytes <= 2 * largest


@pytest.mark.parametrize("engine", ENGINES)
def test_entries_of_a_record_have_the_same_order_by_both_engines(
    tmp_path: Path, engine: str
) -> None:
    """A removed topic, and its partitions, which came in another order than that of numbers."""
    topic = uuid(1)
    records = [
        new_record("TopicRecord", name="orders", topicId=topic),
        *(
            new_record("PartitionRecord", topicId=topic, partitionId=at, replicas=[1], isr=[1])
            for at in (10, 2, 0, 1)
        ),
        new_record("RemoveTopicRecord", topicId=topic),
    ]
    (tmp_path / f"{0:020}.log").write_bytes(log_bytes(log_batches(records)))

    with using(engine):
        (change,) = Travel(str(tmp_path)).before(6, number=1)

    assert [one.table for one in change.entries] == ["topic-names", "topics", *["partitions"] * 4]
    assert [one.key[1] for one in change.entries[2:]] == [0, 1, 2, 10]


def ends() -> list[int]:
    """Return where the batches of the log end."""
    with LogFile(str(LOG)) as log:
        return [batch.position + batch.size for batch in log.batches()]


ENDS = ends()


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    directory = tmp_path / "__cluster_metadata-0"
    directory.mkdir()
    return directory / LOG.name


def followed(segment: Path) -> LogFollower:
    return LogFollower(Travel(segment.parent.parent))


def is_current(following: LogFollower, segment: Path) -> bool:
    return following.image.provenance == load(segment.parent.parent).provenance


def test_appended_batches_are_read_once(segment: Path) -> None:
    segment.write_bytes(DATA[: ENDS[20]])
    travel = Travel(segment.parent.parent)
    sizes: list[int] = []
    travel.progress = sizes.append
    following = LogFollower(travel)

    for before, after in pairwise(ENDS[20::9]):
        with segment.open("ab") as log:
            log.write(DATA[before : after - 3])  # the last batch is still being written
        following.update()
        with segment.open("ab") as log:
            log.write(DATA[after - 3 : after])
        following.update()

        assert is_current(following, segment)
        assert not following.update()

    assert sum(sizes) == ENDS[20::9][-1]
    assert not list(following.image.findings)


def test_rolled_segments_are_read_one_after_the_other(segment: Path) -> None:
    at = ENDS[60]
    segment.write_bytes(DATA[:at])
    following = followed(segment)

    with LogFile(str(LOG)) as log:
        base = next(iter(log.batches(at))).header.base_offset
    segment.with_name(f"{base:020}.log").write_bytes(DATA[at:])

    assert following.update()
    assert is_current(following, segment)


def test_truncated_batches_are_forgotten(segment: Path) -> None:
    segment.write_bytes(DATA[: ENDS[60]])
    following = followed(segment)
    assert not following.update()

    segment.write_bytes(DATA[: ENDS[30]])

    assert following.update()
    assert is_current(following, segment)
