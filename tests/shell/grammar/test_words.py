"""Lines are split as by JLine; JLine 3.30.4 printed the expected words."""

import pytest

from kraftops_shell.grammar.words import tokens, words

SPLIT = {
    "": [],
    "  \t ": [],
    "ls /image": ["ls", "/image"],
    " ls\t/image ": ["ls", "/image"],
    "ls 'a b' \"c d\"": ["ls", "a b", "c d"],
    "ls 'a b'c d": ["ls", "a bc", "d"],
    "ls /im'ag'e": ["ls", "/im'ag'e"],
    "ls a'b c'd e": ["ls", "a'b c'd", "e"],
    "'a'\"b c\" d": ['a"b c"', "d"],
    "'a'b'c'": ["ab'c'"],
    "ls ''": ["ls"],
    'ls "" /local': ["ls", "/local"],
    "''a": ["a"],
    "ls 'a b": ["ls", "a b"],
    "ls a\\ b": ["ls", "a b"],
    "ls 'a\\'b'": ["ls", "a'b"],
    "ls 'a\\\\b'": ["ls", "a\\b"],
    "ls \\'a b\\'": ["ls", "'a", "b'"],
    "ls a\\": ["ls", "a"],
    "ls #a;b|c $d": ["ls", "#a;b|c", "$d"],
    "a\u2003b\u00a0c": ["a", "b\u00a0c"],
}


@pytest.mark.parametrize("line", SPLIT)
def test_words_are_those_of_jline(line: str) -> None:
    assert words(line) == SPLIT[line]


def test_open_quote_at_the_end_begins_a_word() -> None:
    assert words("ls '") == ["ls", ""]


@pytest.mark.parametrize(
    ("line", "places"),
    [
        pytest.param("ls  /image ", [(0, 2, ""), (4, 10, "")], id="blanks"),
        pytest.param("ls 'a b", [(0, 2, ""), (3, 7, "'")], id="open quote"),
        pytest.param("ls a\\ ", [(0, 2, ""), (3, 6, "")], id="blank that is none"),
        pytest.param("ls a'", [(0, 2, ""), (3, 5, "'")], id="quote within"),
    ],
)
def test_tokens_know_their_places(line: str, places: list[tuple[int, int, str]]) -> None:
    assert [(one.start, one.end, one.quote) for one in tokens(line)] == places
