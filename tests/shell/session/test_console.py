"""Properties of a console by its terminal and environment."""

import pytest

from tests.helpers.tools.memory_console import Streams


@pytest.mark.parametrize(
    ("environment", "color", "on_terminal", "elsewhere"),
    [
        ({}, "auto", True, False),
        ({"TERM": "dumb"}, "auto", False, False),
        ({"NO_COLOR": "1"}, "auto", False, False),
        ({"NO_COLOR": "1"}, "always", True, True),
        ({}, "never", False, False),
    ],
)
def test_colour_follows_option_then_environment(
    environment: dict[str, str], color: str, on_terminal: bool, elsewhere: bool
) -> None:
    console = Streams(color=color, environment=environment).console

    assert console.has_color(for_terminal=True) is on_terminal
    assert console.has_color(for_terminal=False) is elsewhere


@pytest.mark.parametrize("is_terminal", [False, True])
def test_lines_are_edited_on_a_terminal_alone(is_terminal: bool) -> None:
    assert Streams(is_terminal=is_terminal).console.is_for_editing is is_terminal
    assert not Streams(environment={"TERM": "dumb"}).console.is_for_editing
