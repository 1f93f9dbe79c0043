"""`kafka-dump-log` prints the same as Kafka's tool, in every case of the corpus."""

import shutil
from pathlib import Path

import pytest

from tests.helpers.tools.console import run_command, run_here
from tests.helpers.tools.corpus import DUMPS, Case, cases, differences, listing

CASES = cases(DUMPS, "dump-log")
EVERY = 20  # the stride of the cases that also run as a program of their own


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the files, which protects the corpus from a tool that writes."""
    copy = tmp_path_factory.mktemp("corpus") / "in"
    shutil.copytree(DUMPS / "in", copy)
    return copy


def test_corpus_is_whole() -> None:
    assert len(CASES) == 510
    assert len({case.name for case in CASES}) == 510


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_prints_what_kafkas_tool_printed(case: Case, root: Path) -> None:
    """Output and exit code are Kafka's, and no file is created or changed."""
    before = listing(root)

    done = run_here(*case.args, cwd=root)

    assert list(differences(case, done, root)) == []
    assert listing(root) == before


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES[::EVERY]])
def test_installed_program_prints_the_same(case: Case, root: Path) -> None:
    before = listing(root)

    done = run_command(*case.args, cwd=root, stdin=case.stdin.encode())

    assert list(differences(case, done, root)) == []
    assert listing(root) == before
