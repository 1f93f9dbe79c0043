"""Patterns for a component of a path, as in Kafka's shell (`GlobComponent`).

`?` matches one character, `*` any number, `{a,b}` one of several; a backslash escapes a character.
In our form `[a-c]` matches one of some characters and `[!a]` one of all others, as after Kafka 4.3.
A component without wildcards, or with a malformed one, is a name, with its backslashes; one with a
thousand wildcards is, too.

Matching takes one step for each character of a name, whatever the pattern is.
"""

from collections.abc import Callable
from functools import lru_cache

from kraftops.query.conditions import regex

Matches = Callable[[str], bool]
"""Tells whether a whole text matches."""

# In Java, a wildcard matches no end of a line.
_LINE_ENDS: regex.Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x85, 0x85), (0x2028, 0x2029))
_KEPT = 64  # patterns: more than a line of the shell has
_MOST_STEPS = 4000  # of a pattern: for a name of a megabyte, 1 s and 40 MB (15,000: minutes, 1 GB)


class _BadGlobError(Exception):
    """A component is a name, for a wildcard of it is malformed."""


def component_pattern(component: str, *, kafka: bool = False) -> Matches | None:
    """Return the pattern of a component of a path; None if the component is a name.

    With *kafka*, brackets are letters, as in Kafka 4.3.
    """
    special = "*?{" if kafka else "*?{["
    return _pattern(component, kafka) if any(sign in component for sign in special) else None


def text_pattern(text: str) -> Matches:
    """Return a pattern for whole texts of our form; without wildcards, it matches the text itself.

    Wildcards match slashes, too.
    """
    return component_pattern(text) or text.__eq__


@lru_cache(_KEPT)
def _pattern(component: str, kafka: bool) -> Matches | None:  # noqa: FBT001 - a key of the cache
    try:
        steps = _Reader(component, kafka=kafka).read()
    except _BadGlobError:
        return None
    if steps is None or len(steps) > _MOST_STEPS:
        return None
    return regex.Searcher(regex.whole_text(steps)).finds


class _Reader:
    """Reads a pattern to steps."""

    def __init__(self, pattern: str, *, kafka: bool) -> None:
        self._letters = iter(pattern)
        self._kafka = kafka
        self._any = regex.letters(_LINE_ENDS if kafka else (), is_negated=True)
        self._is_pattern = False

    def read(self) -> regex.Steps | None:
        """Return the steps of the pattern; None if it has no wildcard."""
        steps = self._sequence("")[0]
        return steps if self._is_pattern else None

    def _sequence(self, ends: str) -> tuple[regex.Steps, str]:
        """Parse up to one of the letters *ends*; return the steps and that letter."""
        steps: regex.Steps = []
        is_after_star = False
        for letter in self._letters:
            if letter in ends:
                return steps, letter
            if letter == "*":
                steps += [] if is_after_star else regex.many([self._any])
            else:
                steps += self._steps_of(letter, is_inside=bool(ends))
            is_after_star = letter == "*"
            self._is_pattern |= letter in "*?"
        if ends:
            raise _BadGlobError
        return steps, ""

    def _steps_of(self, letter: str, *, is_inside: bool) -> regex.Steps:
        if letter == "?":
            return [self._any]
        if letter == "\\":
            return [_exactly(next(self._letters, "\\"))]
        if letter == "{":
            if is_inside:
                raise _BadGlobError
            return self._alternatives()
        if letter == "[" and not self._kafka:
            return [self._class()]
        return [_exactly(letter)]

    def _alternatives(self) -> regex.Steps:
        self._is_pattern = True
        alternatives, end = [], ","
        while end == ",":
            steps, end = self._sequence(",}")
            alternatives.append(steps)
        return regex.any_of(alternatives)

    def _class(self) -> regex.Step:
        """Return the step of a class, after its bracket; its first letter may be a bracket."""
        self._is_pattern = True
        is_negated = False
        ranges: list[tuple[int, int]] = []
        letter = next(self._letters, "")
        if letter and letter in "!^":
            is_negated = True
            letter = next(self._letters, "")
        is_first = True
        while is_first or letter != "]":
            first = self._member(letter)
            letter = next(self._letters, "")
            last = first
            if letter == "-":
                letter = next(self._letters, "")
                if letter == "]":
                    ranges.append((ord("-"), ord("-")))
                else:
                    last = self._member(letter)
                    letter = next(self._letters, "")
            if last < first:
                raise _BadGlobError
            ranges.append((first, last))
            is_first = False
        return regex.letters(ranges, is_negated=is_negated)

    def _member(self, letter: str) -> int:
        member = next(self._letters, "") if letter == "\\" else letter
        if not member:
            raise _BadGlobError
        return ord(member)


def _exactly(letter: str) -> regex.Step:
    return regex.letters([(ord(letter), ord(letter))])
