"""Output of Kafka's shell and of `kafka-metadata-shell` is the same in all cases of the corpus."""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from kraftops.image.load.loading import load
from kraftops.tree.layout import tree_of
from kraftops.tree.node import Directory, descend
from kraftops.tree.view import Form
from tests.helpers.logs.random_logs import log_batches, log_bytes, new_record
from tests.helpers.logs.segments import patched
from tests.helpers.tools.console import METADATA_SHELL, Done, run_command, run_here
from tests.helpers.tools.corpus import SHELL, Case, cases, differences, listing
from tests.helpers.tree.leaves import leaves_of

CASES = cases(SHELL, "metadata-shell")
PIPED = [case for case in CASES if case.name.startswith("pipe-")]
ONE_SHOT = [case for case in CASES if case not in PIPED]
EVERY = 20  # the stride of the cases that also run as a program of their own
DEFECTS = [json.loads(line) for line in (SHELL / "defects.jsonl").read_text().splitlines()]
LEAVES = {
    "snap": "n431/__cluster_metadata-0/00000000000000000413-0000000001.checkpoint",
    "log": "n431/__cluster_metadata-0/00000000000000000000.log",
    "all": "crafted/crafted-all.checkpoint",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the files, so that a tool that writes does not spoil the corpus itself."""
    copy = tmp_path_factory.mktemp("corpus") / "in"
    shutil.copytree(SHELL / "in", copy)
    return copy


def run_piped(case: Case, root: Path) -> Done:
    """Run a case as a program, which reads what it is given."""
    return run_command(*case.args, cwd=root, program=METADATA_SHELL, stdin=case.stdin.encode())


def test_corpus_is_whole() -> None:
    assert len(CASES) == 281
    assert len({case.name for case in CASES}) == 281
    assert len(PIPED) == 11


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in ONE_SHOT])
def test_prints_what_kafkas_shell_printed(case: Case, root: Path) -> None:
    """Output and exit code are Kafka's, and no file was made or changed."""
    before = listing(root)

    done = run_here(*case.args, cwd=root, program=METADATA_SHELL)

    assert list(differences(case, done, root)) == []
    assert listing(root) == before


PROGRAMS = [*PIPED, *ONE_SHOT[::EVERY]]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in PROGRAMS])
def test_installed_program_prints_the_same(case: Case, root: Path) -> None:
    """So do sessions whose input is a pipe."""
    before = listing(root)

    done = run_piped(case, root)

    assert list(differences(case, done, root)) == []
    assert listing(root) == before


@pytest.mark.parametrize("name", LEAVES)
def test_leaves_have_kafkas_text(name: str) -> None:
    """All of them, and no others."""
    raw = gzip.decompress((SHELL / "leaves" / f"leaves-{name}.jsonl.gz").read_bytes())
    lines: list[dict[str, Any]] = [json.loads(line) for line in raw.splitlines()]
    kafkas = [one for one in lines if not one["path"].startswith("/local/")]
    root = tree_of(load(SHELL / "in" / LEAVES[name]), form=Form.KAFKA, version="4.3.1")

    ours = {
        path: leaf.kafka_text for path, leaf in leaves_of(root) if not path.startswith("/local/")
    }

    # Kafka's listing has quotas of defaults by names that stand for others, or for none.
    listed = {one["path"]: one["text"] for one in kafkas if "cat" not in one}
    assert len(listed) > 50
    assert {path: ours.get(path) for path in listed} == listed
    assert set(ours) - {one["path"] for one in kafkas} == set()


@pytest.mark.parametrize("defect", [pytest.param(one, id=one["name"]) for one in DEFECTS])
def test_answers_where_kafkas_shell_does_not(defect: dict[str, Any], root: Path) -> None:
    """Kafka's throws, or shows an empty image, or one that lacks or has what it should not."""
    if "stdin" in defect:
        arguments, given = defect["args"], defect["stdin"].encode()
        done = run_command(*arguments, cwd=root, program=METADATA_SHELL, stdin=given)
    else:
        done = run_here(*defect["args"], cwd=root, program=METADATA_SHELL)

    assert done.code == 0
    assert "Traceback" not in done.err
    assert done.text.strip()
    if "/image" in defect["args"] and "tree" in defect["args"]:
        assert "offset -1" not in done.text
        assert "provenance:" in done.text


def test_unknown_topic_costs_one_record(root: Path) -> None:
    """Kafka loses the whole batch of a partition without a topic."""
    image = load(root / "replay" / "r05-partition-of-unknown-topic.log")

    assert [finding.text for finding in image.findings] == ["there is no topic with this id"]
    assert image.topics


def test_aborted_records_stay_away(root: Path) -> None:
    """Kafka keeps them when a record follows the marker in its batch."""
    image = load(root / "replay" / "r13-transaction-begin-mid-batch.log")

    names = descend(tree_of(image), ["image", "topics", "byName"])
    assert isinstance(names, Directory)
    assert "f" not in names.sorted_names()
    assert "g" in names.sorted_names()


SEGMENT = SHELL / "in" / LEAVES["log"]
OPEN_TRANSACTION = log_bytes(
    log_batches(
        [new_record("FeatureLevelRecord", name="metadata.version", featureLevel=30)],
        [new_record("BeginTransactionRecord")],
    )
)


@pytest.mark.parametrize("form", ["kafka", "json"])
@pytest.mark.parametrize(
    ("raw", "code", "message"),
    [
        pytest.param(None, 1, "No such file or directory", id="missing"),
        pytest.param(b"", 1, "there are no metadata records in it", id="empty"),
        pytest.param(b"nothing that a log would be", 1, "batch", id="garbage"),
        pytest.param(SEGMENT.read_bytes()[:-1], 2, "not a whole batch", id="truncated"),
        pytest.param(
            patched(SEGMENT.read_bytes(), 20_000, b"\xff\xfe\xfd"), 2, "checksum", id="changed"
        ),
        pytest.param(OPEN_TRANSACTION, 2, "never ends", id="open-transaction"),
        pytest.param(SEGMENT.read_bytes() + bytes(99), 0, "", id="padding"),
    ],
)
def test_bad_input_is_shown_as_far_as_it_goes(
    raw: bytes | None, code: int, message: str, form: str, tmp_path: Path
) -> None:
    """Never an empty tree as if all were well, where Kafka's shell hangs."""
    path = tmp_path / "log"
    if raw is not None:
        path.write_bytes(raw)

    done = run_here(*("-s", str(path), "--format", form, "ls", "/image"), program=METADATA_SHELL)

    is_missing = raw is None and form == "json"
    assert done.code == (4 if is_missing else code)
    assert message in done.err
    assert len(done.errors) == bool(message) + ("hint:" in done.err)
    assert ("features" in done.text) == (code != 1)
