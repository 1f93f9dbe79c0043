"""Questions of operators: help leads to the commands, two at most, and these answer."""

import shutil
import tarfile
from pathlib import Path

import pytest

from kraftops.log.batch import Record, batch_bytes
from tests.helpers.doctor.seeds import aged
from tests.helpers.logs.incidents import incident_directory
from tests.helpers.logs.log_directories import REAL
from tests.helpers.nodes.node_directories import PROPERTIES, STATIC, make_node
from tests.helpers.tools.console import KRAFTOPS, Done, run_here

IN = Path("tests/data/dump-4.3.1/in").absolute()


def answer(folder: Path, line: str, *words: str) -> Done:
    """Run a command line; *words* of a question must be in the help that leads to it."""
    arguments = line.split()
    names = arguments[:1]
    if arguments[0] in ("dump-log", "storage"):
        names = arguments[:2] if not arguments[1].startswith("-") else names
    helps = [run_here("--help", program=KRAFTOPS).text]
    helps += [
        run_here(*names[:n], "--help", program=KRAFTOPS).text for n in (1, 2) if names[n - 1 :]
    ]
    if "metadata-shell" in names:
        command = next(
            word for word in arguments if word in helps[1].split("Commands of the")[1].split()
        )
        helps.append(run_here("metadata-shell", command, "--help", program=KRAFTOPS).text)
    text = " ".join(" ".join(helps).split())
    options = [word for word in arguments if word.startswith("-")]
    assert [word for word in (*names, *options, *words) if word not in text] == []
    return run_here(*arguments, cwd=folder, program=KRAFTOPS)


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A folder with the configuration and the log directory `d` of a real, stopped server."""
    shutil.copytree(REAL / "stopped", tmp_path / "d")
    make_node(tmp_path, STATIC, log_dirs="d")
    return tmp_path


def test_the_disk_is_full_which_topic(node: Path) -> None:
    (node / "d/plain-0" / f"{0:020}.log.deleted").write_bytes(b"0" * 20_000_000)

    done = answer(node, f"disk -c {PROPERTIES}", "the disk is full: which topic?")

    first = done.text.split("TOPIC ")[1].splitlines()[1]
    assert (done.code, first.split()[0], "19.1 MiB" in first) == (0, "plain", True)


def test_which_topic_grew(node: Path) -> None:
    for base, days in ((0, 9), (9, 5), (18, 1)):
        aged(f"plain-0/{base:020}.log", days)(node)

    done = answer(node, f"disk -c {PROPERTIES}", "and what grows", "topic")

    (row,) = (line for line in done.text.splitlines() if line.startswith("plain "))
    assert row.split()[-2:] != ["-", "-"]


def test_may_it_be_restarted_by_its_metadata(node: Path) -> None:
    done = answer(node, "metadata-shell -s d what-if --lose 1", "loss of brokers")

    assert "would have no leader" in done.text or "offline" in done.text


def test_the_quorum_is_lost(node: Path) -> None:
    shutil.rmtree(node / "d/__cluster_metadata-0")

    done = answer(node, f"doctor -c {PROPERTIES}", "a node that does not start")
    chapter = run_here("help", "a", "quorum", "is", "lost", program=KRAFTOPS)

    assert (done.code, "metadata-lost" in done.text) == (2, True)
    assert "kafka-storage recover" in " ".join(chapter.text.split())


def test_when_and_by_what_a_configuration_changed(tmp_path: Path) -> None:
    incident_directory(tmp_path / "meta")

    done = answer(tmp_path, "changes meta --kind config --topic orders", "what changed it")

    assert "min.insync.replicas" in done.text
    assert "client" in done.text


def test_which_group_lags_by_files(tmp_path: Path) -> None:
    for name in ("__consumer_offsets-7", "a.none-0"):
        (tmp_path / "broker" / name).mkdir(parents=True)
    log = f"{0:020}.log"
    shutil.copy(IN / "consumer_offsets" / log, tmp_path / "broker/__consumer_offsets-7")
    batch = batch_bytes([Record(100, 0, None, b"v")])
    (tmp_path / "broker/a.none-0" / f"{100:020}.log").write_bytes(batch)

    done = answer(tmp_path, "dump-log summary broker --log __consumer_offsets", "their lag")

    (line,) = (
        line
        for line in done.text.splitlines()
        if line.startswith("a.classic ") and "a.none-0" in line
    )
    assert line.split()[1:5] == ["a.none-0", "60", "101", "41"]


def test_is_this_bundle_healthy(node: Path) -> None:
    with tarfile.open(node / "bundle.tar.gz", "w:gz") as bundle:
        bundle.add(node / "d", "d")

    done = answer(node, "doctor bundle.tar.gz", "archives of several nodes")

    assert (done.code, done.text.startswith("nothing is wrong")) == (0, True)


def test_will_a_release_start_on_it(node: Path) -> None:
    done = answer(
        node,
        f"storage verify -c {PROPERTIES} --release-version 4.3",
        "would start",
        "--release-version",
    )

    assert (done.code, "would start" in done.text) == (0, True)


def test_rows_for_duckdb(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    shutil.copytree(IN / "meta", tmp_path / "meta")

    done = answer(tmp_path, "dump-log meta --format parquet --output rows.parquet", "Parquet")

    table = parquet.read_table(tmp_path / "rows.parquet")
    assert (done.code, table.num_rows > 100, "offset" in table.column_names) == (0, True, True)


def test_why_is_nothing_deleted(node: Path) -> None:
    done = answer(node, f"disk -c {PROPERTIES} --why plain-0", "why is nothing deleted?")

    assert (done.code, "it goes at" in done.text) == (0, True)


@pytest.mark.parametrize(
    ("command", "options", "words"),
    [
        ("dump-log", ("--controllers", "--follow"), "until Ctrl-C"),
        ("cluster decommission", ("-b", "--id", "--dry-run"), "Take brokers out"),
        ("cluster safe-to-stop", ("-b", "--id"), "can be stopped"),
    ],
)
def test_help_leads_to_what_runs_on_a_cluster(
    command: str, options: tuple[str, ...], words: str
) -> None:
    """tests/kafka/cluster has the answers of a real cluster."""
    names = command.split()
    helps = [run_here(*names[:n], "--help", program=KRAFTOPS).text for n in range(len(names) + 1)]

    text = " ".join(" ".join(helps).split())
    assert [word for word in (*names, *options, words) if word not in text] == []
