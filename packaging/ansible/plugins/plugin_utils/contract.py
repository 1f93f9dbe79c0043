"""The command line of an action, and what Ansible is told of its answer, without Ansible."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Answer = Mapping[str, Any]
_NOTHING: Mapping[str, str] = {}
_OF_CLUSTER = {
    "bootstrap_server": "--bootstrap-server",
    "bootstrap_controller": "--bootstrap-controller",
    "command_config": "--command-config",
    "expect_cluster_id": "--expect-cluster-id",
    "stall_timeout": "--stall-timeout",
}
_NO_PROGRAM = 127
"""What a shell returns for a program that is not there."""
_TRY_AGAIN = 5
_UNKNOWN_OUTCOME = 6
_MOST_TEXT = 1000


class BadArgumentsError(Exception):
    """The task has wrong arguments; the message says which."""


def _says_changed(answer: Answer) -> bool:
    return bool(answer.get("changed"))


def _never_fails(answer: Answer, arguments: Mapping[str, Any]) -> str:
    del answer, arguments
    return ""


@dataclass(frozen=True)
class Action:
    """A command of kraftops, and its options by the names of arguments in a task."""

    words: tuple[str, ...]
    options: Mapping[str, str]
    required: tuple[str, ...]
    flags: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    """Options without a value, for arguments that are true or false."""
    always: tuple[str, ...] = ()
    in_check_mode: tuple[str, ...] = ()
    other_arguments: tuple[str, ...] = ()
    """Arguments that are for the plugin alone."""
    changes: Callable[[Answer], bool] = _says_changed
    would_change: Callable[[Answer], bool] = _says_changed
    """The same of the answer in check mode."""
    complaint: Callable[[Answer, Mapping[str, Any]], str] = _never_fails
    """Returns why the task fails, though the command has answered; else ""."""
    codes: frozenset[int] = frozenset({0})
    """Exit codes with which the complaint decides."""


def _findings_complaint(answer: Answer, arguments: Mapping[str, Any]) -> str:
    """Return the first finding that is worse than a note, and not allowed by the task."""
    allowed = _words(arguments.get("allow", []))
    serious = [
        finding
        for finding in answer["findings"]
        if finding["severity"] != "note" and finding["code"] not in allowed
    ]
    if not serious:
        return ""
    more = f" ({len(serious) - 1} more)" if len(serious) > 1 else ""
    return f"[{serious[0]['code']}] {serious[0]['text']}{more}"


def _moves_partitions(answer: Answer) -> bool:
    return bool(answer.get("partitions"))


def _has_nodes(answer: Answer) -> bool:
    return bool(answer.get("nodes"))


def _never_changes(answer: Answer) -> bool:
    del answer
    return False


FORMAT = Action(
    words=("storage", "format"),
    options={
        "config": "--config",
        "cluster_id": "--cluster-id",
        "initial_controllers": "--initial-controllers",
        "release_version": "--release-version",
        "scram_file": "--add-scram-file",
    },
    flags={"standalone": "--standalone", "no_initial_controllers": "--no-initial-controllers"},
    required=("config", "cluster_id"),
    always=("--ensure",),
    in_check_mode=("--dry-run",),
)
VERIFY = Action(
    words=("storage", "verify"),
    options={
        "config": "--config",
        "cluster_id": "--cluster-id",
        "release_version": "--release-version",
    },
    flags={"here": "--here"},
    required=("config",),
    other_arguments=("allow",),
    changes=_never_changes,
    complaint=_findings_complaint,
    codes=frozenset({0, 2}),
)
FACTS = Action(
    words=("storage", "info"),
    options={"config": "--config"},
    required=("config",),
    changes=_never_changes,
    codes=frozenset({0, 1, 2}),  # 1: a directory has a problem, which is among the facts
)
DECOMMISSION = Action(
    words=("cluster", "decommission"),
    options={**_OF_CLUSTER, "id": "--id", "throttle": "--throttle"},
    flags={"check_disks": "--check-disks"},
    required=("bootstrap_server", "id"),
    always=("--no-wait", "--yes"),
    in_check_mode=("--dry-run",),
    would_change=_moves_partitions,
)
RESTART = Action(
    words=("cluster", "restart"),
    options={
        **_OF_CLUSTER,
        "id": "--id",
        "hook": "--hook",
        "roles": "--roles",
        "at_once": "--at-once",
    },
    required=("bootstrap_server", "hook"),
    always=("--yes",),
    in_check_mode=("--dry-run",),
    would_change=_has_nodes,
)


def command_line(action: Action, arguments: Mapping[str, Any], *, is_check: bool) -> str:
    """Return the command line for the shell of the target.

    Raises:
        BadArgumentsError: an argument is unknown, or missing.
    """
    names = {*action.options, *action.flags, *action.other_arguments, "tree"}
    if unknown := sorted(set(arguments) - names):
        raise BadArgumentsError(
            f"unknown: {', '.join(unknown)}; there are {', '.join(sorted(names))}"
        )
    if missing := [name for name in action.required if not arguments.get(name)]:
        raise BadArgumentsError(f"missing: {', '.join(missing)}")
    tree = str(arguments.get("tree", ""))
    words = [f"{tree.rstrip('/')}/bin/kraftops" if tree else "kraftops", *action.words]
    for name, option in action.options.items():
        if arguments.get(name) is not None:  # with "=", as an id may begin with a dash
            words.append(f"{option}={','.join(_words(arguments[name]))}")
    words += [option for name, option in action.flags.items() if _is_true(arguments.get(name))]
    words += [*action.always, *(action.in_check_mode if is_check else ()), "--format=json"]
    return shlex.join(words)


def _words(argument: object) -> list[str]:
    """Return a list of an argument, which in a task may be one word."""
    parts = argument if isinstance(argument, list) else str(argument).split(",")
    return [str(part).strip() for part in parts]


def _is_true(argument: object) -> bool:
    return str(argument).lower() in ("true", "yes", "on", "1")  # Ansible leaves words as they are


def outcome(
    action: Action, arguments: Mapping[str, Any], completed: Mapping[str, Any], *, is_check: bool
) -> dict[str, Any]:
    """Return the result of a task.

    It has the answer as `answer`; of a failure the `code`, whether to `retry`, and whether the
    change was perhaps made: `is_outcome_unknown`.
    """
    status = int(completed["rc"])
    answer = _answer(str(completed["stdout"]))
    has_changed = (action.would_change if is_check else action.changes)(answer or {})
    told: dict[str, Any] = {"rc": status, "changed": has_changed, "answer": answer}
    if answer is None:
        said = f"{completed['stderr']}\n{completed['stdout']}".strip()[-_MOST_TEXT:]
        hint = "; copy the tree to the host, and name it in tree" if status == _NO_PROGRAM else ""
        return {**told, "failed": True, "msg": f"kraftops did not answer{hint}: {said}"}
    if "error" in answer or status not in action.codes:
        reasons = (answer.get("message", f"exit code {status}"), answer.get("hint"))
        return {
            **told,
            "failed": True,
            "msg": "; ".join(filter(None, reasons)),
            "code": answer.get("error", ""),
            "retry": status == _TRY_AGAIN,
            "is_outcome_unknown": status == _UNKNOWN_OUTCOME,
        }
    if complaint := action.complaint(answer, arguments):
        return {**told, "failed": True, "msg": complaint}
    return told


def _answer(output: str) -> Answer | None:
    """Return the object with the answer; a terminal may mix other lines with it."""
    for line in reversed(output.splitlines()):
        if line.startswith("{"):
            try:
                parsed = json.loads(line)
            except ValueError:
                continue
            if isinstance(parsed, dict) and "formatVersion" in parsed:
                return parsed
    return None
