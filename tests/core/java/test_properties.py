"""Java's properties files: every rule of their syntax, and what is written is read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.errors import DecodeError
from kraftops.java.properties import Property, properties, properties_bytes


def read(data: bytes) -> dict[str, str]:
    return {key: found.value for key, found in properties(data).items()}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"", {}, id="empty file"),
        pytest.param(b"a=1", {"a": "1"}, id="equals"),
        pytest.param(b"a:1", {"a": "1"}, id="colon"),
        pytest.param(b"a 1", {"a": "1"}, id="blank"),
        pytest.param(b"a\t\f 1", {"a": "1"}, id="any blank"),
        pytest.param(b"a = 1", {"a": "1"}, id="blanks about the separator"),
        pytest.param(b"a==1", {"a": "=1"}, id="only one separator"),
        pytest.param(b"a : = 1", {"a": "= 1"}, id="the first separator counts"),
        pytest.param(b"a", {"a": ""}, id="no value"),
        pytest.param(b"=1", {"": "1"}, id="no key"),
        pytest.param(b"  \t a=1", {"a": "1"}, id="blanks before the key"),
        pytest.param(b"a=1  ", {"a": "1  "}, id="blanks at the end stay"),
        pytest.param(b"a=b c=d", {"a": "b c=d"}, id="separators in a value"),
        pytest.param(b"#a=1\n !b=2\n", {}, id="comments"),
        pytest.param(b"a=1#2", {"a": "1#2"}, id="no comment behind a value"),
        pytest.param(b"#a\\\nb=1", {"b": "1"}, id="a comment is not continued"),
        pytest.param(b"a=1\nb=2\rc=3\r\nd=4", dict(zip("abcd", "1234", strict=True)), id="ends"),
        pytest.param(b"\n\n \n\r\na=1", {"a": "1"}, id="blank lines"),
        pytest.param(b"a=1\na=2", {"a": "2"}, id="the last of a key counts"),
        pytest.param(b"a=1,\\\n   2,\\\r\n\t3", {"a": "1,2,3"}, id="continued"),
        pytest.param(b"a\\\n  b=1", {"ab": "1"}, id="a key continued"),
        pytest.param(b"a=1\\\n\nb=2", {"a": "1", "b": "2"}, id="continued by an empty line"),
        pytest.param(b"a=1\\\n#2", {"a": "1#2"}, id="continued by what looks like a comment"),
        pytest.param(b"a=1\\\\\nb=2", {"a": "1\\", "b": "2"}, id="an escaped backslash at the end"),
        pytest.param(b"a=1\\", {"a": "1"}, id="a backslash at the end of the file"),
        pytest.param(b"\\", {"": ""}, id="only a backslash"),
        pytest.param(b"a=1\n \\\n", {"a": "1", "": ""}, id="only a backslash in the last line"),
        pytest.param(b"\\\r\n", {}, id="only a backslash, and the line end of Windows"),
        pytest.param(b"\\\na=1", {"a": "1"}, id="only a backslash before a line"),
        pytest.param(b"\\\n#a=1", {}, id="only a backslash before a comment"),
        pytest.param(b"a\\=b\\:c\\ d=1", {"a=b:c d": "1"}, id="escaped separators"),
        pytest.param(b"a=\\t\\n\\r\\f", {"a": "\t\n\r\f"}, id="escaped controls"),
        pytest.param(b"a=\\b\\q\\\"\\'", {"a": "bq\"'"}, id="needless escapes"),
        pytest.param(b"a=\\  b", {"a": "  b"}, id="an escaped blank"),
        pytest.param(b"a=\\u0041\\u00E9\\u00e9", {"a": "Aéé"}, id="unicode escapes"),
        pytest.param(b"a=\\uD83D\\uDE00", {"a": "😀"}, id="a pair of surrogates"),
        pytest.param(b"a=\\uD83D", {"a": "\ud83d"}, id="half a pair"),
        pytest.param(b"\\u0041=1", {"A": "1"}, id="a unicode escape in a key"),
        pytest.param(b"a=\\U0041", {"a": "U0041"}, id="no unicode escape"),
        pytest.param(b"a=k\xf6ln", {"a": "köln"}, id="latin-1"),
        pytest.param("a=köln".encode(), {"a": "kÃ¶ln"}, id="UTF-8 is no latin-1"),
        pytest.param(b"a=1\x0b\x85\xa0\x1c2\nb=3", {"a": "1\x0b\x85\xa0\x1c2", "b": "3"}, id="odd"),
        pytest.param(b"a\x0b=1", {"a\x0b": "1"}, id="a vertical tab is no blank"),
        pytest.param(b"a=\x00", {"a": "\x00"}, id="nul"),
    ],
)
def test_syntax_is_javas(data: bytes, expected: dict[str, str]) -> None:
    assert read(data) == expected


@pytest.mark.parametrize("data", [b"a=\\u12", b"a=\\u", b"a=\\u12g4", b"\\ux=1", b"a=\\u 123"])
def test_malformed_unicode_escape_is_refused(data: bytes) -> None:
    with pytest.raises(DecodeError, match=r"line 2: Malformed \\uxxxx encoding\.") as refused:
        properties(b"b=1\n" + data)

    assert refused.value.message == "line 2: Malformed \\uxxxx encoding."


def test_property_knows_the_line_where_it_begins() -> None:
    found = properties(b"# comment\na=1\\\n  2\r\n\r\nb=3\ra=4")

    assert found == {"a": Property("a", "4", 6), "b": Property("b", "3", 5)}


def test_text_is_read_as_it_is() -> None:
    assert properties("a=köln€😀") == {"a": Property("a", "köln€😀", 1)}


_TEXT = st.text(st.sampled_from("ab =:#!\\\t\n\r\f\x01\x7fé€😀") | st.characters(), max_size=12)


@given(st.dictionaries(_TEXT, _TEXT, max_size=4))
def test_written_properties_are_read_back(values: dict[str, str]) -> None:
    data = properties_bytes(values.items(), ["a comment"])

    assert read(data) == values


@given(st.dictionaries(_TEXT, _TEXT, max_size=4))
def test_file_is_ascii_with_a_line_for_each_property(values: dict[str, str]) -> None:
    data = properties_bytes(values.items())

    assert data.isascii()
    assert data.count(b"\n") == len(values)


def test_written_lines_keep_their_order() -> None:
    data = properties_bytes([("b", " 1 2 "), ("a b", "x=y")], ["first", "second"])

    assert data == b"#first\n#second\nb=\\ 1 2 \na\\ b=x\\=y\n"


@given(st.binary(max_size=40))
def test_any_bytes_are_properties_or_refused(data: bytes) -> None:
    try:
        found = properties(data)
    except DecodeError:
        assert b"\\u" in data
    else:
        assert all(
            1 <= one.line <= data.count(b"\n") + data.count(b"\r") + 1 for one in found.values()
        )
