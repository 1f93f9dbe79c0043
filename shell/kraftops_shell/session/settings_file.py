"""The file that keeps settings and aliases for later sessions.

It has a line for each: `set NAME VALUE` or `alias NAME=LINE`, in the grammar of our form.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress

from kraftops.fileio.atomic import temporary_file
from kraftops.fileio.private import make_private_directories
from kraftops_shell.grammar.arguments import BadLineError
from kraftops_shell.grammar.syntax import read_line
from kraftops_shell.session.settings import Settings, check_setting

_FOLDER, _FILE = "kraftops", "metadata-shell.conf"
_ALIAS = re.compile(r"[\w?][\w.?-]*")
_FIXED = ("alias", "unalias")
_EDITING_MODE = re.compile(r"\s*set\s+editing-mode\s+(vi|emacs)\s*", re.IGNORECASE)


def check_alias(name: str, line: str) -> None:
    """Check an alias.

    Raises:
        BadLineError: its name or its line cannot be.
    """
    if not _ALIAS.fullmatch(name) or name in _FIXED:
        raise BadLineError(f"'{name}' cannot be the name of an alias")
    if "\n" in line or not read_line(line):
        raise BadLineError(f"there is no command in the alias {name}")


def settings_path(environment: Mapping[str, str]) -> str | None:
    """Return the path of the settings file; None without a configuration or home directory."""
    folder = environment.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(folder):  # the XDG specification ignores relative paths
        home = environment.get("HOME", "")
        if not os.path.isabs(home):
            return None
        folder = os.path.join(home, ".config")
    return os.path.join(folder, _FOLDER, _FILE)


def editing_mode_of(environment: Mapping[str, str]) -> str:
    """Return the editing mode of readline's configuration, which other shells have, too."""
    home = environment.get("HOME", "")
    path = environment.get("INPUTRC") or os.path.join(home, ".inputrc")
    mode = "emacs"
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if setting := _EDITING_MODE.fullmatch(line):
                mode = setting[1].lower()
    return mode


def open_settings(
    environment: Mapping[str, str],
) -> tuple[Settings, SettingsFile | None, str | None]:
    settings = Settings(editing_mode=editing_mode_of(environment))
    path = settings_path(environment)
    file = SettingsFile(path) if path else None
    return settings, file, file.load(settings) if file else None


class SettingsFile:
    """The file of settings, readable for its owner alone."""

    def __init__(self, path: str) -> None:
        """Use the file at *path*, which may not exist."""
        self._path = path

    def load(self, settings: Settings) -> str | None:
        """Add what the file has to *settings*; return why something was left out, if it was."""
        try:
            lines = self._lines()
        except FileNotFoundError:
            return None
        except OSError as error:
            return f"{self._path}: {error.strerror}; it is left out"
        problems: list[str] = []
        for number, line in enumerate(lines, 1):
            try:
                for command in read_line(line):
                    _take(settings, command.words)
            except BadLineError as error:
                problems.append(f"{self._path}:{number}: {error}; the line is left out")
        if len(problems) > 1:
            return f"{problems[0]}, and so are {len(problems) - 1} more"
        return problems[0] if problems else None

    def keep(self, *begin: str, line: str | None) -> None:
        """Replace the lines that begin with these words by *line*, or remove them.

        Raises:
            OSError: the file, which the error names, cannot be written; it is as it was.
        """
        path = os.path.realpath(self._path)  # a link stays one
        make_private_directories(os.path.dirname(path))
        lines = self._lines() if os.path.exists(path) else []
        kept = [kept_line for kept_line in lines if not _begins(kept_line, begin)] + (
            [line] if line else []
        )
        temporary = f"{path}.{os.getpid()}"
        with temporary_file(temporary, self._path, mode=0o600) as file:
            file.writelines(
                f"{kept_line}\n".encode("utf-8", "surrogateescape") for kept_line in kept
            )
        os.replace(temporary, path)

    def keep_setting(self, name: str, value: str) -> None:
        """Keep a setting; errors as `keep`."""
        self.keep("set", name, line=f"set {name} {value}")

    def keep_alias(self, name: str, line: str | None) -> None:
        """Keep an alias, or remove it; errors as `keep`."""
        self.keep("alias", f"{name}=", line=line and f"alias {name}={shlex.quote(line)}")

    def _lines(self) -> list[str]:
        with open(self._path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read().splitlines()


def _begins(line: str, begin: tuple[str, ...]) -> bool:
    """Tell whether a line has these first words; `NAME=` is the beginning of a word."""
    try:
        commands = read_line(line)
    except BadLineError:
        return False
    words = commands[0].words if len(commands) == 1 else []
    return len(words) >= len(begin) and all(
        word.startswith(start) if start.endswith("=") else word == start
        for word, start in zip(words, begin, strict=False)
    )


def _take(settings: Settings, words: list[str]) -> None:
    """Take a line of a settings file.

    Raises:
        BadLineError: it makes no sense.
    """
    match words:
        case ["set", name, value]:
            check_setting(name, value)
            settings.chosen[name] = value
        case ["alias", text] if "=" in text:
            name, _, line = text.partition("=")
            check_alias(name, line)
            settings.aliases[name] = line
        case _:
            raise BadLineError("it is neither set NAME VALUE nor alias NAME=LINE")
