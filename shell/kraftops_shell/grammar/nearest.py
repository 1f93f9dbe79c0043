"""The word that was probably meant by an unknown word."""

from collections.abc import Iterable, Sequence


def unknown(kind: str, name: str, near: Sequence[str]) -> str:
    """Return the text about a name that does not exist, with those that may be meant."""
    hint = f": did you mean {' or '.join(near)}?" if near else ""
    return f"there is no {kind} {name}{hint}"


def meant(word: str, vocabulary: Iterable[str]) -> list[str]:
    """Return the known words that are *word* in another case, that begin with it, or the nearest.

    A word of up to 3 letters may have 1 mistake, others 2; a letter too much or too few, another
    letter, or two letters in the wrong order is a mistake.
    """
    words = sorted(vocabulary)
    same = [candidate for candidate in words if candidate.casefold() == word.casefold()]
    if same:
        return same
    begun = [candidate for candidate in words if word and candidate.startswith(word)]
    if begun:
        return begun
    most = 1 if len(word) <= _SHORT else 2
    near = {
        candidate: distance(word, candidate)
        for candidate in words
        if abs(len(candidate) - len(word)) <= most and 1 < len(word) <= _LONG
    }
    least = min(near.values(), default=most + 1)
    return [candidate for candidate, steps in near.items() if steps == least <= most]


_SHORT = 3  # characters of a word in which two slips would leave nothing of it
_LONG = 100  # characters of a word that nobody types: mistakes take the square of them


def distance(word: str, target: str) -> int:
    """Return the number of mistakes between two words (optimal string alignment)."""
    before: list[int] = []
    last = list(range(len(target) + 1))
    for row, letter in enumerate(word, 1):
        present = [row]
        for column, target_letter in enumerate(target, 1):
            cost = min(
                last[column] + 1, present[-1] + 1, last[column - 1] + (letter != target_letter)
            )
            is_swap = (
                before
                and column > 1
                and letter == target[column - 2]
                and word[row - 2] == target_letter
            )
            present.append(min(cost, before[column - 2] + 1) if is_swap else cost)
        before, last = last, present
    return last[-1]
