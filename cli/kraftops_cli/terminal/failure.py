"""Failure of a command: lines on standard error, an object for programs, and the exit code."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kraftops.errors import CODES, KraftopsError

if TYPE_CHECKING:
    from kraftops_cli.terminal.streams import Terminal

KAFKAS_CASES = frozenset(
    {
        "broker-has-replicas",
        "broker-not-registered",
        "broker-not-visible",
        "broker-running",
        "holds-data",
        "no-answer",
        "no-leader",
        "not-found",
    }
)
"""Codes of cases that Kafka's tools have, too: a refusal or failure ends with 1."""
_KAFKAS_EXIT_CODE = 1
_PASSWORD = re.compile(r"(?<=://)([^\s/@:]*):[^\s/@]+(?=@)")
_JSON = re.compile(r"--?form(?:at?)?(=(?:nd)?json)?")


@dataclass(frozen=True, slots=True)
class Failure:
    """An error for people and programs; *known* are further fields of its JSON object."""

    code: str
    message: str
    hint: str | None = None
    known: Mapping[str, object] = field(default_factory=dict)
    exit_code: int = 1


def failure_of(error: KraftopsError) -> Failure:
    return Failure(error.code, error.message, error.hint, error.known, error.exit_code)


def usage_failure(message: str, hint: str) -> Failure:
    return Failure("usage", message, hint, exit_code=CODES["usage"].exit_code)


def fail(terminal: Terminal, failure: Failure) -> int:
    """Print a failure, without passwords of URIs in it; return the exit code."""
    known = {
        name: _without_passwords(value) if isinstance(value, str) else value
        for name, value in failure.known.items()
    }
    redacted = replace(failure, message=_without_passwords(failure.message), known=known)
    terminal.error(redacted.message, redacted.hint, redacted.code)
    return conclude(terminal, redacted)


def code_with_skipped(code: int, skipped: Sequence[KraftopsError]) -> int:
    """Return the exit code of a command that skipped members of archives: damage hides data."""
    if not skipped:
        return code
    from kraftops.findings.finding import HAS_FINDINGS
    from kraftops.log.reader import DamagedArchive

    is_damaged = any(isinstance(error, DamagedArchive) for error in skipped)
    return max(code, HAS_FINDINGS if is_damaged else 1)


def _without_passwords(text: str) -> str:
    return _PASSWORD.sub(r"\1:…", text)


def conclude(terminal: Terminal, failure: Failure) -> int:
    """End with a failure that people have read already; return the exit code.

    With `--format json`, it is reported in the answer, or in an object after the rows of a dump:
    `error`, `message`, `hint`, and what is known. There is no field `file`, which rows have.
    """
    assert "file" not in failure.known
    if terminal.is_json:
        fields = {"error": failure.code, "message": failure.message, "hint": failure.hint}
        terminal.end_answer({**fields, **failure.known})
    elif terminal.has_kafkas_form and failure.code in KAFKAS_CASES:
        return _KAFKAS_EXIT_CODE
    return failure.exit_code


def asks_for_json(args: Sequence[str]) -> bool:
    """Tell whether arguments ask for JSON, also those that cannot be parsed."""
    for number, argument in enumerate(args):
        if argument == "--":
            return False
        match = _JSON.fullmatch(argument)
        if match and (match[1] or {"json", "ndjson"} & {*args[number + 1 : number + 2]}):
            return True
    return False
