"""Keys in the bytes that terminals send."""

import pytest

from kraftops_terminal.keys import keys_of


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"qS/ ", ["q", "S", "/", " "]),
        (b"\x1b[A\x1b[B\x1bOA\x1bOB", ["up", "down", "up", "down"]),
        (b"\x1b[5~\x1b[6~\x1b[H\x1b[F\x1b[1~\x1b[4~", ["page-up", "page-down", *["home", "end"] * 2]),
        (b"\r\n\x7f\b\x04", ["enter", "enter", "backspace", "backspace", "end-of-input"]),
        ("zürich日".encode(), [*"zürich日"]),
        (b"\x1b[1;5Ha\x1b[3~b\x1bOPc", ["home", "a", "b", "c"]),
        (b"\x1b[C\x1bOD\x1b[1;2C\x1b[1;3D", ["right", "left", "shift-right", "shift-left"]),
        (b"a\x00\x01\tb", ["a", "b"]),
        (b"\xffa", ["a"]),
        (b"\x1b\x1b[A", ["escape", "up"]),
    ],
)  # fmt: skip
def test_keys_have_names(data: bytes, keys: list[str]) -> None:
    assert keys_of(data, is_all=False) == (keys, b"")


@pytest.mark.parametrize("data", [b"\x1b[5~", "日".encode(), b"\x1bOA", b"\x1b[1;5A"])
def test_keys_may_come_byte_by_byte(data: bytes) -> None:
    whole, _ = keys_of(data, is_all=True)
    keys: list[str] = []
    rest = b""
    for byte in data:
        more, rest = keys_of(rest + bytes([byte]), is_all=False)
        keys += more

    assert (keys, rest) == (whole, b"")
    assert len(whole) == 1


def test_escape_is_a_key_when_nothing_follows() -> None:
    assert keys_of(b"\x1b", is_all=False) == ([], b"\x1b")
    assert keys_of(b"\x1b", is_all=True) == (["escape"], b"")
    assert keys_of("ü".encode()[:1], is_all=True) == ([], b"")
