"""Steps that turn one log into another: each leaves a log that a server could have."""

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.recovery.file_steps import (
    FileStep,
    WriteFile,
    file_states,
    file_steps,
    remove_file,
    write_parts,
)
from kraftops.recovery.log_copy import LogCopy, read_log
from kraftops.server.metadata_log.batch_comparison import SoundBatches
from kraftops.server.metadata_log.log import read_partition
from kraftops.server.voters import Voter
from kraftops.storage.bootstrap.records import voters_batch_bytes, voters_record
from tests.helpers.logs.metadata_logs import no_ops, snapshot_bytes, voters_batch, write_log

VOTERS = voters_record([Voter(1, bytes([1]) * 16, "localhost", 9093)], "CONTROLLER")


def batch_for(log: LogCopy) -> bytes:
    return voters_batch_bytes(
        VOTERS, is_first=False, offset=log.end, epoch=log.highest_epoch + 1, now=0
    )


def offsets(folder: Path) -> list[tuple[int, int]]:
    """Return base offset and epoch of the batches that a server would read."""
    return [
        (mark.base_offset, mark.epoch)
        for mark in SoundBatches(read_partition(str(folder)).segments)
    ]


def execute(folder: Path, step: FileStep) -> None:
    path = str(folder / step.name)
    if isinstance(step, WriteFile):
        write_parts(path, step.parts, None)
    else:
        remove_file(path)


def log_at(folder: Path) -> LogCopy:
    return read_log(str(folder), str(folder))


Batches = list[tuple[int, int]]
"""Records and epoch of each."""

batches = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 1)), min_size=1, max_size=8)


def written(
    folder: Path,
    history: Sequence[tuple[int, int]],
    cuts: set[int],
    end: bytes = b"",
    first_epoch: int = 1,
) -> Path:
    """Write batches, a new segment at each cut; epochs grow by what is said."""
    offset, epoch = 1, first_epoch
    segments: dict[int, list[bytes]] = {0: [voters_batch(0, (1, bytes(16)), epoch=epoch)]}
    for number, (count, grows) in enumerate(history):
        epoch += grows
        if number in cuts:
            segments[offset] = []
        segments[max(segments)].append(no_ops(offset, count, epoch))
        offset += count
    segments[max(segments)].append(end)
    return write_log(folder, segments)


@given(
    common=batches,
    mine=batches | st.just([]),
    theirs=batches | st.just([]),
    cuts=st.sets(st.integers(0, 15)),
    their_cuts=st.sets(st.integers(0, 15)),
    torn=st.sampled_from([b"", b"torn", bytes(80)]),
    has_begun_later=st.booleans(),
    is_rival=st.booleans(),
    is_best=st.booleans(),
)
def test_every_step_leaves_a_sound_log_and_the_last_the_chosen_one(
    *,
    common: Batches,
    mine: Batches,
    theirs: Batches,
    cuts: set[int],
    their_cuts: set[int],
    torn: bytes,
    has_begun_later: bool,
    is_rival: bool,
    is_best: bool,
) -> None:
    """The log that goes on may be the shorter one, and differ from the first batch on."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own_folder = written(folder / "own", [*common, *mine], cuts, torn)
        # Where both go on, they go on differently: in another epoch.
        other_way = [
            (count, grows + 5 * (number == 0)) for number, (count, grows) in enumerate(theirs)
        ]
        first_epoch = 3 if is_rival else 1
        their_history = [*common, *other_way]
        their_folder = written(folder / "theirs", their_history, their_cuts, torn, first_epoch)
        if has_begun_later and theirs:
            end = log_at(their_folder).end
            epoch = log_at(their_folder).epoch
            write_log(folder / "theirs", None, {(end, epoch): snapshot_bytes(end=end)})
            for path in sorted(their_folder.glob("*.log"))[:-1]:
                path.unlink()
        own, other = log_at(own_folder), log_at(their_folder)
        chosen = (max if is_best else min)(own, other, key=lambda log: log.rank)
        wanted = offsets(Path(chosen.folder))
        batch = batch_for(chosen)

        planned = file_steps(own, chosen, batch, sorted(file_states(str(own_folder))))

        for step in planned:
            with patch.object(os, "fsync"):  # here nobody cuts the power
                execute(own_folder, step)
            found = log_at(own_folder)
            assert found.damage is None, (step, planned)
        assert (found.end, found.epoch) == (chosen.end + 1, chosen.highest_epoch + 1)
        assert offsets(own_folder)[-len(wanted) - 1 : -1][-len(wanted) :] == wanted
        assert found.tail is None


@pytest.mark.parametrize("has_index", [True, False])
def test_chosen_log_gets_a_new_segment_only(tmp_path: Path, has_index: bool) -> None:
    folder = written(tmp_path, [(3, 0), (2, 1)], {1})
    (folder / "leader-epoch-checkpoint").write_text("0\n1\n1 0\n")
    if has_index:
        (folder / "00000000000000000004.index").write_bytes(bytes(8))
    own = log_at(folder)

    (step,) = file_steps(own, own, batch_for(own), sorted(os.listdir(folder)))

    assert isinstance(step, WriteFile)
    assert step.name == "00000000000000000006.log"
    assert [type(part) for part in step.parts] == [bytes]


def test_equal_log_needs_no_step(tmp_path: Path) -> None:
    folder = written(tmp_path, [(3, 0)], set())
    own = log_at(folder)
    shutil.copytree(folder, tmp_path / "copy")

    assert file_steps(own, own, b"", []) == ()
    assert file_steps(own, log_at(tmp_path / "copy"), b"", []) == ()
