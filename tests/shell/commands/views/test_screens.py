"""Tables of the shell on a real terminal of 40 to 200 columns, compared with recorded screens."""

from pathlib import Path
from time import monotonic

import pytest

from tests.helpers.project.imports import REPOSITORY
from tests.helpers.tools.emulator import Emulator
from tests.helpers.tools.our_shell import KRAFTOPS
from tests.helpers.tools.screen_files import SCREENS, RecordedScreens

LOG = "tests/data/shell/in/n431"
ROWS = 24
STEPS = (
    ("partitions of a broker", "partitions --broker 1 --leader --limit 4"),
    (
        "a condition",
        "partitions --where 'len(isr) < 2 and topic ~ \"^g\"' --sort -leader --limit 3",
    ),
    ("nothing", "partitions --where 'leader = 99'"),
    ("topics", "topics --limit 3"),
    ("brokers", "brokers"),
    ("configurations", "configs --sort -lastOffset --limit 3"),
    ("a loss", "what-if --lose-rack r1 --limit 3"),
    ("the spread", "skew"),
    ("records of a partition", "log /image/topics/byName/orders/3 --limit 2"),
    ("a wrong name", "topics --where 'replicaton < 3'"),
)


@pytest.mark.parametrize("columns", [40, 60, 80, 120, 200])
def test_tables_show_what_was_recorded(
    columns: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    recorded: RecordedScreens,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(REPOSITORY)
    name, renews = f"views-{columns}", request.config.getoption("--renew-screens")
    expected = [] if renews else (SCREENS / f"{name}.txt").read_text().split("\n=== ")
    seen = []
    command = (KRAFTOPS, "metadata-shell", "-s", LOG, "--at-offset", "300")
    environment = {"HOME": str(tmp_path), "PAGER": "cat"}
    with Emulator(*command, columns=columns, rows=ROWS, environment=environment) as terminal:
        terminal.wait_for("/>")
        for step, (title, line) in enumerate(STEPS):
            terminal.send(f"clear\r{line}\r")
            if renews:
                end = monotonic() + 2
                terminal.wait(lambda _, end=end: monotonic() > end)
            else:
                text = expected[step].partition("\n")[2].rstrip("\n")
                terminal.wait(lambda now, text=text: now.text.rstrip("\n") == text)
            seen.append(f"{title}\n{terminal.text.rstrip()}\n")
        terminal.send("quit\r")

        assert terminal.wait_for_end() == 0
    recorded.check(name, "\n=== ".join(seen).splitlines())
