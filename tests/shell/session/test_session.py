"""The state of a session."""

import pytest

from kraftops.errors import UsageError
from kraftops_shell.grammar.arguments import read_call
from tests.helpers.tree.small_trees import leaf, session

TREE = {"a": {"x": 1}, "b": 2}


@pytest.mark.parametrize("kafka", [False, True])
def test_errors_go_to_the_stream_of_the_form(kafka: bool) -> None:
    one, out, err = session(TREE, kafka=kafka)

    one.print_error("failed")

    assert one.first_error is not None
    assert (out.text, list(err)) == (("failed\n", []) if kafka else ("", ["failed"]))


@pytest.mark.parametrize(("kafka", "text"), [(False, "  {\n    1}"), (True, "  {\n  1}")])
def test_kafkas_form_indents_the_first_line_only(kafka: bool, text: str) -> None:
    one, _, _ = session(TREE, kafka=kafka)
    one.shown_leaf = lambda leaf: leaf.kafka_text

    assert one.indented_text(leaf("{\n  1}"), "  ") == text


@pytest.mark.parametrize(("kafka", "text"), [(False, '"é"'), (True, "é")])
def test_leaf_is_json_in_our_form_and_kafkas_text_in_kafkas(kafka: bool, text: str) -> None:
    one, _, _ = session(TREE, kafka=kafka)

    assert one.shown_leaf(leaf("é")) == text


def test_paths_match_from_the_working_directory() -> None:
    one, _, _ = session(TREE)
    one.working = ("a",)

    assert [match.path for match in one.matches("*")] == ["/a/x"]
    assert [match.path for match in one.matches("/*")] == ["/a", "/b"]


def test_unknown_source_is_an_error() -> None:
    one, _, _ = session(TREE)

    with pytest.raises(UsageError, match="the source of this state is unknown"):
        _ = one.source


def test_path_without_a_node_is_an_error_and_the_others_are_targets() -> None:
    one, _, err = session(TREE)
    call = read_call(["ls", "/b", "/c", "/a"], one.commands, kafka=False)
    assert call is not None

    found = [(path, match.name) for path, match in one.targets(call, call.words)]

    assert found == [("/b", "b"), ("/a", "a")]
    assert list(err) == ["ls: /c: no such file or directory. [not-found]"]
