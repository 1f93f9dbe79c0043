"""The text of a recovery escapes names, and tells what was done and what comes next."""

from kraftops.recovery.procedure import WorkStep
from kraftops_cli.storage.recover_text import next_text


def test_steps_are_numbered_with_their_commands() -> None:
    steps = [
        WorkStep("start node 1", "kafka-server-start.sh x"),
        WorkStep("wait", check="it is there"),
    ]

    assert next_text(steps) == (
        "Next:\n  1. start node 1\n       kafka-server-start.sh x\n  2. wait\n"
        "     check: it is there\n"
    )


def test_controls_in_names_are_escaped() -> None:
    assert next_text([WorkStep("topic \x1b[2J")]) == "Next:\n  1. topic \\x1b[2J\n"
