"""Aliases and settings, as words of a session."""

from pathlib import Path

import pytest

from kraftops_shell.run import run_line
from kraftops_shell.session.session import Session
from kraftops_shell.session.settings import Settings
from kraftops_shell.session.settings_file import SettingsFile
from tests.helpers.tree.small_trees import Written, session


@pytest.fixture
def shell(tmp_path: Path) -> tuple[Session, Written, Written]:
    one, out, err = session({"image": {"a": 1}})
    one.settings_file = SettingsFile(str(tmp_path / "conf"))
    return one, out, err


def kept(tmp_path: Path) -> Settings:
    settings = Settings()
    assert SettingsFile(str(tmp_path / "conf")).load(settings) is None
    return settings


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["x=ls -l | head"], "ls -l | head"),
        (["x", "ls", "a b"], "ls 'a b'"),
        (["x=grep", "it's", "/image"], """grep 'it'"'"'s' /image"""),
        (["x=ls", "-l", "--", "-h"], "ls -l -- -h"),
    ],
)
def test_alias_is_made_and_kept(
    words: list[str], line: str, shell: tuple[Session, Written, Written], tmp_path: Path
) -> None:
    one, out, _ = shell

    assert run_line(one, ["alias", *words]) == 0

    assert one.settings.aliases == kept(tmp_path).aliases == {"x": line}
    run_line(one, ["alias"])
    assert out.text.startswith("alias x=")


def test_alias_is_removed(shell: tuple[Session, Written, Written], tmp_path: Path) -> None:
    one, _, err = shell
    for word in ("x=ls", "xy=pwd"):
        run_line(one, ["alias", word])

    assert run_line(one, ["unalias", "x"]) == 0
    assert one.settings.aliases == kept(tmp_path).aliases == {"xy": "pwd"}
    assert run_line(one, ["unalias", "x"]) == 1
    assert err == ["unalias: there is no alias x: did you mean xy? [not-found]"]


@pytest.mark.parametrize(
    "word", ["a b=ls", "=ls", "alias=ls", "x=", "x=;", "x='", "-l=ls", "x=a\nb"]
)
def test_alias_that_cannot_be_is_refused(
    word: str, shell: tuple[Session, Written, Written], tmp_path: Path
) -> None:
    one, _, err = shell

    assert run_line(one, ["alias", "--", word]) == 1

    assert (one.settings.aliases, len(err) >= 1) == ({}, True)
    assert not (tmp_path / "conf").exists()


def test_setting_is_changed_and_kept(
    shell: tuple[Session, Written, Written], tmp_path: Path
) -> None:
    one, out, err = shell

    run_line(one, ["set", "editing-mode", "vi"])
    run_line(one, ["set", "editing-mode"])

    assert one.settings.value("editing-mode") == kept(tmp_path).value("editing-mode") == "vi"
    assert out.text == "editing-mode  vi     (emacs or vi)\n"
    assert run_line(one, ["set", "editing-mode", "ed"]) == 1
    assert err == ["editing-mode is emacs or vi, not ed [usage]"]
    assert run_line(one, ["set", "colour"]) == 1
    assert "there is no setting colour" in err[-1]


def test_what_cannot_be_kept_holds_for_the_session(
    shell: tuple[Session, Written, Written], tmp_path: Path
) -> None:
    one, _, err = shell
    (tmp_path / "file").touch()
    one.settings_file = SettingsFile(str(tmp_path / "file" / "conf"))

    assert run_line(one, ["alias", "x=ls"]) == run_line(one, ["set", "mouse", "on"]) == 0

    assert (one.settings.aliases, one.settings.value("mouse")) == ({"x": "ls"}, "on")
    assert len(err) == 2
    assert all(line.endswith("it holds for this session") for line in err)


def test_settings_are_listed(shell: tuple[Session, Written, Written]) -> None:
    one, out, _ = shell

    run_line(one, ["set"])

    assert "mouse         off    (off or on)\n" in out.text
