"""The JSON of nodes: the same rows from all commands that print nodes."""

from collections.abc import Iterable

from kraftops.tree.node import Directory, Node, json_text
from kraftops_shell.commands.walk import WalkedNode
from kraftops_shell.grammar.arguments import Call
from kraftops_shell.grammar.paths import Match
from kraftops_shell.session.session import Session


def node_fields(path: str, node: Node) -> dict[str, object]:
    if isinstance(node, Directory):
        return {"path": path, "sort": "directory", "children": node.child_count}
    return {"path": path, "sort": "leaf", "size": node.size}


def put_nodes(session: Session, call: Call, nodes: Iterable[Match | WalkedNode]) -> bool:
    """Write nodes as the JSON answer of a command; return whether there are any."""
    answer = session.begin_json(call, "nodes")
    is_any = False
    for path, node in ((named.path, named.node) for named in nodes):
        row = json_text(node_fields(path, node))
        if not isinstance(node, Directory):
            row = f'{row[:-1]},"value":{node.json}}}'
        answer.put_texts([row])
        is_any = True
    return is_any
