"""The command history-of."""

import sys

from kraftops.engine.metadata_state import EntryKey
from kraftops.errors import UsageError
from kraftops.image.history import Step
from kraftops.image.travel.search import Wanted
from kraftops.tree.changed_leaves import leaf_names
from kraftops_shell.commands.time.printing import print_changes, print_step, steps_of
from kraftops_shell.commands.time.wanted import TABLES_BELOW, wanted_below, wanted_below_any
from kraftops_shell.grammar.arguments import Call, number_of
from kraftops_shell.grammar.globs import component_pattern
from kraftops_shell.grammar.nearest import meant
from kraftops_shell.grammar.paths import absolute, escaped
from kraftops_shell.session.moving import travel_of
from kraftops_shell.session.session import Session

_MOST_MEANT = 3  # names that fit into a line
_MOST_OF_MANY = 100
"""The changes of a directory of many nodes, unless --limit has another number."""
_TOPIC_NAMES = Wanted(lambda _: [EntryKey("topic-names")])


def history_of(session: Session, call: Call) -> None:
    """Print the changes of a node, which may be deleted."""
    target = call.words[0]
    limit = number_of(call, "--limit")
    names = [match.names for match in session.matches(target)]
    names += [gone for gone in _gone(session, target) if gone not in names]
    if len(names) > 1:
        names = [node_names for node_names in names if _has_history(node_names)] or names
    if call.is_json:
        session.begin_json(call, "changes")
    if limit is not None or any(
        TABLES_BELOW.get("/" + "/".join(node_names)) for node_names in names
    ):
        _print_last(session, tuple(names), limit)
        return
    steps: list[Step] = []
    for node_names in names:
        start = "/" + "/".join(map(escaped, node_names))
        own = steps_of(session.source, node_names)
        steps += [
            step._replace(path=f"{start}/{step.path}" if step.path else start) for step in own
        ]
        if not own:
            _print_missing(session, target, node_names)
    for step in sorted(steps, key=lambda step: step.change.offset):
        print_step(session, step)


def _has_history(names: tuple[str, ...]) -> bool:
    try:
        wanted_below(names)
    except UsageError:
        return False
    return True


def _gone(session: Session, target: str) -> list[tuple[str, ...]]:
    """Return the nodes, deleted ones too, that match a path or pattern anywhere in the log."""
    parts = absolute(target, session.working, with_escapes=True)
    patterns = [component_pattern(part) for part in parts]
    first = next((position for position, pattern in enumerate(patterns) if pattern), None)
    if first is None:
        return [] if session.matches(target) else [tuple(parts)]
    try:
        below_pattern = _of_names(tuple(parts[:first]))
    except UsageError:
        return []  # nothing below it has a history of its own
    travel, image = travel_of(session), session.source.image
    nodes: dict[tuple[str, ...], None] = {}
    for change in travel.before(image.offset + 1, below_pattern, sys.maxsize):
        for entry in change.entries:
            if entry.table in ("topics", "partitions"):
                continue
            for names in leaf_names(entry, image, image):
                is_topic = entry.table == "topic-names"
                node = (*names[:4], *parts[4:]) if is_topic else names[: len(parts)]
                if len(node) == len(parts) and all(
                    pattern(name) if pattern else name == part
                    for name, part, pattern in zip(node, parts, patterns, strict=True)
                ):
                    nodes[node] = None
    return list(nodes)


def _of_names(above: tuple[str, ...]) -> Wanted:
    """Return the filter of changes that name children: of topics, without partitions."""
    if above == ("image", "topics", "byName"):
        return _TOPIC_NAMES
    return wanted_below(above)


def _print_last(session: Session, names: tuple[tuple[str, ...], ...], limit: int | None) -> None:
    """Print the last changes of nodes or directories of many, oldest first."""
    travel, end = travel_of(session), session.source.image.offset + 1
    number = _MOST_OF_MANY if limit is None else limit
    changes = travel.before(end, wanted_below_any(names), number) if number else []
    for change in changes:
        after = travel.at(offset=change.offset)
        print_changes(session, change, after)
    for node_names in () if changes or not number else names:
        _print_missing(session, "/" + "/".join(map(escaped, node_names)), node_names)
    if limit is None and len(changes) == number:
        session.err(f"history-of: these are the last {number} changes: --limit N shows others")


def _print_missing(session: Session, target: str, names: tuple[str, ...]) -> None:
    """Print that the log has nothing of a node, and those beside it that may be meant."""
    *above, name = names
    place = "/" + "/".join(map(escaped, above))
    beside = [match.names[-1] for match in session.matches(f"{place.rstrip('/')}/*")]
    near: list[str] = []
    if name not in beside:
        near = meant(name, beside) or [named for named in beside if named.partition(":")[2] == name]
    hint = f": did you mean {' or '.join(map(escaped, near[:_MOST_MEANT]))}?" if near else ""
    session.print_error(
        f"history-of: {target}: nothing of it is in the log{hint or '.'}", code="not-found"
    )
