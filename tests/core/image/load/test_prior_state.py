"""Last changes are exact as far back as the log before a snapshot goes."""

import os
from pathlib import Path
from random import Random

import pytest

from kraftops.image.history import history
from kraftops.image.load.loading import load
from kraftops.image.state.changes import Change
from kraftops.tree.history_subjects import history_subject
from kraftops.tree.layout import tree_of
from kraftops.tree.node import Leaf, descend
from tests.helpers.image.snapshots import snapshot_of
from tests.helpers.logs.metadata_logs import write_log
from tests.helpers.logs.random_logs import LogBatch, RandomLog, Taste, log_batches, new_record, uuid
from tests.helpers.tools.distribution import long_after
from tests.helpers.tree.leaves import leaves_of

LOGS = int(os.environ.get("KRAFTOPS_FUZZ_ORIGINS", "200"))
PLAIN = Taste(unknown_topics=True, shared_names=False, after_abort=False, double_begin=False)


def _changes(folder: Path, end: int) -> dict[str, Change | None]:
    image = load(folder, at_offset=end)
    return {
        path: leaf.change
        for path, leaf in leaves_of(tree_of(image))
        if path.startswith("/image/") and "byState" not in path
    }


def _without_gaps(log: list[LogBatch]) -> list[LogBatch]:
    """Return a log with consecutive offsets."""
    found, offset = [], 0
    for batch in log:
        found.append(batch._replace(base_offset=offset))
        offset = found[-1].end
    return found


def _closed(log: list[LogBatch]) -> list[int]:
    """Return the numbers of batches that begin without an open transaction."""
    found, is_open = [], False
    for number, batch in enumerate(log):
        if not is_open:
            found.append(number)
        for one in batch.records:
            if one.name.endswith("TransactionRecord"):
                is_open = one.name == "BeginTransactionRecord"
    return found


def _stray(log: list[LogBatch]) -> int:
    """Return the offset of the first marker that ends nothing, -1 if there is none."""
    is_open = False
    for batch in log:
        for number, one in enumerate(batch.records):
            if one.name == "BeginTransactionRecord":
                is_open = True
            elif one.name in ("EndTransactionRecord", "AbortTransactionRecord"):
                if not is_open:
                    return batch.base_offset + number
                is_open = False
    return -1


@pytest.mark.slow
@pytest.mark.parametrize("part", long_after(2, range(4)))
def test_changes_are_those_of_the_whole_log(part: int, tmp_path: Path) -> None:
    exactly = 0
    for at in range(part, LOGS, 4):
        random = Random(at)
        log = _without_gaps(RandomLog(random, PLAIN).log(most_batches=14, most_records=6))
        closed = _closed(log)
        if len(closed) < 3:
            continue
        whole = write_log(tmp_path / f"{at}-whole", {0: [bytes(batch) for batch in log]})
        ends = sorted(random.sample(closed[1:], min(random.choice((1, 2, 3)), len(closed) - 1)))
        snapshots = {}
        for number in ends:
            end = log[number].base_offset
            image = load(whole, at_offset=end - 1)
            snapshots[end, log[number - 1].epoch] = snapshot_of(image, random.randrange(1 << 40))
        first = random.choice([one for one in closed if one <= ends[0]])
        cuts = sorted({first, *random.sample(range(first, len(log)), min(2, len(log) - first))})
        segments = {
            log[cut].base_offset: [bytes(batch) for batch in log[cut:until]]
            for cut, until in zip(cuts, [*cuts[1:], len(log)], strict=True)
        }
        folder = write_log(tmp_path / f"{at}-cut", segments, snapshots)
        start, last = log[first].base_offset, log[-1].end - 1

        clears = any(one.name == "ClearElrRecord" for batch in log[first:] for one in batch.records)
        known = max(start, _stray(log[first : ends[0]]) + 1)
        exact, found = _changes(whole, last), _changes(folder, last)

        assert exact.keys() == found.keys()
        for path, change in found.items():
            true = exact[path]
            if true is None or change is None:
                assert true == change
            elif clears and change.is_upper_bound and "/topics/" in path:
                # Nobody can tell whether a partition had an ELR before the log that is there.
                assert change.offset >= max(true.offset, known - 1), path
            elif change.is_upper_bound:
                assert true.offset <= change.offset == known - 1, path
            else:
                assert change == true, path
                exactly += 1
    assert exactly > LOGS


