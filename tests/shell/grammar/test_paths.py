"""Paths and patterns, and the nodes that they match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops_shell.grammar.paths import Match, absolute, components, escaped, matches, split_last
from tests.helpers.tree.small_trees import directory

TREE = directory(
    {
        "a": {"b": 1, "c": {"d": 2}},
        "ab": {"b": 3},
        "x*": {"y": 4},
        "xy": {"y": 5},
        "s/t": {"u": 6},
        r"back\\slash": {"v": 7},
        r"both\*": {"w": 8},
        "": {"e": 9},
    }
)


def found(path: str, *working: str, ours: bool = False) -> list[str]:
    return ["/".join(match.names) for match in matches(TREE, path, working, with_escapes=ours)]


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/", [""]),
        ("", [""]),
        (".", [""]),
        ("/a", ["a"]),
        ("a/b", ["a/b"]),
        ("//a///b/", ["a/b"]),
        ("/nope/../a", ["a"]),
        ("/../../a/./b", ["a/b"]),
        ("/a/b/c", []),
        ("/nope", []),
        ("/a*", ["a", "ab"]),
        ("/*/b", ["a/b", "ab/b"]),
        ("/{ab,a}/b", ["a/b", "ab/b"]),
        ("/a/*/d", ["a/c/d"]),
        ("/n*", []),
        ("/x*", ["x*", "xy"]),
        (r"/back\\slash", [r"back\\slash"]),
        (r"/back\\\\slash*", [r"back\\slash"]),
    ],
)
@pytest.mark.parametrize("ours", [False, True])
def test_paths_name_nodes(path: str, names: list[str], ours: bool) -> None:
    assert found(path, ours=ours) == names


def test_paths_begin_at_the_working_directory() -> None:
    assert found("b", "a") == ["a/b"]
    assert found("../ab/b", "a") == ["ab/b"]
    assert found("", "a") == ["a"]
    assert found("/ab", "a") == ["ab"]


def test_star_in_the_name_of_the_working_directory_is_no_pattern() -> None:
    assert found("y", "x*") == ["x*/y"]
    assert found("../x*", "x*") == ["x*", "xy"]


def test_slash_of_a_name_has_a_backslash_in_our_form() -> None:
    assert found(r"/s\/t/u", ours=True) == ["s/t/u"]
    assert found(r"/s\/t/u") == []


def test_wildcard_of_a_name_has_a_backslash_in_our_form() -> None:
    assert found(r"/x\*/y", ours=True) == ["x*/y"]
    assert found(r"/x\*/y") == []


def test_name_with_a_backslash_before_a_star_is_found_as_it_is() -> None:
    assert found(r"/both\*", ours=True) == [r"both\*"]


def test_match_knows_its_name_and_path() -> None:
    (root,) = matches(TREE, "/", ())
    (match,) = matches(TREE, r"/s\/t/u", (), with_escapes=True)

    assert (root.name, root.path) == ("/", "/")
    assert (match.name, match.path) == ("u", r"/s\/t/u")


@given(st.text("a/*?{},\\", min_size=1, max_size=8))
def test_path_of_a_name_finds_it(name: str) -> None:
    """Whatever is in it, but for `.` and `..`, and a backslash at its end."""
    if name in (".", "..") or name.endswith("\\") or "\\/" in name:
        return
    tree = directory({name: 1, f"{name}x": 2, "a": 3, "*": 4, "b": 5})

    found = list(matches(tree, f"/{escaped(name)}", (), with_escapes=True))

    assert [match.name for match in found] == [name]


def test_components_are_what_slashes_part() -> None:
    assert components("/a//b/") == ["a", "b"]
    assert components(r"a\/b/c", with_escapes=True) == ["a/b", "c"]
    assert components(r"a\/b/c") == ["a\\", "b", "c"]
    assert absolute("../c", ["a", "b"]) == ["a", "c"]


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("", ("", "")),
        ("ab", ("", "ab")),
        ("/", ("/", "")),
        ("/a/b", ("/a/", "b")),
        (r"/a/b\/c", ("/a/", r"b\/c")),
        (r"b\/c", ("", r"b\/c")),
    ],
)
def test_last_name_of_a_path_may_be_incomplete(path: str, parts: tuple[str, str]) -> None:
    assert split_last(path, with_escapes=True) == parts


def test_match_is_of_the_node() -> None:
    assert next(matches(TREE, "/a/b", ())) == Match(("a", "b"), TREE.get("a").get("b"))  # type: ignore[union-attr]
