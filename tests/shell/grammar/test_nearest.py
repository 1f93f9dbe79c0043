"""Words that were meant by words with mistakes."""

import pytest

from kraftops_shell.grammar.nearest import distance, meant

KNOWN = ("cat", "cd", "diff", "find", "ls", "topics", "tree")


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("topcis", ["topics"]),
        ("topic", ["topics"]),
        ("sl", ["ls"]),
        ("caat", ["cat"]),
        ("t", ["topics", "tree"]),
        ("fnd", ["find"]),
        ("x", []),
        ("cxx", []),
        ("fxxd", ["find"]),
        ("", []),
        ("brokers", []),
    ],
)
def test_nearest_words_are_meant(word: str, words: list[str]) -> None:
    assert meant(word, KNOWN) == words


@pytest.mark.parametrize(
    ("one", "other", "steps"),
    [("abc", "abc", 0), ("", "ab", 2), ("abc", "acb", 1), ("abc", "axc", 1), ("ca", "abc", 3)],
)
def test_distance_counts_mistakes(one: str, other: str, steps: int) -> None:
    assert distance(one, other) == distance(other, one) == steps


def test_long_words_are_not_compared() -> None:
    assert meant("a" * 30_000, ["a" * 29_999]) == []  # minutes