def test_history_and_listings_say_the_same(tmp_path: Path) -> None:
    """A history begins with the state of a snapshot, and with the changes before it."""
    log = log_batches(
        [new_record("TopicRecord", topicId=uuid(1), name="a")],
        [new_record("ConfigRecord", resourceType=2, resourceName="a", name="k", value="1")],
        [new_record("ConfigRecord", resourceType=2, resourceName="a", name="k", value="2")],
        [new_record("NoOpRecord")],
    )
    whole = write_log(tmp_path / "whole", {0: [bytes(batch) for batch in log]})
    snapshot = snapshot_of(load(whole, at_offset=2))
    folder = write_log(
        tmp_path / "cut", {1: [bytes(batch) for batch in log[1:]]}, {(3, 1): snapshot}
    )
    names = ("image", "configs", "TOPIC:a", "k")

    (step,) = history(folder, history_subject(names))
    leaf = descend(tree_of(load(folder)), names)

    assert isinstance(leaf, Leaf)
    assert leaf.last_change
    assert step.change == leaf.last_change.change
    assert (step.change.offset, step.change.is_upper_bound) == (2, False)
    assert leaf.last_change.image.store.place(leaf.last_change.address)[0].endswith("1.log")
    topic = descend(tree_of(load(folder)), ("image", "topics", "byName", "a", "name"))
    assert isinstance(topic, Leaf)
    assert topic.last_change
    assert (topic.last_change.change.offset, topic.last_change.change.is_upper_bound) == (0, True)


def test_log_of_any_name_beside_a_snapshot_is_no_trouble(tmp_path: Path) -> None:
    log = log_batches(
        [new_record("TopicRecord", topicId=uuid(1), name="a")], [new_record("NoOpRecord")]
    )
    folder = write_log(tmp_path, {0: [bytes(batch) for batch in log]})
    snapshot = folder / f"{1:020}-{1:010}.checkpoint"
    snapshot.write_bytes(snapshot_of(load(folder, at_offset=0)))
    odd = folder / "copy of a log"
    (folder / f"{0:020}.log").rename(odd)

    leaf = descend(tree_of(load([snapshot, odd])), ("image", "topics", "byName", "a", "id"))

    assert isinstance(leaf, Leaf)
    assert leaf.change
    assert (leaf.change.offset, leaf.change.is_upper_bound) == (0, False)


def test_oldest_snapshot_that_is_damaged_is_passed_over(tmp_path: Path) -> None:
    log = log_batches(
        *([new_record("TopicRecord", topicId=uuid(n), name=str(n))] for n in range(1, 7))
    )
    whole = write_log(tmp_path / "whole", {0: [bytes(batch) for batch in log]})
    snapshots = {(end, 1): snapshot_of(load(whole, at_offset=end - 1)) for end in (3, 5)}
    snapshots[3, 1] = snapshots[3, 1][:-20]
    folder = write_log(tmp_path / "cut", {1: [bytes(batch) for batch in log[1:]]}, snapshots)

    leaf = descend(tree_of(load(folder)), ("image", "topics", "byName", "4", "id"))

    assert isinstance(leaf, Leaf)
    assert leaf.change
    assert (leaf.change.offset, leaf.change.is_upper_bound) == (3, False)


def test_what_a_transaction_from_before_the_log_did_is_not_known(tmp_path: Path) -> None:
    log = log_batches(
        [new_record("TopicRecord", topicId=uuid(1), name="a")],
        [new_record("ConfigRecord", resourceType=2, resourceName="a", name="k", value="1")],
        [new_record("BeginTransactionRecord")],
        [new_record("ConfigRecord", resourceType=2, resourceName="a", name="k", value="2")],
        [new_record("AbortTransactionRecord")],
        [new_record("NoOpRecord")],
    )
    whole = write_log(tmp_path / "whole", {0: [bytes(batch) for batch in log]})
    snapshot = snapshot_of(load(whole, at_offset=5))
    folder = write_log(
        tmp_path / "cut", {3: [bytes(batch) for batch in log[3:]]}, {(6, 1): snapshot}
    )

    leaf = descend(tree_of(load(folder)), ("image", "configs", "TOPIC:a", "k"))

    assert isinstance(leaf, Leaf)
    assert leaf.change
    assert (leaf.change.offset, leaf.change.is_upper_bound) == (4, True)
