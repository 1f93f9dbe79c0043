"""The steps of a recovery escape names, and tell what comes next, in lines that are not too long."""

from kraftops.recovery.procedure import WorkStep
from kraftops_cli.storage.recover_text import steps_text


def test_steps_are_numbered_with_their_commands() -> None:
    steps = [
        WorkStep("start node 1", "kafka-server-start.sh x"),
        WorkStep("wait", check="it is there"),
    ]

    assert steps_text(steps) == (
        "1. Start node 1:\n       kafka-server-start.sh x\n2. Wait.\n   Check: it is there.\n"
    )


def test_controls_in_names_are_escaped() -> None:
    assert steps_text([WorkStep("topic \x1b[2J")]) == "1. Topic \\x1b[2J.\n"


def test_long_texts_are_folded_and_commands_are_not() -> None:
    text = steps_text([WorkStep("see " * 40, "ls " * 40)])

    assert [len(line) > 92 for line in text.splitlines()] == [False, False, True]
