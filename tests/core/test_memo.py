"""The bounded cache."""

import pytest

from kraftops import memo
from kraftops.memo import Memo


def test_each_value_is_made_once() -> None:
    made: list[bytes] = []
    texts: Memo[str] = Memo(lambda raw: made.append(raw) or raw.hex())  # type: ignore[func-returns-value]

    found = [texts[b"a"], texts[b"b"], texts[b"a"]]

    assert found == ["61", "62", "61"]
    assert made == [b"a", b"b"]


def test_number_of_entries_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo, "ENTRIES", 10)
    texts: Memo[str] = Memo(bytes.hex)

    for number in range(1000):
        assert texts[number.to_bytes(2)] == f"{number:04x}"
        assert len(texts) <= 10


def test_long_keys_are_not_kept() -> None:
    texts: Memo[str] = Memo(bytes.hex)
    longest, longer = bytes(memo.LONGEST_KEY), bytes(memo.LONGEST_KEY + 1)

    assert texts[longest] == longest.hex()
    assert texts[longer] == longer.hex()
    assert list(texts) == [longest]


def test_nothing_is_kept_of_what_cannot_be_made() -> None:
    texts: Memo[str] = Memo(bytes.decode)

    with pytest.raises(UnicodeDecodeError):
        texts[b"\xff"]

    assert not texts
