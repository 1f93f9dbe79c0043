"""Which tests run for a change, and that what does not run always is in a part of `--long`."""

import re
import sys
from pathlib import Path

import pytest

from tests.helpers.project.imports import modules

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
import changed  # noqa: E402
import long_checks  # noqa: E402


@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("core/kraftops/log/batch.py", "tests/core/log/test_batch.py"),
        ("core/kraftops/varint.py", "tests/core/test_varint.py"),
        ("cli/kraftops_cli/doctor/explain.py", "tests/cli/test_questions.py"),
        ("tests/helpers/tools/emulator.py", "tests/terminal/test_screen.py"),
        ("tests/kafka/server/test_starts.py", "tests/kafka/server/test_starts.py"),
        ("core/native/src/lib.rs", "tests/engine/test_codecs.py"),
        ("README.md", "tests/test_documentation.py"),
    ],
)
def test_the_nearest_tests_of_a_file_are_chosen(name: str, test: str) -> None:
    assert test in changed.select([name]).chosen


def test_a_module_that_all_import_has_its_own_tests_in_the_budget() -> None:
    selection = changed.select(["core/kraftops/errors.py"])
    assert "tests/core/test_errors.py" in selection.chosen
    assert len(selection.others) > 100
    assert selection.seconds <= changed.BUDGET


def test_changed_tests_run_whatever_they_take() -> None:
    names = ["tests/test_packaging.py", "tests/cli/test_signals.py"]
    assert {*names} <= {*changed.select(names, budget=0).chosen}


def test_every_module_has_tests_of_its_name_its_folder_or_its_subject_or_that_import_it() -> None:
    for path in modules().values():
        name = str(path.relative_to(ROOT))
        assert min((rank for _, rank in changed._tests_of(name)), default=9) <= 4, name


def test_each_folder_with_tests_of_a_subject_is_there() -> None:
    for folder, tests in changed.SUBJECTS.items():
        assert (ROOT / folder).exists(), folder
        assert all(changed.tests_in(name) for name in tests), folder


def test_each_variable_that_has_tests_do_more_is_in_a_part_of_long() -> None:
    commands = [command for part in long_checks.PARTS.values() for command in part]
    variables = {name for command in commands for name in command.environment}
    variables |= {*re.findall(r"KRAFTOPS_[A-Z_]+", (ROOT / "scripts/fuzz.py").read_text())}
    asked = re.compile(r'environ\.get\(\s*"(KRAFTOPS_[A-Z_]+)|"(KRAFTOPS_[A-Z_]+)" (?:not )?in os')
    for path in (ROOT / "tests").rglob("test_*.py"):
        for match in asked.finditer(path.read_text("utf-8")):
            assert (match[1] or match[2]) in variables, path


def test_each_part_of_long_names_tests_and_programs_that_are_there() -> None:
    for command in (command for part in long_checks.PARTS.values() for command in part):
        for word in command.arguments:
            name = word.replace(".", "/") + ".py" if word.startswith("tests.") else word
            assert not name.startswith(("tests/", "scripts/")) or (ROOT / name).exists(), word
