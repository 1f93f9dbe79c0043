"""`kraftops completions install`: files where the user's shell looks for them."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from kraftops_cli.completions import SHELLS
from tests.helpers.project.imports import REPOSITORY as ROOT
from tests.helpers.tools.console import KRAFTOPS, Done, run_here

FOLDERS = {
    "bash": ".local/share/bash-completion/completions",
    "zsh": ".local/share/zsh/site-functions",
    "fish": ".config/fish/completions",
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return an empty home directory, with an install from this tree."""
    prefix = tmp_path / "prefix"
    for name, shell in SHELLS.items():
        shutil.copytree(ROOT / "completions" / name, prefix / shell.shared)
        (prefix / shell.shared / "other").write_text("of another program\n")
    for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "SHELL"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with patch("sys.prefix", str(prefix)):
        yield tmp_path / "home"


def install(*args: str) -> Done:
    return run_here("completions", "install", *args, program=KRAFTOPS)


@pytest.mark.parametrize("shell", FOLDERS)
def test_files_are_where_the_shell_looks(
    home: Path, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    folder = home / FOLDERS[shell]

    done = install()

    sources = {path.name: path.read_text() for path in (ROOT / "completions" / shell).iterdir()}
    assert (done.code, done.err) == (0, "")
    assert {path.name: path.read_text() for path in folder.iterdir()} == sources
    lines = done.text.splitlines()
    assert lines[: len(sources)] == sorted(str(folder / name) for name in sources)
    assert len(lines) > len(sources)  # how they are loaded
    assert install("--shell", shell).code == 0  # again


def test_bash_runs_the_line_that_loads_them(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "a place"))

    line = install("--shell", "bash").text.splitlines()[-1]

    told = subprocess.run(
        ["bash", "--norc", "-c", f"{line}\ncomplete -p kraftops"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "complete -F _kraftops kraftops\n"


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"SHELL": "/bin/dash"}, "there are no completions for dash"),
        ({}, "SHELL is not set"),
        ({"SHELL": "/bin/zsh", "HOME": ""}, "HOME is not set"),
    ],
)
def test_what_cannot_be_known_is_refused(
    environment: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in environment.items():
        monkeypatch.setenv(name, text)

    done = install()

    assert (done.code, done.errors[0]) == (1, f"kraftops: {message} [usage]")


def test_a_file_of_the_user_stays(home: Path) -> None:
    theirs = home / FOLDERS["fish"] / "kraftops.fish"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("# mine\n")

    done = install("--shell", "fish")

    assert (done.code, done.text) == (3, "")
    assert "is not kraftops'" in done.errors[0]
    assert [path.name for path in theirs.parent.iterdir()] == ["kraftops.fish"]
    assert theirs.read_text() == "# mine\n"


def test_an_install_without_them_says_so(tmp_path: Path) -> None:
    with (
        patch("sys.prefix", str(tmp_path / "bare")),
        patch("site.getuserbase", lambda: str(tmp_path / "none")),
    ):
        done = install("--shell", "zsh")

    assert done.code == 4
    assert "has no completions in" in done.errors[0]
