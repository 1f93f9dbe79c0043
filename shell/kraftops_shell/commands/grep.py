"""The command grep."""

from __future__ import annotations

from kraftops.tree.node import Leaf
from kraftops_shell.commands.find import regex
from kraftops_shell.commands.walk import walk
from kraftops_shell.grammar.arguments import Call
from kraftops_shell.session.session import FAILED, OK, Session


def grep(session: Session, call: Call) -> int:
    """Print the leaves with values that match a pattern; return 1 without a match, as grep does."""
    text, *targets = call.words
    pattern = regex(call, "PATTERN", text, ignores_case="-i" in call.flags)
    is_found = False
    for _, match in session.targets(call, targets or (".",)):
        for walked in walk(match.node, match.path, match.name):
            if not isinstance(walked.node, Leaf):
                continue
            value = walked.node.json
            if pattern(value):
                is_found = True
                path = walked.path
                session.line(path if "-l" in call.flags else f"{path}: {value}")
    return OK if is_found else FAILED
