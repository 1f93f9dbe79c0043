"""The memory budget of the environment, as commands take it."""

import pytest

from kraftops.memory import VARIABLE
from tests.helpers.tools.console import DUMP_LOG, run_here

LOG = "tests/data/dump-4.3.1/in/meta/00000000000000000000.log"


def test_budget_by_which_sound_logs_would_look_damaged_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VARIABLE, "256")

    refused = run_here("--check", LOG, program=DUMP_LOG)
    given = run_here("--check", LOG, "--max-memory", "64m", program=DUMP_LOG)
    monkeypatch.setenv(VARIABLE, "64M")
    in_the_environment = run_here("--check", LOG, program=DUMP_LOG)

    assert (refused.code, refused.out) == (1, b"")
    assert refused.errors == [
        f"kafka-dump-log: {VARIABLE} is 256: that is too little",
        "hint: it is a size, at least 64m",
    ]
    assert (given.code, given.err) == (in_the_environment.code, in_the_environment.err) == (0, "")
