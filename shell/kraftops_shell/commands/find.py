"""The commands find and grep."""

from collections.abc import Callable, Iterator
from functools import lru_cache

from kraftops.query.conditions.regex import PatternError, Searcher, program
from kraftops.tree.node import Directory, Leaf, Node, is_view
from kraftops_shell.commands.node_rows import put_nodes
from kraftops_shell.commands.walk import WalkedNode, walk
from kraftops_shell.grammar.arguments import BadLineError, Call, number_of
from kraftops_shell.grammar.globs import text_pattern
from kraftops_shell.grammar.paths import Match, escaped
from kraftops_shell.session.moving import moment_of
from kraftops_shell.session.session import FAILED, OK, Session

Test = Callable[[WalkedNode], bool]
_NAMES_KEPT = 1024  # those of partitions repeat in each topic


def find(session: Session, call: Call) -> None:
    """Print the paths of nodes and all nodes below them that pass all tests."""
    deepest = number_of(call, "-maxdepth")
    tests = list(tests_of(session, call))
    targets = session.targets(call, call.words or (".",))
    if not (call.is_json or tests or deepest is not None):
        for target, match in targets:
            _print_all(session, match, target if session.is_kafka else match.path)
        return
    nodes = (
        walked
        for _, match in targets
        for walked in walk(match.node, match.path, match.name, deepest)
        if all(test(walked) for test in tests)
    )
    if call.is_json:
        put_nodes(session, call, nodes)
        return
    for walked in nodes:
        session.line(walked.path)


def regex(call: Call, flag: str, text: str, *, ignores_case: bool = False) -> Callable[[str], bool]:
    """Return the search for a regular expression of a flag or argument.

    It takes a step for each character of a value, so that no expression can hang.

    Raises:
        BadLineError: it is malformed, or needs more than such a search can do.
    """
    try:
        return Searcher(program(f"(?i){text}" if ignores_case else text)).finds
    except PatternError as error:
        raise BadLineError(f"{call.command.name}: {flag}: {text}: {error}") from None


def _print_all(session: Session, match: Match, start: str) -> None:
    name = str if session.is_kafka else escaped
    session.line(start)

    def shown(text: str) -> str:
        return session.shown(name(text))

    prefix = session.shown("" if start == "/" else start)
    session.stream(_paths_below(match.node, prefix, lru_cache(_NAMES_KEPT)(shown)))


def _paths_below(node: Node, prefix: str, escape: Callable[[str], str]) -> Iterator[str]:
    """Yield the paths below a node but those in views, also of names without a node, as lines.

    All paths of a flat directory are one text, and its leaves are not read.
    """
    if not isinstance(node, Directory):
        return
    if node.is_known_flat:
        yield "".join([f"{prefix}/{escape(name)}\n" for name in node.sorted_names()])
        return
    if node.leaf_names:
        for name, names in node.leaf_names():
            path = f"{prefix}/{escape(name)}"
            yield f"{path}\n" + "".join([f"{path}/{escape(leaf)}\n" for leaf in names])
        return
    for name in node.sorted_names():
        child = node.get(name)
        if is_view(child):
            continue
        path = f"{prefix}/{escape(name)}"
        yield f"{path}\n"
        if child is not None:
            yield from _paths_below(child, path, escape)


def tests_of(session: Session, call: Call) -> Iterator[Test]:
    """Yield the tests of the flags, the cheap ones first.

    Raises:
        BadLineError: a regular expression is malformed.
        UsageError: a value is neither an offset nor a time.
    """
    flags = {name: str(value) for name, value in call.flags.items()}
    if "-type" in flags:
        is_directory = flags["-type"] == "d"
        yield lambda node: isinstance(node.node, Directory) == is_directory
    if "-name" in flags:
        name = text_pattern(flags["-name"])
        yield lambda node: name(node.name)
    if "-path" in flags:
        path = text_pattern(flags["-path"])
        yield lambda node: path(node.path)
    if "-newer-than" in flags:
        offset, time = moment_of(session, flags["-newer-than"])
        yield lambda node: _is_newer(node.node, offset, time)
    if "-value" in flags:
        value = regex(call, "-value", flags["-value"])
        yield lambda node: isinstance(node.node, Leaf) and value(node.node.json)


def _is_newer(node: Node, offset: int | None, time: int | None) -> bool:
    """Tell whether a leaf was changed after a moment."""
    change = node.change if isinstance(node, Leaf) else None
    if change is None:
        return False
    if offset is not None:
        return change.offset > offset
    return time is not None and change.timestamp > time


def grep(session: Session, call: Call) -> int:
    """Print the leaves with values that match a pattern; return 1 without a match, as grep does."""
    text, *targets = call.words
    pattern = regex(call, "PATTERN", text, ignores_case="-i" in call.flags)
    leaves = (
        (walked, value)
        for _, match in session.targets(call, targets or (".",))
        for walked in walk(match.node, match.path, match.name)
        if isinstance(walked.node, Leaf) and pattern(value := walked.node.json)
    )
    if call.is_json:
        return OK if put_nodes(session, call, (walked for walked, _ in leaves)) else FAILED
    is_found = False
    for walked, value in leaves:
        is_found = True
        session.line(walked.path if "-l" in call.flags else f"{walked.path}: {value}")
    return OK if is_found else FAILED
