"""Histories over transactions, snapshots, removals and dialects."""

from functools import partial
from pathlib import Path

import pytest

from kraftops.errors import SourceError
from kraftops.image.history import Step, history
from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops.memory import Budget
from kraftops.tree.history_subjects import history_subject
from tests.helpers.logs.metadata_logs import snapshot_bytes, write_log
from tests.helpers.logs.random_logs import LogBatch, log_batches, log_bytes, new_record
from tests.helpers.tools.corpus import SHELL


def test_history_goes_on_over_removal_and_creation() -> None:
    source = SHELL / "in/replay/r03-remove-and-recreate-one-batch.log"
    name = next(iter(load(source).topic_ids))

    steps = history(source, history_subject(["image", "topics", "byName", name, "id"]))

    assert [step.kind.value for step in steps] == ["added", "removed", "added"]
    assert [step.type for step in steps] == ["TOPIC_RECORD", "REMOVE_TOPIC_RECORD", "TOPIC_RECORD"]
    assert steps[0].new == steps[1].old != steps[2].new


def test_records_of_a_transaction_keep_their_offsets(tmp_path: Path) -> None:
    value = [
        new_record("ConfigRecord", resourceType=4, resourceName="1", name="log.dirs", value=text)
        for text in "abc"
    ]
    log = log_batches(
        [value[0], new_record("BeginTransactionRecord")],
        [value[1]],
        [value[2], new_record("EndTransactionRecord")],
    )
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(log_bytes(log))

    steps = history(path, history_subject(["image", "configs", "BROKER:1", "log.dirs"]))

    assert [(step.change.offset, step.old, step.new) for step in steps] == [
        (0, None, "a"),
        (2, "a", "b"),
        (3, "b", "c"),
    ]


def test_changes_beyond_the_memory_budget_are_refused(tmp_path: Path) -> None:
    """A log of 300 KB may hold a gigabyte of values of one key."""
    value = [
        new_record(
            "ConfigRecord", resourceType=4, resourceName="1", name="log.dirs", value=text * 400
        )
        for text in "abcdef"
    ]
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(log_bytes(log_batches(*([one] for one in value))))
    subject = history_subject(["image", "configs", "BROKER:1", "log.dirs"])

    def steps(memory: int) -> list[Step]:
        new_image = partial(MetadataImage, budget=Budget(memory))
        return history(path, subject, new_image=new_image)

    assert len(steps(4000)) == 6
    with pytest.raises(SourceError, match="more than the 2200 bytes of the memory budget"):
        steps(2200)


def test_what_a_transaction_takes_back_is_no_change(tmp_path: Path) -> None:
    config = new_record(
        "ConfigRecord", resourceType=4, resourceName="1", name="log.dirs", value="a"
    )
    log = log_batches(
        [new_record("BeginTransactionRecord"), config],
        [new_record("AbortTransactionRecord")],
        [config],
    )
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(log_bytes(log))

    steps = history(path, history_subject(["image", "configs", "BROKER:1", "log.dirs"]))

    assert [step.change.offset for step in steps] == [3]


def test_history_begins_with_the_oldest_snapshot_that_the_log_goes_on_from(tmp_path: Path) -> None:
    config = [
        new_record("ConfigRecord", resourceType=4, resourceName="1", name="log.dirs", value=one)
        for one in "abc"
    ]
    batches = [bytes(batch) for batch in log_batches([config[0]])]
    write_log(
        tmp_path,
        {2: [bytes(LogBatch(2, [config[1]])), bytes(LogBatch(3, [config[2]]))]},
        {(2, 1): snapshot_bytes(*batches, end=1), (3, 1): snapshot_bytes(*batches, end=1)},
    )

    steps = history(tmp_path, history_subject(["image", "configs", "BROKER:1", "log.dirs"]))

    assert [(step.change.offset, step.change.is_upper_bound, step.new) for step in steps] == [
        (1, True, "a"),
        (2, False, "b"),
        (3, False, "c"),
    ]


def test_dialects_are_read_too(tmp_path: Path) -> None:
    config = new_record(
        "ConfigRecord",
        dialect="kip-631-draft",
        resourceType=4,
        resourceName="1",
        name="log.dirs",
        value="a",
    )
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(log_bytes(log_batches([config])))

    subject = history_subject(["image", "configs", "BROKER:1", "log.dirs"])
    steps = history(path, subject, new_image=partial(MetadataImage, "kip-631-draft"))

    assert [step.new for step in steps] == ["a"]


def test_sources_without_a_log_are_errors(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no metadata log"):
        history(tmp_path, history_subject(["image", "features"]))
