"""Widths of text in columns."""

import pytest

from kraftops_terminal.widths import cut, width_of_text


@pytest.mark.parametrize(
    ("text", "width", "kept"),
    [
        ("orders", 6, "orders"),
        ("orders", 5, "orde…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("orders", 1, "…"),
        ("orders", 0, ""),
        ("orders", -3, ""),
        ("", 0, ""),
    ],
)
def test_text_is_cut_to_a_width(text: str, width: int, kept: str) -> None:
    assert cut(text, width) == kept
    assert width_of_text(kept) <= max(width, 0)
