import pytest

from kraftops.errors import UsageError
from kraftops.wire.net.addresses import Address, Bootstrap, parse_bootstrap


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a:1", [("a", 1, None)], id="one"),
        pytest.param(" a:1 , b:2,", [("a", 1, None), ("b", 2, None)], id="blanks"),
        pytest.param("PLAINTEXT://a:1", [("a", 1, None)], id="url"),
        pytest.param("3@a:1,4@b:2", [("a", 1, 3), ("b", 2, 4)], id="voters"),
        pytest.param("3@a:1:JEXY6aqzQY-32P5TStzaFg", [("a", 1, 3)], id="voters of KIP-853"),
        pytest.param("[::1]:9092", [("::1", 9092, None)], id="IPv6"),
        pytest.param("a:1,a:1", [("a", 1, None)], id="twice"),
    ],
)
def test_list_is_read(text: str, expected: list[tuple[str, int, int | None]]) -> None:
    assert parse_bootstrap(text) == [Bootstrap(Address(h, p), i) for h, p, i in expected]


@pytest.mark.parametrize("text", ["", " ", ",", "a", "a:", "a:x", ":1", "a:0", "a:65536", "a b:1"])
def test_malformed_list_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_bootstrap(text)

    assert "\n" not in refused.value.message


def test_ipv6_address_is_shown_in_brackets() -> None:
    assert str(Address("::1", 9092)) == "[::1]:9092"
