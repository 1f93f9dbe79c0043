"""Help of a tool."""

import re
from pathlib import Path

import pytest

from kraftops_cli.root import COMMANDS
from tests.helpers.tools.console import (
    CLUSTER,
    DUMP_LOG,
    KRAFTOPS,
    METADATA_SHELL,
    STORAGE,
    run_here,
)


@pytest.mark.parametrize("program", [KRAFTOPS, STORAGE, CLUSTER, DUMP_LOG, METADATA_SHELL])
def test_help_breaks_no_line_inside_a_name(program: str) -> None:
    helps = [run_here("--help", program=program).text]
    if program == KRAFTOPS:
        helps += [run_here(command, "--help", program=program).text for command in COMMANDS]

    for line in "".join(helps).splitlines():
        assert not re.search(r"\w-$", line)
        assert "\u2011" not in line


def test_usage_of_a_part_names_paths_once() -> None:
    done = run_here("dump-log", "summary", "--help", program=KRAFTOPS)

    assert "Usage: kraftops dump-log summary [OPTIONS] PATH…" in done.text


@pytest.mark.parametrize("tool", ["cluster", "storage", "dump-log", "metadata-shell"])
def test_examples_have_the_name_by_which_help_was_asked(tool: str) -> None:
    examples = (
        run_here(tool, "--help", program=KRAFTOPS).text.split("Examples:")[1].split("\n\n")[0]
    )

    assert f"  kraftops {tool} " in examples
    assert f"kafka-{tool}" not in examples


@pytest.mark.parametrize("argument", ["--help", "-h", "-help"])
def test_help_is_on_standard_output(argument: str, tmp_path: Path) -> None:
    done = run_here(argument, cwd=tmp_path)

    assert done.code == 0
    assert done.errors == []
    for part in ("Usage: kafka-dump-log", "Examples:", "--files", "Exit status"):
        assert part in done.text
