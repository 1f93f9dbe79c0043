"""The request of a run of the metadata shell."""

from dataclasses import replace
from pathlib import Path

import pytest

from kraftops_cli.live.options import QuorumOptions
from kraftops_cli.metadata_shell import request
from kraftops_cli.metadata_shell.request import ShellRequest

NOW = 1_000_000
AT = ShellRequest(
    "log",
    ("at", "@300", "ls", "-l", "/"),
    is_kafka=False,
    quorum=None,
    at_offset=None,
    at_time=None,
    dialect="kafka",
    show_secrets=False,
    follow=False,
    keeps_history=True,
)

QUORUM = QuorumOptions(controllers="c:1")


@pytest.mark.parametrize(
    ("moment", "offset", "time"),
    [("@300", 300, None), ("-1s", None, NOW - 1000), ("now", None, None)],
)
def test_a_command_at_a_moment_reads_that_state_alone(
    moment: str, offset: int | None, time: int | None
) -> None:
    request = replace(AT, words=("at", moment, *AT.words[2:]))

    found = request.read_at_once(NOW)

    assert found == replace(AT, words=("ls", "-l", "/"), at_offset=offset, at_time=time)


@pytest.mark.parametrize(
    "request_",
    [
        replace(AT, words=("at", "@300")),
        replace(AT, words=("at", "xyz", "ls")),
        replace(AT, words=("at", "--format", "json")),
        replace(AT, words=("ls", "@300", "/")),
        replace(AT, at_offset=10),
        replace(AT, follow=True),
        replace(AT, is_kafka=True),
        replace(AT, quorum=QUORUM),
    ],
)
def test_other_requests_stay_as_they_are(request_: ShellRequest) -> None:
    assert request_.read_at_once(NOW) is request_


@pytest.mark.parametrize(
    ("request_", "on_terminal", "follows"),
    [
        (replace(AT, words=()), True, True),
        (replace(AT, words=("browse",)), True, True),
        (replace(AT, words=()), False, False),
        (replace(AT, words=("ls",)), True, False),
        (replace(AT, words=(), at_time=1), True, False),
        (replace(AT, words=(), is_kafka=True), True, False),
        (replace(AT, words=(), source="-"), True, False),
        (replace(AT, words=(), source="s3://bucket/log"), True, False),
    ],
)
def test_a_session_on_a_terminal_follows_files(
    request_: ShellRequest,
    on_terminal: bool,
    follows: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / AT.source).touch()
    monkeypatch.setattr(request, "is_terminal", lambda _: on_terminal)

    assert request_.is_kept_current is follows


@pytest.mark.parametrize(
    ("request_", "follows"),
    [
        (replace(AT, words=(), quorum=QUORUM), True),
        (replace(AT, words=("ls",), quorum=QUORUM), False),
        (replace(AT, words=(), quorum=QUORUM, at_offset=10), False),
        (replace(AT, words=()), False),
        (replace(AT, words=("ls",), follow=True), True),
    ],
)
def test_a_session_with_a_running_quorum_follows_it(request_: ShellRequest, follows: bool) -> None:
    assert request_.is_kept_current is follows
