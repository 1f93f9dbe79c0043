"""Failures: lines for people, an object for programs, and exit codes."""

import io
import json

import pytest

from kraftops.errors import AnswerError, KraftopsError, RefusedError, SourceError
from kraftops_cli.terminal.failure import asks_for_json, fail, failure_of
from tests.helpers.logs.segments import IN
from tests.helpers.project.json_schemas import problems
from tests.helpers.tools.console import (
    CLUSTER,
    DUMP_LOG,
    METADATA_SHELL,
    STORAGE,
    Done,
    MemoryTerminal,
    run_here,
)
from tests.helpers.tools.fake_cluster import cluster
from tests.helpers.wire.peers import free_port


def failed(error: KraftopsError, *, is_json: bool, kafkas: bool = False) -> Done:
    out, err = io.BytesIO(), io.StringIO()
    terminal = MemoryTerminal("tool", out, is_json=is_json)
    terminal.command, terminal.has_kafkas_form = "work", kafkas
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr", err)
        code = fail(terminal, failure_of(error))
    terminal.flush()
    return Done(code, out.getvalue(), err.getvalue())


def test_failure_is_a_line_and_with_json_an_object() -> None:
    error = SourceError("cannot read 0.log", "chmod", path="0.log", position=7)

    text, data = failed(error, is_json=False), failed(error, is_json=True)
    kafkas = failed(error, is_json=False, kafkas=True)

    assert text.out == b""
    assert text.err == data.err == "tool: cannot read 0.log [unreadable]\nhint: chmod\n"
    assert kafkas.err == "tool: cannot read 0.log\nhint: chmod\n"
    assert json.loads(data.text) == {
        "command": "work",
        "formatVersion": 2,
        "error": "unreadable",
        "message": "cannot read 0.log",
        "hint": "chmod",
        "path": "0.log",
        "position": 7,
    }
    assert problems("tool", data.text) == []


def test_row_is_never_taken_for_a_failure() -> None:
    """A row of a dump has `error`, too, but also `file`."""
    with pytest.raises(AssertionError):
        failed(SourceError("x", file="0.log"), is_json=True)


@pytest.mark.parametrize(
    ("error", "ours", "kafkas"),
    [
        (AnswerError("x", error_code=102), 4, 1),
        (SourceError("x", code="not-found"), 4, 1),
        (SourceError("x"), 1, 1),
        (RefusedError("x"), 3, 3),
    ],
)
def test_kafkas_form_keeps_codes_of_cases_that_kafka_has(
    error: KraftopsError, ours: int, kafkas: int
) -> None:
    assert failed(error, is_json=False).code == ours
    assert failed(error, is_json=False, kafkas=True).code == kafkas
    assert failed(error, is_json=True, kafkas=True).code == ours


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ("info --format json", True),
        ("info --form=json", True),
        ("-format json", True),
        ("--format text", False),
        ("--format", False),
        ("find -- --format json", False),
        ("metadata-shell -s LOG topics --format json", True),
        ("json --formatted json", False),
    ],
)
def test_json_is_asked_for(arguments: str, asked: bool) -> None:
    assert asks_for_json(arguments.split()) is asked


@pytest.mark.parametrize(
    ("program", "arguments", "command", "error"),
    [
        (CLUSTER, "describe --format json", "describe", "usage"),
        (CLUSTER, "--format json", "kafka-cluster", "usage"),
        (STORAGE, "info -c none.properties --format json", "info", "not-found"),
        (STORAGE, "verify --format json -c none.properties", "verify", "not-found"),
        (DUMP_LOG, "--format json", "dump-log", "usage"),
        (DUMP_LOG, "--format json --no-such-option", "dump-log", "usage"),
        (DUMP_LOG, "--format json --summary none.log", "summary", "not-found"),
        (DUMP_LOG, "--format json --check none.log", "check", "not-found"),
    ],
)
def test_every_tool_fails_in_json(program: str, arguments: str, command: str, error: str) -> None:
    done = run_here(*arguments.split(), program=program)

    last = json.loads(done.text.splitlines()[-1])
    assert (last["command"], last["error"]) == (command, error)
    assert done.errors[0].endswith(f"{last['message']} [{error}]")
    assert done.code == {"usage": 1, "not-found": 4}[error]


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        ("stat /image/none /image/topics --format json", (1, "not-found")),
        ("stat /image/topics --format json", (0, None)),
        ("stat --no-such-flag --format json", (1, "usage")),
    ],
)
def test_command_of_the_shell_fails_in_json(words: str, codes: tuple[int, str | None]) -> None:
    source = str(IN / "meta/00000000000000000391-0000000001.checkpoint")
    done = run_here("-s", source, "--format", "json", *words.split(), program=METADATA_SHELL)

    *_, last = done.text.splitlines()
    assert (done.code, json.loads(last).get("error")) == codes
    assert (json.loads(last).get("message", "") in done.err) or not codes[0]


def test_nobody_who_answers_is_5_but_under_kafkas_form() -> None:
    with free_port() as port:
        place = ("-b", f"localhost:{port}")
        assert cluster("cluster-id", *place).code == 1
        assert cluster("describe", *place).code == 5
        done = cluster("cluster-id", *place, "--format", "json")

    assert done.code == 5
    assert json.loads(done.text)["address"] == f"localhost:{port}"
