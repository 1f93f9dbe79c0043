"""The file of settings: what it has, what is broken in it, and how it is written."""

import os
import stat
from pathlib import Path

import pytest

from kraftops_shell.session.settings import Settings
from kraftops_shell.session.settings_file import (
    SettingsFile,
    editing_mode_of,
    open_settings,
    settings_path,
)


def load(path: Path) -> tuple[Settings, str | None]:
    settings = Settings()
    return settings, SettingsFile(str(path)).load(settings)


def test_missing_file_is_empty(tmp_path: Path) -> None:
    assert load(tmp_path / "none") == (Settings(), None)


def test_broken_lines_are_one_line_and_the_others_count(tmp_path: Path) -> None:
    path = tmp_path / "conf"
    path.write_bytes(
        b"# mine\n\nset mouse on\nset mouse maybe\nalias a='ls\nalias b=ls\n\xff\nset x\n"
    )

    settings, problem = load(path)

    assert (settings.chosen, settings.aliases) == ({"mouse": "on"}, {"b": "ls"})
    assert problem == (
        f"{path}:4: mouse is off or on, not maybe; the line is left out, and so are 3 more"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "conf"
    path.touch(mode=0)

    assert load(path)[1] == f"{path}: Permission denied; it is left out"


def test_directory_is_one_line(tmp_path: Path) -> None:
    assert load(tmp_path)[1] == f"{tmp_path}: Is a directory; it is left out"


def test_change_keeps_all_other_lines_and_the_file_private(tmp_path: Path) -> None:
    path = tmp_path / "kraftops" / "conf"
    file = SettingsFile(str(path))
    file.keep_alias("a", "ls")
    path.write_text("# mine\nalias a=ls\nalias ab=pwd\nbroken '\n")

    file.keep_alias("a", "ls 'b c'")
    file.keep_setting("mouse", "on")
    file.keep_setting("mouse", "off")

    assert path.read_text() == (
        "# mine\nalias ab=pwd\nbroken '\nalias a='ls '\"'\"'b c'\"'\"''\nset mouse off\n"
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert load(path)[0].aliases["a"] == "ls 'b c'"
    assert os.listdir(path.parent) == ["conf"]


def test_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "conf").symlink_to(tmp_path / "elsewhere")

    SettingsFile(str(tmp_path / "conf")).keep_setting("mouse", "on")

    assert (tmp_path / "conf").is_symlink()
    assert (tmp_path / "elsewhere").read_text() == "set mouse on\n"


@pytest.mark.parametrize(
    ("environment", "path"),
    [
        ({"XDG_CONFIG_HOME": "/c", "HOME": "/h"}, "/c/kraftops/metadata-shell.conf"),
        ({"XDG_CONFIG_HOME": "c", "HOME": "/h"}, "/h/.config/kraftops/metadata-shell.conf"),
        ({"HOME": "/h"}, "/h/.config/kraftops/metadata-shell.conf"),
        ({}, None),
    ],
)
def test_path_is_that_of_xdg(environment: dict[str, str], path: str | None) -> None:
    assert settings_path(environment) == path


def test_editing_mode_is_that_of_readline(tmp_path: Path) -> None:
    (tmp_path / ".inputrc").write_text("# set editing-mode emacs\nset editing-mode vi\n")
    settings, _, _ = open_settings({"HOME": str(tmp_path)})

    assert settings.value("editing-mode") == "vi"
    assert editing_mode_of({"HOME": str(tmp_path), "INPUTRC": "/none"}) == "emacs"
    settings.chosen["editing-mode"] = "emacs"
    assert settings.value("editing-mode") == "emacs"
