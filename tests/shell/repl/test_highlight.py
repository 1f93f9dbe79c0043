"""Colours of a line that is typed."""

import pytest

from kraftops.tree.node import Directory
from kraftops_shell.repl.highlight import parts_of
from tests.helpers.tree.small_trees import session

TREE = {"image": {"topics": {"a b": {"0": 1}, "a/b": {"0": 1}}}, "local": {}}


@pytest.mark.parametrize(
    ("line", "styles"),
    [
        ("", []),
        ("l", []),
        ("lx", ["unknown"]),
        ("l ", ["unknown"]),
        ("ls", ["command"]),
        ("x", ["command"]),
        ("ls -l /image", ["command", "flag", "path"]),
        ("ls /im", ["command"]),
        ("ls /im ", ["command", "missing"]),
        ("ls '/image/topics/a b/0' /local/x /local", ["command", "path", "missing", "path"]),
        (r"ls /image/topics/a\\/b ", ["command", "path"]),
        ("ls /i* /nope*/x ", ["command", "path", "path"]),
        ("find -name '*a' /image", ["command", "flag", "string", "path"]),
        ("ls /image | grep ls; ls", ["command", "path", "operator", "system"]),
        ("ls > a; nope ", ["command", "operator", "system", "operator", "unknown"]),
        ("# ls", ["system"]),
        ("ls 'a", ["command"]),
    ],
)
def test_parts_have_styles_and_lose_nothing(line: str, styles: list[str]) -> None:
    one, _, _ = session(TREE)
    one.settings.aliases["x"] = "ls"

    parts = parts_of(one, line)

    assert "".join(part.text for part in parts) == line
    assert [part.style for part in parts if part.style] == styles


def test_path_lists_no_directory() -> None:
    def names() -> list[str]:
        raise AssertionError

    one, _, _ = session(TREE)
    one.root = Directory(names, one.root.get)

    assert [part.style for part in parts_of(one, "ls /image /nope ") if part.style] == [
        "command",
        "path",
        "missing",
    ]
