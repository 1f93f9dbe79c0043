"""`kafka-storage` prints and writes what Kafka's tool does, in every case of the corpus."""

import re
import shutil
from pathlib import Path

import pytest

from tests.helpers.logs.checkpoint_text import checkpoint_text
from tests.helpers.nodes.node_directories import storage
from tests.helpers.tools.console import STORAGE, Done, run_command
from tests.helpers.tools.corpus import STORAGE as CORPUS
from tests.helpers.tools.corpus import Case, cases, chains, differences, listing

OURS = {"version-option"}
"""Options that Kafka's tool refuses, and ours has."""
CASES = cases(CORPUS, "storage", "checkpoint")
READING = [case for case in CASES if not (case.fresh or case.chain or case.name in OURS)]
WRITING = chains(case for case in CASES if case not in READING and case.name not in OURS)
EVERY = 20  # the stride of the cases that also run as a program of their own

REFUSED = {
    "cfg-same-dir-alias": "d1 and ./d1 are one directory",
    "voters-dir-zero": "voter 1 has the reserved directory id AAAAAAAAAAAAAAAAAAAAAA",
    "voters-same-dir": "voters 1 and 2 have one directory id, JEXY6aqzQY-32P5TStzaFg",
    "cluster-empty": "the cluster id is empty",
    "format-meta-is-dir-new": "cannot read the metadata directory: d/metadir/meta.properties",
    "data-format": "d/data is not formatted, but holds data: __cluster_metadata-0",
    "data-format-standalone": "d/data is not formatted, but holds data: __cluster_metadata-0",
}
"""What Kafka's tool formats and ours does not: why."""
OTHER_WORDS = {
    "unknown-command": "invalid choice: 'frobnicate' (choose from 'info', 'format', ",
    "at-file-space": "invalid choice: 'info -c c/static.properties' (choose from 'info', 'format', ",
    "at-file-blank-line": "unrecognized arguments: ' -c c/static.properties'\nhint: checking ",
    "scram-bad-salted-bad": "Failed to decode given saltedPassword: <redacted>",
    "scram-bad-unknown": "Unknown SCRAM configurations: <redacted>",
    "scram-bad-component": "No equals sign found in SCRAM component: <redacted>",
    "scram-bad-comma-password": "No equals sign found in SCRAM component: <redacted>",
}
"""What ours says where it has more commands, or hides what may be part of a password."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the files for cases that only read them."""
    return private_copy(tmp_path_factory.mktemp("corpus"))


def private_copy(folder: Path) -> Path:
    """Copy what a tool may change; configurations and arguments it only reads."""
    root = folder / "in"
    shutil.copytree(CORPUS / "in", root, ignore=lambda *_: ("args", "c"))
    for name in ("args", "c"):
        (root / name).symlink_to(CORPUS / "in" / name)
    return root


def run_case(case: Case, root: Path) -> Done:
    """Run a case in this process."""
    if case.tool == "storage":
        return storage(root, *case.args, stdin=case.stdin)
    *flags, name = case.args
    text = checkpoint_text(
        root / name,
        any_directory_id="--any-directory-id" in flags,
        any_salt="--any-salt" in flags,
    )
    return Done(0, text.encode(), "")


def is_told(case: Case, done: Done) -> bool:
    """Return whether standard error has the message of Kafka's tool, wherever lines break."""
    java = r"(kafka-storage:\s+error:|Exception in thread \"main\" [\w.$]+:)\s+"
    message = OTHER_WORDS.get(case.name, re.sub(f"^{java}", "", case.err))
    blanks_and_breaks = r"[\s/\\]+"
    return re.sub(blanks_and_breaks, "", message) in re.sub(blanks_and_breaks, "", done.err)


def test_corpus_is_whole() -> None:
    assert len(CASES) == 412
    assert len({case.name for case in CASES}) == 412
    assert all(case.tool == "storage" for case in READING)


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in READING])
def test_prints_what_kafkas_tool_printed(case: Case, root: Path) -> None:
    """Output and exit code are Kafka's, and no file was made or changed."""
    before = listing(root)

    done = run_case(case, root)

    assert list(differences(case, done, root)) == []
    assert is_told(case, done)
    assert listing(root) == before


@pytest.mark.parametrize("chain", [pytest.param(chain, id=name) for name, chain in WRITING.items()])
def test_writes_what_kafkas_tool_wrote(chain: list[Case], tmp_path: Path) -> None:
    """One after the other, where the cases go on with what others wrote."""
    root = private_copy(tmp_path)
    for case in chain:
        done = run_case(case, root)

        assert list(differences(case, done, root)) == [], case.name
        assert is_told(case, done), case.name


@pytest.mark.parametrize(("name", "reason"), REFUSED.items(), ids=REFUSED)
def test_refuses_what_kafkas_tool_formats_to_nobodys_good(
    name: str, reason: str, tmp_path: Path
) -> None:
    """And writes nothing."""
    (case,) = WRITING[name]
    root = private_copy(tmp_path)
    before = listing(root)

    done = run_case(case, root)

    assert done.code == 1
    assert f"kafka-storage: {reason}" in done.err
    assert listing(root) == before


def test_cluster_id_beyond_ascii_is_read_back_as_it_was_meant(tmp_path: Path) -> None:
    """Kafka's tool writes UTF-8, which it then takes for ISO-8859-1."""
    (case,) = WRITING["cluster-unicode"]
    root = private_copy(tmp_path)

    done = run_case(case, root)
    again = run_case(case, root)
    also = storage(root, *case.args, "-g")

    assert done.code == 0
    assert "is already formatted" in again.errors[0]
    assert (also.code, also.text) == (0, "All of the log directories are already formatted.\n")


AS_A_PROGRAM = [*([case] for case in READING[::EVERY]), WRITING["twice"], WRITING["dirs-mld"]]


@pytest.mark.parametrize("chain", [pytest.param(chain, id=chain[0].name) for chain in AS_A_PROGRAM])
def test_installed_program_does_the_same(chain: list[Case], tmp_path: Path) -> None:
    root = private_copy(tmp_path)
    for case in chain:
        done = (
            run_command(*case.args, cwd=root, program=STORAGE, stdin=case.stdin.encode())
            if case.tool == "storage"
            else run_case(case, root)
        )

        assert list(differences(case, done, root)) == [], case.name
