"""What the screen of a cluster begins with: the incidents of the last hour."""

from pathlib import Path

from kraftops_cli.cluster.watch.happenings import past_happenings
from kraftops_cli.cluster.watch.state import ScreenState, with_note
from tests.helpers.tools.corpus import DATA
from tests.helpers.wire.metadata_quorums import MetadataLog, topic

LOG = [str(DATA / "incidents/three/00000000000000000000.log")]
END = 1_795_477_937_905
HOUR = 3_600_000


def test_incidents_of_the_last_hour_come_first_then_counts() -> None:
    found = past_happenings(LOG, END + 1000)

    assert len(found) == 6
    assert [one.time for one in found] == sorted(one.time for one in found)
    assert found[-2].style == "bad"
    assert found[-2].text.startswith("broker 102 was fenced, and is not back")
    assert found[-1].text.startswith("in the last hour: ")
    assert "changes of ISRs" in found[-1].text


def test_older_news_is_left_out() -> None:
    fenced, counts = past_happenings(LOG, END + HOUR - 1)

    assert "102" in fenced.text
    assert counts.text.startswith("in the last hour: ")
    assert past_happenings(LOG, END + HOUR + 1) == []


def test_a_log_that_begins_with_a_snapshot_tells_what_follows_it(tmp_path: Path) -> None:
    log = MetadataLog()
    log.add(*topic(1))
    log.snapshot(drop=True)
    log.add(*topic(2))

    assert isinstance(past_happenings([str(log.write(tmp_path))], END), list)


def test_a_note_about_the_past_stands_before_what_came_later() -> None:
    past = past_happenings(LOG, END)
    state = ScreenState()
    for happening in reversed(past):
        state = with_note(state, happening)

    assert [one.time for one in state.happenings] == [one.time for one in past]
