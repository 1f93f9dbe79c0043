"""The image of a followed log is always the image of its present files."""

from itertools import pairwise
from pathlib import Path

import pytest

from kraftops.image.load.loading import load
from kraftops.image.travel.following import LogFollower
from kraftops.image.travel.travel import Travel
from kraftops.log.log_file import LogFile
from tests.helpers.logs.segments import IN

LOG = IN / "meta" / "00000000000000000000.log"
DATA = LOG.read_bytes()


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
