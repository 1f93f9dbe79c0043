"""Aliases at the beginning of commands."""

from collections.abc import Mapping

from kraftops_shell.grammar import words
from kraftops_shell.grammar.syntax import scan


def with_aliases(
    text: str, aliases: Mapping[str, str], replaced: frozenset[str] = frozenset()
) -> str:
    """Return a line of our form with the lines of its aliases.

    A quoted word is not an alias, and the line of an alias may have other aliases, but not its own.
    """
    line = scan(text)
    end = line.rest_start if line.operator else len(text)
    before = text[:end]
    if line.tokens:
        first = line.tokens[0]
        name = text[first.start : first.end]
        if name in aliases and name not in replaced:
            value = with_aliases(aliases[name], aliases, replaced | {name})
            before = text[: first.start] + value + text[first.end : end]
    if line.operator.startswith(">"):
        target = scan(line.rest)
        if target.operator == ";":
            before += line.rest[: target.rest_start]
            return before + with_aliases(target.rest, aliases, replaced)
    rest = with_aliases(line.rest, aliases, replaced) if line.operator == ";" else line.rest
    return before + rest


def with_alias(text: str, aliases: Mapping[str, str]) -> str:
    """Expand the alias with which a line of Kafka's form begins."""
    tokens = words.tokens(text)
    if not tokens:
        return text
    first = tokens[0]
    line = aliases.get(text[first.start : first.end])
    return text if line is None else text[: first.start] + line + text[first.end :]
