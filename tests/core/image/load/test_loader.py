"""A loader feeds batches to a replay and notes where it can read on."""

from pathlib import Path

import pytest

from kraftops.image.load.loader import Loader, VanishedFileError, new_loader
from kraftops.image.load.sources import SourceFile
from kraftops.image.replay.limits import Limits
from kraftops.image.replay.replay import Replay
from kraftops.image.state.findings import DAMAGE
from kraftops.image.state.image import MetadataImage
from tests.helpers.logs.metadata_logs import no_ops, snapshot_bytes


def written(path: Path, raw: bytes) -> SourceFile:
    path.write_bytes(raw)
    return SourceFile(str(path), None, is_snapshot=False)


def test_tail_is_the_last_batch_that_was_read(tmp_path: Path) -> None:
    raw = no_ops(0, 2)
    file = written(tmp_path / "0.log", raw + no_ops(2, 1))
    read: list[int] = []
    loader = Loader(Replay(MetadataImage()), read.append)

    assert loader.read([file])

    assert loader.tail
    assert loader.tail.last
    assert (loader.tail.path, loader.tail.position) == (file.path, sum(read))
    assert loader.tail.last.position == len(raw)


def test_limits_end_the_load(tmp_path: Path) -> None:
    file = written(tmp_path / "0.log", no_ops(0, 2) + no_ops(2, 1))
    loader = new_loader(MetadataImage(), Limits(until=1))

    loader.read([file])

    assert loader.is_over
    assert loader.image.offset == 1


def test_partial_batch_is_damage_unless_the_file_may_grow(tmp_path: Path) -> None:
    file = written(tmp_path / "0.log", no_ops(0, 2) + no_ops(2, 1)[:-1])
    loaders = [Loader(Replay(MetadataImage()), may_grow=grows) for grows in (False, True)]

    for loader in loaders:
        loader.read([file])

    kinds = [[one.code for one in loader.image.log_findings] for loader in loaders]
    assert kinds == [[DAMAGE], []]


def test_snapshot_without_footer_is_not_whole(tmp_path: Path) -> None:
    path = tmp_path / f"{2:020}-{1:010}.checkpoint"
    whole = snapshot_bytes(no_ops(1, 1), end=2)
    path.write_bytes(whole)
    file = SourceFile(str(path), 2, is_snapshot=True)
    assert Loader(Replay(MetadataImage())).read([file])

    footer = len(snapshot_bytes(end=2)) - len(snapshot_bytes(end=2)) // 2
    path.write_bytes(whole[:-footer])

    assert not Loader(Replay(MetadataImage())).read([file])


def test_deleted_file_is_another_error_where_files_may_grow(tmp_path: Path) -> None:
    file = SourceFile(str(tmp_path / "gone.log"), None, is_snapshot=False)

    with pytest.raises(VanishedFileError):
        Loader(Replay(MetadataImage()), may_grow=True).read([file])
