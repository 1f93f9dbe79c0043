"""Runs of the metadata shell on a terminal, and on a dumb one."""

import os
import re
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.tools.our_shell import IMAGE, KRAFTOPS, SNAPSHOT, ours
from tests.helpers.tools.terminal_program import Screen


class Place:
    """A state directory, and terminals that use it."""

    def __init__(self, path: Path) -> None:
        self.history = path / "kraftops" / "metadata-shell-history"
        self._environment = {"XDG_STATE_HOME": str(path), "PAGER": ""}

    def screen(self, *args: str, term: str = "xterm", rows: int = 24, **environment: str) -> Screen:
        return Screen(
            KRAFTOPS,
            "metadata-shell",
            "-s",
            str(SNAPSHOT),
            *args,
            term=term,
            rows=rows,
            environment={**self._environment, **environment},
        )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "state")


def test_toolbar_shows_offset_and_source(place: Place) -> None:
    with place.screen() as screen:
        screen.wait_for(" offset 412  2026-11-21T10:49:04")
        assert ".checkpoint at offset 412" in screen.text
        assert "Try summary, help" in screen.text


def test_tab_completes_commands_flags_and_paths(place: Place) -> None:
    with place.screen() as screen:
        assert screen.run("pw\t\r") == "/\n"
        assert screen.run("cd /im\tto\tbyN\t\r") == ""
        assert screen.run("pwd\r") == "/image/topics/byName\n"
        assert screen.run("ls --so\tnat\tgr\t\r").split()[:3] == ["0", "1", "2"]
        screen.wait_for_editor()
        screen.clear()
        screen.send("ls a\t\t")
        assert "Aa" not in screen.wait_for("a/")


def test_tab_lists_completions(place: Place) -> None:
    with place.screen() as screen:
        screen.wait_for_editor()
        screen.clear()
        screen.send("ls /image/\t\t")
        screen.wait(lambda screen: all(name in screen.text for name in IMAGE.split()))


def test_history_file_outlives_the_session(place: Place) -> None:
    with place.screen() as screen:
        screen.run("cd /image\r")
        screen.run(" cd secret\r")
        screen.run("cd topics\r")
        screen.wait_for_editor()
        screen.send("\x04")
        assert screen.wait_for_end() == 0

    assert place.history.read_text() == "cd /image\ncd topics\n"
    assert stat.S_IMODE(place.history.stat().st_mode) == 0o600
    with place.screen() as screen:
        assert screen.run("\x1b[A\x1b[A\r") == ""
        assert screen.run("pwd\r") == "/image\n"
        assert screen.run("history 3\r") == "    2  cd /image\n    3  pwd\n    4  history 3\n"


def test_lines_are_not_kept_on_request(place: Place) -> None:
    with place.screen("--no-history") as screen:
        assert screen.run("pwd\r") == "/\n"
        assert screen.run("\x1b[A\r") == "/\n"

    assert not place.history.exists()


def test_missing_home_is_no_error() -> None:
    command = (KRAFTOPS, "metadata-shell", "-s", str(SNAPSHOT))
    with Screen(*command, environment={"XDG_STATE_HOME": "", "PAGER": ""}) as screen:
        assert screen.run("pwd\r") == "/\n"


def test_kafkas_form_keeps_no_history_file(place: Place) -> None:
    with place.screen("--format", "kafka") as screen:
        assert screen.run("pwd\r") == "/\n"

    assert not place.history.exists()


def test_ctrl_r_finds_earlier_lines(place: Place) -> None:
    with place.screen() as screen:
        screen.run("cd /image\r")
        screen.run("cd /local\r")
        screen.run("\x12imag\r\r")

        assert screen.run("pwd\r") == "/image\n"


def test_pasted_lines_are_run_one_by_one(place: Place) -> None:
    with place.screen() as screen:
        screen.wait_for_editor()
        screen.clear()
        screen.send("\x1b[200~cd /image\npwd\nls topics\x1b[201~\r")
        screen.wait_for("byId  byName  byState\n")
        assert "/> cd /image\n" in screen.text
        assert "/image> pwd\n/image\n/image> ls topics\n" in screen.text


def test_ctrl_c_abandons_a_line(place: Place) -> None:
    with place.screen() as screen:
        assert screen.run("cd /local\x03") == ""
        assert screen.run("pwd\r") == "/\n"


def test_ctrl_c_ends_a_command(place: Place) -> None:
    with place.screen() as screen:
        screen.wait_for_editor()
        screen.clear()
        screen.send("ls | (echo begun; sleep 100)\r")
        screen.wait_for("begun\n")
        screen.clear()
        screen.send("\x03")
        assert screen.run("pwd\r") == "/\n"


def test_ctrl_d_leaves(place: Place) -> None:
    with place.screen() as screen:
        screen.run("cat /nope\r")
        screen.wait_for_editor()
        screen.send("\x04")

        assert screen.wait_for_end() == 0


def test_leaves_are_coloured_and_indented(place: Place) -> None:
    with place.screen() as screen:
        screen.run("cat /image/cluster/brokers/1\r")

        assert '{\r\n  \x1b[1;34m"brokerId"\x1b[0m: \x1b[36m1\x1b[0m,\r\n' in screen.raw


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [((), {"NO_COLOR": "1"}), (("--color", "never"), {})],
    ids=["variable", "option"],
)
def test_colours_can_be_left_out(
    place: Place, arguments: tuple[str, ...], environment: dict[str, str]
) -> None:
    with place.screen(*arguments, **environment) as screen:
        screen.run("cat /image/cluster/brokers/1\r")

        assert '{\r\n  "brokerId": 1,\r\n' in screen.raw


