"""The commands changes and incidents."""

import pytest

from kraftops.errors import UsageError
from tests.helpers.project.json_schemas import problems
from tests.helpers.tools.corpus import DATA
from tests.helpers.tools.shell_session import Shell

LOG = DATA / "incidents/three/00000000000000000000.log"


@pytest.fixture(scope="module")
def shell() -> Shell:
    return Shell(LOG)


def offsets(shell: Shell, *words: str) -> list[int]:
    """Return the offsets of a table of changes."""
    return [int(line.split()[1]) for line in shell("changes", *words).lines[1:]]


def test_changes_are_within_a_span_of_offsets_or_times(shell: Shell) -> None:
    assert offsets(shell, "--since", "@252", "--until", "@253") == [252, 253]
    assert offsets(shell, "--since", "23:51:01", "--until", "23:51:20") == [252, 253]


def test_changes_end_where_the_session_stands() -> None:
    shell = Shell(LOG, at_offset=40)

    assert offsets(shell, "--kind", "broker,isr", "--since", "22") == [22, 40]


def test_flags_choose_changes(shell: Shell) -> None:
    assert offsets(shell, "--kind", "config", "--topic", "ord*") == [331]
    assert offsets(shell, "--where", "new ~ 'unclean'", "--topic", "single") == [80]


def test_json_is_as_of_the_command_of_kraftops(shell: Shell) -> None:
    for words in (["changes"], ["changes", "--group-by", "cause"], ["incidents"]):
        text = shell(*words, "--format", "json").out

        assert problems(f"metadata-shell-{words[0]}", text) == []


def test_incidents_are_lines(shell: Shell) -> None:
    lines = shell("incidents", "--since", "23:51:50").lines

    assert [line.split()[2] for line in lines[1:]] == ["bad-configuration", "fenced"]


def test_a_log_without_incidents_says_so(shell: Shell) -> None:
    assert shell("incidents", "--until", "@30").err[-1] == "incidents: the log has none"


@pytest.mark.parametrize("words", [("--kind", "colour"), ("--broker", "x"), ("--since", "soon")])
def test_wrong_values_are_refused(shell: Shell, words: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match="is not "):
        shell("changes", *words)
