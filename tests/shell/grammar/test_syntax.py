"""Lines in our form: words, pipes and redirection."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops_shell.grammar.arguments import BadLineError
from kraftops_shell.grammar.syntax import read_line, scan


@pytest.mark.parametrize(
    ("line", "words"),
    [
        pytest.param("", [], id="empty"),
        pytest.param("ls /image", ["ls", "/image"], id="blanks"),
        pytest.param("ls ''", ["ls", ""], id="empty word"),
        pytest.param("ls /im'ag'e", ["ls", "/image"], id="quotes within"),
        pytest.param(r"cat 'a\/b'", ["cat", r"a\/b"], id="single quotes"),
        pytest.param(r'cat "a\/b \" \\ "', ["cat", 'a\\/b " \\ '], id="double quotes"),
        pytest.param(r"cat a\\/b\ c", ["cat", r"a\/b c"], id="backslashes"),
        pytest.param("cat a\\", ["cat", "a\\"], id="backslash at the end"),
        pytest.param("grep 'a|b>c' \"d|e\"", ["grep", "a|b>c", "d|e"], id="operators in quotes"),
        pytest.param("ls $HOME\\;x !1 #a", ["ls", "$HOME;x", "!1", "#a"], id="no others"),
    ],
)
def test_words_are_those_of_other_shells(line: str, words: list[str]) -> None:
    found = read_line(line)

    assert [one.words for one in found] == ([words] if words else [])
    assert not any(one.operator for one in found)


@pytest.mark.parametrize(
    ("line", "words", "program", "file"),
    [
        pytest.param("ls|wc -l", ["ls"], "wc -l", "", id="program"),
        pytest.param("ls | grep 'a|b' | wc", ["ls"], "grep 'a|b' | wc", "", id="several"),
        pytest.param("ls | cat > x", ["ls"], "cat > x", "", id="its own file"),
        pytest.param("ls /a >out", ["ls", "/a"], "", "out", id="file"),
        pytest.param("ls >> 'my file'", ["ls"], "", "my file", id="append"),
        pytest.param("ls>a\\ b", ["ls"], "", "a b", id="escaped name"),
    ],
)
def test_output_goes_elsewhere(line: str, words: list[str], program: str, file: str) -> None:
    (found,) = read_line(line)

    assert (found.words, found.filter, found.file) == (words, program, file)


def test_one_sign_replaces_and_two_add() -> None:
    assert read_line("ls > a")[0].operator == ">"
    assert read_line("ls >> a")[0].operator == ">>"


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("pwd; ls /", [["pwd"], ["ls", "/"]]),
        (";; pwd;;", [["pwd"]]),
        ("ls ';' \\;", [["ls", ";", ";"]]),
        ("ls > a; pwd", [["ls"], ["pwd"]]),
        ("ls | head; pwd", [["ls"]]),
        ("# pwd; ls", []),
        ("  #", []),
    ],
)
def test_semicolons_separate_commands(line: str, commands: list[list[str]]) -> None:
    assert [one.words for one in read_line(line)] == commands


def test_command_behind_a_file_is_no_part_of_its_name() -> None:
    assert [one.file for one in read_line("ls > a; pwd")] == ["a", ""]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param("ls 'a", "there is no closing '", id="single quote"),
        pytest.param('ls "a\\"', 'there is no closing "', id="double quote"),
        pytest.param("ls > 'a", "there is no closing '", id="quote of a file"),
        pytest.param("ls | a\0", "there is a NUL character in the line", id="NUL"),
        pytest.param("ls |", "there is no command after |", id="no program"),
        pytest.param(" | wc", "there is no command before |", id="nothing to send"),
        pytest.param("> a", "there is no command before >", id="nothing to write"),
        pytest.param("ls >", "one file, and nothing else, belongs after >", id="no file"),
        pytest.param("ls > ''", "one file, and nothing else, belongs after >", id="empty file"),
        pytest.param("ls >> a b", "one file, and nothing else, belongs after >>", id="two files"),
        pytest.param("ls > a | wc", "one file, and nothing else, belongs after >", id="both"),
    ],
)
def test_lines_that_make_no_sense_are_refused(line: str, reason: str) -> None:
    with pytest.raises(BadLineError) as refused:
        read_line(line)

    assert str(refused.value) == reason


@given(st.text("ab '\"\\\t/", max_size=12))
def test_words_are_those_of_posix(line: str) -> None:
    """Where those make sense at all."""
    try:
        expected = shlex.split(line)
    except ValueError:
        return

    assert scan(line).words == expected
