r"""Regular expressions of conditions: a search in linear time, the same in both engines.

A pattern is compiled to a program for a set of states (Thompson's construction), with a step for
each character and no way back: the time of a search is at most the length of the text times the
length of the program. The syntax is the common part of Python's `re` and Rust's `regex`: literals,
`.` (all but a newline), classes, `\d \w \s` (of ASCII), groups, `|`, `* + ? {m,n}`, `^` and `$`
(the ends of the text), and `(?i)` before everything. There are no references and no lookarounds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from functools import cache
from itertools import takewhile

from kraftops.records.long_text import LongText

Ranges = tuple[tuple[int, int], ...]
"""First and last code points of a class, in order."""

_LAST = 0x10FFFF  # Unicode's last code point
_MAX_STEPS = 1000  # a text costs its length times the steps, so that a pattern cannot hang a scan
_MAX_DEPTH = 64  # far below Python's limit of recursion
_MAX_STATES = 2000  # sets of states that are kept: hostile patterns have exponentially many
_CLASSES: dict[str, Ranges] = {
    "d": ((48, 57),),
    "w": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "s": ((9, 13), (32, 32)),
}
_ESCAPED = {"n": 10, "t": 9, "r": 13, "f": 12, "v": 11}
_COUNTS = re.compile(r"\{(\d{1,4})(,?)(\d{0,4})\}")
_CODES = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})")


class PatternError(ValueError):
    """A pattern is not a regular expression of this kind; the message has the place."""


class Op(IntEnum):
    """The operation of a step."""

    CLASS = 0
    """One character of the ranges."""
    SPLIT = 1
    """Go on at both targets."""
    BEGIN = 2
    """The begin of the text."""
    END = 3
    """The end of the text."""
    MATCH = 4
    """The pattern is found."""


Step = tuple[int, int, int, Ranges]
"""An operation, the targets of `Op.SPLIT`, and the ranges of `Op.CLASS`."""
Steps = list[Step]
Program = tuple[Step, ...]


@cache
def program(pattern: str) -> Program:
    """Return the program of a pattern.

    Raises:
        PatternError: it is none, or becomes too long.
    """
    return _Compiler(pattern).program()


def found_in(pattern: str, text: str) -> bool:
    """Tell whether a pattern is found anywhere in a text."""
    return _searcher(pattern).finds(text)


@cache
def _searcher(pattern: str) -> Searcher:
    return Searcher(program(pattern))


class _State(dict[str, "_State"]):
    """A set of steps that a text has led to, and the sets that characters lead to from it."""

    __slots__ = ("is_over", "searcher", "steps")

    def __init__(self, searcher: Searcher, steps: frozenset[int]) -> None:
        self.searcher = searcher
        self.steps = steps
        self.is_over = not steps or searcher.match in steps

    def __missing__(self, character: str) -> _State:
        return self.searcher.after(self, character)


class Searcher:
    """A search for a program: a step for each character of a text, whatever the program is."""

    def __init__(self, steps: Program) -> None:
        self.match = len(steps) - 1
        """The step that says that the program is found."""
        self._steps = steps
        self._prefix = _prefix(steps)
        self._states: dict[frozenset[int], _State] = {}
        self._transitions = 0
        self._first = self.reached([0], at_begin=True)
        self._again = self.reached([0])

    def finds(self, text: str) -> bool:
        pieces = text.pieces() if isinstance(text, LongText) else iter((text,))
        state, is_at_begin = self._state(self._first), True
        for piece in self._from_prefix(pieces) if self._prefix else pieces:
            for character in piece:
                if state.is_over:
                    return bool(state.steps)
                state = state[character]
            is_at_begin = is_at_begin and not piece
        return self.match in self.reached(state.steps, at_begin=is_at_begin, at_end=True)

    def _from_prefix(self, pieces: Iterator[str]) -> Iterator[str]:
        """Yield a text from where the program may be found first; nothing without such a place."""
        end = ""  # of the piece before, in which a prefix may begin
        for piece in pieces:
            joined = end + piece
            start = joined.find(self._prefix)
            if start >= 0:
                yield joined[start:]
                yield from pieces
            end = joined[1 - len(self._prefix) :] if len(self._prefix) > 1 else ""

    def after(self, state: _State, character: str) -> _State:
        """Return the state after a character, and keep it for the next time."""
        code = ord(character)
        targets = [
            step + 1
            for step in state.steps
            if any(first <= code <= last for first, last in self._steps[step][3])
        ]
        steps = self.reached(targets) | self._again
        if self._transitions >= _MAX_STATES:
            self._states.clear()
            self._transitions = 0
            return self._state(steps)
        self._transitions += 1
        next_state = state[character] = self._state(steps)
        return next_state

    def _state(self, steps: frozenset[int]) -> _State:
        state = self._states.get(steps)
        if state is None:
            state = self._states[steps] = _State(self, steps)
        return state

    def reached(
        self, targets: Iterable[int], *, at_begin: bool = False, at_end: bool = False
    ) -> frozenset[int]:
        """Return the steps that are reached without a character."""
        steps, seen, pending = self._steps, set[int](), list(targets)
        while pending:
            state = pending.pop()
            if state in seen:
                continue
            seen.add(state)
            op, first, second, _ = steps[state]
            if op == Op.SPLIT:
                pending += (first, second)
            elif (op == Op.BEGIN and at_begin) or (op == Op.END and at_end):
                pending.append(state + 1)
        return frozenset(state for state in seen if steps[state][0] in _KEPT)


def _prefix(steps: Program) -> str:
    """Return the literal prefix of every match of a program; empty if there is none."""
    letters = takewhile(lambda step: step[0] == Op.CLASS and _is_letter(step[3]), steps)
    return "".join(chr(step[3][0][0]) for step in letters)


def _is_letter(ranges: Ranges) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]


def whole_text(steps: Steps) -> Program:
    """Return the program that finds steps, with targets relative to each, in a whole text."""
    return _placed([(Op.BEGIN, 0, 0, ()), *steps, (Op.END, 0, 0, ())])


def letters(ranges: Iterable[tuple[int, int]], *, is_negated: bool = False) -> Step:
    """Return the step for one character of some ranges, or for one of all others."""
    merged = _merged(tuple(ranges))
    return (Op.CLASS, 0, 0, _without(merged) if is_negated else merged)


def many(steps: Steps) -> Steps:
    """Repeat steps any number of times (`*`)."""
    return _many(steps)


def any_of(alternatives: Sequence[Steps]) -> Steps:
    remaining = list(alternatives)
    while len(remaining) > 1:
        pairs = zip(remaining[::2], remaining[1::2], strict=False)
        remaining = [_either(*pair) for pair in pairs] + (
            remaining[-1:] if len(remaining) % 2 else []
        )
    return remaining[0]


def _placed(steps: Steps) -> Program:
    """Place steps one after another: their relative targets become absolute."""
    placed = [
        (op, index + first, index + second, ranges) if op == Op.SPLIT else (op, 0, 0, ranges)
        for index, (op, first, second, ranges) in enumerate(steps)
    ]
    return (*placed, (Op.MATCH, 0, 0, ()))


_KEPT = (Op.CLASS, Op.END, Op.MATCH)


class _Compiler:
    """A pattern, the place in it, and the rules of its parts."""

    def __init__(self, pattern: str) -> None:
        self._ignores_case = pattern.startswith("(?i)")
        self._pattern = pattern
        self._index = 4 if self._ignores_case else 0

    def program(self) -> Program:
        steps = self._alternatives(0)
        if self._index < len(self._pattern):
            raise self._refusal("`)` without `(`")
        return _placed(steps)

    def _refusal(self, reason: str) -> PatternError:
        return PatternError(f"{reason}, at character {self._index + 1} of it")

    def _peek(self) -> str:
        return self._pattern[self._index : self._index + 1]

    def _has(self, text: str) -> bool:
        is_next = self._pattern.startswith(text, self._index)
        self._index += len(text) * is_next
        return is_next

    def _alternatives(self, depth: int) -> list[Step]:
        """Return steps; in a compiler, the targets of a step are relative to it."""
        if depth > _MAX_DEPTH:
            raise self._refusal("groups are nested too deep")
        steps = self._sequence(depth)
        while self._has("|"):
            other = self._sequence(depth)
            steps = _either(steps, other)
            self._refuse_long(steps)
        return steps

    def _sequence(self, depth: int) -> list[Step]:
        steps: list[Step] = []
        while (character := self._peek()) and character not in "|)":
            steps += self._repeated(self._part(depth))
            self._refuse_long(steps)
        return steps

    def _refuse_long(self, steps: list[Step]) -> None:
        if len(steps) > _MAX_STEPS:
            raise self._refusal(f"the pattern has more than {_MAX_STEPS} steps")

    def _part(self, depth: int) -> list[Step]:  # noqa: PLR0911 - one a kind
        """Return the steps of one character, class, group or anchor."""
        character = self._peek()
        if character in "*+?{":
            raise self._refusal(f"nothing is before {character!r}")
        self._index += 1
        match character:
            case "(":
                return self._group(depth)
            case "[":
                return [self._class_step(self._class())]
            case ".":
                return [(Op.CLASS, 0, 0, _without(((10, 10),)))]
            case "^":
                return [(Op.BEGIN, 0, 0, ())]
            case "$":
                return [(Op.END, 0, 0, ())]
            case "\\":
                return [self._class_step(self._escaped())]
        return [self._class_step(((ord(character), ord(character)),))]

    def _group(self, depth: int) -> list[Step]:
        if self._peek() == "?" and not self._has("?:"):
            raise self._refusal("the only groups are (…) and (?:…), and (?i) at the beginning")
        steps = self._alternatives(depth + 1)
        if not self._has(")"):
            raise self._refusal("`(` without `)`")
        return steps

    def _repeated(self, part: list[Step]) -> list[Step]:
        """Return the steps of a part with the sign of repetition that follows it."""
        if self._has("*"):
            steps = _many(part)
        elif self._has("+"):
            steps = [*part, (Op.SPLIT, -len(part), 1, ())]
        elif self._has("?"):
            steps = _optional(part)
        elif self._peek() == "{":
            steps = self._counted(part)
        else:
            return part
        self._has("?")  # the shortest match is found as well as the longest
        if self._peek() and self._peek() in "*+{":
            raise self._refusal("a repetition of a repetition")
        return steps

    def _counted(self, part: list[Step]) -> list[Step]:
        match = _COUNTS.match(self._pattern, self._index)
        if not match:
            raise self._refusal("`{` is followed by a count, as {2} or {2,5}, or is written \\{")
        least, most = int(match[1]), int(match[3] or match[1])
        if most < least:
            raise self._refusal(f"the count {match[0]} is empty")
        if (most + 1) * (len(part) + 1) > _MAX_STEPS:
            raise self._refusal(f"the pattern has more than {_MAX_STEPS} steps")
        self._index = match.end()
        rest: list[Step] = []
        if match[2] and not match[3]:
            rest = _many(part)
        for _ in range(most - least):
            rest = _optional([*part, *rest])
        return [*part * least, *rest]

    def _class(self) -> Ranges:
        is_negated = self._has("^")
        ranges: list[tuple[int, int]] = []
        while not (ranges and self._has("]")):
            first = self._class_item()
            if len(first) == 1 and first[0][0] == first[0][1] and self._has_range():
                last = self._class_item()
                if len(last) != 1 or last[0][0] != last[0][1] or last[0][0] < first[0][0]:
                    raise self._refusal("the range of characters is empty")
                first = ((first[0][0], last[0][0]),)
            ranges += first
        class_ranges = tuple(ranges)
        return _without(self._cases(class_ranges)) if is_negated else class_ranges

    def _has_range(self) -> bool:
        return self._pattern[self._index + 1 : self._index + 2] not in ("", "]") and self._has("-")

    def _class_item(self) -> Ranges:
        character = self._peek()
        if not character:
            raise self._refusal("`[` without `]`")
        if character == "[":
            raise self._refusal("`[` in a class is written \\[")
        self._index += 1
        return self._escaped() if character == "\\" else ((ord(character), ord(character)),)

    def _escaped(self) -> Ranges:
        character = self._peek()
        if match := _CODES.match(self._pattern, self._index):
            self._index = match.end()
            code = int(match[1] or match[2] or match[3], 16)
            return ((code, code),)
        self._index += 1
        if character.lower() in _CLASSES:
            ranges = _CLASSES[character.lower()]
            return _without(ranges) if character.isupper() else ranges
        code = _ESCAPED.get(character, 0)
        if not code:
            if not character or character.isalnum():
                self._index -= 1
                raise self._refusal(f"\\{character} is not known")
            code = ord(character)
        return ((code, code),)

    def _class_step(self, ranges: Ranges) -> Step:
        return (Op.CLASS, 0, 0, _merged(self._cases(ranges)))

    def _cases(self, ranges: Ranges) -> Ranges:
        """Return ranges with the other case of their letters, if it does not count."""
        if not self._ignores_case:
            return ranges
        others = []
        for first, last in ranges:
            for code in range(first, min(last, first + _MAX_FOLDED) + 1):
                both = chr(code).lower(), chr(code).upper()
                others += [(ord(letter), ord(letter)) for letter in both if len(letter) == 1]
        return (*ranges, *others)


_MAX_FOLDED = 1 << 12  # characters of a range with cases; the scripts that have them are smaller


def _either(first: list[Step], second: list[Step]) -> list[Step]:
    jump = len(second) + 1
    return [(Op.SPLIT, 1, len(first) + 2, ()), *first, (Op.SPLIT, jump, jump, ()), *second]


def _many(part: list[Step]) -> list[Step]:
    back = -len(part) - 1
    return [(Op.SPLIT, 1, len(part) + 2, ()), *part, (Op.SPLIT, back, back, ())]


def _optional(part: list[Step]) -> list[Step]:
    return [(Op.SPLIT, 1, len(part) + 1, ()), *part]


def _merged(ranges: Ranges) -> Ranges:
    """Return ranges in order, without overlaps."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        else:
            merged.append((first, last))
    return tuple(merged)


def _without(ranges: Ranges) -> Ranges:
    """Return the characters that are in none of some ranges."""
    complement, begin = [], 0
    for first, last in _merged(ranges):
        if begin < first:
            complement.append((begin, first - 1))
        begin = last + 1
    return (*complement, (begin, _LAST)) if begin <= _LAST else tuple(complement)
