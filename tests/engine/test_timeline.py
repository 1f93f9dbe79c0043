"""Both engines note the same over time, also with clocks that go back and damaged records."""

import os
from itertools import pairwise
from random import Random

import pytest

from kraftops.engine.timeline_contract import KEPT_TABLES, STEPS, Timeline, TimelineRequest
from tests.helpers.logs.random_logs import FIRST_TIME, RandomLog
from tests.helpers.logs.segments import batches_of

pytest.importorskip("kraftops.engine._native", reason="there is no compiled engine")

from tests.helpers.engine.fold_pair import FoldPair, inside

SEED = int(os.environ.get("KRAFTOPS_FUZZ_SEED", "29"))
LOGS = int(os.environ.get("KRAFTOPS_FUZZ_FOLDS", "200"))
LATEST = FIRST_TIME * 2


def _comparable(timeline: Timeline | None) -> object:
    """Return a timeline with the changes of each record in one order: folds differ in it."""
    assert timeline is not None
    changes = sorted(map(repr, timeline.changes))
    return timeline._replace(changes=changes)


@pytest.mark.parametrize("part", range(4))
def test_timelines_agree(part: int) -> None:
    told: set[str] = set()
    for at in range(part, LOGS, 4):
        random = Random(SEED * 1_000_003 + at)
        log = RandomLog(random).log(most_batches=12, most_records=12)
        pair = FoldPair()
        since = random.choice((0, 0, FIRST_TIME + 5))
        buckets = random.choice((1, 3, 720))
        request = TimelineRequest(
            since, random.choice((0, FIRST_TIME)), LATEST, buckets, random.choice((100, 1000)), 5
        )
        for fold in pair.folds:
            fold.keep_time(request)
        for number, batch in enumerate(batches_of(b"".join(map(bytes, log)))):
            records, count = inside(batch)
            base = FIRST_TIME + random.choice((0, 3, -1, 10 * number, 10_000_000 * number))
            base = random.choice((base, base, base, -1, 1 << 62))
            append_time = random.choice((None, None, FIRST_TIME + number))
            started = random.choice((None, FIRST_TIME))
            for fold in pair.folds:
                fold.set_clock(base, append_time)
                if number == 1 or (number == 0 and at % 2):
                    fold.start_timeline(started)
            if at % 4 == 0 and records:
                damaged = bytearray(records)
                damaged[random.randrange(len(damaged))] = random.choice((0, 1, 2, 127, 255))
                records = bytes(damaged)
            pair.add(records, count, random)
        mine, theirs = (_comparable(fold.end_timeline()) for fold in pair.folds)
        assert mine == theirs, at
        assert isinstance(mine, Timeline)
        told |= {name for name, _ in mine.series if mine.series[name, None]}
        pair.compare()
    assert {"records", "elections", "isrShrinks", "offline", "underReplicated"} <= told


def test_each_step_divides_the_next() -> None:
    assert all(wide % narrow == 0 for narrow, wide in pairwise(STEPS))


def test_a_fold_without_a_timeline_has_none() -> None:
    assert [fold.end_timeline() for fold in FoldPair().folds] == [None, None]
    assert "partitions" not in KEPT_TABLES
