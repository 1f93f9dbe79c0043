"""The command browse on terminals of several sizes, and where there is none."""

import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftops.image.travel.travel import Travel
from tests.helpers.logs.metadata_logs import write_log
from tests.helpers.logs.random_logs import LogBatch, new_record, uuid
from tests.helpers.tools.console import KRAFTOPS, run_here
from tests.helpers.tools.corpus import SHELL
from tests.helpers.tools.emulator import Emulator
from tests.helpers.tools.screen_files import RecordedScreens
from tests.helpers.wire.watched_clusters import WatchedCluster, watched

NODE = SHELL / "in/n431"
DOWN, RIGHT = "\x1b[B", "\x1b[C"


def browser(*args: str, columns: int = 80, **environment: str) -> Emulator:
    command = (KRAFTOPS, "metadata-shell", "-s", str(NODE), "browse", *args)
    return Emulator(*command, columns=columns, environment=environment)


def chosen(path: str) -> Callable[[Emulator], bool]:
    """Tell whether a node is chosen: its path stands in the details."""
    return lambda screen: any(re.search(rf"(^|│ ){path}$", one) for one in screen.lines)


@pytest.mark.parametrize("columns", [40, 60, 80, 120, 200])
def test_screen_is_as_recorded(columns: int, recorded: RecordedScreens) -> None:
    with browser("/image/topics/byName", columns=columns) as screen:
        screen.wait_for("q quit")
        screen.send(RIGHT + DOWN + RIGHT + DOWN)
        screen.wait(chosen("/image/topics/byName/[^/ ]+/0"))
        screen.wait(lambda one: any(re.match("> +0( |$)", line) for line in one.lines))
        screen.wait(lambda one: one.lines[-1].endswith(" of 32"))  # it is written last

        place, *lines = screen.lines
        recorded.check(f"browse-{columns}", [re.sub(r"  /.*", "  …", place), *lines])


def test_search_time_and_size_change_what_is_shown() -> None:
    with browser() as screen:
        screen.wait_for("q quit")
        found = re.match(r"offset (\d+) ", screen.lines[0])
        assert found
        last = int(found[1])
        two, one, _ = (change.offset for change in Travel(NODE).before(last + 1, number=3))
        screen.send("/byname\r")
        screen.wait(chosen("/image/topics/byName"))
        screen.send("[")
        screen.wait_for(f"offset {one} of {last}")
        screen.send("\x1b[1;2D")
        screen.wait_for(f"offset {two} of {last}")
        screen.send("]=")
        screen.wait_for(f"offset {last}  ")
        assert chosen("/image/topics/byName")(screen)
        screen.send("/no such name\r")
        screen.wait_for("no name contains no such name")
        screen.resize(12, 40)
        screen.wait(lambda screen: "─" * 40 in screen.lines)
        screen.send("q")

        assert screen.wait_for_end() == 0
        assert screen.is_as_before


@pytest.mark.parametrize(
    ("end", "code"),
    [("\x03", 130), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGHUP, -signal.SIGHUP)],
)
def test_terminal_is_left_as_it_was(end: str | int, code: int) -> None:
    with browser() as screen:
        screen.wait_for("q quit")
        if isinstance(end, str):
            screen.send(end)
        else:
            screen.signal(end)

        assert screen.wait_for_end() == code
        assert screen.is_as_before


def test_ctrl_c_leaves_a_search_first() -> None:
    with browser() as screen:
        screen.wait_for("q quit")
        screen.send("/topics")
        screen.wait_for("/topics")
        screen.send("\x03")
        screen.wait_for("q quit")
        screen.send("\x03")

        assert screen.wait_for_end() == 130
        assert screen.is_as_before


def test_hostile_names_are_escaped(tmp_path: Path) -> None:
    name = "a\x1b]0;title\x07\x1b[5m\x9b2J\u202eb\nFORGED"
    records = [
        new_record("FeatureLevelRecord", name="metadata.version", featureLevel=20),
        new_record("ConfigRecord", resourceType=2, resourceName=name, name=name, value=name),
    ]
    write_log(tmp_path, {0: [bytes(LogBatch(0, records))]})
    command = (KRAFTOPS, "metadata-shell", "-s", str(tmp_path), "browse")
    with Emulator(*command, columns=120, rows=30) as screen:
        screen.wait_for("q quit")
        screen.send("/title\r")
        screen.wait_for("1 entry")
        screen.send(RIGHT + DOWN)
        screen.wait_for("changed at")
        raw = screen.raw.decode()

    assert "title\\x07" in screen.text
    assert "\x1b]" not in raw
    assert not {"\x07", "\x9b", "\u202e"} & {*raw}
    assert not any(line.lstrip("│ ").startswith("FORGED") for line in screen.lines)


def test_followed_log_is_shown_as_it_grows(tmp_path: Path) -> None:
    def topic(number: int) -> bytes:
        record = new_record("TopicRecord", name=f"t{number}", topicId=uuid(number))
        return bytes(LogBatch(number, [record]))

    write_log(tmp_path, {0: [topic(0)]})
    command = (KRAFTOPS, "metadata-shell", "-s", str(tmp_path), "browse")
    with Emulator(*command, "/image/topics/byName/t0") as screen:
        screen.wait(chosen("/image/topics/byName/t0"))
        assert "t1" not in screen.text
        write_log(tmp_path, {0: [topic(0), topic(1)]})
        screen.wait_for("▸ t1")
        assert screen.lines[0].startswith("offset 1 ")
        assert chosen("/image/topics/byName/t0")(screen)
        screen.send("q")

        assert screen.wait_for_end() == 0


def test_running_quorum_is_shown_as_it_changes() -> None:

    cluster = WatchedCluster(2, 5)
    with watched(cluster) as controllers:
        address = str(controllers.address(3001))
        command = (KRAFTOPS, "metadata-shell", "-C", address, "browse", "/image/cluster/brokers/2")
        with Emulator(*command) as screen:
            screen.wait_for('"state": "active"')
            cluster.fence(2)
            screen.wait_for('"state": "registered-fenced"')
            screen.send("[")
            screen.wait_for('"state": "active"')
            screen.send("q")

            assert screen.wait_for_end() == 0
            assert screen.is_as_before


def test_pipe_is_told_what_to_use_instead() -> None:
    done = run_here("metadata-shell", "-s", str(NODE), "browse", program=KRAFTOPS)

    assert done.code == 1
    assert done.text == ""
    assert done.errors == [
        "kraftops: browse needs a terminal that can move its cursor [usage]",
        "hint: tree -L 2 and find show the same as text",
    ]


def test_dumb_terminal_is_told_too() -> None:
    with browser(TERM="dumb") as screen:
        screen.wait_for("browse needs a terminal that can move its cursor")
        assert screen.wait_for_end() == 1
        assert screen.is_as_before