def test_colours_can_be_asked_for() -> None:
    done = ours("--color", "always", "cat", "/image/topics/byName/grow/name", NO_COLOR="1")

    assert done.text == '\x1b[32m"grow"\x1b[0m\n'


def test_redirected_output_is_plain(place: Place) -> None:
    with place.screen() as screen:
        shown = screen.run("cat /image/provenance | cat\r")

        assert shown.startswith('{"offset":412,"epoch":1,')
        assert "\x1b[36m" not in screen.raw.partition("\x1b[?2004l")[2].partition("\x1b[6n")[0]


def test_tree_indents_values(place: Place) -> None:
    with place.screen("--color", "never") as screen:
        shown = screen.run("tree /image/cluster/brokers\r")

        assert shown.startswith('1:\n  {\n    "brokerId": 1,\n')


def test_names_cannot_move_the_cursor(tmp_path: Path, place: Place) -> None:
    name = "\x1b[2Jevil"
    with place.screen() as screen:
        shown = screen.run(f"ls '\x16{name[0]}{name[1:]}'\r")

        assert "\x1b[2J" not in screen.raw.partition("\x1b[?2004l")[2].partition("\x1b[6n")[0]
        assert "no such file" in shown


def test_columns_follow_the_terminal(place: Place) -> None:
    with place.screen() as screen:
        assert len(screen.run("ls /image\r").splitlines()) == 3
        screen.wait_for_editor()
        screen.resize(24, 40)
        assert len(screen.run("ls /image\r").splitlines()) == 7
        screen.wait_for_editor()
        screen.resize(24, 200)
        assert len(screen.run("ls /image\r").splitlines()) == 1


@pytest.mark.skipif(not shutil.which("less"), reason="there is no less here")
def test_long_output_goes_through_a_pager(place: Place) -> None:
    with place.screen(PAGER="less") as screen:
        assert screen.run("ls\r") == "image  local\n"  # short output does not
        screen.wait_for_editor()
        screen.clear()
        screen.send("find /\r")
        screen.wait_for("lines 1-23 q quits, h helps")
        assert "/image/acls" in screen.text
        assert "/local" not in screen.text
        screen.send("G")
        screen.wait_for("/local/version")
        screen.wait(lambda screen: re.search(r"lines \d+-(\d+) of \1 q quits", screen.text))
        screen.clear()
        screen.send("q")
        assert screen.run("pwd\r") == "/\n"


def test_pager_that_closes_its_input_ends_the_command(place: Place) -> None:
    with place.screen(PAGER="head -n 1") as screen:
        assert screen.run("find /\r") == "/\n"
        assert screen.run("pwd\r") == "/\n"


def test_errors_come_after_the_pager(place: Place) -> None:
    with place.screen(PAGER="sed s/^/P/", rows=5) as screen:
        shown = screen.run("ls -l /nope /image\r")

        assert shown.splitlines()[-1] == "ls: /nope: no such file or directory. [not-found]"
        assert all(line.startswith("P") for line in shown.splitlines()[:-1])


def test_empty_pager_variable_disables_paging(place: Place) -> None:
    with place.screen(PAGER="cat", rows=5) as screen:
        assert len(screen.run("find /image/features\r").splitlines()) > 5


def test_loading_shows_progress() -> None:
    """On a load that takes long."""
    code = (
        "import sys; from kraftops_cli import main; from kraftops_terminal.progress import Progress; "
        "Progress.__init__.__kwdefaults__['patience'] = 0; "
        "sys.argv[1:] = ['metadata-shell', '-s', sys.argv[1]]; main.kraftops()"
    )
    with Screen(sys.executable, "-c", code, str(SNAPSHOT)) as screen:
        screen.wait_for_editor()

        assert re.search(r"━+ +\d+%", screen.text)


def prompted(place: str) -> Callable[[Screen], bool]:
    return lambda screen: screen.text.endswith(f"{place}> ")


def test_dumb_terminal_works(place: Place) -> None:
    with place.screen(term="dumb", rows=5) as screen:
        screen.wait(prompted("/"))
        screen.send("cd /image\r")
        screen.wait(prompted("/image"))
        screen.clear()
        screen.send("ls\r")
        shown = screen.wait(prompted("/image"))
        assert shown.splitlines()[1:-1] == IMAGE.split()
        screen.send("cat provenance\r")
        screen.wait(prompted("/image"))
        assert "\x1b" not in screen.raw
        screen.send("\x04")

        assert screen.wait_for_end() == 0
    assert not place.history.exists()


def test_ctrl_c_abandons_a_line_on_a_dumb_terminal(place: Place) -> None:
    with place.screen(term="dumb") as screen:
        screen.wait(prompted("/"))
        screen.clear()
        screen.send("cd /image\x03")
        screen.wait(prompted("\n/"))
        screen.clear()
        screen.send("pwd\r")
        assert screen.wait(prompted("\n/")) == "pwd\n/\n/> "


def test_state_directory_may_be_read_only(tmp_path: Path) -> None:
    """Nothing is said of it."""
    if os.geteuid() == 0:
        (tmp_path / "state").write_text("no directory")
    else:
        (tmp_path / "state").mkdir(mode=0o500)
    with Place(tmp_path / "state").screen() as screen:
        assert screen.run("pwd\r") == "/\n"
