import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.errors import DecodeError
from kraftops.wire.config.jaas import parse_login


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            'a.B required user="x" password="y";', {"user": "x", "password": "y"}, id="two"
        ),
        pytest.param("a.B required user='x';", {"user": "x"}, id="single quotes"),
        pytest.param("a.B required user=x-1 ;", {"user": "x-1"}, id="word"),
        pytest.param('a.B required user = "x" ;', {"user": "x"}, id="blanks"),
        pytest.param('a.B required p="a\\"b\\\\c;=";', {"p": 'a"b\\c;='}, id="escapes"),
        pytest.param('a.B required p="\\101";', {"p": "A"}, id="octal"),
        pytest.param("a.B REQUIRED;", {}, id="none"),
    ],
)
def test_login_is_read(text: str, expected: dict[str, str]) -> None:
    login = parse_login(text)

    assert login.module == "a.B"
    assert login.options == expected


@pytest.mark.parametrize(
    "text",
    ["", "a.B", "a.B required", 'a.B needed u="x";', 'a.B required u="x"', 'a.B required "x;',
     "a.B required u;", "a.B required u=;", "a.B required; c.D required;"],
)  # fmt: skip
def test_malformed_login_is_refused(text: str) -> None:
    with pytest.raises(DecodeError):
        parse_login(text)


@given(st.text(max_size=40))
def test_refusal_quotes_no_text(secret: str) -> None:
    """It may be a password."""
    with pytest.raises(DecodeError) as refused:
        parse_login(f"a.B required password={secret}x")

    assert "password" not in refused.value.message
