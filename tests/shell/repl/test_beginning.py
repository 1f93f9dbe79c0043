"""Beginning of a session: its settings, the welcome and the toolbar, in any width."""

from pathlib import Path

import pytest

from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops_shell.repl.beginning import begin, fitting, toolbar_text, welcome_lines
from kraftops_terminal.widths import width_of_text
from tests.helpers.tools.memory_console import Streams
from tests.helpers.tools.shell_session import SNAPSHOT
from tests.helpers.tree.small_trees import session

IMAGE = load(SNAPSHOT)
LONG = "/var/lib/kafka/metadata/of/a/very/long/name/__cluster_metadata-0"


@pytest.mark.parametrize("width", [10, 24, 40, 80, 200])
def test_toolbar_and_welcome_fit(width: int) -> None:
    lines = [toolbar_text(LONG, IMAGE, width), *welcome_lines(LONG, IMAGE, width)]

    assert len(lines) == 4
    assert all(0 < width_of_text(line) <= width for line in lines)


def test_toolbar_has_offset_time_and_as_much_of_the_source_as_fits() -> None:
    time = "2026-11-21"

    assert toolbar_text(LONG, IMAGE, 200).startswith(f" offset {IMAGE.offset}  {time}")
    assert toolbar_text(LONG, IMAGE, 200).endswith(f"  {LONG}")
    assert toolbar_text(LONG, IMAGE, 68).endswith("Z  name/__cluster_metadata-0")
    assert toolbar_text("DIR", IMAGE, 80, 500).startswith(f" offset {IMAGE.offset} of 500  ")
    assert toolbar_text("DIR", IMAGE, 80, 5).startswith(f" offset {IMAGE.offset}  ")
    assert toolbar_text("DIR", MetadataImage(), 40) == " before the first record  DIR"


def test_welcome_says_what_was_loaded_and_what_to_try() -> None:
    loaded, counted, to_try = welcome_lines("DIR", IMAGE, 80)

    assert loaded.startswith(f"DIR at offset {IMAGE.offset}, 2026-")
    assert counted == (
        f"{len(IMAGE.brokers)} brokers, {len(IMAGE.topic_ids)} topics, 36 partitions; "
        "10 leaderless, 22 under-replicated."
    )
    assert welcome_lines("DIR", MetadataImage(), 80)[1] == (
        "0 brokers, 0 topics, 0 partitions; all in sync."
    )
    assert to_try.startswith("Try summary")


def test_first_text_that_fits_is_taken_or_the_last_is_cut() -> None:
    assert fitting(["abcd", "abc", "x"], 3) == "abc"
    assert fitting(["漢字漢字", "漢字"], 3) == "漢"


def test_settings_are_read_on_a_terminal_alone(tmp_path: Path) -> None:
    (tmp_path / "kraftops").mkdir()
    (tmp_path / "kraftops" / "metadata-shell.conf").write_text("set mouse on\nbroken\n")
    for is_terminal in (True, False):
        one, _, _ = session({})
        streams = Streams(is_terminal=is_terminal, environment={"XDG_CONFIG_HOME": str(tmp_path)})

        begin(one, streams.console)

        assert one.settings.value("mouse") == ("on" if is_terminal else "off")
        assert len(streams.errors) == is_terminal
