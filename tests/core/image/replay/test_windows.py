"""A load by windows has the result and the events of a load by single batches."""

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kraftops.image.load.loader import Loader
from kraftops.image.replay.events import (
    ControlRecordRead,
    EntriesChanged,
    Event,
    RecordDropped,
    RecordsProcessed,
)
from kraftops.image.replay.limits import Limits
from kraftops.image.replay.replay import Replay
from kraftops.image.state.image import MetadataImage
from kraftops.log import reader
from kraftops.log.log_file import LogFile
from tests.helpers.engine.fold_pair import answers
from tests.helpers.logs.random_logs import RandomLog, leader_change
from tests.helpers.tools.distribution import long_after

LOGS = int(os.environ.get("KRAFTOPS_FUZZ_RUNS", "300"))


def _loaded(path: Path, limits: Limits, *, is_single: bool) -> tuple[Loader, list[Event]]:
    image, events = MetadataImage(), list[Event]()
    replay = Replay(image, limits)
    replay.can_apply_windows &= not is_single
    loader = Loader(replay, listen=events.append)
    with LogFile(str(path)) as log:
        source = image.store.add_source(str(path), LogFile(str(path)))
        loader.order.is_log = True
        loader.add(log.batches(), source, str(path))
    return loader, events


def _counts(events: list[Event]) -> dict[str, Any]:
    """Return the sums of events, however many a batch has."""
    found: dict[str, Any] = {}
    found["drops"] = [one for one in events if isinstance(one, RecordDropped)]
    for one in events:
        if isinstance(one, RecordsProcessed):
            seen = found.setdefault(f"batch {one.address >> 28}", [0, 0])
            seen[0] = max(seen[0], one.stop)
            seen[1] += one.dropped
        elif not isinstance(one, EntriesChanged | ControlRecordRead | RecordDropped):
            found[f"{type(one).__name__} {one}"] = True
    return found


@pytest.mark.parametrize("part", long_after(2, range(6)))
def test_windows_make_the_image_of_single_batches(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(part, LOGS, 6):
        random = Random(at)
        log = RandomLog(random).log(most_batches=20, most_records=9)
        raw = b"".join(
            (leader_change(batch.base_offset, 1) if random.random() < 0.05 else b"") + bytes(batch)
            for batch in log
        )
        if random.random() < 0.4:
            damaged = bytearray(raw)
            damaged[random.randrange(len(raw))] ^= 1 << random.randrange(8)
            raw = bytes(damaged)
        path = tmp_path / "00000000000000000000.log"
        path.write_bytes(raw)
        limits = random.choice((Limits(), Limits(until=random.randint(0, 60))))
        monkeypatch.setattr(reader, "BLOCK", random.choice((1, 300, 2000, 1 << 20)))

        mine, events = _loaded(path, limits, is_single=False)
        single, others = _loaded(path, limits, is_single=True)

        assert list(mine.image.findings) == list(single.image.findings)
        assert dict(answers(mine.image.fold)) == dict(answers(single.image.fold))
        assert mine.image.provenance == single.image.provenance
        assert (mine.has_records, mine.is_over, mine.is_other_log) == (
            single.has_records,
            single.is_over,
            single.is_other_log,
        )
        assert mine.tail == single.tail
        assert vars(mine.image.quorum) == vars(single.image.quorum)
        assert _counts(events) == _counts(others)
