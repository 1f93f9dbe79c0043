"""Options of the tool are separated from options of its command."""

import click
import pytest

from kraftops_cli.metadata_shell.arguments import usual_form
from kraftops_cli.metadata_shell.command import metadata_shell


def parsed(*arguments: str, name: str = "kraftops metadata-shell") -> dict[str, object]:
    """Return the parameters that arguments give."""
    return metadata_shell.make_context(name, list(arguments)).params


@pytest.mark.parametrize(
    ("name", "form"), [("kafka-metadata-shell", "kafka"), ("kraftops metadata-shell", "json")]
)
def test_name_of_the_tool_is_its_usual_form(name: str, form: str) -> None:
    with click.Context(metadata_shell, info_name=name) as ctx:
        assert usual_form(ctx) == form


def test_options_of_the_tool_may_follow_the_command() -> None:
    found = parsed("-s", "DIR", "ls", "/image", "--show-secrets", "--at-offset", "3")

    assert found["words"] == ("ls", "/image")
    assert (found["show_secrets"], found["at_offset"]) == (True, 3)


def test_options_of_the_command_are_left_to_it() -> None:
    found = parsed("-s", "DIR", "diff", "@1", "@2", "--format", "json")

    assert found["words"] == ("diff", "@1", "@2", "--format", "json")
    assert found["form"] is None


def test_format_behind_a_view_is_the_views_and_before_it_the_shells() -> None:
    both = parsed("-s", "DIR", "--format", "json", "topics", "--format", "csv")

    assert (both["words"], both["form"]) == (("topics", "--format", "csv"), "json")


def test_words_after_two_dashes_belong_to_the_command() -> None:
    assert parsed("-s", "DIR", "cat", "--", "--show-secrets")["words"] == (
        "cat",
        "--",
        "--show-secrets",
    )
