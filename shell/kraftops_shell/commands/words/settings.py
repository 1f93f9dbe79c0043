"""The commands alias, unalias and set."""

import shlex
from collections.abc import Callable, Sequence

from kraftops_shell.grammar.arguments import Call
from kraftops_shell.grammar.nearest import meant, unknown
from kraftops_shell.session.session import FAILED, OK, Session
from kraftops_shell.session.settings import CHOICES, check_setting
from kraftops_shell.session.settings_file import SettingsFile, check_alias


def alias(session: Session, call: Call) -> int:
    """Print aliases, or make one; on a terminal it is kept for later sessions."""
    aliases = session.settings.aliases
    if not call.words:
        for name in sorted(aliases):
            session.line(_alias_line(name, aliases[name]))
        return OK
    name, equals, line = call.words[0].partition("=")
    if not equals and len(call.words) == 1:
        return _show(session, name)
    line = _line([*([line] if line else []), *call.words[1:]])
    check_alias(name, line)
    aliases[name] = line
    _keep(session, lambda file: file.keep_alias(name, line))
    return OK


def unalias(session: Session, call: Call) -> int:
    """Remove an alias."""
    name = call.words[0]
    if name not in session.settings.aliases:
        return _missing(session, "unalias", name)
    del session.settings.aliases[name]
    _keep(session, lambda file: file.keep_alias(name, None))
    return OK


def set_command(session: Session, call: Call) -> None:
    """Print settings, or change one; on a terminal it is kept for later sessions."""
    match call.words:
        case (name, value):
            check_setting(name, value)
            session.settings.chosen[name] = value
            _keep(session, lambda file: file.keep_setting(name, value))
        case _:
            width = max(map(len, CHOICES))
            for name, values in CHOICES.items():
                if name in call.words or not call.words:
                    value = session.settings.value(name)
                    session.line(f"{name:<{width}}  {value:<5}  ({' or '.join(sorted(values))})")
            if call.words and call.words[0] not in CHOICES:
                check_setting(call.words[0], "")


def _keep(session: Session, keep: Callable[[SettingsFile], None]) -> None:
    """Keep a change for later sessions, or say that it holds for this one."""
    if session.settings_file is None:
        return
    try:
        keep(session.settings_file)
    except OSError as error:
        session.err(f"{error.filename}: {error.strerror}; it holds for this session")


def _line(words: Sequence[str]) -> str:
    """Return the line of an alias: one word as it is, several quoted where they must be."""
    return "".join(words) if len(words) < 2 else " ".join([words[0], *map(shlex.quote, words[1:])])


def _show(session: Session, name: str) -> int:
    line = session.settings.aliases.get(name)
    if line is None:
        return _missing(session, "alias", name)
    session.line(_alias_line(name, line))
    return OK


def _alias_line(name: str, line: str) -> str:
    return f"alias {name}={shlex.quote(line)}"


def _missing(session: Session, command: str, name: str) -> int:
    near = meant(name, session.settings.aliases)
    session.print_error(f"{command}: {unknown('alias', name, near)}", code="not-found")
    return FAILED
