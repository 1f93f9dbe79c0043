"""Questions of operators: `kraftops --help` has the commands, and these answer."""

import re
import shlex
import shutil
import tarfile
from pathlib import Path

import duckdb
import pytest

from kraftops_cli.dump_log.command import dump_log
from kraftops_cli.root import root
from tests.helpers.doctor.seeds import aged
from tests.helpers.logs.log_directories import REAL
from tests.helpers.nodes.example_cluster import example_cluster
from tests.helpers.nodes.node_directories import PROPERTIES, STATIC, make_node
from tests.helpers.tools.console import DUMP_LOG, KRAFTOPS, run_here

PLACES = {
    "WHAT": "cluster.tar.gz",
    "DIR": "node-101/data",
    "server.properties": "node-101.properties",
    **{f"n{node_id}.properties": f"node-{node_id}.properties" for node_id in (1, 2, 3)},
    "orders-3": "orders-0",
    "--lose 3": "--lose 101",
    "localhost:9092": "localhost:1",
    "localhost:9093": "localhost:1",
}
"""What stands in the help, and what of the small cluster of the documentation it is."""
NOBODY = (5, "connection refused")  # tests/kafka/cluster has the answers of running clusters
ANSWERS = (
    (2, r"^1 loss; first: cluster\.tar\.gz!/.*/orders-1/.* a start ends the log at offset 362: "),
    (2, "^1 risk; first: broker 102 has been down since "),
    (0, r"^TOPIC .*\norders +3 "),
    (0, r"^orders-0 in node-101/data:\n- 1 segment .* due"),
    NOBODY,
    (2, r"^Without broker 101, .*\n +0 go offline"),
    (0, "Most controllers are gone"),
    (0, r"10\.414Z .* TOPIC:orders retention\.ms +604800000 → 3600000 +client"),
    (0, r"^billing +orders-1 +240 +724 +484 "),
    (0, "node 101 would start"),
    (0, "^$"),
    NOBODY,
    NOBODY,
)
"""Exit code and text for each example, in its order."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The disks of the small cluster, with an archive of all of them beside."""
    folder = tmp_path_factory.mktemp("cluster")
    example_cluster(folder)
    return Path(shutil.copy("docs/cluster.tar.gz", folder / "cluster")).parent


@pytest.mark.parametrize(("example", "answer"), [*zip(root.examples.items(), ANSWERS, strict=True)])
def test_command_in_the_help_answers_its_question(
    example: tuple[str, str], answer: tuple[int, str], cluster: Path
) -> None:
    question, line = example
    assert f"# {question}\n  {line}\n" in run_here("--help", program=KRAFTOPS).text
    for placeholder, place in PLACES.items():
        line = line.replace(placeholder, place)

    done = run_here(*line.split()[1:], cwd=cluster, program=KRAFTOPS)

    code, text = answer
    assert done.code == code
    assert re.search(text, done.text or done.err, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("lag", "dump-log summary DIR --log __consumer_offsets"),
        ("boot", "storage verify -c server.properties --release-version 4.3"),
        ("duckdb", "--format parquet"),
        ("move data off a broker", "cluster decommission"),
        ("disk full", "kraftops disk -c server.properties"),
        ("upgrade", "storage verify"),
    ],
)
def test_words_of_a_question_lead_to_its_command(words: str, line: str) -> None:
    done = run_here("help", *words.split(), program=KRAFTOPS)

    assert done.code == 1
    assert done.errors[1].startswith("hint: see kraftops ")
    assert line in done.errors[1].split(", or ")[0]


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A folder with the configuration and the log directory `d` of a real, stopped server."""
    shutil.copytree(REAL / "stopped", tmp_path / "d")
    make_node(tmp_path, STATIC, log_dirs="d")
    return tmp_path


def test_which_topic_grew(node: Path) -> None:
    for base, days in ((0, 9), (9, 5), (18, 1)):
        aged(f"plain-0/{base:020}.log", days)(node)

    done = run_here("disk", "-c", PROPERTIES, cwd=node, program=KRAFTOPS)

    (row,) = (line for line in done.text.splitlines() if line.startswith("plain "))
    assert row.split()[-2:] != ["-", "-"]


def test_lost_metadata_is_the_first_finding(node: Path) -> None:
    shutil.rmtree(node / "d/__cluster_metadata-0")

    done = run_here("doctor", "-c", PROPERTIES, cwd=node, program=KRAFTOPS)

    assert (done.code, "first: " in done.text, "metadata-lost" in done.text) == (2, True, True)


def test_healthy_bundle_is_called_so(node: Path) -> None:
    with tarfile.open(node / "bundle.tar.gz", "w:gz") as bundle:
        bundle.add(node / "d", "d")

    done = run_here("doctor", "bundle.tar.gz", cwd=node, program=KRAFTOPS)

    assert (done.code, done.text.startswith("nothing is wrong")) == (0, True)


def test_voters_without_a_log_are_not_to_be_formatted_where_others_have_one(cluster: Path) -> None:
    """A majority that is formatted anew would begin without the metadata that is left."""
    lost = Path(shutil.copytree(cluster, cluster.parent / "lost"))
    for node_id in (1, 2):
        shutil.rmtree(lost / f"node-{node_id}/data")
        (lost / f"node-{node_id}/data").mkdir()
    files = [word for node_id in (1, 2, 3) for word in ("-c", f"node-{node_id}.properties")]

    done = run_here("doctor", *files, cwd=lost, program=KRAFTOPS)

    assert "first: the quorum is lost: voters 1 and 2 of 1, 2, 3 do not" in done.text
    assert "kafka-storage recover -c node-3.properties" in done.text
    assert "kafka-storage format" not in done.text
    assert "could not be made" not in done.text


def test_directories_of_nodes_are_examined_where_their_parents_are_named(cluster: Path) -> None:
    whole = run_here("doctor", ".", cwd=cluster, program=KRAFTOPS)
    usage = run_here("disk", ".", "--group-by", "broker", cwd=cluster, program=KRAFTOPS)

    assert "./node-103/data/orders-1/" in whole.text.splitlines()[2]
    assert [line.split()[0] for line in usage.text.splitlines()[-6:]] == [
        *("1", "2", "3", "101", "102", "103")
    ]


@pytest.mark.parametrize(
    "names",
    [
        "node-101/data",
        "node-101",
        ".",
        "cluster.tar.gz",
        "node-101/data node-102/data",
        "node-101/*",
    ],
)
@pytest.mark.parametrize("command", ["dump-log", "dump-log summary", "report --format json"])
def test_last_hour_ends_where_what_is_read_ends(command: str, names: str, cluster: Path) -> None:
    """However the directories are written; the data is older than an hour."""
    done = run_here(*f"{command} {names} --since -1h".split(), cwd=cluster, program=KRAFTOPS)

    assert "note: -1h is 2026-11-28T01:23:25.950Z, by the end of the log\n" in done.err
    assert "payments" in done.text


def test_query_in_the_help_shows_keys_and_values_of_users(cluster: Path) -> None:
    file = cluster / "x.parquet"
    parquet, query = (line for line in dump_log.examples.values() if "x.parquet" in line)
    words = parquet.replace("/var/kafka", "node-101/data").split()
    run_here(*words[1:-2], str(file), words[-1], cwd=cluster, program=DUMP_LOG)

    _, _, sql = shlex.split(query)
    first, *_ = duckdb.sql(sql.replace("x.parquet", str(file))).fetchall()

    assert first == ("customer-1", '{"number": 1, "sum": 7}')
